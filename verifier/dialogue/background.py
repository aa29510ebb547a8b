"""The background knowledge of a dialogue: what the assistant has established so far.

Source: VISTA 3, step 0 (initial knowledge), steps 4 and 5 (sequential memory).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from veritrail_graph.graph.model.dialogue import TurnClaim


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of the background.

    Attributes:
        text: What is remembered.
        node_id: The turn that said it, or the node of initial knowledge.
        claim_id: The claim; None: initial knowledge.
    """

    text: str
    node_id: str
    claim_id: str | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """The facts that a prompt may show.

    Attributes:
        facts: Initial knowledge first, then claims, oldest first.
        left_out: How many facts are known beside them.
    """

    facts: tuple[Fact, ...] = ()
    left_out: int = 0

    def latest(self, count: int) -> Remembered:
        """Return the same with only the latest facts."""
        dropped = max(len(self.facts) - count, 0)
        return Remembered(self.facts[dropped:], self.left_out + dropped)


class Background:
    """Facts in the order in which they were said, each once; a repeated one is the latest.

    To remember costs the same however much is remembered, and to look back only what is shown.

    Args:
        knowledge: What the assistant counts as knowing before the first turn.
    """

    def __init__(self, knowledge: Iterable[Fact] = ()) -> None:
        self._knowledge = tuple(knowledge)
        self._said: dict[str, Fact] = {}

    def remember(self, node_id: str, claims: Sequence[TurnClaim]) -> None:
        """Add what is verified or out of scope of a turn of the assistant.

        Source: VISTA 3, steps 4 and 5.
        """
        for claim in claims:
            if claim.is_remembered:
                key = " ".join(claim.claim.casefold().split())
                self._said.pop(key, None)
                self._said[key] = Fact(claim.claim, node_id, claim.claim_id)

    def latest(self, most: int) -> Remembered:
        """Initial knowledge, and the latest of what was said, together at most so many facts."""
        knowledge = self._knowledge[:most]
        said = list(islice(reversed(self._said.values()), most - len(knowledge)))
        known = len(self._knowledge) + len(self._said)
        facts = (*knowledge, *reversed(said))
        return Remembered(facts, known - len(facts))
