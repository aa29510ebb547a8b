"""Fill the prompt for a report with the records of its community, as many as fit.

Source: Edge et al., 2025 (the best connected first; reports of parts where a community is large).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from veritrail_eval.building.graphrag.communities import Community
from veritrail_eval.building.graphrag.merging import KnowledgeGraph, Relationship
from veritrail_graph.graph.importers.graphrag.tables import ENTITY, RELATIONSHIP, REPORT

T = TypeVar("T")
Record = tuple[str, int]
"""Kind and number of an entity, a relationship or a report."""


@dataclass
class Neighbourhood:
    """The relationships of each entity.

    Attributes:
        graph: The entities and relationships.
    """

    graph: KnowledgeGraph
    _of: dict[int, list[Relationship]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Note the relationships of each entity."""
        for one in self.graph.relationships:
            for end in one.ends:
                self._of.setdefault(end, []).append(one)

    def degree(self, entity: int) -> int:
        """Return how many relationships an entity has."""
        return len(self._of.get(entity, ()))

    def rank(self, one: Relationship) -> int:
        """Return how many relationships both ends of one have."""
        return sum(self.degree(end) for end in one.ends)

    def within(self, members: Iterable[int]) -> list[Relationship]:
        """Relationships of which both ends are members, the best connected first."""
        known = frozenset(members)
        found = {one.number: one for name in known for one in self._of.get(name, ())}
        inside = [one for one in found.values() if known.issuperset(one.ends)]
        return sorted(inside, key=lambda one: (-self.rank(one), one.number))

    def records(self, community: Community, parts: Sequence[Community] = ()) -> list[Record]:
        """Return what there is to say of a community, the most important first.

        Args:
            community: The community.
            parts: Parts whose reports take the place of what lies within them.
        """
        largest = sorted(parts, key=lambda one: (-len(one.members), one.number))
        found: dict[Record, None] = dict.fromkeys((REPORT, one.number) for one in largest)
        part_of = {name: one.number for one in parts for name in one.members}
        for one in self.within(community.members):
            homes = [part_of.get(end) for end in one.ends]
            if homes[0] is not None and homes[0] == homes[1]:
                continue
            new = [end for end, home in zip(one.ends, homes, strict=True) if home is None]
            found.update(dict.fromkeys((ENTITY, end) for end in new))
            found[RELATIONSHIP, one.number] = None
        rest = sorted(community.members - part_of.keys(), key=lambda one: (-self.degree(one), one))
        found.update(dict.fromkeys((ENTITY, one) for one in rest))
        return list(found)


def fitting(items: Sequence[T], size: Callable[[T], int], room: int) -> list[T]:
    """The first items, as far as they fit; nothing is taken after one that does not."""
    taken: list[T] = []
    for item in items:
        room -= size(item)
        if room < 0:
            break
        taken.append(item)
    return taken


def grouped(items: Iterable[T], size: Callable[[T], int], room: int) -> list[list[T]]:
    """Neighbours, as many in a group as fit; an item that is larger is a group of its own."""
    groups: list[list[T]] = []
    used = 0
    for item in items:
        needed = size(item)
        if groups and used + needed <= room:
            groups[-1].append(item)
            used += needed
        else:
            groups.append([item])
            used = needed
    return groups
