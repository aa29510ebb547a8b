"""What a worker does with what the engine gives it: a claim to verify, or claims to extract."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from veritrail_graph.api.app.verify_request import VerifyRequest
from veritrail_graph.api.jobs import ledger
from veritrail_graph.api.jobs.books import Books
from veritrail_graph.api.jobs.choosing import chosen, claim_rows
from veritrail_graph.api.jobs.durable import Work
from veritrail_graph.api.jobs.events import EventLog, claim_finished
from veritrail_graph.api.jobs.ledger import CANCELLED, Begun, Ended
from veritrail_graph.api.jobs.model import OPEN, JobStatus
from veritrail_graph.api.jobs.orders import add_claims
from veritrail_graph.api.jobs.rooms import Rooms
from veritrail_graph.api.jobs.tables import jobs
from veritrail_graph.api.jobs.waiting_graph import WaitingGraph
from veritrail_graph.graph.errors import InputError, VeriTrailError
from veritrail_graph.graph.model import Status, Usage, Verification
from veritrail_graph.verifier.models.port import Meter

if TYPE_CHECKING:
    from veritrail_graph.api.extraction import ExtractionReport
    from veritrail_graph.api.jobs.room import Room

_log = logging.getLogger("veritrail.jobs")

_INTERNAL = "internal error ({}); please report it"


class Working:
    """Does one thing after the other; everything here may be done twice.

    Args:
        rooms: The open rooms.
        books: The state of claims.
        log: The events.
        graph: The graph.
    """

    def __init__(self, rooms: Rooms, books: Books, log: EventLog, graph: WaitingGraph) -> None:
        self._rooms = rooms
        self._books = books
        self._log = log
        self._graph = graph
        self._extracting: dict[str, asyncio.Task[ExtractionReport]] = {}
        self._doing: set[asyncio.Task[Any]] = set()

    async def do(self, work: Work) -> None:
        """Do what the engine gave us."""
        if self._rooms.is_closing.is_set():
            await asyncio.Event().wait()  # it stays begun, and is done elsewhere
        task = asyncio.current_task()
        if task is not None:
            self._doing.add(task)
            task.add_done_callback(self._doing.discard)
        if work.verification_id:
            await self._claim(Begun(work.job_id, work.verification_id, work.attempt))
        else:
            await self._extraction(work)

    async def hand_back(self) -> None:
        """Give up everything that is being done; the engine has it done again elsewhere."""
        doing = list(self._doing)
        for task in doing:
            task.cancel()
        if doing:
            await asyncio.wait(doing)

    def stop(self, job_id: str, why: str) -> None:
        """End what runs of a job."""
        self._rooms.stop(job_id, why)
        if job_id in self._extracting:
            self._extracting[job_id].cancel()

    async def _claim(self, begun: Begun) -> None:
        if not await self._books.begin(begun):
            return
        try:
            async with self._rooms.enter(begun.job_id, begun.attempt) as room:
                if not room.knows(begun.verification_id):
                    await self._rooms.learn(room)
                ended = await self._verified(begun, room)
        except InputError as error:  # it cannot be begun, nor can any other of the job
            await self._give_up(begun.job_id, Status.FAILED, str(error))
            ended = _failed(begun, str(error))
        except VeriTrailError as error:
            ended = _failed(begun, str(error))
        except asyncio.CancelledError:
            if not self._was_stopped(begun):
                raise
            ended = _failed(begun, CANCELLED, Status.CANCELLED)
        except Exception as error:  # noqa: BLE001  # one claim must not end the worker
            _log.exception("claim %s of job %s failed", begun.verification_id, begun.job_id)
            ended = _failed(begun, _INTERNAL.format(f"{type(error).__name__}: {error}"))
        await self._books.finish(ended)

    def _was_stopped(self, begun: Begun) -> bool:
        """Whether a room was stopped while it was being opened, and not we ourselves."""
        task = asyncio.current_task()
        return not self._rooms.is_closing.is_set() and not (task and task.cancelling())

    async def _verified(self, begun: Begun, room: Room) -> Ended:
        if not room.knows(begun.verification_id):
            return _failed(begun, "the claim was removed since the job was submitted")
        verification = await room.verify(begun.verification_id)
        if room.refusal is not None:
            await self._give_up(begun.job_id, Status.CANCELLED, room.refusal)
        elif verification.status is Status.FAILED and (why := await self._is_gone(room)):
            await self._give_up(begun.job_id, Status.FAILED, why)
        return _ended(begun, verification, room.stopped_for)

    async def _is_gone(self, room: Room) -> str | None:
        """Why nothing of a job can be verified any more: its process is not what it was."""
        name = room.process.process_id
        try:
            now = await self._graph.ask(lambda store: store.processes.get(name))
        except InputError as error:
            return str(error)
        if now.content_hash != room.process.content_hash:
            return f"process {name!r} was replaced since the job was submitted"
        return None

    async def _give_up(self, job_id: str, status: Status, why: str) -> None:
        """End a job for a reason that holds for all of its claims."""

        def work(connection: Connection) -> None:
            ledger.give_up(connection, job_id, status, f"not begun: {why}", self._log, error=why)

        await self._books.run(work)
        self.stop(job_id, why)

    async def _extraction(self, work: Work) -> None:
        job = await self._books.run(lambda connection: self._begin_extraction(connection, work))
        if job is None:
            return
        try:
            async with self._rooms.enter(work.job_id, work.attempt) as room:
                await self._extract(job, room)
        except VeriTrailError as error:
            await self._give_up(work.job_id, Status.FAILED, str(error))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self._rooms.is_closing.is_set() or (task and task.cancelling()):
                raise
            await self._books.run(lambda connection: _settle(connection, work.job_id, self._log))
        except Exception as error:  # noqa: BLE001  # one claim must not end the worker
            _log.exception("claims of job %s could not be extracted", work.job_id)
            await self._give_up(
                work.job_id, Status.FAILED, _INTERNAL.format(f"{type(error).__name__}: {error}")
            )

    def _begin_extraction(self, connection: Connection, work: Work) -> RowMapping | None:
        job = ledger.hold(connection, [work.job_id]).get(work.job_id)
        if job is None or job["is_extracted"] or job["attempt"] != work.attempt:
            return None
        if JobStatus(job["status"]) not in OPEN:
            return None
        if job["is_cancelled"]:
            ledger.settle(connection, work.job_id, self._log)
            return None
        ledger.start(connection, job, self._log)
        return job

    async def _extract(self, job: RowMapping, room: Room) -> None:
        """Extract claims, store them, and let them be verified."""
        from veritrail_graph.api.extraction import extract_claims

        job_id, request = job["job_id"], VerifyRequest.model_validate_json(job["request"])
        models = room.bench.models
        if models is None:
            raise InputError("no language model is set that could extract claims")
        meter = Meter()
        self._extracting[job_id] = asyncio.create_task(
            self._graph.ask(
                lambda store: extract_claims(
                    store,
                    request.process_id,
                    request.node_id,
                    models.steps.claims,
                    room.bench.prompts,
                    room.bench.splitter,
                    meter,
                )
            )
        )
        try:
            report = await self._extracting[job_id]
            found = await self._graph.ask(
                lambda store: chosen(
                    store,
                    room.bench,
                    request,
                    job["run_id"],
                    [claim.claim_id for claim in report.claims],
                    lambda claim_id: f"v-{uuid.uuid5(_NAMES, f'{job_id}/{claim_id}').hex}",
                )
            )
        finally:
            del self._extracting[job_id]
            await self._books.run(lambda connection: _charge(connection, job_id, meter.total))
        await self._graph.ask(lambda store: store.trails.queue(found.queued))
        rows = claim_rows(found)

        def work(connection: Connection) -> None:
            now = ledger.hold(connection, [job_id]).get(job_id)
            if now is None or now["is_extracted"]:
                return
            add_claims(connection, job_id, now["key_id"], rows)
            connection.execute(
                sa.update(jobs)
                .where(jobs.c.job_id == job_id)
                .values(is_extracted=True, is_enqueued=False, is_queued_in_graph=True)
            )
            if now["is_cancelled"]:
                ledger.give_up(connection, job_id, Status.CANCELLED, CANCELLED, self._log)
            ledger.settle(connection, job_id, self._log)

        await self._books.run(work)


_NAMES = uuid.UUID("5f0c8a52-6f4e-4a53-9c0b-2d5a7a1f3c11")
"""Extracting again gives the same claims, and these the same verification_ids."""


def _settle(connection: Connection, job_id: str, log: EventLog) -> None:
    ledger.hold(connection, [job_id])
    ledger.settle(connection, job_id, log)


def _charge(connection: Connection, job_id: str, usage: Usage) -> None:
    job = ledger.hold(connection, [job_id]).get(job_id)
    if job is None:
        return
    before = Usage(**json.loads(job["usage"])) if job["usage"] else Usage()
    told = json.dumps((before + usage).json_object())
    connection.execute(sa.update(jobs).where(jobs.c.job_id == job_id).values(usage=told))


def _failed(begun: Begun, why: str, status: Status = Status.FAILED) -> Ended:
    event: dict[str, Any] = {
        "verification_id": begun.verification_id,
        "claim_id": None,
        "status": status.value,
        "verdict": None,
        "error": why,
        "usage": Usage().json_object(),
    }
    return Ended(begun, status, why, Usage(), event, is_told=False)


def _ended(begun: Begun, verification: Verification, stopped_for: str | None) -> Ended:
    if verification.status is Status.CANCELLED and stopped_for is not None:
        verification = verification.replace(error=stopped_for)
    event = claim_finished(verification)
    return Ended(begun, verification.status, verification.error, verification.usage, event)
