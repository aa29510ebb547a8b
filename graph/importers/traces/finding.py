"""Texts found again in other texts: exactly, or but for case, white space, escapes and tables.

Every text that is looked for is found by its beginning, all beginnings at once, and then compared
whole, so that the time grows with the characters and not with the pairs of texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ahocorasick_rs import AhoCorasick

from veritrail_graph.graph.model import Inference

SHORTEST = 12
"""Characters; a shorter text that stands somewhere in a longer one says nothing."""
_HEAD = 24
_ESCAPES = {"n": " ", "r": " ", "t": " ", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([nrt\"'\\/]))")
_TABLE = re.compile(r"[|+│┃║┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬╭╮╯╰]|[-=─━═_]{3,}")
_SPACE = re.compile(r"\s+")
_SHINGLE = 5


def normalised(text: str) -> str:
    """A text without what programs change of it: case, white space, escapes, lines of tables."""

    def plain(found: re.Match[str]) -> str:
        code, sign = found.groups()
        return chr(int(code, 16)) if code else _ESCAPES[sign]

    bare = _ESCAPED.sub(plain, text)
    return _SPACE.sub(" ", _TABLE.sub(" ", bare)).strip().casefold()


@dataclass(frozen=True, slots=True)
class Hit:
    """A text that was found in another.

    Attributes:
        found: Number of the text that was looked for.
        start: Where it stands in the other; offsets count characters of the compared form.
        end: Behind its last character.
    """

    found: int
    start: int
    end: int


@dataclass(slots=True)
class Finder:
    """Looks for all of some texts in one text at a time.

    Attributes:
        texts: The texts that are looked for, in the form that is compared.
        by_head: By beginning: by length: by text: the numbers of the texts.
    """

    texts: Sequence[str]
    by_head: dict[str, dict[int, dict[str, list[int]]]] = field(default_factory=dict)
    heads: list[str] = field(default_factory=list)
    search: AhoCorasick | None = None

    @classmethod
    def of(cls, texts: Sequence[str], shortest: int = SHORTEST) -> Finder:
        """A finder of those texts that are long enough to say something."""
        made = cls(texts)
        for number, text in enumerate(texts):
            if len(text) >= shortest:
                lengths = made.by_head.setdefault(text[:_HEAD], {})
                lengths.setdefault(len(text), {}).setdefault(text, []).append(number)
        made.heads = list(made.by_head)
        made.search = AhoCorasick(made.heads) if made.heads else None
        return made

    def within(self, text: str) -> list[Hit]:
        """Every place at which one of the texts stands in this one, in the order of the places."""
        if self.search is None:
            return []
        hits = []
        for head, start, _ in self.search.find_matches_as_indexes(text, overlapping=True):
            for length, same in self.by_head[self.heads[head]].items():
                numbers = same.get(text[start : start + length], ())
                hits += [Hit(number, start, start + length) for number in numbers]
        return sorted(hits, key=lambda hit: (hit.start, -hit.end))


def outermost(hits: Iterable[Hit], is_wanted: Callable[[Hit], bool]) -> list[list[Hit]]:
    """The wanted hits that do not stand within a longer one, those of one place together.

    A text that stands in a longer one which was found, too, came with that one.
    """
    groups: list[list[Hit]] = []
    for hit in sorted(filter(is_wanted, hits), key=lambda hit: (hit.start, -hit.end)):
        last = groups[-1][0] if groups else None
        if last is not None and (hit.start, hit.end) == (last.start, last.end):
            groups[-1].append(hit)
        elif last is None or hit.end > last.end:
            groups.append([hit])
    return groups


def covered(hits: Iterable[Hit]) -> int:
    """How many characters some hits cover, each once."""
    total = behind = 0
    for hit in sorted(hits, key=lambda hit: hit.start):
        total += max(0, hit.end - max(hit.start, behind))
        behind = max(behind, hit.end)
    return total


def gaps(text: str, hits: Iterable[Hit]) -> list[str]:
    """What of a text no hit covers, in its order; the hits count characters of this text."""
    found, behind = [], 0
    for hit in sorted(hits, key=lambda hit: hit.start):
        if hit.start > behind:
            found.append(text[behind : hit.start])
        behind = max(behind, hit.end)
    if behind < len(text):
        found.append(text[behind:])
    return found


def is_whole(text: str, hit: Hit) -> bool:
    """Whether a hit begins and ends where words of the text do."""
    before, behind = text[max(0, hit.start - 1) : hit.start], text[hit.end : hit.end + 1]
    return not (before.isalnum() or behind.isalnum())


def shingles(text: str) -> frozenset[int]:
    """The runs of five words of a text, as numbers."""
    words = re.findall(r"\w+", text.casefold())
    return frozenset(
        hash(tuple(words[at : at + _SHINGLE])) for at in range(len(words) - _SHINGLE + 1)
    )


FORMS: dict[Inference, Callable[[str], str]] = {
    Inference.EXACT: str,
    Inference.NORMALISED: normalised,
}
"""How texts are compared, one way after the other."""
