"""Carrying a job out in the process that submitted it: the command line and the client in process.

The job, its claims, its events and its money are those of every other job, and so is the code that
verifies a claim. Only the queue is left out: one process does all claims of a job, and the engine
of jobs would cost more time than a small job has.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.auth.database import ServiceDatabase
from veritrail_graph.api.configured.judge import ConfiguredJudge
from veritrail_graph.api.jobs.attribution_session import AttributionSession
from veritrail_graph.api.jobs.chosen import by_frontier
from veritrail_graph.api.jobs.dialogue_session import DialogueSession
from veritrail_graph.api.jobs.events import observer
from veritrail_graph.api.jobs.looking import Looking
from veritrail_graph.api.jobs.model import (
    OPEN_CLAIMS,
    JobClaim,
    PartProgress,
    Work,
    is_explanation,
    job_id_of,
    kind_of,
    run_id_of,
)
from veritrail_graph.api.jobs.runner import Runner, ended_claim, removed_claim
from veritrail_graph.api.jobs.sessions import JobSession, JobSessions, Session, SessionOptions
from veritrail_graph.api.jobs.storage import JobRow, Transaction, changes, reading
from veritrail_graph.api.jobs.storage.batch_rows import open_batches
from veritrail_graph.api.jobs.storage.changes import CANCELLED
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.api.jobs.storage.reading import job_of
from veritrail_graph.api.jobs.storage.repository import JobRepository
from veritrail_graph.api.jobs.storage.works import open_works, works_of
from veritrail_graph.api.jobs.submission import LocalOptions
from veritrail_graph.api.jobs.unmade import Ender, lost
from veritrail_graph.api.jobs.waiting_graph import WaitingGraph
from veritrail_graph.api.work.runs import held_run
from veritrail_graph.graph.errors import NotFound, VeriTrailError
from veritrail_graph.graph.model import RunUsage, Status, Usage, Verification
from veritrail_graph.graph.model.job import JobKind
from veritrail_graph.graph.model.trail import NO_USAGE
from veritrail_graph.verifier.attribution.run import SENTENCES_AT_ONCE
from veritrail_graph.verifier.driver import Observer, Task

if TYPE_CHECKING:
    from veritrail_graph.api.configured.graph_connection import GraphConnection
    from veritrail_graph.api.jobs.explanation_session import Explanation
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.api.work.attribution import Attributed
    from veritrail_graph.api.work.dialogue_progress import DialogueVerified
    from veritrail_graph.api.work.extraction import ExtractionReport
    from veritrail_graph.graph.model.attribution import SentenceAttribution
    from veritrail_graph.graph.model.dialogue import TurnVerification
    from veritrail_graph.verifier.models.batch_port import BatchRecord
    from veritrail_graph.verifier.run import Run

_log = logging.getLogger("veritrail.jobs")


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress hooks of a job; every hook is optional.

    Attributes:
        observer: Called for every claim and every call.
        begins: Called with the run, its number of claims, and what cancels it.
        sentence_done: Called with the sentences looked at for claims, and how many there are.
        call_made: Called with the usage of each call of an extraction, a sentence or a turn.
        attributed: Called with each sentence that has ended.
        verified: Called with each turn that has ended, and whether it was stored before.
        batches: Called with the batches that the job waits for, whenever one of them changed.
        explained: Called with the sentences of the explanation that have ended, and how many
            there are.
    """

    observer: Observer = field(default_factory=Observer)
    begins: Callable[[LocalRun, int], None] = lambda _run, _claims: None
    sentence_done: Callable[[int, int], None] = lambda _done, _total: None
    call_made: Callable[[Usage], None] = lambda _usage: None
    attributed: Callable[[SentenceAttribution], None] = lambda _sentence: None
    verified: Callable[[TurnVerification, bool], None] = lambda _turn, _kept: None
    batches: Callable[[Sequence[BatchRecord]], None] = lambda _batches: None
    explained: Callable[[int, int], None] = lambda _done, _total: None


@dataclass(frozen=True, slots=True)
class LocalResult:
    """The result of a job that was carried out in this process.

    Attributes:
        run: The run of its claims; None: there was none.
        run_id: Its id.
        process_id: The process.
        verifications: One for each claim, in order.
        reused: How many of them had succeeded before.
        extraction: How the claims were extracted, if they were.
        judge: Who judged.
        is_resumable: Whether the job is kept, so that what is left of it can be taken up again.
        batches: Batches that go on at their endpoints; their answers are read when it is resumed.
        explanation: What came of the explanation of the verdicts, or why there is none; None: it
            was not asked for, or was not begun.
        outcome: What came of its sentences or turns; None: it verifies claims.
    """

    run: Run | None
    run_id: str
    process_id: str
    verifications: list[Verification]
    reused: int = 0
    extraction: ExtractionReport | None = None
    judge: ConfiguredJudge | None = None
    is_resumable: bool = True
    batches: tuple[BatchRecord, ...] = ()
    explanation: Explanation | VeriTrailError | None = None
    outcome: Attributed | DialogueVerified | None = None

    @property
    def job_id(self) -> str:
        """The id of the job."""
        return job_id_of(self.run_id)

    @property
    def spent(self) -> RunUsage:
        """Return what the run cost, apart from what it reused."""
        extraction = self.extraction.usage if self.extraction is not None else NO_USAGE
        return RunUsage.of(self.run_id, self.verifications, extraction)

    @property
    def asked_models(self) -> bool:
        """Return whether language models judged."""
        return self.judge is not None and self.judge.models is not None

    def other_ways(self, made: Sequence[Verification]) -> list[tuple[str, int, Usage]]:
        """Return what the calls of verifications of the run would have cost in other ways to ask.

        Returns:
            Name, claims of a shared prompt and usage of each way; none where no model was asked.
        """
        from veritrail_graph.verifier.call_modes import costs_by_mode
        from veritrail_graph.verifier.models.port import Step
        from veritrail_graph.verifier.models.tokens import counter
        from veritrail_graph.verifier.prompts import shared_verdict_of

        if self.judge is None or self.judge.models is None:
            return []
        if any(engine.decides for engine in self.judge.how.engines):  # it is asked in one way
            return []
        models = self.judge.models
        count = counter(models.steps.selection.model.model)
        prompts = dict(self.judge.prompts)
        if shared_verdict_of(prompts) is None:
            del prompts[Step.VERDICT_SHARED]
        instructions = {step.value: count(prompt.text) for step, prompt in prompts.items()}
        return costs_by_mode(made, models.prices, instructions)


class LocalRun:
    """One job that this process carries out.

    Args:
        settings: The settings.
        service: The database of jobs.
        log: The events.
        graph: The connection to the graph.
        looking: Looks after the jobs of the process.
        job_id: The job.
        here: What no request can name.
        progress: What is called as the job goes on.
        updates: Fields of its request that are changed, where it is resumed; None: it is new.
        row: Its row, where it was kept just now; None: it is read.

    Attributes:
        judge: Who judges, once the run has begun.
        begun: Set when the job is this process's.
    """

    def __init__(
        self,
        settings: Settings,
        service: ServiceDatabase,
        log: EventLog,
        graph: GraphConnection,
        looking: Looking,
        job_id: str,
        here: LocalOptions | None = None,
        progress: Progress | None = None,
        updates: Mapping[str, Any] | None = None,
        row: JobRow | None = None,
    ) -> None:
        self._updates, self._row = updates, row
        here, self._progress = here or LocalOptions(), progress or Progress()
        self._looking = looking
        self.judge: ConfiguredJudge | None = None
        self.begun = asyncio.Event()
        self.job_id = job_id
        self._settings, self._service, self._log = settings, service, log
        self._worker_id = worker_id = f"p-{uuid.uuid4().hex}"
        self._graph = WaitingGraph(graph, patience=0.0)
        self._repository = JobRepository(service, log, worker_id, waits=False)
        self._sessions = JobSessions(
            SessionOptions(
                settings,
                self._graph,
                here.prompts,
                here.concurrency,
                on_batches=self._progress.batches,
                shared=here.shared,
                parts=PartProgress(
                    self._progress.call_made, self._attributed, self._progress.verified
                ),
                process=here.process,
            ),
            self._repository,
            log,
            worker_id,
            lambda: [worker_id],
            linger=0.0,
            observe=self._observer,
        )
        self._runner = Runner(
            self._sessions,
            self._repository,
            log,
            self._graph,
            on_sentence=self._progress.sentence_done,
            on_answer=self._progress.call_made,
            on_explained=self._progress.explained,
            on_extracted=self._take,
            gives_up=not here.is_attended,
        )
        self._sentences: dict[tuple[str, int], SentenceAttribution] = {}
        self._outcome: Attributed | DialogueVerified | None = None
        self._of_parts: AttributionSession | DialogueSession | None = None
        self._made: dict[str, Verification] = {}
        self._begun: dict[str, Work] = {}
        self._not_kept = 0
        self._ending: list[asyncio.Future[None]] = []
        self._session: JobSession | None = None
        self._run_id = self._process_id = ""
        self._reused = 0
        self._cancelling: asyncio.Task[None] | None = None
        self._claim_rows: Sequence[JobClaim] = ()
        self._taken: tuple[list[JobClaim], list[Work]] | None = None
        self._is_explained = True
        self._has_begun_all = self._has_ended = False

    def _observer(self, job_id: str) -> Observer:
        """Writes events and the ends of claims, and calls what the caller wants called."""
        events, own = observer(job_id, self._log), self._progress.observer

        def started(task: Task) -> None:
            events.claim_started(task)
            own.claim_started(task)

        def finished(verification: Verification) -> None:
            self._ending.append(asyncio.ensure_future(self._end(self._as_kept(verification))))
            own.claim_finished(verification)

        return replace(
            events, claim_started=started, call_made=own.call_made, claim_finished=finished
        )

    def _attributed(self, node_id: str, found: SentenceAttribution) -> None:
        self._sentences[node_id, found.sentence] = found
        self._progress.attributed(found)

    def _as_kept(self, verification: Verification) -> Verification:
        """A verification as the job has it: what the graph did not take is to be made again."""
        run = self._session.run if self._session is not None else None
        if run is None or len(run.write_errors) <= self._not_kept:
            return verification
        self._not_kept += 1
        return verification.replace(status=Status.FAILED, error=str(run.write_errors[-1]))

    @property
    def run_id(self) -> str:
        """The run that its verifications belong to."""
        return run_id_of(self.job_id)

    async def _end(self, verification: Verification) -> None:
        """Keep how a claim ended; those that end at the same time are kept together."""
        begun = self._begun[verification.verification_id]
        stopped_for = self._session.stopped_for if self._session is not None else None
        await self._repository.finish(ended_claim(begun, verification, stopped_for))

    async def carry_out(self) -> LocalResult:
        """Do what is left of the job.

        Raises:
            InputError: It was submitted with other settings, or another process carries it out.
            VeriTrailError: It cannot be begun.
        """
        async with self._held() as (job, stack):
            if kind_of(job["header"]) is not JobKind.VERIFICATION:
                self._outcome = await self._work_off(stack)
                return await self._done()
            if not job["is_extracted"]:
                await self._extract(job)
            run, tasks = await self._begin(await self._opened(stack))
            made = await run.verify(tasks)
            await self._settle(run)
            if self._is_explained:
                for work in await self._repository.read(partial(works_of, job_id=self.job_id)):
                    if is_explanation(work.verification_id):
                        await self._runner.do(work)
        self._made = {one.verification_id: one for one in made}
        return await self._done()

    async def _work_off(self, stack: AsyncExitStack) -> Attributed | DialogueVerified:
        """Do what is left of the sentences, or the turns, of the job."""
        session = await self._entered(stack)  # one session for all of them
        assert isinstance(session, AttributionSession | DialogueSession)  # noqa: S101
        slots = asyncio.Semaphore(SENTENCES_AT_ONCE)

        async def one(work: Work) -> None:
            async with slots:
                await self._runner.do(work)

        self._of_parts = session
        works = await self._repository.read(partial(works_of, job_id=self.job_id))
        claims = await self._repository.read(self._claims)
        is_dialogue = isinstance(
            session, DialogueSession
        )  # it counts all turns, those stored before included
        self._progress.begins(self, len(claims) if is_dialogue else len(works))
        await asyncio.gather(*map(one, works))
        if session.refusal is not None:
            await self._note(session.refusal)
        if isinstance(session, DialogueSession):
            return session.outcome()
        return await session.outcome(claims, self._sentences)

    @asynccontextmanager
    async def _held(self) -> AsyncIterator[tuple[JobRow, AsyncExitStack]]:
        """Hold the job: it is this process's until the end."""
        job = self._row or await self._repository.read(partial(job_of, job_id=self.job_id))
        if job is None:
            raise NotFound(f"job {self.job_id!r} was removed")
        self._run_id, self._process_id = job["run_id"], job["process_id"]
        async with AsyncExitStack() as stack:
            stack.enter_context(held_run(self._settings, self._run_id))
            updates = self._updates
            if updates is not None:
                gone = await lost(self._graph.ask, self._repository.read, self.job_id)
                await self._repository.run(
                    lambda one: changes.take_here(one, self.job_id, updates, self._log, gone)
                )
            self.begun.set()
            stack.push_async_callback(self._close)
            stop = partial(self._runner.stop, self.job_id)
            await stack.enter_async_context(
                self._looking.after(self.job_id, self._sessions.tell, stop)
            )
            yield job, stack

    async def _extract(self, job: JobRow) -> None:
        # One that was submitted just now has begun with that.
        begun = job if self._row is not None and self._cancelling is None else None
        await self._runner.take_claims(Work(self.job_id, "", job["attempt"]), begun)
        if self.job_id in self._runner.faults:
            raise self._runner.faults[self.job_id]

    async def _opened(self, stack: AsyncExitStack) -> JobSession:
        """Open the session of the job; a job that cannot be begun here is cancelled."""
        session = await self._entered(stack)
        assert isinstance(session, JobSession)  # noqa: S101  # the job verifies claims
        self.judge, self._session = session.judge, session
        return session

    async def _entered(self, stack: AsyncExitStack) -> Session:
        try:
            return await stack.enter_async_context(self._sessions.enter(self.job_id))
        except VeriTrailError:
            await self._repository.run(self._desert)
            raise

    async def _begin(self, session: JobSession) -> tuple[Run, list[Task]]:
        """Write that the claims that are left are begun."""
        taken = self._taken
        before, left = await self._repository.read(self._state) if taken is None else taken
        # An extraction opened the session before there were any.
        await session.learn([one for one in before if one.status in OPEN_CLAIMS])
        works = [one for one in left if not is_explanation(one.verification_id)]
        self._claim_rows, self._is_explained = before, len(works) < len(left)
        self._reused = sum(one.status is Status.SUCCEEDED for one in before)
        if taken is None:
            begun = await asyncio.gather(*map(self._repository.begin, works))
            self._begun = {
                one.verification_id: one
                for one, (is_mine, _) in zip(works, begun, strict=True)
                if is_mine
            }
        self._has_begun_all = len(self._begun) == len(left)
        tasks = [task for one in self._begun if (task := session.task(one)) is not None]
        for removed in self._begun.keys() - {task.verification_id for task in tasks}:
            await self._repository.finish(removed_claim(self._begun[removed]))
        assert session.run is not None  # noqa: S101  # it is made with the session
        self._progress.begins(self, len(tasks))
        return session.run, by_frontier(tasks)

    def _state(self, connection: Transaction) -> tuple[list[JobClaim], list[Work]]:
        """Return the claims of the job, and what is left to do of it."""
        return self._claims(connection), open_works(connection, self.job_id)

    def _take(self, connection: Transaction) -> None:
        """Begin the claims of an extraction as they are added, which asks for them once."""
        _, left = self._taken = self._state(connection)
        works = [one for one in left if not is_explanation(one.verification_id)]
        mine = changes.begin(connection, self._worker_id, works, self._log)
        self._begun = {
            one.verification_id: one for one in works if (self.job_id, one.verification_id) in mine
        }

    async def _settle(self, run: Run) -> None:
        """Wait until all ends are written, and with them why the run was stopped."""
        if run.refusal is not None:
            await self._note(str(run.refusal))
        await asyncio.gather(*self._ending)
        self._has_ended = self._has_begun_all

    async def _note(self, why: str) -> None:
        """Note a reason that holds for all of the job."""
        await self._repository.run(lambda one: changes.note_error(one, self.job_id, why, self._log))

    async def _close(self) -> None:
        """Write down what was spent, and end what was cancelled before it began."""
        if self._cancelling is not None:
            await asyncio.wait([self._cancelling])
        with suppress(VeriTrailError):
            await self._sessions.tell()
        await self._sessions.close()
        if not self._has_ended:  # else nothing of it is queued
            ender = Ender(self._graph.ask, self._repository.read, self._repository.run, self._log)
            with suppress(VeriTrailError):
                await ender.end_queued(self.job_id, Status.CANCELLED)
        with suppress(VeriTrailError):
            await self._log.flushed(self.job_id)

    async def cancel_batches(self) -> list[BatchRecord]:
        """Ask the endpoints to end the batches of a job that is not carried out at the moment.

        What they have done until then is read when the job is resumed.

        Raises:
            InputError: The job makes no batches, or another process carries it out.
        """
        job = await self._repository.read(partial(job_of, job_id=self.job_id))
        if job is None:
            raise NotFound(f"job {self.job_id!r} was removed")
        with held_run(self._settings, job["run_id"]):
            return await self._sessions.cancel_batches(self.job_id)

    def cancel(self) -> None:
        """Stop the job: what is finished stays, the rest becomes `cancelled`."""
        if self._of_parts is not None:  # at once: a short part would end while that is written
            self._of_parts.stop(CANCELLED)
        if self._cancelling is None:
            self._cancelling = asyncio.create_task(self._cancel())

    async def _cancel(self) -> None:
        await self._repository.run(lambda one: changes.cancel(one, self.job_id, self._log))
        self._runner.stop(self.job_id, CANCELLED)

    def _desert(self, connection: Transaction) -> None:
        """Cancel the job: it cannot be begun in this process."""
        changes.cancel(connection, self.job_id, self._log, is_deserted=True)

    def _claims(self, connection: Transaction) -> list[JobClaim]:
        return reading.claims_of(connection, self.job_id, -1, 1 << 30)

    async def _done(self) -> LocalResult:
        """The verifications of the job in the order of its claims."""
        claims: Sequence[JobClaim] = ()
        if self._outcome is None:
            claims = self._claim_rows or await self._repository.read(self._claims)
        ids = [one.verification_id for one in claims]
        others = [one for one in ids if one not in self._made]
        stored: dict[str, Verification] = {}
        try:
            found = await self._graph.ask(lambda store: store.trails.read(others)) if others else []
            stored = {one.verification_id: one for one in found}
        except VeriTrailError:  # what was made is reported all the same
            _log.debug("the rest could not be read", exc_info=True)
        everything = {**stored, **self._made}
        left: Sequence[BatchRecord] = ()
        if self._updates is not None or (self._session and self._session.rounds is not None):
            left = await self._repository.read(partial(open_batches, job_id=self.job_id))
        return LocalResult(
            self._session.run if self._session is not None else None,
            self._run_id,
            self._process_id,
            [everything[one] for one in ids if one in everything],
            self._reused,
            self._runner.extractions.get(self.job_id),
            self.judge,
            not self._service.is_temporary,
            batches=tuple(left),
            explanation=self._runner.explanations.get(self.job_id),
            outcome=self._outcome,
        )
