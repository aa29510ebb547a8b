"""Claims that say nearly the same, told by their words alone: offered for removal, never removed.

Two claims about one node are near-duplicates when they share at least four fifths of their words,
and no number, denial or word with a capital is in one of them only. No model is asked: claims that
say the same in other words are not found, and of two that are found a person decides.

Source: VeriTrail B (redundant claims were removed by hand); the measure is ours.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from pydantic import Field

from veritrail_graph.graph.citations import CITATION
from veritrail_graph.graph.model import Claim
from veritrail_graph.graph.model.noun import Noun

LEAST_OVERLAP = 0.8

MOST_COMPARED = 1_000
"""Earlier claims that one is compared with; only thousands that differ in a word have more."""

MOST_IN_PAIRS = 40
"""Words of a claim that is found by pairs of them."""

_MARKS = 128
_ROUNDING = 1e-9

_WORD = re.compile(r"[^\W_]+(?:['\u2019.,:-][^\W_]+)*")
_ARTICLES = frozenset(("a", "an", "the"))
_DENIALS = frozenset(("no", "not", "never", "none", "nor", "neither", "without", "cannot"))


class NearDuplicate(Noun):
    """A claim that says nearly the same as an earlier one.

    Attributes:
        claim_id: The claim.
        like: The earlier claim.
        overlap: How many of the words of both they share, from 0 to 1.
    """

    claim_id: str
    like: str
    overlap: float = Field(ge=0, le=1)


def near_duplicates(claims: Sequence[Claim]) -> list[NearDuplicate]:
    """The claims that say nearly the same as an earlier one, each with the most alike of these.

    A claim is compared with the first `MOST_COMPARED` earlier ones that may be alike, by an index
    of their rarest words, so that the time grows with the number of claims.

    Args:
        claims: Claims in their order; of two that are alike the later one is named.
    """
    split = [_split(claim.text) for claim in claims]
    index = _Index(split)
    found: list[NearDuplicate] = []
    for place, (claim, (words, strict)) in enumerate(zip(claims, split, strict=True)):
        other, overlap = index.most_alike(claim.node_id, words, strict)
        index.add(claim.node_id, words, strict, place)
        if other is not None:
            like = claims[other].claim_id
            found.append(
                NearDuplicate(claim_id=claim.claim_id, like=like, overlap=round(overlap, 2))
            )
    return found


_Words = frozenset[str]
_Key = tuple[str, _Words, str, str]
_Where = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Kept:
    """A claim of an index: its words, those that others must have, and marks of its words."""

    words: _Words
    strict: _Words
    marks: int


class _Index:
    """Earlier claims, found by words that those that are alike have in common.

    Two claims are alike only if each has all words that the other must have. So claims are kept
    apart by their fixed words: those that every claim that has them must have. Of the words of a
    claim in one order, the rarest first, two that share enough share two near the beginning.

    Args:
        split: The words of all claims, and those that each must have.
    """

    def __init__(self, split: Sequence[tuple[_Words, _Words]]) -> None:
        counts = Counter(word for words, _ in split for word in words)
        must = Counter(word for _, strict in split for word in strict)
        self._fixed = frozenset(word for word, count in must.items() if count == counts[word])
        ordered = sorted(counts, key=lambda word: (word in self._fixed, counts[word], word))
        self._rank = {word: rank for rank, word in enumerate(ordered)}
        self._same: dict[tuple[str, _Words], int] = {}
        self._known: set[tuple[str, _Words, _Words]] = set()
        self._kept: dict[int, _Kept] = {}
        # By what is shared: by the size of a claim and the places of these words in it, the claims.
        self._places: dict[_Key, dict[_Where, list[int]]] = defaultdict(dict)

    def add(self, node_id: str, words: _Words, strict: _Words, claim: int) -> None:
        """Keep a claim, unless an earlier one has the same words."""
        self._same.setdefault((node_id, words), claim)
        if (node_id, words, strict) in self._known:
            return
        self._known.add((node_id, words, strict))
        self._kept[claim] = _Kept(words, strict, self._marks(words))
        kinds = (True,) if len(words) <= MOST_IN_PAIRS else (False,)
        for key, first, last in self._keys(node_id, words, kinds):
            claims = self._places[key].setdefault((len(words), first, last), [])
            if len(claims) < MOST_COMPARED:
                claims.append(claim)

    def most_alike(self, node_id: str, words: _Words, strict: _Words) -> tuple[int | None, float]:
        """The earliest of the claims that share most of their words, and their share."""
        if words and (node_id, words) in self._same:
            return self._same[node_id, words], 1.0
        found: int | None = None
        most, size, marks = 0.0, len(words), self._marks(words)
        for claim in self._candidates(node_id, words):
            other = self._kept[claim]
            both = size + len(other.words)
            if (marks ^ other.marks).bit_count() > both - 2 * _least_shared(both):
                continue  # as many words at least are in one of them only
            share = _overlap(words, other.words)
            differing = words ^ other.words
            if share > max(most, LEAST_OVERLAP - _ROUNDING) and not differing & (
                strict | other.strict
            ):
                found, most = claim, share
        return found, most

    def _candidates(self, node_id: str, words: _Words) -> list[int]:
        """The claims that may share enough, the earliest first."""
        size = len(words)
        found: set[int] = set()
        for key, first, last in self._keys(node_id, words, (True, False)):
            for (others, one, two), claims in self._places.get(key, {}).items():
                # As many words as must be shared come from here on, in both.
                least = _least_shared(size + others)
                is_first = min(size - first, others - one) >= least
                if is_first and min(size - last, others - two) >= least - (first != last):
                    found.update(claims)
        return sorted(found)[:MOST_COMPARED]

    def _keys(
        self, node_id: str, words: _Words, pairs: Sequence[bool]
    ) -> Iterator[tuple[_Key, int, int]]:
        """Yield what two claims that are alike share one of, with its places in the order of words.

        Args:
            node_id: The node.
            words: The words.
            pairs: Whether two words are shared, or one: of claims with many words there would be
                too many pairs.
        """
        size, fixed = len(words), words & self._fixed
        ordered = sorted(words, key=self._rank.__getitem__)
        alone = size - math.ceil(LEAST_OVERLAP * size) + 1
        if True in pairs and size * LEAST_OVERLAP <= MOST_IN_PAIRS:
            for first, last in combinations(range(min(alone + 1, size)), 2):
                yield (node_id, fixed, ordered[first], ordered[last]), first, last
        if False in pairs and size >= MOST_IN_PAIRS * LEAST_OVERLAP:
            for place in range(alone):
                yield (node_id, fixed, ordered[place], ""), place, place

    def _marks(self, words: _Words) -> int:
        """A number of which a bit is set for each word; several words may share one."""
        marks = 0
        for word in words:
            marks |= 1 << self._rank[word] % _MARKS
        return marks


@cache
def _least_shared(words: int) -> int:
    """Return the least number of words that two alike claims share, of `words` together."""
    return math.ceil(words * LEAST_OVERLAP / (1 + LEAST_OVERLAP) - _ROUNDING)


def _split(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a claim, and those that both must have: numbers, denials, capitals."""
    words: set[str] = set()
    strict: set[str] = set()
    for found in _WORD.finditer(CITATION.sub(" ", text)):
        word = found.group().casefold().replace("\u2019", "'")
        if word in _ARTICLES:
            continue
        words.add(word)
        is_name = found.group()[0].isupper()
        is_number = any(character.isdigit() for character in word)
        if is_name or is_number or word in _DENIALS or word.endswith("n't"):
            strict.add(word)
    return frozenset(words), frozenset(strict)


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0
