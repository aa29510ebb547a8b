"""The sentences of plain texts, whose ends are certain without a tokenizer.

Most sentences of prose end with a word and a full stop before a blank and a capital letter. Where
every full stop of a text does, and no word before one is an abbreviation, neither Punkt nor the
rules of `boundaries` and `layout` can find other sentences, and a text is read fifteen times as
fast.
"""

from __future__ import annotations

import re
from functools import lru_cache

from veritrail_graph.graph.sentences.abbreviations import (
    COMPANY,
    DATED,
    INNER,
    MARKED,
    NEVER_LAST,
    NUMBERED,
    TITLES,
)
from veritrail_graph.graph.sentences.layout import behind_marker
from veritrail_graph.graph.sentences.tables import uncertain_words

_MARKERS = 40
"""Characters that the number or bullet of an item has at most."""
_LATIN = re.compile(
    r"[ -~\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u2013\u2014\u2018\u2019\u201c\u201d]+"
)
"""Letters with accents, dashes and quotes, of which none ends or begins a sentence by itself."""
_INNER_POINT = re.compile(r"\d\.\d")


@lru_cache(maxsize=8)
def _abbreviated(language: str) -> frozenset[str]:
    """Words in small letters behind which a full stop may end nothing."""
    known = COMPANY | DATED | INNER | MARKED | NEVER_LAST | NUMBERED | TITLES
    return frozenset(known | uncertain_words(language))


def plain_spans(text: str, language: str) -> list[tuple[int, int]] | None:
    """The sentences of a text, each from its first character to behind its last.

    Args:
        text: The text.
        language: The language whose abbreviations count.

    Returns:
        The sentences; None where it is not certain where they end.
    """
    is_usual = text.isprintable() if text.isascii() else _LATIN.fullmatch(text) is not None
    if not is_usual or text[:1] in ("", " ", "|"):
        return None
    asks, stops = "?" in text or "!" in text, text.count(".")
    ended = text
    if asks:
        ended = text.replace("? ", ". ").replace("! ", ". ")
        stops += text.count("?") + text.count("!")
    pieces = ended.split(". ")
    certain = len(pieces) - 1 + (text[-1] in ".?!")
    if stops != certain and ("." not in text or stops != certain + _points_inside(text)):
        return None
    if text[-1] == " " or (
        len(pieces) > 1 and len(pieces[0]) < _MARKERS and behind_marker(text, 0) > len(pieces[0])
    ):
        return None
    spans: list[tuple[int, int]] = []
    start, last = 0, len(pieces) - 1
    abbreviated = _abbreviated(language)
    for number, piece in enumerate(pieces):
        end = start + len(piece)
        if number and not piece[:1].isupper():
            return None
        if number < last:
            word = piece[piece.rfind(" ") + 1 :]
            is_word = len(word) > 1 and word.isalpha() and word.lower() not in abbreviated
            if not is_word or (asks and text[end] != "." and not word.islower()):
                return None
            end += 1
        spans.append((start, end))
        start = end + 1
    return spans


def _points_inside(text: str) -> int:
    return len(_INNER_POINT.findall(text))
