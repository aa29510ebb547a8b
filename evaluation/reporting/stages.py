"""At which stages errors came in, over the configurations that walk.

Source: VeriTrail H. How often the labelled stage is among the reported ones is ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.evaluation.figures.bootstrap import Interval, Resampling, intervals
from veritrail_graph.evaluation.figures.confusion import UNSUPPORTED
from veritrail_graph.evaluation.figures.figure import Figure, share
from veritrail_graph.evaluation.figures.localization import ROOT_STAGE, Localization
from veritrail_graph.evaluation.reporting.run_folder import ConfigurationRun, located_claims


@dataclass(frozen=True)
class LabelledStages:
    """How often a variant reports the stage that a person named.

    Attributes:
        claims: Claims rightly called Not Fully Supported whose error stage is labelled.
        found: Those of them for which a labelled stage is among the reported ones.
        unlocated: Those for which no stage was reported; they count as not found.
        share: `found` of `claims`.
        interval: 95 %, over the claims.
    """

    claims: int
    found: int
    unlocated: int
    share: Figure
    interval: Interval


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


def _labelled(
    run: ConfigurationRun, labels: Mapping[tuple[str, str], frozenset[int]], how: Resampling
) -> LabelledStages:
    hits: list[bool] = []
    unlocated = 0
    for claim, outcome in run.pairs():
        if not labels[claim.key] or outcome is None:
            continue
        if claim.label is not UNSUPPORTED or outcome.verdict is not UNSUPPORTED:
            continue
        reported = set(outcome.error_stages or ())
        unlocated += not reported
        hits.append(bool(reported & labels[claim.key]))

    def shared(drawn: Mapping[bool, int]) -> dict[str, Figure]:
        total = sum(drawn.values())
        return {"share": share(drawn.get(True, 0), total, "no true positive with a labelled stage")}

    counts = {hit: hits.count(hit) for hit in set(hits)}
    return LabelledStages(
        len(hits),
        sum(hits),
        unlocated,
        shared(counts)["share"],
        intervals(hits, shared, how)["share"],
    )
