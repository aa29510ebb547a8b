"""Which agent made a run fail, and at which step: every log is counted once, in one way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from eval_fakes.judged_runs import FS, NFS, JudgedRun, outcome

from veritrail_eval.datasets.loading import load_dataset
from veritrail_eval.reporting.options import ReportOptions
from veritrail_eval.reports.writing import write_report
from veritrail_eval.runs.agent_logs import noted_mistake
from veritrail_graph.verifier.held_process import HeldProcess

ROOT = Path(__file__).resolve().parents[3]
LOGS = ROOT.parent / "shared" / "data" / "agents" / "who_and_when"
MESSAGES: dict[str, dict[str, Any]] = {
    "m0": {"step": 0, "agent": "Planner"},
    "m1": {"step": 1, "agent": "Coder"},
    "m2": {"step": 2, "agent": "Planner"},
    "m3": {"step": 3, "agent": "Coder"},
    "m3/call": {"step": 3, "agent": "Coder"},
}
NOTED = {
    "right": ("a", 1), "by-call": ("a", 3), "same-agent": ("b", 3), "other-agent": ("b", 2),
    "no-place": ("b", 1), "supported": ("a", 1), "undecided": ("b", 1), "failed": ("a", 1),
    "old": ("a", 1), "waiting": ("a", 1),
}  # fmt: skip
"""The subset and the noted step of each log."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Logs that end in every way, and the report on them."""
    folder = tmp_path_factory.mktemp("logs")
    run = JudgedRun(folder, {"data": dict.fromkeys(NOTED, NFS)}, [("v", "veritrail", {"q": 1})])
    path = folder / "run.json"
    record = json.loads(path.read_text("utf-8"))
    for claim in record["datasets"][0]["claims"]:
        subset, step = NOTED[claim["claim_id"]]
        agent = f" {MESSAGES[f'm{step}']['agent'].upper()}"
        claim["mistake"] = {"step": step, "agent": agent, "subset": subset, "messages": MESSAGES}
    path.write_text(json.dumps(record), "utf-8")

    def walked(claim: str, verdict: str | None, *nodes: str, **more: Any) -> None:
        run.keep(
            outcome("v", claim, verdict, error_nodes=list(nodes) or None, iterations=2, **more)
        )

    walked("right", NFS, "m1", "m0")
    walked("by-call", NFS, "m3/call")
    walked("same-agent", NFS, "m1", "m3")  # the first one counts
    walked("other-agent", NFS, "m3")
    walked("no-place", NFS)
    walked("supported", FS)
    walked("undecided", None)
    walked("failed", None, status="failed")
    walked("old", NFS, error_stages=[2])
    return folder, write_report(folder, ReportOptions(resamples=200))


def test_a_log_is_right_wrong_not_located_or_left_out(
    report: tuple[Path, dict[str, Any]],
) -> None:
    found = report[1]["datasets"][0]["failures"]
    rows = {row.pop("subset"): row for row in found["configurations"]["v"]}
    counts = {
        name: (row["logs"], row["not_located"], row["unfinished"]) for name, row in rows.items()
    }
    assert counts == {"a": (3, 1, 3), "b": (4, 2, 0), "all": (7, 3, 3)}
    assert [rows[name]["step"] for name in ("a", "b", "all")] == [2 / 3, 0, 2 / 7]
    assert [rows[name]["agent"] for name in ("a", "b", "all")] == [2 / 3, 1 / 4, 3 / 7]
    low, high = rows["all"]["agent_interval"]
    assert 0 <= low < 3 / 7 < high <= 1
    # Drawn at random: two agents wrote, at four places of the log.
    assert {(one["agent"], one["step"]) for one in found["guess"]} == {(0.5, 0.25)}
    assert (found["published"]["agent"], found["published"]["step"]) == (
        [["All-at-Once", 0.535]], [["Step-by-Step", 0.142]],
    )  # fmt: skip


def test_the_report_shows_every_subset_beside_a_guess_and_what_is_published(
    report: tuple[Path, dict[str, Any]],
) -> None:
    folder, document = report
    text = (folder / "report.md").read_text("utf-8")
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in text.partition("### Agents and steps")[2].splitlines()
        if line.startswith("| ")
    ]
    shown = {(row[0], row[1]): row[2:] for row in rows}
    assert shown["veritrail (q = 1)", "all"][:2] == ["7", "3"]
    assert shown["Drawn at random: an agent; a message", "all"][2:] == ["50.0 %", "25.0 %"]
    assert shown["Published for Who&When: All-at-Once", "both, mean"][2] == "53.5 %"
    assert "3 logs left out" in text
    told = "finds the agent of 42.9 % and the step of 28.6 %; of 3 it names no place"
    assert told in document["datasets"][0]["summary"]
    assert "with and without the right answer shown" in (folder / "report.html").read_text("utf-8")


def test_data_without_noted_mistakes_has_no_such_section(tmp_path: Path) -> None:
    run = JudgedRun(tmp_path, {"data": {"a": NFS}}, [("v", "veritrail", {"q": 1})])
    run.keep(outcome("v", "a", NFS, error_stages=[2], iterations=1))
    assert write_report(tmp_path, ReportOptions(resamples=20))["datasets"][0]["failures"] is None


@pytest.mark.skipif(not LOGS.is_dir(), reason=f"the real logs of Who&When are not at {LOGS}")
def test_the_noted_message_of_every_real_log_is_one_that_can_be_found() -> None:
    dataset = load_dataset(LOGS)
    subsets, agents = [], set()
    for claim in dataset.claims:
        noted = noted_mistake(HeldProcess.read(dataset.processes[claim.process_id]()))
        assert noted is not None
        subsets.append(noted.subset)
        written = {(one.step, one.agent) for one in noted.messages.values()}
        assert (noted.step, noted.agent) in written
        agents |= {agent.casefold() for _, agent in written}
        assert claim.label_origin == f"Who&When: {noted.agent}, step {noted.step}"
    assert "final answer" not in agents  # who wrote the message wrote it
    assert {name: subsets.count(name) for name in subsets} == {
        "algorithm-generated": 12, "hand-crafted": 12,
    }  # fmt: skip
