"""A value of a text, and how two of them stand to each other."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

_TOLERANCE = Decimal("0.05")
_GRANULARITY = 3


class ValueKind(StrEnum):
    """The kind of a value; two values of different kinds never contradict each other."""

    FIGURE = "figure"
    MONEY = "money"
    PERCENT = "percent"
    DATE = "date"
    TIME = "time"
    NAME = "name"
    QUOTATION = "quotation"


NUMERIC = frozenset((ValueKind.FIGURE, ValueKind.MONEY, ValueKind.PERCENT))


@dataclass(frozen=True, slots=True)
class Value:
    """A figure, sum, share, date, time, name or quotation at its place in a text.

    Attributes:
        kind: What it is of.
        canonical: Its normal form; equal values have equal ones: `1200`, `2024-05-03`, `--05-03`
            (a day without a year), `21:30`, `ilse kramer`. Limits stand before a figure: `>=40`,
            `<=40`, `>40`, `<40`, `~40`.
        unit: The common unit of a figure (`m`, `g`, `EUR`, `ordinal`), or "".
        nouns: For a figure, the keys of the content words right behind it: of what it counts.
        surface: As it is written, with the words of a limit.
        start: Where it starts, in code points of the text as given.
        end: Where it ends.
        also: Other normal forms that may be meant (`1.200` may be 1.2; 9:30 may be 21:30).
    """

    kind: ValueKind
    canonical: str
    unit: str
    nouns: tuple[str, ...]
    surface: str
    start: int
    end: int
    also: tuple[str, ...] = ()

    @property
    def limit(self) -> str:
        """The limit before a figure: `>=`, `<=`, `>`, `<`, `~` or ""."""
        return self.canonical[: len(self.canonical) - len(self.canonical.lstrip("<>=~"))]

    @property
    def amount(self) -> str:
        """A figure without its limit."""
        return self.canonical.lstrip("<>=~")

    @property
    def figure(self) -> Decimal | None:
        """The amount as a figure; None where it is none."""
        text = self.amount
        return Decimal(text) if text.replace(".", "", 1).removeprefix("-").isdecimal() else None

    def agrees(self, other: Value) -> bool:
        """Return whether a text with the other value says this one.

        "About" leaves a twentieth. A date is said by a more exact one, a name by a longer one,
        and its last part may stand for it. 9:30 is said by 9:30 p.m., and neither by 21:30 nor
        the other way: nothing tells which half of the day is meant.
        """
        if self.kind is not other.kind:
            return False
        if self.kind is ValueKind.NAME:
            return _same_name(self, other)
        if self.kind is ValueKind.DATE:
            mine, its = (self.canonical, *self.also), (other.canonical, *other.also)
            return any(_is_within(a, b) for a in mine for b in its)
        if self.kind is ValueKind.TIME:
            return _same_time(self, other)
        if self.kind in NUMERIC and self.unit != other.unit:
            return False
        if {self.canonical, *self.also} & {other.canonical, *other.also}:
            return True
        if self.kind in NUMERIC and self.limit in ("", "~") and other.limit in ("", "~"):
            return _near(self, other) if "~" in (self.limit, other.limit) else False
        return False

    def may_be(self, other: Value) -> bool:
        """Return whether one may mean the other: either says it, or 9:30 beside 21:30."""
        if self.kind is other.kind is ValueKind.TIME and not _times(self).isdisjoint(_times(other)):
            return True
        return self.agrees(other) or other.agrees(self)

    def excludes(self, other: Value) -> bool:
        """Return whether both answer one question (how many boats, which day) differently."""
        if self.kind is not other.kind or self.kind is ValueKind.QUOTATION:
            return False
        if self.may_be(other):
            return False
        if self.kind is ValueKind.DATE:
            return _exclude_dates(self, other)
        if self.kind in NUMERIC:
            return self.unit == other.unit and _exclude_figures(self, other)
        return self.kind is not ValueKind.NAME or _exclude_names(self, other)


def _times(value: Value) -> frozenset[str]:
    """The times of day that one may mean, on a clock of 24 hours."""
    return frozenset(value.also) or frozenset((value.canonical,))


def _same_time(mine: Value, its: Value) -> bool:
    """Return whether a time of day is said by another one."""
    if mine.canonical == its.canonical:
        return True  # 12:30 is the half hour after noon on either clock
    written = mine.also[0] if mine.also else mine.canonical
    names_half = any(sign.isalpha() for sign in its.surface)
    return its.canonical in (_times(mine) if names_half else (written,))


def _same_name(mine: Value, its: Value) -> bool:
    ours, theirs = mine.canonical.split(), its.canonical.split()
    if not ours or not theirs:
        return False
    if set(ours) <= set(theirs) or (ours[-1] == theirs[-1] and set(theirs) <= set(ours)):
        return True
    return _abbreviates(mine, theirs) or _abbreviates(its, ours)


def _exclude_names(mine: Value, its: Value) -> bool:
    """Return whether two names are of two: they share half of their parts at most."""
    ours, theirs = mine.canonical.split(), its.canonical.split()
    return 2 * len(set(ours) & set(theirs)) <= max(len(ours), len(theirs))


def _abbreviates(short: Value, long: list[str]) -> bool:
    initials = "".join(part[0] for part in long)
    return len(initials) > 1 and short.canonical == initials and short.surface.isupper()


def _is_within(mine: str, its: str) -> bool:
    """Return whether a date is said by another: each part that it has is the same there."""
    if mine == its:
        return True
    if not (mine[-1:].isdigit() and its[-1:].isdigit()):
        return False
    ours, theirs = _parts(mine), _parts(its)
    return all(b == a for a, b in zip(ours, theirs, strict=True) if a)


def _parts(date: str) -> tuple[str, str, str]:
    if date.startswith("--"):
        month, _, day = date[2:].partition("-")
        return "", month, day
    year, _, rest = date.partition("-")
    month, _, day = rest.partition("-")
    return year, month, day


def _exclude_dates(mine: Value, its: Value) -> bool:
    if mine.also or its.also:
        return False
    kinds = [value.canonical[-1:].isdigit() for value in (mine, its)]
    if kinds[0] is not kinds[1]:
        return False
    if not kinds[0]:
        # A decade, a day of the week: each excludes its own kind only.
        return mine.canonical[:1].isdigit() == its.canonical[:1].isdigit()
    pairs = zip(_parts(mine.canonical), _parts(its.canonical), strict=True)
    return any(a and b and a != b for a, b in pairs)


def _near(mine: Value, its: Value) -> bool:
    ours, theirs = mine.figure, its.figure
    if ours is None or theirs is None:
        return False
    return abs(ours - theirs) <= _TOLERANCE * max(abs(ours), abs(theirs))


def _exclude_figures(mine: Value, its: Value) -> bool:
    if mine.also or its.also:
        # 310.000 and 130.000 differ, whether the point parts thousands or not.
        exact = mine.limit == its.limit == ""
        return exact and not {mine.amount, *mine.also} & {its.amount, *its.also}
    ours, theirs = mine.figure, its.figure
    if ours is None or theirs is None:
        return mine.amount != its.amount
    if ours == theirs:
        # At least 40, at most 40; but 40 may be at least 40.
        return {mine.limit[:1], its.limit[:1]} == {"<", ">"}
    if mine.limit in ("", "~") and its.limit in ("", "~"):
        return True
    for limited, limit, other, figure in ((mine, ours, its, theirs), (its, theirs, mine, ours)):
        if limited.limit[:1] == ">" and other.limit[:1] in ("", "<", "~") and figure < limit:
            return True
        if limited.limit[:1] == "<" and other.limit[:1] in ("", ">", "~") and figure > limit:
            return True
    # Two limits of one side: at least 40, at least 50.
    return mine.limit == its.limit
