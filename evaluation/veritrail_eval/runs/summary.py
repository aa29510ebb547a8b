"""The summary of a run of a matrix."""

from __future__ import annotations

from dataclasses import dataclass, field

from veritrail_graph.graph.model import Status, Usage


@dataclass(slots=True)
class RunSummary:
    """The result of a run.

    Attributes:
        judged: Outcomes that this run made.
        known: Outcomes that were there already.
        unfinished: How many of all have no outcome that counts, by status.
        spent: What this run cost in all, preparations and failures in.
    """

    judged: int = 0
    known: int = 0
    unfinished: dict[Status, int] = field(default_factory=dict)
    spent: Usage = field(default_factory=Usage)
