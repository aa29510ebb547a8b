"""Random subsets of a data set: whole documents, whole questions, or claims.

Source: VeriTrail E (6 of the books and 7 of the questions, with all their claims).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from veritrail_eval.datasets.model import LabelledClaim
from veritrail_eval.runs.matrix import Sample, SampleBy
from veritrail_graph.graph.counted import counted
from veritrail_graph.verifier.held_process import HeldProcess


def sampled(
    claims: Sequence[LabelledClaim],
    processes: Mapping[str, HeldProcess],
    sample: Sample | None,
    seed: int,
) -> tuple[LabelledClaim, ...]:
    """The claims of a subset, in their order; the same seed gives the same ones.

    A data set with no more groups than are asked for is taken whole.
    """
    if sample is None:
        return tuple(claims)
    groups = _groups(claims, processes, sample.by)
    if len(groups) <= sample.count:
        return tuple(claims)
    drawn = set(random.Random(f"{seed}/{sample.by}").sample(groups, sample.count))  # noqa: S311
    return tuple(claim for claim in claims if _group(claim, processes, sample.by) in drawn)


def shortage(
    claims: Sequence[LabelledClaim], processes: Mapping[str, HeldProcess], sample: Sample | None
) -> str | None:
    """In words that a subset cannot be as large as is asked for; None: it can."""
    if sample is None:
        return None
    there = len(_groups(claims, processes, sample.by))
    if there >= sample.count:
        return None
    return (
        f"The sample asks for {counted(sample.count, sample.by.value)}, and only {there:,} with a "
        "labelled claim can be drawn from: all are taken."
    )


def _groups(
    claims: Sequence[LabelledClaim], processes: Mapping[str, HeldProcess], by: SampleBy
) -> list[tuple[str, str]]:
    return sorted({_group(claim, processes, by) for claim in claims})


def _group(
    claim: LabelledClaim, processes: Mapping[str, HeldProcess], by: SampleBy
) -> tuple[str, str]:
    if by is SampleBy.DOCUMENT:
        return claim.process_id, ""
    if by is SampleBy.CLAIM:
        return claim.key
    return claim.process_id, processes[claim.process_id].node_of(claim.node_id).node_id
