"""Reviews by people as labels of annotators: what was said on the page counts in an evaluation.

Source: VeriTrail B.2.2 (several annotators, the majority's label); reviews are ours
(docs/reviews.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from veritrail_eval.annotation.final_labels import Decision, Reason, majority, settled
from veritrail_eval.datasets.model import Annotation, AnnotatorLabel, LabelledClaim
from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.importers.records import ProcessInput, ReviewRecord, TrailInput
from veritrail_graph.graph.model import Review, ReviewVerdict
from veritrail_graph.graph.model.review import latest_of_each

_LABELS = {
    ReviewVerdict.FULLY_SUPPORTED: AnnotatorLabel.FULLY_SUPPORTED,
    ReviewVerdict.NOT_FULLY_SUPPORTED: AnnotatorLabel.NOT_FULLY_SUPPORTED,
    ReviewVerdict.INCONCLUSIVE: AnnotatorLabel.INCONCLUSIVE,
    ReviewVerdict.UNCLEAR: AnnotatorLabel.NOT_UNDERSTOOD,
}
OTHER_TEXT = "review of another text of the claim: left out"
NO_CLAIM = "review of a claim that is not there: left out"
KEPT = "claim that keeps its own label, although its reviews say otherwise"
NO_LABEL = "claim without a label: its reviewers do not agree, or did not understand it"
BESIDE = "label of an annotator from a review"
DECIDED = "decision between reviewers"


@dataclass(frozen=True, slots=True)
class ReviewedClaims:
    """Claims with the labels that reviews gave them.

    Attributes:
        claims: The claims, in their order.
        counts: What was done with reviews, and how often.
    """

    claims: tuple[LabelledClaim, ...]
    counts: Counter[str]


def reviews_of(source: ProcessInput) -> list[Review]:
    """The reviews that an input carries: the latest one of each reviewer of each claim.

    Decisions between reviewers are counted beside their reviews.

    Raises:
        InputError: The input carries what cannot be read beside its claims.
    """
    if not isinstance(source, TrailInput):
        return []
    every = list(source.trails())
    if faults := [one for one in every if isinstance(one, Violation)]:
        message = "what was recorded of its claims breaks rules"
        raise InputError(message, faults, code="bad_rows")
    said = [one.review for one in every if isinstance(one, ReviewRecord)]
    decisions = latest_of_each(one for one in said if one.adjudicates)
    return [*latest_of_each(one for one in said if not one.adjudicates), *decisions]


def with_reviews(claims: Sequence[LabelledClaim], reviews: Sequence[Review]) -> ReviewedClaims:
    """Claims of one process with the reviews of people as labels of annotators.

    A claim with a label of its own keeps it. Any other gets the label of the latest decision
    between its reviewers, else that of more than half of them.
    """
    counts: Counter[str] = Counter()
    found: dict[str, list[Annotation]] = {}
    decided: dict[str, Review] = {}
    texts = {claim.claim_id: claim.text for claim in claims}
    for one in sorted(reviews, key=lambda review: review.order):
        if one.claim_id not in texts:
            counts[NO_CLAIM] += 1
            continue
        if one.claim != texts[one.claim_id]:
            counts[OTHER_TEXT] += 1
            continue
        if one.adjudicates:
            decided[one.claim_id] = one
            counts[DECIDED] += 1
            continue
        counts[BESIDE] += 1
        said = Annotation(annotator=one.reviewer, label=_LABELS[one.verdict], comment=one.reason)
        found.setdefault(one.claim_id, []).append(said)
    return ReviewedClaims(
        tuple(
            _labelled(claim, found.get(claim.claim_id, ()), decided.get(claim.claim_id), counts)
            for claim in claims
        ),
        counts,
    )


def _labelled(
    claim: LabelledClaim,
    labels: Sequence[Annotation],
    decided: Review | None,
    counts: Counter[str],
) -> LabelledClaim:
    if not labels and decided is None:
        return claim
    decision = None
    if decided is not None:
        reason = Reason.NO_MAJORITY if majority(labels) is None else Reason.MISAPPLIED
        decision = Decision(_LABELS[decided.verdict], reason)
    found = settled(claim.replace(labels=tuple(labels)), decision)
    if claim.label is None:
        if found.label is None:
            counts[NO_LABEL] += 1
        return found
    if found.label not in (None, claim.label):
        counts[KEPT] += 1
    return found.replace(label=claim.label, label_origin=claim.label_origin)
