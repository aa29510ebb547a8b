"""Merge the names of several chunks into one graph of entities and relationships.

Source: VeriTrail A (GraphRAG).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from veritrail_eval.building.graphrag.answers import Extraction, name_key


@dataclass(frozen=True, slots=True)
class Described:
    """The description of an entity or a relationship by one chunk.

    Attributes:
        unit: The node_id of the chunk.
        text: What it says.
    """

    unit: str
    text: str


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity, with what each chunk says of it.

    Attributes:
        number: Its number, by which reports cite it.
        title: Its name, as the first chunk spells it.
        type: What it is, as most chunks say.
        descriptions: One a chunk.
    """

    number: int
    title: str
    type: str
    descriptions: tuple[Described, ...]


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship, with what each chunk says of it.

    Attributes:
        number: Its number, by which reports cite it.
        title: The names of its ends.
        ends: The numbers of the entities.
        weight: Its strength, added up over chunks.
        descriptions: One a chunk.
    """

    number: int
    title: str
    ends: tuple[int, int]
    weight: int
    descriptions: tuple[Described, ...]


@dataclass(frozen=True, slots=True)
class KnowledgeGraph:
    """Entities and relationships.

    Attributes:
        entities: By their numbers.
        relationships: By their numbers.
        left_out: Relationships with an end that no chunk lists as an entity, or with one end only.
    """

    entities: tuple[Entity, ...]
    relationships: tuple[Relationship, ...]
    left_out: tuple[str, ...]

    @property
    def alone(self) -> list[Entity]:
        """Entities without any relationship."""
        related = {end for one in self.relationships for end in one.ends}
        return [one for one in self.entities if one.number not in related]


def merged(extractions: Sequence[tuple[str, Extraction]]) -> KnowledgeGraph:
    """Join what chunks name; names are the same but for case and spaces.

    A relationship may name an entity that another chunk lists.

    Args:
        extractions: What each chunk names, with the chunk's node_id.
    """
    titles: dict[str, str] = {}
    types: dict[str, Counter[str]] = {}
    said: dict[str, list[Described]] = {}
    for unit, extraction in extractions:
        for entity in extraction.entities:
            key = name_key(entity.name)
            titles.setdefault(key, entity.name)
            types.setdefault(key, Counter())[entity.type] += 1
            said.setdefault(key, []).append(Described(unit, entity.description))
    numbers = {key: number for number, key in enumerate(titles)}
    entities = tuple(
        Entity(number, titles[key], types[key].most_common(1)[0][0], tuple(said[key]))
        for key, number in numbers.items()
    )
    related: dict[tuple[int, int], list[Described]] = {}
    weights: Counter[tuple[int, int]] = Counter()
    left_out: dict[str, None] = {}
    for unit, extraction in extractions:
        for one in extraction.relationships:
            source, target = numbers.get(name_key(one.source)), numbers.get(name_key(one.target))
            if source is None or target is None or source == target:
                left_out[f"{one.source} -> {one.target}"] = None
                continue
            related.setdefault((source, target), []).append(Described(unit, one.description))
            weights[source, target] += one.strength
    relationships = tuple(
        Relationship(
            number,
            f"{entities[ends[0]].title} -> {entities[ends[1]].title}",
            ends,
            weights[ends],
            tuple(related[ends]),
        )
        for number, ends in enumerate(related)
    )
    return KnowledgeGraph(entities, relationships, tuple(left_out))
