"""The result of a check that a service carried out, as a program gets it."""

from __future__ import annotations

import asyncio
import csv
from pathlib import Path

import pytest
from fakes.answering_client import Answering

from veritrail_graph.api.client.checks import CheckResult
from veritrail_graph.graph.errors import InputError

PROCESS = {"process_id": "p", "name": "p", "source_format": "x", "content_hash": "h"}
FINDINGS = {"process_id": "p", "name": "p", "claims": 0, "verdicts": {}}


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"calls": 2, "unpriced_calls": 1}, None),
        ({"calls": 2, "cost_usd": 0.25}, 0.25),
        ({}, 0.0),
    ],
)
def test_a_cost_that_is_not_known_is_never_nothing(
    usage: dict[str, float], cost: float | None
) -> None:
    job = {"job_id": "j", "status": "succeeded", "process_id": "p", "usage": usage}
    client = Answering(process=PROCESS, verify={"job_id": "j"}, job=job, findings=FINDINGS)
    result = asyncio.run(client.check("p"))
    assert (result.processes[0].cost_usd, result.cost_usd) == (cost, cost)


def test_a_report_that_cannot_be_written_says_so_and_leaves_what_was_there(tmp_path: Path) -> None:
    judge = {"engine": "lexical", "indicative": True}
    result = CheckResult.model_validate({"judge": judge, "cost_usd": 0.0})
    report = tmp_path / "report.txt"
    report.write_text("an earlier one", "utf-8")
    assert result.report(report).read_text("utf-8").startswith("0 claims")
    with pytest.raises(InputError, match="cannot be written"):
        result.report(report / "below.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["report.txt"]


def test_reports_run_nothing_of_the_texts_that_they_hold(tmp_path: Path) -> None:
    hostile = '=HYPERLINK("http://evil.example","x") ```` <img src=x onerror=alert(1)>'
    claim = {"process_id": "p", "claim_id": "k", "claim": hostile}
    claim |= {"status": "failed", "verdict": None}
    judge = {"engine": "lexical", "indicative": True}
    process = {**FINDINGS, "status": "succeeded", "read": {}, "results": [claim]}
    process |= {"wrong": [], "undecided": [], "failed": [claim]}
    result = CheckResult.model_validate({"judge": judge, "cost_usd": 0.0, "processes": [process]})
    (row,) = csv.DictReader(result.report(tmp_path / "r.csv").read_text("utf-8").splitlines())
    assert row["claim"] == f"'{hostile}"
    first, *lines, last = result.report(tmp_path / "r.md").read_text("utf-8").splitlines()
    assert (first, last) == ("`````text", "`````")
    assert any("<img" in line for line in lines)
    assert not any(line.startswith(last) for line in lines)
