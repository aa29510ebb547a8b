"""Run the benchmarks: `python -m benchmarks`."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import commands, engines, ingest, walk, write_back
from benchmarks.children import BenchmarkError, run_child
from benchmarks.engines import Engine
from benchmarks.report import Report

SMALL = 0.25


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="size of the process; 1: paper's")
    parser.add_argument("--engine", choices=engines.NAMES, action="append", help="default: both")
    parser.add_argument("--repeat", type=int, default=2, help="ingests of each kind (default: 2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    return parser.parse_args()


def main() -> int:
    """Run everything; 0 unless a benchmark could not run."""
    options = _arguments()
    report = Report()
    started = time.monotonic()
    with engines.temporary_folder() as folder:
        os.environ["VERITRAIL_HOME"] = str(folder / "home")
        file, small = folder / "process.jsonl", folder / "small.jsonl"
        counts = run_child(
            "benchmarks.dag:write", path=str(file), scale=options.scale, process_id="bench"
        )
        run_child(
            "benchmarks.dag:write", path=str(small), scale=options.scale * SMALL, process_id="bench"
        )
        print(
            f"{counts['nodes']:,} nodes, {counts['edges']:,} edges, "
            f"{counts['characters']:,} characters\n"
        )
        _attempt(report, "help", lambda: commands.measure_help(report))
        for name in options.engine or engines.NAMES:
            try:
                with engines.running(name, folder / "home") as engine:
                    _measure(report, engine, file, small, options.repeat)
            except BenchmarkError as error:
                report.fail(name, error)
    print(f"\n{report.summary()} ({time.monotonic() - started:.0f} s)")
    if options.json:
        about = {"python": platform.python_version(), "cores": os.cpu_count(), **counts}
        report.save(options.json, {"scale": options.scale, **about})
    return 1 if report.failures else 0


def _measure(report: Report, engine: Engine, file: Path, small: Path, repeats: int) -> None:
    """Everything that needs an engine; the process of the first stays for the others."""
    benchmarks: dict[str, Callable[[], None]] = {
        "ingest": lambda: ingest.measure(report, engine, file, small, repeats),
        "walk": lambda: walk.measure(report, engine),
        "trail": lambda: write_back.measure(report, engine),
        "verify": lambda: commands.measure_verify(report, engine, file.parent),
    }
    try:
        for name, run in benchmarks.items():
            _attempt(report, f"{engine.name}: {name}", run)
    finally:  # a server of somebody else is left as it was
        _attempt(report, f"{engine.name}: cleaning", lambda: ingest.clean(engine))


def _attempt(report: Report, name: str, run: Callable[[], None]) -> None:
    try:
        run()
    except BenchmarkError as error:
        report.fail(name, error)


if __name__ == "__main__":
    sys.exit(main())
