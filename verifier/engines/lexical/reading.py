"""The words, values, names and denials that the lexical engine reads in a text.

Source: VeriTrail gives no lexical method; this is ours, and indicative only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.values.characters import unaccented
from veritrail_graph.verifier.values.matter import comparable
from veritrail_graph.verifier.values.model import Value, ValueKind
from veritrail_graph.verifier.values.reading import Placed, Text, text_of, text_read
from veritrail_graph.verifier.values.tokens import NOTHING, Token, TokenKind

_DASHES = frozenset(("-", "--", "\u2013", "\u2014"))
_ENDS = frozenset('.,;:!?()\u2013\u2014\u201c"\u3002\uff0c\uff1b')


@dataclass(frozen=True, slots=True)
class Number:
    """A figure, date or time of a text.

    Attributes:
        value: The value.
        surface: As it is written.
        light: Whether it stands in a [bracketed] clarification, or in round brackets as a year.
        is_cited: Whether it is a year alone in round brackets, mostly that of a citation: it
            bears no year that a text states, and denies none.
    """

    value: Value
    surface: str
    light: bool = False
    is_cited: bool = False

    def agrees_with(self, other: Number) -> bool:
        """Return whether a sentence with the other number says this one; 5:10 may say 17:10."""
        if self.value.kind is ValueKind.TIME:
            return self.value.may_be(other.value)
        return self.value.agrees(other.value) and (
            self.value.kind is not ValueKind.FIGURE
            or self.value.unit != ""
            or not (self.value.nouns and other.value.nouns)
            or comparable(self.value, other.value)
        )

    def excludes(self, other: Number) -> bool:
        """Return whether both answer the same question (how many boats, which year) differently."""
        if self.value.kind is ValueKind.FIGURE and not self.value.unit and not self.value.nouns:
            return False
        return comparable(self.value, other.value) and self.value.excludes(other.value)


_CLAUSE_WORDS = frozenset(("but", "although", "though", "because", "while", "whereas", "and"))
_SCOPE = 3
_NO_KEYS: frozenset[str] = frozenset()
_NO_SIDES: frozenset[tuple[str, str, int]] = frozenset()
_CACHED_TEXTS = 16_384
_LONGEST_CACHED = 2_000


@dataclass(frozen=True, slots=True)
class Word:
    """A content word: its key, its form, and whether it stands in [brackets] or weighs little."""

    key: str
    surface: str
    light: bool = False


_word = lru_cache(maxsize=_CACHED_TEXTS)(Word)


@dataclass(frozen=True, slots=True)
class Name:
    """A name: the keys of its parts; the last part may stand for the whole."""

    parts: tuple[str, ...]
    surface: str
    light: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as the engine compares it.

    Attributes:
        keys: Keys of all content words and parts of names.
        words: The content words that are no part of a name, in order, each once.
        names: The names, in order, each once.
        numbers: The numbers, in order.
        subject: Key of the content word that the text opens with, if it opens with one.
        denied: Keys within reach of a negation.
        denied_first: The first key within reach of each negation.
        asserted: Keys that occur out of reach of any negation.
        sides: Opposites that it takes a side in: (pair, what it is about, side).
        refers_back: Whether a pronoun may stand for a name of an earlier sentence.
    """

    keys: frozenset[str]
    words: tuple[Word, ...]
    names: tuple[Name, ...]
    numbers: tuple[Number, ...]
    subject: str | None
    denied: frozenset[str]
    denied_first: frozenset[str]
    asserted: frozenset[str]
    sides: frozenset[tuple[str, str, int]]
    refers_back: bool


def read(text: str) -> Reading:
    """Read a text. Readings of texts of usual length are remembered."""
    return _remembered(text) if len(text) <= _LONGEST_CACHED else _Reader(text_of(text)).reading()


@lru_cache(maxsize=_CACHED_TEXTS)
def _remembered(text: str) -> Reading:
    return _Reader(text_of(text)).reading()


def read_once(text: str) -> Reading:
    """Read a text of many, of which hardly any is read again: it is not remembered."""
    return _Reader(text_read(text)).reading()


class _Reader:
    """Reads one text from left to right, token by token."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._starts = {placed.first: placed for placed in self._text.placed}
        self._words: dict[str, Word] = {}
        self._names: dict[tuple[str, ...], Name] = {}
        self._numbers: list[Number] = []
        self._keys: set[str] = set()
        self._denied: set[str] = set()
        self._denied_first: set[str] = set()
        self._asserted: set[str] = set()
        self._sides: set[tuple[str, str, int]] = set()
        self._ordering: tuple[str, int] | None = None
        self._subject: str | None = None
        self._reach = 0  # content words that the last negation still denies
        self._brackets = 0
        self._opening = True
        self._refers_back = False

    def reading(self) -> Reading:
        found = self._text.tokens
        position = 0
        while position < len(found):
            token, placed = found[position], self._starts.get(position)
            if placed is not None and placed.value.kind is not ValueKind.NAME:
                position = self._number(placed)
            elif placed is not None:
                position = self._name(placed)
            elif token.kind is TokenKind.MARK:
                self._mark(position)
                position += 1
            elif token.kind is TokenKind.SIGN:
                position = self._sign(position)
            else:
                self._word(position)
                position += 1
        keys = frozenset(self._keys)
        # Thousands of readings are remembered: in most all keys are asserted, and none denied.
        asserted = keys if len(self._asserted) == len(keys) else frozenset(self._asserted)
        return Reading(
            keys,
            tuple(self._words.values()),
            tuple(self._names.values()),
            tuple(self._numbers),
            self._subject,
            frozenset(self._denied) if self._denied else _NO_KEYS,
            frozenset(self._denied_first) if self._denied_first else _NO_KEYS,
            asserted,
            frozenset(self._sides) if self._sides else _NO_SIDES,
            self._refers_back,
        )

    def _token(self, position: int) -> Token:
        found = self._text.tokens
        return found[position] if 0 <= position < len(found) else NOTHING

    def _mark(self, position: int) -> None:
        mark = self._token(position).form
        if mark == "[":
            self._brackets += 1
        elif mark == "]":
            self._brackets = max(0, self._brackets - 1)
        elif mark in _DASHES:
            # A hyphen inside a word ends nothing.
            if self._token(position - 1).end < self._token(position).start:
                self._reach = 0
        elif mark in _ENDS:
            self._reach = 0

    def _number(self, placed: Placed) -> int:
        before, behind = self._token(placed.first - 1), self._token(placed.behind)
        is_year = placed.value.kind is ValueKind.DATE and placed.behind - placed.first == 1
        is_cited = is_year and before.form == "(" and behind.form == ")"
        if is_cited and self._is_behind_a_name(placed.first - 1):
            return placed.behind  # Smith (2020), Smith et al. (2020)
        self._take_ordering(f"#{placed.value.canonical}")
        light = self._brackets > 0 or is_cited
        self._numbers.append(Number(placed.value, placed.value.surface, light, is_cited))
        self._opening = False
        return placed.behind

    def _is_behind_a_name(self, position: int) -> bool:
        if self._token(position - 1).form == ".":
            position -= 1
        before = self._token(position - 1)
        return before.lower == "al" or before.form[:1].isupper()

    def _sign(self, position: int) -> int:
        """Take a run of signs of an unspaced script as its pairs."""
        behind = position + 1
        while self._token(behind).kind is TokenKind.SIGN and behind not in self._starts:
            behind += 1
        forms = [self._token(place).form for place in range(position, behind)]
        pairs = [a + b for a, b in pairwise(forms)] or forms
        for pair in pairs:
            self._words.setdefault(pair, Word(pair, pair, self._brackets > 0))
            self._touch(pair)
        self._opening = False
        return behind

    def _word(self, position: int) -> None:
        token = self._token(position)
        lower = token.lower
        if lower in words.NEGATIONS or lower.endswith("n't"):
            if lower in words.NEGATIONS - words.NEGATION_STOPS:
                self._content(position)
            self._negate(position)
            return
        if lower in words.UNIVERSAL:
            self._universal(position)
            return
        if lower in words.PRONOUNS:
            self._refers_back = True
        if lower in words.ORDERINGS:
            self._ordering = words.ORDERINGS[lower]
        elif lower in words.STOP:
            if lower in _CLAUSE_WORDS:
                self._reach = 0
        elif len(lower) > 1 or token.form.isupper() or not lower.isascii():
            self._content(position)
            return
        self._opening = False

    def _universal(self, position: int) -> None:
        if self._token(position - 1).lower not in words.NOT_UNIVERSAL_AFTER:
            word = Word(words.UNIVERSAL_KEY, self._token(position).form, self._brackets > 0)
            self._words.setdefault(word.key, word)
            self._touch(word.key)

    def _negate(self, position: int) -> None:
        if self._token(position + 1).lower != "only":  # "not only": said as well, not denied
            # "not without" takes back what it says.
            self._reach = 0 if self._reach == _SCOPE else _SCOPE
        self._opening = False

    def _content(self, position: int) -> None:
        token = self._token(position)
        lower = token.lower
        word_key = words.key(lower)
        light = self._brackets > 0 or lower in words.LIGHT
        known = self._words.get(word_key)
        if known is None or (known.light and not light):
            self._words[word_key] = _word(word_key, token.form, light)
        if self._opening and token.form[0].isupper() and not light:
            self._subject = None if lower.endswith(("ly", "ing")) else word_key
        denies = self._reach == _SCOPE
        self._touch(word_key)
        if denies and words.is_adverb(lower):
            self._reach = _SCOPE  # "not immediately lapse" denies "lapse" as well
        self._opening = False

    def _touch(self, word_key: str) -> None:
        """Note a key with what stands before it: a negation, an ordering."""
        self._keys.add(word_key)
        denied = self._reach > 0
        if denied:
            self._denied.add(word_key)
            if self._reach == _SCOPE:
                self._denied_first.add(word_key)
            self._reach -= 1
        else:
            self._asserted.add(word_key)
        for pair, side in words.opposites().get(word_key, ()):
            self._sides.add((pair, "", -side if denied else side))
        self._take_ordering(word_key)

    def _take_ordering(self, about: str) -> None:
        if self._ordering is not None:
            self._sides.add((self._ordering[0], about, self._ordering[1]))
            self._ordering = None

    def _name(self, placed: Placed) -> int:
        found = self._text.tokens[placed.first : placed.behind]
        parts = tuple(
            words.key(unaccented(token.lower))
            for token in found
            if token.kind is TokenKind.WORD and token.lower not in words.NAME_LINKS
        )
        if not parts:
            return placed.behind
        surface = placed.value.surface.removesuffix("'s").removesuffix("\u2019s")
        if parts not in self._names:
            self._names[parts] = Name(parts, surface, self._brackets > 0)
        reach = self._reach
        for part in parts:
            self._touch(part)
        # A name inside a denial is not what is denied.
        self._reach = reach
        self._denied -= set(parts)
        self._denied_first -= set(parts)
        self._opening = False
        return placed.behind
