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
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, Any, TypeVar

from veritrail_graph.graph.model import Review, ReviewVerdict, Verdict
from veritrail_graph.graph.model.agreement import (
    Agreement,
    AgreementFigures,
    JudgeFigures,
    PairFigures,
    ReviewerFigures,
)
from veritrail_graph.graph.model.review import latest_of_each, reviewed_claims

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


def figures(pairs: Iterable[Pair]) -> dict[str, Any]:
    """Return the fields of `AgreementFigures`.

    Args:
        pairs: Pairs of verdicts; the first is the model's, or the first reviewer's.
    """
    table = Counter(pairs)
    total = table.total()
    agreed = sum(count for (one, other), count in table.items() if one is other)
    interval = wilson_interval(agreed, total)
    return {
        "pairs": total,
        "agreed": agreed,
        "share": agreed / total if total else None,
        "interval": list(interval) if interval is not None else None,
        "kappa": cohen_kappa(table),
        "small": total < FEW,
        "table": {
            one.value: {other.value: table[one, other] for other in Verdict} for one in Verdict
        },
    }


def wilson_interval(count: int, of: int) -> tuple[float, float] | None:
    """Return the 95 % interval of a share, by E. B. Wilson's score; None: a share of nothing."""
    if not of:
        return None
    share, square = count / of, _NORMAL**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    spread = _NORMAL * sqrt(share * (1 - share) / of + square / (4 * of**2))
    spread /= 1 + square / of
    return max(0.0, middle - spread), min(1.0, middle + spread)


def agreement_of(process_id: str, found: Sequence[JudgedReview]) -> Agreement:
    """Return how far people agree with the judge, and with each other.

    A review is compared with the verdict that it was about, whatever was verified since. Of a
    reviewer's reviews of one claim the latest counts; of all reviews of a claim the latest that
    decides between reviewers, else the latest.

    Args:
        process_id: The process.
        found: All reviews of a process, in any order.
    """
    judges = {
        one.review.review_id: (one.engine, one.model) for one in found if one.engine is not None
    }
    counting = latest_of_each(one.review for one in found)
    claims = reviewed_claims(one.review for one in found)
    latest = [one.latest for one in claims.values()]
    of_judges: dict[tuple[str, str | None], list[Pair]] = {}
    for review in latest:
        if review.review_id in judges and (pair := with_model(review)):
            of_judges.setdefault(judges[review.review_id], []).append(pair)
    return Agreement(
        process_id=process_id,
        reviews=len(found),
        claims=len(claims),
        unclear=sum(_is_unclear(review) for review in latest),
        disputed=sum(one.disputed for one in claims.values()),
        overall=AgreementFigures(**figures(_with_model(latest))),
        judges=[
            JudgeFigures(engine=engine, model=model, **figures(of_judges[engine, model]))
            for engine, model in sorted(of_judges, key=lambda judge: (judge[0], judge[1] or ""))
        ],
        reviewers=_reviewers([one.review for one in found], counting),
        between_reviewers=_between(counting),
    )


def _with_model(reviews: Iterable[Review]) -> list[Pair]:
    return [pair for review in reviews if (pair := with_model(review)) is not None]


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


def _reviewers(every: Sequence[Review], counting: Sequence[Review]) -> list[ReviewerFigures]:
    reviews = Counter(one.reviewer for one in every)
    found = []
    for name in sorted(reviews):
        own = [one for one in counting if one.reviewer == name]
        unclear = sum(map(_is_unclear, own))
        pairs = figures(_with_model(own))
        found.append(
            ReviewerFigures(reviewer=name, reviews=reviews[name], unclear=unclear, **pairs)
        )
    return found


def _between(counting: Sequence[Review]) -> list[PairFigures]:
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
        unclear = len(both) - len(clear)
        found.append(PairFigures(reviewers=[first, second], unclear=unclear, **figures(clear)))
    return found
