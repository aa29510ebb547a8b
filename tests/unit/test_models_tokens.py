"""Counting tokens without a tokenizer, and what is known of models by their names."""

from __future__ import annotations

import importlib.util

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.models.tokens import context_window, counter, estimate

# Tokens of OpenAI's cl100k_base, the more wasteful of its two tokenizers, as counted with it.
COUNTED = [
    ("The harbour was closed for three days because of the storm.", 12),
    ("I am a be to of it as we go up so", 12),
    ("今天天气很好，我们去公园散步吧。", 20),  # noqa: RUF001
    ("今日は天気がいいですね。東京は日本の首都です。", 23),
    ("오늘 날씨가 좋네요. 서울은 대한민국의 수도입니다.", 30),
    ("Сегодня хорошая погода. Москва является столицей России.", 31),
    ("Rechtsschutzversicherungsgesellschaften verfügen darüber.", 17),
    ("1234567890 3.14159 2026-11-21", 16),
    ("👨‍👩‍👧‍👦🏳️‍🌈🚀", 30),
    ('{"a": [1, 2, 3], "bc": {"d": null}}', 20),
]


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_an_estimate_is_not_too_low_and_not_wild(text: str, tokens: int) -> None:
    assert tokens <= estimate(text) <= 3 * tokens


@given(st.text(max_size=200), st.text(max_size=200))
def test_an_estimate_grows_with_the_text_and_stays_below_its_bytes(one: str, two: str) -> None:
    size = len((one + two).encode("utf-8", "surrogatepass"))
    assert 0 < estimate(one) <= estimate(one + two) <= size + 1


def test_lone_surrogates_are_counted_like_other_characters() -> None:
    assert estimate("\ud800") >= 1


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4o", 128_000),
        ("gpt-4o-mini-2024-07-18", 128_000),
        ("openai/gpt-4o", 128_000),
        ("gpt-4.1-nano", 1_047_576),
        ("gpt-4", 8_192),
        ("gpt-4-turbo-2024-04-09", 128_000),
        ("GPT-3.5-turbo-0125", 16_385),
        ("o3-mini", 200_000),
        ("gpt-4all", None),
        ("o10", None),
        ("some-model", None),
    ],
)
def test_windows_are_known_by_name(model: str, window: int | None) -> None:
    assert context_window(model) == window


@pytest.mark.skipif(importlib.util.find_spec("rs_bpe") is None, reason="rs-bpe is not installed")
@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_tokens_are_counted_where_the_tokenizer_is_installed(text: str, tokens: int) -> None:
    assert counter("gpt-4")(text) == tokens


def test_a_model_without_a_known_tokenizer_gets_the_estimate() -> None:
    assert counter("llama-3.1-8b")("Some words.") == estimate("Some words.")
