"""Reading one frontier: our call against the packed statement that a script would send.

Both are sent in turn by the synchronous driver, and give ids, stages and texts of the source
nodes of some nodes; ours says besides which of them each was an input to.
"""

from __future__ import annotations

import gc
import random
import time
from typing import Any

import neo4j

from benchmarks.children import run_child
from benchmarks.engines import Engine
from benchmarks.ingest import OURS
from benchmarks.report import Line, Report, middle
from veritrail_graph.api.cli.main import COLLECTIONS
from veritrail_graph.graph.adjacency import Adjacency
from veritrail_graph.graph.store import DatabaseAddress
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.store import Store

PACKED = """UNWIND $node_ids AS node_id
MATCH (v:Span {process_id: $process_id, node_id: node_id})<-[:INPUT_TO]-(u:Span)
WITH DISTINCT u
WITH collect([u.node_id, u.stage, u.text]) AS x
UNWIND range(0, size(x) - 1, 2000) AS i
RETURN x[i..i + 2000]"""

SIZES = (1, 100, 3_000)
SECONDS, MOST_ROUNDS = 15.0, 60


def measure(report: Report, engine: Engine) -> None:
    """Read frontiers of three sizes in both ways."""
    found = run_child("benchmarks.frontiers:compare", login=engine.login)
    for size in SIZES:
        one = found[str(size)]
        report.add(
            Line(
                f"{engine.name}: a frontier of {size:,} nodes",
                one["ours"],
                reference=one["packed"],
                target=1.2,
                note=f"source nodes of {one['targets']:,} nodes, {one['characters']:,} characters",
            )
        )


async def compare(login: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Median seconds of both ways, by size of the frontier."""
    gc.set_threshold(*COLLECTIONS)
    address = DatabaseAddress(**login)
    database = Database(address)
    store = Store.of(database)
    process = await store.processes.get(OURS)
    whole = await store.reading.topology(OURS, process.nodes, process.edges)
    auth = (address.username or "", address.password or "")
    found: dict[str, dict[str, float]] = {}
    with neo4j.GraphDatabase.driver(address.uri, auth=auth) as driver:
        for size in SIZES:
            of = _targets(whole, size)
            times: dict[str, list[float]] = {"ours": [], "packed": []}
            end = time.perf_counter() + SECONDS
            rounds = 0
            while rounds < MOST_ROUNDS and (rounds < 3 or time.perf_counter() < end):
                start = time.perf_counter()
                read = await store.reading.source_nodes(OURS, of, with_texts=True)
                between = time.perf_counter()
                rows = _packed(driver, address.database, of)
                stop = time.perf_counter()
                assert sum(len(row[0]) for row in rows) == len(read.nodes) == len(read.texts)
                if rounds:  # the first time opens connections
                    times["ours"].append(between - start)
                    times["packed"].append(stop - between)
                rounds += 1
            found[str(size)] = {
                **{name: middle(seconds) for name, seconds in times.items()},
                "targets": len(of),
                "characters": sum(map(len, read.texts.values())),
            }
    await database.close()
    return found


def _targets(whole: Adjacency, size: int) -> list[str]:
    """Nodes that together have a number of source nodes, drawn from all stages."""
    names = [name for name in whole.ids if whole.source_nodes([name]).nodes]
    random.Random(size).shuffle(names)
    chosen: list[str] = []
    reached: set[str] = set()
    for name in names:
        wider = reached.union(whole.source_nodes([name]).sources[name])
        if len(reached) < len(wider) <= size:
            chosen.append(name)
            reached = wider
        if len(reached) == size:
            break
    return chosen


def _packed(driver: neo4j.Driver, database: str | None, of: list[str]) -> list[Any]:
    def work(tx: neo4j.ManagedTransaction) -> list[Any]:
        return tx.run(PACKED, process_id=OURS, node_ids=of).values()

    with driver.session(database=database, default_access_mode=neo4j.READ_ACCESS) as session:
        return session.execute_read(work)
