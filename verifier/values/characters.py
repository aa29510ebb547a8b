"""A text in plain characters, with the place of each in the text as given.

Soft hyphens and marks without width are left out, a word that a hyphen parts at a line end is put
together, and ligatures, full-width signs and digits of any script become plain ones.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

_DROPPED = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")
_ODD = re.compile(
    r"[\u00ad\u200b-\u200f\u2010\u2011\u2060\ufeff\u2212\u066b\u066c\u2018\u2019\u02bc]"
    r"|[^\W_a-zA-Z\u00aa-\u024f0-9](?<=\d)"  # a digit of another script
    r"|(?<=[^\W\d_])-[ \t]*\r?\n\s*(?=[^\W\d_])"
)
_LINE_END = re.compile(r"-[ \t]*\r?\n\s*")
_PLAIN = {
    "\u2010": "-",
    "\u2011": "-",
    "\u2212": "-",
    "\u066b": ".",
    "\u066c": ",",
    "\u2018": "'",
    "\u2019": "'",
    "\u02bc": "'",
}
# A text without characters that its normal form would change keeps its places.
_FORM: Final = "NFKC"


def plain(text: str) -> tuple[str, Sequence[int] | None]:
    """Return a text in plain characters, and the place of each in the text as given.

    The places end with that of the end; None stands for places that are all the same.
    """
    if text.isascii() and "-\n" not in text and "- \n" not in text and "-\r" not in text:
        return text, None
    if _ODD.search(text) is None and unicodedata.is_normalized(_FORM, text):
        return text, None
    out: list[str] = []
    places: list[int] = []
    place, length = 0, len(text)
    while place < length:
        behind = place + 1
        while behind < length and unicodedata.combining(text[behind]):
            behind += 1
        piece = text[place:behind]
        if piece in _DROPPED:
            plainly = ""
        elif piece == "-" and (ending := _LINE_END.match(text, place)) is not None:
            end = ending.end()
            joins = place > 0 and text[place - 1].isalpha() and text[end : end + 1].islower()
            plainly, behind = ("", end) if joins else (piece, behind)
        else:
            plainly = _PLAIN.get(piece) or _normal(piece, out[-1] if out else "")
        out.extend(plainly)
        places.extend([place] * len(plainly))
        place = behind
    places.append(length)
    return "".join(out), places


def unaccented(word: str) -> str:
    """Return a word without accents, in which spellings of one name differ."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFD", word)
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


def _normal(piece: str, before: str) -> str:
    if piece.isascii():
        return piece
    form = unicodedata.normalize(_FORM, piece)
    if len(piece) == 1 and piece.isdigit() and not piece.isdecimal():
        # A raised figure: of a unit, an exponent, or the mark of a note.
        if before in ("m", "M"):
            return form
        return f"^{form}" if before.isdigit() or before == "^" else " "
    if piece.isdecimal():
        return str(unicodedata.decimal(piece))
    if "\u2044" in form:  # ½
        return (
            f" {form.replace(chr(0x2044), '/')}"
            if before.isdigit()
            else form.replace("\u2044", "/")
        )
    return form
