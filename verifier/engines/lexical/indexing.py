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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from operator import is_

from veritrail_graph.graph.model import Sentence
from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.engines.lexical.forms import ACCENTED, Form, form_of
from veritrail_graph.verifier.engines.lexical.postings import NONE, Postings
from veritrail_graph.verifier.engines.lexical.reading import Name, Number, Reading, read_once
from veritrail_graph.verifier.filed_texts import UNKNOWN, NumbersOfNodes
from veritrail_graph.verifier.ports import ReadNode, are_longer
from veritrail_graph.verifier.values.model import NUMERIC, ValueKind
from veritrail_graph.verifier.values.moments import MONTHS
from veritrail_graph.verifier.values.reading import (
    text_read,
    without_citations,
)
from veritrail_graph.verifier.values.units import MEASURES

_MOST_SENTENCES = 8_000_000
"""Sentences of which the words are kept, in several hundred megabytes; then it begins anew."""
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_PART = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[^\w\s]|_")
_DIGITS = re.compile(r"\d+")
_BESIDE_DIGITS = re.compile(r"\d[^\W\d_]|[^\W\d_]\d")  # 5kg
_DOTTED = re.compile(r"[^\W\d_]\.[^\W\d_]|[AaPp]\. ?[Mm]\b")  # U.S., 5 p. m.
_HYPHENED = re.compile(  # Co-operative, Saint-\u00c9tienne
    r"(?<![^\W\d_])(?<!')'?(?![a-z\u00df-\u00ff])[^\W\d_](?:[^\W\d_]|')*\s*-\s*[^\W\d_]"
)
_A_SPEED = re.compile(r"\bkm\s*/")
_OTHER_LETTERS = re.compile(f"[^\\W_a-zA-Z0-9{ACCENTED}]")
_SIGNS_OF_OTHERS = re.compile(r"[~\u2248^]|\d\s*/\s*\d")
_LONG = 3
"""Digits from which on a figure in words has two words and more."""
_REPEATS, _ROUGH, _NUMBERED = 1, 2, 4
"""Signs of a sentence: it has a word twice, a fraction or power; it may have a value."""
_MOST_ZEROS = 40
"""No figure with more digits is compared as one."""
_EXACT = 12  # digits
_NEAR = 1.06
"""How far a rough figure may be from another, with some room; see `Value.agrees`."""


class _Numbers(dict[str, "array[int]"]):
    """Numbers of sentences, ascending, by what they have."""

    def add(self, name: str, number: int) -> None:
        found = self.get(name)
        if found is None:
            self[name] = array("I", (number,))
        elif found[-1] != number:
            found.append(number)


@dataclass(frozen=True, slots=True)
class _Spelled:
    """The sentences with figures in words.

    Attributes:
        every: All of them.
        long: Those with several words for figures.
        rough: Those with rough figures, in words or digits, and those that were read.
        several: Those with several words for a thousand and more: their sum may be any.
        leading: By the digits that their figures begin with, or "".
        ordinals: Those with a word such as first, by its digits.
    """

    every: Sequence[int]
    long: Sequence[int]
    rough: Sequence[int]
    several: Sequence[int]
    leading: Mapping[str, Sequence[int]]
    ordinals: Mapping[str, Sequence[int]]

    def with_one_of(self, amounts: Sequence[str]) -> set[int]:
        """The sentences that may have a figure with some digits in words."""
        found = {one[:end] for one in amounts for end in range(1, len(one) + 1)}
        there = set(self.several)
        for digits, numbers in self.leading.items():
            if not digits or digits in found:
                there.update(numbers)
        return there if any(len(one) < _LONG for one in amounts) else there.intersection(self.long)


class _Tables:
    """The words of sentences, which are numbered in the order in which they were read.

    A word is kept as it is written; what it means is looked up once for all sentences with it. Of
    one that no reading has, such as an article, the sentences are not kept.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()  # of what is made of all sentences, and of adding
        self.places = NumbersOfNodes(lambda node: hash((node.ref.node_id, node.text)))
        self.counts = array("I")
        self.firsts = array("I")
        self.number = 0
        self._forms = Postings()  # by a word as it is written
        self.keys = _Numbers()  # of sentences that were read, by key
        self.initials = _Numbers()
        self.abbreviations = _Numbers()
        self.digits = _Numbers()
        self.signs = bytearray()  # of each sentence, see `_NUMBERED`
        self.read_numbers = array("I")  # sentences that were read and have a figure
        self.known: dict[str, dict[int, bool]] = {}
        self.values: dict[int, tuple[Number, ...]] = {}  # of sentences whose values were asked for
        self._starting: set[str] = set()  # words that a figure, a date or a time may start with
        self._sure: dict[str, str] = {}  # words by key, a space between them: most are alone
        self._perhaps: dict[str, list[str]] = {}
        self._unless_numbered: dict[str, list[str]] = {}
        self._capitals: dict[str, list[str]] = {}
        self._short: dict[str, list[str]] = {}
        self._counting: dict[str, Form] = {}
        self._rough: list[str] = []
        self._made: dict[str, tuple[Sequence[int], Sequence[int]]] = {}
        self._figures: _Spelled | None = None

    def add(self, node: ReadNode) -> None:
        """Take in the sentences of a node."""
        sentences = node.sentences
        self.places.put(node, len(self.firsts))
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
        last, kept = self._forms.last, 0
        for form in forms:
            numbers = last.get(form)
            if numbers is None:
                numbers = last[form] = self._tell(form, form_of(form))
            if numbers is not NONE:
                numbers.append(number)
                kept += 1
        self._forms.added(kept)
        signs = _REPEATS if len(forms) < len(found) else 0
        if not self._starting.isdisjoint(forms):
            signs |= _NUMBERED
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

    def forget(self) -> None:
        """Forget what was made of all sentences, as others were added."""
        self._made.clear()
        self._figures = None

    def _tell(self, form: str, it: Form) -> array[int]:
        """Take in what a word means; gives where its sentences are kept: nowhere if it is empty."""
        if it.is_empty:
            return NONE
        if it.sure is not None:
            others = self._sure.get(it.sure)
            key = form if it.sure == form else it.sure  # one string, where they are the same
            self._sure[key] = form if others is None else f"{others} {form}"
        for key in it.perhaps:
            kept = self._unless_numbered if it.is_unless_numbered else self._perhaps
            kept.setdefault(key, []).append(form)
        if it.initial:
            self._capitals.setdefault(it.initial, []).append(form)
            if it.abbreviates:
                self._short.setdefault(it.abbreviates, []).append(form)
        if it.starts:
            self._starting.add(form)
        if it.counts:
            self._counting[form] = it
        if it.is_about:
            self._rough.append(form)
        return array("I")

    def with_key(self, key: str) -> tuple[Sequence[int], Sequence[int]]:
        """The sentences that have a key, and others that may have it, in their order."""
        with self.lock:
            if key not in self._made:
                sure = [self._forms.numbers(form) for form in self._sure.get(key, "").split()]
                perhaps = [self._forms.numbers(form) for form in self._perhaps.get(key, ())]
                for form in self._unless_numbered.get(key, ()):
                    numbers = self._forms.numbers(form)
                    sure.append(array("I", (n for n in numbers if not self.signs[n] & _NUMBERED)))
                    perhaps.append(array("I", (n for n in numbers if self.signs[n] & _NUMBERED)))
                digits = _DIGITS.search(key)
                if digits is not None:  # COVID-19
                    perhaps.append(self.digits.get(digits.group().lstrip("0"), NONE))
                sure.append(self.keys.get(key, NONE))
                certain = _merged(sure)
                others: Sequence[int] = _merged(perhaps)
                if certain and others:
                    known = set(certain)
                    others = array("I", (number for number in others if number not in known))
                self._made[key] = certain, others
            return self._made[key]

    def with_shortform_of(self, initials: str) -> Sequence[int]:
        """The sentences that may have an abbreviation of a name with these initials."""
        with self.lock:
            found = [self._forms.numbers(form) for form in self._short.get(initials, ())]
            return _merged([*found, self.abbreviations.get(initials, NONE)])

    def with_initials(self, short: str) -> Sequence[int]:
        """The sentences that may have a name that these letters abbreviate."""
        with self.lock:
            groups = [
                set(chain(*(self._forms.numbers(form) for form in self._capitals.get(letter, ()))))
                for letter in set(short)
            ]
            found = set.intersection(*groups) if groups else set[int]()
            read = [numbers for initials, numbers in self.initials.items() if short in initials]
            return sorted(found.union(*read))

    def figures(self) -> _Spelled:
        """The sentences with figures in words, and with rough figures."""
        with self.lock:
            if self._figures is None:
                signs, numbers_of = self.signs, self._forms.numbers
                counts = Counter(chain(*map(numbers_of, self._counting)))
                # Digits and words make no figure together, but for a scale behind digits.
                long = (n for n, count in counts.items() if count > 1 or signs[n] & _REPEATS)
                about = chain(*map(numbers_of, self._rough))
                rough = {number for number in about if signs[number] & _NUMBERED}
                rough.update(number for number, sign in enumerate(signs) if sign & _ROUGH)
                thousands = (numbers_of(form) for form, it in self._counting.items() if it.is_scale)
                scales = Counter(chain(*thousands))
                several = {n for n, count in scales.items() if count > 1 or signs[n] & _REPEATS}
                leading: dict[str, list[array[int]]] = {}
                ordinals: dict[str, list[array[int]]] = {}
                for form, it in self._counting.items():
                    if it.ordinal:
                        ordinals.setdefault(it.ordinal, []).append(numbers_of(form))
                    if it.leads is not None:
                        leading.setdefault(it.leads, []).append(numbers_of(form))
                self._figures = _Spelled(
                    every=array("I", sorted(counts)),
                    long=array("I", sorted(long)),
                    rough=array("I", sorted(rough.union(self.read_numbers))),
                    several=array("I", sorted(several)),
                    leading={digits: _merged(found) for digits, found in leading.items()},
                    ordinals={digits: _merged(found) for digits, found in ordinals.items()},
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
        return full[0] if full else NONE
    return array("I", sorted(set(chain(*full))))


class SentenceIndex:
    """The words of the sentences of nodes; several threads may ask it at the same time.

    Args:
        least_nodes: How many nodes are worth their place in it.
        least_characters: How many characters of fewer nodes are.
    """

    def __init__(self, least_nodes: int = 500, least_characters: int = 300_000) -> None:
        self._least = least_nodes, least_characters
        self._lock = threading.Lock()
        self._tables = _Tables()
        self._last: tuple[array[int], SentenceView] | None = None

    def takes(self, nodes: Sequence[ReadNode]) -> bool:
        """Return whether nodes have so much text that it is worth to ask the index about them."""
        least_nodes, least_characters = self._least
        return len(nodes) >= least_nodes or are_longer(nodes, least_characters)

    def view(self, nodes: Sequence[ReadNode]) -> SentenceView:
        """Return what is known of the sentences of these nodes, each of which is given once."""
        with self._lock, self._tables.lock:
            last = self._last
            if (
                last is not None
                and len(last[1].nodes) == len(nodes)
                and all(map(is_, last[1].nodes, nodes))
            ):  # claims often read the same nodes
                return last[1]
            tables = self._tables
            places = tables.places.numbers(nodes)
            is_new = UNKNOWN in places
            if is_new and tables.number > _MOST_SENTENCES:
                tables, self._last = _Tables(), None
                self._tables, places = tables, tables.places.numbers(nodes)
            elif last is not None and last[0] == places:
                return last[1]
            if is_new:
                for place, node in zip(places, nodes, strict=True):
                    if place == UNKNOWN:
                        tables.add(node)
                tables.forget()
                places = tables.places.numbers(nodes)
            view = SentenceView(tables, nodes, places)
            self._last = places, view
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
        self.nodes = nodes
        self._order = array("I", sorted(range(len(nodes)), key=places.__getitem__))
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
        return self.nodes[self._order[place]].sentences[number - self._firsts[place]]

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
        return _is_beside_no_value(key, text) or key in read_once(text).keys

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
            others += self._within(tables.with_shortform_of(initials))
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
        if number.value.kind is ValueKind.DATE:  # May, the third: it may be said without its year
            found.update(self._within(tables.read_numbers))
            for name in _months(number):
                found.update(self.with_key(words.key(name)))
        if number.value.kind in NUMERIC:
            spelled = tables.figures()
            for amount in _amounts(number):  # of a unit, too: $ second
                found.update(self._within(spelled.ordinals.get(amount, NONE)))
            if number.value.unit == "ordinal":
                found.update(self._within(tables.read_numbers))
            elif number.value.limit == "~":
                found.update(self._within(spelled.every), self._within(spelled.rough))
            else:
                counting = sorted(spelled.with_one_of(_amounts(number)))
                found.update(self._within(counting), self._within(spelled.rough))
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


def _is_beside_no_value(key: str, text: str) -> bool:
    """Return whether a text surely has a word by itself, which may be a part of a figure or date.

    All parts of these are such words, digits or marks, and one of them is what they start with.
    """
    is_there = can_start = False
    before = ""
    for part in _PART.findall(without_citations(text)[0]):
        form = form_of(part) if part[0].isalpha() else None
        if form is not None and not form.is_in_values:
            if is_there and not can_start:
                return True
            is_there = can_start = False
        elif form is not None:
            is_there = is_there or (form.is_unless_numbered and key in form.perhaps)
            can_start = can_start or (form.starts and (not form.is_scale or before == "a"))
        else:
            can_start = can_start or part.isdecimal()
        before = part.casefold()
    return is_there and not can_start


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


def _months(number: Number) -> list[str]:
    """The names of the months that a date may be in, in each form."""
    there = {one[5:7] for one in (number.value.canonical, *number.value.also)}
    return [name for name, month in MONTHS.items() if f"{month:02}" in there]


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
