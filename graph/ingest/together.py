"""Storing small processes that are new, several in one transaction.

A transaction costs about as much for fifty small processes as for one. It is stored whole or not
at all, so that a kill leaves none of them by half.

Source: VeriTrail 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import BeingWritten
from veritrail_graph.graph.ingest.check import Survey
from veritrail_graph.graph.ingest.write import (
    IngestReport,
    Rows,
    check_stored,
    edge_rows,
    edge_slices,
    span_rows,
    span_slices,
    uninterrupted,
)
from veritrail_graph.graph.model import EdgeFacts
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.claims_added import rows_of
from veritrail_graph.graph.store.database import Transaction
from veritrail_graph.graph.store.rows import parts, process_row
from veritrail_graph.graph.store.states import READY, StoredState

MOST_SPANS, MOST_EDGES, MOST_CLAIMS = 1_000, 2_000, 200
"""What a process holds at most that is stored in one transaction."""
SPANS_TOGETHER = 4_000
"""Spans of the processes of one transaction."""
_OF_A_PROCESS = 20
"""Spans that take about as long as the node of a process and its claims."""


def is_small(found: Survey) -> bool:
    """Return whether one transaction takes a process with others like it."""
    topology = found.topology
    return (
        found.onto is None
        and found.kept is not None
        and len(topology.ids) <= MOST_SPANS
        and len(topology.edge_sources) <= MOST_EDGES
        and len(found.claims) <= MOST_CLAIMS
        and len(span_slices(found)) == 1
        and len(edge_slices(found)) <= 1
    )


async def store_new(store: Store, given: Sequence[Survey]) -> dict[str, IngestReport]:
    """Store the processes that are small and under whose ids nothing is stored yet.

    Of several with one id that are given, the first is stored, if it is small.

    Args:
        store: The graph.
        given: Processes that were checked.

    Returns:
        A report on each that was stored, by its process_id; all others are as they were.

    Raises:
        EngineError: The engine failed; of the processes of its transaction none is stored.
    """
    first: dict[str, Survey] = {}
    for found in given:
        first.setdefault(found.process_id, found)
    small = [found for found in first.values() if is_small(found)]
    reports: dict[str, IngestReport] = {}
    for some in parts(small, _size, SPANS_TOGETHER):

        def work(tx: Transaction, some: Sequence[Survey] = some) -> list[Survey]:
            return _store(tx, some)

        try:
            stored = await uninterrupted(store.database.write_with(work, repeatable=True))
        except BeingWritten:  # somebody is storing one of them at this moment
            continue
        for found in stored:
            claims = len(found.claims)
            reports[found.process_id] = IngestReport(found, "created", claims, claims)
    return reports


def _size(found: Survey) -> int:
    return len(found.topology.ids) + _OF_A_PROCESS


def _store(tx: Transaction, given: Sequence[Survey]) -> list[Survey]:
    """Store those that are new; return what is stored then."""
    ids = [one.process_id for one in given]
    states = [StoredState(*row) for row in tx.run("process/state", process_ids=ids)]
    known = {state.process_id: state.content_hash for state in states}
    # Where an earlier attempt may be stored, what is there is what it stored.
    before = [one for one in given if tx.in_doubt and known.get(one.process_id) == one.hash]
    new = [one for one in given if one.process_id not in known]
    if not new:
        return before
    at, edges = now(), list[Any]()
    rows = [_process(one, at) for one in new]
    nodes = {name: dict(named) for name, named in tx.run("ingest/whole", rows=rows)}
    for one in new:
        named = nodes.get(one.process_id, {})
        check_stored([(len(named),)], len(one.topology.ids))
        edges += _edges(one, [named[number] for number in range(len(named))])
    if edges:
        expected = sum(len(sources) for _, _, sources in edges)
        check_stored(tx.run("ingest/edges_of_whole", rows=edges), expected)
    for one in new:
        for claims in rows_of(one.claims, 0):
            tx.run("ingest/claims", process_id=one.process_id, rows=claims)
    return [*before, *new]


def _process(found: Survey, at: str) -> list[Any]:
    """A process with its spans, as a row."""
    stored = {"process_id": found.process_id, "status": READY, "created_at": at}
    spans = span_rows(found, found.kept or (), (0, len(found.topology.ids)))
    return [process_row(found) | stored, spans]


def _edges(found: Survey, names: Sequence[str]) -> Rows:
    """Rows of all edges of a process; a name is what the engine calls a node."""
    every = edge_rows(found, range(len(found.topology.edge_sources)), names)
    return [[target, _known_facts(facts), sources] for target, facts, sources in every]


def _known_facts(facts: Sequence[Any]) -> dict[str, Any]:
    named = zip(EdgeFacts._fields, facts, strict=True)
    return {name: value for name, value in named if value is not None}
