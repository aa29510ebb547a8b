"""Which differing settings of two verifications are shown, and which follow from the judge."""

from __future__ import annotations

from veritrail_graph.graph.comparing import folded_settings
from veritrail_graph.graph.model.difference import ChangedValue

Q = {"q": ChangedValue(a=1, b=3)}
PROMPT = {"steps.verdict.prompt": ChangedValue(a="verdict.v1", b="verdict.v2")}


def test_what_follows_from_another_judge_is_folded() -> None:
    model = {"model": ChangedValue(a="gpt-6-luna", b=None)}
    assert folded_settings(model | Q | PROMPT) == (model | Q, PROMPT)


def test_of_one_judge_every_setting_is_shown() -> None:
    assert folded_settings(Q | PROMPT) == (Q | PROMPT, {})
