"""The content hash: whether two inputs are the same process.

It covers nodes, edges, stages and terminals, whatever their order in the input; it does
not cover claims, name or question, nor where a node stands.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from graph.importers.records import NodeRecord
from graph.topology import Topology

_CANONICAL = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
)


def canonical(value: object) -> bytes:
    """One spelling of a JSON value: sorted keys, no spaces, UTF-8.

    Raises:
        UnicodeEncodeError: A string holds a lone surrogate.
        RecursionError: It is nested too deeply.
    """
    return _CANONICAL.encode(value).encode("utf-8")


def node_digest(node: NodeRecord) -> bytes:
    """SHA-256 of everything that a node holds but its stage, which may be derived later."""
    content = [node.node_id, node.text, node.kind, node.step, dict(node.metadata)]
    return hashlib.sha256(canonical(content)).digest()


def content_hash(
    topology: Topology,
    digests: Sequence[bytes],
    stage_names: Mapping[int, str],
    terminals: Iterable[str],
) -> str:
    """SHA-256 of a process in hexadecimal.

    Args:
        topology: Its nodes, edges and stages; repeated edges dropped, stages derived.
        digests: `node_digest` by number of the node.
        stage_names: Names of the stages.
        terminals: node_ids of the terminals.
    """
    total = hashlib.sha256(b"veritrail.process/1\n")
    ids = topology.ids
    for number in sorted(range(len(ids)), key=ids.__getitem__):
        total.update(digests[number])
        total.update(b"%d\n" % topology.stages[number])
    total.update(b"edges\n")
    # Numbers in the order of the ids make edges sortable without building strings.
    rank = [0] * len(ids)
    for place, number in enumerate(sorted(range(len(ids)), key=ids.__getitem__)):
        rank[number] = place
    edges = sorted(
        (rank[source], rank[target], topology.cited.get(edge))
        for edge, (source, target) in enumerate(topology.edges)
    )
    for source_rank, target_rank, cited in edges:
        total.update(b"%d %d %d\n" % (source_rank, target_rank, -1 if cited is None else cited))
    total.update(canonical({str(stage): name for stage, name in stage_names.items()}))
    total.update(canonical(sorted(terminals)))
    return total.hexdigest()


def derived_process_id(hash_: str) -> str:
    """The process_id of an input that gives none."""
    return f"p-{hash_[:16]}"


def derived_claim_id(node_id: str, text: str) -> str:
    """The claim_id of a claim that gives none."""
    return f"c-{hashlib.sha256(canonical([node_id, text])).hexdigest()[:16]}"
