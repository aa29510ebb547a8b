"""Writing trails back: ours, against the bare statements and against a single node."""

from __future__ import annotations

import time
from typing import Any

import neo4j

from benchmarks.children import run_child
from benchmarks.engines import Engine
from benchmarks.ingest import OURS
from benchmarks.report import Line, Report, middle
from benchmarks.walking import claim_number
from veritrail_graph import cypher
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.model import (
    CitedSentence,
    Evidence,
    EvidencePath,
    Iteration,
    NodeRef,
    Sentence,
    Status,
    Termination,
    Verdict,
    Verification,
)
from veritrail_graph.graph.store import DatabaseAddress
from veritrail_graph.graph.store.database import Database, Transaction
from veritrail_graph.graph.store.store import Store
from veritrail_graph.graph.store.trail_writing import verification_row

ITERATIONS, SENTENCES = 6, 40
ROUNDS = 41
TOGETHER, GROUPS = 50, 6
BARE, SINGLE = 1.2, 3.0
"""A trail takes at most this many times its bare statements, and a transaction of one node."""

ONE_NODE = "CREATE (v:Verification) SET v = $properties"


def measure(report: Report, engine: Engine) -> None:
    """Write trails of six iterations and forty sentences, one by one and many together."""
    found = run_child("benchmarks.write_back:compare", login=engine.login)
    trail = f"{engine.name}: trail of {ITERATIONS} iterations written back"
    size = f"{found['statements']:.0f} statement(s) in one transaction, {SENTENCES} sentences"
    report.add(
        Line(f"{trail}, bare", found["ours"], reference=found["bare"], target=BARE, note=size)
    )
    report.add(
        Line(
            f"{trail}, one node",
            found["ours"],
            reference=found["single"],
            target=SINGLE,
            note="against one node with the properties of a verification, medians",
        )
    )
    report.add(
        Line(
            f"{engine.name}: each of {TOGETHER} trails written together",
            found["together"],
            reference=found["single"],
            note=f"{1 / found['together']:,.0f} trails a second",
        )
    )


Statements = list[tuple[str, dict[str, Any]]]


async def compare(login: dict[str, Any]) -> dict[str, float]:
    """Median seconds of our write, the bare transaction and a single node, in turn."""
    address = DatabaseAddress(**login)
    database = Database(address)
    await database.connect()
    store = Store.of(database)
    process = await store.processes.get(OURS)
    terminal, _ = await store.reading.node(OURS, process.terminals[0])
    nodes = (await store.reading.source_nodes(OURS, [terminal.node_id], with_texts=False)).nodes
    times: dict[str, list[float]] = {"ours": [], "bare": [], "single": []}
    auth = (address.username or "", address.password or "")
    recorded = await _record(store, _verification("recorded", terminal, nodes))
    with neo4j.GraphDatabase.driver(address.uri, auth=auth) as driver:
        for round_ in range(ROUNDS + 1):
            one = _verification(f"ours-{round_}", terminal, nodes)
            begin = time.perf_counter()
            await store.trails.write(one)
            times["ours"].append(time.perf_counter() - begin)
            properties = verification_row(_verification(f"single-{round_}", terminal, nodes))
            for kind, statements in (
                ("bare", _renamed(recorded, "recorded", f"bare-{round_}")),
                ("single", [(ONE_NODE, {"properties": properties})]),
            ):
                begin = time.perf_counter()
                _write(driver, address.database, statements)
                times[kind].append(time.perf_counter() - begin)
    together = await _together(store, terminal, nodes)
    await database.close()
    # The first ones open connections.
    found = {kind: middle(some[1:]) for kind, some in times.items()}
    return {**found, "together": together, "statements": len(recorded)}


async def _together(store: Store, terminal: NodeRef, nodes: tuple[NodeRef, ...]) -> float:
    """Median seconds a trail, when many are written in one transaction."""
    times = []
    for group in range(GROUPS):
        names = [f"group-{group}-{number}" for number in range(TOGETHER)]
        many = [_verification(name, terminal, nodes) for name in names]
        begin = time.perf_counter()
        await store.trails.write(*many)
        times.append((time.perf_counter() - begin) / TOGETHER)
    return middle(times)


def _verification(name: str, terminal: NodeRef, nodes: tuple[NodeRef, ...]) -> Verification:
    each = SENTENCES // ITERATIONS + 1
    left = SENTENCES
    iterations = []
    for number in range(ITERATIONS):
        size = min(each, left)
        left -= size
        start = number * each
        checked = tuple(nodes[place % len(nodes)] for place in range(start, start + size))
        cited = tuple(
            CitedSentence.of(Sentence(ref.node_id, 0, 0, 20, "What a sentence says."))
            for ref in checked
        )
        evidence = (Evidence(text="What they say together.", sentences=cited),)
        reasons = "The reasons for it."
        iterations.append(
            Iteration(
                number=number + 1,
                verdict=Verdict.NOT_FULLY_SUPPORTED,
                reasoning=reasons,
                checked=checked,
                summaries=evidence,
            )
        )
    paths = tuple(
        EvidencePath(source=ref.node_id, target=terminal.node_id, iteration=iteration.number)
        for iteration in iterations
        for ref in iteration.checked
    )
    return Verification.of_claim(
        claim_number(0, terminal),
        verification_id=f"v-bench-{name}",
        process_id=OURS,
        q=ITERATIONS,
        engine="fixed",
        model=None,
        indicative=True,
        created_at=now(),
        status=Status.SUCCEEDED,
        verdict=Verdict.NOT_FULLY_SUPPORTED,
        reasoning="The reasons for it.",
        termination=Termination.MAX_CONSECUTIVE_NOT_FULLY_SUPPORTED,
        iterations=tuple(iterations),
        paths=paths,
        error_nodes=(terminal,),
    )


async def _record(store: Store, verification: Verification) -> Statements:
    """Write a verification and keep the statements that it took."""
    statements: Statements = []
    run = Transaction.run

    def recording(self: Transaction, name: str, /, **parameters: Any) -> Any:
        statements.append((cypher.load(name).text, parameters))
        return run(self, name, **parameters)

    Transaction.run = recording  # type: ignore[method-assign]
    try:
        await store.trails.write(verification)
    finally:
        Transaction.run = run  # type: ignore[method-assign]
    return statements


def _renamed(value: Any, old: str, new: str) -> Any:
    """The same with another name in every string that holds the old one."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, dict):
        return {key: _renamed(inner, old, new) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_renamed(inner, old, new) for inner in value)
    return value


def _write(driver: neo4j.Driver, database: str | None, statements: Statements) -> None:
    def work(tx: neo4j.ManagedTransaction) -> None:
        for text, parameters in statements:
            tx.run(text, parameters).consume()

    with driver.session(database=database) as session:
        session.execute_write(work)
