"""Where unsupported content came in, stage by stage.

Source: VeriTrail 3.2 (error stages).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from veritrail_graph.graph.model import Process


@dataclass(frozen=True, slots=True)
class StageBar:
    """A stage and how much unsupported content came in there.

    Attributes:
        stage: The stage.
        name: What the input calls it, or None.
        nodes: Its nodes.
        introduced: Claims into which unsupported content came here.
        share: Length of its bar, 0 to 100; the longest of them is 100.
    """

    stage: int
    name: str | None
    nodes: int
    introduced: int
    share: float


@dataclass(frozen=True, slots=True)
class StageBars:
    """The stages of a process.

    Attributes:
        bars: The stages, that of the sources first.
        unsupported: Claims that are not fully supported.
        unplaced: Those of them of which no stage could be identified.
    """

    bars: tuple[StageBar, ...]
    unsupported: int
    unplaced: int = 0

    @property
    def worst(self) -> StageBar | None:
        """The stage at which more claims went wrong than at any other; None: there is none."""
        first, *others = sorted((bar.introduced for bar in self.bars), reverse=True) or [0]
        if not first or first in others[:1]:
            return None
        return next(bar for bar in self.bars if bar.introduced == first)

    @property
    def is_most(self) -> bool:
        """Whether more than half of the unsupported claims went wrong at that stage."""
        return self.worst is not None and 2 * self.worst.introduced > self.unsupported


def stage_bars(
    process: Process, introduced: Mapping[int, int], unsupported: int, unplaced: int = 0
) -> StageBars:
    """The stages of a process as bars.

    Args:
        process: The process.
        introduced: Claims into which unsupported content came, by stage; 0 may be left out.
        unsupported: Claims that are not fully supported.
        unplaced: Those of them of which no stage could be identified.
    """
    most = max(introduced.values(), default=0)
    bars = []
    for stage, nodes in sorted(process.stages.items()):
        claims = introduced.get(stage, 0)
        share = 100 * claims / most if most else 0.0
        bars.append(StageBar(stage, process.stage_names.get(stage), nodes, claims, share))
    return StageBars(tuple(bars), unsupported, unplaced)
