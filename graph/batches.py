"""What an ingest sends: rows of spans and of edges, in batches of a bounded size.

Which rows make a batch follows from the checked input alone. So an ingest that was killed
can go on: the same input gives the same batches, each of them was stored whole or not at
all, and one row tells which.

Source: VeriTrail 2 (nodes are text spans; an edge leads from an input to what was produced).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from veritrail_graph.graph.content_hash import canonical, node_digest
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.records import NodeRecord, ProcessInput
from veritrail_graph.graph.store.process_rows import claim_row, process_row
from veritrail_graph.graph.survey import Survey

BATCH_ROWS = 5_000
BATCH_CHARACTERS = 2_000_000
EDGE_BATCH = 5_000
LANES = 4
"""Parts of the edges that are sent side by side, each from its own beginning."""

Rows = list[list[Any]]
Slice = tuple[int, int]
"""First number, and the one behind the last."""


def plan_key(found: Survey) -> str:
    """Tells two ingests apart that would send different batches or different properties."""
    topology = found.topology
    plan = hashlib.sha256(b"%d %d %d %d\n" % (BATCH_ROWS, BATCH_CHARACTERS, EDGE_BATCH, LANES))
    plan.update(b"".join(found.digests))  # in the order of the input
    for numbers in (topology.stages, topology.edge_sources, topology.edge_targets):
        plan.update(numbers.tobytes())
    claims = [claim_row(claim) for claim in found.claims]
    plan.update(canonical([process_row(found), claims, sorted(topology.cited.items())]))
    return plan.hexdigest()


def span_slices(found: Survey) -> list[Slice]:
    """The batches of nodes that are not stored yet, bounded by rows and by characters."""
    slices = []
    start, size = found.first_new, 0
    for number in range(start, len(found.lengths)):
        if number - start >= BATCH_ROWS or (number > start and size >= BATCH_CHARACTERS):
            slices.append((start, number))
            start, size = number, 0
        size += found.lengths[number] + 100
    if start < len(found.lengths):
        slices.append((start, len(found.lengths)))
    return slices


def edge_slices(found: Survey) -> list[Slice]:
    """The batches of edges, in the order in which they are sent.

    Edges are sorted by target, and neighbours share nodes: the locks of one transaction would
    hold up the next. So the batches that are sent side by side come from distant parts.
    """
    count = len(found.topology.edge_sources)
    slices = [(start, min(start + EDGE_BATCH, count)) for start in range(0, count, EDGE_BATCH)]
    stride = -(-len(slices) // LANES) or 1
    return [part for first in range(stride) for part in slices[first::stride]]


def span_batches(
    source: ProcessInput, found: Survey, slices: Sequence[Slice], stored: Collection[int] = ()
) -> Iterator[tuple[int, Rows]]:
    """Number and rows of the batches of nodes, without those that are stored.

    Raises:
        InputError: The input is not what it was when it was checked.
    """
    if len(stored) == len(slices):
        return
    if found.kept is not None:
        kept, first = found.kept, found.first_new
        for batch, (start, end) in enumerate(slices):
            if batch not in stored:
                yield batch, [_span_row(kept[n - first], n, found) for n in range(start, end)]
        return
    nodes = _read_again(source, found)
    for batch, (start, end) in enumerate(slices):
        rows = [_span_row(next(nodes), number, found) for number in range(start, end)]
        if batch not in stored:
            yield batch, rows


def edge_batches(
    found: Survey, slices: Sequence[Slice], stored: Collection[int] = ()
) -> Iterator[tuple[int, Rows]]:
    """Number and rows of the batches of edges, without those that are stored."""
    for batch, (start, end) in enumerate(slices):
        if batch not in stored:
            yield batch, edge_rows(found, range(start, end))


def edge_rows(found: Survey, edges: Iterable[int]) -> Rows:
    """Rows of edges, by their numbers, grouped by target and by whether they are cited."""
    topology = found.topology
    ids, sources, targets, cited = (
        topology.ids,
        topology.edge_sources,
        topology.edge_targets,
        topology.cited,
    )
    rows: Rows = []
    last: tuple[int, bool | None] = (-1, None)
    for edge in edges:
        key = (targets[edge], cited.get(edge))
        if key != last:
            rows.append([ids[key[0]], key[1], []])
            last = key
        rows[-1][2].append(ids[sources[edge]])
    return rows


def _read_again(source: ProcessInput, found: Survey) -> Iterator[NodeRecord]:
    """The nodes in the order of their numbers; no further than to the last one."""
    numbers = found.topology.numbers
    due = found.first_new
    last = len(found.digests)
    for record in source.records():
        if not isinstance(record, NodeRecord):
            continue
        number = numbers.get(record.node_id)
        if number is None or number > due or node_digest(record) != found.digests[number]:
            raise InputError(f"{record.where}: the input changed while it was being read")
        if number == due:
            yield record
            due += 1
            if due == last:
                return
    raise InputError("the input changed while it was being read: nodes are missing")


def _span_row(record: NodeRecord, number: int, found: Survey) -> list[Any]:
    metadata = dict(record.metadata)
    own = {
        key: metadata.pop(key) for key in ("model", "prompt") if isinstance(metadata.get(key), str)
    }
    onto = found.onto
    position = number if onto is None else onto.next_position + number - found.first_new
    return [
        record.node_id,
        record.text,
        found.topology.stages[number],
        position,
        found.roles[number].value,
        record.kind,
        record.step,
        own.get("model"),
        own.get("prompt"),
        canonical(metadata).decode() if metadata else None,
    ]
