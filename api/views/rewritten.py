"""What was rewritten in a text, with a few words around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from veritrail_graph.graph.word_diff import Piece, word_diff

AROUND = 60
"""Characters that are shown before and behind what differs."""
MOST_COMPARED = 3_000
"""Characters of each side that are compared word by word."""
MOST_SHOWN = 400
"""Characters of a side that are shown."""

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
    """How many characters both begin with and end with, in whole words."""
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
    """The same, with long pieces that did not change cut in the middle."""
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
