"""The values of a claim, and what a sentence says of them: the same, another one, or nothing.

Values are figures with their units, dates, times, quotations and names. A sentence tells something
of them where it is about the matter of the claim and differs from it in one value at most: one that
has another year and another figure speaks of another case.

Source: ours (docs/adr/0050-value-leads-to-the-culprit.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from veritrail_graph.graph.model import Claim
from veritrail_graph.verifier.engines.lexical.judging import holds
from veritrail_graph.verifier.engines.lexical.reading import (
    Name,
    Number,
    NumberKind,
    Reading,
    read,
)

LEAST_ALIKE = 0.5
"""The share of the shorter one's words that a claim and a sentence about its matter share."""
LEAST_SHARED = 2
"""How many these are at least, but where all are shared."""
LEAST_NAMED_ALIKE = 0.6
"""The same share where a name is all that differs: words alone know no roles."""
LONGEST = 4_000
"""Characters of a sentence that are looked at."""
LONGEST_STEM = 4
LEAST_QUOTED = 2
"""Words of a quotation; fewer are a term."""


class Rank(IntEnum):
    """How sure a value of a kind leads to its culprit: the lowest counts first."""

    FIGURE = 0
    NAME = 1


@dataclass(frozen=True, slots=True)
class Date:
    """A day, or a month; None: the text does not say it."""

    year: int | None
    month: int
    day: int | None

    def agrees_with(self, other: Date) -> bool:
        """Whether both can be the same day."""
        mine, its = (self.year, self.month, self.day), (other.year, other.month, other.day)
        return all(a == b for a, b in zip(mine, its, strict=True) if None not in (a, b))


@dataclass(frozen=True, slots=True)
class Quotation:
    """The words of a quotation."""

    words: tuple[str, ...]

    def agrees_with(self, other: Quotation) -> bool:
        """Whether the one is the other, or a part of it."""
        short, long = sorted((self.words, other.words), key=len)
        places = range(len(long) - len(short) + 1)
        return any(long[at : at + len(short)] == short for at in places)


Content = Number | Date | Quotation | Name


@dataclass(frozen=True, slots=True)
class Value:
    """A value, and where it stands in its text.

    Attributes:
        content: What it says.
        start: Offset of its first character.
        end: Offset just behind its last character.
        text: As it is written.
        unit: What a figure counts or measures, in one form; empty: not known.
    """

    content: Content
    start: int
    end: int
    text: str
    unit: str = ""

    @property
    def rank(self) -> Rank:
        """How sure it leads to its culprit."""
        return Rank.NAME if isinstance(self.content, Name) else Rank.FIGURE

    def agrees_with(self, other: Value) -> bool:
        """Whether both are the same value."""
        mine, its = self.content, other.content
        if isinstance(mine, Date) and isinstance(its, Date):
            return mine.agrees_with(its)
        if isinstance(mine, Quotation) and isinstance(its, Quotation):
            return mine.agrees_with(its)
        if isinstance(mine, Number) and isinstance(its, Number):
            return mine.agrees_with(its)
        if isinstance(mine, Name) and isinstance(its, Name):
            return mine.parts == its.parts
        dated = _year_and_date(mine, its)
        return dated is not None and dated[0].value == str(dated[1].year)

    def excludes(self, other: Value) -> bool:
        """Whether both answer the same question (how many boats, which day) differently."""
        if self.agrees_with(other):
            return False
        mine, its = self.content, other.content
        if isinstance(mine, Number) and isinstance(its, Number):
            if self.unit and self.unit == other.unit:
                return mine.value != its.value
            return mine.kind is its.kind and mine.kind not in _MEASURED
        if type(mine) is type(its):
            return not isinstance(mine, Name)
        dated = _year_and_date(mine, its)
        return dated is not None and dated[1].year is not None


_MEASURED = frozenset((NumberKind.COUNT, NumberKind.MONEY))
"""Kinds of numbers that exclude each other only where they have the same unit."""


def _year_and_date(mine: Content, its: Content) -> tuple[Number, Date] | None:
    """A year and a date, whichever comes first; None: it is another pair."""
    for year, date in ((mine, its), (its, mine)):
        if isinstance(year, Number) and year.kind is NumberKind.YEAR and isinstance(date, Date):
            return year, date
    return None


_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
            "august aug", "september sept sep", "october oct", "november nov", "december dec",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE = re.compile(
    rf"\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\.?\s+(?:of\s+)?(?P<m1>{_MONTH})\b\.?,?(?:\s+(?P<y1>\d{{4}})\b)?"
    rf"|\b(?P<m2>{_MONTH})\b\.?\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s*[%:\d])(?:,?\s+(?P<y2>\d{{4}})\b)?"
    rf"|\b(?P<m3>{_MONTH})\b\.?,?\s+(?P<y3>\d{{4}})\b"
    r"|\b(?P<y4>\d{4})-(?P<m4>\d\d)-(?P<d4>\d\d)\b"
    r"|\b(?P<d5>\d{1,2})\.(?P<m5>\d{1,2})\.(?P<y5>\d{4})\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    '[\u201c\u201e\u00ab"]([^\u201c\u201d\u201e\u00ab\u00bb"]{3,600})[\u201d\u201c\u00bb"]'
)
_WORD = re.compile(r"\w+")
_SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\d.,]?\d)")
_CURRENCIES = {
    "€": "euro", "eur": "euro", "euro": "euro", "$": "dollar", "usd": "dollar",
    "dollar": "dollar", "£": "pound", "gbp": "pound", "pound": "pound", "¥": "yen", "yen": "yen",
    "chf": "franc", "franc": "franc",
}  # fmt: skip
_BEFORE = re.compile(r"(?P<code>[A-Z]{3}|[€$£¥])\s?$")


def values(text: str) -> tuple[Value, ...]:
    """The figures, dates, times and quotations of a text, in their order; names stand apart."""
    found: list[Value] = []
    plain = text
    for match in _DATE.finditer(text):
        if (date := _date(match)) is not None:
            found.append(_at(date, text, match.start(), match.end()))
            plain = _without(plain, match.start(), match.end())
    for match in _QUOTED.finditer(text):
        words = tuple(_WORD.findall(match[1].casefold()))
        if len(words) >= LEAST_QUOTED:
            found.append(_at(Quotation(words), text, match.start(1), match.end(1)))
            plain = _without(plain, match.start(1), match.end(1))
    # "130 000" is read as "130,000"; what is marked is the text as it is.
    plain = _SPACED.sub(lambda one: re.sub(r"\s", ",", one[0]), plain)
    here = 0
    for number in read(plain).numbers:
        if number.is_cited:
            continue
        at = re.compile(rf"(?<!\w){re.escape(number.surface)}").search(plain, here)
        if at is not None:
            here = at.end()
            start, end = at.span()
            found.append(Value(number, start, end, text[start:end], _unit(number, plain, start)))
    return tuple(sorted(found, key=lambda one: one.start))


def _at(content: Content, text: str, start: int, end: int) -> Value:
    while end > start and text[end - 1] in " ,.":
        end -= 1
    return Value(content, start, end, text[start:end])


def _without(text: str, start: int, end: int) -> str:
    """The text with blanks, so that offsets stay."""
    return text[:start] + " " * (end - start) + text[end:]


def _date(match: re.Match[str]) -> Date | None:
    parts = {key[0]: value for key, value in match.groupdict().items() if value is not None}
    month = _MONTHS.get(parts["m"].casefold()) or (int(parts["m"]) if parts["m"].isdigit() else 0)
    day = int(parts["d"]) if "d" in parts else None
    if not 1 <= month <= 12 or (day is not None and not 1 <= day <= 31):
        return None
    return Date(int(parts["y"]) if "y" in parts else None, month, day)


def _unit(number: Number, text: str, start: int) -> str:
    """What a figure measures: a currency in one form, else the word behind it."""
    if number.kind is NumberKind.MONEY:
        return _CURRENCIES.get(number.surface[0], "")
    if number.kind is not NumberKind.COUNT:
        return number.kind.value
    before = _BEFORE.search(text, max(0, start - 5), start)
    code = before["code"].casefold() if before is not None else ""
    return _CURRENCIES.get(code) or _CURRENCIES.get(number.noun, number.noun)


@dataclass(frozen=True, slots=True)
class Saying:
    """What a sentence says of a value of the claim.

    Attributes:
        value: The value of the sentence.
        likeness: How much its matter is that of the claim, from 0 to 1.
        agrees: Whether it is the claim's.
    """

    value: Value
    likeness: float
    agrees: bool


@dataclass(frozen=True, slots=True)
class _Heard:
    """A text as it is compared."""

    reading: Reading
    figures: tuple[Value, ...]
    names: tuple[Name, ...]
    matter: frozenset[str]

    @classmethod
    def of(cls, text: str) -> _Heard:
        reading, figures = read(text), values(text)
        names = tuple(name for name in reading.names if not _is_of_time(name))
        of_time = {part for name in reading.names if _is_of_time(name) for part in name.parts}
        matter = reading.keys - of_time
        measured = {one.content.noun for one in figures if isinstance(one.content, Number)}
        rest = matter - measured
        return cls(
            reading, figures, names, frozenset(rest if len(rest) >= LEAST_SHARED else matter)
        )

    def likeness(self, other: _Heard) -> float:
        """How much two texts share; 0: they are not about the same matter."""
        shared = len(self.matter & other.matter)
        least = min(len(self.matter), len(other.matter))
        alike = shared / least if least else 0.0
        is_all = shared == len(self.matter | other.matter) > 0
        return alike if is_all or (shared >= LEAST_SHARED and alike >= LEAST_ALIKE) else 0.0


def _is_of_time(name: Name) -> bool:
    return all(word in _MONTHS or word in _DAYS for word in _WORD.findall(name.surface.casefold()))


_DAYS = frozenset(["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"])


@dataclass(frozen=True, slots=True)
class Asked:
    """A claim whose values are looked for.

    Attributes:
        values: The values: figures first, then names.
    """

    values: tuple[Value, ...]
    _claim: _Heard
    _stems: frozenset[str]

    @classmethod
    def of(cls, claim: Claim) -> Asked:
        """What is looked for of a claim."""
        text = claim.text
        heard = _Heard.of(text)
        names = [_named(name, text) for name in heard.names if not name.light]
        stems = {word[:LONGEST_STEM] for word in _WORD.findall(text.casefold()) if len(word) > 2}
        return cls((*heard.figures, *names), heard, frozenset(stems))

    def heard(self, text: str, *, is_own: bool = False) -> Iterator[tuple[int, Saying]]:
        """What a sentence says of the values: the place of each in `values`, and what it says.

        Args:
            text: The sentence.
            is_own: Whether the claim is known to be made of it, so that it is about its matter.
        """
        text = text[:LONGEST]
        lowered = text.casefold()
        if not any(stem in lowered for stem in self._stems):
            return
        other = _Heard.of(text)
        likeness = other.likeness(self._claim)
        if is_own:
            likeness = 1.0
        if not likeness:
            return
        same: list[tuple[int, Value]] = []
        differing: list[tuple[int, Value | None]] = []
        for place, value in enumerate(self.values):
            found = self._answer(value, other, text)
            if found is not None and found[1]:
                same.append((place, found[0]))
            elif found is not None or self._is_somebody_else(value, other):
                differing.append((place, found[0] if found else None))
        if not differing:
            for place, at in same:
                yield place, Saying(at, likeness, agrees=True)
        elif len(differing) == 1 and not is_own:
            ((place, rival),) = differing
            is_sure = self.values[place].rank is Rank.FIGURE or likeness >= LEAST_NAMED_ALIKE
            if rival is not None and is_sure:
                yield place, Saying(rival, likeness, agrees=False)

    def _answer(self, value: Value, other: _Heard, text: str) -> tuple[Value, bool] | None:
        """The value of a sentence in the place of one of the claim, and whether it is the same."""
        if isinstance(value.content, Name):
            return self._name(value.content, other, text)
        for one in other.figures:
            if value.agrees_with(one):
                return one, True
        rivals = [
            one
            for one in other.figures
            if value.excludes(one) and not any(one.agrees_with(own) for own in self.values)
        ]
        return (rivals[0], False) if rivals else None

    def _name(self, name: Name, other: _Heard, text: str) -> tuple[Value, bool] | None:
        if holds(other.reading, name):
            held = [one for one in other.names if set(one.parts) & set(name.parts)]
            return _named(held[0] if held else name, text), True
        strangers = self._strangers(other)
        missing = [one for one in self._claim.names if not holds(other.reading, one)]
        if len(strangers) == 1 and len(missing) == 1 and not other.reading.refers_back:
            return _named(strangers[0], text), False
        return None

    def _is_somebody_else(self, value: Value, other: _Heard) -> bool:
        """Whether a sentence has other names in place of one of the claim, not known which."""
        if not isinstance(value.content, Name) or other.reading.refers_back:
            return False
        return bool(self._strangers(other))

    def _strangers(self, other: _Heard) -> Sequence[Name]:
        return [one for one in other.names if not holds(self._claim.reading, one)]


def _named(name: Name, text: str) -> Value:
    """A name at its first place in a text."""
    start = max(text.find(name.surface), 0)
    end = start + len(name.surface) if text.find(name.surface) >= 0 else start
    return Value(name, start, end, text[start:end] or name.surface)
