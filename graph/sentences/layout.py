"""The ends of sentences by layout: blank lines, headings, list items, table rows.

A text is cut into blocks before Punkt sees it. A block is a paragraph, a heading, a list
item with its continuation lines, or a table row. Single line breaks inside a paragraph are
hard wrapping and cut nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from veritrail_graph.graph.sentences.boundaries import CLOSERS, STOPS

_BULLET = re.compile(r"[-*+•‣◦▪●]\s+\S|[-*+•‣◦▪●]$")
_COUNTED = re.compile(
    r"\(?(?:(?P<number>\d{1,3})[.)]|[A-Za-z][)]|[ivxIVX]{1,5}[)])(?:\s|$)"
    r"|\[\d{1,3}\]\s|（?\d{1,3}[、．）]|[一二三四五六七八九十]{1,3}、"  # noqa: RUF001
)
_HASH_HEADING = re.compile(r"#{1,6}(?:\s|$)")
_MARKER = re.compile(
    r"(?:#{1,6}\s+)?(?:[-*+•‣◦▪●]\s+)?(?:\(?(?:\d{1,3}(?:\.\d{1,3}){0,4}|[A-Za-z]|[ivxIVX]{1,5})[.)]\s+)?"
)
_UNDERLINE = re.compile(r"(?:={2,}|-{2,})$")
_RULE = re.compile(
    r"(?:(?:-\s?){3,}|(?:\*\s?){3,}|(?:_\s?){3,}|(?:=\s?){3,}|(?:~\s?){3,})$|```|~~~"
)
_TABLE_LINES = re.compile(r"[|:+\-=\s]+$")
_CLOSED = re.compile(rf"[.!?…:;：；{STOPS}]['\"*_{re.escape(CLOSERS)}]*$")  # noqa: RUF001
_NEVER_LAST = frozenset(
    ("a", "an", "and", "as", "at", "by", "for", "from", "in", "of", "or", "the")
)
OPEN_END = (",", ";", "-", "\u2013", "\u2014", "(", "/", "&")
"""What a line ends with that goes on in the next one."""

_MAX_HEADING_CHARS = 80
_MAX_HEADING_WORDS = 12
_MAX_RULE_CHARS = 200


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of text that no sentence crosses.

    Attributes:
        start: Offset of its first line.
        end: Offset just behind its last line, line break included.
        whole: Whether it is one sentence however it is punctuated (a table row).
    """

    start: int
    end: int
    whole: bool = False


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a text, first to last; only blank lines lie between them.

    Every kind of line break counts that `str.splitlines` knows (CRLF, NEL, U+2028, …).
    """
    lines = text.splitlines(keepends=True)
    start = end = 0  # the open block; empty when equal
    offset = 0
    reader = _Reader()
    for number, line in enumerate(lines):
        following = lines[number + 1].strip() if number + 1 < len(lines) else ""
        step = reader.read(line.strip(), following, indented=line[:1].isspace())
        if step.cuts_before and end > start:
            yield Block(start, end, reader.whole_before)
            start = end = offset
        if not step.blank:
            start = offset if end <= start else start
            end = offset + len(line)
        offset += len(line)
        # U+2029 alone separates paragraphs.
        if (step.cuts_after or line.endswith("\u2029")) and end > start:
            yield Block(start, end, reader.whole)
            start = end = offset
            reader.close()
    if end > start:
        yield Block(start, end, reader.whole)


def behind_marker(text: str, start: int) -> int:
    """Offset behind the number or bullet that a block opens with; `start` without one.

    The dot of "2. Catch" ends no sentence.
    """
    marker = _MARKER.match(text, start, start + 40)
    return marker.end() if marker else start


@dataclass(frozen=True, slots=True)
class _Step:
    """The effect of one line on the blocks around it."""

    blank: bool = False
    cuts_before: bool = False
    cuts_after: bool = False


_BLANK = _Step(blank=True, cuts_before=True)
_OWN_BLOCK = _Step(cuts_before=True, cuts_after=True)
_OPENS = _Step(cuts_before=True)
_CONTINUES = _Step()
_ENDS = _Step(cuts_after=True)


class _Reader:
    """Reads lines top-down and remembers what a line's meaning depends on."""

    def __init__(self) -> None:
        self.previous = ""  # the line before in the open block; empty when none is open
        self.whole = False  # whether the block that this line is in is one sentence
        self.whole_before = False  # the same of the block that this line closed
        self._in_list = False
        self._in_capitals = False

    def close(self) -> None:
        """Forget the open block, since the line just read ended it."""
        self.previous = ""
        self._in_list = self._in_capitals = False

    def read(self, line: str, following: str, *, indented: bool) -> _Step:
        """Return what this line does, given the lines around it (all without outer whitespace)."""
        self.whole_before = self.whole
        step = _OPENS if self._leaves_list(line, indented) else self._read(line, following)
        opened = step.cuts_before or not self.previous
        if opened:
            self.whole = line.startswith("|")
            self._in_list = _is_item(line)
        # A lone word in capitals within a wrapped sentence (UNESCO) is no heading.
        self._in_capitals = _in_capitals(line) and (opened or self._in_capitals)
        self.previous = line
        return step

    def _read(self, line: str, following: str) -> _Step:
        if not line:
            return _BLANK
        if line.startswith("|"):
            # The ruled line under a table's header has no words: it stays with the header.
            ruled = self.whole and self.previous and _TABLE_LINES.match(line)
            return _CONTINUES if ruled else _OPENS
        if self.whole and self.previous:
            return self._after_table(line, following)
        if self.previous and _UNDERLINE.match(line) and not self._in_list:
            return _ENDS
        if len(line) <= _MAX_RULE_CHARS and _RULE.match(line):
            return _OWN_BLOCK
        return self._read_words(line, following)

    def _after_table(self, line: str, following: str) -> _Step:
        step = self._read_words(line, following)
        return _OWN_BLOCK if step.cuts_after else _OPENS

    def _read_words(self, line: str, following: str) -> _Step:
        if _HASH_HEADING.match(line):
            return _OWN_BLOCK
        if self._starts_item(line):
            return _OPENS
        open_before = bool(self.previous) and not _CLOSED.search(self.previous[-12:])
        if _in_capitals(line):
            # A heading over two lines, and prose set in capitals, stay in one piece.
            return _CONTINUES if self._in_capitals or open_before else _OPENS
        if self._in_capitals and _stands_out(self.previous):
            return _OPENS
        if not open_before and _is_title(line, self.previous, following):
            return _OWN_BLOCK
        return _CONTINUES

    def _leaves_list(self, line: str, indented: bool) -> bool:
        """Return whether an item that is no sentence ends here and a paragraph begins."""
        return (
            self._in_list
            and not indented
            and line[:1].isupper()
            and not _CLOSED.search(self.previous[-12:])
            and _broken_on_purpose(self.previous, line, len(line))
        )

    def _starts_item(self, line: str) -> bool:
        """Return whether a list item starts here.

        A wrapped sentence can begin a line with "12. Then": a counted item needs a reason
        to be one (a block starts here, the list is under way, it counts 1, or the line
        before is closed).
        """
        if _BULLET.match(line):
            return True
        counted = _COUNTED.match(line)
        if counted is None:
            return False
        closed = not self.previous or _CLOSED.search(self.previous[-12:]) is not None
        is_first = counted["number"] == "1" or counted.group().startswith("[1]")
        return closed or self._in_list or is_first


def _is_item(line: str) -> bool:
    return bool(_BULLET.match(line) or _COUNTED.match(line))


def _in_capitals(line: str) -> bool:
    """Return whether a short line is set in capitals throughout and could be a heading."""
    return (
        len(line) <= _MAX_HEADING_CHARS
        and line.isupper()
        and sum(map(str.isalpha, line)) > 1
        and not line.endswith(OPEN_END)
    )


def _stands_out(line: str) -> bool:
    """Return whether a line in capitals is a heading rather than the wrapped end of a sentence."""
    return len(line.split()) <= _MAX_HEADING_WORDS and not _CLOSED.search(line[-12:])


def _is_title(line: str, previous: str, following: str) -> bool:
    """Return whether a short line without end punctuation is alone between line breaks."""
    words = line.split() if following and len(line) <= _MAX_HEADING_CHARS else []
    if not 0 < len(words) <= _MAX_HEADING_WORDS or words[-1] in _NEVER_LAST:
        return False
    if line.endswith(OPEN_END) or _CLOSED.search(line[-12:]):
        return False
    bare = line.lstrip("*_")  # set in bold
    if not bare or not (bare[0].isupper() or bare[0].isdigit()) or not following[0].isupper():
        return False
    return _broken_on_purpose(line, following, max(len(previous), len(following)))


def _broken_on_purpose(line: str, following: str, width: int) -> bool:
    """Return whether the next line's first word would have fitted: hard wrapping breaks later."""
    first_word = following[:40].split(maxsplit=1)[0]
    return len(line) <= _MAX_HEADING_CHARS and len(line) + 1 + len(first_word) < width
