"""An index of the words of many nodes, so that a claim reads few of their sentences.

To read a sentence (its names, figures, denials) takes a hundred times as long as to find its words.
So of each sentence only the words are kept, once for all claims: those that a reading is sure to
have as keys, and those that it may have, such as a word that may be a part of a date. Sentences
whose words are not told so easily are read at once.
"""

from __future__ import annotations

import re
import threading
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import chain

from veritrail_graph.graph.citations import CITATION
from veritrail_graph.graph.model import Sentence
from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.engines.lexical.reading import Name, Number, Reading, read_once
from veritrail_graph.verifier.ports import ReadNode
from veritrail_graph.verifier.values.characters import plain
from veritrail_graph.verifier.values.model import NUMERIC, ValueKind
from veritrail_graph.verifier.values.numbers import STARTING_FIGURES
from veritrail_graph.verifier.values.reading import IN_VALUES, STARTING
from veritrail_graph.verifier.values.units import MEASURES

_MOST_SENTENCES = 8_000_000
"""Sentences of which the words are kept, in several hundred megabytes; then it begins anew."""
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_DIGITS = re.compile(r"\d+")
_UNCERTAIN = re.compile(
    r"[^\W_a-zA-Z0-9]|\d[^\W\d_]|[^\W\d_]\d|[^\W\d_]\.[^\W\d_]|[AaPp]\. ?[Mm]\b|\bkm\s*/"
    r"|(?<![A-Za-z'])'?[A-Z][A-Za-z']*\s*-\s*[A-Za-z]|''"
)
"""Letters of other scripts, 5kg, U.S., 5 p. m., km/h, Co-operative."""
_ABOUT = frozenset(("about", "around", "approximately", "roughly", "nearly", "almost", "circa",
    "some", "estimated", "close", "so"))  # fmt: skip
_SIGNS_OF_OTHERS = re.compile(r"[~\u2248^]|\d\s*/\s*\d")
_LONG = 3
"""Digits from which on a figure in words has two words and more."""
_MOST_ZEROS = 40
"""No figure with more digits is compared as one."""
_EXACT = 12  # digits
_NEAR = 1.06
"""How far a rough figure may be from another, with some room; see `Value.agrees`."""


@dataclass(frozen=True, slots=True)
class _Form:
    """A word as it is written, and what a reading has of it.

    Attributes:
        sure: The key that each sentence with it has.
        perhaps: Keys that a sentence with it may have.
        initial: For a word with a capital the first letter of its key.
        is_link: Whether it may stand within a name without a capital, as a part that is left out.
        abbreviates: The word in small letters, if all of its letters are capitals.
        starts: Whether a figure, a date or a time may start with it.
        counts: Whether it may be a figure, or a part of one, in words.
        is_about: Whether a figure behind it may be a rough one.
        is_every: Whether it is one of the words for all, without a capital.
        may_take_every: Whether it makes another phrase of such a word: in all.
    """

    sure: str | None
    perhaps: tuple[str, ...]
    initial: str
    is_link: bool
    abbreviates: str
    starts: bool
    counts: bool
    is_about: bool
    is_every: bool
    may_take_every: bool


@lru_cache(maxsize=100_000)
def _form(form: str) -> _Form:
    lower = form.casefold().removesuffix("'s")
    key = words.key(lower)
    is_capital = form[0].isupper()
    sure, perhaps = None, set[str]()
    if lower in words.STOP:
        if form == "May" or (len(form) > 1 and form.isupper()):
            perhaps.add(key)
    elif lower in words.NEGATION_STOPS or (lower.endswith("n't") and lower not in words.NEGATIONS):
        perhaps.update((key,) if is_capital else ())
    elif lower in words.UNIVERSAL:
        perhaps.update((words.UNIVERSAL_KEY, key) if is_capital else (words.UNIVERSAL_KEY,))
    elif lower in words.ORDERINGS:
        perhaps.update((key,) if is_capital else ())
    elif lower in words.NAME_LINKS or lower in IN_VALUES:
        perhaps.add(key)
    elif len(lower) > 1 or form.isupper():
        sure = key
    elif is_capital:
        perhaps.add(key)  # Company X's
    is_link = lower in words.NAME_LINKS
    whole = form.removesuffix("'s")
    return _Form(
        sure=sure,
        perhaps=tuple(perhaps),
        initial=key[:1] if is_capital and not is_link else "",
        is_link=is_link,
        abbreviates=whole.casefold() if len(whole) > 1 and whole.isupper() else "",
        starts=lower in STARTING,
        counts=lower in STARTING_FIGURES or lower in ("thirds", "quarter", "quarters", "fifths"),
        is_about=lower in _ABOUT,
        is_every=lower in words.UNIVERSAL and not is_capital,
        may_take_every=lower in words.NOT_UNIVERSAL_AFTER,
    )


class _Postings(dict[str, "array[int]"]):
    """Numbers of sentences, ascending, by what they have."""

    def add(self, name: str, number: int) -> None:
        found = self.get(name)
        if found is None:
            self[name] = array("I", (number,))
        elif found[-1] != number:
            found.append(number)


class _Tables:
    """The words of sentences, which are numbered in the order in which they were read."""

    def __init__(self) -> None:
        self.places: dict[int, int] = {}
        self.counts = array("I")
        self.firsts = array("I")
        self.number = 0
        self.sure = _Postings()
        self.perhaps = _Postings()
        self.initials = _Postings()
        self.abbreviations = _Postings()
        self.digits = _Postings()
        self.is_numbered = bytearray()  # may have a figure, a date or a time
        self.spelled = array("I")  # may have a figure in words
        self.spelled_long = array("I")  # in several words
        self.rough = array("I")  # about so many, a fraction, a power
        self.known: dict[str, dict[int, bool]] = {}

    def add(self, name: int, node: ReadNode) -> None:
        """Take in the sentences of a node."""
        sentences = node.sentences
        self.places[name] = len(self.firsts)
        self.firsts.append(self.number)
        self.counts.append(len(sentences))
        for sentence in sentences:
            self.is_numbered.append(self._add(self.number, sentence.text))
            self.number += 1

    def _add(self, number: int, text: str) -> bool:
        normal, _ = plain(text)
        if "[" in normal or "(" in normal or "\u3010" in normal:
            normal = CITATION.sub(lambda match: " " * len(match.group()), normal)
        digits = _DIGITS.findall(normal)
        for run in digits:
            self.digits.add(run.lstrip("0"), number)
        if _UNCERTAIN.search(normal):
            return self._add_reading(number, read_once(text))
        forms = [*map(_form, _WORD.findall(normal))]
        initials, before = "", _form("a")
        for form in forms:
            if form.is_every and not before.may_take_every:
                self.sure.add(words.UNIVERSAL_KEY, number)
            before = form
            if form.sure is not None:
                self.sure.add(form.sure, number)
            for key in form.perhaps:
                self.perhaps.add(key, number)
            if form.initial:
                initials += form.initial
                if form.abbreviates:
                    self.abbreviations.add(form.abbreviates, number)
            elif initials and not form.is_link:
                if len(initials) > 1:
                    self.initials.add(initials, number)
                initials = ""
        if len(initials) > 1:
            self.initials.add(initials, number)
        spelled = sum(form.counts for form in forms)
        if spelled:
            self.spelled.append(number)
        if spelled + bool(digits) > 1:
            self.spelled_long.append(number)
        is_numbered = bool(digits) or any(form.starts for form in forms)
        is_rough = is_numbered and any(form.is_about for form in forms)
        if is_rough or (digits and _SIGNS_OF_OTHERS.search(normal)):
            self.rough.append(number)
        return is_numbered

    def _add_reading(self, number: int, reading: Reading) -> bool:
        for key in reading.keys:
            self.sure.add(key, number)
        for name in reading.names:
            self.initials.add("".join(part[:1] for part in name.parts), number)
            if name.surface.isupper():
                self.abbreviations.add(name.surface.casefold(), number)
        if reading.numbers:
            self.spelled.append(number)
            self.spelled_long.append(number)
            self.rough.append(number)
        return bool(reading.numbers)


class SentenceIndex:
    """The words of the sentences of nodes; several threads may ask it at the same time.

    Args:
        least_nodes: How many nodes are worth their place in it.
    """

    def __init__(self, least_nodes: int = 500) -> None:
        self.least_nodes = least_nodes
        self._lock = threading.Lock()
        self._tables = _Tables()

    def view(self, nodes: Sequence[ReadNode]) -> SentenceView:
        """Return what is known of the sentences of these nodes, each of which is given once."""
        with self._lock:
            names = [hash((node.ref.node_id, node.text)) for node in nodes]
            tables = self._tables
            if tables.number > _MOST_SENTENCES and not tables.places.keys() >= set(names):
                tables = self._tables = _Tables()
            for name, node in zip(names, nodes, strict=True):
                if name not in tables.places:
                    tables.add(name, node)
            places = [tables.places[name] for name in names]
            return SentenceView(tables, nodes, places)


class SentenceView:
    """The sentences of some nodes in an index.

    Args:
        tables: What is known of them.
        nodes: The nodes.
        places: The place of each in the tables.
    """

    def __init__(self, tables: _Tables, nodes: Sequence[ReadNode], places: Sequence[int]) -> None:
        self._tables = tables
        self._nodes = nodes
        self._order = sorted(range(len(nodes)), key=places.__getitem__)
        self._firsts = array("I", (tables.firsts[places[at]] for at in self._order))
        self._runs: list[tuple[int, int]] = []  # of sentences that follow each other
        for at in self._order:
            first, count = tables.firsts[places[at]], tables.counts[places[at]]
            if count and self._runs and self._runs[-1][1] == first:
                self._runs[-1] = self._runs[-1][0], first + count
            elif count:
                self._runs.append((first, first + count))
        self.number = sum(behind - first for first, behind in self._runs)
        self._mask: bytearray | None = None

    def sentence(self, number: int) -> Sentence:
        """A sentence by its number."""
        place = bisect_right(self._firsts, number) - 1
        # Nodes without sentences have the number of the next one.
        return self._nodes[self._order[place]].sentences[number - self._firsts[place]]

    def may_have_number(self, number: int) -> bool:
        """Return whether a sentence may have a figure, a date or a time."""
        return bool(self._tables.is_numbered[number])

    def count(self, key: str) -> int:
        """Return how many of the sentences have a key."""
        sure = self._within(self._tables.sure.get(key, ()))
        perhaps = self._within(self._perhaps(key))
        if not len(perhaps):
            return len(sure)
        known = self._tables.known.setdefault(key, {})
        surely = set(sure)
        for number in perhaps:
            if number not in known and number not in surely:
                known[number] = key in read_once(self.sentence(number).text).keys
        return len(sure) + sum(
            number not in surely and known[number] for number in dict.fromkeys(perhaps)
        )

    def with_key(self, key: str) -> Iterable[int]:
        """The sentences that may have a key, each once."""
        perhaps = self._perhaps(key)
        sure = self._tables.sure.get(key, ())
        if not len(perhaps):
            return self._within(sure)
        return {*self._within(sure), *self._within(perhaps)}

    def with_name(self, name: Name) -> Iterable[int]:
        """The sentences that may have a name, or an abbreviation of it."""
        tables, found = self._tables, set(self.with_key(name.parts[-1]))
        initials = "".join(part[:1] for part in name.parts)
        if len(initials) > 1:
            found.update(self._within(tables.abbreviations.get(initials, ())))
        if len(name.surface) > 1 and name.surface.isupper():
            short = name.surface.casefold()
            for initials in list(tables.initials):
                if short in initials:
                    found.update(self._within(tables.initials[initials]))
        return found

    def with_number(self, number: Number) -> Iterable[int]:
        """The sentences that may have a figure, a date or a time as a claim has it."""
        tables = self._tables
        leading = leading_digits(number, tables.digits)
        if leading is None:
            is_numbered = tables.is_numbered
            return [n for n in chain(*(range(*run) for run in self._runs)) if is_numbered[n]]
        found = {n for run in leading for n in self._within(tables.digits.get(run, ()))}
        if number.value.kind in NUMERIC:
            is_exact = number.value.limit != "~"
            is_long = is_exact and all(len(one) >= _LONG for one in _amounts(number))
            words_of = tables.spelled_long if is_long else tables.spelled
            found.update(self._within(words_of), self._within(tables.rough))
        return found

    def _perhaps(self, key: str) -> Sequence[int]:
        digits = _DIGITS.search(key)
        if digits is not None:  # COVID-19
            return self._tables.digits.get(digits.group().lstrip("0"), ())
        return self._tables.perhaps.get(key, ())

    def _within(self, numbers: Sequence[int]) -> Sequence[int]:
        """Those of some sentences, in their order, that are here."""
        runs = self._runs
        if not numbers or not runs:
            return ()
        if 20 * len(runs) < len(numbers) or len(runs) == 1:
            found = array("I")
            for first, behind in runs:
                found.extend(numbers[bisect_left(numbers, first) : bisect_left(numbers, behind)])
            return found
        if self._mask is None:
            mask = bytearray(runs[-1][1])
            for first, behind in runs:
                mask[first:behind] = b"\1" * (behind - first)
            self._mask = mask
        mask, end = self._mask, len(self._mask)
        return [number for number in numbers if number < end and mask[number]]


def leading_digits(number: Number, known: Iterable[str]) -> list[str] | None:
    """Return the digits that a text which says a number in digits may begin it with.

    Zeros before them are left out. None: they may be any, or there may be none.

    Args:
        number: The number.
        known: All digits of the texts.
    """
    value = number.value
    if value.kind is ValueKind.DATE:
        years = [one[:4] for one in (value.canonical, *value.also)]
        return years if all(len(one) == 4 and one.isdecimal() for one in years) else None
    amounts = _amounts(number)
    if not amounts:
        return None
    if value.limit == "~":
        return [run for run in list(known) if run and any(_may_be_near(run, a) for a in amounts)]
    found: dict[str, None] = {}
    for amount in amounts:
        padded = amount + "0" * _MOST_ZEROS
        found.update((padded[:end], None) for end in range(1, len(padded) + 1))
    return list(found)


def _amounts(number: Number) -> list[str]:
    """The digits of a figure in each unit that it may be written in, without zeros at the ends.

    Empty: they are not known.
    """
    value = number.value
    sizes = {size for unit, size in MEASURES.values() if unit == value.unit} | {Decimal(1)}
    found: list[str] = []
    for one in (value.canonical, *value.also):
        amount = one.lstrip("<>=~").removeprefix("-")
        if not amount.replace(".", "", 1).isdecimal() or len(amount) > _MOST_ZEROS:
            return []
        for size in sizes:
            part = Decimal(amount) / size
            if part * size == Decimal(amount) or value.limit == "~":
                found.append(format(part, "f").replace(".", "").strip("0"))
    return found if all(found) else []


def _may_be_near(run: str, amount: str) -> bool:
    """Return whether a number that begins with some digits may be near an amount."""
    first = int(run[:_EXACT]) / 10 ** (len(run[:_EXACT]) - 1)
    behind = (int(run[:_EXACT]) + 1) / 10 ** (len(run[:_EXACT]) - 1)
    wanted = int(amount[:_EXACT]) / 10 ** (len(amount[:_EXACT]) - 1)
    return any(
        first <= wanted * ten * _NEAR and wanted * ten / _NEAR <= behind for ten in (0.1, 1, 10)
    )
