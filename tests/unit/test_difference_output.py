"""What `veritrail diff` shows of settings."""

from __future__ import annotations

from veritrail_graph.api.cli.stored import _folded
from veritrail_graph.graph.comparing import Changed


def changed(*names: str) -> list[Changed]:
    return [Changed(name, 1, 2) for name in names]


def test_settings_that_follow_from_another_judge_are_counted_and_not_listed() -> None:
    found = changed("engine", "model", "q", "steps.verdict.prompt_hash", "steps.verdict.model")
    shown, left_out = _folded(found)
    assert [one.name for one in shown] == ["engine", "model", "q"]
    assert left_out == 2


def test_settings_of_the_same_judge_are_all_listed() -> None:
    found = changed("q", "steps.verdict.prompt_hash")
    assert _folded(found) == (found, 0)
