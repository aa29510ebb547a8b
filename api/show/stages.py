"""Count where unsupported content came in, stage by stage.

Source: VeriTrail 3.2 (error stages).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from veritrail_graph.graph.model import Process
from veritrail_graph.graph.model.located import stage_shares

_ALIKE = 1e-9
"""Counts that differ by less are the same: sums of thirds are no whole numbers."""


@dataclass(frozen=True, slots=True)
class StageFigures:
    """A stage and how much unsupported content came in there.

    Attributes:
        stage: The stage.
        name: What the input calls it, or None.
        nodes: Its nodes.
        introduced: Claims into which unsupported content came here, or may have come.
        counted: These claims, each counted once over all stages: one with k possible stages as 1/k.
    """

    stage: int
    name: str | None
    nodes: int
    introduced: int
    counted: float


@dataclass(frozen=True, slots=True)
class StageBar(StageFigures):
    """A stage as a bar.

    Attributes:
        share: Length of the bar, 0 to 100; the longest of them is 100.
    """

    share: float


@dataclass(frozen=True, slots=True)
class StageBars:
    """The stages of a process.

    Attributes:
        bars: The stages, that of the sources first.
        unsupported: Claims that are not fully supported.
        unplaced: Those of them of which no stage could be identified.
        split: Those of them of which one of several stages is meant.
    """

    bars: tuple[StageBar, ...]
    unsupported: int
    unplaced: int = 0
    split: int = 0

    @property
    def worst(self) -> StageBar | None:
        """The stage at which more claims went wrong than at any other; None: there is none."""
        first, *others = sorted((bar.counted for bar in self.bars), reverse=True) or [0.0]
        if not first or first - next(iter(others), 0.0) < _ALIKE:
            return None
        return next(bar for bar in self.bars if bar.counted == first)

    @property
    def is_most(self) -> bool:
        """Return whether more than half of the unsupported claims went wrong at that stage."""
        return self.worst is not None and 2 * self.worst.counted > self.unsupported + _ALIKE


def stage_figures(
    process: Process, together: Mapping[tuple[int, ...], int]
) -> tuple[StageFigures, ...]:
    """Count claims by the stage where unsupported content came in, ascending.

    Args:
        process: The process.
        together: Claims into which it came, by the stages of which one is meant.
    """
    introduced: Counter[int] = Counter()
    for stages, claims in together.items():
        introduced.update(dict.fromkeys(stages, claims))
    counts, names = stage_shares(together), process.stage_names
    return tuple(
        StageFigures(stage, names.get(stage), nodes, introduced[stage], counts.get(stage, 0.0))
        for stage, nodes in sorted(process.stages.items())
    )


def stage_bars(
    process: Process, together: Mapping[tuple[int, ...], int], unsupported: int, unplaced: int = 0
) -> StageBars:
    """The stages of a process as bars.

    Args:
        process: The process.
        together: Claims into which unsupported content came, by the stages of which one is meant.
        unsupported: Claims that are not fully supported.
        unplaced: Those of them of which no stage could be identified.
    """
    figures = stage_figures(process, together)
    most = max(stage_shares(together).values(), default=0.0)
    bars = [
        StageBar(
            one.stage,
            one.name,
            one.nodes,
            one.introduced,
            one.counted,
            100 * one.counted / most if most else 0.0,
        )
        for one in figures
    ]
    split = sum(count for stages, count in together.items() if len(stages) > 1)
    return StageBars(tuple(bars), unsupported, unplaced, split)
