"""Communities of entities by Louvain, level by level.

Source: VeriTrail A (GraphRAG); docs/adr/0046-graphrag-answers.md for Louvain in place of Leiden.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from veritrail_eval.building.graphrag.merging import KnowledgeGraph

FEWEST = 2
"""Entities of a community: one alone has nothing to report beside its description."""


@dataclass(frozen=True, slots=True)
class Community:
    """Entities that belong together.

    Attributes:
        number: Its number, by which answers cite its report.
        level: 0: the coarsest.
        parent: The number of the community that it is a part of, or None.
        members: The numbers of its entities.
    """

    number: int
    level: int
    parent: int | None
    members: frozenset[int]


def communities_of(graph: KnowledgeGraph, most: int, seed: int) -> list[Community]:
    """The communities of all levels; those of a coarser level come first.

    A community of more than `most` entities is split again where Louvain finds parts in it.
    Entities without a relationship, and parts of one entity, are no community.

    Args:
        graph: The entities and relationships.
        most: The most entities of a community that is not split.
        seed: The same seed finds the same communities.
    """
    import networkx

    whole = networkx.Graph()
    for edge in graph.relationships:
        before = whole.get_edge_data(*edge.ends, default={"weight": 0})["weight"]
        whole.add_edge(*edge.ends, weight=before + edge.weight)
    found: list[Community] = []
    waiting: list[tuple[int, int | None, frozenset[int]]] = [
        (0, None, members) for members in _parts(networkx, whole, seed)
    ]
    while waiting:
        made = [
            Community(number, level, parent, members)
            for number, (level, parent, members) in enumerate(waiting, start=len(found))
        ]
        found += made
        waiting = []
        for one in made:
            if len(one.members) <= most:
                continue
            parts = _parts(networkx, whole.subgraph(one.members), seed)
            # A community that is its own only part cannot be split.
            named = [part for part in parts if part != one.members]
            waiting += [(one.level + 1, one.number, part) for part in named]
    return found


def _parts(networkx: Any, graph: Any, seed: int) -> list[frozenset[int]]:
    """The communities of a graph by Louvain, in the order of their first entities."""
    if not graph:
        return []
    # Louvain is sensitive to the order of nodes; a subgraph keeps that of the whole.
    ordered = networkx.Graph()
    ordered.add_nodes_from(sorted(graph))
    ordered.add_weighted_edges_from(sorted(graph.edges(data="weight")))
    parts: Iterable[set[int]] = networkx.community.louvain_communities(ordered, seed=seed)
    return sorted((frozenset(one) for one in parts if len(one) >= FEWEST), key=min)
