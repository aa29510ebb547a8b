"""The words, numbers and marks of a text, in order.

Scripts without blanks between words (Chinese, Japanese, Thai) give a token for each character.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from veritrail_graph.verifier.values.units import SUFFIXES

_LONGEST_SHARED = 40
"""Letters of words that are kept once for all texts."""
_UNSPACED = (
    r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_LETTER = rf"[^\W\d_{_UNSPACED}]"
_TOKEN = re.compile(
    rf"(?P<date>\d{{4}}-\d\d?-\d\d?(?![\d-])|\d\d?(?P<dot>[./])\d\d?(?P=dot)\d{{4}}(?!\d))"
    r"|(?P<clock>\d\d?:\d\d(?::\d\d)?(?!\d))"
    rf"|(?P<number>(?:\d{{1,3}}(?P<gap>[ '])\d{{3}}(?:(?P=gap)\d{{3}})*(?:[.,]\d+)?"
    rf"|\d+(?:[.,]\d+)*)(?!\d)"
    rf"(?:\^\d+)*|(?<![\w.])\.\d+)(?P<tail>{_LETTER}(?:{_LETTER}|\d)*)?"
    r"|(?P<half>[AaPp]\.[ ]?[Mm]\b\.?)"
    rf"|(?P<dotted>(?:{_LETTER}\.){{2,}}(?:{_LETTER}(?!{_LETTER}))?)"
    rf"|(?P<word>{_LETTER}(?:{_LETTER}|\d)*(?:'{_LETTER}+)*)"
    rf"|(?P<sign>[{_UNSPACED}])"
    r"|(?P<mark>[^\s\w]|_)"
)


class TokenKind(StrEnum):
    """The kind of a token."""

    WORD = "word"
    NUMBER = "number"
    DATE = "date"
    CLOCK = "clock"
    SIGN = "sign"
    MARK = "mark"


class Token(NamedTuple):  # made by the million: a dataclass takes twice as long to make
    """A word, a number or a mark at its place in a text of plain characters.

    Attributes:
        kind: What it is.
        form: As it is written, a dotted abbreviation without its dots.
        lower: The same in small letters, without a possessive.
        start: Where it starts.
        end: Where it ends.
        tail: Letters at the end of a number (`th`, `kg`, `m`), or "".
    """

    kind: TokenKind
    form: str
    lower: str
    start: int
    end: int
    tail: str = ""


_KINDS = {str(kind): kind for kind in TokenKind}
NOTHING = Token(TokenKind.MARK, "", "", -1, -1)
"""What stands outside of a text."""


def tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text of plain characters."""
    found: list[tuple[TokenKind, str, str, int, int, str]] = []
    add, word_kind = found.append, TokenKind.WORD
    for match in _TOKEN.finditer(text):
        group, form = match.lastgroup, match.group()
        start, end = match.span()
        if group == "word":
            form, lower = _shared(form) if len(form) <= _LONGEST_SHARED else _lowered(form)
            add((word_kind, form, lower, start, end, ""))
        elif group in ("number", "tail"):
            add(_number(form, match.group("number"), match.group("tail") or "", start))
        elif group in ("half", "dotted"):
            form = form.replace(".", "").replace(" ", "")
            add((word_kind, form, form.casefold(), start, end, ""))
        else:
            add((_KINDS[str(group)], form, form, start, end, ""))
    return tuple(map(Token._make, found))


def _lowered(form: str) -> tuple[str, str]:
    """Return a word as it is written and in small letters."""
    lower = form.casefold()
    lower = lower.removesuffix("'s") if "'" in lower else lower
    return form, form if lower == form else lower


_shared = lru_cache(maxsize=16_384)(_lowered)  # one object in all texts that are kept


def _number(
    form: str, digits: str, tail: str, start: int
) -> tuple[TokenKind, str, str, int, int, str]:
    end = start + len(form)
    if not tail:
        return TokenKind.NUMBER, digits, digits, start, end, ""
    if tail in SUFFIXES or tail.lower() in ("st", "nd", "rd", "th", "am", "pm"):
        return TokenKind.NUMBER, digits, digits, start, end, tail
    return TokenKind.WORD, form, form.casefold(), start, end, ""  # 3D, 4x4
