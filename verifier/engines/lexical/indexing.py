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
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import chain, islice

from veritrail_graph.graph.model import Sentence
from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.engines.lexical.reading import Name, Number, Reading, read_once
from veritrail_graph.verifier.ports import ReadNode
from veritrail_graph.verifier.values.model import NUMERIC, ValueKind
from veritrail_graph.verifier.values.numbers import STARTING_FIGURES
from veritrail_graph.verifier.values.reading import (
    IN_VALUES,
    STARTING,
    text_read,
    without_citations,
)
from veritrail_graph.verifier.values.units import MEASURES

_MOST_SENTENCES = 8_000_000
"""Sentences of which the words are kept, in several hundred megabytes; then it begins anew."""
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_DIGITS = re.compile(r"\d+")
_BESIDE_DIGITS = re.compile(r"\d[^\W\d_]|[^\W\d_]\d")  # 5kg
_DOTTED = re.compile(r"[^\W\d_]\.[^\W\d_]|[AaPp]\. ?[Mm]\b")  # U.S., 5 p. m.
_HYPHENED = re.compile(r"(?<![A-Za-z'])'?[A-Z][A-Za-z']*\s*-\s*[A-Za-z]")  # Co-operative
_A_SPEED = re.compile(r"\bkm\s*/")
_OTHER_LETTERS = re.compile(r"[^\W_a-zA-Z0-9]")
_ABOUT = frozenset(("about", "around", "approximately", "roughly", "nearly", "almost", "circa",
    "some", "estimated", "close", "so"))  # fmt: skip
_SIGNS_OF_OTHERS = re.compile(r"[~\u2248^]|\d\s*/\s*\d")
_LONG = 3
"""Digits from which on a figure in words has two words and more."""
_NONE: array[int] = array("I")
_REPEATS, _ROUGH, _NUMBERED = 1, 2, 4
"""Signs of a sentence: it has a word twice, a fraction or power; it may have a value."""
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
        is_unless_numbered: Whether a sentence that may have no figure, date or time has them.
        initial: For a word with a capital the first letter of its key.
        abbreviates: The word in small letters, if all of its letters are capitals.
        starts: Whether a figure, a date or a time may start with it.
        counts: Whether it may be a figure, or a part of one, in words.
        is_about: Whether a figure behind it may be a rough one.
    """

    sure: str | None
    perhaps: tuple[str, ...]
    is_unless_numbered: bool
    initial: str
    abbreviates: str
    starts: bool
    counts: bool
    is_about: bool


@lru_cache(maxsize=100_000)
def _form(form: str) -> _Form:
    lower = form.casefold().removesuffix("'s")
    key = words.key(lower)
    is_capital = form[0].isupper()
    sure, perhaps, is_unless_numbered = None, set[str](), False
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
        is_unless_numbered = len(lower) > 1 and not is_capital and lower not in words.NAME_LINKS
    elif len(lower) > 1 or form.isupper():
        sure = key
    elif is_capital:
        perhaps.add(key)  # Company X's
    is_link = lower in words.NAME_LINKS
    whole = form.removesuffix("'s")
    return _Form(
        sure=sure,
        perhaps=tuple(perhaps),
        is_unless_numbered=is_unless_numbered,
        initial=key[:1] if is_capital and not is_link else "",
        abbreviates=whole.casefold() if len(whole) > 1 and whole.isupper() else "",
        starts=lower in STARTING,
        counts=lower in STARTING_FIGURES or lower in ("thirds", "quarter", "quarters", "fifths"),
        is_about=lower in _ABOUT,
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
    """The words of sentences, which are numbered in the order in which they were read.

    A word is kept as it is written; what it means is looked up once for all sentences with it.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()  # of what is made of all sentences, and of adding
        self.places: dict[int, int] = {}
        self.counts = array("I")
        self.firsts = array("I")
        self.number = 0
        self.forms = _Postings()  # by a word as it is written
        self.keys = _Postings()  # of sentences that were read, by key
        self.initials = _Postings()
        self.abbreviations = _Postings()
        self.digits = _Postings()
        self.signs = bytearray()  # of each sentence, see `_NUMBERED`
        self.read_numbers = array("I")  # sentences that were read and have a figure
        self.known: dict[str, dict[int, bool]] = {}
        self.values: dict[int, tuple[Number, ...]] = {}  # of sentences whose values were asked for
        self._told = 0  # of how many forms it is known what they mean
        self._marked: dict[str, int] = {}  # in how many sentences with a form that is noted
        self._sure: dict[str, list[str]] = {}
        self._perhaps: dict[str, list[str]] = {}
        self._unless_numbered: dict[str, list[str]] = {}
        self._capitals: dict[str, list[str]] = {}
        self._short: dict[str, list[str]] = {}
        self._counting: list[str] = []
        self._rough: list[str] = []
        self._made: dict[str, tuple[Sequence[int], Sequence[int]]] = {}
        self._figures: tuple[Sequence[int], Sequence[int], Sequence[int]] | None = None

    def add(self, name: int, node: ReadNode) -> None:
        """Take in the sentences of a node."""
        sentences = node.sentences
        self.places[name] = len(self.firsts)
        self.firsts.append(self.number)
        self.counts.append(len(sentences))
        for sentence in sentences:
            self.signs.append(self._add(self.number, sentence.text))
            self.number += 1

    def _add(self, number: int, text: str) -> int:
        normal, _ = without_citations(text)
        digits = _DIGITS.findall(normal)
        for run in digits:
            self.digits.add(run.lstrip("0"), number)
        if _is_uncertain(normal, has_digits=bool(digits)):
            return self._add_reading(number, read_once(text))
        found = _WORD.findall(normal)
        forms = set(found)
        postings = self.forms
        for form in forms:
            if form in postings:
                postings[form].append(number)
            else:
                postings[form] = array("I", (number,))
        signs = _REPEATS if len(forms) < len(found) else 0
        if digits:
            signs |= _NUMBERED
            if _SIGNS_OF_OTHERS.search(normal):
                signs |= _ROUGH
        return signs

    def _add_reading(self, number: int, reading: Reading) -> int:
        for key in reading.keys:
            self.keys.add(key, number)
        for name in reading.names:
            self.initials.add("".join(part[:1] for part in name.parts), number)
            if name.surface.isupper():
                self.abbreviations.add(name.surface.casefold(), number)
        if reading.numbers:
            self.read_numbers.append(number)
        return _NUMBERED if reading.numbers else 0

    def tell(self) -> None:
        """Look up what the words mean that were added."""
        for form in islice(self.forms, self._told, None):
            self._tell(form, _form(form))
        self._told = len(self.forms)
        signs = self.signs
        for form, done in self._marked.items():
            numbers = self.forms[form]
            for number in numbers[done:]:
                signs[number] |= _NUMBERED
            self._marked[form] = len(numbers)
        self._made.clear()
        self._figures = None

    def _tell(self, form: str, it: _Form) -> None:
        if it.sure is not None:
            self._sure.setdefault(it.sure, []).append(form)
        for key in it.perhaps:
            kept = self._unless_numbered if it.is_unless_numbered else self._perhaps
            kept.setdefault(key, []).append(form)
        if it.initial:
            self._capitals.setdefault(it.initial, []).append(form)
            if it.abbreviates:
                self._short.setdefault(it.abbreviates, []).append(form)
        if it.starts:
            self._marked[form] = 0
        if it.counts:
            self._counting.append(form)
        if it.is_about:
            self._rough.append(form)

    def with_key(self, key: str) -> tuple[Sequence[int], Sequence[int]]:
        """The sentences that have a key, and others that may have it, in their order."""
        with self.lock:
            if key not in self._made:
                sure = [self.forms[form] for form in self._sure.get(key, ())]
                perhaps = [self.forms[form] for form in self._perhaps.get(key, ())]
                for form in self._unless_numbered.get(key, ()):
                    numbers = self.forms[form]
                    sure.append(array("I", (n for n in numbers if not self.signs[n] & _NUMBERED)))
                    perhaps.append(array("I", (n for n in numbers if self.signs[n] & _NUMBERED)))
                digits = _DIGITS.search(key)
                if digits is not None:  # COVID-19
                    perhaps.append(self.digits.get(digits.group().lstrip("0"), _NONE))
                sure.append(self.keys.get(key, _NONE))
                certain = _merged(sure)
                others: Sequence[int] = _merged(perhaps)
                if certain and others:
                    known = set(certain)
                    others = array("I", (number for number in others if number not in known))
                self._made[key] = certain, others
            return self._made[key]

    def with_short_form(self, initials: str) -> Sequence[int]:
        """The sentences that may have an abbreviation of a name with these initials."""
        with self.lock:
            found = [self.forms[form] for form in self._short.get(initials, ())]
            return _merged([*found, self.abbreviations.get(initials, _NONE)])

    def with_initials(self, short: str) -> Sequence[int]:
        """The sentences that may have a name that these letters abbreviate."""
        with self.lock:
            groups = [
                set(chain(*(self.forms[form] for form in self._capitals.get(letter, ()))))
                for letter in set(short)
            ]
            found = set.intersection(*groups) if groups else set[int]()
            read = [numbers for initials, numbers in self.initials.items() if short in initials]
            return sorted(found.union(*read))

    def figures(self) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
        """The sentences with figures in words, in several words, and with rough figures."""
        with self.lock:
            if self._figures is None:
                signs = self.signs
                counts = Counter(chain(*(self.forms[form] for form in self._counting)))
                read = self.read_numbers
                # Digits and words make no figure together, but for a scale behind digits.
                long = (n for n, count in counts.items() if count > 1 or signs[n] & _REPEATS)
                about = chain(*(self.forms[form] for form in self._rough))
                rough = {number for number in about if signs[number] & _NUMBERED}
                rough.update(number for number, sign in enumerate(signs) if sign & _ROUGH)
                self._figures = (
                    array("I", sorted({*counts, *read})),
                    array("I", sorted({*long, *read})),
                    array("I", sorted({*rough, *read})),
                )
            return self._figures

    def is_numbered(self, number: int) -> bool:
        """Return whether a sentence may have a figure, a date or a time."""
        return bool(self.signs[number] & _NUMBERED)


def _is_uncertain(normal: str, *, has_digits: bool) -> bool:
    """Return whether the words of a text tell too little of how it is read."""
    if not normal.isascii() and _OTHER_LETTERS.search(normal) is not None:
        return True
    return (
        (has_digits and _BESIDE_DIGITS.search(normal) is not None)
        or ("." in normal[:-1] and _DOTTED.search(normal) is not None)
        or ("-" in normal and _HYPHENED.search(normal) is not None)
        or ("/" in normal and _A_SPEED.search(normal) is not None)
        or "''" in normal
    )


def _merged(found: Sequence[array[int]]) -> array[int]:
    """Numbers of several lists, each once, in their order."""
    full = [numbers for numbers in found if numbers]
    if len(full) < 2:
        return full[0] if full else _NONE
    return array("I", sorted(set(chain(*full))))


class SentenceIndex:
    """The words of the sentences of nodes; several threads may ask it at the same time.

    Args:
        least_nodes: How many nodes are worth their place in it.
    """

    def __init__(self, least_nodes: int = 500) -> None:
        self.least_nodes = least_nodes
        self._lock = threading.Lock()
        self._tables = _Tables()
        self._last: tuple[list[int], SentenceView] | None = None

    def view(self, nodes: Sequence[ReadNode]) -> SentenceView:
        """Return what is known of the sentences of these nodes, each of which is given once."""
        with self._lock, self._tables.lock:
            names = [hash((node.ref.node_id, node.text)) for node in nodes]
            if self._last is not None and self._last[0] == names:
                return self._last[1]  # claims often read the same nodes
            tables = self._tables
            if tables.number > _MOST_SENTENCES and not tables.places.keys() >= set(names):
                tables = self._tables = _Tables()
            before = tables.number
            for name, node in zip(names, nodes, strict=True):
                if name not in tables.places:
                    tables.add(name, node)
            if tables.number > before:
                tables.tell()
            view = SentenceView(tables, nodes, [tables.places[name] for name in names])
            self._last = names, view
            return view


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
        self._counts: dict[str, int] = {}

    def sentence(self, number: int) -> Sentence:
        """A sentence by its number."""
        place = bisect_right(self._firsts, number) - 1
        # Nodes without sentences have the number of the next one.
        return self._nodes[self._order[place]].sentences[number - self._firsts[place]]

    def may_have_number(self, number: int) -> bool:
        """Return whether a sentence may have a figure, a date or a time."""
        return self._tables.is_numbered(number)

    def count(self, key: str) -> int:
        """Return how many of the sentences have a key."""
        if key not in self._counts:
            sure, perhaps = map(self._within, self._tables.with_key(key))
            known = self._tables.known.setdefault(key, {})
            for number in perhaps:
                if number not in known:
                    known[number] = self._has(number, key)
            self._counts[key] = len(sure) + sum(known[number] for number in perhaps)
        return self._counts[key]

    def _has(self, number: int, key: str) -> bool:
        text = self.sentence(number).text
        if key == words.UNIVERSAL_KEY and _has_every(text):
            return True
        return key in read_once(text).keys

    def with_key(self, key: str) -> Sequence[int]:
        """The sentences that may have a key, each once."""
        sure, perhaps = map(self._within, self._tables.with_key(key))
        if not len(perhaps):
            return sure
        return sorted((*sure, *perhaps)) if len(sure) else perhaps

    def with_name(self, name: Name) -> Sequence[int]:
        """The sentences that may have a name, or an abbreviation of it."""
        tables, found = self._tables, self.with_key(name.parts[-1])
        initials = "".join(part[:1] for part in name.parts)
        others: list[int] = []
        if len(initials) > 1:
            others += self._within(tables.with_short_form(initials))
        if len(name.surface) > 1 and name.surface.isupper():
            others += self._within(tables.with_initials(name.surface.casefold()))
        return sorted({*found, *others}) if others else found

    def with_number(self, number: Number) -> Sequence[int]:
        """The sentences that may have a figure, a date or a time as a claim has it."""
        tables = self._tables
        leading = leading_digits(number, tables.digits)
        if leading is None:
            numbers = chain(*(range(*run) for run in self._runs))
            return [n for n in numbers if tables.is_numbered(n)]
        found = {n for run in leading for n in self._within(tables.digits.get(run, ()))}
        if number.value.kind in NUMERIC:
            is_exact = number.value.limit != "~"
            is_long = is_exact and all(len(one) >= _LONG for one in _amounts(number))
            spelled, spelled_long, rough = tables.figures()
            found.update(self._within(spelled_long if is_long else spelled), self._within(rough))
        return sorted(one for one in found if self._agrees(one, number))

    def _agrees(self, number: int, wanted: Number) -> bool:
        """Return whether a sentence, which is read once for all claims, has a value."""
        known = self._tables.values
        if number not in known:
            placed = text_read(self.sentence(number).text).placed
            known[number] = tuple(
                Number(one.value, one.value.surface)
                for one in placed
                if one.value.kind is not ValueKind.NAME
            )
        return any(one.agrees_with(wanted) for one in known[number])

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


def _has_every(text: str) -> bool:
    """Return whether a text surely has a word for all that is no part of another phrase: in all."""
    before = ""
    for form in _WORD.findall(without_citations(text)[0]):
        lower = form.casefold().removesuffix("'s")
        is_every = lower in words.UNIVERSAL and form[0].islower()
        if is_every and before not in words.NOT_UNIVERSAL_AFTER:
            return True
        before = lower
    return False


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
