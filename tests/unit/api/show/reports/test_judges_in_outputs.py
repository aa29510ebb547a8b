"""Reports and gates name who judged, with which q and when, and what people said of it."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from fakes.judged_files import VERDICTS, judged_file
from fakes.shown_fields import on_terminal

from veritrail_graph.api.cli.gating.entries import entries_of
from veritrail_graph.api.cli.gating.output import outcome_json, outcome_shown, step_summary
from veritrail_graph.api.cli.gating.rules import GateLimits, Outcome, judge
from veritrail_graph.api.show.reports.data import Made
from veritrail_graph.api.show.reports.files import Asked, pieces
from veritrail_graph.api.show.reports.sources import FileSource

CLAIMS = [
    ("k1", "The ferry carries 180 people.", "supported", None),
    ("k2", "The ferry was built in 1997.", "not-supported", 2),
    ("k3", "The ferry is fast.", "supported", None),
    ("k4", "The ferry is blue.", "unchecked", None),
]
MADE = Made(at="2026-02-01T10:20:30.000000Z", by="veritrail-graph 9.9", origin="ferry.json")
JUDGE = {"engine": "openai", "model": "a-model", "q": 2}


@pytest.fixture
def ferry(tmp_path: Path) -> FileSource:
    """Claims of which a person calls one that is supported and one that is not the other."""
    reviews = [_review(0, "FULLY_SUPPORTED"), _review(1, "FULLY_SUPPORTED")]
    reviews.append(_review(2, "NOT_FULLY_SUPPORTED"))
    path = judged_file(tmp_path / "ferry.json", CLAIMS, reviews=reviews)
    return FileSource.read(Path(path), made=MADE)


def _review(number: int, verdict: str) -> dict[str, Any]:
    claim_id, text, state, _ = CLAIMS[number]
    model = VERDICTS[state]
    return {
        "review_id": f"r{number}",
        "claim_id": claim_id,
        "claim": text,
        "verdict": verdict,
        "kind": "confirmed" if verdict == model else "overridden",
        "model_verdict": model,
        "overrides": f"v-ferry-{number}",
        "reason": "I looked it up.",
        "reviewer": "Ada",
        "created_at": "2026-02-01T09:00:00.000000Z",
    }


def told(origin: FileSource, name: str) -> str:
    async def whole() -> str:
        return "".join([piece async for piece in pieces(origin, Asked(name))])

    return asyncio.run(whole())


def test_json_has_the_judges_and_the_share_of_nodes(ferry: FileSource) -> None:
    summary = json.loads(told(ferry, "json"))["summary"]
    days = {"first": "2026-01-31", "last": "2026-01-31"}
    assert summary["verdicts_in_force"] == [
        {**JUDGE, "claims": 3, **days, "kept": 0, "share": None, "escalate_to": None}
    ]
    assert summary["share_of_nodes"] == pytest.approx(2 / 3)


def test_csv_and_html_have_the_share_of_nodes(ferry: FileSource) -> None:
    rows = list(csv.DictReader(io.StringIO(told(ferry, "csv"), newline="")))
    assert [row["share_of_nodes"][:4] for row in rows] == ["0.66", "0.66", "0.66", ""]
    assert "67 % of the nodes on average" in told(ferry, "html")


def test_junit_has_q_date_share_and_review(ferry: FileSource) -> None:
    (suite,) = ET.fromstring(told(ferry, "junit")).findall("testsuite")
    about = {one.get("name"): one.get("value") for one in suite.find("properties") or ()}
    assert about["veritrail.share_of_nodes"] == "0.6667"
    case = suite.findall("testcase")[1]
    known = {one.get("name"): one.get("value") for one in case.find("properties") or ()}
    assert known["veritrail.q"] == "2"
    assert known["veritrail.created_at"] == "2026-01-31T09:30:00.000000Z"
    assert known["veritrail.review"] == "overridden"
    assert known["veritrail.reviewed_verdict"] == "FULLY_SUPPORTED"


def gate(origin: FileSource) -> Outcome:
    return judge("ferry", entries_of(origin.material), GateLimits())


def test_a_gate_names_the_judge_of_each_claim(ferry: FileSource) -> None:
    found = {one["claim_id"]: one for one in outcome_json(gate(ferry))["claims"]}
    assert found["k2"].items() >= JUDGE.items()
    assert found["k2"]["created_at"] == "2026-01-31T09:30:00.000000Z"
    assert found["k4"]["engine"] is found["k4"]["q"] is None


def test_a_gate_shows_what_a_person_says_instead(ferry: FileSource) -> None:
    outcome = gate(ferry)
    # A review is shown and decides nothing.
    assert [one.claim_ids for one in outcome.checks if not one.met] == [("k4",), ("k2",)]
    found = {one["claim_id"]: one for one in outcome_json(outcome)["claims"]}
    assert list(found) == ["k2", "k3", "k4"]
    assert found["k2"]["review"] == "overridden"
    assert found["k2"]["reviewed_verdict"] == "FULLY_SUPPORTED"
    assert found["k4"]["review"] is None
    lines = on_terminal(outcome_shown(outcome, {}))
    assert "introduced at stage 2; overridden by a person: Fully Supported (2026-02-01)]" in lines
    assert "[Fully Supported; overridden by a person: Not Fully Supported (2026-02-01)]" in lines
    assert lines.index("k2: ") < lines.index("k3: ")
    assert "overridden by a person: Fully Supported" in step_summary(outcome, "ferry", {})
