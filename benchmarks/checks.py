"""`check` of a folder of traces with a language model: the wall time against the ideal schedule.

Each trace is stored, has its claims extracted, verified and written back, beside the others.
Source: ours (docs/adr/0066-check.md).
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.children import BenchmarkError, run_child
from benchmarks.engines import Engine
from benchmarks.model_own_cost import bare_loop, recording
from benchmarks.model_runs import MODEL, GraphTime, TimedDatabase, longest_chain, stats
from benchmarks.models import CALLS_AT_ONCE, LATENCY, SCHEDULE_TARGET, scripted_server
from benchmarks.report import Line, Report
from veritrail_graph.api.app import Application
from veritrail_graph.api.app.check_terms import CheckOptions
from veritrail_graph.api.app.ingesting import IngestOptions
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.model.finding import Checked
from veritrail_graph.graph.store.database import DatabaseAddress
from veritrail_graph.graph.store.store import Store

TRACES, WARM_UP = 500, 16
EXTRACTION = 3
"""Calls that take a claim from a sentence, one after the other."""


def measure(report: Report, engine: Engine, folder: Path, traces: int = TRACES) -> None:
    """Wall time of a check of many traces against the ideal, and against a bare loop."""
    place = folder / "traces"
    write(place, traces)
    with scripted_server("--latency", str(LATENCY)) as base_url:
        ran = run_child(
            "benchmarks.checks:run", login=engine.login, place=str(place), base_url=base_url
        )
        told = stats(base_url)
    by_calls = ran["calls"] * LATENCY / CALLS_AT_ONCE
    ideal = max(by_calls, ran["longest"] * LATENCY)
    report.add(
        Line(
            f"{engine.name}: check of {traces:,} traces, {LATENCY:g} s a call",
            ran["wall"],
            reference=ideal,
            target=SCHEDULE_TARGET,
            note=(
                f"{ran['claims']:,} claims, {ran['calls']:,} calls, most in flight "
                f"{told['most_at_once']}; CPU {ran['cpu_of_run']:.1f} s; graph busy: reads "
                f"{ran['reading']:.2f} s, writes {ran['writing']:.2f} s"
            ),
        )
    )
    report.add(
        Line(
            f"{engine.name}: check of {traces:,} traces, against a bare loop",
            ran["wall"],
            reference=ran["bare"],
            note=f"which takes {ran['bare'] / ideal:.2f} times the ideal here",
        )
    )


def write(place: Path, traces: int, first: int = 0) -> None:
    """Write a folder of logs of answers over two texts each, of which every third is wrong."""
    place.mkdir(parents=True, exist_ok=True)
    for number in range(first, first + traces):
        said = 40 + number % 50 + (number % 3 == 0)
        row = {
            "question": f"How many cars does ferry {number} carry?",
            "contexts": [
                f"Ferry {number} carries {40 + number % 50} cars.",
                f"The fee of harbour {number} rises to {1 + number % 9} euros in May.",
            ],
            "answer": f"Ferry {number} carries {said} cars.",
        }
        (place / f"trace-{number:04}.json").write_text(json.dumps(row), encoding="utf-8")


async def run(*, login: dict[str, Any], place: str, base_url: str) -> dict[str, float]:
    """Check the folder, from its files to the findings; then send its calls in a bare loop."""
    database = TimedDatabase(DatabaseAddress(**login))
    await database.connect()
    stored: list[str] = []
    try:
        with tempfile.TemporaryDirectory(prefix="veritrail-bench-") as home:
            settings = Settings(
                home=Path(home) / "home",
                model=MODEL,
                warm_prefixes="off",
                OPENAI_BASE_URL=base_url,
                OPENAI_API_KEY="none",
            )
            async with Application.over(Store.of(database), settings) as app:
                warm = Path(home) / "warm"
                write(warm, WARM_UP, first=10_000)
                stored += _ids(await _checked(app, warm))  # libraries are loaded
                database.reads, database.writes = GraphTime(), GraphTime()
                with recording() as requests:
                    start, spent = time.perf_counter(), time.process_time()
                    found = await _checked(app, Path(place))
                    wall, cpu = time.perf_counter() - start, time.process_time() - spent
                    stored += _ids(found)
                # All traces are alike: the calls of the first one that wait for each other.
                chains = [
                    longest_chain(one)
                    for one in await app.verifications.read(
                        [claim.verification_id for claim in found.processes[0].results]
                    )
                ]
                for name in dict.fromkeys(stored):
                    await app.processes.delete(name, force=True)
    finally:
        await database.close()
    return {
        "wall": wall,
        "cpu_of_run": cpu,
        "bare": await bare_loop(base_url, CALLS_AT_ONCE, requests, []),
        "calls": len(requests),
        "claims": sum(one.claims for one in found.processes),
        "longest": max(chains, default=0) + EXTRACTION,
        "reading": database.reads.busy,
        "writing": database.writes.busy,
    }


async def _checked(app: Application, place: Path) -> Checked:
    request = VerifyRequest(process_id="-", engine="openai", use_cache=False)
    options = CheckOptions(request, IngestOptions(force=True), concurrency=CALLS_AT_ONCE)
    done = await app.checking.check([place], options)
    failed = [one.error.get("message") for one in done.checked.failed]
    failed += [one.reason for process in done.checked.processes for one in process.failed]
    if done.fault is not None or failed:
        raise BenchmarkError(f"{len(failed)} could not be checked: {done.fault or failed[0]}")
    return done.checked


def _ids(found: Checked) -> Sequence[str]:
    return [one.process_id for one in found.processes]
