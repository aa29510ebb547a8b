"""Verification with language models, against the scripted server in a process of its own.

Schedule: the wall time of many claims, against what no schedule could beat. Own cost: our time
a call, against a bare client loop. Cost: calls and tokens a claim. What the paper-size process
costs is simulated (`benchmarks.model_reader`).
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import model_reader
from benchmarks.children import ROOT, BenchmarkError, run_child
from benchmarks.commands import COMMAND
from benchmarks.engines import Engine
from benchmarks.model_runs import stats
from benchmarks.report import Line, Report
from veritrail_graph.graph.sentences import SentenceSplitter

PARTS = ("cost", "own-cost", "schedule", "many")
HARBOUR, ENERGY = "harbour-summary", "graphrag-energy"
LATENCY, CALLS_AT_ONCE = 0.3, 32
SCHEDULED_CLAIMS, COST_CLAIMS = 200, 200
SCHEDULE_TARGET, LOOP_TARGET, OWN_COST_TARGET = 1.10, 1.05, 1.3


def measure(
    report: Report, engine: Engine, folder: Path, parts: Collection[str], many: int
) -> None:
    """What needs an engine and the scripted server.

    Args:
        report: Where results go.
        engine: The engine.
        folder: For files.
        parts: Which of `PARTS`.
        many: How many claims the largest run has; no other one has more.
    """
    benchmarks: dict[str, Callable[[], None]] = {
        "cost": lambda: _cost(report, engine, folder),
        "own-cost": lambda: _own_cost(report, engine, folder, min(many, COST_CLAIMS)),
        "schedule": lambda: _schedule(report, engine, folder, min(many, SCHEDULED_CLAIMS)),
        "many": lambda: _many(report, engine, folder, many),
    }
    for sample in (HARBOUR, ENERGY):
        path = ROOT / "examples" / f"{sample}.json"
        run_command(engine, "ingest", str(path), "--process-id", f"bench-{sample}", "--replace")
    try:
        for name, run in benchmarks.items():
            if name in parts:
                try:
                    run()
                except BenchmarkError as error:
                    report.fail(f"{engine.name}: {name}", error)
    finally:
        for sample in (HARBOUR, ENERGY):
            run_command(engine, "delete", f"bench-{sample}", "--yes")


def measure_reading(report: Report, scale: float = 1.0) -> None:
    """What a selective reader sees of the paper-size process; needs no engine."""
    for line in model_reader.lines(scale):
        report.add(line)


def _schedule(report: Report, engine: Engine, folder: Path, count: int) -> None:
    """Wall time against the ideal, without and with warming."""
    claims = str(sample_claims(folder, HARBOUR, count))
    with scripted_server() as base_url:  # an engine that was started just now is slow for a while
        _ran(_given(engine, HARBOUR, claims, base_url))
    wall = 0.0
    for warm, caching in (("off", ()), ("on", ("--caches-prefixes",))):
        with scripted_server("--latency", str(LATENCY), *caching) as base_url:
            given = _given(engine, HARBOUR, claims, base_url, warm=warm)
            ran = _ran(given)
            told = stats(base_url)
        if warm == "off":  # as the loop, for which nothing is warmed
            wall = ran["wall"]
        calls = sum(told["calls"].values())
        ideal = max(calls * LATENCY / CALLS_AT_ONCE, ran["longest"] * LATENCY)
        characters, cached = (
            sum(told["characters"].values()),
            sum(told["cached_characters"].values()),
        )
        note = (
            f"{ran['claims']} claims, {calls:,} calls of {LATENCY * 1000:.0f} ms, most in flight "
            f"{told['most_at_once']}, longest chain {ran['longest']} calls; CPU "
            f"{ran['cpu_of_run']:.1f} s; graph busy {_graph(ran)}"
        )
        if caching:
            note += f"; {cached / characters:.0%} of the prompts' characters came from the cache"
        report.add(
            Line(
                f"{engine.name}: schedule, warm prefixes {warm}",
                ran["wall"],
                reference=ideal,
                target=SCHEDULE_TARGET,
                note=note,
            )
        )
    _schedule_of_loop(report, engine, claims, wall)


def _schedule_of_loop(report: Report, engine: Engine, claims: str, wall: float) -> None:
    """Compare with a bare loop, in which no call waits for another."""
    with scripted_server("--latency", str(LATENCY)) as base_url:
        given = _given(engine, HARBOUR, claims, base_url)
        found = run_child("benchmarks.model_own_cost:compare", rounds=1, **given)
    ideal = found["calls"] * LATENCY / CALLS_AT_ONCE
    for what, ours in ((f"{engine.name}: schedule", wall), ("without the graph", found["ours"])):
        report.add(
            Line(
                f"{what}, against a bare loop",
                ours,
                reference=found["bare"],
                target=LOOP_TARGET,
                note=(
                    f"{found['calls']:,} calls; the ideal is {ideal:.1f} s, of which the bare loop "
                    f"takes {found['bare'] / ideal:.2f} times as much on this machine"
                ),
            )
        )


def _own_cost(report: Report, engine: Engine, folder: Path, count: int) -> None:
    """Our time a call against a bare loop, with and without the cache of answers."""
    claims = str(sample_claims(folder, HARBOUR, count))
    with scripted_server() as base_url:
        for use_cache in (True, False):
            given = _given(engine, HARBOUR, claims, base_url, use_cache=use_cache)
            found = run_child("benchmarks.model_own_cost:compare", **given)
            report.add(
                Line(
                    f"own cost, 0 ms a call{'' if use_cache else ', no cache of answers'}",
                    found["ours"],
                    reference=found["bare"],
                    target=OWN_COST_TARGET if use_cache else None,
                    note=(
                        f"{found['calls']:,} calls of {found['claims']} claims; CPU a call "
                        f"{found['cpu_ours'] * 1000:.2f} ms, bare "
                        f"{found['cpu_bare'] * 1000:.2f} ms; ratio of the fastest "
                        f"{found['fastest']:.2f}"
                    ),
                )
            )


def _many(report: Report, engine: Engine, folder: Path, count: int) -> None:
    """A run of many claims with the graph: memory, processor time, time at the graph."""
    claims = str(sample_claims(folder, HARBOUR, count))
    with scripted_server() as base_url:
        ran = _ran(_given(engine, HARBOUR, claims, base_url))
    calls = ran["calls"]
    report.add(
        Line(
            f"{engine.name}: {count:,} claims, peak memory",
            ran["peak_mb"],
            "MB",
            note=(
                f"{ran['wall']:.0f} s, {calls:,} calls and {ran['cached_calls']:,} answers from "
                f"the cache; CPU {ran['cpu_of_run'] / max(1, calls) * 1000:.2f} ms a call, graph "
                f"included; graph busy {_graph(ran)}"
            ),
        )
    )


def _cost(report: Report, engine: Engine, folder: Path) -> None:
    """Calls and tokens a claim, and the share of the nodes that a claim's walk reads."""
    for sample in (HARBOUR, ENERGY):
        document = json.loads((ROOT / "examples" / f"{sample}.json").read_text("utf-8"))
        path = folder / f"{sample}-labelled.json"
        path.write_text(json.dumps([claim["text"] for claim in document["claims"]]), "utf-8")
        with scripted_server() as base_url:
            for q in (1, 2, 3):
                ran = _ran(_given(engine, sample, str(path), base_url, q=q))
                asked = ran["calls"] + ran["cached_calls"]
                report.add(
                    Line(
                        f"{sample}, q = {q}: calls a claim",
                        asked / ran["claims"],
                        "calls",
                        note=(
                            f"{asked / ran['claims']:.1f} calls and "
                            f"{ran['input_tokens'] / ran['claims']:,.0f} input tokens a claim; "
                            f"{ran['visited'] / len(document['nodes']):.0%} of all nodes read "
                            "(paper, FABLES+: 38 % with q = 1, 47 % with q = 3)"
                        ),
                    )
                )


def _given(engine: Engine, sample: str, claims: str, base_url: str, **more: Any) -> dict[str, Any]:
    stats(base_url, reset=True)
    return {
        "login": engine.login,
        "process": f"bench-{sample}",
        "claims": claims,
        "base_url": base_url,
        "concurrency": CALLS_AT_ONCE,
        **more,
    }


def _ran(given: dict[str, Any]) -> dict[str, Any]:
    """One measured run; what failed is no measurement."""
    ran = run_child("benchmarks.model_runs:run", **given)
    if ran["failed"]:
        raise BenchmarkError(f"{ran['failed']} claims failed: {ran['why']}")
    return ran


def _graph(ran: dict[str, Any]) -> str:
    return (
        f"{ran['graph_reading']:.1f} s with {ran['graph_reads']:,} reads, "
        f"{ran['graph_writing']:.1f} s with {ran['graph_writes']:,} writes"
    )


def sample_claims(folder: Path, sample: str, count: int) -> Path:
    """So many claims: the sentences of a sample, then pairs of them."""
    document = json.loads((ROOT / "examples" / f"{sample}.json").read_text("utf-8"))
    split = SentenceSplitter.for_language("english").split
    said = [
        " ".join(sentence.text.split())
        for node in document["nodes"]
        for sentence in split(node["node_id"], node["text"])
    ]
    single = [text for text in dict.fromkeys(said) if len(text.split()) > 3]
    pairs = (f"{one.rstrip('.')} and {other}" for one, other in itertools.permutations(single, 2))
    texts = list(itertools.islice(itertools.chain(single, pairs), count))
    if len(texts) < count:
        raise BenchmarkError(f"{sample} has sentences for {len(texts)} claims only")
    path = folder / f"{sample}-{count}.json"
    path.write_text(json.dumps(texts), "utf-8")
    return path


def run_command(engine: Engine, *arguments: str) -> None:
    """Call `veritrail` on this engine."""
    call_command(engine.environment, *arguments)


def call_command(environment: Mapping[str, str], *arguments: str) -> None:
    """Call `veritrail` with these settings.

    Raises:
        BenchmarkError: It failed.
    """
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=ROOT,
        env=without_servers(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BenchmarkError(f"veritrail {' '.join(arguments)}: {done.stderr.strip()[-300:]}")


def without_servers(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a child with these settings, and no server of the user's own."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NEO4J_")}
    return {**kept, **environment}


@contextmanager
def scripted_server(*arguments: str) -> Iterator[str]:
    """The scripted server in a process of its own; gives its base_url."""
    child = subprocess.Popen(
        [sys.executable, "-m", "fakes.model_server_process", *arguments],
        cwd=ROOT / "tests",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    with child:
        base_url = child.stdout.readline().strip()
        if not base_url:
            raise BenchmarkError("the scripted server did not start")
        try:
            yield base_url
        finally:
            child.stdin.close()
