"""The part of a text around the words that somebody searched for.

Source: ours.
"""

from __future__ import annotations

import re
import unicodedata

BEFORE, LONG = 60, 240
"""Characters before the first word that was found, and of the excerpt."""

_WORD = re.compile(r"\w+")


def folded(text: str) -> str:
    """A text without accents and capitals, as long as it was."""
    return text.lower() if text.isascii() else text.translate(_PLAIN)


class _Plain(dict[int, str]):
    """Characters without accents and capitals, by code; each is looked up once."""

    def __missing__(self, code: int) -> str:
        base = unicodedata.normalize("NFKD", chr(code))[:1].lower()
        plain = self[code] = base[:1] or chr(code)
        return plain


_PLAIN = _Plain()


def excerpt_of(text: str, query: str) -> str:
    """The part of a text around the first word of a query; the beginning where there is none."""
    words = _WORD.findall(folded(query))
    plain = folded(text)
    found = [hit.start() for word in words if (hit := re.search(rf"\b{re.escape(word)}", plain))]
    start = max(min(found, default=0) - BEFORE, 0)
    if start:  # at the beginning of a word
        start = (text.find(" ", start, start + BEFORE) + 1) or start
    part = text[start : start + LONG]
    if start + LONG < len(text):
        part = part.rpartition(" ")[0] or part
    return (
        ("…" if start else "") + " ".join(part.split()) + ("…" if start + LONG < len(text) else "")
    )


def marked(excerpt: str, query: str) -> list[tuple[str, bool]]:
    """An excerpt in pieces, each with whether it is a word that was searched for."""
    words = _WORD.findall(folded(query))
    if not words:
        return [(excerpt, False)]
    pattern = "|".join(re.escape(word) for word in sorted(set(words), key=len, reverse=True))
    pieces, end = [], 0
    for hit in re.finditer(rf"\b(?:{pattern})\w*", folded(excerpt)):
        if hit.start() > end:
            pieces.append((excerpt[end : hit.start()], False))
        pieces.append((excerpt[hit.start() : hit.end()], True))
        end = hit.end()
    return [*pieces, *([(excerpt[end:], False)] if end < len(excerpt) else [])]
