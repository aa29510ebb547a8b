"""Carrying work out: claims, sentences, turns, claims to extract, verdicts to explain.

All of it may run twice.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.jobs.attribution_session import AttributionSession
from veritrail_graph.api.jobs.chosen import chosen, claim_rows
from veritrail_graph.api.jobs.dialogue_session import DialogueSession
from veritrail_graph.api.jobs.events import claim_finished, sentence_finished, turn_finished
from veritrail_graph.api.jobs.explanation_session import Explanation, ExplanationSession
from veritrail_graph.api.jobs.model import (
    Ended,
    EventKind,
    Work,
    goes_whole,
    is_explanation,
    kind_of,
)
from veritrail_graph.api.jobs.sessions import JobSession, JobSessions, Session
from veritrail_graph.api.jobs.storage import JobRow, Transaction, changes
from veritrail_graph.api.jobs.storage.changes import CANCELLED
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.api.jobs.storage.reading import (
    claims_by_job,
    job_of,
    next_turn,
    succeeded_of,
)
from veritrail_graph.api.jobs.storage.repository import JobRepository
from veritrail_graph.api.jobs.storage.works import open_works
from veritrail_graph.api.jobs.unmade import Ender, write_ends
from veritrail_graph.api.jobs.waiting_graph import WaitingGraph
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.graph.errors import EngineError, InputError, VeriTrailError
from veritrail_graph.graph.model import Status, Usage, Verification
from veritrail_graph.graph.model.attribution import SentenceAttribution
from veritrail_graph.graph.model.job import OPEN, JobKind, JobStatus
from veritrail_graph.verifier.models.port import Meter

if TYPE_CHECKING:
    from veritrail_graph.api.work.extraction import ExtractionReport

_log = logging.getLogger("veritrail.jobs")

_INTERNAL = "internal error ({}); please report it"


class Runner:
    """Does one thing after the other; everything here may be done twice.

    Args:
        sessions: The open sessions.
        repository: The state of claims.
        log: The events.
        graph: The graph.
        on_sentence: Called with how many sentences were looked at for claims, and how many
            there are.
        on_answer: Called with the usage of each call of an extraction.
        on_explained: Called with how many sentences of an explanation have ended, and how many
            there are.
        on_extracted: Called in the transaction that adds the claims of an extraction to a job.
        gives_up: Whether the rest of a job ends at once where the endpoint refuses every call;
            else each of its parts says so itself, which costs no call either.

    Attributes:
        extractions: Reports of extractions by job_id.
        explanations: What came of explanations, by job_id; in place of one that could not be
            begun its fault.
        faults: What ended a job for all of its claims, by job_id.
        giving_up: Jobs that are given up at the moment, with how often.
    """

    def __init__(
        self,
        sessions: JobSessions,
        repository: JobRepository,
        log: EventLog,
        graph: WaitingGraph,
        *,
        on_sentence: Callable[[int, int], None] = lambda _done, _total: None,
        on_answer: Callable[[Usage], None] = lambda _usage: None,
        on_explained: Callable[[int, int], None] = lambda _done, _total: None,
        on_extracted: Callable[[Transaction], None] = lambda _connection: None,
        gives_up: bool = True,
    ) -> None:
        self._on_extracted = on_extracted
        self._gives_up = gives_up
        self.explanations: dict[str, Explanation | VeriTrailError] = {}
        self._on_explained = on_explained
        self.extractions: dict[str, ExtractionReport] = {}
        self.faults: dict[str, VeriTrailError] = {}
        self.giving_up: Counter[str] = Counter()
        self._on_sentence = on_sentence
        self._on_answer = on_answer
        self._sessions = sessions
        self._repository = repository
        self._log = log
        self._graph = graph
        self._ender = Ender(graph.ask, repository.read, repository.run, log)
        self._extracting: dict[str, asyncio.Task[ExtractionReport]] = {}
        self._doing: set[asyncio.Task[Any]] = set()

    async def do(self, work: Work) -> None:
        """Do what the engine gave us."""
        if self._sessions.is_closing.is_set():
            await asyncio.Event().wait()  # it stays begun, and is done elsewhere
        task = asyncio.current_task()
        if task is not None:
            self._doing.add(task)
            task.add_done_callback(self._doing.discard)
        if work.verification_id:
            await self._claim(work)
            return
        job = await self._repository.read(partial(job_of, job_id=work.job_id))
        if job is not None and kind_of(job["header"]) is JobKind.DIALOGUE:
            await self._turns(work)
        elif job is not None and goes_whole(job["request"]) and not job["is_local"]:
            await self._whole(work)
        else:
            await self.take_claims(work)

    async def hand_back(self) -> None:
        """Give up everything that is being done; the engine has it done again elsewhere."""
        doing = list(self._doing)
        for task in doing:
            task.cancel()
        if doing:
            await asyncio.wait(doing)

    def stop(self, job_id: str, why: str, ends_batches: bool = False) -> None:
        """End what runs of a job.

        Args:
            job_id: The job.
            why: The reason.
            ends_batches: Whether its batches end at their endpoints, as nobody will read them.
        """
        self._sessions.stop(job_id, why, ends_batches=ends_batches)
        if job_id in self._extracting:
            self._extracting[job_id].cancel()

    async def give_up(
        self, job_id: str, status: Status, why: str, *, ends_batches: bool = False
    ) -> None:
        """End a job for a reason that holds for all of its claims."""
        self.giving_up += Counter([job_id])
        try:
            await self._repository.run(
                lambda connection: changes.note_error(connection, job_id, why, self._log)
            )
            self.stop(job_id, why, ends_batches)
            await self._ender.end_queued(job_id, status, f"not begun: {why}")
        finally:
            self.giving_up -= Counter([job_id])

    async def _turns(self, work: Work) -> None:
        """Verify what is left of the turns of a dialogue, one after the other."""
        found = await self._repository.read(partial(next_turn, work=work))
        while found is not None and await self._claim(found[0]):
            found = await self._repository.read(partial(next_turn, work=work))
            if found is not None and found[1]:  # another worker does them, as it takes us for dead
                return

    async def _whole(self, work: Work) -> None:
        """Verify what is left of the claims of a job, all at a time: they wait for one another."""
        await self.take_claims(work)  # unless that is done
        job = await self._repository.read(partial(job_of, job_id=work.job_id))
        if job is None or job["attempt"] != work.attempt:
            return
        works = await self._repository.read(partial(open_works, job_id=work.job_id))
        claims = [one for one in works if not is_explanation(one.verification_id)]
        await asyncio.gather(*map(self._claim, claims))

    async def _claim(self, begun: Work) -> bool:
        """Do a claim, a sentence or a turn; False: it was not ours, or was stopped."""
        is_mine, why = await self._repository.begin(begun)
        if not is_mine:
            return False
        if why is not None:
            await self._repository.finish(await self._unmade(begun, why))
            return True
        explains = is_explanation(begun.verification_id)
        try:
            ended = await self._ended(begun, explains=explains)
        except InputError as error:  # it cannot be begun, nor can any other of the job
            if not explains:
                await self.give_up(begun.job_id, Status.FAILED, str(error))
            ended = await self._unmade(begun, str(error))
        except EngineError as error:  # the graph cannot say so either
            ended = _without_verdict(begun, str(error))
        except VeriTrailError as error:
            ended = await self._unmade(begun, str(error))
        except asyncio.CancelledError:
            if not self._was_stopped(begun):
                raise
            ended = await self._unmade(begun, CANCELLED, Status.CANCELLED)
        except Exception as error:  # noqa: BLE001  # one claim must not end the worker
            _log.exception("claim %s of job %s failed", begun.verification_id, begun.job_id)
            fault = _INTERNAL.format(f"{type(error).__name__}: {error}")
            ended = await self._unmade(begun, fault)
        await self._repository.finish(ended)
        return ended.status is not Status.CANCELLED

    async def _ended(self, begun: Work, *, explains: bool) -> Ended:
        """Do it in the session of its job.

        Raises:
            VeriTrailError: It cannot be done.
        """
        try:
            async with self._sessions.enter(
                begun.job_id, begun.attempt, explains=explains
            ) as session:
                if not session.knows(begun.verification_id):
                    await self._sessions.learn(session)
                if isinstance(session, AttributionSession):
                    return await self._attributed(begun, session)
                if isinstance(session, DialogueSession):
                    return await self._turn(begun, session)
                if isinstance(session, ExplanationSession):
                    return await self._explained(begun, session)
                return await self._verified(begun, session)
        except VeriTrailError as error:
            if explains:
                self.explanations[begun.job_id] = error
            raise

    async def _unmade(self, begun: Work, why: str, status: Status = Status.FAILED) -> Ended:
        """The end of a claim that was not verified, once the graph has it."""
        found = await self._repository.read(
            lambda one: claims_by_job(one, verification_ids=[begun.verification_id])
        )
        for job, claims in found:
            await write_ends(self._graph.ask, job, claims, status, why)
        return _without_verdict(begun, why, status)

    def _was_stopped(self, begun: Work) -> bool:
        """Return whether a session was stopped while it was being opened, and not we ourselves."""
        task = asyncio.current_task()
        return not self._sessions.is_closing.is_set() and not (task and task.cancelling())

    async def _verified(self, begun: Work, session: JobSession) -> Ended:
        if not session.knows(begun.verification_id):
            return removed_claim(begun)
        verification = await session.verify(begun.verification_id)
        await self._see_rest(begun, session, verification.status)
        return ended_claim(begun, verification, session.stopped_for)

    async def _attributed(self, begun: Work, session: AttributionSession) -> Ended:
        if not session.knows(begun.verification_id):
            return _without_verdict(begun, "it is no sentence of the job")
        found, usage = await session.attribute(begun.verification_id)
        await self._see_rest(begun, session, found.status)
        event = sentence_finished(found, usage)
        return Ended(begun, found.status, found.error, usage, event)

    async def _explained(self, begun: Work, session: ExplanationSession) -> Ended:
        """Explain the verdicts of a job; no fault of it changes one of them."""
        job_id = begun.job_id
        self._log.append(job_id, EventKind.EXPLANATION_STARTED, {"job_id": job_id})
        ids = await self._repository.read(partial(succeeded_of, job_id=job_id))
        total = done = 0

        def begins(sentences: int) -> None:
            nonlocal total
            total = sentences
            self._on_explained(0, total)

        def ended(_sentence: SentenceAttribution) -> None:
            nonlocal done
            done += 1
            self._on_explained(done, total)

        found = self.explanations[job_id] = await session.explain(ids, begins, ended)
        event = {
            "status": found.status.value,
            "sentences": found.counts,
            "error": found.error,
            "usage": found.usage.json_object(),
        }
        return Ended(begun, found.status, found.error, found.usage, event)

    async def _turn(self, begun: Work, session: DialogueSession) -> Ended:
        if not session.knows(begun.verification_id):
            return _without_verdict(begun, "it is no turn of the job")
        found, usage = await session.verify(begun.verification_id)
        if session.refusal is None and session.fault is not None:
            # No turn may be verified behind one that is not stored.
            reason = await self._is_gone(session) or f"a turn was not stored: {session.fault}"
            await self.give_up(begun.job_id, Status.FAILED, reason)
            found = found.replace(status=Status.FAILED, error=str(session.fault))
        else:
            await self._see_rest(begun, session, found.status)
        return Ended(begun, found.status, found.error, usage, turn_finished(found, usage))

    async def _see_rest(self, begun: Work, session: Session, status: Status) -> None:
        """Give the rest of a job up where what ended with a status shows that none can succeed."""
        if session.refusal is not None:
            if self._gives_up:
                await self.give_up(begun.job_id, Status.CANCELLED, session.refusal)
        elif status is Status.FAILED and (why := await self._is_gone(session)):
            await self.give_up(begun.job_id, Status.FAILED, why, ends_batches=True)

    async def _is_gone(self, session: Session) -> str | None:
        """Return why nothing of a job can be verified any more: its process is not what it was."""
        name = session.process.process_id
        try:
            now = await self._graph.ask(lambda store: store.processes.get(name))
        except InputError as error:
            return str(error)
        if now.content_hash != session.process.content_hash:
            return f"process {name!r} was replaced since the job was submitted"
        return None

    async def take_claims(self, work: Work, job: JobRow | None = None) -> None:
        """Extract the claims of a job; a fault of it is in `faults`.

        Args:
            work: The extraction.
            job: The job, where it was begun just now; None: it is begun.
        """
        if job is None:
            job = await self._repository.run(
                lambda connection: self._begin_extraction(connection, work)
            )
        if job is None:
            return
        try:
            async with self._sessions.enter(work.job_id, work.attempt, job=job) as session:
                if isinstance(session, JobSession):  # only those have claims to extract
                    await self._extract(job, session)
        except VeriTrailError as error:
            self.faults[work.job_id] = error
            await self.give_up(work.job_id, Status.FAILED, str(error))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self._sessions.is_closing.is_set() or (task and task.cancelling()):
                raise
            await self._repository.run(
                lambda connection: changes.settle_held(connection, work.job_id, self._log)
            )
        except Exception as error:  # noqa: BLE001  # one claim must not end the worker
            _log.exception("claims of job %s could not be extracted", work.job_id)
            await self.give_up(
                work.job_id, Status.FAILED, _INTERNAL.format(f"{type(error).__name__}: {error}")
            )

    def _begin_extraction(self, connection: Transaction, work: Work) -> JobRow | None:
        job = changes.hold(connection, [work.job_id]).get(work.job_id)
        if job is None or job["is_extracted"] or job["attempt"] != work.attempt:
            return None
        if JobStatus(job["status"]) not in OPEN:
            return None
        if job["is_cancelled"]:
            changes.settle(connection, work.job_id, self._log)
            return None
        changes.start(connection, job, self._log)
        return job

    async def _extract(self, job: JobRow, session: JobSession) -> None:
        """Extract claims, store them, and let them be verified."""
        from veritrail_graph.api.work.extraction import extract_claims

        job_id, request = job["job_id"], VerifyRequest.model_validate_json(job["request"])
        models = session.judge.models
        if models is None:
            raise InputError("no language model is set that could extract claims")
        meter = Meter(self._on_answer)
        self._extracting[job_id] = asyncio.create_task(
            self._graph.ask(
                lambda store: extract_claims(
                    store,
                    session.process,
                    request.node_id,
                    models.steps.claims,
                    session.judge.prompts,
                    session.judge.splitter,
                    meter,
                    on_sentence=self._on_sentence,
                )
            )
        )
        try:
            report = self.extractions[job_id] = await self._extracting[job_id]
            found = await self._graph.ask(
                lambda store: chosen(
                    store,
                    session.judge,
                    request,
                    session.process,
                    report,
                    lambda claim_id: f"v-{uuid.uuid5(_NAMES, f'{job_id}/{claim_id}').hex}",
                )
            )
        except BaseException:
            await self._repository.run(
                lambda connection: changes.charge(connection, job_id, meter.total)
            )
            raise
        finally:
            del self._extracting[job_id]
        rows = claim_rows(found)

        def end(connection: Transaction) -> None:
            changes.end_extraction(connection, job_id, rows, meter.total, self._log)
            self._on_extracted(connection)

        await self._repository.run(end)
        session.know(found.tasks)


_NAMES = uuid.UUID("5f0c8a52-6f4e-4a53-9c0b-2d5a7a1f3c11")
"""Extracting again gives the same claims, and these the same verification_ids."""


def _without_verdict(begun: Work, why: str, status: Status = Status.FAILED) -> Ended:
    event: dict[str, Any] = {
        "verification_id": begun.verification_id,
        "claim_id": None,
        "status": status.value,
        "verdict": None,
        "error": why,
        "usage": Usage().json_object(),
    }
    return Ended(begun, status, why, Usage(), event)


def removed_claim(begun: Work) -> Ended:
    """The end of a claim that is not stored any more."""
    return _without_verdict(begun, "the claim was removed since the job was submitted")


def ended_claim(begun: Work, verification: Verification, stopped_for: str | None) -> Ended:
    """Return how a claim ended, with the reason for which its job was stopped."""
    if verification.status is Status.CANCELLED and stopped_for is not None:
        verification = verification.replace(error=stopped_for)
    event = claim_finished(verification)
    return Ended(begun, verification.status, verification.error, verification.usage, event)
