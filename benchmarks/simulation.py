"""A simulation of 10,000 claims on the paper's size, and of a few on a million nodes."""

from __future__ import annotations

import resource
import time
from typing import Any

from benchmarks.children import run_child
from benchmarks.dag import scaled
from benchmarks.report import Line, Report
from veritrail_eval.simulation.shapes import NODES

CLAIMS, SECONDS = 10_000, 120.0
LARGE, LARGE_CLAIMS = 1_000_000, 100


def measure(report: Report, scale: float = 1.0) -> None:
    """Simulate with the default judge and q = 3, on as many processes as there are cores."""
    for size, count, target in ((NODES, CLAIMS, SECONDS), (LARGE, LARGE_CLAIMS, None)):
        nodes, claims = scaled(size, scale, 100), scaled(count, scale, 10)
        found = run_child("benchmarks.simulation:run", nodes=nodes, claims=claims)
        report.add(
            Line(
                f"simulation: {claims:,} claims, {found['nodes']:,} nodes",
                found["seconds"],
                target=target,
                note=(
                    f"{found['visited']:,.0f} nodes and {found['calls']:,.0f} calls a claim; "
                    f"{found['processor']:.0f} s of processor time, {found['memory']:,.0f} MB"
                ),
            )
        )


def run(nodes: int, claims: int) -> dict[str, Any]:
    """Simulate in this process and its workers."""
    from veritrail_eval.simulation.configuration import (
        ClaimSettings,
        Grid,
        JudgeSettings,
    )
    from veritrail_eval.simulation.run import Simulation, simulate
    from veritrail_eval.simulation.shapes import ShapeOptions, generate

    start = time.perf_counter()
    shape = generate(ShapeOptions("graphrag", nodes))
    simulation = Simulation(shape, ClaimSettings(claims), Grid(q=(3,)), JudgeSettings())
    figures = simulate(simulation).rows[0].figures
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "seconds": time.perf_counter() - start,
        "nodes": shape.nodes,
        "visited": figures["nodes_visited"],
        "calls": figures["calls"],
        "processor": sum(one.ru_utime + one.ru_stime for one in used),
        "memory": max(one.ru_maxrss for one in used) / 1024,
    }
