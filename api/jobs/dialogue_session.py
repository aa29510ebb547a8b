"""The session of a dialogue job: the parts that its turns share in one process.

A session is a dialogue with its judge and what is remembered of the turns before. Each turn is
stored in the graph before its row says so, under the run of the job: a kill between the two
repeats nothing, as what the graph has of the run is read when a session is opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from veritrail_graph.api.configured.dialogue import (
    ConfiguredDialogue,
    DialogueOptions,
    configure_dialogue,
)
from veritrail_graph.api.jobs.model import EventKind, JobClaim, JobHeader, PartProgress
from veritrail_graph.api.jobs.storage import JobRow
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.api.jobs.waiting_graph import WaitingReader
from veritrail_graph.api.requests.dialogue import DialogueRequest
from veritrail_graph.api.work.dialogue import DialogueWork, dialogue_text
from veritrail_graph.api.work.dialogue_progress import DialogueVerified
from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import Process, Status, Usage
from veritrail_graph.graph.model.dialogue import TurnVerification
from veritrail_graph.verifier.dialogue.vista import Vista
from veritrail_graph.verifier.models.port import Meter

if TYPE_CHECKING:
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.api.jobs.sessions import SessionOptions


class DialogueSession:
    """One dialogue job in one worker; make it with `open`."""

    def __init__(
        self,
        job: JobRow,
        made: ConfiguredDialogue,
        work: DialogueWork,
        log: EventLog,
        progress: PartProgress,
    ) -> None:
        self.job_id: str = job["job_id"]
        self.stopped_for: str | None = None
        self.warnings: Sequence[str] = made.warnings
        self._header = JobHeader.of(job["header"])
        self._log, self._work, self._progress = log, work, progress
        self._vista = Vista(made.judge, made.ablations)
        self._turns = work.turns(self._vista, self._next_meter)
        self._meter = Meter()
        self._turn_ids: dict[str, str] = {}
        self._step: asyncio.Task[tuple[TurnVerification, bool]] | None = None

    @classmethod
    async def open(
        cls,
        options: SessionOptions,
        job: JobRow,
        shared: Shared,
        stack: AsyncExitStack,
        log: EventLog,
    ) -> DialogueSession:
        """Make a session; what it needs is closed with the stack.

        Raises:
            InputError: The dialogue or the settings were removed or changed.
            EngineError: The graph did not answer for too long.
        """
        from veritrail_graph.api.jobs.sessions import check_unchanged

        graph, request = options.graph, DialogueRequest.of_row(job["request"])
        how = DialogueOptions(request, options.prompts, options.concurrency)
        made = await stack.enter_async_context(configure_dialogue(options.settings, how, shared))
        reader = WaitingReader(graph)
        text = await dialogue_text(graph.ask, reader, request.dialogue_id, made.splitter)
        check_unchanged(job, made.settings, text.process)
        work = await DialogueWork.of(graph.ask, text, made, request.turn_ids, job["run_id"])
        session = cls(job, made, work, log, options.parts)
        stack.push_async_callback(session._close)
        return session

    @property
    def process(self) -> Process:
        """The dialogue."""
        return self._work.text.process

    @property
    def refusal(self) -> str | None:
        """Return why the endpoint refuses every call, if it does."""
        refusal = self._vista.refusal
        return str(refusal) if refusal is not None else None

    @property
    def fault(self) -> VeriTrailError | None:
        """Return why a turn was not stored, if one was not."""
        return self._work.fault

    async def learn(self, claimed: Sequence[JobClaim]) -> None:
        """Learn which turn each row is."""
        for one in claimed:
            self._turn_ids[one.verification_id] = self._header.turn(one.claim_id)

    def knows(self, row_id: str) -> bool:
        """Return whether it is known which turn this is."""
        return row_id in self._turn_ids

    def outcome(self) -> DialogueVerified:
        """Return what was done of the job, with what earlier attempts at it have stored."""
        for found in self._work.keep_stored():
            self._progress.verified(found, True)
        return self._work.done(self._vista.refusal, self.warnings)

    def stop(self, why: str) -> None:
        """End the turn that is being verified; what is stored stays."""
        self.stopped_for = self.stopped_for or why
        if self._step is not None:
            self._step.cancel()

    async def verify(self, row_id: str) -> tuple[TurnVerification, Usage]:
        """Verify a turn of the job and store it, with what that cost.

        Turns of a dialogue are asked for in their order. Where `fault` says that the turn was not
        stored, none behind it can be verified.
        """
        turn_id = self._turn_ids[row_id]
        self._log.append(self.job_id, EventKind.TURN_STARTED, {"turn_id": turn_id})
        while self.stopped_for is None:
            found = await self._next()
            if found is None:
                break
            if found.turn_id == turn_id:
                return found, found.usage
        cancelled = TurnVerification(
            turn_id=turn_id, status=Status.CANCELLED, error=self.stopped_for
        )
        return cancelled, self._meter.total

    async def _next(self) -> TurnVerification | None:
        """The next turn that was verified, or stored before; None: it was stopped."""
        self._step = asyncio.ensure_future(anext(self._turns))
        try:
            found, is_new = await self._step
        except asyncio.CancelledError:
            if self.stopped_for is None:
                raise
            return None
        self._progress.verified(found, not is_new)
        return found

    def _next_meter(self) -> Meter:
        self._meter = Meter(self._progress.call_made)
        return self._meter

    async def _close(self) -> None:
        if self._step is not None and not self._step.done():
            self._step.cancel()
            await asyncio.wait([self._step])
        await self._turns.aclose()
