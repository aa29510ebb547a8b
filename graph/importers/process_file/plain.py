"""The usual records of a process file, recognised by a few checks; all others go to the models.

What is plain here keeps every rule that the models of `schema` check, so that a model
would say nothing of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from itertools import chain
from typing import Annotated, Any, TypeGuard, TypeVar

import msgspec

from veritrail_graph.graph.content_hash import node_content
from veritrail_graph.graph.importers.records import PlainEdges, PlainNodes
from veritrail_graph.graph.model.noun import MAX_NODE_ID, MAX_STAGE

_NODE_KEYS = frozenset({"node_id", "text", "stage", "kind", "step", "metadata"})
_SCALARS = frozenset({str, int, float, bool, type(None)})

T = TypeVar("T")
_Id = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NODE_ID)]
_Stage = Annotated[int, msgspec.Meta(ge=0, le=MAX_STAGE)]
_Scalar = str | int | float | bool | None
Unset = msgspec.UnsetType


class _Node(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    node_id: _Id
    text: msgspec.Raw
    stage: _Stage | Unset | None = msgspec.UNSET
    kind: str | Unset | None = msgspec.UNSET
    step: str | Unset | None = msgspec.UNSET
    metadata: dict[str, _Scalar] | Unset | None = msgspec.UNSET


class _Edge(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    source: _Id
    target: _Id


class _NodeLine(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    node: _Node


class _EdgeLine(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    edge: _Edge


_node_lines = msgspec.json.Decoder(_NodeLine).decode_lines
_edge_lines = msgspec.json.Decoder(_EdgeLine).decode_lines
_decoded = msgspec.json.Decoder(str).decode
_canonical = msgspec.json.Encoder(order="deterministic").encode
_REFUSED = (msgspec.MsgspecError, ValueError, RecursionError)

_NODE, _EDGE = b'{"node"', b'{"edge"'
_ENDS = {begin: re.compile(b"\n(?!%b)" % re.escape(begin)) for begin in (_NODE, _EDGE)}
_QUOTES_OF_EDGE = 10  # of five strings
_OTHER_SPELLING = re.compile(rb"\\[u/]")


def is_plain_id(value: object) -> TypeGuard[str]:
    """Return whether it is a node_id without any character that needs a closer look."""
    return type(value) is str and value.isascii() and 0 < len(value) <= MAX_NODE_ID


def is_plain_node(value: object) -> TypeGuard[dict[str, Any]]:
    """Return whether it is a node with usual values, and no key but those of a node."""
    if type(value) is not dict or not value.keys() <= _NODE_KEYS:
        return False
    get = value.get
    stage, metadata = get("stage"), get("metadata")
    return (
        is_plain_id(get("node_id"))
        and type(get("text")) is str
        and (stage is None or (type(stage) is int and 0 <= stage <= MAX_STAGE))
        and _is_plain_or_none(get("kind"))
        and _is_plain_or_none(get("step"))
        and (metadata is None or (type(metadata) is dict and _is_flat(metadata)))
    )


def runs(chunk: bytes) -> Iterator[bytes]:
    """Parts of some lines, in their order: several nodes, several edges, or anything else."""
    start = rest = 0
    while start < len(chunk):
        kind = _ENDS.get(chunk[start : start + len(_NODE)])
        if kind is None:
            end = chunk.find(b"\n", start) + 1
        else:
            found = kind.search(chunk, start)
            end = found.end() if found else chunk.rfind(b"\n") + 1
        if end <= start:  # the last line has no end
            break
        second = chunk.find(b"\n", start) + 1
        third = chunk.find(b"\n", second) + 1
        if kind is not None and 0 < third < end:  # two lines are read faster one by one
            if rest < start:
                yield chunk[rest:start]
            yield chunk[start:end]
            rest = end
        start = end
    if rest < len(chunk):
        yield chunk[rest:]


def plain_parts(
    chunk: bytes, first_line: int
) -> Iterator[tuple[bytes, PlainNodes | PlainEdges | None]]:
    """Parts of some lines, each with its records where all are usual ones.

    Args:
        chunk: The lines with their ends.
        first_line: The number of the first.
    """
    whole = plain_records(chunk, first_line)
    if whole is not None:
        yield chunk, whole
        return
    for part in runs(chunk):
        yield part, plain_records(part, first_line) if len(part) < len(chunk) else None
        first_line += part.count(b"\n")


def plain_records(lines: bytes, first_line: int) -> PlainNodes | PlainEdges | None:
    """The records of some lines, when all are nodes or all are edges, and usual ones; else None.

    Args:
        lines: The lines with their ends.
        first_line: The number of the first.
    """
    last = lines.rfind(b"\n", 0, -1) + 1
    for begin, read in ((_NODE, _plain_nodes), (_EDGE, _plain_edges)):
        if lines.startswith(begin) and lines.startswith(begin, last) and lines.endswith(b"\n"):
            return read(lines, first_line)
    return None


# For the parser a line feed is white space, and of a repeated key the last one counts. So it is
# compared how many records and lines there are, how many lines begin with a record, and how many
# strings there are.


def _plain_nodes(lines: bytes, first_line: int) -> PlainNodes | None:
    try:
        found = [line.node for line in _node_lines(lines)]
        spelled = [node.text for node in found]
        texts = list(map(_decoded, spelled))
    except _REFUSED:
        return None
    count = len(found)
    if lines.count(b"\n" + _NODE) + 1 != count:
        return None
    ids = [node.node_id for node in found]
    stages, with_stage = _given([node.stage for node in found])
    kinds, with_kind = _given([node.kind for node in found])
    steps, with_step = _given([node.step for node in found])
    metadata, with_metadata = _given([node.metadata for node in found])
    facts = [one or {} for one in metadata]
    if float in set(map(type, chain.from_iterable(map(dict.values, facts)))):
        contents = list(map(node_content, ids, texts, kinds, steps, facts))
        least = 0  # no spelling of a float is the shortest
    else:
        # Texts whose characters are all spelled as in canonical JSON need not be spelled anew.
        is_other = b"\\" in lines and _OTHER_SPELLING.search(lines)
        quoted = texts if is_other else spelled
        contents = list(map(_canonical, zip(ids, quoted, kinds, steps, facts, strict=True)))
        least = sum(map(len, contents)) - len("[,,,,]") * count
        least += len('{"node":{"node_id":,"text":}}\n') * count
        least += len(',"stage":') * with_stage
        least += sum(
            len(str(stage)) * nodes for stage, nodes in Counter(stages).items() if stage is not None
        )
        least += len(',"kind":') * with_kind - len("null") * (count - with_kind)
        least += len(',"step":') * with_step - len("null") * (count - with_step)
        least += len(',"metadata":') * with_metadata - len("{}") * (count - with_metadata)
    # Canonical JSON is the shortest: lines that are no longer repeat nothing.
    if len(lines) != least:
        keys = 3 * count + with_stage + with_kind + with_step + with_metadata
        quotes = b"".join(contents).count(b'"') + 2 * keys
        is_different = lines.count(b"\n") != count or lines.count(b'"') != quotes
        if is_different or b"\\u0022" in lines:
            return None
    digests = [sha256(content).digest() for content in contents]
    return PlainNodes(ids, texts, stages, kinds, steps, facts, digests, first_line)


def _plain_edges(lines: bytes, first_line: int) -> PlainEdges | None:
    try:
        edges = [line.edge for line in _edge_lines(lines)]
    except _REFUSED:
        return None
    count = len(edges)
    if (
        lines.count(b"\n" + _EDGE) + 1 != count
        or lines.count(b"\n") != count
        or lines.count(b'"') != _QUOTES_OF_EDGE * count
    ):
        return None
    return PlainEdges([edge.source for edge in edges], [edge.target for edge in edges], first_line)


def _given(values: list[T | Unset | None]) -> tuple[list[T | None], int]:
    """The values, None for those that are not there, and how many are there."""
    missing = values.count(msgspec.UNSET)
    given = [None if value is msgspec.UNSET else value for value in values] if missing else values
    return given, len(values) - missing  # type: ignore[return-value]


def _is_plain_or_none(value: object) -> bool:
    return value is None or (type(value) is str and value.isascii())


def _is_flat(metadata: dict[str, Any]) -> bool:
    for key, value in metadata.items():
        if not key.isascii() or type(value) not in _SCALARS:
            return False
    return True
