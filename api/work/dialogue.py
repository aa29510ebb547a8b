"""A dialogue that is being verified: its text in the graph, and each turn stored when it ends.

A turn is stored while the first calls of the next one are on their way: what a kill may repeat is
one turn, and dialogues side by side do not wait for the graph one after the other.

Source: VISTA 3.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.work.dialogue_progress import DialogueVerified
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, NotFound, VeriTrailError, Violation, shown
from veritrail_graph.graph.model import Status, Usage
from veritrail_graph.graph.model.dialogue import DialogueRun, Speaker, TurnVerification
from veritrail_graph.graph.store.dialogues import RunOfTurns
from veritrail_graph.verifier.dialogue.background import Fact
from veritrail_graph.verifier.nodes import SharedNodes

if TYPE_CHECKING:
    from veritrail_graph.api.configured.dialogue import ConfiguredDialogue
    from veritrail_graph.graph.model import NodeRef, Process
    from veritrail_graph.graph.model.dialogue import Turn
    from veritrail_graph.graph.sentences import SentenceSplitter
    from veritrail_graph.graph.store import Store
    from veritrail_graph.verifier.dialogue.vista import Vista
    from veritrail_graph.verifier.models.port import EndpointRefused, Meter
    from veritrail_graph.verifier.nodes import Reader
    from veritrail_graph.verifier.ports import ReadNode

Ask = Callable[[Callable[["Store"], Awaitable[Any]]], Awaitable[Any]]
"""Asks the graph something that may be asked twice."""


def asking(store: Store) -> Ask:
    """Ask a graph that is open."""

    async def ask(question: Callable[[Store], Awaitable[Any]]) -> Any:
        return await question(store)

    return ask


@dataclass(frozen=True, slots=True)
class StoredDialogue:
    """A `DialogueText` in the graph; texts of documents are read when their turn comes.

    Attributes:
        process: The dialogue.
        turns: All turns, in their order.
        knowledge: The initial knowledge.
        documents: The documents of turns, by node_id of the turn.
        reader: Reads texts.
    """

    process: Process
    turns: Sequence[Turn]
    knowledge: Sequence[Fact]
    documents: Mapping[str, tuple[NodeRef, ...]]
    reader: SharedNodes

    async def reference(self, turn: Turn) -> Sequence[ReadNode]:
        """The documents of a turn."""
        refs = self.documents.get(turn.node_id, ())
        return await self.reader.read(refs) if refs else ()


async def dialogue_text(
    ask: Ask, reader: Reader, dialogue_id: str, splitter: SentenceSplitter
) -> StoredDialogue:
    """A stored dialogue.

    Args:
        ask: Asks the graph.
        reader: Reads its documents.
        dialogue_id: The dialogue.
        splitter: Splits texts into sentences.

    Raises:
        InputError: The process is no dialogue: no turn of an assistant is in it.
        NotFound: It is not stored.
    """
    process = await ask(lambda store: store.processes.get(dialogue_id))
    stored = await ask(lambda store: store.dialogues.turns(dialogue_id))
    spoken = [turn.node_id for turn in stored.turns if turn.role is Speaker.ASSISTANT]
    if not spoken:
        raise not_a_dialogue(dialogue_id, len(stored.turns))
    return StoredDialogue(
        process,
        stored.turns,
        [Fact(text, node_id) for node_id, text in stored.knowledge],
        await ask(lambda store: store.dialogues.documents(dialogue_id, spoken)),
        SharedNodes(reader, dialogue_id, splitter, size=process.nodes, edges=process.edges),
    )


def wanted_turns(text: StoredDialogue, named: Sequence[str] | None) -> list[str]:
    """turn_ids of the assistant's turns, in their order.

    Args:
        text: The dialogue.
        named: Only these; None: all.
    """
    only = set(named or ())
    return [
        turn.turn_id
        for turn in text.turns
        if turn.role is Speaker.ASSISTANT and (not only or turn.turn_id in only)
    ]


def check_turns(text: StoredDialogue, named: Sequence[str] | None) -> None:
    """See that named turns are the assistant's.

    Raises:
        InputError: One is unknown, or somebody else's.
    """
    roles = {turn.turn_id: turn.role for turn in text.turns}
    violations = [
        Violation("unknown_turn", f"turn {shown(name)}", "is not in the dialogue")
        if name not in roles
        else Violation(
            "not_the_assistants_turn",
            f"turn {shown(name)}",
            f"is the {roles[name].value}'s, and only the assistant's turns are verified",
        )
        for name in named or ()
        if roles.get(name) is not Speaker.ASSISTANT
    ]
    if violations:
        raise InputError(
            f"Dialogue {text.process.process_id!r}: {len(violations)} turn(s) cannot be verified.",
            violations,
            code="wrong_turns",
        )


def not_a_dialogue(dialogue_id: str, turns: int) -> InputError:
    """The error for a process without a turn of an assistant.

    Args:
        dialogue_id: The process.
        turns: How many turns of others it has.
    """
    others = f" Its {counted(turns, 'turn')} are those of others." if turns else ""
    return InputError(
        f"Process {dialogue_id!r} is no dialogue: it has no turn of an assistant, and only those "
        f"are verified.{others}",
        code="not_a_dialogue",
        process_id=dialogue_id,
    )


def other_settings(run_id: str) -> InputError:
    """The error for a run that cannot go on with these settings."""
    return InputError(
        f"Run {shown(run_id)} was made with another engine, model, prompt or limit; the turns of a "
        "run are all verified alike.",
        code="dialogue_run_differs",
        run_id=run_id,
    )


def unknown_run(dialogue_id: str, run_id: str | None) -> NotFound:
    """The error for a run that is not stored; None: for a dialogue without any."""
    if run_id is None:
        return NotFound(
            f"No turn of dialogue {dialogue_id!r} was verified yet.",
            code="dialogue_not_verified",
            process_id=dialogue_id,
        )
    return NotFound(
        f"Dialogue {dialogue_id!r} has no run {shown(run_id)}.",
        code="dialogue_run_unknown",
        process_id=dialogue_id,
    )


@dataclass(slots=True)
class DialogueWork:
    """A dialogue that is being verified."""

    ask: Ask
    text: StoredDialogue
    run: RunOfTurns
    turn_ids: Sequence[str] | None
    stored_before: Mapping[str, TurnVerification]
    earlier: Mapping[str, TurnVerification]
    found: dict[str, TurnVerification] = field(default_factory=dict)
    stored: int = 0
    kept: int = 0
    fault: VeriTrailError | None = None
    _said: dict[str, tuple[str, str]] = field(default_factory=dict)
    _position: int | None = None

    @classmethod
    async def of(
        cls,
        ask: Ask,
        text: StoredDialogue,
        made: ConfiguredDialogue,
        turn_ids: Sequence[str] | None,
        run_id: str,
    ) -> DialogueWork:
        """The work on a dialogue, with what the run has stored of it before.

        Args:
            ask: Asks the graph.
            text: The dialogue.
            made: What verifies its turns.
            turn_ids: Only these turns; None: all of the assistant's.
            run_id: The run.

        Raises:
            InputError: The run was made with other settings.
        """
        name = text.process.process_id
        listed = await ask(lambda store: store.dialogues.runs(name))
        known = next((one for one in listed if one.run_id == run_id), None)
        if known is not None and known.settings != made.settings:
            raise other_settings(run_id)
        run = RunOfTurns(
            name,
            text.process.content_hash,
            run_id,
            made.judge.name,
            made.judge.model,
            made.judge.indicative,
            now() if known is None else known.created_at,
            made.settings,
        )
        results: list[TurnVerification] = []
        earlier: list[TurnVerification] = []
        if known is not None:
            results = await ask(lambda store: store.dialogues.results(name, run.run_id))
        if turn_ids:
            earlier = await ask(lambda store: store.dialogues.results(name))
        return cls(
            ask, text, run, turn_ids,
            {one.turn_id: one for one in results}, {one.turn_id: one for one in earlier},
        )  # fmt: skip

    @property
    def wanted(self) -> list[str]:
        """turn_ids that are to be verified, in their order."""
        return wanted_turns(self.text, self.turn_ids)

    async def turns(
        self, vista: Vista, meter_of: Callable[[], Meter]
    ) -> AsyncGenerator[tuple[TurnVerification, bool], None]:
        """Verify the turns; what is yielded is stored, unless `fault` says why it is not.

        Args:
            vista: Verifies turns.
            meter_of: Makes the meter of a turn.

        Yields:
            What was found of a turn, and whether that is new.
        """
        for one in (*self.earlier.values(), *self.stored_before.values()):
            self._remember(one)
        turns = vista.dialogue(
            self.text,
            meter_of,
            only=self.turn_ids or (),
            done=self.stored_before,
            earlier=self.earlier,
        )
        asked = asyncio.ensure_future(anext(turns, None))
        try:
            while (ended := await asked) is not None:
                await asyncio.sleep(0)  # a run that was stopped meanwhile stores nothing more
                turn, found, is_new = ended
                self._remember(found)
                is_ended = vista.refusal is not None or vista.exhausted is not None
                if not is_ended:  # the next turn is asked about while this one is stored
                    asked = asyncio.ensure_future(anext(turns, None))
                if is_new and (found.claims or not is_ended):
                    await self._store(turn, found)
                self.kept += not is_new
                self.found[found.turn_id] = found
                yield found, is_new
                if self.fault is not None:
                    break
                if is_ended:
                    asked = asyncio.ensure_future(anext(turns, None))
        finally:
            asked.cancel()
            await asyncio.wait([asked])
            await turns.aclose()

    async def _store(self, turn: Turn, found: TurnVerification) -> None:
        """Store a turn; what cannot be stored is shown, and ends the dialogue."""
        quotes = {
            (claim.claim_id, name): self._quotes(found, claim.claim, name)
            for claim in found.claims
            for name in claim.contradicts
        }
        name = self.run.process_id
        try:
            position = self._position
            if position is None:
                position = await self.ask(lambda store: store.dialogues.next_position(name))
            await self.ask(
                lambda store: store.dialogues.write(self.run, turn, found, quotes, position)
            )
        except VeriTrailError as error:
            self.fault = error
        else:
            self.stored += 1
            self._position = position + len(found.claims)

    def _remember(self, found: TurnVerification) -> None:
        for claim in found.claims:
            self._said[claim.claim_id] = (claim.claim, found.turn_id)

    def _quotes(self, found: TurnVerification, claim: str, other: str) -> tuple[str, str]:
        """Return what two contradicting claims say.

        Word by word where a check of the turn quotes them.
        """
        text, turn_id = self._said.get(other, ("", None))
        check = found.turn_check
        if check is not None and check.quotes and check.turn_id == turn_id:
            first, second = check.quotes
            return first, second
        return claim, text

    def keep_stored(self) -> list[TurnVerification]:
        """Return the turns that were stored before, where none was looked at: all are done."""
        if self.found:
            return []
        done = [one for one in self.stored_before.values() if one.status.is_result]
        self.found = {one.turn_id: one for one in done}
        self.kept = len(done)
        return done

    def done(self, refusal: EndpointRefused | None, warnings: Sequence[str]) -> DialogueVerified:
        """Return what was done; turns that were not reached are cancelled."""
        why = "it was stopped" if self.fault is None else "the turn before it was not stored"
        turns = [
            self.found.get(turn_id)
            or TurnVerification(turn_id=turn_id, status=Status.CANCELLED, error=why)
            for turn_id in self.wanted
        ]
        run = DialogueRun.of_turns(
            turns,
            run_id=self.run.run_id,
            dialogue_id=self.run.process_id,
            engine=self.run.engine,
            model=self.run.model,
            indicative=self.run.indicative,
            created_at=self.run.created_at,
            settings=self.run.settings,
            usage=usage_of([one for one in turns if one.turn_id not in self._kept_ids]),
        )
        return DialogueVerified(run, self.stored, self.kept, refusal, self.fault, tuple(warnings))

    @property
    def _kept_ids(self) -> set[str]:
        """Turns that this command found stored: what they cost was paid before."""
        return {name for name, found in self.found.items() if self.stored_before.get(name) is found}


def usage_of(turns: Sequence[TurnVerification]) -> Usage:
    """Return what turns cost together."""
    return sum((one.usage for one in turns), Usage())
