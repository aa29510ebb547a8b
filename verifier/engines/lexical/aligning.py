"""A claim beside one sentence, word by word: what of it the sentence says, in order, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.values.characters import unaccented
from veritrail_graph.verifier.values.model import Value, ValueKind
from veritrail_graph.verifier.values.numbers import at
from veritrail_graph.verifier.values.reading import Placed, Text, text_of
from veritrail_graph.verifier.values.tokens import Token, TokenKind

_CACHED_TEXTS = 4_096
_LONGEST_CACHED = 2_000
CITED = "cited"
"""The key of a year alone in round brackets, mostly that of a citation: it states no year."""
MOST_ITEMS = 300
"""A sentence with more is none, and is not compared word by word."""


class ItemKind(StrEnum):
    """The kind of an item of a sentence."""

    WORD = "word"
    NAME = "name"
    VALUE = "value"
    SMALL = "small"
    DENIAL = "denial"
    SIGN = "sign"


@dataclass(frozen=True, slots=True)
class Item:
    """A word that says something, a part of a name, a value, or a denial.

    Attributes:
        kind: What it is.
        key: What stands for it in comparisons.
        surface: As it is written.
        first: Position of its first token.
        behind: Position behind its last one.
        value: The figure, date or time that it is, or the name that it is a part of.
    """

    kind: ItemKind
    key: str
    surface: str
    first: int
    behind: int
    value: Value | None = None


@dataclass(frozen=True, slots=True)
class Sequenced:
    """A text as its items, in order.

    Attributes:
        text: Its tokens and values.
        items: Its items.
        doubts: Words by which a sentence says something not as a fact: if, may, plans, nearly.
        refers_back: Whether a pronoun may stand for a name of an earlier sentence.
        asks: Whether it is a question.
    """

    text: Text
    items: tuple[Item, ...]
    doubts: frozenset[str]
    refers_back: bool
    asks: bool


def sequenced(text: str) -> Sequenced:
    """Return a text as its items. Texts of usual length are remembered."""
    return _remembered(text) if len(text) <= _LONGEST_CACHED else _sequenced(text)


@lru_cache(maxsize=_CACHED_TEXTS)
def _remembered(text: str) -> Sequenced:
    return _sequenced(text)


def _sequenced(text: str) -> Sequenced:
    reading = text_of(text)
    found = reading.tokens
    starts = {placed.first: placed for placed in reading.placed}
    skipped = _bracketed(found)
    items: list[Item] = []
    doubts: set[str] = set()
    refers_back = False
    name: Value | None = None
    name_behind = 0
    position = 0
    while position < len(found):
        token, placed = found[position], starts.get(position)
        behind = position + 1
        if position in skipped:
            position += 1
            continue
        if placed is not None and placed.value.kind is ValueKind.NAME:
            name, name_behind = placed.value, placed.behind
        elif placed is not None:
            behind = placed.behind
            item = _value_item(reading, placed)
            if item is not None:
                items.append(item)
            position = behind
            continue
        lower = token.lower
        refers_back = refers_back or lower in words.PRONOUNS
        if lower in words.DOUBTS:
            doubts.add(words.DOUBTS[lower])
        kind_and_key = _kind_and_key(reading, position, is_name=position < name_behind)
        if kind_and_key is not None:
            kind, key = kind_and_key
            value = name if kind is ItemKind.NAME else None
            items.append(Item(kind, key, token.form, position, behind, value))
        position = behind
    asks = bool(found) and any(token.form in ("?", "\uff1f") for token in found[-2:])
    return Sequenced(reading, tuple(items), frozenset(doubts), refers_back, asks)


def _bracketed(found: Sequence[Token]) -> frozenset[int]:
    """The positions inside of [brackets], in which claims are clarified."""
    inside: set[int] = set()
    opened = -1
    for position, token in enumerate(found):
        if token.form == "[" and opened < 0:
            opened = position
        elif token.form == "]" and opened >= 0:
            inside.update(range(opened, position + 1))
            opened = -1
    return frozenset(inside)


def _value_item(text: Text, placed: Placed) -> Item | None:
    """The item of a figure, date or time; None for the year of a citation, Smith (2020)."""
    value = placed.value
    before, behind = at(text.tokens, placed.first - 1), at(text.tokens, placed.behind)
    is_cited = value.kind is ValueKind.DATE and before.form == "(" and behind.form == ")"
    if is_cited and at(text.tokens, placed.first - 2).form[:1].isupper():
        return None
    key = CITED if is_cited else str(value.kind)
    return Item(ItemKind.VALUE, key, value.surface, placed.first, placed.behind, value)


def _kind_and_key(text: Text, position: int, *, is_name: bool) -> tuple[ItemKind, str] | None:
    token = text.tokens[position]
    lower = token.lower
    if token.kind is TokenKind.SIGN:
        return ItemKind.SIGN, token.form
    if token.kind is TokenKind.MARK:
        return None
    if lower in words.DENIALS or lower.endswith("n't"):
        said = lower == "not" and at(text.tokens, position + 1).lower == "only"
        return None if said else (ItemKind.DENIAL, "not")
    if is_name:
        key = words.stem(unaccented(lower))
        return None if lower in words.NAME_LINKS else (ItemKind.NAME, key)
    if lower in words.SMALL_WORDS:
        if lower == "only" and at(text.tokens, position - 1).lower == "not":
            return None
        universal = words.SMALL_WORDS[lower] == words.SMALL_WORDS["all"]
        if universal and at(text.tokens, position - 1).lower in words.NOT_UNIVERSAL_AFTER:
            return None
        return ItemKind.SMALL, words.SMALL_WORDS[lower]
    if lower in words.STOP or lower in words.TITLES or words.is_plain_adverb(lower):
        return None
    return ItemKind.WORD, words.key(lower)


@dataclass(frozen=True, slots=True)
class Alignment:
    """A claim beside a sentence.

    Attributes:
        claim: The claim.
        sentence: The sentence.
        places: For each item of the claim, that of the sentence which says it, or -1.
        moved: Items of the claim whose place is out of order.
    """

    claim: Sequenced
    sentence: Sequenced
    places: tuple[int, ...]
    moved: frozenset[int]

    @property
    def missing(self) -> tuple[int, ...]:
        """The items of the claim that the sentence does not say."""
        return tuple(number for number, place in enumerate(self.places) if place < 0)

    @property
    def taken(self) -> frozenset[int]:
        """The items of the sentence that say one of the claim."""
        return frozenset(place for place in self.places if place >= 0)


def says(mine: Item, its: Item) -> bool:
    """Return whether an item of a sentence says one of a claim."""
    if mine.kind is ItemKind.VALUE or its.kind is ItemKind.VALUE:
        return (
            mine.value is not None
            and its.value is not None
            and mine.kind is its.kind
            and its.key != CITED
            and mine.value.agrees(its.value)
        )
    if mine.key != its.key:
        if mine.kind is its.kind is ItemKind.NAME and mine.value and its.value:
            return mine.surface.isupper() != its.surface.isupper() and (
                mine.value.agrees(its.value) and its.value.agrees(mine.value)
            )
        named = (ItemKind.NAME, ItemKind.WORD)
        return (
            mine.kind in named
            and its.kind in named
            and mine.kind is not its.kind
            and words.key(mine.surface.casefold()) == words.key(its.surface.casefold())
        )
    return True


def aligned(claim: Sequenced, sentence: Sequenced) -> Alignment:
    """Return the claim beside the sentence: as much of it in order as there is, then the rest."""
    mine, its = claim.items, sentence.items
    if len(mine) > MOST_ITEMS or len(its) > MOST_ITEMS:
        return Alignment(claim, sentence, (-1,) * len(mine), frozenset())
    alike = [[says(a, b) for b in its] for a in mine]
    places = _in_order(alike, len(mine), len(its))
    taken = {place for place in places if place >= 0}
    moved: set[int] = set()
    for number, place in enumerate(places):
        if place < 0:
            other = next(
                (at for at, same in enumerate(alike[number]) if same and at not in taken), -1
            )
            if other >= 0:
                places[number] = other
                taken.add(other)
                moved.add(number)
    _take_names(mine, its, places)
    return Alignment(claim, sentence, tuple(places), frozenset(moved))


def _take_names(mine: Sequence[Item], its: Sequence[Item], places: list[int]) -> None:
    """Let the last part of a name stand for the whole: Abara for John Abara."""
    held: dict[int, int] = {}
    for number, place in enumerate(places):
        value = mine[number].value
        if place < 0 or value is None or mine[number].kind is not ItemKind.NAME:
            continue
        other = its[place]
        is_last = mine[number].surface.casefold() == value.canonical.split()[-1]
        opens = other.kind is ItemKind.WORD and other.surface[0].isupper() and is_last
        if opens or (other.value is not None and value.agrees(other.value)):
            held[id(value)] = place
    for number, place in enumerate(places):
        if place < 0 and mine[number].kind is ItemKind.NAME:
            places[number] = held.get(id(mine[number].value), -1)


def _in_order(alike: Sequence[Sequence[bool]], mine: int, its: int) -> list[int]:
    """The longest common order; of several the one with the most neighbours together."""
    # best[i][j]: of the first i items and the first j, the count and the neighbours kept.
    best = [[0.0] * (its + 1) for _ in range(mine + 1)]
    for i in range(1, mine + 1):
        row, above, same = best[i], best[i - 1], alike[i - 1]
        for j in range(1, its + 1):
            score = above[j] if above[j] >= row[j - 1] else row[j - 1]
            if same[j - 1]:
                together = 0.01 if i > 1 and j > 1 and alike[i - 2][j - 2] else 0.0
                score = max(score, above[j - 1] + 1 + together)
            row[j] = score
    places = [-1] * mine
    i, j = mine, its
    while i and j:
        if best[i][j] == best[i][j - 1]:
            j -= 1
        elif best[i][j] == best[i - 1][j]:
            i -= 1
        else:
            i, j = i - 1, j - 1
            places[i] = j
    return places
