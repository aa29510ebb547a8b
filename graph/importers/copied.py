"""Words that models wrote or users said, found again in what tools and retrievers returned.

A tool may put a model's sentence between words of its own, or cut it off. Words are compared in
their order, without case, signs, escapes, and the tags and entities of HTML. Names and common
phrases do not count: a whole sentence does, most of a sentence of the result, all that stands
between two signs of it, and a long run of words.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from itertools import accumulate
from sys import intern
from typing import Generic, TypeVar

from veritrail_graph.graph.errors import shown
from veritrail_graph.graph.sentences.unmarked import UNSPACED

T = TypeVar("T")
H = TypeVar("H")

_SEED = 4
"""Words that must be alike before a place is looked at; a shorter text is a name or a phrase."""
_SENTENCE = 5
"""Words of a sentence that counts at any place."""
_RUN = 12
"""Words in one order that are no chance, whatever is around them."""
_CUT_OFF = 8
"""The same for words behind which a text is cut off."""
_LONG_WORD = 4
"""Letters; shorter words of a title are often small."""
_MOST_OF_IT = 0.75
"""Share of a sentence of the result."""
_LONGEST = 60
"""Words of a part of a sentence that is looked for as one."""
_MOST_ALIKE = 8
"""Of the sentences that hold the same four words the first so many are compared."""
_MOST_AUTHORS = 200
"""Of the authors of one sentence the first so many are looked at."""
_LEAST_WORK, _WORK_A_WORD = 5_000_000, 50
_FEWEST_LEFT = 3
"""Words; what is left of a result with fewer says nothing."""
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([nrt\"'\\/]))")
"""An escape as programs write it in JSON and in code."""
_ESCAPES = {"n": "\n", "r": "\n", "t": "\t"}
_FILL = "\x00"
"""Fills the place of an escape behind its character, so that each word keeps its place."""
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_NAMES = (
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|highlight|hit|hl|i|ins|kbd|label|"
    "mark|q|s|samp|small|span|strike|strong|sub|sup|time|tt|u|var|wbr"
)
"""Tags that stand within a sentence."""
_BLOCKS = (
    "address|article|aside|blockquote|body|br|caption|center|dd|details|div|dl|dt|figcaption|"
    "figure|footer|form|h[1-6]|head|header|hr|html|legend|li|main|nav|ol|option|p|pre|section|"
    "summary|table|tbody|td|tfoot|th|thead|title|tr|ul"
)
"""Tags between which a sentence ends."""
_TAG = re.compile(
    rf"<{_FILL}{{0,5}}/?{_FILL}{{0,5}}(?:(?P<within>{_NAMES})|{_BLOCKS})(?=[\s/>])[^<>]*>{_FILL}*",
    re.I,
)
_TEXT_OF_TAG = re.compile(r"""(?<!class)(?<!style)=\\?["'](?:[^"'\s]+\s+){3}""", re.I)
"""A value in a tag that may be a sentence, such as the text for a picture."""
_UNSEEN = str.maketrans(dict.fromkeys("\xad\u200b\u2060\ufeff", _FILL))
"""Signs that nobody sees: where a word may be parted at the end of a line."""
_UNSPACED = re.compile(rf"[{UNSPACED}]")
_LETTER = rf"[^\W_{UNSPACED}]"
_PARTS = re.compile(rf"([{UNSPACED}]|{_LETTER}(?:{_FILL}*{_LETTER})*)")
_ENDS = re.compile(r"[.!?…。！？؟।](?=[\s\x00\"'”»)\]}*]|$)|[。！？\n\r]")  # noqa: RUF001
_EDGES = re.compile(r"[^\s\w,'’\x00-]|\n|\s-\s")  # noqa: RUF001
_NUMBERED = re.compile(r"^[^\S\n]*([0-9]{1,6})(?:\t|→|[^\S\n]*\|)", re.M)
_ASKS = re.compile(r"\s*[?？؟]")  # noqa: RUF001
_LABELS = re.compile(r"[\s\x00]*[:=][\s\x00]+")
_CLOSES = re.compile(r"[\x00.!…。！]*")  # noqa: RUF001
_CUT = re.compile(
    r"\s*(?:\.{3}|…|[\[(<{]\s*(?:…|\.{3}|truncat|cut|gek|abge|more|omitted|\+?\d+ more)|\W*$)", re.I
)
GAP = " […] "
"""The sign for words that are left out of a text."""


class _Words:
    """The words of a text.

    Attributes:
        text: The text with its escapes, entities and tags read, of the same length.
        words: Its words in small letters.
        starts: Where each word begins.
        ends: Behind the last letter of each word.
    """

    def __init__(self, text: str) -> None:
        self.text = _without_line_numbers(_read(text))
        small = self.text.lower()
        # A sign that becomes two in small letters would move all behind it.
        small = small if len(small) == len(self.text) else self.text
        parts = _PARTS.split(small)  # a gap, a word, and so on; a gap at the end
        words = parts[1::2]
        words = [one.replace(_FILL, "") for one in words] if _FILL in small else words
        self.words = [*map(intern, words)]  # most words stand in many texts
        behind = [*accumulate(map(len, parts))]
        self.starts, self.ends = array("I", behind[:-1:2]), array("I", behind[1::2])
        self._has_unspaced = bool(_UNSPACED.search(small))

    @cached_property
    def _weights(self) -> list[float]:
        return [0.0, *accumulate(0.5 if _UNSPACED.match(one) else 1.0 for one in self.words)]

    @cached_property
    def _full_stops(self) -> array[int]:
        """The places of the signs that end a sentence."""
        return array("I", (one.start() for one in _ENDS.finditer(self.text)))

    def between(self, at: int) -> str:
        """Return the signs between a word and the word before it."""
        start = self.ends[at - 1] if at else 0
        end = self.starts[at] if at < len(self.starts) else len(self.text)
        return self.text[start:end]

    def ends_before(self, at: int) -> bool:
        """Return whether a sentence ends between a word and the word before it."""
        place = bisect_left(self._full_stops, self.ends[at - 1])
        end = self.starts[at] if at < len(self.starts) else len(self.text)
        return place < len(self._full_stops) and self._full_stops[place] < end

    def clause(self, start: int, end: int, begin: int, stop: int) -> list[str]:
        """Return the words around some others without a sign between, within a sentence."""
        first, last = start, end
        while first > begin and not self._is_edge(first):
            first -= 1
        while last < stop and not self._is_edge(last):
            last += 1
        return self.words[first:start] + self.words[end:last]

    def _is_edge(self, at: int) -> bool:
        return bool(_EDGES.search(self.between(at)))

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """The words of each sentence, from one number to another."""
        if not self.words:
            return []
        behind = (bisect_left(self.starts, place) for place in self._full_stops)
        cuts = sorted({0, *behind} - {len(self.words)})
        return list(zip(cuts, [*cuts[1:], len(self.words)], strict=True))

    def is_name(self, start: int, end: int) -> bool:
        """Return whether all longer words of a range begin with a capital, as in a title."""
        spans = zip(self.starts[start:end], self.ends[start:end], strict=True)
        words = [self.text[a:b] for a, b in spans if b - a >= _LONG_WORD]
        return bool(words) and all(word[0].isupper() for word in words)

    def is_label(self, end: int, stop: int, known: Sequence[str]) -> bool:
        """Return whether words are a label, behind which the sentence tells something of its own.

        Args:
            end: Behind the last of the words.
            stop: Behind the last word of the sentence.
            known: Words that tell nothing new.
        """
        if end >= stop or not _LABELS.match(self.text, self.ends[end - 1]):
            return False
        own = [one for one in self.words[end:stop] if one not in known]
        has_figure = any(any(map(str.isdigit, one)) for one in own)
        return len(own) >= _FEWEST_LEFT or (has_figure and len(own) > 1)

    def weight(self, start: int, end: int) -> float:
        """Return how many words are in a range; two signs without spaces count as one."""
        if not self._has_unspaced:
            return end - start
        return self._weights[end] - self._weights[start]


def unescaped(escape: re.Match[str]) -> str:
    """Return the character that an escape is."""
    code, sign = escape.groups()
    return chr(int(code, 16)) if code else _ESCAPES.get(sign, sign)


def _read(text: str) -> str:
    """Return a text as people see it, with each word at its place."""
    if "\\" in text:
        text = ESCAPE.sub(lambda escape: _filled(unescaped(escape), escape[0]), text)
    if "&" in text:
        text = _ENTITY.sub(lambda entity: _filled(unescape(entity[0]), entity[0]), text)
    if "<" in text:
        text = _TAG.sub(_without_tag, text)
    return text.translate(_UNSEEN)


def _filled(seen: str, written: str) -> str:
    return seen + _FILL * (len(written) - len(seen)) if len(seen) < len(written) else written


def _without_tag(tag: re.Match[str]) -> str:
    if _TEXT_OF_TAG.search(tag[0]):
        return tag[0]
    return _filled("" if tag["within"] else "\n", tag[0])


def _without_line_numbers(text: str) -> str:
    """Return a text with blanks for the numbers that a program put before its lines."""
    found = [(int(line[1]), *line.span(1)) for line in _NUMBERED.finditer(text)]
    numbers = {number for number, _, _ in found}
    parts, behind = [], 0
    for number, start, end in found:
        if {number - 1, number + 1} & numbers:
            parts += [text[behind:start], " " * (end - start)]
            behind = end
    return "".join(parts) + text[behind:] if parts else text


@dataclass(slots=True)
class _Sentence(Generic[T]):
    """A sentence, or a part of a long one, that a model wrote or a user said."""

    words: tuple[str, ...]
    is_sentence: bool
    authors: list[T] = field(default_factory=list)

    def lacks(self, words: Sequence[str]) -> bool:
        """Return whether a figure is among words that this sentence does not have."""
        return any(any(map(str.isdigit, one)) and one not in self.words for one in words)


@dataclass(frozen=True, slots=True)
class CopiedWords:
    """Words of a text that are words of an earlier sentence.

    Attributes:
        sentence: The number of the sentence.
        first: The number of the first of the words in it.
        at: The number of that word in the text.
        length: How many they are.
    """

    sentence: int
    first: int
    at: int
    length: int

    def is_within(self, other: CopiedWords) -> bool:
        """Return whether another text holds these words of the sentence, too."""
        behind, end = self.first + self.length, other.first + other.length
        return self.sentence == other.sentence and other.first <= self.first and behind <= end


@dataclass(frozen=True, slots=True)
class Copy(Generic[T]):
    """A part of a text that a model wrote or a user said before.

    Attributes:
        start: Where it begins; offsets count characters of the text.
        end: Behind its last character.
        words: Its words.
        author: The author of these words.
    """

    start: int
    end: int
    words: CopiedWords
    author: T


class EarlierTexts(Generic[T, H]):
    """The sentences that models wrote and users said, and the texts that these could quote.

    All of them are taken before a text is compared with them.
    """

    def __init__(self) -> None:
        self._shown: list[tuple[str, H]] = []
        self._held: dict[int, list[tuple[CopiedWords, H]]] | None = None
        self._sentences: list[_Sentence[T]] = []
        self._numbers: dict[tuple[str, ...], int] = {}
        self._places: dict[int, int | list[int]] = {}
        self._scans: dict[str, tuple[_Words, list[CopiedWords]]] = {}
        self._by_sentence: dict[str, dict[int, list[CopiedWords]]] = {}
        self._work = _LEAST_WORK

    def add(self, text: str, author: T) -> None:
        """Take the sentences of a text that state something; texts come in the order of time.

        Args:
            text: The text.
            author: The author of the text.
        """
        found = _Words(text)
        for begin, end in found.sentences:
            behind = found.between(end)
            if _ASKS.match(behind):
                continue  # a question states nothing
            for start in range(begin, end, _LONGEST):
                words = tuple(found.words[start : min(end, start + _LONGEST)])
                if found.weight(start, start + len(words)) >= _SEED:
                    is_sentence = begin == start and found.ends_before(end)
                    self._sentence(words, is_sentence).authors.append(author)

    def show(self, text: str, holder: H) -> None:
        """Take a text that can be quoted.

        Args:
            text: The text.
            holder: Its place, such as the call that gave it.
        """
        self._shown.append((text, holder))

    def holders(self, words: CopiedWords) -> Iterator[H]:
        """Yield the places of the texts that can be quoted and hold some words."""
        if self._held is None:
            self._held = {}
            for text, holder in self._shown:
                for number, matches in self.held(text).items():
                    self._held.setdefault(number, []).extend((one, holder) for one in matches)
        for match, holder in self._held.get(words.sentence, ()):
            if words.is_within(match):
                yield holder

    def _sentence(self, words: tuple[str, ...], is_sentence: bool) -> _Sentence[T]:
        number = self._numbers.get(words)
        if number is None:
            number = self._numbers[words] = len(self._sentences)
            self._sentences.append(_Sentence(words, is_sentence))
            for at, seed in enumerate(_seeds(words)):
                self._place(seed, number, at)
        known = self._sentences[number]
        known.is_sentence = known.is_sentence or is_sentence
        return known

    def _place(self, seed: int, number: int, at: int) -> None:
        """Keep where a run of words begins; most stand in one sentence, and are no list."""
        place = number * _LONGEST + at
        places = self._places.setdefault(seed, place)
        if isinstance(places, int):
            if places // _LONGEST != number:
                self._places[seed] = [places, place]
        elif len(places) < _MOST_ALIKE and places[-1] // _LONGEST != number:
            places.append(place)

    @property
    def is_spent(self) -> bool:
        """Return whether texts repeat themselves so much that some were not compared."""
        return self._work <= 0

    def _scan(self, text: str) -> tuple[_Words, list[CopiedWords]]:
        if text not in self._scans:
            found = _Words(text)
            self._scans[text] = (found, list(self._matches(found.words)))
        return self._scans[text]

    def _matches(self, words: Sequence[str]) -> Iterator[CopiedWords]:
        """The longest runs of words that an earlier sentence has, too."""
        self._work += _WORK_A_WORD * len(words)
        done: dict[tuple[int, int], int] = {}
        for at, places in enumerate(map(self._places.get, _seeds(words))):
            if places is None:
                continue
            for place in (places,) if isinstance(places, int) else places:
                number, first = divmod(place, _LONGEST)
                key = (number, at - first)
                if done.get(key, 0) > at or self._work <= 0:
                    continue
                known = self._sentences[number].words
                length = 0  # words that are not alike may have the same seed
                most = min(len(known) - first, len(words) - at)
                while length < most and known[first + length] == words[at + length]:
                    length += 1
                if length >= _SEED:
                    self._work -= length
                    done[key] = at + length
                    yield CopiedWords(number, first, at, length)

    def held(self, text: str) -> dict[int, list[CopiedWords]]:
        """Return the runs of words that a text shares with earlier sentences, by the sentence."""
        if text not in self._by_sentence:
            held = self._by_sentence[text] = {}
            for match in self._scan(text)[1]:
                held.setdefault(match.sentence, []).append(match)
        return self._by_sentence[text]

    def holds(self, text: str, words: CopiedWords) -> bool:
        """Return whether a text holds words of an earlier sentence."""
        return any(words.is_within(match) for match in self.held(text).get(words.sentence, ()))

    def copies(self, text: str, is_author: Callable[[T, CopiedWords], bool]) -> list[Copy[T]]:
        """Return the parts of a text that were written or said before, in their order.

        Args:
            text: What a tool or a retriever returned.
            is_author: Whether an author's words came before the text, and were no quotation.
        """
        found, matches = self._scan(text)
        copies: list[Copy[T]] = []
        behind = 0
        for match, (start, end) in sorted(
            self._counted(found, matches), key=lambda one: (one[1][0], -one[1][1])
        ):
            if end <= behind:
                continue
            authors = self._sentences[match.sentence].authors[:_MOST_AUTHORS]
            author = next((one for one in authors if is_author(one, match)), None)
            if author is None:
                continue
            first, last = found.starts[max(start, behind)], found.ends[end - 1]
            closing = _CLOSES.match(found.text, last)
            copies.append(Copy(first, closing.end() if closing else last, match, author))
            behind = end
        return copies

    def _counted(
        self, found: _Words, matches: Sequence[CopiedWords]
    ) -> Iterator[tuple[CopiedWords, tuple[int, int]]]:
        """The matches that are no chance, each with the words of the text that it takes."""
        sentences = found.sentences if matches else []
        number = 0
        for match in sorted(matches, key=lambda one: one.at):
            start, end = match.at, match.at + match.length
            while sentences[number][1] <= start:
                number += 1
            begin, stop = sentences[number]
            known = self._sentences[match.sentence]
            is_whole = match.length == len(known.words)
            weight = found.weight(start, end)
            within = found.weight(max(start, begin), min(end, stop))
            is_most = within >= max(_SEED, _MOST_OF_IT * found.weight(begin, stop))
            if not (is_whole or is_most) and weight < _SENTENCE:
                continue  # a phrase
            opens = start in (0, begin) or bool(_EDGES.search(found.between(start)))
            closes = end >= stop or bool(_EDGES.search(found.between(end)))
            is_cut = bool(_CUT.match(found.text, found.ends[end - 1]))
            if not is_whole and weight < _RUN and found.is_label(end, stop, known.words):
                continue
            has_its_figures = not known.lacks(found.clause(start, end, begin, stop))
            if (
                (weight >= _RUN and has_its_figures)
                or (is_whole and known.is_sentence and weight >= _SENTENCE)
                or (is_whole and opens and closes)
                or (is_cut and has_its_figures and weight >= (_SENTENCE if opens else _CUT_OFF))
                or (opens and closes and weight >= _SENTENCE and not found.is_name(start, end))
            ):
                yield match, (start, end)
            elif is_most and (
                is_whole or not known.lacks(found.words[begin:start] + found.words[end:stop])
            ):
                yield match, (min(start, begin), max(end, stop))


def _seeds(words: Sequence[str]) -> Iterator[int]:
    """The runs of words that are looked up, as numbers, each at the place of its first word."""
    return map(hash, zip(*(words[at:] for at in range(_SEED)), strict=False))


def first_words(text: str, copies: Sequence[Copy[T]]) -> str:
    """Return how the first copy in a text begins, to be named in a warning."""
    return shown(" ".join(text[copies[0].start : copies[0].end].split()))


def left_of(text: str, copies: Sequence[Copy[T]]) -> str:
    """Return what a text says beside its copies; an empty text: hardly anything."""
    parts, behind = [], 0
    for copy in copies:
        parts.append(text[behind : copy.start])
        behind = copy.end
    parts.append(text[behind:])
    words = [len(_Words(part).words) for part in parts]
    if sum(words) < _FEWEST_LEFT:
        return ""
    return GAP.join(part.strip() for part, count in zip(parts, words, strict=True) if count)
