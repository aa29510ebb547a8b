"""Job sessions: what the claims of one job share in one process, and who enters and leaves it.

A session is a judge with its models, what was read of the process, and the run. It is opened by the
first claim of a job and closed when none is left, so that a job takes no longer than the same
claims take in one run.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.configured.judge import (
    ConfiguredJudge,
    configure_judge,
    differing,
    judge_options,
)
from veritrail_graph.api.configured.models import batch_options
from veritrail_graph.api.configured.shared import Limiters, Shared
from veritrail_graph.api.jobs.attribution_session import AttributionSession
from veritrail_graph.api.jobs.budget import BudgetLease, JobBudget
from veritrail_graph.api.jobs.dialogue_session import DialogueSession
from veritrail_graph.api.jobs.earlier import Comparison, StoredVerdicts
from veritrail_graph.api.jobs.events import observer
from veritrail_graph.api.jobs.explanation_session import ExplanationSession
from veritrail_graph.api.jobs.model import UNWATCHED, JobClaim, PartProgress, kind_of, since_of
from veritrail_graph.api.jobs.repeating import process_of
from veritrail_graph.api.jobs.storage import JobRow, changes, reading
from veritrail_graph.api.jobs.storage.batches import JobBatches
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.api.jobs.storage.leases import Limit, budget_of_job, budget_of_key
from veritrail_graph.api.jobs.storage.repository import JobRepository
from veritrail_graph.api.jobs.waiting_graph import WaitingGraph, WaitingReader
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.settings import Settings
from veritrail_graph.api.work.runs import made_run
from veritrail_graph.graph.errors import InputError, NotFound
from veritrail_graph.graph.model import NodeRef, Process, Verification
from veritrail_graph.graph.model.job import JobKind
from veritrail_graph.verifier.driver import Observer, Task
from veritrail_graph.verifier.nodes import SharedNodes
from veritrail_graph.verifier.ports import NodeSource
from veritrail_graph.verifier.run import Run

if TYPE_CHECKING:
    from veritrail_graph.graph.store import Store
    from veritrail_graph.verifier.models.batch_port import BatchRecord
    from veritrail_graph.verifier.models.batching import Rounds


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Options that all sessions of a process share.

    Attributes:
        settings: The settings of the service.
        graph: The graph.
        prompts: A folder of the user's own prompts, which no request can name.
        concurrency: Concurrent calls, where the process sets it.
        on_batches: Called with the batches that a job waits for, whenever one of them changed.
        shared: What its jobs share with those of others; None: nothing.
        cancels_batches: Whether batches end at the endpoint with their job.
        parts: What is called as sentences are attributed, and turns verified.
        process: The process of the one job, where it was read just now; None: it is read.
    """

    settings: Settings
    graph: WaitingGraph
    prompts: Path | str | None = None
    concurrency: int | None = None
    on_batches: Callable[[Sequence[BatchRecord]], None] = lambda _batches: None
    shared: Shared | None = None
    cancels_batches: bool = False
    parts: PartProgress = UNWATCHED
    process: Process | None = None


class JobSession:
    """One job in one worker; make it with `open`."""

    def __init__(
        self, options: SessionOptions, job: JobRow, judge: ConfiguredJudge, process: Process
    ) -> None:
        self.job_id: str = job["job_id"]
        self.judge = judge
        self.process = process
        self._run_id: str = job["run_id"]
        self._graph = options.graph
        self._settings = options.settings
        self._since = since_of(job["header"])
        request = VerifyRequest.model_validate_json(job["request"])
        self._matches = {one.claim_id: one.earlier for one in request.match}
        self._tasks: dict[str, Task] = {}
        self.run: Run | None = None
        self.stopped_for: str | None = None
        self.rounds: Rounds | None = None
        self._cancels_batches = options.cancels_batches
        self._cancelling: asyncio.Task[object] | None = None

    @classmethod
    async def open(
        cls,
        options: SessionOptions,
        job: JobRow,
        shared: Shared,
        stack: AsyncExitStack,
        ledger: JobBatches,
    ) -> JobSession:
        """Make a session; what it needs is closed with the stack.

        Raises:
            InputError: The process or the settings were removed or changed.
            EngineError: The graph did not answer for too long.
        """
        process = options.process
        if process is None or process.content_hash != job["content_hash"]:
            process = await process_of(options.graph.ask, ledger.open, job)
        judge, rounds = await _open_judge(options, job, shared, stack, ledger)
        made = cls(options, job, judge, process)
        if rounds is not None:
            made.rounds = rounds
            stack.push_async_callback(ledger.forget_answers)
            stack.push_async_callback(made.close_rounds)
        return made

    async def close_rounds(self) -> None:
        """Wait for no batch any more; those of a cancelled job end at their endpoints."""
        if self._cancelling is not None:
            await asyncio.wait([self._cancelling])
        if self.rounds is not None:
            await self.rounds.close()

    def begin(self, observer: Observer) -> Run:
        """The run that all claims of the session belong to.

        Args:
            observer: What the run calls on its way.
        """
        if self.rounds is not None:
            observer = _in_rounds(self.rounds, observer)
        self.run = made_run(
            self._settings,
            self.judge,
            self.process,
            WaitingReader(self._graph),
            self._graph.write,
            observer,
            self._run_id,
            self._earlier if self._since is not None else None,
        )
        return self.run

    def _earlier(self, now: NodeSource) -> StoredVerdicts:
        """The verdicts of the earlier version that the job names."""
        assert self._since is not None  # noqa: S101  # it names one
        version, judge = self._since, self.judge
        before = now
        if version.process_id != self.process.process_id:
            reader = WaitingReader(self._graph)
            before = SharedNodes(reader, version.process_id, judge.splitter)
        return StoredVerdicts(
            Comparison(
                self.process.process_id,
                version,
                self._matches,
                judge.judge,
                judge.settings,
                judge.how.q,
                self._graph.ask,
                before,
                now,
            )
        )

    async def verify(self, verification_id: str) -> Verification:
        """Verify a claim of the job that was read.

        Raises:
            NotFound: The claim was removed.
        """
        task = self._tasks.get(verification_id)
        if self.run is None or task is None:
            raise NotFound("the claim was removed since the job was submitted")
        return (await self.run.verify([task]))[0]

    async def learn(self, claimed: Sequence[JobClaim]) -> None:
        """Read claims of the job that are not known yet."""
        new = [one for one in claimed if one.verification_id not in self._tasks]
        if not new:
            return
        name = self.process.process_id
        found = await self._graph.ask(lambda store: tasks_of(store, name, new))
        self._tasks.update({task.verification_id: task for task in found})

    def know(self, tasks: Sequence[Task]) -> None:
        """Take the claims of the job, all of them in their order, which need not be read then."""
        placed = (replace(task, place=place) for place, task in enumerate(tasks))
        self._tasks.update({task.verification_id: task for task in placed})

    def task(self, verification_id: str) -> Task | None:
        """Return what is to be verified; None: its claim is not stored any more."""
        return self._tasks.get(verification_id)

    def knows(self, verification_id: str) -> bool:
        """Return whether a claim was read."""
        return verification_id in self._tasks

    @property
    def refusal(self) -> str | None:
        """Return why the endpoint refuses every call, if it does."""
        refusal = self.run.refusal if self.run is not None else None
        return str(refusal) if refusal is not None else None

    def stop(self, why: str) -> None:
        """End what is being verified; what is finished stays."""
        self.stopped_for = self.stopped_for or why
        if self.run is not None:
            self.run.stop()

    def end_batches(self) -> None:
        """End the batches at their endpoints, where they end with their job."""
        if self.rounds is not None and self._cancels_batches:
            self._cancelling = self._cancelling or asyncio.ensure_future(self.rounds.cancel())


async def _open_judge(
    options: SessionOptions, job: JobRow, shared: Shared, stack: AsyncExitStack, ledger: JobBatches
) -> tuple[ConfiguredJudge, Rounds | None]:
    """Return who judges the claims of a job, and what gathers its calls where it makes batches.

    Raises:
        InputError: The settings are not those that the job was submitted with.
    """
    how = judge_options(
        options.settings,
        VerifyRequest.model_validate_json(job["request"]),
        prompts=options.prompts,
        concurrency=options.concurrency,
    )
    if how.models.in_batches:
        from veritrail_graph.verifier.models.batching import Rounds

        batching = batch_options(options.settings, how.models)
        rounds = Rounds(ledger, shared.spending, batching, options.on_batches)
        shared = replace(shared, rounds=rounds)
    judge = await stack.enter_async_context(configure_judge(options.settings, how, shared))
    _check_settings(job, judge.settings)
    if shared.rounds is not None and judge.models is not None:
        shared.rounds.warn = judge.models.warnings.append
    return judge, shared.rounds


def _in_rounds(rounds: Rounds, observer: Observer) -> Observer:
    """The observer of a run whose walks share rounds."""

    def started(task: Task) -> None:
        rounds.walk_begins(task.verification_id)
        observer.claim_started(task)

    def finished(verification: Verification) -> None:
        observer.claim_finished(verification)
        rounds.walk_ends(verification.verification_id)

    return replace(observer, claim_started=started, claim_finished=finished)


def check_unchanged(job: JobRow, settings: str, process: Process) -> None:
    """See that a job would go on as it began.

    Raises:
        InputError: The settings or the process were changed since.
    """
    _check_settings(job, settings)
    if process.content_hash != job["content_hash"]:
        raise InputError(
            f"Process {process.process_id!r} was replaced since run {job['run_id']} began; "
            "start a new run."
        )


def _check_settings(job: JobRow, settings: str) -> None:
    others = differing(job["settings"], settings)
    if others:
        raise InputError(
            f"Run {job['run_id']} was made with other settings: {'; '.join(others)}. Set them "
            "as they were and resume it, or start a new run."
        )


async def tasks_of(store: Store, process_id: str, claimed: Sequence[JobClaim]) -> list[Task]:
    """Tasks for the claims that are still stored."""
    ids = list(dict.fromkeys(one.claim_id for one in claimed))
    claims = {one.claim_id: one for one in await store.claims.by_id(process_id, ids)}
    nodes: dict[str, NodeRef] = {}
    for node_id in {claim.node_id for claim in claims.values()}:
        nodes[node_id] = (await store.reading.node(process_id, node_id))[0]
    return [
        Task(
            claims[one.claim_id],
            nodes[claims[one.claim_id].node_id],
            one.verification_id,
            one.place,
        )
        for one in claimed
        if one.claim_id in claims
    ]


LINGER_SECONDS = 1.0

_log = logging.getLogger("veritrail.jobs")


_Key = tuple[str, int, bool]
Session = JobSession | AttributionSession | DialogueSession | ExplanationSession


@dataclass(slots=True)
class _Place:
    """A session that is open, or being opened."""

    opening: asyncio.Task[Session]
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    users: int = 0
    closing: asyncio.TimerHandle | None = None
    is_closed: bool = False


class JobSessions:
    """Sessions of one process, all in one event loop.

    Args:
        options: What they have in common.
        repository: The state of their claims.
        log: The events of their jobs.
        worker_id: The worker.
        alive: Names the workers that live.
        linger: How long a session stays open for the next claim of its job.
        observe: Gives the observer of a job.
    """

    def __init__(
        self,
        options: SessionOptions,
        repository: JobRepository,
        log: EventLog,
        worker_id: str,
        alive: Callable[[], list[str]],
        *,
        linger: float = LINGER_SECONDS,
        observe: Callable[[str], Observer] | None = None,
    ) -> None:
        self._linger = linger
        self._observe = observe or (lambda job_id: observer(job_id, log))
        self.limiters = Limiters() if options.shared is None else options.shared.limiters
        self._endpoints = None if options.shared is None else options.shared.endpoints
        self.is_closing = asyncio.Event()
        self._options = options
        self._repository = repository
        self._log = log
        self._worker_id = worker_id
        self._alive = alive
        self._places: dict[_Key, _Place] = {}
        self._leases: dict[str, BudgetLease] = {}
        self._spendings: dict[_Key, JobBudget] = {}
        self._leaving: set[asyncio.Task[None]] = set()

    @property
    def job_ids(self) -> list[str]:
        """The jobs that have a session here."""
        return sorted({job_id for job_id, *_ in self._places})

    @property
    def calls_in_air(self) -> int:
        """Calls to models that are being waited for."""
        return sum(one.in_flight for one in self._spendings.values())

    @asynccontextmanager
    async def enter(
        self,
        job_id: str,
        attempt: int = 1,
        *,
        explains: bool = False,
        job: JobRow | None = None,
    ) -> AsyncIterator[Session]:
        """The session of a job; the first who enters opens it.

        Args:
            job_id: The job.
            attempt: How often what is to be done was taken up; it may be done under other limits
                than before, and has a session of its own.
            explains: Whether the verdicts of the job are explained, and none is given.
            job: The row of the job, where it was read just now; None: it is read.

        Raises:
            InputError: It cannot be opened.
            EngineError: The graph did not answer for too long.
        """
        # One session a job where none lingers.
        key = (job_id, attempt if self._linger else 0, explains)
        place = self._places.get(key)
        if place is None:
            stack = AsyncExitStack()
            place = _Place(asyncio.create_task(self._open(key, stack, job)), stack)
            self._places[key] = place
        if place.closing is not None:
            place.closing.cancel()
            place.closing = None
        place.users += 1
        try:
            yield await asyncio.shield(place.opening)
        finally:
            place.users -= 1
            self._left(key, place)

    async def cancel_batches(self, job_id: str) -> list[BatchRecord]:
        """Ask the endpoints to end the batches of a job that has no session.

        Its process may have been replaced or removed: nothing is asked of the graph.

        Raises:
            InputError: The job makes no batches, or its settings were others.
        """
        job = await self._repository.read(partial(reading.job_of, job_id=job_id))
        if job is None:
            raise NotFound(f"job {job_id!r} was removed")
        rounds = None
        async with AsyncExitStack() as stack:
            if kind_of(job["header"]) is JobKind.VERIFICATION:
                shared = Shared(await self._spending(job), self.limiters, job["key_id"])
                ledger = JobBatches(self._repository, job_id)
                _, rounds = await _open_judge(self._options, job, shared, stack, ledger)
            if rounds is None:
                raise InputError(
                    f"Run {job['run_id']} makes no batches.", code="run_without_batches"
                )
            stack.push_async_callback(rounds.close)
            return await rounds.cancel()

    def stop(self, job_id: str, why: str, *, ends_batches: bool = False) -> None:
        """End what is done for a job; the next who enters opens another session.

        Args:
            job_id: The job.
            why: The reason.
            ends_batches: Whether its batches end at their endpoints.
        """
        for key in [key for key in self._places if key[0] == job_id]:
            self._stop(key, self._places.pop(key), why, ends_batches)

    def _stop(self, key: _Key, place: _Place, why: str, ends_batches: bool) -> None:
        if place.opening.done() and not place.opening.cancelled():
            if place.opening.exception() is None:
                session = place.opening.result()
                session.stop(why)
                if ends_batches and isinstance(session, JobSession):
                    session.end_batches()
        else:
            place.opening.cancel()
        self._left(key, place)

    async def tell(self) -> None:
        """Tell the other workers what was spent."""
        for lease in list(self._leases.values()):
            await lease.tell()

    async def close(self) -> None:
        """Close every session, also those in use."""
        for key, place in list(self._places.items()):
            del self._places[key]
            if place.closing is not None:  # else it would begin after the event loop has ended
                place.closing.cancel()
            place.opening.cancel()
            await self._close(key, place)
        while self._leaving:
            await asyncio.wait(self._leaving)

    def _left(self, key: _Key, place: _Place) -> None:
        if place.users or place.closing is not None or place.is_closed:
            return
        is_open = self._places.get(key) is place and _is_open(place)
        wait = self._linger if is_open else 0.0
        loop = asyncio.get_running_loop()
        place.closing = loop.call_later(wait, self._begin_to_close, key, place)

    def _begin_to_close(self, key: _Key, place: _Place) -> None:
        if self._places.get(key) is place:
            del self._places[key]
        task = asyncio.create_task(self._close(key, place))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _close(self, key: _Key, place: _Place) -> None:
        place.is_closed = True
        with suppress(Exception):  # it was raised in those who waited to enter
            await asyncio.wait([place.opening])
            await place.stack.aclose()
        if key not in self._places:
            self._spendings.pop(key, None)

    async def _open(self, key: _Key, stack: AsyncExitStack, job: JobRow | None) -> Session:
        job_id = key[0]
        if job is None:
            job = await self._repository.read(partial(reading.job_of, job_id=job_id))
        if job is None:
            raise NotFound(f"job {job_id!r} was removed")
        spending = await self._spending(job)
        shared = Shared(spending, self.limiters, job["key_id"], endpoints=self._endpoints)
        session: Session
        kind, log = kind_of(job["header"]), self._log
        if kind is JobKind.DIALOGUE:
            session = await DialogueSession.open(self._options, job, shared, stack, log)
            await self.learn(session)
            warnings = session.warnings
        elif key[2] or kind is JobKind.ATTRIBUTION:
            made = ExplanationSession if key[2] else AttributionSession
            note = partial(self._note_unjudged, job_id)
            session = await made.open(self._options, job, shared, stack, log, note)
            await self.learn(session)
            warnings = session.warnings
        else:
            ledger = JobBatches(self._repository, job_id)
            session = await JobSession.open(self._options, job, shared, stack, ledger)
            if job["is_extracted"]:  # else it has no claims yet
                await self.learn(session)
            session.begin(self._observe(job_id))
            warnings = session.judge.models.warnings if session.judge.models is not None else ()
        if not (isinstance(session, JobSession) and session.rounds is not None):
            self._spendings[key] = spending  # batches go on, and are not waited for at a shutdown
        for warning in warnings:
            _log.warning("%s", warning)
        return session

    async def _note_unjudged(self, job_id: str, number: int) -> None:
        await self._repository.run(
            lambda connection: changes.note_unjudged(connection, job_id, number)
        )

    async def learn(self, session: Session) -> None:
        """Let a session know the claims of its job that are open."""
        await session.learn(
            await self._repository.read(
                lambda connection: reading.open_claims(connection, session.job_id)
            )
        )

    async def _spending(self, job: JobRow) -> JobBudget:
        """Return what a job may spend here: of its own budget, and of that of its key."""
        request = json.loads(job["request"])
        budget, calls = request["budget_usd"], request["max_calls"]
        wanted: list[tuple[str, Limit, str]] = []
        if budget is not None or calls is not None:
            limit = Limit(budget, calls)
            wanted.append((budget_of_job(job["job_id"]), limit, "the job"))
        if job["key_budget"] is not None:
            limit = Limit(job["key_budget"])
            wanted.append((budget_of_key(job["key_id"]), limit, "the key"))
        leases = []
        for budget_id, limit, whose in wanted:
            if budget_id not in self._leases:
                self._leases[budget_id] = BudgetLease(
                    budget_id, self._worker_id, limit, self._repository.run, self._alive, whose
                )
            await self._leases[budget_id].open(limit)
            leases.append(self._leases[budget_id])
        shared = self._options.shared
        common = None if shared is None else shared.spending
        return JobBudget(tuple(leases), self.is_closing, common)


def _is_open(place: _Place) -> bool:
    opening = place.opening
    return not opening.done() or not (opening.cancelled() or opening.exception())
