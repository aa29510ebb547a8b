"""Operations about dialogues: their turns, and what was found of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from veritrail_graph.api.client.answers import DialogueRun, Listed
from veritrail_graph.api.client.calls import AsyncPages, Call
from veritrail_graph.api.client.carrying import PAGE, CarriedOut
from veritrail_graph.api.client.following import AsyncJob
from veritrail_graph.graph.model.dialogue import DialogueRunSummary, Turn, TurnVerification

_DIALOGUE = "/v1/processes/{}/dialogue"


class DialogueOperations(CarriedOut):
    """Dialogues: read, and begun to be verified."""

    async def verify_dialogue(
        self,
        /,
        dialogue_id: str,
        turn_ids: str | Sequence[str] | None = None,
        *,
        turn_check: bool = False,
        engine: str | None = None,
        model: str | None = None,
        budget_usd: float | None = None,
        idempotency_key: str | None = None,
        **options: Any,
    ) -> AsyncJob:
        """Begin to verify turns of a dialogue, one after the other; by default all the assistant's.

        Args:
            dialogue_id: The dialogue.
            turn_ids: The turns.
            turn_check: Whether each turn as a whole is checked for contradictions.
            engine: The engine; default: as the service is set.
            model: The model that is asked.
            budget_usd: The most that it may cost.
            idempotency_key: The same key and arguments give the same job; default: a new key, so
                that a submission whose answer is lost can be sent again.
            options: More fields of `POST /v1/dialogue-verifications`.

        Raises:
            Missing: The dialogue is not stored.
            Rejected: The process is no dialogue, or a turn is not the assistant's.
            Conflict: The key was used with other arguments.
        """
        given = {
            "dialogue_id": dialogue_id,
            "turn_ids": [turn_ids] if isinstance(turn_ids, str) else turn_ids and list(turn_ids),
            "turn_check": turn_check or None,
            "engine": engine,
            "model": model,
            "budget_usd": budget_usd,
            **options,
        }
        return AsyncJob(self, await self.begin_job(given, idempotency_key, name="verify_dialogue"))

    async def dialogue(self, dialogue_id: str, *, run_id: str | None = None) -> DialogueRun:
        """Return what was found of the assistant's turns, with the score and its course.

        Args:
            dialogue_id: The dialogue.
            run_id: Only what this run found; default: what counts for each turn.

        Raises:
            Missing: The dialogue or the run is not stored, or no turn was verified.
        """
        asked = {"run_id": run_id}
        call = Call("dialogue", "GET", _DIALOGUE, (dialogue_id,), asked)
        found = await self._one(call, DialogueRun)
        turns, course = list(found.turns), list(found.course)
        last = found
        while cursor := (last.model_extra or {}).get("nextCursor"):
            last = await self._one(replace(call, query={**asked, "cursor": cursor}), DialogueRun)
            turns += last.turns
            course += last.course
        return found.replace(turns=tuple(turns), course=tuple(course))

    def verified_turns(
        self,
        dialogue_id: str,
        *,
        run_id: str | None = None,
        from_turn: str | None = None,
        page: int = PAGE,
    ) -> AsyncPages[TurnVerification]:
        """Return what was found of the assistant's turns, by the page, in their order.

        Args:
            dialogue_id: The dialogue.
            run_id: Only what this run found; default: what counts for each turn.
            from_turn: The turn that the list begins with; default: the first one.
            page: Turns in one answer.

        Raises:
            Rejected: The turn is not in the dialogue.
        """
        query = {"run_id": run_id, "from_turn": from_turn, "limit": page}
        call = Call("verified_turns", "GET", _DIALOGUE, (dialogue_id,), query)
        return self._pages(call, TurnVerification, "turns")

    async def dialogue_runs(self, dialogue_id: str) -> Listed[DialogueRunSummary]:
        """The runs in which turns of a dialogue were verified, newest first."""
        call = Call("dialogue_runs", "GET", f"{_DIALOGUE}/runs", (dialogue_id,))
        return await self._all(call, DialogueRunSummary, "dialogue_runs")

    def turns(
        self, dialogue_id: str, *, from_turn: str | None = None, page: int = PAGE
    ) -> AsyncPages[Turn]:
        """The turns of a dialogue as they were said, each with the ids of its documents.

        Args:
            dialogue_id: The dialogue.
            from_turn: The turn that the list begins with; default: the first one.
            page: Turns in one answer.

        Raises:
            Rejected: The process is no dialogue, or the turn is not in it.
        """
        path, query = f"{_DIALOGUE}/turns", {"from_turn": from_turn, "limit": page}
        return self._pages(Call("turns", "GET", path, (dialogue_id,), query), Turn)
