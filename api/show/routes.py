"""The ways from the sources to the answer: every path of evidence, or how many are not shown.

Source: VeriTrail 3.2 (provenance).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.model import NodeRef, Role, Verification

MOST_ROUTES = 20
"""Routes that are listed."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A node of a route.

    Attributes:
        node_id: The node.
        stage: Its stage; None: not known.
        is_root: Whether it is source material.
        via: Nodes without evidence between it and the next one.
    """

    node_id: str
    stage: int | None
    is_root: bool = False
    via: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """A path of evidence from where it begins down to the verified node.

    Attributes:
        stops: Its nodes; the verified node is the last.
        complete: Whether it begins in source material.
    """

    stops: tuple[Stop, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class Routes:
    """The routes of a trail.

    Attributes:
        routes: Those that are shown.
        total: How many there are.
        complete: How many of all begin in source material.
    """

    routes: tuple[Route, ...]
    total: int
    complete: int

    @property
    def are_all_shown(self) -> bool:
        """Return whether none is left out."""
        return len(self.routes) == self.total


@dataclass(frozen=True, slots=True)
class _Map:
    """The links of a trail, by the node that they lead to."""

    refs: Mapping[str, NodeRef]
    before: Mapping[str, Sequence[str]]
    via: Mapping[tuple[str, str], tuple[str, ...]]

    def stop(self, node_id: str, following: str | None) -> Stop:
        ref = self.refs.get(node_id)
        return Stop(
            node_id,
            ref.stage if ref else None,
            ref is not None and ref.role is Role.ROOT,
            self.via.get((node_id, following), ()) if following is not None else (),
        )

    def goes_on(self, node_id: str) -> Sequence[str]:
        """Nodes with evidence before this one."""
        ref = self.refs.get(node_id)
        return () if ref is not None and ref.role is Role.ROOT else self.before.get(node_id, ())


def routes_of(verification: Verification, most: int = MOST_ROUTES) -> Routes:
    """The routes of a verification.

    Args:
        verification: The verification.
        most: How many are listed; all are counted.
    """
    links = _links(verification)
    target = verification.node_id
    total, complete = _count(links, target)
    routes: list[Route] = []
    # Each entry: nodes from the target upstream. Depth first, so that a listed one is whole.
    waiting = [[one] for one in reversed(links.before.get(target, ())[:most])]
    while waiting and len(routes) < most:
        path = waiting.pop()
        further = links.goes_on(path[-1])
        if not further:
            routes.append(_route(links, path, target))
            continue
        waiting += [[*path, one] for one in reversed(further[:most]) if one not in path]
    return Routes(tuple(routes), total, complete)


def _route(links: _Map, path: Sequence[str], target: str) -> Route:
    names = [*reversed(path), target]
    following = [*names[1:], None]
    stops = tuple(links.stop(name, after) for name, after in zip(names, following, strict=True))
    return Route(stops, stops[0].is_root)


def _links(verification: Verification) -> _Map:
    refs: dict[str, NodeRef] = {}
    for iteration in verification.iterations:
        refs |= {ref.node_id: ref for ref in iteration.checked}
    placed = (*verification.error_nodes, *verification.propagated_nodes)
    refs |= {ref.node_id: ref for ref in placed}
    before: dict[str, dict[str, None]] = {}
    via: dict[tuple[str, str], tuple[str, ...]] = {}
    for path in verification.paths:
        before.setdefault(path.target, {})[path.source] = None
        via.setdefault((path.source, path.target), path.via)
    return _Map(refs, {target: tuple(sources) for target, sources in before.items()}, via)


def _count(links: _Map, target: str) -> tuple[int, int]:
    """Return how many routes end in a node, and how many of them begin in source material."""
    known: dict[str, tuple[int, int]] = {}
    waiting = list(links.before.get(target, ()))
    under_way: set[str] = set()
    while waiting:
        node_id = waiting[-1]
        further = links.goes_on(node_id)
        open_ones = [one for one in further if one not in known and one not in under_way]
        if node_id in known:
            waiting.pop()
        elif open_ones:
            under_way.add(node_id)
            waiting += open_ones
        else:
            waiting.pop()
            known[node_id] = _ways(links, node_id, further, known)
    found = [known[one] for one in links.before.get(target, ())]
    return sum(total for total, _ in found), sum(whole for _, whole in found)


def _ways(
    links: _Map,
    node_id: str,
    further: Sequence[str],
    known: Mapping[str, tuple[int, int]],
) -> tuple[int, int]:
    if not further:
        ref = links.refs.get(node_id)
        return 1, int(ref is not None and ref.role is Role.ROOT)
    ways = [known.get(one, (0, 0)) for one in further]
    return sum(total for total, _ in ways), sum(whole for _, whole in ways)
