"""Appending an input to a stored process: one graph that grows, under the rules of one input.

What is stored and what comes are checked as if they had come at once, and the new content
hash is that of both together. Everything is written in one transaction: readers see the
process as it was or as it is then, and a kill leaves it as it was.

Source: VeriTrail 2 (one index serves many final outputs).
"""

from __future__ import annotations

import asyncio
import json
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from veritrail_graph.graph.batches import Rows, edge_rows, span_batches, span_slices
from veritrail_graph.graph.content_hash import node_digest
from veritrail_graph.graph.errors import InputError, ProcessConflict
from veritrail_graph.graph.importers.records import NodeRecord, ProcessInput
from veritrail_graph.graph.loading import Progress, check_stored
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.claim_rows import add_claims
from veritrail_graph.graph.store.database import Transaction
from veritrail_graph.graph.store.exporting import StoredProcess
from veritrail_graph.graph.store.process_rows import process_row
from veritrail_graph.graph.store.process_state import DELETING, LOADING, READY, REPLACING
from veritrail_graph.graph.store.writers import this_writer
from veritrail_graph.graph.stored_shape import StoredShape
from veritrail_graph.graph.survey import Survey
from veritrail_graph.graph.topology import Topology

MOST_APPENDED = 100_000
"""Nodes and edges that are appended at once: one transaction has to hold them."""

_MOST_CHARACTERS = 50_000_000
_ROWS = 5_000
_CHANGED = {"removed": "removed", DELETING: "removed", REPLACING: "replaced", LOADING: "replaced"}


class ProcessChanged(ProcessConflict):
    """Somebody else changed the process between our reading it and our writing to it."""


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append did.

    Attributes:
        survey: The process as it is now.
        nodes_added: Nodes that were not stored before.
        edges_added: Edges that were not stored before.
        claims_added: Claims that were not stored before.
    """

    survey: Survey
    nodes_added: int
    edges_added: int
    claims_added: int

    @property
    def is_unchanged(self) -> bool:
        """Whether the content is what it was."""
        return self.survey.onto is not None and self.survey.hash == self.survey.onto.hash


async def stored_shape(store: Store, process_id: str, progress: Progress) -> StoredShape:
    """Read the shape of a stored process; texts are hashed and let go.

    Raises:
        NotFound: There is no such process that is ready.
        ProcessChanged: It changed while it was being read.
    """
    try:
        return await _stored_shape(store, process_id, progress)
    except ProcessConflict as error:
        raise ProcessChanged(str(error)) from error


async def _stored_shape(store: Store, process_id: str, progress: Progress) -> StoredShape:
    stored = await StoredProcess.open(store.database, process_id)
    topology, digests, lengths = Topology(), list[bytes](), array("L")
    position = -1
    async for page in stored.spans():
        for properties in page:
            record = _record(properties)
            topology.add_node(record.node_id, properties["stage"])
            digests.append(node_digest(record))
            lengths.append(len(record.text))
            position = max(position, properties["position"])
        progress("stored nodes", len(digests), len(stored.ids))
    async for edges in stored.edges():
        for source, target, cited in edges:
            topology.add_edge(source, target, cited)
    await stored.check_unchanged()
    about = stored.properties
    names = json.loads(about["stage_names"])
    return StoredShape(
        process_id=process_id,
        name=about["name"],
        question=about.get("question"),
        source_format=about["source_format"],
        stage_names={int(stage): name for stage, name in names.items()},
        terminals=tuple(about["terminals"]),
        hash=about["content_hash"],
        warnings=tuple(about.get("warnings") or ()),
        topology=topology,
        digests=digests,
        lengths=lengths,
        next_position=position + 1,
    )


def _record(properties: Mapping[str, Any]) -> NodeRecord:
    """A stored node as it came in."""
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
    )


async def append_process(
    store: Store, source: ProcessInput, found: Survey, progress: Progress
) -> Appended:
    """Store what is new of an input that was checked together with its stored process.

    Raises:
        InputError: It is too large for one transaction.
        ProcessChanged: The process changed since it was read.
        ProcessConflict: A claim_id is taken.
        EngineError: The engine failed; the process is as it was.
    """
    new = await asyncio.to_thread(_Changes.of, source, found)
    if new.nodes + new.edges_added > MOST_APPENDED:
        raise _too_large(f"{new.nodes:,} nodes and {new.edges_added:,} edges")
    if new.is_empty and not found.claims:
        return Appended(found, 0, 0, 0)
    total = new.nodes + new.edges_added
    progress("appending", 0, total)
    claims_added = await store.database.write_with(
        lambda tx: _write(tx, found, new), repeatable=True
    )
    progress("appending", total, total)
    return Appended(found, new.nodes, new.edges_added, claims_added)


@dataclass(frozen=True, slots=True)
class _Changes:
    """What is to be written.

    Attributes:
        spans: Rows of new spans, in batches.
        places: Stored spans whose stage or role is another now: [node_id, stage, role].
        edges: Rows of new edges, in batches.
        cited: Rows of stored edges of which another citation is known now.
        edges_added: How many edges are new.
        is_empty: Whether the content stays what it was.
    """

    spans: list[Rows]
    places: list[list[Any]]
    edges: list[Rows]
    cited: Rows
    edges_added: int
    is_empty: bool

    @property
    def nodes(self) -> int:
        """How many nodes are new."""
        return sum(len(rows) for rows in self.spans)

    @classmethod
    def of(cls, source: ProcessInput, found: Survey) -> _Changes:
        """The difference between what is stored and what was checked."""
        onto = found.onto
        if onto is None:
            raise InputError("nothing to append to")
        if sum(found.lengths[found.first_new :]) > _MOST_CHARACTERS:
            raise _too_large(f"more than {_MOST_CHARACTERS:,} characters")
        spans = [rows for _, rows in span_batches(source, found, span_slices(found))]
        before = onto.topology
        roles = before.roles({before.numbers[name] for name in onto.terminals})
        stages = found.topology.stages
        places = [
            [found.topology.ids[node], stages[node], found.roles[node].value]
            for node in range(found.first_new)
            if (stages[node], found.roles[node]) != (before.stages[node], roles[node])
        ]
        new, cited = _edges(before, found.topology)
        edges = [edge_rows(found, new[at : at + _ROWS]) for at in range(0, len(new), _ROWS)]
        return cls(spans, places, edges, edge_rows(found, cited), len(new), found.hash == onto.hash)


def _edges(before: Topology, after: Topology) -> tuple[list[int], list[int]]:
    """Numbers of the edges that are new, and of stored ones with another citation."""
    stored = {pair: before.cited.get(edge) for edge, pair in enumerate(before.edges)}
    new, cited = [], []
    for edge, pair in enumerate(after.edges):
        if pair not in stored:
            new.append(edge)
        elif stored[pair] != after.cited.get(edge):
            cited.append(edge)
    return new, cited


def _too_large(what: str) -> InputError:
    return InputError(
        f"The input would add {what} at once; one transaction has to hold what is appended, at "
        f"most {MOST_APPENDED:,} nodes and edges. Append it in parts, or ingest the whole process "
        "with --replace, which removes its verifications."
    )


def _write(tx: Transaction, found: Survey, new: _Changes) -> int:
    """Everything in one transaction; give how many claims are new."""
    onto, owner = found.onto, this_writer()
    process: dict[str, Any] = {"process_id": found.process_id}
    held = tx.run("process/lock", owner=owner, **process)
    status, hash_ = held[0] if held else ("removed", None)
    if status != READY or onto is None or hash_ not in {onto.hash, found.hash}:
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
        edges += [("ingest/edges_again", rows) for rows in _parts(new.cited)]
        for name, rows in edges:
            stored = tx.run(name, owner=owner, rows=rows, **process)
            check_stored(stored, sum(len(sources) for _, _, sources in rows))
    added = add_claims(tx, found.process_id, found.claims)
    tx.run("process/grow", properties=_grown(found), **process)
    return added


def _grown(found: Survey) -> dict[str, Any]:
    """Properties of the process that follow from its content; the others stay."""
    names = ("content_hash", "stages", "stage_counts", "stage_names", "terminals")
    row = process_row(found)
    return {name: row[name] for name in (*names, "nodes", "edges", "warnings")}


def _parts(rows: Rows) -> Iterator[Rows]:
    for start in range(0, len(rows), _ROWS):
        yield rows[start : start + _ROWS]


def with_warnings(found: Survey) -> Survey:
    """The same with the warnings of earlier ingests before its own, and one of this append."""
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
    return replace(found, warnings=tuple(dict.fromkeys((*onto.warnings, *own))))
