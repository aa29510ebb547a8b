"""Methods compared on the same claims: who is scored on what, what is left out, and the figures.

Source: VeriTrail 4.3 with footnote 7 (hard prediction), E.3 (soft prediction), D (cost).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from veritrail_eval.figures.auroc import auroc, auroc_of_counts
from veritrail_eval.figures.bootstrap import Interval, intervals
from veritrail_eval.figures.confusion import (
    CLASSES,
    SUPPORTED,
    UNSUPPORTED,
    Confusion,
    cell_of,
)
from veritrail_eval.figures.figure import Figure, mean, missing, with_reasons
from veritrail_eval.figures.mcnemar import McNemar
from veritrail_eval.figures.options import Inconclusive, Resampling
from veritrail_graph.graph.model import Verdict

INCONCLUSIVE = Verdict.INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class ScoredClaim:
    """One method's verdict on one claim.

    Attributes:
        claim_id: The claim.
        label: What a person says; None: nothing. Inconclusive counts as no label.
        verdict: What the method says; None: it ended without a verdict.
        method: The method; None: the only one, which has no name.
        score: The probability of Fully Supported, from 0 to 1.
        cost_usd: What the verdict cost in US dollars; None: unknown.
    """

    claim_id: str
    label: Verdict | None
    verdict: Verdict | None
    method: str | None = None
    score: float | None = None
    cost_usd: float | None = None

    @property
    def is_labelled(self) -> bool:
        """Return whether its label is one of the two classes."""
        return self.label in CLASSES


@dataclass(frozen=True, slots=True)
class Excluded:
    """Claims of a method that are not scored; each counts once, for the first of these reasons.

    Attributes:
        no_label: The label is neither of the two classes.
        no_verdict: The method has no verdict.
        inconclusive: This method, or another one that is compared, says Inconclusive.
    """

    no_label: int
    no_verdict: int
    inconclusive: int

    def as_json(self) -> dict[str, int]:
        """The counts by reason."""
        return {
            "inconclusive": self.inconclusive,
            "no_verdict": self.no_verdict,
            "no_label": self.no_label,
        }


@dataclass(frozen=True, slots=True)
class MethodScore:
    """The figures of one method.

    Attributes:
        method: Its name; None: it has none.
        claims: Its claims.
        excluded: Those that are not scored, by reason.
        outcomes: Label and counted verdict of each scored claim, by claim_id.
        scored_softly: Score of each claim that AUROC counts, and whether it is supported.
        has_scores: Whether any claim has a score.
        costs: What each verdict cost whose cost is known.
    """

    method: str | None
    claims: int
    excluded: Excluded
    outcomes: Mapping[str, tuple[Verdict, Verdict]]
    scored_softly: Sequence[tuple[float, bool]]
    has_scores: bool
    costs: Sequence[float]

    @property
    def confusion(self) -> Confusion:
        """The four cells of the scored claims."""
        return Confusion.of(self.outcomes.values())

    @property
    def auroc(self) -> Figure:
        """The area under the ROC curve."""
        return auroc(self.scored_softly) if self.has_scores else missing("no scores")

    @property
    def cost_per_claim(self) -> Figure:
        """US dollars for a claim with a verdict, of those whose cost is known."""
        return mean(self.costs, "no costs")

    def figures(self) -> dict[str, Figure]:
        """Every figure, by the path of its key."""
        figures = self.confusion.figures()
        return {**figures, "auroc": self.auroc, "cost_per_claim": self.cost_per_claim}

    def intervals(self, how: Resampling) -> dict[str, Interval]:
        """The interval of every figure, over the claims that it counts. Ours, not the paper's."""
        return {
            **self.hard_intervals(how),
            **self.soft_intervals(how),
            **intervals(self.costs, _of_costs, how),
        }

    def hard_intervals(self, how: Resampling) -> dict[str, Interval]:
        """The intervals of the figures of hard prediction alone."""
        return intervals([cell_of(*pair) for pair in self.outcomes.values()], _of_cells, how)

    def soft_intervals(self, how: Resampling) -> dict[str, Interval]:
        """The interval of AUROC alone."""
        return intervals(self.scored_softly, lambda drawn: {"auroc": auroc_of_counts(drawn)}, how)

    def as_json(self, resampling: Resampling | None = None) -> dict[str, Any]:
        """The figures under their keys; with `intervals` where a resampling is given."""
        figures = self.figures()
        document: dict[str, Any] = {
            "method": self.method,
            "claims": self.claims,
            "scored": len(self.outcomes),
            "excluded": self.excluded.as_json(),
            "macro_f1": figures["macro_f1"].value,
            "balanced_accuracy": figures["balanced_accuracy"].value,
            "precision": {name.value: figures[f"precision.{name}"].value for name in CLASSES},
            "recall": {name.value: figures[f"recall.{name}"].value for name in CLASSES},
            "auroc": figures["auroc"].value,
            "auroc_claims": len(self.scored_softly),
            "cost_per_claim": figures["cost_per_claim"].value,
        }
        if resampling is not None:
            found = self.intervals(resampling)
            document["intervals"] = {name: one.as_json() for name, one in found.items()}
            document["undefined_resamples"] = {
                name: one.undefined for name, one in found.items() if one.undefined
            }
        return with_reasons(document, figures)


def _of_cells(drawn: Mapping[int, int]) -> dict[str, Figure]:
    return Confusion(*(drawn.get(cell, 0) for cell in range(4))).figures()


def _of_costs(drawn: Mapping[float, int]) -> dict[str, Figure]:
    costs = (cost for cost, times in drawn.items() for _ in range(times))
    return {"cost_per_claim": mean(costs, "no costs")}


def scores(
    claims: Sequence[ScoredClaim], inconclusive: Inconclusive = Inconclusive.ANY
) -> list[MethodScore]:
    """The figures of every method, in the order in which methods first appear.

    Hard prediction leaves out a claim that any method calls Inconclusive, unless another rule is
    chosen. Soft prediction keeps it, and leaves out of all methods a claim that ended without a
    verdict in any of them, or that one which gives scores gave none: AUROC is over the same claims
    for all.

    Args:
        claims: What the methods say; a claim at most once for each method.
        inconclusive: What happens to Inconclusive verdicts.
    """
    by_method: dict[str | None, list[ScoredClaim]] = {}
    for claim in claims:
        by_method.setdefault(claim.method, []).append(claim)
    unsure = {claim.claim_id for claim in claims if claim.verdict is INCONCLUSIVE}
    soft = {claim.method for claim in claims if claim.score is not None}
    open_ended = {
        claim.claim_id
        for claim in claims
        if claim.verdict is None or (claim.score is None and claim.method in soft)
    }
    found = []
    for method, own in by_method.items():
        outcomes: dict[str, tuple[Verdict, Verdict]] = {}
        excluded: Counter[str] = Counter()
        for claim in own:
            reason = _exclusion(claim, inconclusive, unsure)
            if reason is not None:
                excluded[reason] += 1
            elif claim.label is not None:
                outcomes[claim.claim_id] = claim.label, _counted_verdict(claim, inconclusive)
        found.append(
            MethodScore(
                method=method,
                claims=len(own),
                excluded=Excluded(
                    excluded["no_label"], excluded["no_verdict"], excluded["inconclusive"]
                ),
                outcomes=outcomes,
                scored_softly=_scored_softly(own, open_ended),
                has_scores=any(claim.score is not None for claim in own),
                costs=[
                    claim.cost_usd
                    for claim in own
                    if claim.verdict is not None and claim.cost_usd is not None
                ],
            )
        )
    return found


def _exclusion(claim: ScoredClaim, rule: Inconclusive, unsure: Collection[str]) -> str | None:
    if not claim.is_labelled:
        return "no_label"
    if claim.verdict is None:
        return "no_verdict"
    if rule is Inconclusive.ANY and claim.claim_id in unsure:
        return "inconclusive"
    if rule is Inconclusive.OWN and claim.verdict is INCONCLUSIVE:
        return "inconclusive"
    return None


def _counted_verdict(claim: ScoredClaim, rule: Inconclusive) -> Verdict:
    if claim.verdict is not None and claim.verdict is not INCONCLUSIVE:
        return claim.verdict
    if rule is Inconclusive.NOT_SUPPORTED:
        return UNSUPPORTED
    is_supported = (claim.label is SUPPORTED) == (rule is Inconclusive.CORRECT)
    return SUPPORTED if is_supported else UNSUPPORTED


def _scored_softly(
    claims: Iterable[ScoredClaim], open_ended: Collection[str]
) -> list[tuple[float, bool]]:
    return [
        (claim.score, claim.label is SUPPORTED)
        for claim in claims
        if claim.is_labelled and claim.score is not None and claim.claim_id not in open_ended
    ]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two methods on the claims that both are scored on. Ours, not the paper's.

    Attributes:
        methods: The two.
        claims: How many claims both are scored on.
        mcnemar: The test.
    """

    methods: tuple[str | None, str | None]
    claims: int
    mcnemar: McNemar

    def as_json(self) -> dict[str, Any]:
        """The counts, the test and its p-value."""
        document = {
            "methods": list(self.methods),
            "claims": self.claims,
            "b": self.mcnemar.b,
            "c": self.mcnemar.c,
            "test": self.mcnemar.test,
            "p_value": self.mcnemar.p_value.value,
        }
        return with_reasons(document, {"p_value": self.mcnemar.p_value})


def comparisons(methods: Sequence[MethodScore]) -> list[Comparison]:
    """McNemar's test of every two methods."""
    return [_compared(first, second) for first, second in combinations(methods, 2)]


def _compared(first: MethodScore, second: MethodScore) -> Comparison:
    both = first.outcomes.keys() & second.outcomes.keys()
    only_first = only_second = 0
    for claim_id in both:
        (label, one), (_, other) = first.outcomes[claim_id], second.outcomes[claim_id]
        only_first += one is label is not other
        only_second += other is label is not one
    return Comparison(
        (first.method, second.method), len(both), McNemar(only_first, only_second, len(both))
    )
