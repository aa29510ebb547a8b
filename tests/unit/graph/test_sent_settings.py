"""Settings without the temperatures and efforts that endpoints did not take."""

from __future__ import annotations

import json
from typing import Any

from veritrail_graph.graph.model import StepRecord, Usage
from veritrail_graph.graph.model.canonical import canonical_text
from veritrail_graph.graph.sent_settings import possible_settings, settings_as_sent


def step(model: str, prompt_hash: str, **more: Any) -> dict[str, Any]:
    return {"model": model, "prompt_hash": prompt_hash, "temperature": 0.0, **more}


ASKED = canonical_text(
    {
        "q": 1,
        "steps": {
            "evidence_selection": step("small", "e"),
            "verdict": step("large", "v", effort="none"),
            "sub_claim_decomposition": step("small", "s"),
        },
    }
)


def record(model: str, prompt_hash: str, **more: Any) -> StepRecord:
    usage = more.pop("usage", Usage(calls=1))
    return StepRecord(
        iteration=1, step="s", prompt="p", prompt_hash=prompt_hash, model=model, usage=usage, **more
    )


def test_what_was_taken_stays() -> None:
    sent = [
        record("small", "e", temperature=0.0),
        record("large", "v", temperature=0.0, effort="none"),
    ]
    assert settings_as_sent(ASKED, sent) == ASKED


def test_what_a_model_refused_is_in_none_of_its_steps() -> None:
    sent = [record("small", "e"), record("large", "v", temperature=0.0)]
    steps = json.loads(settings_as_sent(ASKED, sent) or "")["steps"]
    assert [one["temperature"] for one in steps.values()] == [None, None, 0.0]
    assert "effort" not in steps["verdict"]


def test_a_step_that_asked_nobody_says_nothing() -> None:
    replayed = record("small", "e", usage=Usage(cost_usd=0.0))
    assert settings_as_sent(ASKED, [replayed]) == ASKED
    assert settings_as_sent(ASKED, []) == ASKED


def test_a_verification_is_found_again_however_its_endpoint_took_them() -> None:
    every = possible_settings(ASKED)
    assert every[0] == ASKED
    for sent in (
        [record("small", "e")],
        [record("large", "v")],
        [record("large", "v", temperature=0.0)],
        [record("small", "e"), record("large", "v", effort="none")],
    ):
        assert settings_as_sent(ASKED, sent) in every[1:]


def test_settings_that_name_no_model_are_compared_as_they_are() -> None:
    for settings in (canonical_text({"engine": "lexical", "q": 1}), "as another program wrote"):
        assert possible_settings(settings) == [settings]
        assert settings_as_sent(settings, [record("small", "e")]) == settings
