"""Every writer shows an iteration without a verdict, and a claim that is undecided, as such."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes.shown_fields import on_terminal
from fakes.trails import NFS
from fakes.undecided import BETWEEN, BY_SAMPLES, OPEN, SILENT, undecided_file
from rich.console import Console

from veritrail_graph.api.cli.gating.entries import entries_of
from veritrail_graph.api.cli.gating.output import (
    outcome_json,
    outcome_shown,
    outcome_xml,
    step_summary,
)
from veritrail_graph.api.cli.gating.rules import GateLimits, judge
from veritrail_graph.api.cli.gating.sarif import outcome_sarif
from veritrail_graph.api.cli.trail import show_results, trail_tree
from veritrail_graph.api.client.drawing import stages_svg
from veritrail_graph.api.client.page import trail_shown
from veritrail_graph.api.mcp.results import trail_text
from veritrail_graph.api.show.notebook import html
from veritrail_graph.api.show.picture_svg import trail_svg
from veritrail_graph.api.show.reports.files import Asked, pieces
from veritrail_graph.api.show.reports.sources import FileSource
from veritrail_graph.api.show.trail_view import trail_view
from veritrail_graph.api.show.words import CANNOT_TELL, CANNOT_TELL_WORDS
from veritrail_graph.graph.comparing import compare
from veritrail_graph.graph.exporters.verdicts.judged import Judged
from veritrail_graph.graph.model import Verification

TRAILS = [BETWEEN, OPEN]


def printed(trail: Verification) -> str:
    console = Console(file=io.StringIO(), width=160)
    console.print(trail_tree(trail))
    return console.file.getvalue()  # type: ignore[attr-defined]


WRITERS: dict[str, Callable[[Verification], str]] = {
    "terminal": printed,
    "notebook": lambda found: html(trail_shown(found)),
    "assistants": trail_text,
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_round_without_a_verdict_and_an_undecided_claim_are_told_once(writer: str) -> None:
    for one in TRAILS:
        words = WRITERS[writer](one)
        assert not re.search(r"\bNone\b|(?i:could not be checked|did not agree)", words)
    said = WRITERS[writer](OPEN)
    assert "undecided" in said.lower()
    assert said.count(SILENT) <= 3  # the reason, and those of the rounds


def test_a_view_calls_both_cannot_tell_in_grey() -> None:
    between, open_ = map(trail_view, TRAILS)
    assert [one.mark.word for one in between.iterations] == [
        "Fully Supported", CANNOT_TELL.word, "Not Fully Supported",
    ]  # fmt: skip
    assert (open_.mark, open_.without_verdict) == (CANNOT_TELL, CANNOT_TELL_WORDS)
    assert open_.mark.kind == "undecided"
    assert not open_.introduced
    assert "did not agree" in (trail_view(BY_SAMPLES).without_verdict or "")


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A process file with both trails."""
    return Path(undecided_file(tmp_path / "pier.json"))


@pytest.mark.parametrize("form", ["html", "markdown", "csv", "json", "junit"])
def test_reports_count_undecided_by_itself(stored: Path, form: str) -> None:
    async def whole() -> str:
        return "".join([piece async for piece in pieces(FileSource.read(stored), Asked(form))])

    told = asyncio.run(whole())
    assert "undecided" in told or "Cannot tell" in told
    assert not re.search(
        r"\bNone\b|Why it could not be checked|[sS]amples did not agree on any", told
    )
    if form == "markdown":
        assert told.count(f"\n**Reasoning**: {SILENT}\n") == 1
        assert not re.search(r"[^\n]\n#", told)  # a heading has an empty line before it
    if form == "json":
        found = json.loads(told)
        assert all(one["indicative"] for one in (found["summary"], *found["claims"]))
        counts = found["summary"]["states"]
        assert (counts["undecided"], counts["failed"], counts["not-supported"]) == (1, 0, 1)
    if form == "junit":
        assert (told.count("<skipped"), told.count("<error")) == (1, 0)


def test_the_gate_says_the_same_in_every_form(stored: Path) -> None:
    material = FileSource.read(stored).material
    entries = entries_of(material)
    outcome = judge("pier", entries, GateLimits(unsupported=1, undecided=0))
    assert (outcome.status, [one.name for one in outcome.checks if not one.met]) == (
        1,
        ["undecided"],
    )
    lines = on_terminal(outcome_shown(outcome, {}))
    assert "NOT MET" in lines
    assert "cannot tell: 1, at most 0 (--max-undecided)" in lines
    assert outcome_json(outcome)["counts"]["undecided"] == 1
    assert all(one["indicative"] for one in outcome_json(outcome)["claims"])
    assert "cannot tell 1" in step_summary(outcome, "Pier", {})
    results = json.loads(outcome_sarif(outcome, {}, None))["runs"][0]["results"]
    assert {one["ruleId"]: one["level"] for one in results} == {
        "not-supported": "error",
        "undecided": "note",
    }
    assert outcome_xml(outcome, material).count("gate_not_met") == 1
    assert judge("pier", entries, GateLimits(unsupported=1)).status == 0
    assert judge("pier", entries, GateLimits(unsupported=1, strict=True)).status == 1


def test_the_gate_warns_where_less_than_half_could_be_decided(stored: Path) -> None:
    bad, open_ = entries_of(FileSource.read(stored).material)
    outcome = judge("pier", [bad, open_, open_], GateLimits(unsupported=1))
    assert outcome.passed  # a warning, and no rule
    (warning,) = outcome_json(outcome)["warnings"]
    assert "decided 1 of 3 " in warning
    assert "--max-undecided" in warning
    assert f"Warning: {warning}." in on_terminal(outcome_shown(outcome, {}))
    assert "Warning" in step_summary(outcome, "Pier", {})
    for limits in (GateLimits(undecided=9), GateLimits(strict=True)):
        assert not judge("pier", [bad, open_, open_], limits).warnings
    assert not judge("pier", [bad, open_], GateLimits(unsupported=1)).warnings


def test_the_gate_is_not_met_where_nothing_could_be_decided_and_says_what_helps(
    stored: Path,
) -> None:
    _, open_ = entries_of(FileSource.read(stored).material)
    outcome = judge("pier", [open_], GateLimits())
    words = (
        "could be decided: none of 1 claim, at least 1. Name a model that judges: veritrail check "
        "pier --model NAME; or allow it: --max-undecided 1"
    )
    assert [(one.name, one.words) for one in outcome.checks if not one.met] == [("decided", words)]
    for text in (on_terminal(outcome_shown(outcome, {})), step_summary(outcome, "Pier", {})):
        assert "none of 1 claim" in text
    assert judge("pier", [open_], GateLimits(undecided=1)).passed


def test_trails_are_drawn_compared_and_exported(capsys: pytest.CaptureFixture[str]) -> None:
    show_results(TRAILS)
    assert "undecided" in capsys.readouterr().out
    for one in TRAILS:
        assert ">None<" not in trail_svg(one)
    assert "stage" in stages_svg(TRAILS)
    other = compare(BETWEEN, OPEN).json_object()
    assert other["outcome"]["verdict"] == {"a": NFS.value, "b": None}
    said = Judged(OPEN, "trace", None, ()).explanation
    assert "No verdict (undecided): this says nothing for or against the claim." in said
    assert said.count(SILENT) == 1
