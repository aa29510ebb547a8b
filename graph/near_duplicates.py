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
from collections.abc import Sequence

from pydantic import Field

from veritrail_graph.graph.citations import CITATION
from veritrail_graph.graph.model import Claim
from veritrail_graph.graph.model.noun import Noun

LEAST_OVERLAP = 0.8

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

    Args:
        claims: Claims in their order; of two that are alike the later one is named.
    """
    split = [_split(claim.text) for claim in claims]
    counts = Counter(word for words, _ in split for word in words)
    by_word: dict[tuple[str, str], list[int]] = defaultdict(list)
    found: list[NearDuplicate] = []
    for place, (claim, (words, strict)) in enumerate(zip(claims, split, strict=True)):
        rarest = sorted(words, key=lambda word: (counts[word], word))
        # Texts that share so much share one of their rarest words.
        keys = [
            (claim.node_id, word)
            for word in rarest[: len(rarest) - math.ceil(LEAST_OVERLAP * len(rarest)) + 1]
        ]
        others = sorted({other for key in keys for other in by_word[key]})
        for key in keys:
            by_word[key].append(place)
        shares = [
            (_overlap(words, split[other][0]), -other)
            for other in others
            if not (words ^ split[other][0]) & (strict | split[other][1])
        ]
        overlap, other = max(shares, default=(0.0, 0))
        if overlap >= LEAST_OVERLAP:
            like = claims[-other].claim_id
            found.append(
                NearDuplicate(claim_id=claim.claim_id, like=like, overlap=round(overlap, 2))
            )
    return found


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
