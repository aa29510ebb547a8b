"""The iterations of a verification as steps to go through: what each read, found, lacked and said.

Source: VeriTrail 3.1.2 to 3.1.4 (interim verdicts), 3.2 (all of them are returned).
"""

from __future__ import annotations

from dataclasses import dataclass

from veritrail_graph.api.views.costs import Spent, spent
from veritrail_graph.api.views.words import Mark, mark_of
from veritrail_graph.api.web.views.excerpts import Clipped, clip
from veritrail_graph.graph.exporters.results import iteration_usage
from veritrail_graph.graph.model import Iteration
from veritrail_graph.graph.outline import TrailOutline

MOST_MISSING = 5
"""What is missing according to so many prompts of an iteration is shown."""

REASONING_BYTES = 6_000
"""Bytes of HTML that reasons may come to."""

_MISSING_BYTES = 500


@dataclass(frozen=True, slots=True)
class Step:
    """An iteration.

    Attributes:
        number: Counted from 1.
        mark: Its interim verdict.
        reasoning: The reasons for it.
        read: How many nodes it read.
        found: How many of them have evidence.
        sentences: How many sentences it selected.
        carried: How many sources with evidence it took along from earlier iterations.
        missing: What the selected sentences do not say.
        more_missing: What is missing according to so many further prompts.
        dropped: How many sentence ids the model made up.
        left_out: How many sentences did not fit into the verdict prompt.
        reruns: How often evidence was selected again because it did not fit.
        spent: What the iteration cost.
        is_last: Whether the walk ended with it.
    """

    number: int
    mark: Mark
    reasoning: Clipped
    read: int
    found: int
    sentences: int
    carried: int
    missing: tuple[Clipped, ...]
    more_missing: int
    dropped: int
    left_out: int
    reruns: int
    spent: Spent
    is_last: bool = False


def steps_of(outline: TrailOutline) -> tuple[Step, ...]:
    """The iterations of a verification, first to last."""
    verification = outline.verification
    last = len(verification.iterations)
    return tuple(
        _step(outline, iteration, is_last=place == last)
        for place, iteration in enumerate(verification.iterations, start=1)
    )


def _step(outline: TrailOutline, iteration: Iteration, *, is_last: bool) -> Step:
    verification = outline.verification
    missing = [one.missing for one in iteration.evidence if one.missing]
    return Step(
        number=iteration.number,
        mark=mark_of(iteration.verdict, indicative=verification.indicative),
        reasoning=clip(iteration.reasoning, REASONING_BYTES),
        read=outline.read_in(iteration),
        found=len(iteration.node_ids_with_evidence),
        sentences=_selected(iteration),
        carried=len(iteration.carried_roots),
        missing=tuple(clip(one, _MISSING_BYTES) for one in missing[:MOST_MISSING]),
        more_missing=max(len(missing) - MOST_MISSING, 0),
        dropped=iteration.dropped_ids,
        left_out=iteration.left_out,
        reruns=iteration.reruns,
        spent=spent(
            iteration_usage(verification, iteration.number), modelled=not verification.indicative
        ),
        is_last=is_last,
    )


def _selected(iteration: Iteration) -> int:
    """How many sentences an iteration selected, each counted once."""
    return len(
        {
            (cited.sentence.node_id, cited.sentence.index)
            for found in iteration.evidence
            for cited in found.sentences
        }
    )
