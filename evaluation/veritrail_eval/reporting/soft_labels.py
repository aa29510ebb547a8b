"""The configurations of a data set beside annotators who differ.

Source: VeriTrail B.2.2 (the distribution of labels); the figures are ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_eval.figures.confusion import SUPPORTED, UNSUPPORTED
from veritrail_eval.figures.figure import Figure, missing, with_reasons
from veritrail_eval.figures.options import Resampling
from veritrail_eval.figures.soft_labels import SoftLabelFigures, SoftLabelled
from veritrail_eval.methods.method import MethodOutcome
from veritrail_eval.reporting.run_folder import ConfigurationRun

NO_PROBABILITY = "verdicts are no probabilities"
_NEEDS_PROBABILITIES = ("cross_entropy", "correlation", "auroc_disagreed")


@dataclass(frozen=True)
class ComparedWithAnnotators:
    """A configuration beside the annotators.

    Attributes:
        run: The configuration.
        by_verdict: Whether it gives no scores, so that a verdict counts as a probability of 0 or 1.
        left_out: Claims with several annotators for which it has none.
        found: The figures.
    """

    run: ConfigurationRun
    by_verdict: bool
    left_out: int
    found: SoftLabelFigures

    @property
    def figures(self) -> Mapping[str, Figure]:
        """The figures; those that need a probability are missing where verdicts stand for one."""
        if not self.by_verdict:
            return self.found.figures
        none = dict.fromkeys(_NEEDS_PROBABILITIES, missing(NO_PROBABILITY))
        return {**self.found.figures, **none}

    def as_json(self) -> dict[str, Any]:
        """The figures under their keys."""
        figures = self.figures
        document: dict[str, Any] = {
            "configuration_id": self.run.configuration_id,
            "title": self.run.title,
            "by_verdict": self.by_verdict,
            "claims": self.found.claims,
            "left_out": self.left_out,
            **{name: one.value for name, one in figures.items()},
            "intervals": {
                name: self.found.intervals[name].as_json()
                for name, one in figures.items()
                if one.value is not None
            },
        }
        return with_reasons(document, figures)


@dataclass(frozen=True)
class SoftLabels:
    """A data set with several annotators.

    Attributes:
        claims: Claims that several annotators labelled.
        disputed: Those of them on which they differ.
        rows: Every configuration.
    """

    claims: int
    disputed: int
    rows: Sequence[ComparedWithAnnotators]

    def as_json(self) -> dict[str, Any]:
        """The figures under their keys."""
        return {
            "claims": self.claims,
            "disputed": self.disputed,
            "rows": [row.as_json() for row in self.rows],
        }


def soft_labels(runs: Sequence[ConfigurationRun], how: Resampling) -> SoftLabels | None:
    """Compare configurations with several annotators; None: no claim has several.

    Args:
        runs: The configurations on one data set.
        how: Number of resamples and seed.
    """
    shares = {
        claim.key: claim.annotators
        for run in runs[:1]
        for claim in run.dataset.claims
        if claim.annotators
    }
    if not shares:
        return None
    disputed = sum(max(one.values()) < 1 for one in shares.values())
    return SoftLabels(len(shares), disputed, [_row(run, shares, how) for run in runs])


def _row(
    run: ConfigurationRun, shares: Mapping[tuple[str, str], Mapping[str, float]], how: Resampling
) -> ComparedWithAnnotators:
    by_verdict = all(one.score is None for one in run.outcomes.values())
    found = []
    for key, said in shares.items():
        probability = _probability(run.outcomes.get(key), by_verdict=by_verdict)
        if probability is not None:
            supported = said.get(SUPPORTED.value, 0.0)
            found.append(SoftLabelled(probability, supported, max(said.values())))
    left_out = len(shares) - len(found)
    return ComparedWithAnnotators(run, by_verdict, left_out, SoftLabelFigures.of(found, how))


def _probability(outcome: MethodOutcome | None, *, by_verdict: bool) -> float | None:
    if outcome is None or not outcome.status.is_result:
        return None
    if not by_verdict:
        return outcome.score
    # Inconclusive is no side, and no verdict is none.
    if outcome.verdict is SUPPORTED:
        return 1.0
    return 0.0 if outcome.verdict is UNSUPPORTED else None
