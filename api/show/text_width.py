"""The width of texts in a drawing, and texts broken into lines that are no wider than their room.

Widths are those of DejaVu Sans, the widest of the fonts that a drawing asks for: whichever a reader
has, no line is wider than it is measured here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from veritrail_graph.graph.word_diff import Piece

CUT = "…"
MOST_MARKS = 3
"""Marks on one letter that are drawn: more would leave their line."""
LONGEST = 4_000
"""Characters of a text among which lines are looked for."""

_PLAIN = (
    32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 78, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79,
    61, 79, 70, 64, 62, 74, 69, 99, 69, 62, 69, 40, 34, 40, 84, 50, 50, 62, 64, 55, 64, 62, 36, 64,
    64, 28, 28, 58, 28, 98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84,
)  # fmt: skip
_BOLD = (
    35, 46, 53, 84, 70, 101, 88, 31, 46, 46, 53, 84, 38, 42, 38, 37, 70, 70, 70, 70, 70, 70, 70, 70,
    70, 70, 40, 40, 84, 84, 84, 59, 100, 78, 77, 74, 84, 69, 69, 83, 84, 38, 38, 78, 64, 100, 84,
    86, 74, 86, 78, 73, 69, 82, 78, 111, 78, 73, 73, 46, 37, 46, 84, 50, 50, 68, 72, 60, 72, 68, 44,
    72, 72, 35, 35, 67, 35, 105, 72, 69, 72, 72, 50, 60, 48, 72, 66, 93, 65, 66, 59, 72, 37, 72, 84,
)  # fmt: skip
"""Hundredths of the size, from the blank to the tilde."""

_NARROW, _LETTER, _BROAD, _WIDE, _PICTURE = 0.62, 0.86, 1.25, 1.05, 1.4


@lru_cache(maxsize=1 << 13)
def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Return the room that a text takes at most."""
    return sum(_sign_width(sign, bold) for sign in text) * size


@lru_cache(maxsize=1 << 13)
def _sign_width(sign: str, bold: bool) -> float:
    code = ord(sign)
    if 32 <= code < 127:
        return (_BOLD if bold else _PLAIN)[code - 32] / 100
    if sign == "→":
        return 0.84
    category = unicodedata.category(sign)
    if category in ("Mn", "Me") or sign in "\u200d\u200c\ufe0e\ufe0f":
        return 0.0
    if _is_wide(sign):
        return _PICTURE if category == "So" else _WIDE
    if category.startswith("Z") or (category.startswith("P") and code < 0x2014):
        return _NARROW
    if code < 0x250:
        plain = unicodedata.normalize("NFD", sign)[0]
        if plain != sign and plain.isascii():
            return _sign_width(plain, bold) + 0.02
        return _BROAD if sign in "ÆŒæœ©®" else _LETTER
    return _BROAD if category in ("So", "Sm", "Po", "Pd", "Lu", "Lo", "Sk") else 1.0


def _is_wide(text: str) -> bool:
    """Return whether a text begins with a sign of two widths."""
    return unicodedata.east_asian_width(text[0]) in "WF"


def clusters(text: str) -> Iterator[str]:
    """Yield letters with their marks, and signs that a joiner makes one."""
    held, marks = "", 0
    for sign in text:
        is_mark = unicodedata.category(sign) in ("Mn", "Me", "Mc")
        if is_mark:
            marks += 1
            if marks > MOST_MARKS:
                continue
        if held and (is_mark or sign in "\u200d\u200c\ufe0e\ufe0f" or held[-1] == "\u200d"):
            held += sign
            continue
        if held:
            yield held
        held, marks = sign, int(is_mark)
    if held:
        yield held


def runs_left(text: str) -> bool:
    """Return whether a text runs from right to left: its first letter says so."""
    for sign in text:
        way = unicodedata.bidirectional(sign)
        if way in ("L", "R", "AL"):
            return way != "L"
    return False


@dataclass(frozen=True, slots=True)
class _Word:
    """A word, or a part of one.

    Attributes:
        text: Its letters.
        is_changed: Whether it matters.
        is_glued: Whether no blank stands before it.
    """

    text: str
    is_changed: bool
    is_glued: bool

    def width(self, size: float) -> float:
        """Return its room; words that matter are bold."""
        return width_of(self.text, size, bold=self.is_changed)


@dataclass(frozen=True, slots=True)
class TextRoom:
    """The room of a text.

    Attributes:
        width: The width of a line.
        lines: How many lines there are at most.
        size: The size of the letters.
    """

    width: float
    lines: int
    size: float


TextLine = tuple[Piece, ...]


@lru_cache(maxsize=1 << 10)  # heights are asked for before texts are placed
def fitted(pieces: tuple[Piece, ...], room: TextRoom) -> tuple[TextLine, ...]:
    """Break a text into lines; a long one is cut around what matters in it.

    Args:
        pieces: The text.
        room: Its room.
    """
    words = list(_words(pieces, room))
    lines, taken = _broken(words, room)
    if taken == len(words):
        return lines
    start = _start(words, room)
    if start:
        words = [_Word(CUT, False, is_glued=False), replace(words[start], is_glued=True),
                 *words[start + 1 :]]  # fmt: skip
        lines, taken = _broken(words, room)
    return lines if taken == len(words) else (*lines[:-1], _ended(lines[-1], room))


def cut_line(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """Return a text on one line, its end cut off where it is too wide."""
    parts = _parts(text)
    kept = _fitting(parts, width, size, bold=bold)
    if len(kept) == len(parts):
        return "".join(kept)
    while kept and width_of("".join(kept) + CUT, size, bold=bold) > width:
        kept.pop()
    return "".join(kept).rstrip() + CUT


def cut_middle(text: str, width: float, size: float) -> str:
    """Return a name on one line, cut in its middle: names often differ at their end."""
    parts = _parts(text)
    if width_of("".join(parts), size) <= width:
        return "".join(parts)
    half = (width - width_of(CUT, size)) / 2
    start, end = _fitting(parts, half, size), _fitting(parts[::-1], half, size)[::-1]
    return "".join(start).rstrip() + CUT + "".join(end)


def _parts(text: str) -> list[str]:
    """Return a text on one line, in letters with their marks."""
    return list(clusters(" ".join(text[:LONGEST].split())))


def _fitting(parts: Iterable[str], width: float, size: float, *, bold: bool = False) -> list[str]:
    kept: list[str] = []
    for each in parts:
        width -= width_of(each, size, bold=bold)
        if width < 0:
            break
        kept.append(each)
    return kept


def _words(pieces: Sequence[Piece], room: TextRoom) -> Iterator[_Word]:
    """Yield words; where no blanks part them, parts of them."""
    is_glued = True
    left = LONGEST
    for piece in pieces:
        text = piece.text[:left]
        left -= len(text)
        is_glued = is_glued and not text[:1].isspace()
        for part in text.split():
            for word in _parted(part, piece.is_changed, room):
                yield _Word(word, piece.is_changed, is_glued)
                is_glued = True
            is_glued = False
        if text:
            is_glued = not text[-1].isspace()


def _parted(word: str, is_changed: bool, room: TextRoom) -> Iterator[str]:
    """Yield a word as it is, or in parts no wider than a line; a sign of two widths is a part."""
    if word.isascii() and width_of(word, room.size, bold=is_changed) <= room.width / 2:
        yield word
        return
    held, width = "", 0.0
    for each in clusters(word):
        more = width_of(each, room.size, bold=is_changed)
        is_wide = _is_wide(each)
        if held and (is_wide or width + more > room.width * 0.9):
            yield held
            held, width = "", 0.0
        held, width = held + each, width + more
        if is_wide:
            yield held
            held, width = "", 0.0
    if held:
        yield held


def _broken(words: Sequence[_Word], room: TextRoom) -> tuple[tuple[TextLine, ...], int]:
    """Return the lines, and how many words stand in them."""
    lines: list[TextLine] = []
    line: list[_Word] = []
    used = 0.0
    blank = width_of(" ", room.size, bold=True)
    taken = 0
    while taken < len(words):
        # What no blank parts stays together where a line has room for it.
        end = taken + 1
        while end < len(words) and words[end].is_glued and end - taken < 4:
            end += 1
        group = words[taken:end]
        width = sum(word.width(room.size) for word in group)
        if width > room.width or _is_wide(group[0].text):
            group, width = words[taken : taken + 1], words[taken].width(room.size)
        gap = blank if line and not group[0].is_glued else 0.0
        if line and used + gap + width > room.width:
            lines.append(_joined(line))
            if len(lines) == room.lines:
                return tuple(lines), taken
            line, used = [], 0.0
            continue
        line += group
        used += gap + width
        taken += len(group)
    if line:
        lines.append(_joined(line))
    return tuple(lines), taken


def _joined(words: Sequence[_Word]) -> TextLine:
    """Return the words of a line as pieces."""
    pieces: list[Piece] = []
    for place, word in enumerate(words):
        blank = " " if place and not word.is_glued else ""
        if pieces and pieces[-1].is_changed == word.is_changed:
            pieces[-1] = Piece(pieces[-1].text + blank + word.text, word.is_changed)
            continue
        if blank and word.is_changed:
            # A blank between belongs to the words that do not matter.
            pieces[-1] = Piece(pieces[-1].text + blank)
            blank = ""
        pieces.append(Piece(blank + word.text, word.is_changed))
    return tuple(pieces)


def line_width(line: TextLine, size: float) -> float:
    """Return the room that a line takes."""
    return sum(width_of(piece.text, size, bold=piece.is_changed) for piece in line)


def _ended(line: TextLine, room: TextRoom) -> TextLine:
    """Return a line that shows that its text goes on."""
    pieces = list(line)
    while pieces:
        ended = (*pieces, Piece(CUT))
        if line_width(ended, room.size) <= room.width:
            return ended
        last = pieces.pop()
        parts = list(clusters(last.text.rstrip()))[:-1]
        if parts:
            pieces.append(Piece("".join(parts).rstrip(), last.is_changed))
    return (Piece(CUT),)


def _start(words: Sequence[_Word], room: TextRoom) -> int:
    """Return the word that a text begins with where it is cut."""
    marked = [place for place, word in enumerate(words) if word.is_changed]
    if not marked:
        return 0
    head = 0.0
    for word in words[: marked[-1] + 1]:
        head += word.width(room.size) + 0.35 * room.size
    if head <= room.width * room.lines * 0.9:
        return 0
    # About a line stands before the first of them.
    before, start = room.width * min(0.9, 0.4 * room.lines), marked[0]
    while start > 0 and before > 0:
        start -= 1
        before -= words[start].width(room.size) + 0.35 * room.size
    return start
