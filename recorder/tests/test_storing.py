"""A recording that is stored and verified at its end, on the engine that all tests share."""

from __future__ import annotations

import asyncio
import os
import runpy
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from fakes.waiting import until
from opentelemetry.sdk.trace import TracerProvider
from with_opentelemetry import run as run_traced

import veritrail_graph as vt
from veritrail_graph.graph.model import Verdict
from veritrail_record.opentelemetry import RecordingSpanProcessor

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def graph(veritrail: Veritrail, monkeypatch: pytest.MonkeyPatch) -> Veritrail:
    for key, value in veritrail.environment({}).items():
        monkeypatch.setenv(key, value)
    return veritrail


def quay(run: Any) -> None:
    page = run.source("The quay opened in 1901.")
    note = run.step("The quay opened in 1910.", [page], step="summarise")
    run.answer("The quay opened in 1910. It is long.", [note])


def test_a_recording_is_stored(graph, capsys):
    with vt.record("Stored", store=True, question="When?") as run:
        quay(run)
    try:
        assert run.path is None
        assert run.ingested is not None
        assert (run.ingested.process_id, run.ingested.nodes) == (run.process_id, 3)
        said = capsys.readouterr().err
        assert f"veritrail check {run.process_id}" in said
        assert "ingest" not in said
        with vt.Local() as here:
            assert here.process(run.process_id).name == "Stored"
    finally:
        graph("delete", run.process_id, "--yes")


def test_traces_of_opentelemetry_are_stored_at_the_end(graph, capsys):
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(RecordingSpanProcessor(store=True))
    tracer = provider.get_tracer("test")
    run_traced(tracer)
    run_traced(tracer)
    provider.shutdown()
    said = capsys.readouterr().err
    with vt.Local() as here:
        stored = [one for one in here.processes() if one.name == "assistant"]
    for one in stored:
        graph("delete", one.process_id, "--yes")
    assert [(one.nodes, one.edges) for one in stored] == [(2, 1), (2, 1)]
    assert said.startswith("veritrail: recorded 2 traces; to check them: veritrail check ")


def test_a_recording_under_an_id_of_its_own_replaces_an_earlier_one(graph, caplog, tmp_path):
    def run_again(text: str, **more: Any) -> Any:
        with vt.record(process_id="nightly", store=True, quiet=True, **more) as run:
            run.answer(text, [run.source("The quay opened in 1901.")])
        return run

    try:
        assert run_again("It opened in 1901.").ingested.status == "created"
        refused = run_again("It opened in 1910.", path=tmp_path / "kept.jsonl")
        assert refused.ingested is None
        assert "replace" in caplog.text
        replaced = run_again("It opened in 1910.", replace=True).ingested
        assert (replaced.status, replaced.removed_verifications) == ("replaced", 0)
    finally:
        graph("delete", "nightly", "--yes")


def test_a_recording_is_verified_and_returns_its_trails(graph, tmp_path, capsys):
    with vt.record(
        path=tmp_path / "kept.jsonl",
        verify={"engine": "lexical"},
        claims="The quay opened in 1910.",
    ) as run:
        quay(run)
    try:
        (trail,) = run.verifications
        assert trail.verdict is Verdict.NOT_FULLY_SUPPORTED
        assert trail.error_stages == (2,)
        assert capsys.readouterr().err == ""
        assert (tmp_path / "kept.jsonl").is_file()
    finally:
        graph("delete", run.process_id, "--yes")


def test_an_awaited_recording_is_verified_beside_a_running_loop(graph):
    async def main() -> Any:
        async with vt.record(verify=True, claims=["The quay opened in 1910."]) as run:
            quay(run)
        return run

    run = asyncio.run(main())
    try:
        assert [one.engine for one in run.verifications] == ["lexical"]
    finally:
        graph("delete", run.process_id, "--yes")


def test_without_claims_and_without_a_model_it_is_stored_and_says_why(graph, caplog, capsys):
    with vt.record(verify=True) as run:
        quay(run)
    try:
        assert run.ingested is not None
        assert run.verifications == []
        assert "could not be verified" in caplog.text
        assert f"veritrail check {run.process_id}" in capsys.readouterr().err
    finally:
        graph("delete", run.process_id, "--yes")


@pytest.mark.slow
def test_a_program_that_is_killed_leaves_a_file_that_is_ingested(graph, tmp_path):
    file = tmp_path / "nightly.jsonl"
    code = (
        "import sys, veritrail_graph as vt\n"
        "run = vt.record('nightly', path=sys.argv[1])\n"
        "page = run.source('A page.')\n"
        "print(run.process_id, flush=True)\n"
        "while True: page = run.step('A note. ' * 9_000, [page])\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(file)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=dict(os.environ),
    )
    assert child.stdout is not None
    process_id = child.stdout.readline().strip()
    until(lambda: file.stat().st_size > 300_000)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    found = graph("ingest", str(file), "--json").json
    assert found["process_id"] == process_id
    assert found["nodes"] > 3
    graph("delete", process_id, "--yes")


def test_the_example_runs_and_finds_the_planted_error(graph, tmp_path, capsys, monkeypatch):
    file = tmp_path / "lock.jsonl"
    monkeypatch.setattr(sys, "argv", ["recorded.py", str(file), "--verify"])
    runpy.run_path(str(ROOT / "examples" / "recorded.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "NOT_FULLY_SUPPORTED: The keeper moved the buoys by 41 metres."
    assert lines[1] == "  the error came in at stage 2, in summarise/3"
    assert lines[2] == "FULLY_SUPPORTED: Two barges waited below it."
    assert graph("ingest", str(file), "--json").json["claims"] == 2
