"""The place of an error by the sides of its evidence, where interim verdicts tell none.

A walk whose interim verdicts are a mix of Inconclusive and Not Fully Supported has no error stage
by the paper's rule. What sentences say of the part that failed tells more: the error came in at the
node nearest to the sources that speaks for it, while everything that was found in its inputs speaks
against it or is silent.

Source: ours; docs/adr/0077-second-wording.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from veritrail_graph.graph.model import (
    ErrorLocation,
    EvidencePath,
    EvidenceRole,
    Iteration,
    JudgedPart,
    NodeRef,
    Says,
    Verdict,
    in_order,
)
from veritrail_graph.graph.model.part import FAILED
from veritrail_graph.verifier.localization import downstream

Sources = Mapping[str, tuple[str, ...]]


def locate_by_sides(
    node: NodeRef,
    verdict: Verdict | None,
    parts: Sequence[JudgedPart],
    iterations: Sequence[Iteration],
    sources: Sources,
    paths: Sequence[EvidencePath],
) -> ErrorLocation:
    """Find the nodes that speak for a part that failed, while nothing in their inputs does.

    Args:
        node: The verified node; it states the claim.
        verdict: The final verdict.
        parts: The verdicts on the parts of the claim behind it.
        iterations: The rounds of the walk.
        sources: node_ids of the source nodes, by node, of every node that was asked about.
        paths: The evidence trail.

    Returns:
        Of several such nodes those that have no other among what they were made from. None where a
        node's inputs were not all read, or no part is known to have failed.
    """
    failed = [one.part for one in parts if one.verdict in FAILED]
    if verdict is not Verdict.NOT_FULLY_SUPPORTED or not failed:
        return ErrorLocation()
    read = {ref.node_id: ref for iteration in iterations for ref in iteration.checked}
    said = set(_said_for(iterations))
    if not said:
        return ErrorLocation()
    found: dict[str, NodeRef] = {}
    for part in failed:
        saying = {name for name, of in said if of == part} | {node.node_id}
        began = [name for name in saying if _began(name, saying, read, sources)]
        found.update((name, read.get(name, node)) for name in _nearest(began, sources))
    introduced = in_order(found.values())
    if not introduced:
        return ErrorLocation()
    carried = downstream(node, introduced, iterations, paths)
    return ErrorLocation(introduced, tuple(ref for ref in carried if ref not in introduced))


def _said_for(iterations: Sequence[Iteration]) -> Iterator[tuple[str, int]]:
    """Nodes with a sentence that speaks for a part, and the part; one that says both does, too."""
    for iteration in iterations:
        for cited in iteration.evidence:
            if cited.role is EvidenceRole.EVIDENCE:
                for side in cited.all_sides:
                    if side.says is not Says.AGAINST:
                        yield cited.node_id, side.part


def _began(name: str, saying: set[str], read: Mapping[str, NodeRef], sources: Sources) -> bool:
    """Return whether a node was made from others of which all were read and none says it."""
    inputs = sources.get(name, ())
    return bool(inputs) and read.keys() >= set(inputs) and saying.isdisjoint(inputs)


def _nearest(began: Sequence[str], sources: Sources) -> list[str]:
    """Return those that were made from none of the others, on whatever way."""
    names = set(began)
    return [name for name in began if names.isdisjoint(_upstream(name, sources))]


def _upstream(name: str, sources: Sources) -> set[str]:
    found: set[str] = set()
    left = list(sources.get(name, ()))
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += sources.get(one, ())
    return found
