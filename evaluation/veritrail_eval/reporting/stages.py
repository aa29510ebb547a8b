"""At which stages errors came in, over the configurations that walk.

Source: VeriTrail H. How often the labelled stage is among the reported ones is ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from veritrail_eval.figures.bootstrap import Interval, intervals
from veritrail_eval.figures.confusion import UNSUPPORTED
from veritrail_eval.figures.figure import Figure, missing, share
from veritrail_eval.figures.localization import Localization
from veritrail_eval.figures.options import ROOT_STAGE, Resampling
from veritrail_eval.reporting.run_folder import ConfigurationRun, located_claims
from veritrail_eval.runs.record import RecordedClaim

_NONE_LABELLED = "no true positive with a labelled stage"


@dataclass(frozen=True)
class LabelledStages:
    """The rate at which a variant reports the stage that a person labelled.

    Attributes:
        claims: Claims rightly called Not Fully Supported whose error stage is labelled.
        found: Those of them for which a labelled stage is among the reported ones.
        alone: Those of `found` for which no other stage is reported.
        unlocated: Those for which no stage was reported; they count as not found.
        reported: The mean number of stages that are reported of a claim; the more there are, the
            easier it is to find the labelled one.
        share: `found` of `claims`.
        interval: 95 %, over the claims.
        share_alone: `alone` of `claims`.
        interval_alone: 95 %, over the claims.
        share_step: How often a step, such as an agent, that wrote at a labelled stage wrote at a
            reported one, too; None: in no process did a step write at several stages.
        interval_step: 95 %, over the claims.
    """

    claims: int
    found: int
    alone: int
    unlocated: int
    reported: Figure
    share: Figure
    interval: Interval
    share_alone: Figure
    interval_alone: Interval
    share_step: Figure | None = None
    interval_step: Interval | None = None


@dataclass(frozen=True)
class ErrorStages:
    """The error stages of a data set.

    Attributes:
        runs: The configurations that walk: the variants.
        localization: Their error stages.
        document: The figures as `veritrail eval localization` gives them.
        stage_names: Names of stages, where given.
        labelled: By configuration, where labelled error stages exist; else empty.
    """

    runs: Sequence[ConfigurationRun]
    localization: Localization
    document: Mapping[str, Any]
    stage_names: Mapping[int, str]
    labelled: Mapping[str, LabelledStages]


def error_stages(runs: Sequence[ConfigurationRun], how: Resampling) -> ErrorStages | None:
    """The error stages that configurations of one data set report; None: none of them walks.

    Args:
        runs: The configurations.
        how: Number of resamples and seed.
    """
    walking = [run for run in runs if run.walks]
    if not walking:
        return None
    dataset = walking[0].dataset
    claims = located_claims(walking)
    named = {stage for claim in claims for stage in claim.error_stages}
    # Roots can stand at several stages, also beside nodes that a model wrote. A stage that is
    # named is one of these, because a walk names no root.
    root_stage = min(dataset.root_stages, default=ROOT_STAGE)
    possible = (named | set(dataset.stage_names)) - (set(dataset.root_stages) - named)
    found = Localization.of(claims, possible, root_stage)
    labels = {claim.key: frozenset(claim.error_stages or ()) for claim in dataset.claims}
    labelled = {run.configuration_id: _labelled(run, labels, how) for run in walking}
    return ErrorStages(
        walking,
        found,
        found.as_json(how),
        dataset.stage_names,
        labelled if any(labels.values()) else {},
    )


class _Hit(NamedTuple):
    """The match of the reported stages of a claim with its labelled stage."""

    is_found: bool
    is_alone: bool
    is_located: bool
    is_step: bool


def _labelled(
    run: ConfigurationRun, labels: Mapping[tuple[str, str], frozenset[int]], how: Resampling
) -> LabelledStages:
    hits: list[_Hit] = []
    reported, has_steps = 0, False
    for claim, outcome in run.pairs():
        labelled = labels[claim.key]
        if not labelled or outcome is None:
            continue
        if claim.label is not UNSUPPORTED or outcome.verdict is not UNSUPPORTED:
            continue
        stages = set(outcome.error_stages or ())
        reported += len(stages)
        has_steps |= bool(claim.steps)
        hits.append(
            _Hit(
                bool(stages & labelled),
                bool(stages) and stages <= labelled,
                bool(stages),
                bool(_steps(claim, stages) & _steps(claim, labelled)),
            )
        )

    def shares(drawn: Mapping[_Hit, int]) -> dict[str, Figure]:
        total = sum(drawn.values())
        found = sum(count for hit, count in drawn.items() if hit.is_found)
        alone = sum(count for hit, count in drawn.items() if hit.is_alone)
        step = sum(count for hit, count in drawn.items() if hit.is_step)
        return {
            "share": share(found, total, _NONE_LABELLED),
            "share_alone": share(alone, total, _NONE_LABELLED),
            "share_step": share(step, total, _NONE_LABELLED),
        }

    figures = shares(Counter(hits))
    spans = intervals(hits, shares, how)
    return LabelledStages(
        claims=len(hits),
        found=sum(hit.is_found for hit in hits),
        alone=sum(hit.is_alone for hit in hits),
        unlocated=sum(not hit.is_located for hit in hits),
        reported=Figure(reported / len(hits)) if hits else missing(_NONE_LABELLED),
        share=figures["share"],
        interval=spans["share"],
        share_alone=figures["share_alone"],
        interval_alone=spans["share_alone"],
        share_step=figures["share_step"] if has_steps else None,
        interval_step=spans["share_step"] if has_steps else None,
    )


def _steps(claim: RecordedClaim, stages: Iterable[int]) -> set[object]:
    """The steps that wrote at stages; a stage without a named step is a step of its own."""
    return {step for stage in stages for step in claim.steps.get(stage) or (stage,)}
