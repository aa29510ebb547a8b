"""What a piece of work cost: every call to a model is charged to the bill of whoever asked.

Source: VeriTrail D (retries due to invalid answers count).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from veritrail_graph.graph.model import StepRecord, Usage


class Asked(NamedTuple):
    """What was asked: one step of the method, with its prompt and its model.

    Attributes:
        step: The step's name in the model protocol.
        prompt: Name and version of the prompt.
        prompt_hash: SHA-256 of the prompt's file in hexadecimal.
        model: The model.
        temperature: The temperature asked for, or None.
    """

    step: str
    prompt: str
    prompt_hash: str
    model: str
    temperature: float | None


@dataclass(slots=True)
class Bill:
    """Collects what one claim, or another piece of work, costs; failed steps included.

    Attributes:
        on_charge: Told of every charge.
        iteration: The round that charges belong to; 0: before the first.
    """

    on_charge: Callable[[Usage], None] = lambda _usage: None
    iteration: int = 0
    _charged: dict[tuple[int, Asked], Usage] = field(default_factory=dict)

    def charge(self, asked: Asked, usage: Usage) -> None:
        """Add what a call came to."""
        key = (self.iteration, asked)
        self._charged[key] = self._charged.get(key, Usage()) + usage
        self.on_charge(usage)

    @property
    def total(self) -> Usage:
        """Everything so far."""
        return sum(self._charged.values(), Usage())

    @property
    def steps(self) -> tuple[StepRecord, ...]:
        """Everything so far, by round and step."""
        return tuple(
            StepRecord(iteration, *asked, usage)
            for (iteration, asked), usage in sorted(
                self._charged.items(), key=lambda item: item[0][0]
            )
        )
