"""VISTA: the assistant's turns of a dialogue one after the other, their claims side by side.

Nothing here does I/O: a `DialogueJudge` answers, and `DialogueText` gives the documents.

Source: VISTA 3.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from veritrail_graph.graph.content_hash import derived_claim_id
from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.ablation import MOST_FACTS as MOST_FACTS
from veritrail_graph.graph.model.dialogue import (
    ClaimCategory,
    DialogueLabel,
    Speaker,
    Turn,
    TurnCheck,
    TurnClaim,
    TurnVerification,
)
from veritrail_graph.verifier.dialogue.background import Background, Fact
from veritrail_graph.verifier.dialogue.port import (
    NO_HISTORY,
    NOTHING,
    DialogueJudge,
    History,
    TurnMaterial,
)
from veritrail_graph.verifier.models.port import EndpointRefused, Meter, OverBudget
from veritrail_graph.verifier.ports import ReadNode

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ablations:
    """The parts of the method that are used; by default all.

    Attributes:
        background: Whether claims are compared with what the assistant said before.
        history: Whether extraction sees the turns before.
        categories: Whether it is asked why claims are not verified.
        turn_check: Whether each turn as a whole is checked for contradictions.
        most_facts: Facts of the background that a prompt shows at most.

    Source: VISTA 6.3, A.1.4.
    """

    background: bool = True
    history: bool = True
    categories: bool = True
    turn_check: bool = False
    most_facts: int = MOST_FACTS

    @property
    def settings(self) -> dict[str, Any]:
        """Return what decides the outcome, as JSON."""
        return {
            "background": self.background,
            "history": self.history,
            "categories": self.categories,
            "turn_check": self.turn_check,
            "most_facts": self.most_facts,
        }


class DialogueText(Protocol):
    """The text of a dialogue."""

    @property
    def turns(self) -> Sequence[Turn]:
        """All turns, in their order."""
        ...

    @property
    def knowledge(self) -> Sequence[Fact]:
        """Return what the assistant counts as knowing before the first turn."""
        ...

    async def reference(self, turn: Turn) -> Sequence[ReadNode]:
        """The documents of a turn.

        Raises:
            VeriTrailError: They could not be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Fault:
    """A failure to get something, as a status with its reason."""

    status: Status
    error: str


@dataclass(slots=True)
class Vista:
    """Verifies turns.

    Attributes:
        judge: Answers the questions of the stages.
        ablations: What of the method is used.
        refusal: Why no call can succeed, where one was refused.
        exhausted: Why no further call is made, where the budget is used up.
    """

    judge: DialogueJudge
    ablations: Ablations = Ablations()
    refusal: EndpointRefused | None = None
    exhausted: OverBudget | None = None

    async def dialogue(
        self,
        text: DialogueText,
        meter_of: Callable[[], Meter] = Meter,
        *,
        only: Collection[str] = (),
        done: Mapping[str, TurnVerification] | None = None,
        earlier: Mapping[str, TurnVerification] | None = None,
    ) -> AsyncGenerator[tuple[Turn, TurnVerification, bool], None]:
        """Verify the assistant's turns in their order.

        A turn that does not succeed adds to the background what of its claims did; the turns
        behind it go on, and say that the background lacks something.

        Args:
            text: The dialogue.
            meter_of: Makes the meter of a turn.
            only: turn_ids to verify; empty: all.
            done: What an interrupted run has of its turns: it is kept up to the first turn that
                did not succeed, or that was verified while the background lacked something else.
            earlier: Results of other runs, for turns that are not verified in this one: what they
                established is background.

        Yields:
            Turn, what was found, and whether that is new.
        """
        background = Background(text.knowledge)
        kept, known = dict(done or {}), earlier or {}
        lacking = 0
        for place, turn in enumerate(text.turns):
            if turn.role is not Speaker.ASSISTANT:
                continue
            if only and turn.turn_id not in only:
                found = known.get(turn.turn_id)
            else:
                found = kept.pop(turn.turn_id, None)
                is_new = found is None or self._must_repeat(found, lacking)
                if found is None or is_new:
                    kept.clear()  # what follows is done again: its background may be another one
                    found = await self.turn(text, place, background, meter_of())
                    if self.ablations.background:
                        found = found.replace(background_lacks=lacking)
                yield turn, found, is_new
            # Steps 4 and 5: what is verified or out of scope is remembered.
            if found is not None:
                background.remember(turn.node_id, found.claims)
            lacking += found is None or not found.status.is_result

    def _must_repeat(self, found: TurnVerification, lacking: int) -> bool:
        """Return whether what an interrupted run has of a turn is not what it would find now.

        Args:
            found: What it has.
            lacking: Earlier turns of which not all is remembered now.
        """
        if not found.status.is_result:
            return True
        return self.ablations.background and found.background_lacks != lacking

    async def turn(
        self, text: DialogueText, place: int, background: Background, meter: Meter
    ) -> TurnVerification:
        """Verify one turn; a fault is the status of a claim, or of the turn.

        Args:
            text: The dialogue.
            place: The number of the turn in it, from 0.
            background: What was established before it.
            meter: Records every call.
        """
        turn = text.turns[place]
        before = History(text.turns, place)
        check = asyncio.ensure_future(self._checked(turn, before, meter))
        try:
            found = await self._verified(turn, text, before, background, meter)
            checked = await check
        finally:
            check.cancel()
        if isinstance(checked, TurnCheck):
            found = found.replace(turn_check=checked)
        elif checked is not None and found.status.is_result:
            found = found.replace(
                status=checked.status, error=checked.error, label=None, score=None
            )
        return found.replace(usage=meter.total)

    async def _verified(
        self,
        turn: Turn,
        text: DialogueText,
        before: History,
        background: Background,
        meter: Meter,
    ) -> TurnVerification:
        # Step 1: the claims of the whole turn, with the history.
        history = before if self.ablations.history else NO_HISTORY
        extracted, reference = await asyncio.gather(  # the documents are there when the claims are
            self._outcome(lambda: self.judge.extract(turn, history, meter)),
            self._outcome(lambda: text.reference(turn)),
        )
        if isinstance(extracted, _Fault):
            return _failed(turn, extracted)
        if isinstance(reference, _Fault):
            return _failed(turn, reference)
        uses = self.ablations.background
        remembered = background.latest(self.ablations.most_facts) if uses else NOTHING
        material = TurnMaterial(tuple(reference), remembered, history)
        material = self.judge.fit(extracted.claims, material)
        shown = _Shown(material.remembered.left_out)
        claims = await asyncio.gather(
            *(self._claim(turn, claim, material, shown, meter) for claim in extracted.claims)
        )
        return TurnVerification.of_claims(
            turn.turn_id,
            claims,
            history_left_out=extracted.history_left_out,
            background_left_out=shown.left_out,
        )

    async def _claim(
        self, turn: Turn, text: str, material: TurnMaterial, shown: _Shown, meter: Meter
    ) -> TurnClaim:
        """One claim; a fault is its status alone."""
        claim = TurnClaim(
            claim_id=derived_claim_id(turn.node_id, text), claim=text, status=Status.RUNNING
        )
        found = await self._outcome(lambda: self._categorised(claim, material, shown, meter))
        if isinstance(found, _Fault):
            return claim.replace(
                status=found.status, error=found.error, compared_with=shown.ids(material)
            )
        return found

    async def _categorised(
        self, claim: TurnClaim, material: TurnMaterial, shown: _Shown, meter: Meter
    ) -> TurnClaim:
        # Step 2: verified by reference and background, or unverifiable.
        said = await self.judge.verify(claim.claim, material, meter)
        is_verified = said.label is DialogueLabel.VERIFIED
        claim = claim.replace(
            status=Status.UNDECIDED if said.label is None else Status.SUCCEEDED,
            label=said.label,
            category=ClaimCategory.VERIFIED if is_verified else None,
            reason=said.reason or None,
            compared_with=shown.ids(said.material),
        )
        if is_verified or said.label is None or not self.ablations.categories:
            return claim
        # Step 3: why it is unverifiable.
        why = await self.judge.categorise(claim.claim, said.material, meter)
        return claim.replace(
            category=why.category,
            reason=why.reason or None,
            compared_with=shown.ids(why.material),
            contradicts=tuple(one.claim_id for one in why.contradicted if one.claim_id),
            contradicts_knowledge=tuple(
                one.node_id for one in why.contradicted if one.claim_id is None
            ),
        )

    async def _checked(
        self, turn: Turn, history: History, meter: Meter
    ) -> TurnCheck | _Fault | None:
        """The optional check of the turn as a whole. Source: VISTA A.1.4."""
        if not self.ablations.turn_check or not history.length:
            return None
        return await self._outcome(lambda: self.judge.check(turn, history, meter))

    async def _outcome(self, ask: Callable[[], Awaitable[T]]) -> T | _Fault:
        """Return what is asked for, or the fault in its place."""
        fault = self.refusal or self.exhausted
        if fault is not None:  # no call can succeed any more: none is begun
            is_refused = fault is self.refusal
            return _Fault(Status.FAILED if is_refused else Status.OVER_BUDGET, str(fault))
        try:
            return await ask()
        except EndpointRefused as error:
            self.refusal = self.refusal or error
            return _Fault(Status.FAILED, str(error))
        except OverBudget as error:
            self.exhausted = self.exhausted or error
            return _Fault(Status.OVER_BUDGET, str(error))
        except VeriTrailError as error:
            return _Fault(Status.FAILED, str(error))
        except Exception as error:  # noqa: BLE001  # one claim's fault must not end the others
            failure = f"internal error ({type(error).__name__}: {error}); please report it"
            return _Fault(Status.FAILED, failure)


def _failed(turn: Turn, fault: _Fault) -> TurnVerification:
    """A turn of which nothing is known."""
    return TurnVerification(turn_id=turn.turn_id, status=fault.status, error=fault.error)


@dataclass(slots=True)
class _Shown:
    """The claim_ids of the facts that were shown, made once for all claims of a turn.

    Attributes:
        left_out: The most facts that a prompt of the turn did not show.
    """

    left_out: int
    _made: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def ids(self, material: TurnMaterial) -> tuple[str, ...]:
        """The remembered claims of a material, oldest first."""
        remembered = material.remembered
        self.left_out = max(self.left_out, remembered.left_out)
        count = len(remembered.facts)  # what is cut off are always the oldest ones
        if count not in self._made:
            self._made[count] = tuple(one.claim_id for one in remembered.facts if one.claim_id)
        return self._made[count]
