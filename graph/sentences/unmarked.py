"""The beginnings of sentences that no mark ends, in scripts without spaces between words.

Chinese and Japanese lines of notes and lists often have no full stop, and Thai and Lao end no
sentence with a mark. There a line that is no wrapped one ends a sentence, and in Thai, Lao and
Tibetan so does a space between two clauses of some length. Where exactly one would cut needs a
dictionary; a sentence of a page helps nobody.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

UNSPACED = (
    "\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff66-\\uff9f\\u0e00-\\u0eff\\u1000-\\u109f"
    "\\u1780-\\u17ff\\u0f00-\\u0fff\\U00020000-\\U000323af"
)
"""Ranges of letters that are written without spaces between words, for a character class."""

_THAI = "\\u0e00-\\u0eff"
_OPENS = "(「『（【《〈“‘［"  # noqa: RUF001
_LINE = re.compile(rf"\n[^\S\n]*(?=[{re.escape(_OPENS)}]?[{UNSPACED}])")
_LETTER = re.compile(rf"[{UNSPACED}]")
_OF_THAI = re.compile(rf"[{_THAI}]")
_GOES_ON = re.compile(r"[,;:，、；：\-\u2013\u2014/(（「『]$")  # noqa: RUF001
_CLAUSE = re.compile(rf"(?:(?<=[{_THAI}])|(?<=[།༎]))[ \t\u00a0]+(?=[{_THAI}\u0f00-\u0fff])")
_JOINS = re.compile(
    "และ|หรือ|แต่|ที่|ซึ่ง|โดย|เพื่อ|เพราะ|จึง|ว่า|กับ|ของ|ก็|แล้ว|รวมถึง|เช่น|ได้แก่|ๆ|ฯ|ครับ|ค่ะ|ແລະ|ຫຼື|ແຕ່|ທີ່|ໂດຍ|ເພາະ"
)
"""What a clause begins with that belongs to the one before."""

_NARROW, _NARROW_THAI = 20, 40
"""Characters of a line below which nobody wraps a text."""
_WIDE = 120
_RAGGED, _RAGGED_THAI = 2, 12
"""How much shorter than its neighbour a wrapped line may be."""
_CLAUSE_BEFORE, _CLAUSE_BEHIND = 24, 12
"""Characters of clauses between which a space ends a sentence."""


def begun_unmarked(text: str, start: int, end: int, places: Iterable[int]) -> list[int]:
    """Return where sentences begin in a block behind lines and clauses without a full stop.

    Args:
        text: The text.
        start: Where the block begins.
        end: The offset behind it.
        places: Where sentences begin in it already.
    """
    if _LETTER.search(text, start, end) is None:
        return []
    found = list(_behind_lines(text, start, end))
    known = sorted({start, *places, *found})
    return [*found, *_behind_clauses(text, end, known)]


def _behind_lines(text: str, start: int, end: int) -> Iterator[int]:
    for line in _LINE.finditer(text, start, end):
        first = max(start, text.rfind("\n", start, line.start()) + 1)
        before = text[first : line.start()].strip()
        last = text.find("\n", line.end(), end)
        behind = text[line.end() : last if last >= 0 else end].rstrip()
        if not before or _GOES_ON.search(before):
            continue
        letters = sum(1 for _ in _LETTER.finditer(before[-_WIDE:]))
        if 2 * letters < len("".join(before[-_WIDE:].split())):
            continue
        is_thai = _OF_THAI.search(before) is not None
        narrow = _NARROW_THAI if is_thai else _NARROW
        ragged = _RAGGED_THAI if is_thai else _RAGGED
        length = len(before)
        if length < narrow or length > _WIDE or length + ragged < len(behind):
            yield line.end()


def _behind_clauses(text: str, end: int, known: list[int]) -> Iterator[int]:
    """Yield where clauses of some length begin; `known` are the sentences, in order."""
    spaces = [space.end() for space in _CLAUSE.finditer(text, known[0], end)]
    begun = known[0]
    for place, behind in itertools.pairwise([*spaces, end]):
        after = bisect_right(known, place)
        begun = max(begun, known[after - 1])
        following = min(behind, known[after] if after < len(known) else end)
        is_long = place - begun > _CLAUSE_BEFORE and following - place >= _CLAUSE_BEHIND
        if is_long and not _JOINS.match(text, place):
            yield place
            begun = place
