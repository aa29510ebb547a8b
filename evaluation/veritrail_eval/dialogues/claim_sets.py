"""Sets of claims of the same turns: which claims are the same, and how far sets agree.

Claims are the same when their texts are, case, white space and the full stop aside, or when the
cosine of their vectors is above 0.9. Each claim is the same as one claim of the other set at most:
the most alike pairs are taken first.

Source: VISTA 5, D.1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from operator import mul
from typing import Any

from veritrail_eval.dialogues.gold import DialogueGold, LabelledTurnClaim
from veritrail_eval.embeddings.port import Embedder
from veritrail_eval.figures.agreement import Annotation, AnnotatorAgreement
from veritrail_eval.figures.figure import Figure, mean, share, with_reasons
from veritrail_eval.figures.options import Resampling
from veritrail_graph.graph.model.dialogue import ClaimCategory
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import JudgeError

ALIKE = 0.9
"""Claims whose cosine is above it are the same. Source: VISTA 5."""
_EQUAL = 2.0  # above every cosine


@dataclass(frozen=True, slots=True)
class ClaimMatcher:
    """Says which claims are the same.

    Attributes:
        vectors: The vectors of claims by their texts; without them equal texts alone count.
        embedding: The model that made them; None: there are none.
    """

    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    embedding: str | None = None

    @classmethod
    async def of(cls, texts: Iterable[str], embedder: Embedder, meter: Meter) -> ClaimMatcher:
        """A matcher with the vectors of these claims.

        Raises:
            VeriTrailError: No vectors could be had.
        """
        asked = list(dict.fromkeys(text for text in texts if text.strip()))
        vectors = await embedder.embed(asked, meter) if asked else []
        if len(vectors) != len(asked) or len({len(one) for one in vectors}) > 1:
            raise JudgeError(f"{embedder.name} gave other vectors than it was asked for")
        found = {text: _unit(vector) for text, vector in zip(asked, vectors, strict=True)}
        return cls(found, embedder.name)

    @property
    def words(self) -> str:
        """Return how claims are matched, for people."""
        if self.embedding is None:
            return "equal text"
        return f"equal text, or cosine above {ALIKE:g} ({self.embedding})"

    def pairs(self, first: Sequence[Sequence[str]], second: Sequence[str]) -> list[tuple[int, int]]:
        """The claims of two sets that are the same, by their places, ordered.

        Args:
            first: The wordings of each claim of one set.
            second: The claims of the other set.
        """
        alike = [
            (-likeness, place, other)
            for place, wordings in enumerate(first)
            for other, text in enumerate(second)
            if (likeness := max(self._likeness(one, text) for one in wordings)) > ALIKE
        ]
        taken: dict[int, int] = {}
        used: set[int] = set()
        for _, place, other in sorted(alike):
            if place not in taken and other not in used:
                taken[place] = other
                used.add(other)
        return sorted(taken.items())

    def _likeness(self, one: str, other: str) -> float:
        if _plain(one) == _plain(other):
            return _EQUAL
        first, second = self.vectors.get(one), self.vectors.get(other)
        return sum(map(mul, first, second)) if first and second else 0.0


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _unit(vector: Sequence[float]) -> list[float]:
    length = math.sqrt(math.fsum(one * one for one in vector))
    if not math.isfinite(length) or not length:
        return []
    return [one / length for one in vector]


@dataclass(frozen=True, slots=True)
class Overlap:
    """The overlap of the claims that two annotators, or a method and people, name.

    Counts are those of all turns together: in the paper's Table 6 F1 is 2 J / (1 + J), which
    means over turns would not give.

    Attributes:
        turns: Turns of which both name the claims.
        first: Claims that one names.
        second: Claims that the other names.
        both: Claims that both name.

    Source: VISTA D.1.
    """

    turns: int = 0
    first: int = 0
    second: int = 0
    both: int = 0

    def __add__(self, other: Overlap) -> Overlap:
        return Overlap(
            self.turns + other.turns,
            self.first + other.first,
            self.second + other.second,
            self.both + other.both,
        )

    @property
    def jaccard(self) -> Figure:
        """Claims that both name, of all that any names."""
        every = self.first + self.second - self.both
        return share(self.both, every, "no claim is named")

    @property
    def f1(self) -> Figure:
        """The harmonic mean of the shares of each one's claims that the other names."""
        return share(2 * self.both, self.first + self.second, "no claim is named")

    def as_json(self) -> dict[str, Any]:
        """Turns and figures."""
        figures = {"jaccard": self.jaccard, "f1": self.f1}
        document = {"turns": self.turns, **{name: one.value for name, one in figures.items()}}
        return with_reasons(document, figures)


def overlap_of(first: Sequence[str], second: Sequence[str], matcher: ClaimMatcher) -> Overlap:
    """Return how far two sets of claims of one turn agree."""
    both = len(matcher.pairs([(one,) for one in first], second))
    return Overlap(1, len(first), len(second), both)


@dataclass(frozen=True, slots=True)
class ClaimAgreement:
    """The agreement of annotators on the claims of turns, and on their categories.

    Attributes:
        overlaps: The overlap of every two annotators who named claims of the same turns.
        labels: The categories of claims, of annotators who named the same claim.

    Source: VISTA 5, D.1.
    """

    overlaps: Mapping[tuple[str, str], Overlap]
    labels: AnnotatorAgreement

    @classmethod
    def of(cls, gold: DialogueGold, matcher: ClaimMatcher) -> ClaimAgreement | None:
        """The agreement of the annotators of a file; None: no two named claims of one turn."""
        overlaps: dict[tuple[str, str], Overlap] = {}
        annotations: list[Annotation] = []
        for number, turn in enumerate(gold.turns):
            sets = {
                one.annotator: one.claims
                for one in sorted(turn.labels, key=lambda one: one.annotator)
                if one.claims is not None
            }
            for pair in combinations(sets, 2):
                first, second = ([one.claim for one in sets[name]] for name in pair)
                found = overlap_of(first, second, matcher)
                overlaps[pair] = overlaps.get(pair, Overlap()) + found
            annotations += _annotations(f"{number}", sets, matcher)
        if not overlaps:
            return None
        return cls(overlaps, AnnotatorAgreement(annotations, list(ClaimCategory), "nominal"))

    def as_json(self, matcher: ClaimMatcher, how: Resampling | None = None) -> dict[str, Any]:
        """Overlaps of every pair and their means, and alpha over the matched claims."""
        means = {
            name: mean(
                (
                    value.value
                    for one in self.overlaps.values()
                    if (value := getattr(one, name)).value is not None
                ),
                "no claim is named",
            )
            for name in ("jaccard", "f1")
        }
        labels = self.labels.as_json(how)
        document = {
            "matching": matcher.words,
            "pairs": {"|".join(pair): one.as_json() for pair, one in self.overlaps.items()},
            **{name: one.value for name, one in means.items()},
            "claims": labels["units"],
            "matched": labels["units"] - self.labels.single,
            "krippendorff_alpha": labels["krippendorff_alpha"],
        }
        if how is not None:
            document["intervals"] = labels["intervals"]
        return with_reasons(document, {**means, "krippendorff_alpha": self.labels.alpha})


def _annotations(
    turn: str, sets: Mapping[str, Sequence[LabelledTurnClaim]], matcher: ClaimMatcher
) -> list[Annotation]:
    """The categories that annotators gave to the claims of a turn, each claim under one id."""
    units: list[list[str]] = []
    found: list[Annotation] = []
    for annotator, claims in sets.items():
        pairs = matcher.pairs(units, [one.claim for one in claims])
        same = {other: place for place, other in pairs}
        for number, claim in enumerate(claims):
            place = same.get(number, len(units))
            if place == len(units):
                units.append([])
            units[place].append(claim.claim)
            found.append(Annotation(f"{turn}/{place}", annotator, claim.category))
    return found
