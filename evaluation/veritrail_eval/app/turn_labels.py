"""Labels of people for the claims of a dialogue's turns, given on a page.

Source: VISTA 5, C.2.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from veritrail_eval.dialogues.consensus import Consensus, agreed_on
from veritrail_eval.dialogues.gold import DialogueGold, LabelledTurn
from veritrail_eval.dialogues.turn_answers import (
    ClaimAnswer,
    TurnAnswer,
    annotation_of,
    hash_of,
)
from veritrail_eval.studies.turn_answers import TurnAnswerRepository
from veritrail_graph.api.app.part import Part
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import InputError, NotFound
from veritrail_graph.graph.model.dialogue import (
    DOCUMENT,
    KNOWLEDGE,
    Dialogue,
    DialogueDocument,
    Speaker,
)
from veritrail_graph.graph.store.dialogues import WHOLE

if TYPE_CHECKING:
    from veritrail_graph.api.auth.access import Caller
    from veritrail_graph.graph.model.conversation import SaidTurn

BEFORE = 40
"""Earlier turns that are shown beside a turn."""
FACTS = 50
"""Facts of initial knowledge that are shown beside a turn."""

_AT_ONCE = 200
_LAST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class TurnDesk:
    """A turn with what an annotator needs to label its claims.

    Attributes:
        turn: The turn.
        before: The turns before it, oldest first, perhaps not all.
        documents: The documents of the turn by their ids.
        left_out: Documents that are too long to be shown.
        knowledge: The initial knowledge, perhaps not all of it.
        answer: What the annotator said of it, or the claims to begin with.
        previous: The number of the assistant's turn before it; None: there is none.
        following: The number of the assistant's turn behind it; None: there is none.
    """

    turn: SaidTurn
    before: Sequence[SaidTurn]
    documents: Mapping[str, str]
    left_out: Sequence[str]
    knowledge: Sequence[str]
    answer: TurnAnswer
    previous: int | None
    following: int | None


@dataclass(frozen=True, slots=True)
class LabelledPart:
    """Turns of the assistant, and which of them an annotator has labelled.

    Attributes:
        turns: The turns.
        labelled: The numbers of those that are labelled as they are now.
        after: The number behind which more turns come; None: there are none.
        unresolved: How many of them have no label, though annotators labelled their claims.
    """

    turns: Sequence[SaidTurn]
    labelled: frozenset[int]
    after: int | None
    unresolved: int


class TurnLabels(Part):
    """The operations on people's labels for the claims of turns."""

    @cached_property
    def _repository(self) -> TurnAnswerRepository:
        return TurnAnswerRepository(self._app.database)

    async def desk(self, dialogue_id: str, number: int, annotator: str) -> TurnDesk:
        """A turn with all that is needed to label its claims.

        Raises:
            InputError: The process is no dialogue.
            NotFound: It is not stored, or has no such turn of the assistant.
        """
        await self._app.dialogues.size(dialogue_id)
        first = max(number - BEFORE - 1, -1)
        said, facts = await asyncio.gather(
            self._said(dialogue_id, first, number),
            self._app.nodes.texts(dialogue_id, [f"{KNOWLEDGE}{one}" for one in range(FACTS)]),
        )
        turn = said[-1] if said else None
        if turn is None or turn.stage != number or turn.turn.role is not Speaker.ASSISTANT:
            raise NotFound(f"This dialogue has no turn {number} of the assistant.")
        names = {f"{DOCUMENT}{one}": one for one in turn.turn.documents}
        texts, answer, previous, following = await asyncio.gather(
            self._app.nodes.texts(dialogue_id, list(names)),
            self._answer(dialogue_id, turn, annotator),
            self._neighbour(dialogue_id, number, is_before=True),
            self._neighbour(dialogue_id, number, is_before=False),
        )
        return TurnDesk(
            turn,
            said[:-1],
            {short: texts[name] for name, short in names.items() if name in texts},
            [short for name, short in names.items() if name not in texts],
            [facts[name] for name in sorted(facts, key=_place)],
            answer,
            previous,
            following,
        )

    async def part(self, dialogue_id: str, annotator: str | None, after: int) -> LabelledPart:
        """A page of the assistant's turns, and which of them are labelled.

        Raises:
            InputError: The process is no dialogue.
            NotFound: It is not stored.
        """
        said = await self._app.dialogues.turns(dialogue_id, (after, _LAST), _AT_ONCE + 1)
        shown = said[:_AT_ONCE]
        turns = [one for one in shown if one.turn.role is Speaker.ASSISTANT]
        known = await self._answered(dialogue_id, annotator)
        done = [one.stage for one in turns if known.get(one.stage) == hash_of(one.turn.text)]
        more = shown[-1].stage if len(said) > _AT_ONCE else None
        answers = await self._answers(dialogue_id)
        labelled = [
            one for turn in turns if (one := _labelled_turn(dialogue_id, turn, answers)) is not None
        ]
        unresolved = agreed_on(DialogueGold({}, labelled), {}).unresolved_turns
        return LabelledPart(turns, frozenset(done), more, unresolved)

    async def first_open(self, dialogue_id: str, annotator: str, after: int = -1) -> int | None:
        """The number of the first turn behind a place that is not labelled yet; None: none."""
        known = await self._answered(dialogue_id, annotator)
        async for one in self._turns(dialogue_id, after):
            is_asked = one.turn.role is Speaker.ASSISTANT
            if is_asked and known.get(one.stage) != hash_of(one.turn.text):
                return one.stage
        return None

    async def annotators(self, dialogue_id: str) -> list[tuple[str, int]]:
        """The annotators by name, with how many turns each labelled."""
        return await self._repository.annotators(dialogue_id)

    async def save(self, dialogue_id: str, answer: TurnAnswer) -> TurnAnswer:
        """Store what an annotator says of a turn; it takes the place of an earlier answer.

        Raises:
            InputError: Something is missing or contradictory, or the turn says something else now.
            NotFound: The dialogue is not stored, or has no such turn of the assistant.
        """
        annotation_of(answer)
        said = await self._said(dialogue_id, answer.number - 1, answer.number)
        if not said or said[-1].turn.role is not Speaker.ASSISTANT:
            raise NotFound(f"This dialogue has no turn {answer.number} of the assistant.")
        if hash_of(said[-1].turn.text) != answer.said:
            raise InputError(
                "The turn says something else now: the dialogue was replaced. Nothing was saved.",
                code="turn_changed",
            )
        answer = answer.replace(
            turn_id=said[-1].turn.turn_id,
            claims=tuple(one for one in answer.claims if not one.is_blank),
            answered_at=now(),
        )
        await self._repository.save(dialogue_id, answer)
        return answer

    async def labelled(self, dialogue_id: str) -> Consensus:
        """The dialogue with its labelled turns, and the claims that annotators agree on.

        Labels of turns that say something else now are left out.

        Raises:
            InputError: The process is no dialogue, or no turn is labelled.
            NotFound: It is not stored.
        """
        answers = await self._answers(dialogue_id)
        process = await self._app.processes.get(dialogue_id)
        turns, labelled = [], []
        async for said in self._turns(dialogue_id, -1):
            turns.append(said.turn)
            turn = _labelled_turn(dialogue_id, said, answers)
            if turn is not None:
                labelled.append(turn)
        if not labelled:
            raise InputError("No turn of this dialogue is labelled yet.", code="no_labels")
        names = list(dict.fromkeys(name for turn in turns for name in turn.documents))
        facts, texts = await asyncio.gather(
            self._knowledge(dialogue_id),
            self._app.nodes.texts(dialogue_id, [f"{DOCUMENT}{one}" for one in names], None),
        )
        dialogue = Dialogue(
            dialogue_id=dialogue_id,
            name=process.name,
            initial_knowledge=facts,
            documents=tuple(
                DialogueDocument(document_id=one, text=texts[f"{DOCUMENT}{one}"]) for one in names
            ),
            turns=tuple(turns),
        )
        return agreed_on(DialogueGold({dialogue_id: dialogue}, labelled), {})

    async def remove(self, dialogue_id: str, annotator: str, by: Caller) -> int:
        """Remove all that an annotator said of the turns of a dialogue.

        Returns:
            Of how many turns that was.
        """
        count = await self._repository.remove(dialogue_id, annotator)
        await self._record(
            by, "labels.remove", dialogue_id, process_id=dialogue_id, annotator=annotator
        )
        return count

    async def forget(self, dialogue_id: str) -> None:
        """Remove all labels of a dialogue, which is removed."""
        await self._repository.remove(dialogue_id)

    async def _answer(self, dialogue_id: str, turn: SaidTurn, annotator: str) -> TurnAnswer:
        """Say what the annotator said of the turn as it is; else the claims that count for it."""
        said = hash_of(turn.turn.text)
        known = await self._repository.get(dialogue_id, annotator, turn.stage)
        if known is not None and known.said == said:
            return known
        found = await self._app.dialogues.found(dialogue_id, None, turn.stage - 1, 1)
        claims = found[0].found.claims if found and found[0].stage == turn.stage else ()
        texts = dict.fromkeys(one.claim for one in claims)
        return TurnAnswer(
            turn_id=turn.turn.turn_id,
            number=turn.stage,
            said=said,
            annotator=annotator,
            claims=tuple(ClaimAnswer(proposed=text) for text in texts),
        )

    async def _answers(self, dialogue_id: str) -> Mapping[int, Sequence[TurnAnswer]]:
        """Return what annotators said, by the number of the turn."""
        by_number: dict[int, list[TurnAnswer]] = {}
        for one in await self._repository.all(dialogue_id):
            by_number.setdefault(one.number, []).append(one)
        return by_number

    async def _answered(self, dialogue_id: str, annotator: str | None) -> Mapping[int, str]:
        return {} if annotator is None else await self._repository.answered(dialogue_id, annotator)

    async def _said(self, dialogue_id: str, after: int, until: int) -> list[SaidTurn]:
        """The turns of some numbers, `until` the last of them."""
        place = (after, _LAST if after >= 0 else -1)
        return await self._app.dialogues.turns(
            dialogue_id, place, max(until - after, 1) + 1, until=until
        )

    async def _neighbour(self, dialogue_id: str, number: int, *, is_before: bool) -> int | None:
        """The number of the assistant's next or last turn."""
        if not is_before:
            async for one in self._turns(dialogue_id, number, BEFORE, longest=1):
                if one.turn.role is Speaker.ASSISTANT:
                    return one.stage
            return None
        until = number - 1
        while until > 0:
            first = max(until - BEFORE, -1)
            for one in reversed(await self._said(dialogue_id, first, until)):
                if one.turn.role is Speaker.ASSISTANT:
                    return one.stage
            until = first
        return None

    async def _turns(
        self, dialogue_id: str, after: int, at_once: int = _AT_ONCE, *, longest: int = WHOLE
    ) -> AsyncIterator[SaidTurn]:
        """All turns behind a number, read by the page."""
        store = await self._store()
        place = (after, _LAST if after >= 0 else -1)
        while said := await store.dialogues.said(dialogue_id, place, at_once, longest=longest):
            for one in said:
                yield one
            place = said[-1].place

    async def _knowledge(self, dialogue_id: str) -> tuple[str, ...]:
        stored = await (await self._store()).dialogues.turns(dialogue_id)
        return tuple(text for _, text in stored.knowledge)


def _labelled_turn(
    dialogue_id: str, said: SaidTurn, answers: Mapping[int, Sequence[TurnAnswer]]
) -> LabelledTurn | None:
    """A turn with what annotators said of it as it is now; None: nobody did."""
    hashed = hash_of(said.turn.text)
    labels = [annotation_of(one) for one in answers.get(said.stage, ()) if one.said == hashed]
    if not labels:
        return None
    return LabelledTurn(dialogue_id=dialogue_id, turn_id=said.turn.turn_id, labels=tuple(labels))


def _place(name: str) -> int:
    """The number of a fact of initial knowledge, by its node_id."""
    return int(name.removeprefix(KNOWLEDGE))
