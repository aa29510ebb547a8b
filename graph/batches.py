"""What an ingest sends: rows of spans and of edges, in batches of a bounded size.

Source: VeriTrail 2 (nodes are text spans; an edge leads from an input to what was produced).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graph.content_hash import canonical, node_digest
from graph.errors import InputError
from graph.importers.records import NodeRecord, ProcessInput
from graph.survey import Survey

BATCH_ROWS = 2_000
BATCH_BYTES = 4_000_000
EDGE_BATCH = 5_000

Rows = list[list[Any]]


def span_batches(source: ProcessInput, found: Survey) -> Iterator[Rows]:
    """Rows of `ingest/spans` in batches bounded by rows and by bytes.

    It reads no further than to the last node: edges and claims are known from the check.

    Raises:
        InputError: The input is not what it was when it was checked.
    """
    numbers = found.topology.numbers
    left = len(found.digests)
    sent = bytearray(left)
    rows: Rows = []
    size = 0
    for record in source.records():
        if not isinstance(record, NodeRecord):
            continue
        number = numbers.get(record.node_id)
        if number is None or node_digest(record) != found.digests[number]:
            raise InputError(f"{record.where}: the input changed while it was being read")
        if sent[number]:
            continue
        sent[number] = 1
        rows.append(_span_row(record, number, found))
        size += len(record.text) * 2 + 200
        left -= 1
        if not left:
            break
        if len(rows) >= BATCH_ROWS or size >= BATCH_BYTES:
            yield rows
            rows, size = [], 0
    if left:
        raise InputError("the input changed while it was being read: nodes are missing")
    if rows:
        yield rows


def _span_row(record: NodeRecord, number: int, found: Survey) -> list[Any]:
    metadata = dict(record.metadata)
    own = {
        key: metadata.pop(key) for key in ("model", "prompt") if isinstance(metadata.get(key), str)
    }
    return [
        record.node_id,
        record.text,
        found.topology.stages[number],
        number,
        found.roles[number].value,
        record.kind,
        record.step,
        own.get("model"),
        own.get("prompt"),
        canonical(metadata).decode() if metadata else None,
    ]


def edge_batches(found: Survey) -> Iterator[Rows]:
    """Rows of `ingest/edges`: edges grouped by target, as they are sorted, in bounded batches."""
    topology = found.topology
    ids = topology.ids
    rows: Rows = []
    for edge, (source, target) in enumerate(topology.edges):
        if edge % EDGE_BATCH == 0 and rows:
            yield rows
            rows = []
        if not rows or rows[-1][0] != ids[target]:
            rows.append([ids[target], []])
        rows[-1][1].append([ids[source], topology.cited.get(edge)])
    if rows:
        yield rows
