"""The content hash: whether two inputs are the same process.

It covers nodes, edges, stages and terminals, whatever their order in the input; it does
not cover claims, name or question, nor the place of a node.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.model import NO_FACTS
from veritrail_graph.graph.model.canonical import canonical, canonical_text

if TYPE_CHECKING:
    from veritrail_graph.graph.importers.records import NodeRecord
    from veritrail_graph.graph.ingest.topology import Topology


def node_digest(node: NodeRecord) -> bytes:
    """SHA-256 of what a node holds but its stage and origin, which may be derived later."""
    parts = [
        encode_basestring(node.node_id),
        encode_basestring(node.text),
        "null" if node.kind is None else encode_basestring(node.kind),
        "null" if node.step is None else encode_basestring(node.step),
        _flat(node.metadata) if node.metadata else "{}",
    ]
    if node.question is not None:
        parts.append(encode_basestring(node.question))
    return hashlib.sha256(f"[{','.join(parts)}]".encode()).digest()


def _flat(metadata: Mapping[str, Any]) -> str:
    """What `canonical` spells, without its preparations where only strings and integers stand."""
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
    for number in by_id:
        total.update(digests[number])
        total.update(b"%d\n" % topology.stages[number])
    total.update(b"edges\n")
    # Numbers in the order of the ids make edges sortable without building strings.
    rank = [0] * len(ids)
    for place, number in enumerate(by_id):
        rank[number] = place
    for line in _edge_lines(topology, rank):
        total.update(line)
    if topology.origins:
        said = sorted((ids[number], origin.value) for number, origin in topology.origins.items())
        total.update(canonical(said))
    total.update(canonical({str(stage): name for stage, name in stage_names.items()}))
    total.update(canonical(sorted(terminals)))
    return total.hexdigest()


def _edge_lines(topology: Topology, rank: Sequence[int]) -> Iterator[bytes]:
    """Every edge as `source target cited`, and how it was inferred, in the order of the ids."""
    base = len(rank)
    keys = [rank[source] * base + rank[target] for source, target in topology.edges]
    if not topology.facts:
        for key in sorted(keys):
            yield b"%d %d -1\n" % divmod(key, base)
        return
    for edge in sorted(range(len(keys)), key=keys.__getitem__):
        facts = topology.facts.get(edge, NO_FACTS)
        yield b"%d %d %d" % (*divmod(keys[edge], base), -1 if facts.cited is None else facts.cited)
        if facts.inferred is not None:
            yield canonical([facts.inferred, facts.score])
        yield b"\n"


def derived_process_id(hash_: str) -> str:
    """The process_id of an input that gives none."""
    return f"p-{hash_[:16]}"


def derived_claim_id(node_id: str, text: str) -> str:
    """The claim_id of a claim that gives none."""
    return f"c-{hashlib.sha256(canonical([node_id, text])).hexdigest()[:16]}"
