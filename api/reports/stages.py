"""The stages of a process with how many claims of a report went wrong there.

Source: VeriTrail 3.2 (error stages).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from veritrail_graph.graph.model import Process
from veritrail_graph.graph.model.located import stage_shares


@dataclass(frozen=True, slots=True)
class StageFigures:
    """A stage of the process.

    Attributes:
        stage: The stage.
        name: What the input calls it, or None.
        nodes: Its nodes.
        introduced: Claims of the report into which unsupported content came at this stage, or may
            have come.
        counted: These claims, each counted once over all stages: one with k possible stages as 1/k.
    """

    stage: int
    name: str | None
    nodes: int
    introduced: int
    counted: float


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
