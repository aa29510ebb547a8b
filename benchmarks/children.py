"""Measurements in child processes: the memory and the caches of one are not those of another.

The parent stays small on purpose: on Linux the peak memory of a child is at least that of
the process that started it.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


class BenchmarkError(Exception):
    """A benchmark could not run; the message says why."""


def run_child(task: str, **arguments: Any) -> dict[str, Any]:
    """Call `module:function` with these arguments in a process of its own.

    The arguments go through standard input, so that no command line holds a password.

    Returns:
        What the function returned, with `peak_mb` (the largest resident memory of the child)
        and `cpu` (seconds of processor time, user and system).

    Raises:
        BenchmarkError: The child failed.
    """
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.children", task],
        input=json.dumps(arguments),
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        check=False,
    )
    if done.returncode:
        raise BenchmarkError(f"{task} ended with exit status {done.returncode}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def peak_of(usage: resource.struct_rusage) -> float:
    """The largest resident memory that a process had, in megabytes."""
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def _main(task: str) -> None:
    from veritrail_graph.api.cli.main import share_one_heap
    from veritrail_graph.graph.lean_imports import keep_imports_lean

    share_one_heap()  # both as the command line does
    keep_imports_lean()  # else the driver loads data-frame libraries
    module, _, name = task.partition(":")
    function = getattr(importlib.import_module(module), name)
    arguments = json.load(sys.stdin)
    result = function(**arguments)
    if inspect.iscoroutine(result):
        result = asyncio.run(result)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                **(result or {}),
                "peak_mb": peak_of(usage),
                "cpu": usage.ru_utime + usage.ru_stime,
            }
        )
    )


if __name__ == "__main__":
    _main(sys.argv[1])
