"""At which stages errors come in, over variants of the method. Source: VeriTrail H."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from veritrail_eval.figures.bootstrap import Interval, intervals
from veritrail_eval.figures.confusion import UNSUPPORTED
from veritrail_eval.figures.divergence import jensen_shannon, spearman
from veritrail_eval.figures.figure import Figure, mean, missing, share, with_reasons
from veritrail_eval.figures.options import ROOT_STAGE, Resampling
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict

NO_TRUE_POSITIVES = "no true positives"

Stages = frozenset[int]


@dataclass(frozen=True, slots=True)
class LocatedClaim:
    """One variant's verdict on one claim, with the error stages.

    Attributes:
        variant: The variant, such as `q=1`.
        claim_id: The claim.
        label: What a person says; None: nothing.
        verdict: What the variant says; None: nothing.
        error_stages: The stages where the variant says that the error came in.
    """

    variant: str
    claim_id: str
    label: Verdict | None
    verdict: Verdict | None
    error_stages: Stages


@dataclass(frozen=True, slots=True)
class Localization:
    """The error stages of the true positives of each variant.

    Attributes:
        stages: The possible error stages, in order; that of the roots is none of them.
        true_positives: For each variant the error stages of each of its true positives.
        unlocated: Claims that are rightly called Not Fully Supported, but without an error stage
            other than that of the roots; they are no true positives.
    """

    stages: Sequence[int]
    true_positives: Mapping[str, Sequence[Stages]]
    unlocated: int = 0

    @classmethod
    def of(
        cls,
        claims: Iterable[LocatedClaim],
        stages: Iterable[int] | None = None,
        root_stage: int = ROOT_STAGE,
    ) -> Localization:
        """The true positives among claims.

        A true positive is labelled and called Not Fully Supported, and has at least one error
        stage. The stage of the roots is left out before, as source text cannot be wrong.

        Args:
            claims: What the variants say; a claim at most once for each variant.
            stages: The possible error stages. Default: every stage that a claim names.
            root_stage: The stage of the roots.

        Raises:
            InputError: A claim names a stage that is not among the possible ones.
        """
        found: dict[str, list[Stages]] = {}
        named: set[int] = set()
        unlocated = 0
        for claim in claims:
            own = claim.error_stages - {root_stage}
            named |= own
            positives = found.setdefault(claim.variant, [])
            if claim.label is claim.verdict is UNSUPPORTED:
                if own:
                    positives.append(own)
                else:
                    unlocated += 1
        possible = set(stages) - {root_stage} if stages is not None else named
        if beyond := sorted(named - possible):
            raise InputError(
                f"Error stages {beyond} are named, but the stages are {sorted(possible)}."
            )
        return cls(sorted(possible), found, unlocated)

    def rates_of(self, variant: str) -> dict[int, Figure]:
        """For each stage the share of the variant's true positives that name it: p(v, s).

        A claim with several error stages counts at each of them, so that rates may add up to more
        than 1.
        """
        own = self.true_positives[variant]
        named = Counter(stage for stages in own for stage in stages)
        return {stage: share(named[stage], len(own), NO_TRUE_POSITIVES) for stage in self.stages}

    def rates(self) -> dict[int, Figure]:
        """The mean of the rates of all variants, weighted by their true positives."""
        return self._pooled(Counter(self._all()))

    def unweighted(self) -> dict[int, Figure]:
        """The plain mean of the rates of the variants that have true positives."""
        every = [self.rates_of(variant) for variant in self._with_positives()]
        return {
            stage: mean(
                (value for one in every if (value := one[stage].value) is not None),
                NO_TRUE_POSITIVES,
            )
            for stage in self.stages
        }

    def intervals(self, how: Resampling) -> dict[int, Interval]:
        """Return the interval of the weighted rates over resampled true positives of variants."""

        def pooled(drawn: Mapping[Stages, int]) -> dict[str, Figure]:
            return {str(stage): rate for stage, rate in self._pooled(drawn).items()}

        return {int(stage): one for stage, one in intervals(self._all(), pooled, how).items()}

    def divergences(self) -> list[Figure]:
        """The Jensen-Shannon divergence of the rates of every two variants."""
        return [jensen_shannon(one, other) for one, other in self._pairs()]

    def correlations(self) -> list[Figure]:
        """Spearman's rank correlation of the rates of every two variants."""
        return [spearman(one, other) for one, other in self._pairs()]

    def as_json(self, resampling: Resampling) -> dict[str, Any]:
        """The figures under their keys, stages as texts."""
        rates, unweighted = self.rates(), self.unweighted()
        jsd, jsd_note = _mean_of_pairs(self.divergences())
        rank, rank_note = _mean_of_pairs(self.correlations())
        variants = []
        for variant, positives in self.true_positives.items():
            own = self.rates_of(variant)
            document = {
                "variant": variant,
                "true_positives": len(positives),
                "rates": _values(own),
            }
            figures = {} if positives else {"rates": missing(NO_TRUE_POSITIVES)}
            variants.append(with_reasons(document, figures))
        document = {
            "variants": variants,
            "rates": _values(rates),
            "unweighted": _values(unweighted),
            "intervals": {
                str(stage): one.as_json() for stage, one in self.intervals(resampling).items()
            },
            "jsd": jsd.value,
            "spearman": rank.value,
        }
        notes = {"jsd": jsd_note, "spearman": rank_note}
        if not self._all():
            notes = dict.fromkeys(("rates", "unweighted", "intervals", *notes), NO_TRUE_POSITIVES)
        return with_reasons(document, {name: Figure(None, note) for name, note in notes.items()})

    def _all(self) -> list[Stages]:
        return [stages for own in self.true_positives.values() for stages in own]

    def _with_positives(self) -> list[str]:
        return [variant for variant, own in self.true_positives.items() if own]

    def _pooled(self, drawn: Mapping[Stages, int]) -> dict[int, Figure]:
        # Weighted by true positives, the mean over variants is the share among all of them.
        named: Counter[int] = Counter()
        for stages, times in drawn.items():
            for stage in stages:
                named[stage] += times
        total = sum(drawn.values())
        return {stage: share(named[stage], total, NO_TRUE_POSITIVES) for stage in self.stages}

    def _pairs(self) -> list[tuple[list[float], list[float]]]:
        every = [
            [rate.value or 0.0 for rate in self.rates_of(variant).values()]
            for variant in self._with_positives()
        ]
        return list(combinations(every, 2))


def _mean_of_pairs(figures: Sequence[Figure]) -> tuple[Figure, str | None]:
    """The mean over pairs of variants, and a note on pairs that it leaves out."""
    if not figures:
        reason = "fewer than two variants with true positives"
        return missing(reason), reason
    lacking = [one.reason for one in figures if one.reason is not None]
    found = mean(
        (one.value for one in figures if one.value is not None), lacking[0] if lacking else ""
    )
    if not lacking:
        return found, None
    if found.value is None:
        return found, found.reason
    return found, f"left out {len(lacking)} of {len(figures)} pairs of variants: {lacking[0]}"


def _values(rates: Mapping[int, Figure]) -> dict[str, float | None]:
    return {str(stage): rate.value for stage, rate in rates.items()}
