"""What the lexical engine reads out of a text: words, numbers, names, denials.

Source: VeriTrail gives no lexical method; this is ours, and indicative only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from veritrail_graph.verifier.engines.lexical import vocabulary as words
from veritrail_graph.verifier.engines.lexical.numbers import Found, Number, number_at
from veritrail_graph.verifier.engines.lexical.tokens import Tokens

_NAME_LINKS = frozenset(("of", "de", "van", "von", "der", "du", "la", "le", "the"))
_CLAUSE_WORDS = frozenset(("but", "although", "though", "because", "while", "whereas", "and"))
_SCOPE = 3
_CACHED_TEXTS = 65_536
_LONGEST_CACHED = 2_000


@dataclass(frozen=True, slots=True)
class Word:
    """A content word: its key, its form, and whether it stands in [brackets] or weighs little."""

    key: str
    surface: str
    light: bool = False


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
    return _remembered(text) if len(text) <= _LONGEST_CACHED else _Reader(text).reading()


@lru_cache(maxsize=_CACHED_TEXTS)
def _remembered(text: str) -> Reading:
    return _Reader(text).reading()


class _Reader:
    """Reads one text from left to right, token by token."""

    def __init__(self, text: str) -> None:
        self._tokens = Tokens(text)
        self._words: dict[str, Word] = {}
        self._names: dict[tuple[str, ...], Name] = {}
        self._numbers: list[Number] = []
        self._open_numbers: list[int] = []
        self._keys: set[str] = set()
        self._denied: set[str] = set()
        self._denied_first: set[str] = set()
        self._asserted: set[str] = set()
        self._sides: set[tuple[str, str, int]] = set()
        self._ordering: tuple[str, int] | None = None
        self._subject: str | None = None
        self._reach = 0  # content words that the last negation still denies
        self._brackets = 0
        self._starts = True
        self._opening = True
        self._refers_back = False

    def reading(self) -> Reading:
        position = 0
        while position < len(self._tokens):
            if self._tokens.kind(position) == "mark":
                self._mark(self._tokens.form(position))
                position += 1
            elif (number := number_at(self._tokens, position)) is not None:
                self._number(number, position)
                position = number.behind
            else:
                position = self._word(position)
        return Reading(
            frozenset(self._keys),
            tuple(self._words.values()),
            tuple(self._names.values()),
            tuple(self._numbers),
            self._subject,
            frozenset(self._denied),
            frozenset(self._denied_first),
            frozenset(self._asserted),
            frozenset(self._sides),
            self._refers_back,
        )

    def _mark(self, mark: str) -> None:
        if mark == "[":
            self._brackets += 1
        elif mark == "]":
            self._brackets = max(0, self._brackets - 1)
        else:
            self._reach = 0
            self._open_numbers.clear()
            self._starts = self._starts or mark in '.!?:\u201c"'

    def _number(self, found: Found, position: int) -> None:
        before = {self._tokens.lower(position - 1), self._tokens.lower(position - 2)}
        self._open_numbers.append(len(self._numbers))
        self._take_ordering(f"#{found.value}")
        self._numbers.append(
            Number(
                found.value,
                found.kind,
                "",
                self._tokens.surface(position, found.behind),
                bool(before & words.APPROXIMATE),
                self._brackets > 0,
            )
        )
        self._starts = self._opening = False

    def _word(self, position: int) -> int:
        lower = self._tokens.lower(position)
        if lower in words.NEGATIONS or lower.endswith("n't"):
            if lower in words.NEGATIONS - words.NEGATION_STOPS:
                self._content(position)
            self._negate(position)
            return position + 1
        if self._is_name_part(position):
            return self._name(position)
        if lower in words.UNIVERSAL:
            return self._universal(position)
        if lower in words.PRONOUNS:
            self._refers_back = True
        if lower in words.ORDERINGS:
            self._ordering = words.ORDERINGS[lower]
        elif lower in words.STOP:
            if lower in _CLAUSE_WORDS:
                self._reach = 0
        elif len(lower) > 1 or self._tokens.form(position).isupper() or not lower.isascii():
            self._content(position)
            return position + 1
        self._starts = self._opening = False
        return position + 1

    def _universal(self, position: int) -> int:
        if self._tokens.lower(position - 1) not in words.NOT_UNIVERSAL_AFTER:
            word = Word(words.UNIVERSAL_KEY, self._tokens.form(position), self._brackets > 0)
            self._words.setdefault(word.key, word)
            self._touch(word.key)
        self._starts = False
        return position + 1

    def _negate(self, position: int) -> None:
        if self._tokens.lower(position + 1) != "only":  # "not only": said as well, not denied
            # "not without" takes back what it says.
            self._reach = 0 if self._reach == _SCOPE else _SCOPE
        self._starts = self._opening = False

    def _content(self, position: int) -> None:
        lower = self._tokens.lower(position)
        word_key = words.key(lower)
        light = self._brackets > 0 or lower in words.LIGHT
        known = self._words.get(word_key)
        if known is None or (known.light and not light):
            self._words[word_key] = Word(word_key, self._tokens.form(position), light)
        if self._opening and self._tokens.form(position)[0].isupper() and not light:
            self._subject = None if lower.endswith(("ly", "ing")) else word_key
        self._touch(word_key)
        self._starts = self._opening = False

    def _touch(self, word_key: str) -> None:
        """Note a key with what stands before it: negation, ordering, numbers."""
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
        for index in self._open_numbers:
            self._numbers[index] = replace(self._numbers[index], noun=word_key)
        self._open_numbers.clear()

    def _take_ordering(self, about: str) -> None:
        if self._ordering is not None:
            self._sides.add((self._ordering[0], about, self._ordering[1]))
            self._ordering = None

    def _is_name_part(self, position: int) -> bool:
        """Whether a capital means a name: not at the start, unless more of the name follows."""
        if not self._tokens.is_capitalised(position):
            return False
        token = self._tokens.form(position)
        if not self._starts or (len(token) > 1 and token[:2].isupper()):
            return True
        return self._tokens.is_capitalised(position + 1) and self._tokens.adjacent(position)

    def _name(self, position: int) -> int:
        self._starts = False
        behind = position + 1
        while self._tokens.adjacent(behind - 1):
            if self._is_name_part(behind):
                behind += 1
            elif (
                self._tokens.lower(behind) in _NAME_LINKS
                and self._tokens.adjacent(behind)
                and self._is_name_part(behind + 1)
            ):
                behind += 2
            elif self._tokens.hyphenated(behind - 1):
                behind += 1  # Co-operative
            else:
                break
        forms = [self._tokens.lower(at) for at in range(position, behind)]
        parts = tuple(words.key(form) for form in forms if form not in _NAME_LINKS)
        surface = self._tokens.surface(position, behind)
        surface = surface.removesuffix("'s").removesuffix("\u2019s")
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
        return behind
