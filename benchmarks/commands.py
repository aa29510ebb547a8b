"""The command line: how long `--help` takes, and how much of a `verify` is its own time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.children import ROOT, BenchmarkError, peak_of, run_child
from benchmarks.engines import Engine
from benchmarks.report import Line, Report, middle

HELP_ROUNDS, VERIFY_ROUNDS = 15, 7
HELP_SECONDS, VERIFY_SECONDS = 0.3, 1.0
COMMAND = (sys.executable, "-m", "veritrail_graph.api.cli.main")
SMALL = "bench-command"


@dataclass(frozen=True, slots=True)
class Spent:
    """What a command took: seconds on the clock and of processor time, and its peak memory."""

    wall: float
    cpu: float
    peak_mb: float


def measure_help(report: Report) -> None:
    """`veritrail --help`, beside a Python that does nothing."""
    installed = Path(sys.executable).parent / "veritrail"
    command = (str(installed),) if installed.is_file() else COMMAND
    ours: list[Spent] = []
    nothing: list[Spent] = []
    for _ in range(HELP_ROUNDS):
        ours.append(spend((*command, "--help")))
        nothing.append(spend((sys.executable, "-c", "pass")))
    wall, bare = middle([each.wall for each in ours]), middle([each.wall for each in nothing])
    report.add(
        Line(
            "veritrail --help",
            wall,
            target=HELP_SECONDS,
            note=(
                f"CPU {middle([each.cpu for each in ours]) * 1000:.0f} ms; fastest "
                f"{min(each.wall for each in ours) * 1000:.0f} ms; python -c pass "
                f"{bare * 1000:.0f} ms, ratio {wall / bare:.1f}"
            ),
        )
    )


def measure_verify(report: Report, engine: Engine, folder: Path) -> None:
    """`veritrail verify` of one claim over a small process, the engine running already."""
    file = folder / "command.jsonl"
    run_child("benchmarks.dag:write", path=str(file), scale=0.001, process_id=SMALL)
    spend((*COMMAND, "ingest", str(file)), engine.environment)
    try:
        verify = (*COMMAND, "verify", SMALL, "--claim-id", "claim-0")
        spent = [spend(verify, engine.environment) for _ in range(VERIFY_ROUNDS)]
    finally:
        spend((*COMMAND, "delete", SMALL, "--yes"), engine.environment)
    report.add(
        Line(
            f"{engine.name}: veritrail verify, engine running",
            middle([each.wall for each in spent]),
            target=VERIFY_SECONDS,
            note=(
                f"CPU {middle([each.cpu for each in spent]) * 1000:.0f} ms; fastest "
                f"{min(each.wall for each in spent) * 1000:.0f} ms"
            ),
        )
    )


def spend(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Spent:
    """Run a command to its end."""
    # Compiled modules are kept, as they are where the package is installed.
    others = ("NEO4J_", "PYTHONDONTWRITEBYTECODE")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(others)}
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**kept, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    words = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode:
        told = words.decode("utf-8", "replace").strip().splitlines()
        raise BenchmarkError(f"{' '.join(command[1:])}: {told[-1] if told else 'failed'}")
    return Spent(wall, usage.ru_utime + usage.ru_stime, peak_of(usage))
