"""Characters that a model reads and a person does not see: which they are, and where they stand.

Page, reports, terminal and exports all ask this one table, and each spells what it finds in its
own way. Where a script needs such a character, it stays: joiners between letters of scripts that
join, selectors behind ideographs and emoji, one mark of direction beside letters that run from
right to left.

Source: Unicode 16.0, DerivedCoreProperties.txt (Default_Ignorable_Code_Point); UAX 9, UAX 44; the
joiners after RFC 5892, A.1 and A.2.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import lru_cache

Ranges = tuple[tuple[int, int], ...]

IGNORABLE: Ranges = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""Code points that a font draws as nothing (Default_Ignorable_Code_Point)."""


class Unseen(StrEnum):
    """A kind of characters that a person does not see, as a warning names it."""

    TAG = "tag character"
    DIRECTION = "direction control"
    ZERO_WIDTH = "zero-width character"
    SELECTOR = "variation selector"
    SOFT_HYPHEN = "soft hyphen"
    FILLER = "filler"
    PRIVATE = "private-use character"
    UNASSIGNED = "unassigned character"
    FORMAT = "format character"
    CONTROL = "control character"


_KINDS: tuple[tuple[Unseen, Ranges], ...] = (
    (Unseen.TAG, ((0xE0000, 0xE007F),)),
    (Unseen.SELECTOR, ((0x180B, 0x180D), (0x180F, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))),
    (Unseen.DIRECTION, ((0x061C, 0x061C), (0x200E, 0x200F), (0x202A, 0x202E), (0x2066, 0x2069))),
    (Unseen.ZERO_WIDTH, ((0x034F, 0x034F), (0x180E, 0x180E), (0x200B, 0x200D), (0x2060, 0x2060),
                         (0xFEFF, 0xFEFF))),
    (Unseen.SOFT_HYPHEN, ((0x00AD, 0x00AD),)),
    (Unseen.FILLER, ((0x115F, 0x1160), (0x3164, 0x3164), (0xFFA0, 0xFFA0))),
)  # fmt: skip
_CATEGORIES = {
    "Cc": Unseen.CONTROL, "Cs": Unseen.CONTROL, "Zl": Unseen.CONTROL, "Zp": Unseen.CONTROL,
    "Co": Unseen.PRIVATE, "Cn": Unseen.UNASSIGNED,
}  # fmt: skip


def _ranges(written: str) -> re.Pattern[str]:
    """One character of ranges that are written in hexadecimal."""
    pairs = (part.partition("-") for part in written.split())
    return re.compile(_class((int(a, 16), int(b or a, 16)) for a, _, b in pairs))


def _class(ranges: Iterable[tuple[int, int]]) -> str:
    return f"[{''.join(f'{re.escape(chr(a))}-{re.escape(chr(b))}' for a, b in ranges)}]"


_JOINING = _ranges(
    "0620-08FF 0900-0DFF 0F00-109F 1780-18AF 1900-1CFF A840-A87F A8E0-ABFF FB50-FDFF FE70-FEFC "
    "10A00-10AFF 10D00-10FFF 11000-11FFF 1E900-1E95F"
)
"""Scripts in which a joiner changes how letters look: Arabic, Syriac, those of India, …"""
_WITHOUT_SPACES = _ranges("0E00-0EFF 1000-109F 1780-17FF 1950-19DF 1A20-1AAF A9E0-A9FF AA60-AADF")
"""Scripts that mark where a line may break between words that no space parts: Thai, Khmer, …"""
_IDEOGRAPH = _ranges("2E80-2FDF 3400-4DBF 4E00-9FFF F900-FAFF 20000-3FFFF")
_MONGOLIAN = _ranges("1820-18AA")
_HIEROGLYPH = _ranges("13000-1342F")
_FORMATS_GLYPHS = _ranges("13430-13455")
_ENCLOSES = _ranges("0600-0605 06DD 070F 0890-0891 08E2 110BD 110CD")
_EMOJI_STYLE = "\ufe0e\ufe0f"
_STYLED = frozenset("\u203c\u2049\u2139\u3030\u303d")  # not of the category of symbols
_FLAGS = ("gbeng", "gbsct", "gbwls")  # the only flags that are written with tags

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_TAGS = re.compile("[\U000e0020-\U000e007f]+")
_BEYOND_ASCII = re.compile(f"{_TAGS.pattern}|[^\t\n -~]")
_MOST_SOUGHT = 100
_DRAWN_AS_NOTHING = re.compile(_class(IGNORABLE))


@lru_cache(maxsize=1 << 16)
def _may_hide(sign: str) -> bool:
    """Return whether a character is unseen where no script needs it."""
    category = unicodedata.category(sign)
    is_format = category[0] == "C" or category in ("Zl", "Zp")
    return (is_format and sign not in "\n\t") or _DRAWN_AS_NOTHING.match(sign) is not None


def _pattern(text: str) -> re.Pattern[str] | None:
    """Return what finds the characters of a text that may be unseen; None: it has none."""
    if text.isascii():
        return _CONTROLS
    hidden = sorted(filter(_may_hide, set(text)))
    if len(hidden) > _MOST_SOUGHT:  # a class of many is slow
        return _BEYOND_ASCII
    return _finding("".join(hidden)) if hidden else None


@lru_cache(maxsize=256)
def _finding(signs: str) -> re.Pattern[str]:
    return re.compile(f"{_TAGS.pattern}|[{re.escape(signs)}]")


def places(text: str) -> Iterator[re.Match[str]]:
    """The unseen characters of a text, tags that follow each other together.

    Line feeds and tabs are seen, and so is what a script needs where it stands.
    """
    pattern = _pattern(text)
    found = () if pattern is None else pattern.finditer(text)
    return (place for place in found if not _is_seen(place))


def spelled(text: str, spell: Callable[[str], str]) -> str:
    """A text with its unseen characters spelled out.

    Args:
        text: The text; places in it must be found before.
        spell: How one is written, or several tag characters that follow each other.
    """
    pattern = _pattern(text)
    if pattern is None:
        return text
    return pattern.sub(lambda found: found[0] if _is_seen(found) else spell(found[0]), text)


def json_escaped(text: str) -> str:
    """JSON with its unseen characters as escapes; they stand within strings, so it says the same.

    A file may end on a terminal.
    """
    return spelled(text, code_units)


def code_units(signs: str) -> str:
    """Characters as JSON and Cypher escape them: beyond the first plane each is two halves."""
    units = signs.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def counts(text: str) -> Counter[Unseen]:
    """Return the number of hidden characters of a text by kind, without controls."""
    found: Counter[Unseen] = Counter()
    if not text.isascii():
        for place in places(text):
            found[kind_of(place[0][0])] += len(place[0])
        del found[Unseen.CONTROL]
    return found


def kind_of(sign: str) -> Unseen:
    """The kind of an unseen character."""
    code = ord(sign)
    for kind, ranges in _KINDS:
        if any(first <= code <= last for first, last in ranges):
            return kind
    return _CATEGORIES.get(unicodedata.category(sign), Unseen.FORMAT)


def without_unseen(text: str) -> str:
    """A text as a model may read it: tags as the letters that they stand for, nothing else unseen.

    Texts are compared by it; it is shown to nobody.
    """
    pattern = _pattern(text)
    if pattern is None:
        return text
    return pattern.sub(lambda found: _read_as(found[0]), text)


def _read_as(signs: str) -> str:
    return letters_of(signs) if _may_hide(signs[0]) else signs


def letters_of(tags: str) -> str:
    """The letters that tag characters stand for; of all else nothing."""
    return "".join(chr(ord(tag) - 0xE0000) for tag in tags if "\U000e0020" <= tag < "\U000e007f")


def _is_seen(found: re.Match[str]) -> bool:
    """Return whether a character is drawn, or a script needs it where it stands."""
    sign, text = found[0], found.string
    if not _may_hide(sign[0]):
        return True
    start, end = found.span()
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    if sign in "\u200c\u200d":
        return _joins(sign, before, after)
    if sign in "\u200e\u200f\u061c":
        return _runs_left(before) or _runs_left(after)
    if sign == "\u200b":
        return bool(_WITHOUT_SPACES.match(before) and _WITHOUT_SPACES.match(after))
    if "\ufe00" <= sign <= "\ufe0f" or "\U000e0100" <= sign <= "\U000e01ef":
        return _selects(sign, before, after)
    if "\u180b" <= sign <= "\u180f":
        return _MONGOLIAN.match(before) is not None
    if sign == "\u034f":
        return bool(_is_mark(before) and _is_mark(after))
    if _ENCLOSES.match(sign):
        return after.isalnum()
    if _FORMATS_GLYPHS.match(sign):
        return bool(_HIEROGLYPH.match(before) and _HIEROGLYPH.match(after))
    return before == "\U0001f3f4" and sign[-1] == "\U000e007f" and letters_of(sign) in _FLAGS


def _joins(sign: str, before: str, after: str) -> bool:
    """Return whether a joiner stands between letters that join, behind a virama, or in an emoji."""
    if _is_letter(before) and _JOINING.match(before):
        is_inside = _is_letter(after) and _JOINING.match(after) is not None
        return is_inside or sign == "\u200d" or unicodedata.combining(before) == 9
    is_emoji = _is_symbol(before) or before == "\ufe0f"
    return sign == "\u200d" and is_emoji and _is_symbol(after)


def _selects(sign: str, before: str, after: str) -> bool:
    """Return whether a selector stands behind what has several forms."""
    if not before:
        return False
    if sign in _EMOJI_STYLE:
        is_key = before in "0123456789#*" and after == "\u20e3"
        return _is_symbol(before) or before in _STYLED or is_key
    if _IDEOGRAPH.match(before):
        return True
    category = unicodedata.category(before)
    has_forms = category == "Sm" or (_is_letter(before) and _JOINING.match(before) is not None)
    return sign <= "\ufe02" and has_forms


def _is_letter(sign: str) -> bool:
    return sign != "" and unicodedata.category(sign)[0] in "LM"


def _is_mark(sign: str) -> bool:
    return sign != "" and unicodedata.category(sign)[0] == "M"


def _is_symbol(sign: str) -> bool:
    """Return whether it is a symbol beyond ASCII, or the colour of a skin."""
    if sign <= "\x7f":
        return False
    return unicodedata.category(sign) in ("So", "Sm") or "\U0001f3fb" <= sign <= "\U0001f3ff"


def _runs_left(sign: str) -> bool:
    return sign != "" and unicodedata.bidirectional(sign) in ("R", "AL")
