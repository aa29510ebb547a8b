"""Which differing settings of two verifications are shown, and which follow from the judge."""

from __future__ import annotations

from veritrail_graph.graph.comparing import Changed, folded_settings

Q, PROMPT = Changed("q", 1, 3), Changed("steps.verdict.prompt", "verdict.v1", "verdict.v2")


def test_what_follows_from_another_judge_is_folded() -> None:
    model = Changed("model", "gpt-4o-mini", None)
    assert folded_settings([model, Q, PROMPT]) == ([model, Q], [PROMPT])


def test_of_one_judge_every_setting_is_shown() -> None:
    assert folded_settings([Q, PROMPT]) == ([Q, PROMPT], [])
