"""Report the verification of dialogues while it goes on, and its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from veritrail_graph.graph.errors import VeriTrailError
    from veritrail_graph.graph.model import Usage
    from veritrail_graph.graph.model.dialogue import DialogueRun, TurnVerification
    from veritrail_graph.verifier.models.port import EndpointRefused


@dataclass(frozen=True, slots=True)
class DialogueVerified:
    """The result of verifying a dialogue.

    Attributes:
        run: The turns that were verified.
        stored: How many turns were stored.
        kept: How many turns were stored before and not asked about again.
        refusal: Why the endpoint refused every call, if it did.
        fault: Why a turn was not stored, if one was not: the dialogue ends there.
        warnings: What a person should know.
    """

    run: DialogueRun
    stored: int = 0
    kept: int = 0
    refusal: EndpointRefused | None = None
    fault: VeriTrailError | None = None
    warnings: Sequence[str] = field(default=())


@dataclass(frozen=True, slots=True)
class DialogueProgress:
    """Told what happens; every hook is optional.

    Attributes:
        begun: The run begins: what stops it, and how many turns are to be verified.
        run: A dialogue begins: its id, and the run's.
        turn: A turn has ended: the dialogue, what was found, and whether it was stored before.
        answer: The usage of a call.
    """

    begun: Callable[[Callable[[], None], int], None] = lambda _stop, _turns: None
    run: Callable[[str, str], None] = lambda _dialogue, _run: None
    turn: Callable[[str, TurnVerification, bool], None] = lambda _dialogue, _turn, _kept: None
    answer: Callable[[Usage], None] = lambda _usage: None
