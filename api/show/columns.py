"""The stages of a trail beside one another, from the sources to the answer; middle ones folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from veritrail_graph.api.show.trail_view import Level, TrailView

MOST_OPEN = 3
"""Stages that fit beside the answer on a page of 1280 pixels."""


@dataclass(frozen=True, slots=True)
class ColumnRun:
    """Stages beside one another that are all open, or all folded.

    Attributes:
        levels: The stages, from the sources to the answer.
        is_folded: Whether they are opened by the reader.
    """

    levels: tuple[Level, ...]
    is_folded: bool


def columns_of(view: TrailView) -> tuple[ColumnRun, ...]:
    """The stages of a trail, those folded that are neither source nor culprit.

    Where no stage is at fault, or the answer itself is, the stage next to the answer stays open.
    Of one iteration, the stages that it read stay open too.
    """
    levels = view.levels[::-1]
    if len(levels) <= MOST_OPEN:
        return (ColumnRun(levels, is_folded=False),) if levels else ()
    kept = _kept(levels, view.until)
    return tuple(
        ColumnRun(tuple(run), is_folded=not is_kept)
        for is_kept, run in groupby(levels, key=lambda level: level.stage in kept)
    )


def _kept(levels: Sequence[Level], until: int | None) -> set[int]:
    kept = {levels[0].stage}
    kept |= {level.stage for level in levels if level.introduced}
    if len(kept) == 1:
        kept.add(levels[-1].stage)
    if until is not None:
        kept |= {
            level.stage for level in levels if any(node.iteration == until for node in level.nodes)
        }
    return kept
