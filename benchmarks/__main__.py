"""Run the benchmarks: `python -m benchmarks`."""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import (
    attribution,
    batches,
    checks,
    commands,
    dag,
    dialogues,
    engines,
    growth,
    imports,
    ingest,
    models,
    money,
    pages,
    peers,
    provenance,
    queries,
    query_trails,
    recorder,
    service_jobs,
    service_reads,
    simulation,
    since,
    small_processes,
    walk,
    workers,
    write_back,
)
from benchmarks.children import BenchmarkError, run_child
from benchmarks.engines import Engine
from benchmarks.report import Report

SMALL = 0.25
STORED = ("ingest", "walk", "trail", "verify", "queries", "provenance")
"""What works on the generated process; all but the first need it stored."""
PARTS = (
    "help", "recorder", "imports", "simulation", "batches", *STORED, "reading", *models.PARTS,
    "money", "since", "attribution", "dialogues", "check", "jobs", "service", "pages",
)  # fmt: skip
SERVED = ("attribution", "dialogues", "check", "jobs", "service", "pages")
SCALE = "size of the process, and of most else that is measured; 1: the paper's"
EXTRA = ("growth", "peers", "workers")
"""Only when they are asked for: they take long, and the second fetches what it is held against."""
ONLY = f"may be given several times (default: everything but {', '.join(EXTRA)})"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help=SCALE)
    parser.add_argument("--engine", choices=engines.NAMES, action="append", help="default: both")
    parser.add_argument("--only", choices=(*PARTS, *EXTRA), action="append", help=ONLY)
    parser.add_argument(
        "--nodes", type=int, nargs="+", default=growth.SIZES, help="sizes for growth"
    )
    parser.add_argument("--claims", type=int, default=5_000, help="most claims of a run")
    parser.add_argument("--repeat", type=int, default=2, help="ingests of each kind (default: 2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    return parser.parse_args()


def main() -> int:
    """Run everything that is chosen; 0 unless a benchmark could not run."""
    options = _arguments()
    # Engines and the folder are let go of as behind Ctrl-C.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    parts = set(options.only or PARTS)
    report = Report()
    started = time.monotonic()
    counts: dict[str, Any] = {}
    with engines.temporary_folder() as folder:
        os.environ["VERITRAIL_HOME"] = str(folder / "home")
        if parts.intersection(STORED):
            counts = _write_processes(folder, options.scale)
        if "help" in parts:
            _attempt(report, "help", lambda: commands.measure_help(report))
        if "imports" in parts:
            _attempt(report, "imports", lambda: imports.measure(report, options.scale))
        if "recorder" in parts:
            _attempt(report, "recorder", lambda: recorder.measure(report, folder))
        if "simulation" in parts:
            _attempt(report, "simulation", lambda: simulation.measure(report, options.scale))
        if "batches" in parts:
            _attempt(report, "batches", lambda: batches.measure(report))
        if "reading" in parts:
            _attempt(report, "reading", lambda: models.measure_reading(report, options.scale))
        if "money" in parts:
            _attempt(report, "money", lambda: money.measure(report, options.scale))
        if "since" in parts:
            _attempt(report, "since", lambda: since.measure(report, options.scale))
        if "peers" in parts:
            _attempt(report, "peers", lambda: peers.measure(report, folder))
        if parts.intersection((*STORED, "growth", "workers", *models.PARTS, *SERVED)):
            large = "growth" in parts and max(options.nodes) > growth.LARGE
            for name in options.engine or engines.NAMES:
                try:
                    with engines.running(name, folder / "home", large=large) as engine:
                        _measure(report, engine, folder, options, parts)
                except BenchmarkError as error:
                    report.fail(name, error)
    print(f"\n{report.summary()} ({time.monotonic() - started:.0f} s)")
    if options.json:
        about = {"python": platform.python_version(), "cores": os.cpu_count(), **counts}
        report.save(options.json, {"scale": options.scale, **about})
    return 1 if report.failures else 0


def _write_processes(folder: Path, scale: float) -> dict[str, Any]:
    """Write the generated process, and a small one beside it."""
    file, small = _files(folder)
    counts = run_child("benchmarks.dag:write", path=str(file), scale=scale, process_id="bench")
    run_child("benchmarks.dag:write", path=str(small), scale=scale * SMALL, process_id="bench")
    print(
        f"{counts['nodes']:,} nodes, {counts['edges']:,} edges, "
        f"{counts['characters']:,} characters\n"
    )
    return counts


def _files(folder: Path) -> tuple[Path, Path]:
    return folder / "process.jsonl", folder / "small.jsonl"


def _measure(
    report: Report, engine: Engine, folder: Path, options: argparse.Namespace, parts: set[str]
) -> None:
    """Everything that needs an engine; the process of the first stays for the others."""
    file, _ = _files(folder)

    def at_most(count: int) -> int:
        return min(count, options.claims)

    benchmarks: dict[str, Callable[[], None]] = {
        "ingest": lambda: _ingest(report, engine, folder, options),
        "walk": lambda: walk.measure(report, engine, at_most(walk.MANY_CLAIMS)),
        "trail": lambda: write_back.measure(report, engine),
        "verify": lambda: commands.measure_verify(report, engine, folder),
        "queries": lambda: queries.measure(
            report, engine, options.scale, at_most(query_trails.VERIFICATIONS)
        ),
        "provenance": lambda: provenance.measure(
            report, engine, options.scale, at_most(provenance.VERIFICATIONS)
        ),
    }
    chosen = parts.intersection(STORED)
    is_stored = bool(chosen - {"verify"})
    if is_stored and "ingest" not in chosen:
        _attempt(report, f"{engine.name}: storing", lambda: ingest.store(engine, file))
    try:
        for name, run in benchmarks.items():
            if name in chosen:
                _attempt(report, f"{engine.name}: {name}", run)
    finally:  # a server of somebody else is left as it was
        if is_stored:
            _attempt(report, f"{engine.name}: cleaning", lambda: ingest.clean(engine))
    if "growth" in parts:
        _attempt(
            report,
            f"{engine.name}: growth",
            lambda: growth.measure(report, engine, folder, options.nodes, options.repeat),
        )
    if "workers" in parts:
        crews = dict.fromkeys(dag.scaled(count, options.scale) for count in workers.CREWS)
        _attempt(
            report,
            f"{engine.name}: workers",
            lambda: workers.measure(report, engine, folder, tuple(crews)),
        )
    wanted = parts.intersection(models.PARTS)
    if wanted:
        _attempt(
            report,
            f"{engine.name}: models",
            lambda: models.measure(report, engine, folder, wanted, options.claims),
        )
    if "attribution" in parts:
        _attempt(
            report,
            f"{engine.name}: attribution",
            lambda: attribution.measure(report, engine, folder, options.scale),
        )
    if "dialogues" in parts:
        _attempt(
            report,
            f"{engine.name}: dialogues",
            lambda: dialogues.measure(report, engine, folder, options.scale),
        )
    if "check" in parts:
        _attempt(
            report,
            f"{engine.name}: check",
            lambda: checks.measure(
                report, engine, folder, dag.scaled(checks.TRACES, options.scale, 5)
            ),
        )
    if "jobs" in parts:
        _attempt(
            report,
            f"{engine.name}: jobs",
            lambda: service_jobs.measure(report, engine, folder, options.claims),
        )
    if "service" in parts:
        _attempt(
            report,
            f"{engine.name}: service",
            lambda: service_reads.measure(
                report, engine, folder, options.scale, at_most(query_trails.VERIFICATIONS)
            ),
        )
    if "pages" in parts:
        _attempt(
            report,
            f"{engine.name}: pages",
            lambda: pages.measure(report, engine, folder, options.scale, at_most(pages.CLAIMS)),
        )


def _ingest(report: Report, engine: Engine, folder: Path, options: argparse.Namespace) -> None:
    count = dag.scaled(small_processes.PROCESSES, options.scale, 10)
    small_processes.measure(report, engine, folder, count)
    ingest.measure(report, engine, *_files(folder), options.repeat)


def _attempt(report: Report, name: str, run: Callable[[], None]) -> None:
    try:
        run()
    except BenchmarkError as error:
        report.fail(name, error)


if __name__ == "__main__":
    sys.exit(main())
