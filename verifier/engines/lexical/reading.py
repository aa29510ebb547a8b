"""What the lexical engine reads out of a text: words, numbers, names, denials.

Numbers are read whichever way they are written: 1,200, twelve hundred, 1.2 thousand.

Source: VeriTrail gives no lexical method; this is ours, and indicative only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from functools import lru_cache

from veritrail_graph.graph.citations import CITATION
from veritrail_graph.verifier import vocabulary as words

_TOKEN = re.compile(
    r"(?P<number>[$€£¥]?\d[\d,]*(?<!,)(?:\.\d+)?(?::\d\d)?[a-z]{0,2}(?![^\W_])%?)"
    r"|(?P<word>[^\W_]+(?:['\u2019][^\W\d_]+)*)"
    r"|(?P<mark>[\[\].,;:!?()\u2013\u2014\u201c\"]|(?:(?<=\s)|^)-{1,3}(?=\s))"
)
_BULLET = re.compile(r"\s*[-*\u2022\u2013]\s+")
_GAPS_IN_A_NAME = frozenset((" ", "-", "\n", ". ", "\u00a0", "&", " & ", "' ", "\u2019 "))


class Tokens:
    """The tokens of a text by position; positions outside of it are empty words.

    Citations are left out: `[Data: Entities (9)]`, `[records: …]`, `[^1]`, `[2]`, `[@smith2020]`,
    `(Smith, 2020)`, `(Smith 2020)`.

    Attributes:
        is_item: Whether the text begins like an item of a list.
    """

    def __init__(self, text: str) -> None:
        self._text = text = CITATION.sub(" ", text)
        self.is_item = _BULLET.match(text) is not None
        self._found = [
            (str(match.lastgroup), match.group(), match.start(), match.end())
            for match in _TOKEN.finditer(text)
        ]
        capitals = [token[0].isupper() for kind, token, _, _ in self._found if kind == "word"]
        # In a heading capitals say nothing about names.
        self._has_case = sum(capitals) <= 0.6 * len(capitals) or len(capitals) < 4

    def __len__(self) -> int:
        return len(self._found)

    def kind(self, position: int) -> str:
        """`number`, `word` or `mark`; "" where there is no token."""
        return self._found[position][0] if 0 <= position < len(self._found) else ""

    def form(self, position: int) -> str:
        """The token as it is written."""
        return self._found[position][1] if 0 <= position < len(self._found) else ""

    def lower(self, position: int) -> str:
        """The token in lower case, without a possessive."""
        return self.form(position).casefold().replace("\u2019", "'").removesuffix("'s")

    def surface(self, position: int, behind: int) -> str:
        """The text from one token to just before another."""
        return self._text[self._found[position][2] : self._found[behind - 1][3]]

    def adjacent(self, position: int) -> bool:
        """Whether only a space, a hyphen or an initial's dot parts this token from the next."""
        if not 0 <= position < len(self._found) - 1:
            return False
        gap = self._text[self._found[position][3] : self._found[position + 1][2]]
        return gap in _GAPS_IN_A_NAME

    def hyphenated(self, position: int) -> bool:
        """Whether a hyphen joins this token to a word behind it."""
        if self.kind(position + 1) != "word":
            return False
        return self._text[self._found[position][3] : self._found[position + 1][2]] == "-"

    def is_capitalised(self, position: int) -> bool:
        """Whether a content word is here, with a capital that can mean a name."""
        return (
            self._has_case
            and self.kind(position) == "word"
            and self.form(position)[0].isupper()
            and (self.lower(position) not in words.STOP or self.form(position) == "May")
        )


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
        light: Whether it stands in a [bracketed] clarification, or in round brackets as a year.
        is_cited: Whether it is a year alone in round brackets, mostly that of a citation: it
            bears no year that a text states, and denies none.
    """

    value: str
    kind: NumberKind
    noun: str
    surface: str
    approximate: bool = False
    light: bool = False
    is_cited: bool = False

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


_NAME_LINKS = frozenset(("of", "de", "van", "von", "der", "du", "la", "le", "the"))
_CLAUSE_WORDS = frozenset(("but", "although", "though", "because", "while", "whereas", "and"))
_SCOPE = 3
_CACHED_TEXTS = 32_768
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
        qualified: Keys that are denied in some way only ("not immediately"), with the word for it.
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
    qualified: Mapping[str, str]
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
        self._denial: list[str] = []  # keys that it has denied
        self._qualifier = ""  # the word that makes it a denial in part
        self._qualified: dict[str, str] = {}
        self._plainly: set[str] = set()  # keys that are denied outright
        self._brackets = 0
        self._starts = True
        self._lists = self._tokens.is_item
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
        self._end_denial()
        return Reading(
            frozenset(self._keys),
            tuple(self._words.values()),
            tuple(self._names.values()),
            tuple(self._numbers),
            self._subject,
            frozenset(self._denied),
            frozenset(self._denied_first),
            frozenset(self._asserted),
            {key: word for key, word in self._qualified.items() if key not in self._plainly},
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
            self._lists = mark == ":" or (self._lists and self._opening)

    def _number(self, found: Found, position: int) -> None:
        before = {self._tokens.lower(position - 1), self._tokens.lower(position - 2)}
        is_cited = found.kind is NumberKind.YEAR and self._in_round_brackets(position, found.behind)
        if is_cited and self._is_behind_a_name(position - 1):
            return  # Smith (2020), Smith et al. (2020)
        self._open_numbers.append(len(self._numbers))
        self._take_ordering(f"#{found.value}")
        self._numbers.append(
            Number(
                found.value,
                found.kind,
                "",
                self._tokens.surface(position, found.behind),
                bool(before & words.APPROXIMATE),
                self._brackets > 0 or is_cited,
                is_cited,
            )
        )
        self._starts = self._opening = False

    def _in_round_brackets(self, position: int, behind: int) -> bool:
        return self._tokens.form(position - 1) == "(" and self._tokens.form(behind) == ")"

    def _is_behind_a_name(self, position: int) -> bool:
        if self._tokens.form(position - 1) == ".":
            position -= 1
        is_et_al = self._tokens.lower(position - 1) == "al"
        return is_et_al or self._tokens.is_capitalised(position - 1)

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
            self._qualifier = self._qualifier or (word.surface if self._reach else "")
            self._touch(word.key)
        self._starts = False
        return position + 1

    def _negate(self, position: int) -> None:
        self._end_denial()
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
        denies = self._reach == _SCOPE
        if self._reach and words.is_qualifier(lower) and (denies or self._ends_here(position)):
            self._qualifier = self._qualifier or self._tokens.form(position)
        self._touch(word_key)
        if denies and words.is_adverb(lower):
            self._reach = _SCOPE  # "not immediately lapse" denies "lapse" as well
        self._starts = self._opening = False

    def _ends_here(self, position: int) -> bool:
        """Whether no content word follows that an adverb could belong to: "newly built"."""
        behind = self._tokens.lower(position + 1)
        return self._tokens.kind(position + 1) != "word" or behind in words.STOP

    def _end_denial(self) -> None:
        """Note what the last negation denied: outright, or in some way only."""
        if self._qualifier:
            self._qualified |= dict.fromkeys(self._denial, self._qualifier)
        else:
            self._plainly.update(self._denial)
        self._denial, self._qualifier = [], ""

    def _touch(self, word_key: str) -> None:
        """Note a key with what stands before it: negation, ordering, numbers."""
        self._keys.add(word_key)
        denied = self._reach > 0
        if denied:
            self._denied.add(word_key)
            self._denial.append(word_key)
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
        """Whether a capital means a name: not at the start, unless more of it or a list follows."""
        if not self._tokens.is_capitalised(position):
            return False
        token = self._tokens.form(position)
        if not self._starts or (len(token) > 1 and token[:2].isupper()):
            return True
        if self._tokens.is_capitalised(position + 1) and self._tokens.adjacent(position):
            return True
        return self._lists and self._is_listed(position)

    def _is_listed(self, position: int) -> bool:
        """Whether a list goes on behind this word: `: Anna, Boris`, `- Anna: director`."""
        behind = self._tokens.lower(position + 1)
        if behind in (",", "and", "or"):
            return self._tokens.is_capitalised(position + 2)
        return self._opening and behind in ("", ":", "(", "-", "\u2013")

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
