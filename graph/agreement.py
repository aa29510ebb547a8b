"""The agreement of people with the model, and with each other: raw share and Cohen's kappa.

Kappa is the agreement beyond what two judges would reach who gave their verdicts as often as
these did, but by chance: `(observed - expected) / (1 - expected)`. It is not defined where
nothing else could be expected: without a pair, or where both gave one and the same verdict
throughout.

Source: ours (docs/adr/0017-reviews.md); kappa: J. Cohen, 1960.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, TypeVar

from veritrail_graph.graph.model import Review, ReviewVerdict, Verdict
from veritrail_graph.graph.model.review import latest_of_each

if TYPE_CHECKING:
    from veritrail_graph.graph.model.listed import JudgedReview

FEW = 30
"""Below this number of pairs a figure is not meaningful."""

_NORMAL = 1.959964  # 95 % of a normal distribution lie within this many standard deviations

Pair = tuple[Verdict, Verdict]
Label = TypeVar("Label", bound=Hashable)


def agreement_by_chance(table: Mapping[tuple[Label, Label], int]) -> float | None:
    """The share of equal pairs to be expected by chance, from 0 to 1; None without a pair.

    Args:
        table: How many pairs there are of each kind.
    """
    first: Counter[Label] = Counter()
    second: Counter[Label] = Counter()
    for (one, other), count in table.items():
        first[one] += count
        second[other] += count
    pairs = first.total()
    return sum(first[label] * second[label] for label in first) / pairs**2 if pairs else None


def cohen_kappa(table: Mapping[tuple[Label, Label], int]) -> float | None:
    """Cohen's kappa of pairs of labels; None where it is not defined.

    Args:
        table: How many pairs there are of each kind.
    """
    expected = agreement_by_chance(table)
    if expected is None or expected == 1:
        return None
    equal = sum(count for (one, other), count in table.items() if one == other)
    return (equal / sum(table.values()) - expected) / (1 - expected)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of pairs of verdicts; the first is the model's, or the first reviewer's.

    Attributes:
        table: How many pairs there are of each kind.
    """

    table: Mapping[Pair, int]

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> Agreement:
        """The agreement of these pairs."""
        return cls(Counter(pairs))

    @property
    def pairs(self) -> int:
        """Return how many pairs there are."""
        return sum(self.table.values())

    @property
    def agreed(self) -> int:
        """Return how many of them agree."""
        return sum(count for (one, other), count in self.table.items() if one is other)

    @property
    def share(self) -> float | None:
        """Their share; None without a pair."""
        return self.agreed / self.pairs if self.pairs else None

    @property
    def is_small(self) -> bool:
        """Return whether there are too few pairs for a meaningful figure."""
        return self.pairs < FEW

    @property
    def expected(self) -> float | None:
        """The share to be expected by chance; None without a pair."""
        return agreement_by_chance(self.table)

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa; None where it is not defined."""
        return cohen_kappa(self.table)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the 95 % interval of the share (E. B. Wilson's score); None without a pair."""
        return wilson_interval(self.agreed, self.pairs)


def wilson_interval(count: int, of: int) -> tuple[float, float] | None:
    """Return the 95 % interval of a share, by E. B. Wilson's score; None: a share of nothing."""
    if not of:
        return None
    share, square = count / of, _NORMAL**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    spread = _NORMAL * sqrt(share * (1 - share) / of + square / (4 * of**2))
    spread /= 1 + square / of
    return max(0.0, middle - spread), min(1.0, middle + spread)


@dataclass(frozen=True, slots=True)
class Judge:
    """The engine and model that gave the reviewed verdicts."""

    engine: str
    model: str | None


@dataclass(frozen=True, slots=True)
class ReviewerAgreement:
    """One reviewer against the model.

    Attributes:
        reviewer: The reviewer.
        reviews: How many reviews are theirs; the latest of each claim counts.
        unclear: Claims that they call unclear.
        agreement: The agreement of their other verdicts.
    """

    reviewer: str
    reviews: int
    unclear: int
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two reviewers against each other, on the claims that both reviewed.

    Attributes:
        reviewers: The two, by name.
        unclear: Claims that one of them or both call unclear; not among the pairs.
        agreement: The agreement of their verdicts.
    """

    reviewers: tuple[str, str]
    unclear: int
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """The agreement of all reviews of a process.

    Attributes:
        reviews: How many there are.
        claims: Claims that have one.
        unclear: Those of them whose latest review calls them unclear.
        disputed: Those of them on which reviewers differ.
        overall: The model against the reviewed verdict of each claim, which is the latest.
        judges: The same for each engine and model that gave verdicts.
        reviewers: The model against each reviewer, by name.
        between: Reviewers against each other.
    """

    reviews: int
    claims: int
    unclear: int
    disputed: int
    overall: Agreement
    judges: Mapping[Judge, Agreement]
    reviewers: Sequence[ReviewerAgreement]
    between: Sequence[PairAgreement]


def agreement_report(found: Sequence[JudgedReview]) -> AgreementReport:
    """The agreement of reviews.

    A review is compared with the verdict that it was about, whatever was verified since. Of a
    reviewer's reviews of one claim the latest counts, of all reviews of a claim too.

    Args:
        found: All reviews of a process, in any order.
    """
    judges = {
        one.review.review_id: Judge(one.engine, one.model)
        for one in found
        if one.engine is not None
    }
    counting = latest_of_each(one.review for one in found)
    by_claim: dict[str, list[Review]] = {}
    for review in counting:  # the latest first
        by_claim.setdefault(review.claim_id, []).append(review)
    latest = [reviews[0] for reviews in by_claim.values()]
    of_judges: dict[Judge, list[Pair]] = {}
    for review in latest:
        if review.review_id in judges and (pair := with_model(review)):
            of_judges.setdefault(judges[review.review_id], []).append(pair)
    return AgreementReport(
        reviews=len(found),
        claims=len(by_claim),
        unclear=sum(_is_unclear(review) for review in latest),
        disputed=sum(len({one.verdict for one in each}) > 1 for each in by_claim.values()),
        overall=Agreement.of(pair for review in latest if (pair := with_model(review))),
        judges={
            judge: Agreement.of(of_judges[judge])
            for judge in sorted(of_judges, key=lambda one: (one.engine, one.model or ""))
        },
        reviewers=_reviewers([one.review for one in found], counting),
        between=_between(counting),
    )


def with_model(review: Review) -> Pair | None:
    """The model's verdict and the reviewer's; None where there are not both."""
    verdict = _verdict(review)
    if verdict is None or review.model_verdict is None:
        return None
    return review.model_verdict, verdict


def _verdict(review: Review) -> Verdict | None:
    return None if _is_unclear(review) else Verdict(review.verdict.value)


def _is_unclear(review: Review) -> bool:
    return review.verdict is ReviewVerdict.UNCLEAR


def _reviewers(every: Sequence[Review], counting: Sequence[Review]) -> list[ReviewerAgreement]:
    reviews = Counter(one.reviewer for one in every)
    found = []
    for name in sorted(reviews):
        own = [one for one in counting if one.reviewer == name]
        pairs = Agreement.of(pair for one in own if (pair := with_model(one)))
        found.append(ReviewerAgreement(name, reviews[name], sum(map(_is_unclear, own)), pairs))
    return found


def _between(counting: Sequence[Review]) -> list[PairAgreement]:
    """Every two reviewers who reviewed a claim in the same words."""
    by_reviewer: dict[str, dict[tuple[str, str], Review]] = {}
    for one in counting:
        by_reviewer.setdefault(one.reviewer, {})[one.claim_id, one.claim] = one
    found = []
    for first, second in combinations(sorted(by_reviewer), 2):
        both = [
            (by_reviewer[first][key], by_reviewer[second][key])
            for key in by_reviewer[first].keys() & by_reviewer[second]
        ]
        if not both:
            continue
        clear = [(a, b) for one, other in both if (a := _verdict(one)) and (b := _verdict(other))]
        pairs = Agreement.of(clear)
        found.append(PairAgreement((first, second), len(both) - len(clear), pairs))
    return found
