"""Whether storing and walking get dearer as the process grows: seconds an edge, a visited node.

The processes have the paper's shape, scaled; each is generated straight into a file, stored,
walked and removed again. Those of up to 200,000 nodes are stored several times, in turn.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.children import run_child
from benchmarks.engines import Engine
from benchmarks.ingest import OURS
from benchmarks.report import Line, Report, middle
from benchmarks.walk import KINDS, verify
from benchmarks.walking import FixedJudge
from veritrail_eval.simulation.shapes import NODES
from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.store import DatabaseAddress
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.store import Store

SIZES = (10_000, 100_000)
LARGE = 200_000
"""Larger processes are stored once, and want more memory."""
ROUNDS, WALKS, WALK_SECONDS = 3, 5, 60.0
CLAIMS = (20, 1)
"""So many claims walk at once, by kind of walk: large frontiers are nearly the whole process."""
MOST = 1.5

Costs = dict[str, dict[int, list[float]]]


def measure(report: Report, engine: Engine, folder: Path, sizes: Sequence[int] = SIZES) -> None:
    """Store and walk processes of these sizes, in turn."""
    costs: Costs = {"ingest, an edge": {}}
    edges: dict[int, int] = {}
    for size in sizes:
        scale, file = size / NODES, str(_file(folder, size))
        written = run_child("benchmarks.dag:write", path=file, scale=scale, process_id=OURS)
        edges[size] = written["edges"]
    try:
        smallest = min(sizes)  # compilers of a Java server take their time
        _store_and_walk({}, engine, _file(folder, smallest), smallest, edges[smallest], walk=True)
        for number in range(ROUNDS):
            last = number == ROUNDS - 1
            for size in sizes:
                if size <= LARGE or last:
                    file = str(_file(folder, size))
                    _store_and_walk(costs, engine, Path(file), size, edges[size], walk=last)
    finally:
        for size in sizes:
            _file(folder, size).unlink()
    for what, by_size in costs.items():
        _report(report, engine, what, {size: middle(found) for size, found in by_size.items()})


def _store_and_walk(
    costs: Costs, engine: Engine, file: Path, size: int, edges: int, *, walk: bool
) -> None:
    """Note what one process costs, and remove it."""
    found = {}
    try:
        stored = run_child("benchmarks.ingest:ours", login=engine.login, file=str(file))
        found["ingest, an edge"] = stored["seconds"] / edges
        if walk:
            walked = run_child("benchmarks.growth:walks", login=engine.login)
            found |= {f"walk {kind}, a visited node": walked[kind] for kind in KINDS}
    finally:
        run_child("benchmarks.ingest:remove", login=engine.login, process_id=OURS)
    for what, cost in found.items():
        costs.setdefault(what, {}).setdefault(size, []).append(cost)


def _report(report: Report, engine: Engine, what: str, costs: dict[int, float]) -> None:
    """The dearest size against the cheapest; a target for Neo4j, the other engine is told."""
    report.add(
        Line(
            f"{engine.name}: {what}",
            max(costs.values()) * 1e6,
            "us",
            reference=min(costs.values()) * 1e6,
            target=MOST if engine.name == "neo4j" else None,
            note=", ".join(f"{size:,}: {cost * 1e6:.0f} us" for size, cost in costs.items()),
        )
    )


def _file(folder: Path, size: int) -> Path:
    return folder / f"{size}.jsonl"


async def walks(login: dict[str, Any]) -> dict[str, float]:
    """Median seconds a visited node, by kind of walk."""
    database = Database(DatabaseAddress(**login))
    store = Store.of(database)
    found: dict[str, float] = {}
    for (kind, verdict), claims in zip(KINDS.items(), CLAIMS, strict=True):
        costs: list[float] = []
        end = time.perf_counter() + WALK_SECONDS
        while len(costs) <= WALKS and (not costs or time.perf_counter() < end):
            judge = FixedJudge(Verdict(verdict))
            start = time.perf_counter()
            await verify(store, judge, claims)
            costs.append((time.perf_counter() - start) / judge.nodes_read)
        found[kind] = middle(costs[1:] or costs)  # the first one fills the engine's caches
    await database.close()
    return found
