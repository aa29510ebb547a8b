"""Reads the values of a text, token by token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache

from veritrail_graph.graph.citations import CITATION
from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.values.characters import plain, unaccented
from veritrail_graph.verifier.values.model import NUMERIC, Value, ValueKind
from veritrail_graph.verifier.values.moments import IN_MOMENTS, STARTING_MOMENTS, moment_at
from veritrail_graph.verifier.values.names import name_end
from veritrail_graph.verifier.values.numbers import (
    IN_FIGURES,
    STARTING_FIGURES,
    Figure,
    at,
    figure_at,
    limit_of,
    times,
)
from veritrail_graph.verifier.values.tokens import Token, TokenKind, tokens

_CACHED_TEXTS = 16_384
_LONGEST_CACHED = 2_000
_LONG_TEXTS = 8
_NOUNS = 3
_OPENING = {
    "\u201c": "\u201d",
    '"': '"',
    "\u00ab": "\u00bb",
    "\u201e": "\u201c\u201d",
    "\u300c": "\u300d",
}
_JOINING = frozenset(("-", "\u2013", "\u2014", "to", "and", "or"))
STARTING = STARTING_MOMENTS | STARTING_FIGURES
"""The words that a value may start with, beside names."""
IN_VALUES = IN_MOMENTS | IN_FIGURES
"""The words that may be a part of a value, beside names."""
_LONGEST_QUOTATION = 60  # tokens
_NOUNS_END = words.word_set(
    """in on at by to for from with as is was were are be been and or but that who which
    when while than since until during before after into over under between has had have
    will would it he she they we i"""
)


@dataclass(frozen=True, slots=True)
class Placed:
    """A value at its tokens.

    Attributes:
        value: The value.
        first: Position of its first token.
        behind: Position behind its last one.
        factor: What the digits of a figure were multiplied by.
    """

    value: Value
    first: int
    behind: int
    factor: Decimal = Decimal(1)


@dataclass(frozen=True, slots=True)
class Text:
    """A text as its tokens, with the values in it.

    Attributes:
        plain: The text in plain characters, without citations.
        tokens: Its tokens.
        placed: Its figures, dates, times and names, in order; none overlaps another.
        quotations: What stands in quotation marks.
        keys: Sets of the keys of its words, as `content_keys` keeps them for a long text.
    """

    plain: str
    tokens: tuple[Token, ...]
    placed: tuple[Placed, ...]
    quotations: tuple[Value, ...]
    keys: dict[tuple[Placed, ...], frozenset[str]] = field(
        default_factory=dict, compare=False, repr=False
    )


def values(text: str) -> tuple[Value, ...]:
    """Return the values of a text in their order, quotations last."""
    reading = text_of(text)
    return (*(placed.value for placed in reading.placed), *reading.quotations)


def text_of(text: str) -> Text:
    """Return a text as tokens and values. Texts are remembered, of long ones the latest few."""
    return _remembered(text) if len(text) <= _LONGEST_CACHED else _lately_read(text)


@lru_cache(maxsize=_LONG_TEXTS)
def _lately_read(text: str) -> Text:
    # A long claim is compared with each sentence of its sources, once for each of its values.
    return text_read(text)


@lru_cache(maxsize=_CACHED_TEXTS)
def _remembered(text: str) -> Text:
    return text_read(text)


def without_citations(text: str) -> tuple[str, Sequence[int] | None]:
    """Return a text in plain characters, blanks for its citations, with the places of `plain`."""
    normal, places = plain(text)
    if "[" in normal or "(" in normal or "\u3010" in normal:
        normal = CITATION.sub(lambda match: " " * len(match.group()), normal)
    return normal, places


def text_read(text: str) -> Text:
    """Return a text as tokens and values, and remember nothing."""
    normal, places = without_citations(text)
    found = tokens(normal)
    placed: list[Placed] = []
    position = 0
    while position < len(found):
        token = found[position]
        if token.kind is TokenKind.MARK or (
            # Most words start no value, and there are many of them.
            token.kind is TokenKind.WORD
            and token.lower not in STARTING
            and not token.form[0].isupper()
        ):
            position += 1
            continue
        if (moment := moment_at(found, position)) is not None:
            draft = _Draft(moment.kind, moment.canonical, position, moment.behind, also=moment.also)
        elif (figure := figure_at(found, position)) is not None:
            draft = _figure(found, figure)
        elif (behind := name_end(found, position)) > position:
            parts = (unaccented(token.lower) for token in found[position:behind])
            name = " ".join(part for part in parts if part not in words.NAME_LINKS)
            name = name.replace("- ", "").strip(" -.&")
            draft = _Draft(ValueKind.NAME, name, position, behind)
        else:
            position += 1
            continue
        placed.append(draft.placed(text, found, places))
        position = max(draft.behind, position + 1)
    quotations = tuple(
        _Draft(ValueKind.QUOTATION, canonical, first, behind).placed(text, found, places).value
        for canonical, first, behind in _quotations(found)
    )
    return Text(normal, found, _with_shared_units(placed, found), quotations)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A value at its tokens, before it has its place in the text as given."""

    kind: ValueKind
    canonical: str
    first: int
    behind: int
    unit: str = ""
    nouns: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    factor: Decimal = Decimal(1)

    def placed(self, text: str, found: Sequence[Token], places: Sequence[int] | None) -> Placed:
        start, end = found[self.first].start, found[self.behind - 1].end
        if places is not None:
            start, end = places[start], places[end - 1] + 1
        value = Value(
            self.kind, self.canonical, self.unit, self.nouns, text[start:end], start, end, self.also
        )
        return Placed(value, self.first, self.behind, self.factor)


def _figure(found: Sequence[Token], figure: Figure) -> _Draft:
    limit, first, behind = limit_of(found, figure)
    if figure.unit == "ordinal":
        limit = ""
    if not limit or limit == "~":
        first, behind = figure.first, figure.behind
    nouns = () if figure.unit and figure.unit != "ordinal" else nouns_at(found, behind)
    also = tuple(limit + each for each in figure.also)
    return _Draft(
        figure.kind, limit + figure.amount, first, behind, figure.unit, nouns, also, figure.factor
    )


def nouns_at(found: Sequence[Token], position: int) -> tuple[str, ...]:
    """Return the keys of the content words right behind a figure."""
    nouns: list[str] = []
    for place in range(position, min(position + 6, len(found))):
        token = found[place]
        if token.kind is TokenKind.SIGN:
            nouns.append(token.form)
        elif token.kind is not TokenKind.WORD:
            if token.form != "-":
                break
        elif token.lower in _NOUNS_END:
            break
        elif token.lower not in words.STOP:
            nouns.append(words.key(token.lower))
        if len(nouns) == _NOUNS:
            break
    return tuple(nouns)


def _with_shared_units(placed: list[Placed], found: Sequence[Token]) -> tuple[Placed, ...]:
    """The values, with the unit of "5 to 6 kg" at both figures."""
    for number in range(len(placed) - 2, -1, -1):
        mine, its = placed[number], placed[number + 1]
        value, other = mine.value, its.value
        is_bare = value.kind is ValueKind.FIGURE and not (value.unit or value.nouns)
        if (
            is_bare
            and its.first - mine.behind == 1
            and found[mine.behind].lower in _JOINING
            and other.kind in NUMERIC
            and other.unit != "ordinal"
        ):
            factor = its.factor if mine.factor == 1 else Decimal(1)
            shared = replace(
                value,
                kind=other.kind,
                canonical=value.limit + times(value.amount, factor),
                unit=other.unit,
                nouns=other.nouns,
            )
            placed[number] = replace(mine, value=shared)
    return tuple(placed)


def _quotations(found: Sequence[Token]) -> Iterator[tuple[str, int, int]]:
    """Normal form and places of what stands in quotation marks, of two words and more."""
    position = 0
    while position < len(found):
        closing = _OPENING.get(found[position].form)
        if closing is None:
            position += 1
            continue
        last = min(position + _LONGEST_QUOTATION, len(found))
        end = next((at_ for at_ in range(position + 1, last) if found[at_].form in closing), -1)
        if end < 0:
            position += 1
            continue
        said = [
            token.lower for token in found[position + 1 : end] if token.kind is not TokenKind.MARK
        ]
        if len(said) > 1:
            yield " ".join(said), position + 1, end
        position = end + 1


__all__ = [
    "Placed",
    "Text",
    "at",
    "nouns_at",
    "text_of",
    "text_read",
    "values",
    "without_citations",
]
