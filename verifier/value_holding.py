"""A check that a sentence has a value at all, whatever it speaks of and however it is written.

What a sentence is about is told by words, and words may fail: a row of a table, "they", another
word for the same. That a figure stands nowhere in a text is certain.

Source: ours (docs/adr/0050-value-leads-to-the-culprit.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.value_signs import figures_in, shared_at_most, signs_of
from veritrail_graph.verifier.values import Value, ValueKind, values
from veritrail_graph.verifier.values.characters import plain, unaccented
from veritrail_graph.verifier.values.model import NUMERIC
from veritrail_graph.verifier.values.reading import text_of
from veritrail_graph.verifier.values.tokens import Token, TokenKind

_MANY_SCALES = frozenset(("s", "day", "month"))
"""Units whose sizes are no powers of ten, so that one amount has many digits."""
_LONG = 4
"""Signs of a figure that is the same one whatever stands behind it: 130,000 guests."""


_REMEMBERED = 4_096
"""Texts whose names are kept."""


@dataclass(frozen=True, slots=True)
class _Names:
    """The words of a text that may be a name or a part of one.

    Attributes:
        values: Its names.
        capitals: The first place of each word that begins with a capital, by its lower-case form
            without accents.
    """

    values: tuple[Value, ...]
    capitals: Mapping[str, Token]


@lru_cache(maxsize=_REMEMBERED)
def _names_of(text: str) -> _Names:
    capitals: dict[str, Token] = {}
    for token in text_of(text).tokens:
        if token.kind is TokenKind.WORD and token.form[0].isupper():
            capitals.setdefault(unaccented(token.lower), token)
    return _Names(tuple(one for one in values(text) if one.kind is ValueKind.NAME), capitals)


@dataclass(frozen=True)
class Wanted:
    """A value that is looked for in texts.

    Attributes:
        value: The value.
    """

    value: Value

    def within(self, text: str) -> Value | None:
        """Return the value as a text has it, on any matter; None where it stands nowhere in it."""
        kind = self.value.kind
        if kind is ValueKind.QUOTATION:
            return self._quoted(text)
        if kind is ValueKind.NAME:
            return self._named(text)
        if not self.may_stand_in(text):
            return None
        return next((one for one in figures_in(text) if self._is(one)), None)

    @cached_property
    def _amounts(self) -> frozenset[str]:
        value = self.value
        return frozenset(one.lstrip("<>=~").lstrip("-") for one in (value.canonical, *value.also))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Digits that a text has wherever it has the figure in digits, in any power of ten."""
        cores = {re.sub(r"\D", "", one).strip("0") for one in self._amounts}
        if "" in cores or self.value.unit in _MANY_SCALES or self.value.kind not in NUMERIC:
            return re.compile(r"\d")
        return re.compile("|".join(r"[.,' \u00a0\u202f]?".join(one) for one in sorted(cores)))

    def may_stand_in(self, text: str) -> bool:
        """Return whether a figure, a date or a time may stand in a text."""
        signs = signs_of(text)
        return signs.may_spell or self._pattern.search(signs.plain) is not None

    def _is(self, other: Value) -> bool:
        value = self.value
        if value.agrees(other) or (value.kind is ValueKind.TIME and value.may_be(other)):
            return True
        if value.kind in NUMERIC:
            return other.kind in NUMERIC and self._is_figure(other)
        is_bare = other.kind is ValueKind.FIGURE and other.unit in ("", "ordinal")
        if value.kind is ValueKind.DATE:
            mine, its = value.canonical.split("-"), other.canonical.split("-")
            if other.kind is ValueKind.DATE:  # the same day of a year that is not named
                return len(mine) > 2 and mine[-2:] == its[-2:]
            return is_bare and other.amount in (mine[0], mine[-1].lstrip("0"))
        hours = {str(int(one.split(":")[0]) % 12) for one in _clocks(value)}
        is_hour = is_bare and other.amount.isdecimal() and len(other.amount) < 3
        return is_hour and str(int(other.amount) % 12) in hours

    def _is_figure(self, other: Value) -> bool:
        """Return whether another figure has the amount, and no other unit."""
        value = self.value
        its = {one.lstrip("<>=~").lstrip("-") for one in (other.canonical, *other.also)}
        if self._amounts.isdisjoint(its) and not other.agrees(value):
            return False
        if value.unit == other.unit and value.kind is other.kind:
            return True
        bare, full = (value, other) if _is_bare(value) else (other, value)
        if not _is_bare(bare) or _is_bare(full):
            return _is_bare(bare)
        return not bare.nouns or len(full.amount) >= _LONG

    def _quoted(self, text: str) -> Value | None:
        """Return what was said, also without quotation marks and in another order of its words."""
        mine = set(self.value.canonical.split()) - words.STOP
        keys = {words.key(one) for one in mine if one.isascii() and one.isalpha()}
        if shared_at_most(keys, text) < len(keys):
            return None
        found = text_of(text).tokens
        there = [token for token in found if token.lower in mine]
        if not mine or not mine <= {token.lower for token in there}:
            return None
        return self._at(text, there[0].start, there[-1].end)

    def _named(self, text: str) -> Value | None:
        """The name, a longer or shorter one of the same, or its last part with a capital."""
        parts = self.value.canonical.split()
        initials = "".join(part[0] for part in parts)
        letters = signs_of(text).letters
        if not parts or not any(part in letters for part in (parts[-1], initials)):
            return None
        names = _names_of(text)
        for one in names.values:
            if self.value.agrees(one) or one.agrees(self.value):
                return one
        if (token := names.capitals.get(parts[-1])) is None:
            return None
        return self._at(text, token.start, token.end)

    def _at(self, text: str, start: int, end: int) -> Value:
        """The value at a place of the plain text."""
        _, places = plain(text)
        if places is not None:
            start, end = places[start], places[end - 1] + 1
        return replace(self.value, surface=text[start:end], start=start, end=end)


def _is_bare(value: Value) -> bool:
    return value.kind is ValueKind.FIGURE and value.unit in ("", "ordinal")


def _clocks(value: Value) -> Iterator[str]:
    return (one for one in (value.canonical, *value.also) if one[:1].isdigit())
