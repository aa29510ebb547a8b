"""Texts cut to fit a line or a number of bytes, in parts, and with hidden characters visible."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from veritrail_graph.graph.unseen import letters_of, spelled

_WIDE = frozenset("WF")
_NARROW = frozenset("fijlrtI.,:;!|'`()[] -")
_BROAD = frozenset("mwMWQOG@%&")
_TENTHS = 10


def cut_to(text: str, width: int) -> str:
    """A text on one line, cut where it is wider than a number of small letters.

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
    """Return what is kept, less a letter with all its marks: its room is needed."""
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


_ENDS_LINE = " /_-:.#"


def id_lines(name: str, width: int) -> tuple[str, str]:
    """An id in two lines, the second one empty where one is enough.

    It is broken behind a blank or a sign that parts ids where that can be; what does not fit into
    the second line is cut in its middle.
    """
    line = " ".join(name.split())
    if cut_to(line, width) == line:
        return line, ""
    room = len(cut_to(line, width).rstrip("…"))
    ends = [at + 1 for at in range(room // 3, room) if line[at] in _ENDS_LINE]
    end = ends[-1] if ends else room
    return line[:end].rstrip(), cut_inside(line[end:], width)


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


PART = 20_000
"""Code points of one part of a text."""

Place = tuple[int, int]
"""Where something begins in a text, and the offset just behind it, in code points."""

SLACK = 500
"""How far the end of a part may move back, to where a line or a word ends."""


def part_count(length: int, size: int = PART) -> int:
    """Return how many parts a text of this length has."""
    return max(-(-length // size), 1)


def part_of(offset: int, text: str, size: int = PART) -> int:
    """The part that holds a place of the text, counted from 1."""
    part = min(offset // size + 1, part_count(len(text), size))
    return part + 1 if offset >= part_bounds(text, part, size)[1] and offset < len(text) else part


def part_bounds(text: str, part: int, size: int = PART) -> Place:
    """Say where a part begins and ends; it ends behind a line or a word, if there is one near."""
    slack = min(SLACK, size // 2)
    return _cut(text, (part - 1) * size, slack), _cut(text, part * size, slack)


def _cut(text: str, near: int, slack: int) -> int:
    if near <= 0:
        return 0
    if near >= len(text):
        return len(text)
    for mark in ("\n", " "):
        place = text.rfind(mark, near - min(slack, near), near)
        if place >= 0:
            return place + 1
    return near


_NAMES = {
    "\x7f": "␡", "\u2028": "\n", "\u2029": "\n", "\u00ad": "⟨SHY⟩", "\u034f": "⟨CGJ⟩",
    "\u061c": "⟨ALM⟩", "\u180e": "⟨MVS⟩", "\u200b": "⟨ZWSP⟩", "\u200c": "⟨ZWNJ⟩",
    "\u200d": "⟨ZWJ⟩", "\u200e": "⟨LRM⟩", "\u200f": "⟨RLM⟩", "\u2060": "⟨WJ⟩", "\ufeff": "⟨BOM⟩",
    **{chr(code): chr(0x2400 + code) for code in range(0x20)},
    "\u202a": "⟨LRE⟩", "\u202b": "⟨RLE⟩", "\u202c": "⟨PDF⟩", "\u202d": "⟨LRO⟩", "\u202e": "⟨RLO⟩",
    "\u2066": "⟨LRI⟩", "\u2067": "⟨RLI⟩", "\u2068": "⟨FSI⟩", "\u2069": "⟨PDI⟩",
    **{chr(0xFE00 + at): f"⟨VS{at + 1}⟩" for at in range(16)},
}  # fmt: skip


def shown(text: object) -> str:
    """A text from outside as a page or a report shows it: unseen characters by their names.

    Several tag characters are one name with the letters that they stand for.
    """
    return spelled(str(text).replace("\r\n", "\n"), _named)


def _named(signs: str) -> str:
    if letters := letters_of(signs):
        return f"⟨TAG {letters}⟩"
    if "\ud800" <= signs <= "\udfff":
        return "\N{REPLACEMENT CHARACTER}"
    return _NAMES.get(signs) or f"⟨U+{ord(signs[0]):04X}⟩"


def visible(text: str) -> str:
    """Text that XML and a terminal can take; what hides or turns it round becomes an escape."""
    return spelled(text, lambda signs: "".join(f"\\u{{{ord(sign):x}}}" for sign in signs))


def clean(text: str) -> str:
    """Untrusted text without what could drive a terminal, or hide: it becomes visible escapes."""
    return spelled(text, lambda signs: "".join(map(_escape, signs)))


def one_line(text: str, most: int | None = None) -> str:
    """Untrusted text on one line, cut at a number of characters."""
    line = clean(" ".join(text.split()))
    return line if most is None or len(line) <= most else f"{line[: most - 1]}…"


def figure(value: float) -> str:
    """A figure of a table for people: four places, or as many digits where it is very small."""
    return f"{round(value, 4):.15g}" if abs(value) >= 0.001 or not value else f"{value:.4g}"


def some(names: Sequence[str], most: int = 5) -> str:
    """Some of many untrusted names on one line, and how many more there are."""
    shown = ", ".join(one_line(name, 60) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@dataclass(frozen=True, slots=True)
class Clipped:
    """A text that may have been cut.

    Attributes:
        text: What is left of it.
        is_cut: Whether something is missing.
    """

    text: str
    is_cut: bool = False


def clip(text: str, most: int) -> Clipped:
    """A text, its end cut off where its HTML has too many bytes."""
    if len(text) * _LONGEST_SPELLED <= most:
        return Clipped(text)
    kept = _fitting(text, most)
    return Clipped(kept, len(kept) < len(text))


def clip_start(text: str, most: int) -> Clipped:
    """A text, its beginning cut off where its HTML has too many bytes."""
    turned = clip(text[::-1], most)
    return Clipped(turned.text[::-1], turned.is_cut)


_LONGEST_SPELLED = len("⟨U+10FFFF⟩".encode())


def _fitting(text: str, most: int) -> str:
    if len(text) <= most and _bytes_of(text) <= most:
        return text
    spent = 0
    for place, letter in enumerate(text[:most]):
        spent += _bytes_of(letter)
        if spent > most:
            return text[:place]
    return text[:most]


def _bytes_of(text: str) -> int:
    """The bytes that a text takes in HTML, as it is shown."""
    return len(escape(shown(text)).encode("utf-8", "replace"))


def file_name(name: str) -> str:
    """A name that every file system takes; ids of processes and claims may hold a colon."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", name)
