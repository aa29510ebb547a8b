"""The query library on the generated process with its claims verified: p95 of every query."""

from __future__ import annotations

import math
import time
from typing import Any

from benchmarks import dag
from benchmarks.children import run_child
from benchmarks.engines import Engine
from benchmarks.ingest import OURS
from benchmarks.processor import processor, server_process
from benchmarks.query_trails import VERIFICATIONS, fill
from benchmarks.report import Line, Report, middle
from veritrail_graph.graph.store import DatabaseAddress, open_store
from veritrail_graph.graph.store.queries import find, library

ROUNDS = 20
WARM = 2
TARGETS = {"neo4j": 1.0, "embedded": 3.0}
__all__ = ["ask", "fill", "measure"]


def measure(report: Report, engine: Engine, scale: float, claims: int = VERIFICATIONS) -> None:
    """Store the verifications, and ask every query with other parameters in each round."""
    task = {"login": engine.login, "scale": scale}
    stored = run_child("benchmarks.queries:fill", **task, process_id=OURS, count=claims)
    for statement in library():
        name = statement.short_name
        found = run_child("benchmarks.queries:ask", **task, name=name, claims=claims)
        cpu = "" if found["cpu"] is None else f", server CPU {found['cpu'] * 1000:.0f} ms"
        report.add(
            Line(
                f"{engine.name}: {name}, p95",
                found["p95"],
                target=TARGETS[engine.name],
                note=(
                    f"p50 {found['p50'] * 1000:.0f} ms{cpu}, {found['rows']:.0f} rows, "
                    f"{stored['verifications']} verifications"
                ),
            )
        )


async def ask(
    login: dict[str, Any],
    scale: float,
    name: str,
    rounds: int = ROUNDS,
    claims: int = VERIFICATIONS,
) -> dict[str, float | None]:
    """Seconds of a query, and of the server's processor where it runs on this machine."""
    times: list[float] = []
    work: list[float] = []
    server = server_process(login["uri"])
    async with open_store(DatabaseAddress(**login)) as store:
        for number in range(rounds + WARM):
            given = _parameters(name, scale, number, claims)
            begun, start = processor(server), time.perf_counter()
            found = await store.queries.run(name, given)
            if number >= WARM:  # a server plans and compiles at first
                times.append(time.perf_counter() - start)
                work.append(processor(server) - begun)
    return {
        "p50": middle(times),
        "p95": sorted(times)[math.ceil(0.95 * len(times)) - 1],
        "cpu": middle(work) if server else None,
        "rows": len(found.rows),
    }


def _parameters(name: str, scale: float, number: int, claims: int) -> dict[str, Any]:
    """Required parameters of a query, others in each round."""
    shape = dag.Shape.of(scale)
    last = len(shape.stages) - 1
    places = [number * 37 % count for count in shape.stages]
    values = {
        "process_id": OURS,
        # Claims of every verdict: of twenty in a row the last has none.
        "claim_id": f"claim-{(number * 20 + number % 19) % claims}",
        # Of every stage in turn: one step from the roots, or from the end, is not the same.
        "node_id": dag.node_id(number % (last + 1), places[number % (last + 1)]),
        "from_node_id": dag.node_id(0, places[0]),
        "to_node_id": dag.node_id(last, shape.stages[last] - 1),
    }
    required = [parameter.name for parameter in find(name).parameters if parameter.required]
    return {key: values[key] for key in required}
