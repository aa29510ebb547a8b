"""Where unsupported content came in, stage by stage.

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
class StageBar:
    """A stage and how much unsupported content came in there.

    Attributes:
        stage: The stage.
        name: What the input calls it, or None.
        nodes: Its nodes.
        introduced: Claims into which unsupported content came here, or may have come.
        counted: These claims, each counted once over all stages: one with k possible stages as 1/k.
        share: Length of its bar, 0 to 100; the longest of them is 100.
    """

    stage: int
    name: str | None
    nodes: int
    introduced: int
    counted: float
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
        """Whether more than half of the unsupported claims went wrong at that stage."""
        return self.worst is not None and 2 * self.worst.counted > self.unsupported + _ALIKE


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
    counted = stage_shares(together)
    introduced: Counter[int] = Counter()
    for stages, count in together.items():
        introduced.update(dict.fromkeys(stages, count))
    most = max(counted.values(), default=0.0)
    bars = []
    for stage, nodes in sorted(process.stages.items()):
        claims = counted.get(stage, 0.0)
        share = 100 * claims / most if most else 0.0
        name = process.stage_names.get(stage)
        bars.append(StageBar(stage, name, nodes, introduced[stage], claims, share))
    split = sum(count for stages, count in together.items() if len(stages) > 1)
    return StageBars(tuple(bars), unsupported, unplaced, split)
