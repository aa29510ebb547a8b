"""Numbers of a text, whichever way they are written: 1,200, twelve hundred, 1.2 thousand."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum

from veritrail_graph.verifier.engines.lexical.tokens import Tokens

_UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"


def _counted(words: str, start: int) -> dict[str, int]:
    return {word: value for value, word in enumerate(words.split(), start)}


SMALL = _counted(_UNITS, 0) | {word: 10 * value for word, value in _counted(_TENS, 2).items()}
ORDINALS = _counted(_ORDINALS, 1)
SCALES = {
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
}

_SUFFIX_SCALES = {"k": 10**3, "mn": 10**6, "bn": 10**9}
_TOLERANCE = Decimal("0.05")
_LONGEST = 40


class NumberKind(StrEnum):
    """What a number is of: two of different kinds never contradict each other."""

    COUNT = "count"
    YEAR = "year"
    ORDINAL = "ordinal"
    PERCENT = "percent"
    MONEY = "money"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a text.

    Attributes:
        value: Its normal form; equal numbers have equal values.
        kind: What it is of.
        noun: Key of the next content word (`12 boats`), or "".
        surface: As it is written.
        approximate: Whether the text says "about" or the like.
        light: Whether it stands in a [bracketed] clarification.
    """

    value: str
    kind: NumberKind
    noun: str
    surface: str
    approximate: bool = False
    light: bool = False

    def agrees_with(self, other: Number) -> bool:
        """Whether the two can be the same number; "about" leaves a twentieth."""
        if self.value == other.value:
            return (self.kind is NumberKind.ORDINAL) == (other.kind is NumberKind.ORDINAL)
        if not (self.approximate or other.approximate):
            return False
        if {self.kind, other.kind} & {NumberKind.YEAR, NumberKind.ORDINAL, NumberKind.TIME}:
            return False
        mine, its = Decimal(self.value), Decimal(other.value)
        return abs(mine - its) <= _TOLERANCE * max(abs(mine), abs(its))

    def excludes(self, other: Number) -> bool:
        """Whether both answer the same question (how many boats, which year) differently."""
        if self.kind is not other.kind or self.agrees_with(other):
            return False
        return self.kind is not NumberKind.COUNT or (self.noun == other.noun != "")


@dataclass(frozen=True, slots=True)
class Found:
    """A number at its place: value, kind and the position behind its last token."""

    value: str
    kind: NumberKind
    behind: int


def number_at(tokens: Tokens, position: int) -> Found | None:
    """The number that starts at this position, in digits or in words; None without one."""
    if tokens.kind(position) == "number":
        return _in_digits(tokens, position)
    word = tokens.lower(position)
    if word in ORDINALS:
        return Found(str(ORDINALS[word]), NumberKind.ORDINAL, position + 1)
    starts = word in SMALL or (word in SCALES and tokens.lower(position - 1) == "a")
    return _in_words(tokens, position) if starts else None


def _in_digits(tokens: Tokens, position: int) -> Found:
    value, kind, scale = _parse_digits(tokens.form(position))
    behind = position + 1
    while scale is not None and tokens.lower(behind) in SCALES:
        value = _plain(value, SCALES[tokens.lower(behind)])
        behind += 1
    return _with_percent(tokens, Found(value, kind, behind))


def _in_words(tokens: Tokens, position: int) -> Found | None:
    total = current = 0
    behind = position
    while True:
        word = tokens.lower(behind)
        if word in SMALL:
            current += SMALL[word]
        elif word in SCALES and SCALES[word] > 100:
            total, current = total + max(current, 1) * SCALES[word], 0
        elif word in SCALES:
            current = max(current, 1) * SCALES[word]
        elif word != "and" or not _joins(tokens, behind):
            break
        behind += 1
    if behind == position + 1 and tokens.lower(position) == "one":
        return None  # mostly a pronoun
    return _with_percent(tokens, Found(str(total + current), NumberKind.COUNT, behind))


def _joins(tokens: Tokens, position: int) -> bool:
    """Whether an "and" is inside a number: two hundred and three, not two and three."""
    return tokens.lower(position - 1) in SCALES and tokens.lower(position + 1) in SMALL


def _with_percent(tokens: Tokens, found: Found) -> Found:
    if found.kind is not NumberKind.COUNT:
        return found
    if tokens.lower(found.behind) in ("percent", "percentage"):
        return Found(found.value, NumberKind.PERCENT, found.behind + 1)
    if (tokens.lower(found.behind), tokens.lower(found.behind + 1)) == ("per", "cent"):
        return Found(found.value, NumberKind.PERCENT, found.behind + 2)
    return found


def _parse_digits(token: str) -> tuple[str, NumberKind, int | None]:
    """Normal form, kind and, for a plain number, its scale; of a token that starts with a digit.

    The token may carry a currency sign before and a suffix (`th`, `s`, `k`, `%`) behind.
    """
    kind = NumberKind.MONEY if token[0] in "$€£¥" else NumberKind.COUNT
    body = token.lstrip("$€£¥")
    if body.endswith("%"):
        kind, body = NumberKind.PERCENT, body[:-1]
    digits = body.rstrip("abcdefghijklmnopqrstuvwxyz")
    suffix = body[len(digits) :]
    if ":" in digits:
        return digits, NumberKind.TIME, None
    if suffix in ("st", "nd", "rd", "th"):
        return _plain(digits), NumberKind.ORDINAL, None
    if suffix == "s":
        return _plain(digits) + "s", NumberKind.TIME, None
    scale = _SUFFIX_SCALES.get(suffix, 10**6 if suffix == "m" and kind is NumberKind.MONEY else 1)
    value = _plain(digits, scale)
    year = kind is NumberKind.COUNT and scale == 1 and digits.isdecimal() and len(digits) == 4
    if year and 1000 <= int(digits) <= 2100:
        return value, NumberKind.YEAR, None
    return value, kind, scale


def _plain(digits: str, scale: int = 1) -> str:
    digits = digits.replace(",", "")
    if len(digits) > _LONGEST:
        return digits
    try:
        # Decimal reads the digits of every script; "f" writes no exponent.
        text = format(Decimal(digits) * scale, "f")
    except InvalidOperation:
        return digits
    return text.rstrip("0").rstrip(".") if "." in text else text
