"""A verification walk without a model: our driver against the bare Cypher calls that it needs.

And the walk in Cypher, with a statement after each iteration, against the default.

The calls of one walk are recorded and played back, with the same statements and parameters:
by the synchronous driver in threads, as our store runs it; by the synchronous driver alone;
and by the asynchronous driver. The last two are for information (docs/adr/0004-driver.md).
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import neo4j

from benchmarks import frontiers
from benchmarks.children import run_child
from benchmarks.engines import Engine
from benchmarks.ingest import OURS
from benchmarks.report import Line, Report, middle
from benchmarks.walking import FixedJudge, WholeTexts, tasks
from veritrail_graph import cypher
from veritrail_graph.api.cli.main import COLLECTIONS
from veritrail_graph.graph.model import Status, Verdict, Verification
from veritrail_graph.graph.store import DatabaseAddress
from veritrail_graph.graph.store.database import Database, Row
from veritrail_graph.graph.store.store import Store
from veritrail_graph.graph.walking import Walk
from veritrail_graph.verifier.frontiers import CypherNodes
from veritrail_graph.verifier.nodes import SharedNodes
from veritrail_graph.verifier.ports import NodeSource
from veritrail_graph.verifier.run import Run

Calls = list[tuple[str, dict[str, Any]]]

SECONDS, MOST_ROUNDS = 20.0, 40
"""Rounds of all ways in turn: as many as go into this time, and no more."""
MANY_CLAIMS = 560
IN_CYPHER = (1, 20)
"""Claims of a walk in Cypher."""
TOPOLOGY = cypher.load("walk/topology").text
# A walk to the roots, and one whose frontiers are all source nodes of the one before.
KINDS = {
    "to the roots": Verdict.FULLY_SUPPORTED,
    "large frontiers": Verdict.NOT_FULLY_SUPPORTED,
}


def measure(report: Report, engine: Engine, many: int = MANY_CLAIMS) -> None:
    """Walk the stored process in both ways, and with one claim and with many."""
    frontiers.measure(report, engine)
    for kind, verdict in KINDS.items():
        found = run_child("benchmarks.walk:compare", login=engine.login, verdict=verdict.value)
        report.add(
            Line(
                f"{engine.name}: walk {kind}",
                found["ours"],
                reference=found["threads"],
                target=1.2,
                note=(
                    f"{found['iterations']} iterations, {found['nodes']:,} nodes read, "
                    f"{found['calls']} calls; driver alone {found['sync'] * 1000:.0f} ms, "
                    f"async driver {found['async'] * 1000:.0f} ms"
                ),
            )
        )
    for kind, verdict in KINDS.items():
        for claims in IN_CYPHER:
            found = run_child(
                "benchmarks.walk:in_cypher",
                login=engine.login,
                verdict=verdict.value,
                claims=claims,
            )
            report.add(
                Line(
                    f"{engine.name}: walk in Cypher {kind}, {claims} claims",
                    found["cypher"],
                    reference=found["shared"],
                    note=(
                        f"{found['cypher_calls']:.0f} calls; the default "
                        f"{found['shared'] * 1000:.0f} ms, {found['shared_calls']:.0f} calls"
                    ),
                )
            )
    for kind, verdict in KINDS.items():
        task = {"login": engine.login, "verdict": verdict.value}
        found = run_child("benchmarks.walk:count", **task, many=many)
        report.add(
            Line(
                f"{engine.name}: topology, {many} claims, {kind}",
                found["many_topologies"],
                "",
                target=1,
                note="how often it is read",
            )
        )
        report.add(
            Line(
                f"{engine.name}: store calls, {many} claims, {kind}",
                found["many_calls"],
                "",
                target=found["most"],
                note=(
                    f"in {found['many_iterations']} iterations over {found['many_nodes']:,} nodes "
                    f"read, {found['many_seconds']:.1f} s; one claim: {found['one_calls']} calls "
                    f"in {found['one_iterations']} iterations; target: two calls an iteration"
                ),
            )
        )


class _Recording(Database):
    """A connection that keeps what was asked."""

    def __init__(self, address: DatabaseAddress) -> None:
        super().__init__(address)
        self.asked: Calls = []

    async def read(self, name: str, /, **parameters: Any) -> list[Row]:
        self.asked.append((cypher.load(name).text, parameters))
        return await super().read(name, **parameters)


async def compare(login: dict[str, Any], verdict: str) -> dict[str, float]:
    """Median seconds of our walk and of its bare calls, in turn."""
    gc.set_threshold(*COLLECTIONS)
    address = DatabaseAddress(**login)
    database = _Recording(address)
    store = Store.of(database)
    judge = FixedJudge(Verdict(verdict))
    await verify(store, judge, 1)
    calls = list(database.asked)
    found: dict[str, list[float]] = {"ours": [], "threads": [], "sync": [], "async": []}
    auth = (address.username or "", address.password or "")
    with neo4j.GraphDatabase.driver(address.uri, auth=auth) as driver:
        async with neo4j.AsyncGraphDatabase.driver(address.uri, auth=auth) as async_driver:
            ways: dict[str, Callable[[], Awaitable[Any]]] = {
                "ours": lambda: verify(store, FixedJudge(Verdict(verdict)), 1),
                "threads": lambda: _in_threads(driver, address.database, calls),
                "sync": lambda: _alone(driver, address.database, calls),
                "async": lambda: _with_async(async_driver, address.database, calls),
            }
            for way in ways.values():  # the first time opens connections
                await way()
            end = time.perf_counter() + SECONDS
            while len(found["ours"]) < MOST_ROUNDS and time.perf_counter() < end:
                for name, way in ways.items():
                    start = time.perf_counter()
                    await way()
                    found[name].append(time.perf_counter() - start)
    await database.close()
    return {
        **{name: middle(times) for name, times in found.items()},
        "iterations": judge.iterations,
        "nodes": judge.nodes_read,
        "calls": len(calls),
    }


async def in_cypher(login: dict[str, Any], verdict: str, claims: int) -> dict[str, float]:
    """Median seconds of walks in Cypher and of the default, in turn, and the calls of each."""
    gc.set_threshold(*COLLECTIONS)
    database = Database(DatabaseAddress(**login))
    store = Store.of(database)
    times: dict[Walk, list[float]] = {way: [] for way in Walk}
    calls = dict.fromkeys(Walk, 0)
    end = time.perf_counter() + SECONDS
    # The first opens connections.
    while not (done := len(times[Walk.CYPHER]) - 1) > 0 or (
        done < MOST_ROUNDS and time.perf_counter() < end
    ):
        for way, seconds in times.items():
            before, start = database.calls, time.perf_counter()
            await verify(store, FixedJudge(Verdict(verdict)), claims, way)
            seconds.append(time.perf_counter() - start)
            calls[way] = database.calls - before
    await database.close()
    return {
        **{way.value: middle(seconds[1:]) for way, seconds in times.items()},
        **{f"{way}_calls": number for way, number in calls.items()},
    }


async def count(login: dict[str, Any], verdict: str, many: int) -> dict[str, float]:
    """Store calls of one claim and of many."""
    database = _Recording(DatabaseAddress(**login))
    store = Store.of(database)
    found: dict[str, float] = {}
    most = 0
    for name, claims in (("one", 1), ("many", many)):
        judge = FixedJudge(Verdict(verdict))
        before, start = database.calls, time.perf_counter()
        database.asked.clear()
        verified = await verify(store, judge, claims)
        found[f"{name}_seconds"] = time.perf_counter() - start
        found[f"{name}_calls"] = database.calls - before
        found[f"{name}_topologies"] = sum(
            text == TOPOLOGY and given["first"] == 0 for text, given in database.asked
        )
        found[f"{name}_iterations"] = sum(len(v.iterations) for v in verified)
        found[f"{name}_nodes"] = judge.nodes_read
        most = 2 * sum(len(v.iterations) for v in verified)
    await database.close()
    return {**found, "most": most}


async def verify(
    store: Store, judge: FixedJudge, claims: int, way: Walk = Walk.SHARED
) -> list[Verification]:
    """Verify a number of claims about the final answer of the stored process."""
    process = await store.processes.get(OURS)
    terminal, _ = await store.reading.node(OURS, process.terminals[0])
    size = {"size": process.nodes, "edges": process.edges}
    nodes: NodeSource = SharedNodes(store.reading, OURS, WholeTexts(), **size)
    if way is Walk.CYPHER:
        nodes = CypherNodes(store.reading, OURS, WholeTexts())

    async def write(*_verifications: Verification) -> None:
        return

    run = Run(OURS, judge, nodes, write)
    verified = await run.verify(tasks(terminal, claims))
    assert all(each.status is Status.SUCCEEDED for each in verified), verified[0].error
    return verified


async def _in_threads(driver: neo4j.Driver, database: str | None, calls: Calls) -> None:
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1) as threads:
        for call in calls:
            await loop.run_in_executor(threads, _call, driver, database, call)


async def _alone(driver: neo4j.Driver, database: str | None, calls: Calls) -> None:
    for call in calls:
        _call(driver, database, call)


def _call(
    driver: neo4j.Driver, database: str | None, call: tuple[str, dict[str, Any]]
) -> list[Any]:
    def work(tx: neo4j.ManagedTransaction) -> list[Any]:
        return tx.run(call[0], call[1]).values()

    with driver.session(database=database, default_access_mode=neo4j.READ_ACCESS) as session:
        return session.execute_read(work)


async def _with_async(driver: neo4j.AsyncDriver, database: str | None, calls: Calls) -> None:
    async def work(tx: neo4j.AsyncManagedTransaction, call: tuple[str, Any]) -> list[Any]:
        return await (await tx.run(call[0], call[1])).values()

    for call in calls:
        access = neo4j.READ_ACCESS
        async with driver.session(database=database, default_access_mode=access) as session:
            await session.execute_read(work, call)
