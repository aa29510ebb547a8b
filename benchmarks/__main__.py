"""Run the benchmarks: `python -m benchmarks`."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import dag, engines, ingest
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
    benchmarks: dict[str, Callable[[], None]] = {
        "ingest": lambda: ingest.measure(report, engine, file, small, repeats),
    }
    for name, run in benchmarks.items():
        try:
            run()
        except BenchmarkError as error:
            report.fail(f"{engine.name}: {name}", error)


if __name__ == "__main__":
    sys.exit(main())
