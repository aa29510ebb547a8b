"""A check that a value may have been made from others: rounded, torn, or computed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import chain, pairwise, permutations

from veritrail_graph.verifier.values.model import NUMERIC, Value, ValueKind
from veritrail_graph.verifier.vocabulary import word_set

_MOST_FIGURES = 60
_MONTHS = 12
_HALF = Decimal("0.5")
_SPANS = ("s", "day", "month", "")  # a bare figure is one of years: aged 70
_POINT = "point"
_LEAP_YEAR = 2024  # stands for a year that is not named
_DAY = 24 * 60
_WORD = re.compile(r"[^\W\d_]+")
_RELATIVE = word_set("later earlier next previous preceding following tomorrow yesterday ago")
"""Words by which a text says a moment without naming it: the day after."""
_SPANNED = _RELATIVE | word_set(
    """second seconds minute minutes hour hours half quarter noon midnight day days week weeks
    fortnight month months year years decade decades century eve christmas easter"""
)
"""Words by which a moment may follow from another one."""
_MULTIPLIED = word_set(
    """double doubled twice thrice triple tripled half halved third quarter dozen dozens each per
    every average mean apiece times"""
)
"""Words by which a figure may follow from another one."""
_MOST_PARTS = 12
_PARTS = {"half": 50, "halved": 50, "third": 33, "thirds": 67, "quarter": 25, "quarters": 75}
"""Words for a share, in percent."""
_TIMES = tuple(map(Decimal, ("0.5", "0.25", "0.75", "2", "3", "4")))


def is_cut(mine: Value, its: Value) -> bool:
    """Return whether one figure is a part of the other, which a text out of print may have torn."""
    groups = [re.findall(r"\d+", value.surface) for value in (mine, its)]
    longer, shorter = sorted(groups, key=len, reverse=True)
    number = len(shorter)
    return 0 < number < len(longer) and shorter in (longer[:number], longer[-number:])


def follow_each_other(mine: Value, its: Value) -> bool:
    """Return whether two days, months or years are next to each other: 31 May, 1 June."""
    here, there = _day(mine), _day(its)
    if here is None or there is None or mine.kind is not its.kind:
        return False
    parts = {value.canonical.removeprefix("-").count("-") for value in (mine, its)}
    months = abs((here.year - there.year) * _MONTHS + here.month - there.month)
    if parts == {0}:
        return abs(here.year - there.year) == 1
    return months == 1 if parts == {1} else abs((here - there).days) == 1


def is_rounded(mine: Value, its: Value, *, least: int = 2) -> bool:
    """Return whether one figure is the other, rounded to two digits or more: 12,000, 12,345.

    Args:
        mine: A value.
        its: Another one.
        least: Digits from which on a figure may be rounded to.
    """
    figures = [value.figure for value in (mine, its)]
    if mine.kind not in NUMERIC or its.kind not in NUMERIC or None in figures:
        return False
    fewer, more = sorted((one.normalize() for one in figures if one is not None), key=_digits)
    return _digits(fewer) >= least and fewer == round(more, _digits_behind(fewer))


def _digits(figure: Decimal) -> int:
    return len(figure.as_tuple().digits)


def _digits_behind(figure: Decimal) -> int:
    """The digits behind the point; fewer than none for a figure that ends with noughts."""
    exponent = figure.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def may_be_derived(value: Value, others: Sequence[Value], around: str) -> bool:
    """Return whether a value may follow from others, though no text has it.

    Sums, differences and products of two of them, sums of neighbours, shares of one in another,
    spans from one year to another, and a moment some days or hours from another.

    Args:
        value: The value.
        others: The values of texts about its matter.
        around: The words there.
    """
    said = {word.casefold() for word in _WORD.findall(around)}
    if value.kind in (ValueKind.DATE, ValueKind.TIME):
        if not said.isdisjoint(_RELATIVE):
            return True
        spans = [one for one in others if one.unit in _SPANS and one.figure is not None]
        moments = [one for one in others if one.kind is value.kind]
        return any(_is_apart(value, one, span) for one in moments for span in spans)
    amount = value.figure
    is_share = value.kind is ValueKind.PERCENT
    kinds = (ValueKind.DATE, ValueKind.TIME)
    is_span = bool(value.unit) and value.unit in _SPANS
    if amount is None or (is_span and sum(one.kind in kinds for one in others) > 1):
        return True
    if is_share and amount in {_PARTS.get(word) for word in said}:
        return True
    figures = _amounts([_in_percent(one) for one in others] if is_share else others)
    computed = chain(_combined(figures, value), _scaled(figures))
    return any(_is_close(amount, other, value) for other in computed)


def may_be_sum(value: Value, part: Value, others: Iterable[Value]) -> bool:
    """Return whether a figure is another one with one or two more of its unit added or taken off.

    So is the sum or the difference of any two: the step may have read something else in its place.

    Args:
        value: The figure.
        part: What the step read in its place.
        others: Other values, of whatever matter.
    """
    total = value.figure
    if total is None or part.figure is None or value.kind not in NUMERIC:
        return False
    rests = {total, total - part.figure, total + part.figure}
    known: set[Decimal] = set()
    for other in others:  # mostly a few of many tell
        if other.kind is not value.kind or other.unit != value.unit or other.figure is None:
            continue
        for figure in {other.figure, -other.figure} - known:
            known.add(figure)
            if figure in rests - {total} or any(rest - figure in known for rest in rests):
                return True
    return False


def may_follow(value: Value, others: Iterable[Value], around: str) -> bool:
    """Return whether a value may follow from values of whatever matter, or is one of them rounded.

    Args:
        value: The value.
        others: The values of all texts, themselves without it.
        around: The words of these texts.
    """
    known = list({(one.kind, one.unit, one.canonical): one for one in others}.values())
    said = {word.casefold() for word in _WORD.findall(around)}
    is_moment = value.kind in (ValueKind.DATE, ValueKind.TIME)
    return (
        not said.isdisjoint(_SPANNED if is_moment else _MULTIPLIED)
        or len(known) > _MOST_FIGURES
        or _may_be_total(value, known)
        or any(is_rounded(value, other, least=1) for other in known)
        or may_be_derived(value, known, around)
    )


def _may_be_added(other: Value, value: Value) -> bool:
    """Return whether a figure has the unit of another one, or may leave it out in a row."""
    is_bare = other.kind is ValueKind.FIGURE and not other.unit
    return is_bare or (other.kind is value.kind and other.unit == value.unit)


def _may_be_total(value: Value, others: Sequence[Value]) -> bool:
    """Return whether a figure is the sum of some figures of its unit, or there are too many."""
    parts = [one.figure for one in others if _may_be_added(one, value)]
    totals = {Decimal(0)}
    for part in parts[:_MOST_PARTS]:
        totals |= {total + part for total in totals if part is not None}
    return len(parts) > _MOST_PARTS or value.figure in totals


def _in_percent(value: Value) -> Value:
    """A figure of percentage points as a share, which they are added to."""
    if value.kind is not ValueKind.FIGURE or value.figure is None:
        return value
    if value.unit == _POINT or _POINT in value.nouns[:1]:
        return replace(value, kind=ValueKind.PERCENT, unit="", nouns=())
    if _POINT in value.nouns:  # 25 basis points
        amount = str(value.figure / 100)
        return replace(value, kind=ValueKind.PERCENT, canonical=amount, nouns=())
    return value


def _amounts(found: Sequence[Value]) -> list[tuple[Value, Decimal]]:
    """The figures among some values, and the years, each once."""
    known: dict[tuple[ValueKind, str, Decimal], Value] = {}
    for one in found:
        amount = one.figure
        if one.kind is ValueKind.DATE:
            amount = Decimal(one.canonical[:4]) if one.canonical[:4].isdigit() else None
        if amount is not None:
            known.setdefault((one.kind, one.unit, amount), one)
    return [(one, amount) for (_, _, amount), one in known.items()][:_MOST_FIGURES]


def _combined(figures: Sequence[tuple[Value, Decimal]], value: Value) -> Iterator[Decimal]:
    """The sums, differences and shares of figures of one kind, as a value of its kind has them."""
    for (mine, one), (its, other) in permutations(figures, 2):
        if mine.kind is its.kind is ValueKind.DATE:
            yield (one - other) * (_MONTHS if value.unit == "month" else 1)
        elif mine.kind is its.kind and mine.unit == its.unit:
            yield one + other
            yield one - other
            yield (one + other) / 2
            if other and value.kind is ValueKind.PERCENT:
                yield 100 * one / other
                yield 100 * (one - other) / other
    for first in range(len(figures)):
        total = figures[first][1]
        for (mine, _), (its, one) in pairwise(figures[first:]):
            if mine.kind is not its.kind or mine.unit != its.unit:
                break
            total += one
            yield total


def _scaled(figures: Sequence[tuple[Value, Decimal]]) -> Iterator[Decimal]:
    """Products and quotients of figures, shares of them, and what is left of them."""
    for (mine, one), (its, other) in permutations(figures, 2):
        if ValueKind.DATE in (mine.kind, its.kind):
            continue
        if mine.kind is ValueKind.PERCENT:
            yield one * other / 100
            yield other + one * other / 100
            yield other - one * other / 100
        else:
            yield one * other
            if other:
                yield one / other
    for mine, one in figures:
        if mine.kind is ValueKind.PERCENT:
            yield 100 - one
        if mine.kind is not ValueKind.DATE:
            yield from (one * factor for factor in _TIMES)
            yield one / 3
            yield 2 * one / 3


def _is_close(amount: Decimal, other: Decimal, value: Value) -> bool:
    """Return whether a computed figure is a value, or is rounded to it."""
    if amount == abs(other):
        return True
    is_share = value.kind is ValueKind.PERCENT
    step = Decimal(1).scaleb(-max(0, _digits_behind(amount.normalize())))
    return is_share and abs(amount - abs(other)) <= _HALF * step


def _is_apart(value: Value, moment: Value, span: Value) -> bool:
    """Return whether a moment is another one that is a span away; a day counts both ends."""
    length = span.figure
    if length is None:
        return False
    if value.kind is ValueKind.TIME:
        here, there = _minute(value), _minute(moment)
        if here is None or there is None or span.unit != "s":
            return False
        day = _DAY // 2 if value.also or moment.also else _DAY  # 9:40 may be in the evening
        return (here - there) % day in (length / 60 % day, -length / 60 % day)
    mine, its = _day(value), _day(moment)
    if mine is None or its is None:
        return False
    if span.unit in ("month", ""):
        apart = abs((mine.year - its.year) * _MONTHS + mine.month - its.month)
        return abs(apart - length * (1 if span.unit else _MONTHS)) <= (1 if span.unit else _MONTHS)
    days = length if span.unit == "day" else length / (60 * _DAY)
    return abs(abs((mine - its) / timedelta(days=1)) - float(days)) <= 1


def _minute(value: Value) -> int | None:
    hours, _, minutes = value.canonical.partition(":")
    return int(hours) * 60 + int(minutes[:2]) if hours.isdigit() and minutes[:2].isdigit() else None


def _day(value: Value) -> date | None:
    """The day of a date; the first of what it does not name."""
    match = re.fullmatch(r"(\d{4}|-)(?:-(\d\d?))?(?:-(\d\d?))?", value.canonical)
    if match is None:
        return None
    year, month, day = match.groups()
    try:
        return date(int(year) if year != "-" else _LEAP_YEAR, int(month or 1), int(day or 1))
    except ValueError:
        return None
