"""Short forms of texts: on one line, and as wide as there is room for.

What is drawn cannot be measured on the server: the room that a letter takes is guessed, and rather
guessed too wide.
"""

from __future__ import annotations

import unicodedata

_WIDE = frozenset("WF")
_NARROW = frozenset("fijlrtI.,:;!|'`()[] -")
_BROAD = frozenset("mwMWQOG@%&")
_TENTHS = 10


def cut_to(text: str, width: int) -> str:
    """A text on one line, cut where it is wider than so many small letters.

    Letters of scripts such as Chinese take the room of two; marks on letters take none.
    """
    line = " ".join(text[: 8 * width + 40].split())
    room = width * _TENTHS
    kept: list[str] = []
    for character in line:
        room -= _width(character)
        if room < 0:
            return _without_last(kept).rstrip() + "…"
        kept.append(character)
    return line


def _without_last(kept: list[str]) -> str:
    """What is kept, less a letter with all its marks: its room is needed."""
    end = len(kept) - 1
    while end > 0 and unicodedata.combining(kept[end]):
        end -= 1
    return "".join(kept[: max(end, 1)])


def cut_inside(text: str, width: int) -> str:
    """A name on one line, cut in the middle where it is too wide: names often differ at the end."""
    line = " ".join(text.split())
    if cut_to(line, width) == line:
        return line
    end = cut_to(line[::-1][: 4 * width], width * 7 // 16)
    if any(unicodedata.combining(character) for character in line[-2 * width :]):
        return cut_to(line, width)
    return cut_to(line, width * 5 // 8).rstrip("…") + "…" + end.rstrip("…")[::-1]


def in_lines(text: str, width: int, most: int) -> tuple[str, ...]:
    """A text in a few lines, broken between words where that can be, the last one cut."""
    words = text[: 8 * width * most].split()
    lines: list[str] = []
    while words and len(lines) < most - 1:
        line = words.pop(0)
        while words and sum(map(_width, f"{line} {words[0]}")) <= width * _TENTHS:
            line += f" {words.pop(0)}"
        lines.append(cut_to(line, width))
    if words:
        lines.append(cut_to(" ".join(words), width))
    return tuple(lines)


def _width(character: str) -> int:
    """Tenths of a small letter."""
    if unicodedata.combining(character):
        return 0
    if character in _NARROW:
        return 6
    if unicodedata.east_asian_width(character) in _WIDE:
        return 19
    if character in _BROAD:
        return 15
    return 12 if character.isupper() or character.isdigit() else 10
