"""Texts found again in other texts: exactly, or but for case, white space, escapes and tables.

Every text that is looked for is found by its beginning, all beginnings at once, and then compared
whole, so that the time grows with the characters and not with the pairs of texts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ahocorasick_rs import AhoCorasick

from veritrail_graph.graph.importers.copied import ESCAPE, unescaped
from veritrail_graph.graph.model import Inference

SHORTEST = 12
"""Characters; a shorter text that stands somewhere in a longer one says nothing."""
_HEAD = 24
_TABLE = re.compile(r"[|+│┃║┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬╭╮╯╰]|[-=─━═_]{3,}")
_HALF = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"\s+")
_SHINGLE = 5
_WINDOW = 65_536
"""Characters in which beginnings are looked for at once."""
_MOST_AT_A_PLACE = 8
"""Of the texts that begin at one place the longest so many are found."""
_LEAST_HITS = 1_000
_WORK_A_CHARACTER = 100
"""Nanoseconds, about, that searching a character may take, in all searches together."""
_WORK_A_LENGTH, _WORK_A_HIT = 300, 1_500
"""How many it takes to look for the texts of one length at one place, and to keep a hit."""


def normalised(text: str) -> str:
    """A text without what programs change of it: case, white space, escapes, lines of tables."""
    bare = ESCAPE.sub(unescaped, text) if "\\" in text else text
    if _HALF.search(bare):  # two halves of a character, each written as an escape
        bare = bare.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
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
class _Sought:
    """The texts of one length that begin alike.

    Attributes:
        numbers: Their numbers by text.
        ends: How they end: most places need no longer look.
    """

    numbers: dict[str, int] = field(default_factory=dict)
    ends: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Finder:
    """Looks for all of some texts in one text at a time.

    The work of all searches together grows in proportion to the characters that are searched. Texts
    of one letter may need more than that: then the longest at each place are found, and of a text
    only so many places as fit its length.

    Attributes:
        texts: The texts that are looked for, each once, in the form that is compared.
        is_spent: Whether some places were not looked at, because there were too many.
    """

    texts: Sequence[str]
    is_spent: bool = False
    _by_head: list[tuple[list[int], list[_Sought]]] = field(default_factory=list)
    _search: AhoCorasick | None = None
    _left: int = 500_000_000

    @classmethod
    def of(cls, texts: Sequence[str], shortest: int = SHORTEST) -> Finder:
        """Return a finder of those texts that are long enough to say something."""
        made = cls(texts)
        heads: dict[str, dict[int, _Sought]] = {}
        for number, text in enumerate(texts):
            if len(text) >= shortest:
                sought = heads.setdefault(text[:_HEAD], {}).setdefault(len(text), _Sought())
                sought.numbers.setdefault(text, number)
                sought.ends.add(text[-_HEAD:])
        for lengths in heads.values():
            in_order = sorted(lengths)
            made._by_head.append((in_order, [lengths[one] for one in in_order]))
        made._search = AhoCorasick([_whole(head) for head in heads]) if heads else None
        return made

    def within(self, text: str) -> list[Hit]:
        """Return the places at which the texts stand in this one, in the order of the places.

        Of several that begin at one place the longest comes first.
        """
        hits: list[Hit] = []
        self._left += _WORK_A_CHARACTER * len(text)
        most = _LEAST_HITS + len(text) // 4
        for head, start in self._heads(text):
            if self._left <= 0 or len(hits) >= most:
                self.is_spent = True
                break
            here, (lengths, each) = 0, self._by_head[head]
            for at in range(bisect_right(lengths, len(text) - start) - 1, -1, -1):
                end, sought = start + lengths[at], each[at]
                self._left -= _WORK_A_LENGTH
                if text[max(start, end - _HEAD) : end] not in sought.ends:
                    continue
                self._left -= end - start
                number = sought.numbers.get(text[start:end])
                if number is not None:
                    hits.append(Hit(number, start, end))
                    self._left -= _WORK_A_HIT
                    here += 1
                    if here == _MOST_AT_A_PLACE:
                        break
        return sorted(hits, key=lambda hit: (hit.start, -hit.end))

    def _heads(self, text: str) -> Iterator[tuple[int, int]]:
        """The number and the place of each beginning that stands in a text."""
        if self._search is None:
            return
        for window in range(0, len(text), _WINDOW):
            part = _whole(text[window : window + _WINDOW + _HEAD - 1])
            for head, start, _ in self._search.find_matches_as_indexes(part, overlapping=True):
                if start < _WINDOW:
                    yield head, window + start


def _whole(text: str) -> str:
    """A text of which half characters are signs of their own, since the search takes none."""
    return _HALF.sub("\ufffd", text)


def outermost(hits: Iterable[Hit], is_wanted: Callable[[Hit], bool]) -> list[Hit]:
    """Return the wanted hits that do not stand within a longer one, leftmost first.

    A text that stands in a longer one which was found, too, came with that one.
    """
    found: list[Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if (not found or hit.end > found[-1].end) and is_wanted(hit):
            found.append(hit)
    return found


def covered(hits: Iterable[Hit]) -> int:
    """Return how many characters some hits cover, each once."""
    total = behind = 0
    for hit in sorted(hits, key=lambda hit: hit.start):
        total += max(0, hit.end - max(hit.start, behind))
        behind = max(behind, hit.end)
    return total


def gaps(text: str, hits: Iterable[Hit]) -> list[str]:
    """Return what of a text no hit covers, in its order; the hits count characters of this text."""
    found, behind = [], 0
    for hit in sorted(hits, key=lambda hit: hit.start):
        if hit.start > behind:
            found.append(text[behind : hit.start])
        behind = max(behind, hit.end)
    if behind < len(text):
        found.append(text[behind:])
    return found


def is_whole(text: str, hit: Hit) -> bool:
    """Return whether a hit begins and ends where words of the text do."""
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
