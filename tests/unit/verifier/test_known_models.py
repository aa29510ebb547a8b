"""The table of models: what it knows of names, and when it says that a model ends."""

from __future__ import annotations

from datetime import date

import pytest

from veritrail_graph.verifier.models.known_models import (
    TABLE,
    KnownModel,
    context_window,
    known_model,
    retirement_warning,
)
from veritrail_graph.verifier.models.prices import price_of

GATEWAY = "https://gateway.example/v1"


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-6-luna", 1_050_000),
        ("gpt-6-luna-2026-09-22", 1_050_000),
        ("openai/gpt-6.1-sol", 1_050_000),
        ("gpt-6-something-new", 1_050_000),
        ("gpt-5.4-mini", 400_000),
        ("gpt-5.6-terra", 1_050_000),
        ("claude-haiku-5-5", 1_000_000),
        ("claude-opus-5-5-20260901", 1_000_000),
        ("claude-sonnet-5-9", 1_000_000),
        ("claude-haiku-4-5", 200_000),
        ("gemini-3.8-flash", 1_000_000),
        ("gemini-3.1-pro-preview", 1_048_576),
        ("mistral-large-4", 1_048_576),
        ("mistral-large-latest", 128_000),
        ("deepseek-v4-pro", 1_000_000),
        ("gpt-4o-mini-2024-07-18", 128_000),
        ("gpt-4", 8_192),
        ("gpt-4-turbo-2024-04-09", 128_000),
        ("GPT-3.5-turbo-0125", 16_385),
        ("o3-mini", 200_000),
        ("llama-3.3-70b-instruct", 131_072),
        ("gpt-4all", None),
        ("o10", None),
        ("some-model", None),
        ("my-gpt-6-luna", None),
    ],
)
def test_windows_are_known_by_name(model: str, window: int | None) -> None:
    assert context_window(model) == window


def test_a_longer_row_adds_to_a_shorter_one() -> None:
    nano = known_model("gpt-5-nano-2025-08-07")
    assert (nano.tokenizer, nano.context_tokens) == ("o200k_base", 400_000)
    assert nano.instead == "gpt-6-luna"


def test_the_end_of_a_family_is_not_that_of_a_later_one() -> None:
    assert known_model("gpt-5").retired is not None
    assert known_model("gpt-5.4").retired is None
    assert known_model("gemini-2.5-flash-lite").retired is None


@pytest.mark.parametrize(
    ("today", "words"),
    [
        (date(2027, 1, 13), "it ends on 14 January 2027"),
        (date(2027, 1, 14), "its maker retired it on 14 January 2027"),
    ],
)
def test_a_model_that_ends_is_named_with_the_one_for_its_place(today: date, words: str) -> None:
    told = f"gpt-4o-mini: {words}; name gpt-6-luna in its place"
    assert retirement_warning("gpt-4o-mini", today) == told


@pytest.mark.parametrize("model", ["gpt-6-luna", "claude-haiku-5-5", "some-model", "gpt-4all"])
def test_nothing_is_said_of_a_model_that_stays_or_is_not_known(model: str) -> None:
    assert retirement_warning(model, date(2027, 2, 1)) is None


@pytest.mark.parametrize("row", [row for row in TABLE if row.retired], ids=lambda row: row.begins)
def test_the_model_for_its_place_stays_and_has_a_price(row: KnownModel) -> None:
    assert row.instead is not None
    assert known_model(row.instead).retired is None
    assert price_of(row.instead, GATEWAY) is not None
    assert context_window(row.instead)


@pytest.mark.parametrize(
    ("model", "wished", "asked"),
    [
        ("gpt-6-luna", (0.0, None), (0.0, "none")),
        ("gpt-6-luna", (0.2, None), (0.2, "none")),
        ("gpt-6-luna", (0.0, "high"), (None, "high")),
        ("gpt-6-luna", (1.0, None), (1.0, None)),
        ("gpt-6-luna", (None, None), (None, None)),
        ("gpt-5.4", (0.0, None), (0.0, None)),
        ("gpt-5.4", (0.0, "low"), (None, "low")),
        ("gpt-5-mini", (0.0, None), (None, None)),
        ("claude-haiku-5-5", (0.0, None), (None, None)),
        ("gpt-4o", (0.0, None), (0.0, None)),
        ("some-model", (0.0, "low"), (0.0, "low")),
    ],
)
def test_what_is_asked_for_is_what_the_model_takes(
    model: str,
    wished: tuple[float | None, str | None],
    asked: tuple[float | None, str | None],
) -> None:
    assert known_model(model).asked(*wished) == asked
