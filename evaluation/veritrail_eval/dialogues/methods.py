"""The methods that are compared on labelled turns, each over all dialogues of a file.

FActScore is the stages of VISTA with other prompts, and without history, background and
categories: it runs as VISTA does.

Source: VISTA 6.1 (the comparison), 6.2 (majority), 6.3 (ablations), A.2, B.6.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TypeVar

from veritrail_eval.dialogues.gold import DialogueGold, LabelledTurn, TurnKey
from veritrail_eval.dialogues.judging import TurnJudge
from veritrail_eval.dialogues.predicted import PredictedTurns
from veritrail_eval.dialogues.score import label_of_claim
from veritrail_graph.graph.content_hash import derived_claim_id
from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import NodeRef, Status, Usage
from veritrail_graph.graph.model.dialogue import (
    DOCUMENT,
    KNOWLEDGE,
    ClaimCategory,
    Dialogue,
    DialogueLabel,
    Speaker,
    Turn,
    TurnClaim,
    TurnVerification,
)
from veritrail_graph.verifier.dialogue.background import Fact
from veritrail_graph.verifier.dialogue.port import DialogueJudge, Extracted, History
from veritrail_graph.verifier.dialogue.vista import Vista
from veritrail_graph.verifier.models.port import EndpointRefused, Meter, OverBudget
from veritrail_graph.verifier.ports import ReadNode, Split, SplitNode

T = TypeVar("T")

DIALOGUES_AT_ONCE = 64
"""Dialogues side by side; the model's own limit is what bounds the calls."""


@dataclass(frozen=True, slots=True)
class DialogueInMemory:
    """A `DialogueText` in memory.

    Attributes:
        dialogue: The dialogue.
        split: Splits texts into sentences.
    """

    dialogue: Dialogue
    split: Split
    _read: dict[str, ReadNode] = field(default_factory=dict)

    @property
    def turns(self) -> Sequence[Turn]:
        """All turns, in their order."""
        return self.dialogue.turns

    @property
    def knowledge(self) -> Sequence[Fact]:
        """Return what the assistant counts as knowing before the first turn."""
        facts = self.dialogue.initial_knowledge
        return [Fact(text, f"{KNOWLEDGE}{number}") for number, text in enumerate(facts)]

    async def reference(self, turn: Turn) -> Sequence[ReadNode]:
        """The documents of a turn."""
        new = [name for name in turn.documents if name not in self._read]
        if new:
            texts = {one.document_id: one.text for one in self.dialogue.documents}
            for name in new:
                self._read[name] = await asyncio.to_thread(self._node, name, texts[name])
        return [self._read[name] for name in turn.documents]

    def _node(self, name: str, text: str) -> ReadNode:
        node_id = f"{DOCUMENT}{name}"
        return SplitNode(NodeRef.named(node_id), text, self.split(node_id, text))


@dataclass(slots=True)
class MethodRun:
    """Runs methods over the dialogues of a file.

    Attributes:
        gold: The labelled turns.
        split: Splits texts into sentences.
        on_turn: Called after each turn.
        refusal: Why no call can succeed, where one was refused.
    """

    gold: DialogueGold
    split: Split
    on_turn: Callable[[], None] = lambda: None
    refusal: EndpointRefused | None = None
    _labelled: Mapping[str, Sequence[LabelledTurn]] = field(init=False)

    def __post_init__(self) -> None:
        self._labelled = self.gold.by_dialogue()

    def needed(self, dialogue_id: str, *, background: bool) -> list[str]:
        """The turn_ids that VISTA verifies, in their order.

        With a background these are all turns of the assistant up to the last labelled one, because
        what they establish is shown with later turns.

        Args:
            dialogue_id: The dialogue.
            background: Whether claims are compared with what the assistant said before.
        """
        labelled = [turn.turn_id for turn in self._labelled[dialogue_id]]
        if not background or not labelled:
            return labelled
        spoken = [
            turn.turn_id
            for turn in self.gold.dialogues[dialogue_id].turns
            if turn.role is Speaker.ASSISTANT
        ]
        return spoken[: spoken.index(labelled[-1]) + 1]

    async def vista(self, name: str, vista: Vista, *, given_claims: bool = False) -> PredictedTurns:
        """Verify turns by the stages of VISTA, with or without its own prompts.

        Args:
            name: What tables call the method.
            vista: Verifies turns.
            given_claims: Whether the claims of the annotators are verified, where there are any,
                in place of claims of its own. Source: VISTA 6.2 (all counts are of these claims).
        """
        found: dict[TurnKey, TurnVerification] = {}
        reused: dict[TurnKey, Usage] = {}

        async def one(dialogue_id: str) -> None:
            own = vista
            if given_claims:
                given = GivenClaims(vista.judge, self._claims_of(dialogue_id))
                own = replace(vista, judge=given, refusal=self.refusal)
            meters: list[Meter] = []

            def meter() -> Meter:
                meters.append(Meter())
                return meters[-1]

            text = DialogueInMemory(self.gold.dialogues[dialogue_id], self.split)
            only = frozenset(self.needed(dialogue_id, background=vista.ablations.background))
            async with aclosing(own.dialogue(text, meter, only=only)) as turns:
                async for turn, verified, _ in turns:
                    found[dialogue_id, turn.turn_id] = verified
                    reused[dialogue_id, turn.turn_id] = meters[-1].reused
                    self.refusal = self.refusal or own.refusal
                    self.on_turn()

        await self._each(one)
        judge = vista.judge
        return PredictedTurns(
            name, found, judge.name, judge.model, judge.indicative, reused,
            gives_categories=vista.ablations.categories,
        )  # fmt: skip

    async def judged(self, name: str, judge: TurnJudge) -> PredictedTurns:
        """Label turns as a whole.

        Args:
            name: What tables call the method.
            judge: Who is asked.

        Source: VISTA A.2.
        """
        found: dict[TurnKey, TurnVerification] = {}
        reused: dict[TurnKey, Usage] = {}
        reasons: dict[TurnKey, str] = {}

        async def one(dialogue_id: str) -> None:
            dialogue = self.gold.dialogues[dialogue_id]
            text = DialogueInMemory(dialogue, self.split)
            labelled = {turn.turn_id for turn in self._labelled[dialogue_id]}
            for place, turn in enumerate(dialogue.turns):
                if turn.turn_id not in labelled:
                    continue
                meter, key = Meter(), (dialogue_id, turn.turn_id)
                verified, reason = await self._judged(judge, text, place, meter)
                found[key] = verified.replace(usage=meter.total)
                reused[key] = meter.reused
                if reason:
                    reasons[key] = reason
                self.on_turn()

        await self._each(one)
        return PredictedTurns(
            name, found, judge.name, judge.model, judge.indicative, reused, reasons,
            names_claims=False, gives_categories=False,
        )  # fmt: skip

    async def _judged(
        self, judge: TurnJudge, text: DialogueInMemory, place: int, meter: Meter
    ) -> tuple[TurnVerification, str]:
        """The label of a turn and the reason; a fault is its status."""
        turn = text.turns[place]

        def failed(status: Status, error: VeriTrailError) -> tuple[TurnVerification, str]:
            return TurnVerification(turn_id=turn.turn_id, status=status, error=str(error)), ""

        try:
            if self.refusal is not None:  # no call can succeed any more
                raise self.refusal
            reference = await text.reference(turn)
            history = History(text.turns, place)
            answer, left_out = await judge.judge(turn, history, reference, meter)
        except EndpointRefused as error:
            self.refusal = self.refusal or error
            return failed(Status.FAILED, error)
        except OverBudget as error:
            return failed(Status.OVER_BUDGET, error)
        except VeriTrailError as error:
            return failed(Status.FAILED, error)
        done = TurnVerification(
            turn_id=turn.turn_id,
            status=Status.SUCCEEDED,
            label=answer.label,
            history_left_out=left_out,
        )
        return done, answer.reason

    def majority(self, name: str, labels: Mapping[TurnKey, DialogueLabel]) -> PredictedTurns:
        """Give every turn the most frequent label, and every claim the most frequent category.

        Of equally frequent ones the first in the order of their names in the protocol counts.

        Args:
            name: What tables call the method.
            labels: The labels of the turns.

        Source: VISTA 6.2 (Table 3).
        """
        categories = Counter(one.category for turn in self.gold.turns for one in turn.claims or ())
        label = max(DialogueLabel, key=Counter(labels.values()).__getitem__) if labels else None
        category = max(ClaimCategory, key=categories.__getitem__)
        found: dict[TurnKey, TurnVerification] = {}
        for turn in self.gold.turns:
            claims = tuple(
                TurnClaim(
                    claim_id=derived_claim_id(turn.turn_id, one.claim),
                    claim=one.claim,
                    category=category,
                )
                for one in turn.claims or ()
            )
            labelled = (one.replace(label=label_of_claim(one)) for one in claims)
            found[turn.key] = TurnVerification(
                turn_id=turn.turn_id, status=Status.SUCCEEDED, label=label, claims=tuple(labelled)
            )
            self.on_turn()
        return PredictedTurns(name, found)

    def _claims_of(self, dialogue_id: str) -> dict[str, tuple[str, ...]]:
        return {
            turn.turn_id: tuple(dict.fromkeys(one.claim for one in turn.claims))
            for turn in self._labelled[dialogue_id]
            if turn.claims is not None
        }

    async def _each(self, work: Callable[[str], Awaitable[None]]) -> None:
        """Do the same with every dialogue that has labelled turns, side by side."""
        slots = asyncio.Semaphore(DIALOGUES_AT_ONCE)

        async def one(dialogue_id: str) -> None:
            async with slots:
                await work(dialogue_id)

        async with asyncio.TaskGroup() as tasks:
            for dialogue_id in self._labelled:
                tasks.create_task(one(dialogue_id))


class GivenClaims:
    """A `DialogueJudge` that is given the claims of some turns and asks for those of the others.

    Args:
        judge: Who is asked for everything else.
        claims: The claims by turn_id.
    """

    def __init__(self, judge: DialogueJudge, claims: Mapping[str, tuple[str, ...]]) -> None:
        self._judge = judge
        self._claims = claims
        self.name, self.model = judge.name, judge.model
        self.indicative, self.settings = judge.indicative, judge.settings
        self.fit, self.verify = judge.fit, judge.verify
        self.categorise, self.check = judge.categorise, judge.check

    async def extract(self, turn: Turn, history: History, meter: Meter) -> Extracted:
        """The claims that were given, else those that are asked for."""
        given = self._claims.get(turn.turn_id)
        if given is not None:
            return Extracted(given)
        return await self._judge.extract(turn, history, meter)
