"""Steps that cannot change text: what they produced is never where an error came in.

A node says so in its metadata (`"generative": false`), as a retrieval, a cut or a sorting does. The
paper's rule may still name it, where a model found a claim in its text and not in the text that it
was taken from: then the error belongs to the nearest step that writes.

Source: VeriTrail 2 (generative and non-generative steps), 3.2 (error localization); the rule is
ours.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from veritrail_graph.graph.model import ErrorLocation, Iteration, NodeRef
from veritrail_graph.verifier.ports import NodeSource

_log = logging.getLogger(__name__)

GENERATIVE = "generative"
"""The key of metadata that says whether the step that produced a node can change text."""


def is_copy(metadata: Mapping[str, Any]) -> bool:
    """Return whether metadata say that the step of their node cannot change text."""
    return metadata.get(GENERATIVE) is False


async def copies_among(
    nodes: NodeSource, error: ErrorLocation, node: NodeRef, iterations: Sequence[Iteration]
) -> frozenset[str]:
    """Return which nodes of a walk are copies; of a place without any nothing more is asked.

    Args:
        nodes: Where nodes are read from.
        error: Where the error was located.
        node: The verified node.
        iterations: The rounds of the walk.
    """
    if not error.nodes:
        return frozenset()
    first = await nodes.copies([ref.node_id for ref in error.nodes])
    return first and await nodes.copies(list(_known(node, iterations)))


async def at_writing_steps(
    error: ErrorLocation,
    node: NodeRef,
    iterations: Sequence[Iteration],
    sources: Mapping[str, tuple[str, ...]],
    nodes: NodeSource,
) -> ErrorLocation:
    """Return the place of an error without copies; none where it cannot be read which they are.

    A place that a read leaves unknown takes nothing from the verdict. See `at_generative_steps`.
    """
    try:
        copies = await copies_among(nodes, error, node, iterations)
    except Exception:  # noqa: BLE001  # whatever a graph may raise, the verdict stays
        _log.debug("it is not known which nodes of a walk are copies", exc_info=True)
        return ErrorLocation()
    return at_generative_steps(error, node, iterations, sources, copies)


def at_generative_steps(
    error: ErrorLocation,
    node: NodeRef,
    iterations: Sequence[Iteration],
    sources: Mapping[str, tuple[str, ...]],
    copies: Collection[str],
) -> ErrorLocation:
    """The place of an error, with the nearest step that writes in the place of each copy.

    That is the nearest node upstream that is no copy and no root. Where a copy was taken from
    source text alone, what it holds is right, and the nearest one downstream made the error.

    Args:
        error: The place by the rule of the paper.
        node: The verified node.
        iterations: The rounds of the walk.
        sources: node_ids of source nodes, by node.
        copies: The nodes that are copies.
    """
    if not any(ref.node_id in copies for ref in error.nodes):
        return error
    known = _known(node, iterations)
    targets: dict[str, list[str]] = {}
    for target, names in sources.items():
        for name in names:
            targets.setdefault(name, []).append(target)
    found: dict[str, NodeRef] = {}
    passed: dict[str, NodeRef] = {}
    for ref in error.nodes:
        if ref.node_id not in copies:
            found.setdefault(ref.node_id, ref)
            continue
        origins, way = _nearest(ref.node_id, sources, known, copies)
        if origins:
            passed.update((name, known[name]) for name in way)
        else:
            origins, _ = _nearest(ref.node_id, targets, known, copies)
        found.update((name, known[name]) for name in origins)
    if not found:
        return ErrorLocation()
    later = {**passed, **{ref.node_id: ref for ref in error.propagated}}
    if node.node_id not in found:
        later.setdefault(node.node_id, node)
    return ErrorLocation(
        tuple(found.values()), tuple(ref for name, ref in later.items() if name not in found)
    )


def _known(node: NodeRef, iterations: Iterable[Iteration]) -> dict[str, NodeRef]:
    checked = {ref.node_id: ref for iteration in iterations for ref in iteration.checked}
    return {**checked, node.node_id: node}


def _nearest(
    start: str,
    onward: Mapping[str, Sequence[str]],
    known: Mapping[str, NodeRef],
    copies: Collection[str],
) -> tuple[list[str], list[str]]:
    """The first nodes on every way that are no copies and no roots, and the copies before them."""
    reached: dict[str, None] = {}
    way = {start: None}
    waiting = [start]
    while waiting:
        for name in onward.get(waiting.pop(0), ()):
            ref = known.get(name)
            if ref is None or ref.is_root or name in way:
                continue
            if name in copies:
                way[name] = None
                waiting.append(name)
            else:
                reached[name] = None
    return list(reached), list(way)
