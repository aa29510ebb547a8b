"""The port of VISTA: what its stages ask, for every engine that answers.

Source: VISTA 3 (steps 1 to 3), A.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from veritrail_graph.graph.model.dialogue import ClaimCategory, DialogueLabel, Turn, TurnCheck
from veritrail_graph.verifier.dialogue.background import Fact, Remembered
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import Answering, ReadNode


@dataclass(frozen=True, slots=True)
class History:
    """The turns before one, as a view on all turns: nothing is copied.

    Attributes:
        turns: All turns of the dialogue.
        length: How many of them are history.
    """

    turns: Sequence[Turn]
    length: int

    def backward(self) -> Iterator[tuple[int, Turn]]:
        """Place and turn, the latest first."""
        return ((place, self.turns[place]) for place in range(self.length - 1, -1, -1))


NO_HISTORY = History((), 0)


NOTHING = Remembered()
"""A background without facts."""


@dataclass(frozen=True, slots=True)
class TurnMaterial:
    """The material that the claims of a turn are compared with.

    Attributes:
        reference: The documents of the turn.
        remembered: The background that is shown.
        history: The turns before it, of which a prompt may show some.
    """

    reference: tuple[ReadNode, ...] = ()
    remembered: Remembered = NOTHING
    history: History = NO_HISTORY


@dataclass(frozen=True, slots=True)
class Extracted:
    """The claims of a turn, and how many earlier turns did not fit into the prompt."""

    claims: tuple[str, ...]
    history_left_out: int = 0


@dataclass(frozen=True, slots=True)
class Labelled:
    """The label of a claim, with its reason and the material that was shown.

    A judge that cannot tell gives None as the label: the claim is undecided, and `categorise` is
    not asked about it.
    """

    label: DialogueLabel | None
    reason: str
    material: TurnMaterial


@dataclass(frozen=True, slots=True)
class Categorised:
    """The category of an unverified claim, with the facts it contradicts and the material shown."""

    category: ClaimCategory
    reason: str
    material: TurnMaterial
    contradicted: tuple[Fact, ...] = ()


class DialogueJudge(Answering, Protocol):
    """Answers the questions of the stages."""

    async def extract(self, turn: Turn, history: History, meter: Meter) -> Extracted:
        """Take a turn apart into claims.

        Raises:
            VeriTrailError: No answer could be had.

        Source: VISTA 3, step 1.
        """
        ...

    def fit(self, claims: Sequence[str], material: TurnMaterial) -> TurnMaterial:
        """As much of the material as fits into the prompts of these claims."""
        ...

    async def verify(self, claim: str, material: TurnMaterial, meter: Meter) -> Labelled:
        """Say whether a claim is verified.

        Raises:
            VeriTrailError: No answer could be had.

        Source: VISTA 3, step 2.
        """
        ...

    async def categorise(self, claim: str, material: TurnMaterial, meter: Meter) -> Categorised:
        """Say why a claim is not verified.

        Raises:
            VeriTrailError: No answer could be had.

        Source: VISTA 3, step 3.
        """
        ...

    async def check(self, turn: Turn, history: History, meter: Meter) -> TurnCheck:
        """Say whether a turn as a whole contradicts an earlier one.

        Raises:
            VeriTrailError: No answer could be had.

        Source: VISTA A.1.4.
        """
        ...
