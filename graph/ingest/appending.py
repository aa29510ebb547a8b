"""Appending an input to a stored process: one graph that grows, under the rules of one input.

The stored process and the input are checked as one input, and the new content hash covers both.
Everything is written in one transaction: readers see the process before it or after it, and a
kill leaves the process unchanged.

Source: VeriTrail 2 (one index serves many final outputs).
"""

from __future__ import annotations

import asyncio
import json
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from veritrail_graph.graph.content_hash import Digests, node_digest
from veritrail_graph.graph.errors import InputError, ProcessConflict
from veritrail_graph.graph.importers.records import (
    Header,
    NodeRecord,
    ProcessInput,
    names_its_maker,
)
from veritrail_graph.graph.ingest.check import Survey
from veritrail_graph.graph.ingest.topology import StoredShape, Topology
from veritrail_graph.graph.ingest.write import (
    IngestReport,
    Progress,
    Rows,
    check_stored,
    edge_rows,
    span_batches,
    span_slices,
)
from veritrail_graph.graph.model import Origin
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.claims_added import add_claims
from veritrail_graph.graph.store.database import Transaction
from veritrail_graph.graph.store.export import StoredProcess
from veritrail_graph.graph.store.processes import process_from
from veritrail_graph.graph.store.rows import batches, process_row
from veritrail_graph.graph.store.states import DELETING, LOADING, READY, REPLACING
from veritrail_graph.graph.writers import this_writer

MOST_APPENDED = 100_000
"""Nodes and edges that are appended at once: one transaction has to hold them."""

_MOST_CHARACTERS = 50_000_000
_ROWS = 5_000
_CHANGED = {"removed": "removed", DELETING: "removed", REPLACING: "replaced", LOADING: "replaced"}


class ProcessChanged(ProcessConflict):
    """Another writer changed the process after we read it and before we wrote to it."""


async def read_stored(store: Store, process_id: str, progress: Progress) -> StoredShape:
    """Read the shape of a stored process; its texts are hashed and not kept.

    Raises:
        NotFound: There is no such process that is ready.
        ProcessChanged: It changed while it was being read.
    """
    try:
        return await _read_stored(store, process_id, progress)
    except ProcessConflict as error:
        raise ProcessChanged(str(error)) from error


async def _read_stored(store: Store, process_id: str, progress: Progress) -> StoredShape:
    stored = await StoredProcess.open(store.database, process_id)
    topology, digests, lengths = Topology(), Digests(), array("L")
    position = -1
    async for page in stored.spans():
        for properties in page:
            record = _record(properties)
            topology.add_node(
                record.node_id,
                properties["stage"],
                record.origin,
                is_made=names_its_maker(record.metadata),
            )
            digests.append(node_digest(record))
            lengths.append(len(record.text))
            position = max(position, properties["position"])
        progress("stored nodes", len(digests), len(stored.ids))
    async for edges in stored.edges():
        for source, target, facts in edges:
            topology.add_edge(source, target, facts)
    topology.drop_usual_origins()
    await stored.check_unchanged()
    about = process_from(stored.properties, 0)
    header = Header(
        source_format=about.source_format,
        process_id=process_id,
        name=about.name,
        question=about.question,
        stage_names=about.stage_names,
        terminals=about.terminals,
        warnings=about.warnings,
    )
    return StoredShape(header, about.content_hash, topology, digests, lengths, position + 1)


def _record(properties: Mapping[str, Any]) -> NodeRecord:
    """A stored node as the input gave it."""
    metadata = json.loads(properties.get("metadata") or "{}")
    own = {key: properties.get(key) for key in ("model", "prompt")}
    metadata |= {key: value for key, value in own.items() if value is not None}
    return NodeRecord(
        properties["node_id"],
        properties["text"],
        "",
        kind=properties.get("kind"),
        step=properties.get("step"),
        metadata=metadata,
        origin=None if properties.get("origin") is None else Origin(properties["origin"]),
        question=properties.get("question"),
    )


async def append_process(
    store: Store, source: ProcessInput, found: Survey, progress: Progress
) -> IngestReport:
    """Store what is new of an input that was checked together with its stored process.

    Returns:
        What was added; the number of claims that the process has is left at 0.

    Raises:
        InputError: It is too large for one transaction.
        ProcessChanged: The process changed since it was read.
        ProcessConflict: A claim_id is taken.
        EngineError: The engine failed; the process is as it was.
    """
    onto = found.onto
    if onto is None:
        raise InputError("nothing to append to")
    new = await asyncio.to_thread(_Changes.of, source, found, onto)
    total = new.nodes + new.edges_added
    if total > MOST_APPENDED:
        raise _too_large(f"{new.nodes:,} nodes and {new.edges_added:,} edges")
    if found.hash == onto.hash and not found.claims:
        return IngestReport(found, "unchanged", 0, 0)
    progress("appending", 0, total)
    claims_added = await store.database.write_with(
        lambda tx: _write(tx, found, onto, new), repeatable=True
    )
    progress("appending", total, total)
    return IngestReport(
        found,
        "unchanged" if found.hash == onto.hash else "appended",
        0,
        claims_added,
        nodes_added=new.nodes,
        edges_added=new.edges_added,
    )


@dataclass(frozen=True, slots=True)
class _Changes:
    """The changes that an append writes.

    Attributes:
        spans: Rows of new spans, in batches.
        places: Stored spans whose stage, role or origin changes: [node_id, stage, role, origin].
        edges: Rows of new edges, in batches.
        changed: Rows of stored edges of which something else is known now.
        edges_added: How many edges are new.
    """

    spans: list[Rows]
    places: list[list[Any]]
    edges: list[Rows]
    changed: Rows
    edges_added: int

    @property
    def nodes(self) -> int:
        """Return how many nodes are new."""
        return sum(len(rows) for rows in self.spans)

    @classmethod
    def of(cls, source: ProcessInput, found: Survey, onto: StoredShape) -> _Changes:
        """The difference between what is stored and what was checked."""
        if sum(found.lengths[found.first_new :]) > _MOST_CHARACTERS:
            raise _too_large(f"more than {_MOST_CHARACTERS:,} characters")
        spans = [rows for _, rows in span_batches(source, found, span_slices(found))]
        before = onto.topology
        roles = before.roles({before.numbers[name] for name in onto.terminals})
        origins, stages = before.all_origins(), found.topology.stages
        places = [
            [found.topology.ids[node], stages[node], found.roles[node], found.origins[node]]
            for node in range(found.first_new)
            if (stages[node], found.roles[node], found.origins[node])
            != (before.stages[node], roles[node], origins[node])
        ]
        new, changed = _edges(before, found.topology)
        edges = [edge_rows(found, new[at : at + _ROWS]) for at in range(0, len(new), _ROWS)]
        return cls(spans, places, edges, edge_rows(found, changed), len(new))


def _edges(before: Topology, after: Topology) -> tuple[list[int], list[int]]:
    """Numbers of the edges that are new, and of stored ones with other facts."""
    stored = {pair: before.facts.get(edge) for edge, pair in enumerate(before.edges)}
    new, changed = [], []
    for edge, pair in enumerate(after.edges):
        if pair not in stored:
            new.append(edge)
        elif stored[pair] != after.facts.get(edge):
            changed.append(edge)
    return new, changed


def _too_large(what: str) -> InputError:
    return InputError(
        f"The input would add {what} at once; one transaction has to hold what is appended, at "
        f"most {MOST_APPENDED:,} nodes and edges. Append it in parts.",
        code="append_too_large",
    )


def _write(tx: Transaction, found: Survey, onto: StoredShape, new: _Changes) -> int:
    """Write everything in one transaction; return how many claims are new."""
    owner = this_writer()
    process: dict[str, Any] = {"process_id": found.process_id}
    held = tx.run("process/lock", owner=owner, **process)
    status, hash_ = held[0] if held else ("removed", None)
    if status != READY or hash_ not in {onto.hash, found.hash}:
        raise ProcessChanged(
            f"Process {found.process_id!r} was {_CHANGED.get(status, 'changed')} by another "
            "command meanwhile; nothing was appended. Run the command again."
        )
    if hash_ != found.hash:
        for rows in new.spans:
            check_stored(tx.run("ingest/spans", owner=owner, rows=rows, **process), len(rows))
        for rows in _parts(new.places):
            tx.run("process/move_spans", rows=rows, **process)
        edges = [("ingest/edges", rows) for rows in new.edges]
        edges += [("ingest/edges_again", rows) for rows in _parts(new.changed)]
        for name, rows in edges:
            stored = tx.run(name, owner=owner, rows=rows, **process)
            check_stored(stored, sum(len(sources) for _, _, sources in rows))
        for ends in batches([name for name in found.terminals if name not in set(onto.terminals)]):
            stored = tx.run("ingest/final_outputs", owner=owner, rows=ends, **process)
            check_stored(stored, len(ends))
    added = add_claims(tx, found.process_id, found.claims)
    tx.run("process/grow", properties=_grown(found), **process)
    return added


def _grown(found: Survey) -> dict[str, Any]:
    """Properties of the process that follow from its content; the others stay."""
    names = ("name", "content_hash", "stages", "stage_counts", "stage_names", "terminals")
    row = process_row(found)
    return {name: row[name] for name in (*names, "nodes", "edges", "warnings")}


def _parts(rows: Rows) -> Iterator[Rows]:
    for start in range(0, len(rows), _ROWS):
        yield rows[start : start + _ROWS]


def with_warnings(found: Survey) -> Survey:
    """Return the survey with the warnings of earlier ingests first, and one about this append."""
    onto = found.onto
    if onto is None:
        return found
    before, after = onto.topology.in_degrees(), found.topology.in_degrees()
    grown = sum(after[node] != degree for node, degree in enumerate(before))
    own = [*found.warnings]
    if grown:
        own.append(
            f"{grown:,} stored node(s) have source nodes that they did not have before; "
            "verifications made before did not see these"
        )
    return replace(found, warnings=tuple(dict.fromkeys((*onto.header.warnings, *own))))
