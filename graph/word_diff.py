"""The differences of two wordings of a sentence, word by word, and the number of edits.

Case and punctuation are no difference. Both are about sentences: of texts with more words than
`MOST_WORDS` nothing but the number of words is compared. Of longer texts `rewritten` shows what
was rewritten, with a few words around it.

Source: Error-tolerant attribution 7 (a correction changes as little as possible); ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby, takewhile

MOST_WORDS = 600
"""Words of a text from which on it is not aligned: that takes time with the square of it."""

AROUND = 60
"""Characters that are shown before and behind what differs."""
MOST_COMPARED = 3_000
"""Characters of each side that are compared word by word."""
MOST_SHOWN = 400
"""Characters of a side that are shown."""

GAP = " … "
"""What stands in a phrase for words between its own that are not compared."""

_WORD = re.compile(r"\w+(?:[\u2019'.,:/-]\w+)*")
_LIGHT = frozenset(
    ("a", "an", "the", "this", "that", "these", "those", "there", "it", "its", "he", "him", "his",
     "she", "her", "they", "them", "their")
)  # fmt: skip
"""Words that stand for a name in one wording and not in the other: no difference that matters."""


_DENIAL = re.compile(
    r"\b(?:no|not|never|none|nor|neither|without|cannot|nobody|nothing|nowhere|\w+n['\u2019]t"
    r"|nicht|nichts|nie|niemals|niemand|ohne|keine?[mnrs]?|weder)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text, and whether the other text has other words there."""

    text: str
    is_changed: bool = False


@dataclass(frozen=True, slots=True)
class WordChange:
    """Words of the one text that stand in the place of those of the other; empty: none do."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class WordDiff:
    """Two wordings side by side.

    Attributes:
        before: The first text in pieces.
        after: The second text in pieces.
        changes: What differs, in the order of the texts.
        alike: The share of the words of the second text that the first one has in the same order.
    """

    before: tuple[Piece, ...]
    after: tuple[Piece, ...]
    changes: tuple[WordChange, ...]
    alike: float


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int
    stretch: int = 0


def word_diff(before: str, after: str, part: Sequence[tuple[int, int]] = ()) -> WordDiff:
    """Compare two wordings.

    Args:
        before: The first one, such as that of a source.
        after: The second one.
        part: The stretches [start, end) of `after` that are compared, in order; its other words
            are left alone. None, or none with a word: all of it.
    """
    first, second = _words(before), _words_of(after, part)
    if max(len(first), len(second)) > MOST_WORDS or not first or not second:
        is_same = before == after
        return WordDiff(_whole(before, not is_same), _whole(after, not is_same), (), float(is_same))
    matcher = SequenceMatcher(None, _keys(first), _keys(second), autojunk=False)
    opcodes = matcher.get_opcodes()
    same = sum(to - start for tag, _, _, start, to in opcodes if tag == "equal")
    spans = [(first[a:b], second[c:d]) for tag, a, b, c, d in opcodes if tag != "equal"]
    return WordDiff(
        _pieces(before, [one for one, _ in spans]),
        _pieces(after, [other for _, other in spans]),
        tuple(_changes(before, after, spans)),
        same / len(second),
    )


def denials(text: str) -> list[tuple[int, int]]:
    """Return where a text denies something, as [start, end)."""
    return [one.span() for one in _DENIAL.finditer(text)]


def marks_of(pieces: Sequence[Piece]) -> list[tuple[int, int]]:
    """Return where the changed pieces of a text stand in it."""
    marks, end = [], 0
    for one in pieces:
        end += len(one.text)
        if one.is_changed:
            marks.append((end - len(one.text), end))
    return marks


def marked_pieces(
    text: str, marks: Iterable[tuple[int, int]], start: int = 0, end: int | None = None
) -> tuple[Piece, ...]:
    """Return a text in pieces, changed at the places that are marked.

    Args:
        text: The text.
        marks: Where each begins and ends, in order; one that begins within another is left out.
        start: Where the part of the text begins that is returned.
        end: Where it ends, and the last mark at the latest; None: with the text.
    """
    end = len(text) if end is None else end
    pieces: list[Piece] = []
    here = start
    for first, last in marks:
        if here <= first and last <= end:
            pieces += [Piece(text[here:first]), Piece(text[first:last], is_changed=True)]
            here = last
    pieces.append(Piece(text[here:end]))
    return tuple(piece for piece in pieces if piece.text)


def joined_pieces(cuts: Sequence[Sequence[Piece]]) -> tuple[Piece, ...]:
    """One text that was cut several times, as pieces: changed where any cut has it changed."""
    if len(cuts) < 2:
        return tuple(cuts[0]) if cuts else ()
    text = "".join(one.text for one in cuts[0])
    marks = [False] * len(text)
    for cut in cuts:
        here = 0
        for piece in cut:
            if piece.is_changed:
                marks[here : here + len(piece.text)] = [True] * len(piece.text)
            here += len(piece.text)
    runs = groupby(zip(text, marks, strict=True), key=lambda one: one[1])
    return tuple(Piece("".join(letter for letter, _ in run), mark) for mark, run in runs)


def edits(before: str, after: str) -> int:
    """Return the least number of words to insert, delete or exchange between two texts."""
    first, second = _keys(_words(before)), _keys(_words(after))
    if max(len(first), len(second)) > MOST_WORDS:
        return 0 if first == second else max(len(first), len(second))
    row = list(range(len(second) + 1))
    for number, one in enumerate(first, start=1):
        previous, row[0] = row[0], number
        for place, other in enumerate(second, start=1):
            cost = previous + (one != other)
            previous, row[place] = row[place], min(cost, row[place] + 1, row[place - 1] + 1)
    return row[-1]


def _words_of(text: str, part: Sequence[tuple[int, int]]) -> list[_Word]:
    """The words of a part of a text; of all of it where the part has none."""
    words = _words(text)
    chosen = [
        replace(one, stretch=number)
        for number, (start, end) in enumerate(part)
        for one in words
        if start < one.end and one.start < end
    ]
    return chosen or words


def _words(text: str) -> list[_Word]:
    return [_Word(found[0], found.start(), found.end()) for found in _WORD.finditer(text)]


def _keys(words: Sequence[_Word]) -> list[str]:
    return [one.text.casefold() for one in words]


def _whole(text: str, is_changed: bool) -> tuple[Piece, ...]:
    return (Piece(text, is_changed),) if text else ()


def _pieces(text: str, spans: Sequence[Sequence[_Word]]) -> tuple[Piece, ...]:
    """The text, cut where what differs begins and ends."""
    runs = (run for words in spans for run in _runs(words))
    return marked_pieces(text, ((run[0].start, run[-1].end) for run in runs))


def _changes(
    before: str, after: str, spans: Sequence[tuple[Sequence[_Word], Sequence[_Word]]]
) -> list[WordChange]:
    """Return the differences as phrases; words that only moved stand beside their new place.

    "It may close the quay" and "the quay will close" differ in "It may close" before the quay and
    in "will close" behind it: the two phrases share a word, so the one stands for the other.
    """
    found = [[_trimmed(one), _trimmed(other)] for one, other in spans]
    taken = [one for one, other in found if one and not other]
    put_in = [pair for pair in found if pair[1] and not pair[0]]
    for pair in put_in:
        words = set(_keys(pair[1]))
        moved = next((one for one in taken if words & set(_keys(one))), None)
        if moved is not None:
            taken.remove(moved)
            found = [each for each in found if each[0] is not moved]
            pair[0] = moved
    return [
        WordChange(_phrase(before, one), _phrase(after, other))
        for one, other in found
        if one or other
    ]


def _trimmed(words: Sequence[_Word]) -> Sequence[_Word]:
    """The words without articles and pronouns at either end, unless there are no others."""
    heavy = [place for place, one in enumerate(words) if one.text.casefold() not in _LIGHT]
    return words[heavy[0] : heavy[-1] + 1] if heavy else ()


def _phrase(text: str, words: Sequence[_Word]) -> str:
    return GAP.join(text[run[0].start : run[-1].end] for run in _runs(words))


def _runs(words: Sequence[_Word]) -> list[list[_Word]]:
    """The words, apart where what lies between them is not compared."""
    return [list(run) for _, run in groupby(words, key=lambda one: one.stretch)]


Pieces = tuple[Piece, ...]


def rewritten(before: str, after: str) -> tuple[Pieces, Pieces]:
    """The parts of two texts that differ, as pieces: changed where the other has other words.

    What both begin and end with is cut to a few words, and so are long parts in between that are
    the same.
    """
    head, tail = _in_common(before, after)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    lead, trail = _end_of(before[:head]), _beginning_of(before[len(before) - tail :])
    compared = word_diff(old[:MOST_COMPARED], new[:MOST_COMPARED])
    if not any(one.is_changed for one in (*compared.before, *compared.after)):
        # Other letters or punctuation, which are no other words.
        return _side(lead, (Piece(old, True),), trail), _side(lead, (Piece(new, True),), trail)
    return _side(lead, compared.before, trail), _side(lead, compared.after, trail)


def _in_common(before: str, after: str) -> tuple[int, int]:
    """Return how many characters both begin with and end with, in whole words."""
    head = _alike(before, after)
    while head and not before[head - 1].isspace():
        head -= 1
    tail = _alike(before[head:][::-1], after[head:][::-1])
    while tail and not before[-tail].isspace():
        tail -= 1
    return head, tail


def _alike(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _side(lead: str, pieces: Sequence[Piece], trail: str) -> Pieces:
    """The pieces of one side between what both have, up to the most that are shown."""
    found: list[Piece] = []
    room = MOST_SHOWN
    for one in _shortened(pieces):
        if len(one.text) > room:
            found += [Piece(one.text[:room], one.is_changed), Piece(" …")]
            trail = ""
            break
        found.append(one)
        room -= len(one.text)
    return tuple(one for one in (Piece(lead), *found, Piece(trail)) if one.text)


def _shortened(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yield the same, with long pieces that did not change cut in the middle."""
    for one in pieces:
        if one.is_changed or len(one.text) <= 2 * AROUND:
            yield one
        else:
            yield Piece(f"{_beginning_of(one.text)} {_end_of(one.text)}")


def _end_of(text: str) -> str:
    if len(text) <= AROUND:
        return text
    return f"… {text[-AROUND:].partition(' ')[2]}"


def _beginning_of(text: str) -> str:
    if len(text) <= AROUND:
        return text
    return f"{text[:AROUND].rpartition(' ')[0]} …"
