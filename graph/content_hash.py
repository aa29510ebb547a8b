"""The content hash: whether two inputs are the same process.

It covers nodes, edges, stages and terminals, whatever their order in the input; it does
not cover claims, name or question, nor the place of a node.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, overload

from veritrail_graph.graph.model import NO_FACTS
from veritrail_graph.graph.model.canonical import canonical, canonical_text
from veritrail_graph.graph.sorting import sorted_parts

if TYPE_CHECKING:
    from veritrail_graph.graph.importers.records import NodeRecord
    from veritrail_graph.graph.ingest.topology import Topology


class Digests(Sequence[bytes]):
    """`node_digest` by number of the node, in one piece; empty where a node breaks a rule."""

    def __init__(self, digests: Iterable[bytes] = ()) -> None:
        self._whole = bytearray()
        self.extend(digests)

    def append(self, digest: bytes) -> None:
        """Add a digest, or nothing in its place."""
        self._whole += digest or _NO_DIGEST

    def extend(self, digests: Iterable[bytes]) -> None:
        """Add digests, none of which is empty."""
        self._whole += digests._whole if isinstance(digests, Digests) else b"".join(digests)

    def tobytes(self) -> bytes:
        """All of them, one after the other."""
        return bytes(self._whole)

    def __len__(self) -> int:
        return len(self._whole) // _SIZE

    @overload
    def __getitem__(self, number: int) -> bytes: ...
    @overload
    def __getitem__(self, number: slice) -> list[bytes]: ...
    def __getitem__(self, number: int | slice) -> bytes | list[bytes]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        start = number % len(self) * _SIZE
        found = bytes(self._whole[start : start + _SIZE])
        return b"" if found == _NO_DIGEST else found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Digests) and self._whole == other._whole

    __hash__ = None  # type: ignore[assignment]


_SIZE = 32
_NO_DIGEST = bytes(_SIZE)


def node_digest(node: NodeRecord) -> bytes:
    """SHA-256 of what a node holds but its stage and origin, which may be derived later."""
    content = node_content(
        node.node_id, node.text, node.kind, node.step, node.metadata, node.question
    )
    return hashlib.sha256(content).digest()


def node_content(
    node_id: str,
    text: str,
    kind: str | None,
    step: str | None,
    metadata: Mapping[str, Any] | None,
    question: str | None = None,
) -> bytes:
    """Return what `node_digest` is the hash of: `canonical` of a list of these.

    Raises:
        UnicodeEncodeError: A string holds a lone surrogate.
    """
    parts = [
        encode_basestring(node_id),
        encode_basestring(text),
        "null" if kind is None else encode_basestring(kind),
        "null" if step is None else encode_basestring(step),
        _flat(metadata) if metadata else "{}",
    ]
    if question is not None:
        parts.append(encode_basestring(question))
    return f"[{','.join(parts)}]".encode()


def _flat(metadata: Mapping[str, Any]) -> str:
    """Return the text of `canonical`, without its preparations, of strings and integers only."""
    parts = []
    for key, value in sorted(metadata.items()) if len(metadata) > 1 else metadata.items():
        if type(key) is not str:
            return canonical_text(dict(metadata))
        if type(value) is str:
            parts.append(f"{encode_basestring(key)}:{encode_basestring(value)}")
        elif type(value) is int:
            parts.append(f"{encode_basestring(key)}:{value}")
        else:
            return canonical_text(dict(metadata))
    return f"{{{','.join(parts)}}}"


def content_hash(
    topology: Topology,
    digests: Sequence[bytes],
    stage_names: Mapping[int, str],
    terminals: Iterable[str],
) -> str:
    """SHA-256 of a process in hexadecimal.

    Args:
        topology: Its nodes, edges and stages; repeated edges dropped, stages derived; origins
            where they differ from what follows from the rest.
        digests: `node_digest` by number of the node.
        stage_names: Names of the stages.
        terminals: node_ids of the terminals.
    """
    total = hashlib.sha256(b"veritrail.process/1\n")
    ids = topology.ids
    by_id = sorted(range(len(ids)), key=ids.__getitem__)
    stages = topology.stages
    for start in range(0, len(by_id), _NODES):
        part = by_id[start : start + _NODES]
        total.update(b"".join([b"%b%d\n" % (digests[number], stages[number]) for number in part]))
    total.update(b"edges\n")
    # Numbers in the order of the ids make edges sortable without building strings.
    rank = array("L", bytes(array("L").itemsize * len(ids)))
    for place, number in enumerate(by_id):
        rank[number] = place
    del by_id
    for line in _edge_lines(topology, rank):
        total.update(line)
    if topology.origins:
        said = sorted((ids[number], origin.value) for number, origin in topology.origins.items())
        total.update(canonical(said))
    total.update(canonical({str(stage): name for stage, name in stage_names.items()}))
    total.update(canonical(sorted(terminals)))
    return total.hexdigest()


_NODES = _EDGES = 20_000  # that are hashed at once


def _edge_lines(topology: Topology, rank: Sequence[int]) -> Iterator[bytes]:
    """Every edge as `source target cited`, and how it was inferred, in the order of the ids."""
    base = len(rank)
    keys = (rank[source] * base + rank[target] for source, target in topology.edges)
    if not topology.facts:
        for some in sorted_parts(keys, base * base, len(topology.edge_sources)):
            for start in range(0, len(some), _EDGES):
                part = some[start : start + _EDGES]
                ends = [0] * (2 * len(part))
                ends[0::2] = [key // base for key in part]
                ends[1::2] = [key % base for key in part]
                yield ("%d %d -1\n" * len(part) % tuple(ends)).encode()
        return
    every = list(keys)
    for edge in sorted(range(len(every)), key=every.__getitem__):
        facts = topology.facts.get(edge, NO_FACTS)
        source, target = divmod(every[edge], base)
        yield b"%d %d %d" % (source, target, -1 if facts.cited is None else facts.cited)
        if facts.inferred is not None:
            yield canonical([facts.inferred, facts.score])
        yield b"\n"


def derived_process_id(hash_: str) -> str:
    """The process_id of an input that gives none."""
    return f"p-{hash_[:16]}"


def derived_claim_id(node_id: str, text: str) -> str:
    """The claim_id of a claim that gives none."""
    return f"c-{hashlib.sha256(canonical([node_id, text])).hexdigest()[:16]}"
