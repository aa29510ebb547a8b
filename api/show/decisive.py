"""Choose the words that a picture writes on its broken line: what matters most of all that differs.

Figures come before a denial, this before names, and these before other words that were replaced.
Words that stand on one side alone are the last choice.

Source: docs/adr/0067-one-picture.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from veritrail_graph.graph.evidence_pair import (
    SAME_BEGINNING,
    SHORTEST_WORD,
    compared_pair,
    has_digit,
    names_in,
    sweeps,
)
from veritrail_graph.graph.word_diff import GAP, Piece, WordChange, denials

MOST_WORDS = 4
"""Words of a phrase that stands in the place of another; longer ones are about something else."""
MOST_BETWEEN = 2
"""Words between two parts of what was added that are shown with them."""

_WORD = re.compile(r"\w[\w'\u2019.,-]*\w|\w")


def decisive_words(source: str, wrote: str, claim: str) -> tuple[str, str]:
    """Return the words of a source that matter, and those in their place; empty: none are.

    Args:
        source: The sentence of the source.
        wrote: The sentence that was written from it.
        claim: The claim that it states.
    """
    compared = compared_pair(source, wrote, claim)
    changes = [each for each in compared.changes or () if not _is_another_form(each)]
    for each in changes:
        if _is_replaced(each) and has_digit(each.before) and has_digit(each.after):
            return each.before, each.after
    denied = _denial(source, wrote)
    if denied is not None:
        return denied
    if compared.changes is None:
        return "", _added(compared.wrote)
    ranked = sorted(changes, key=lambda each: -_weight(each, source, wrote))
    if not ranked:
        return "", ""
    best = ranked[0]
    if best.after and not _is_replaced(best):
        return "", best.after
    return best.before, best.after


def _denial(source: str, wrote: str) -> tuple[str, str] | None:
    """Return the denial that one side alone has; None: both have one, or none has."""
    lost, gained = denials(source), denials(wrote)
    if bool(lost) is bool(gained):
        return None
    return _first(source, lost), _first(wrote, gained)


def _first(text: str, places: list[tuple[int, int]]) -> str:
    return text[slice(*places[0])] if places else ""


def _is_replaced(change: WordChange) -> bool:
    """Return whether a few words stand in the place of a few others."""
    return 0 < _count(change.before) <= MOST_WORDS and 0 < _count(change.after) <= MOST_WORDS


def _is_another_form(change: WordChange) -> bool:
    """Return whether a change says nothing: another form of a word, or light words alone."""
    before, after = _heavy(change.before), _heavy(change.after)
    if len(before) == 1 and len(after) == 1:
        return before[0][:SAME_BEGINNING] == after[0][:SAME_BEGINNING] and len(before[0]) > 1
    return not before and not after


def _heavy(text: str) -> list[str]:
    """Return the words of a text that are figures, names, or long enough to mean something."""
    return [
        word.casefold()
        for word in _WORD.findall(text)
        if len(word) >= SHORTEST_WORD or has_digit(word) or word[:1].isupper() or sweeps(word)
    ]


def _weight(change: WordChange, source: str, wrote: str) -> int:
    if _is_replaced(change):
        is_named = bool(names_in(change.before, source) and names_in(change.after, wrote))
        return 4 if is_named else 3
    words = _WORD.findall(change.after)
    if names_in(change.after, wrote) or any(has_digit(word) or sweeps(word) for word in words):
        return 2
    return 1 if change.after else 0


def _added(pieces: tuple[Piece, ...]) -> str:
    """Return what was added in a sentence with few words of the source: names and figures first."""
    text = "".join(piece.text for piece in pieces)
    changed = [(place, words) for place, words in _places(pieces) if words.strip()]
    heavy = [
        (place, words)
        for place, words in changed
        if names_in(words, text) or has_digit(words) or sweeps(words)
    ]
    runs: list[tuple[int, int]] = []
    for place, words in heavy or changed:
        end = place + len(words)
        if runs and _count(text[runs[-1][1] : place]) <= MOST_BETWEEN:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((place, end))
    return GAP.join(text[start:end] for start, end in runs)


def _places(pieces: tuple[Piece, ...]) -> Iterator[tuple[int, str]]:
    """Yield what is marked, each with its place in the text."""
    here = 0
    for piece in pieces:
        if piece.is_changed:
            yield here, piece.text
        here += len(piece.text)


def _count(text: str) -> int:
    return len(_WORD.findall(text))
