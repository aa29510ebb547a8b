"""Reading the answers of models to the steps of GraphRAG."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from veritrail_graph.graph.importers.graphrag.tables import as_number
from veritrail_graph.verifier.answers import expect_keys, text_of
from veritrail_graph.verifier.models.port import InvalidAnswer

Size = Callable[[str], int]
STRENGTHS, SCORES = range(1, 11), range(101)


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity that a chunk names."""

    name: str
    type: str
    description: str

    @property
    def text(self) -> str:
        """Its name on a line above its description, as an imported one."""
        return f"{self.name}\n{self.description}"


@dataclass(frozen=True, slots=True)
class NamedRelationship:
    """A relationship that a chunk names."""

    source: str
    target: str
    description: str
    strength: int

    @property
    def text(self) -> str:
        """Its ends on a line above its description, as an imported one."""
        return f"{self.source} -> {self.target}\n{self.description}"


@dataclass(frozen=True, slots=True)
class Extraction:
    """The entities and relationships that a chunk names."""

    entities: tuple[NamedEntity, ...] = ()
    relationships: tuple[NamedRelationship, ...] = ()

    @property
    def texts(self) -> list[str]:
        """The texts of all of them."""
        return [one.text for one in self.entities] + [one.text for one in self.relationships]


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report about a community.

    Attributes:
        title: Its title.
        text: The whole report, title included.
        cut: Findings at its end that were left out, because it was too long.
    """

    title: str
    text: str
    cut: int = 0


@dataclass(frozen=True, slots=True)
class Point:
    """A part of an answer that is found in some reports, and how much it helps (0 to 100)."""

    text: str
    score: int


def read_extraction(answer: Mapping[str, Any], size: Size, most: int) -> Extraction:
    """Return what a chunk names; a chunk may name nothing.

    What is named several times is there once, with all that is said of it.

    Args:
        answer: The JSON object of the answer.
        size: Counts the tokens of a record.
        most: The most that a record may have.

    Raises:
        InvalidAnswer: It is none.
    """
    entities: dict[str, NamedEntity] = {}
    for where, entry in _entries(answer, "entities", "name", "type", "description"):
        name, kind = _name(entry, "name", where), _name(entry, "type", where)
        said = _text(entry, "description", where)
        before = entities.setdefault(name_key(name), NamedEntity(name, kind, said))
        entities[name_key(name)] = replace(before, description=_both(before.description, said))
    relationships: dict[tuple[str, str], NamedRelationship] = {}
    keys = ("source", "target", "description", "strength")
    for where, entry in _entries(answer, "relationships", *keys):
        source, target = _name(entry, "source", where), _name(entry, "target", where)
        said = _text(entry, "description", where)
        strength = _whole(entry, "strength", where, STRENGTHS)
        new = NamedRelationship(source, target, said, strength)
        ends = (name_key(source), name_key(target))
        known = relationships.setdefault(ends, new)
        relationships[ends] = replace(
            known,
            description=_both(known.description, said),
            strength=max(known.strength, strength),
        )
    found = Extraction(tuple(entities.values()), tuple(relationships.values()))
    for text in found.texts:
        expect_size(text, size, most)
    return found


def name_key(name: str) -> str:
    """Return what two spellings of one name have in common."""
    return " ".join(name.split()).casefold()


def _both(before: str, text: str) -> str:
    return before if text in before else f"{before} {text}"


def read_description(answer: Mapping[str, Any], heading: str, size: Size, most: int) -> str:
    """One description of several.

    Raises:
        InvalidAnswer: It is empty, or too long with its heading.
    """
    found = _text(answer, "description", "the answer")
    expect_size(f"{heading}\n{found}", size, most)
    return found


def read_report(answer: Mapping[str, Any], size: Size, most: int) -> WrittenReport:
    """A report; findings at its end are left out where it is too long.

    Raises:
        InvalidAnswer: It is none, or too long without any finding.
    """
    title = _name(answer, "title", "the answer")
    text = f"# {title}\n\n{_text(answer, 'summary', 'the answer')}"
    expect_size(text, size, most)
    findings = [
        f"## {_name(entry, 'summary', where)}\n\n{_text(entry, 'explanation', where)}"
        for where, entry in _entries(answer, "findings", "summary", "explanation")
    ]
    for place, finding in enumerate(findings):
        longer = f"{text}\n\n{finding}"
        if size(longer) > most:
            return WrittenReport(title, text, len(findings) - place)
        text = longer
    return WrittenReport(title, text)


def read_points(answer: Mapping[str, Any], size: Size, most: int) -> tuple[Point, ...]:
    """The points that are found in some reports; there may be none.

    Raises:
        InvalidAnswer: It is none, or a point is too long.
    """
    points = tuple(
        Point(_text(entry, "point", where), _whole(entry, "score", where, SCORES))
        for where, entry in _entries(answer, "points", "point", "score")
    )
    for one in points:
        expect_size(one.text, size, most)
    return points


def read_final(answer: Mapping[str, Any]) -> str:
    """The final answer.

    Raises:
        InvalidAnswer: It is empty.
    """
    return _text(answer, "answer", "the answer")


def expect_size(text: str, size: Size, most: int) -> None:
    """See that a text is not too long to be read by the next step.

    Raises:
        InvalidAnswer: It is.
    """
    if (found := size(text)) > most:
        start = " ".join(text[:60].split())
        raise InvalidAnswer(f"{start!r}… has {found:,} tokens, more than {most:,}")


def _entries(
    answer: Mapping[str, Any], key: str, *keys: str
) -> list[tuple[str, Mapping[str, Any]]]:
    """The objects of a list, each with its place for messages."""
    value = answer[key]
    if not isinstance(value, list):
        raise InvalidAnswer(f"`{key}` is not a list")
    found: list[tuple[str, Mapping[str, Any]]] = []
    for number, entry in enumerate(value, start=1):
        where = f"number {number} of `{key}`"
        if not isinstance(entry, dict):
            raise InvalidAnswer(f"{where} is no object")
        expect_keys(entry, *keys)
        found.append((where, entry))
    return found


def _text(entry: Mapping[str, Any], key: str, where: str) -> str:
    text = text_of(entry, key)
    if text is None:
        raise InvalidAnswer(f"`{key}` of {where} is empty")
    return text


def _name(entry: Mapping[str, Any], key: str, where: str) -> str:
    return " ".join(_text(entry, key, where).split())


def _whole(entry: Mapping[str, Any], key: str, where: str, of: range) -> int:
    number = as_number(entry[key])
    if number is None or number not in of:
        raise InvalidAnswer(f"`{key}` of {where} is no whole number from {of[0]} to {of[-1]}")
    return number
