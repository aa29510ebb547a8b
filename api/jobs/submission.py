"""Submitting a job: which claims, what it may cost, and that the same is not begun twice.

Submitting waits for the graph, so that whoever names what is not there is told at once. The job is
then a row of ours, and everything that has to be done for it is found from there, whoever is
killed after that.
"""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError

from veritrail_graph.api.app.verify_request import VerifyRequest
from veritrail_graph.api.auth.access import Caller
from veritrail_graph.api.auth.database import ServiceDatabase
from veritrail_graph.api.jobs import orders, reading
from veritrail_graph.api.jobs.events import EventLog
from veritrail_graph.api.jobs.model import Job, JobStatus
from veritrail_graph.api.jobs.purse import purse_of_key, spent_of
from veritrail_graph.api.jobs.repeating import is_void
from veritrail_graph.api.jobs.tables import jobs
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import EngineUnavailable, InputError, VeriTrailError

if TYPE_CHECKING:
    from veritrail_graph.api.jobs.choosing import Chosen
    from veritrail_graph.graph.store import Store

_logger = logging.getLogger("veritrail.jobs")


class OtherInput(InputError):
    """Something else was submitted under the same idempotency key."""


class Submission:
    """Takes jobs.

    Args:
        settings: The settings.
        service: The database of the service.
        log: The events of jobs.
    """

    def __init__(self, settings: Settings, service: ServiceDatabase, log: EventLog) -> None:
        self._settings = settings
        self._service = service
        self._log = log

    async def submit(
        self,
        opened: Callable[[], Awaitable[Store]],
        caller: Caller,
        request: VerifyRequest,
        idempotency_key: str | None = None,
    ) -> tuple[Job, bool]:
        """Submit a job; the answer says, too, whether it is new.

        Args:
            opened: Gives the graph.
            caller: Who submits it.
            request: What is asked for.
            idempotency_key: Who submits the same again under it is given the same job, if not void.

        Raises:
            InputError: It cannot be done as it was asked for; nothing was submitted.
            OtherInput: Something else was submitted under the key.
            EngineUnavailable: The graph or the database does not answer.
        """
        request.claim_records()  # what breaks rules may be no text that can be hashed
        key_id = caller.key_id or ""
        input_hash = hashlib.sha256(request.to_json().encode()).hexdigest()
        earlier: Job | None = None
        if idempotency_key is not None:
            earlier = await self._earlier(key_id, idempotency_key, input_hash)
            if earlier is not None and not await _is_void(opened, earlier):
                return earlier, False
        await self._check_budget(caller, request)
        job = _new_job(caller, request, idempotency_key, input_hash)
        try:
            return await self._insert(await opened(), caller, request, job, earlier), True
        except IntegrityError:  # somebody submitted it at the same time
            if idempotency_key is None:
                raise
            earlier = await self._earlier(key_id, idempotency_key, input_hash)
            if earlier is None:
                raise
            return earlier, False

    async def _insert(
        self,
        store: Store,
        caller: Caller,
        request: VerifyRequest,
        job: dict[str, Any],
        void: Job | None,
    ) -> Job:
        from veritrail_graph.api.configured_judge import configure_judge, judge_options
        from veritrail_graph.api.jobs.choosing import chosen, claim_rows
        from veritrail_graph.api.shared import Shared
        from veritrail_graph.verifier.models.retrying import Spending

        limit = request.budget_usd if caller.budget_usd is None else caller.budget_usd
        shared = Shared(Spending(limit, request.max_calls))
        async with configure_judge(
            self._settings, judge_options(self._settings, request), shared
        ) as bench:
            job["settings"] = bench.settings
            if request.extract:
                if bench.models is None:
                    raise InputError(
                        f"`extract` needs a language model, and engine {bench.how.engine} asks "
                        "none; name one with `model`."
                    )
                job["content_hash"] = await _extractable(store, request)
                return await self._service.run(lambda one: self._keep(one, job, None, void))
            found = await chosen(store, bench, request, job["run_id"])
        job["content_hash"] = found.process.content_hash
        job["is_queued_in_graph"] = not found.queued
        rows = claim_rows(found)
        kept = await self._service.run(lambda one: self._keep(one, job, rows, void))
        await self._queue(store, job["job_id"], found)
        return kept

    def _keep(
        self,
        connection: Connection,
        job: dict[str, Any],
        rows: list[dict[str, Any]] | None,
        void: Job | None,
    ) -> Job:
        if void is not None:  # its key goes over to this one
            orders.release_key(connection, void.job_id)
        orders.insert(connection, job, rows or [], self._log)
        return reading.found_jobs(connection, [job["job_id"]])[0]

    async def _queue(self, store: Store, job_id: str, found: Chosen) -> None:
        """Queue the verifications in the graph; where that fails, a worker does it."""

        def queued(connection: Connection) -> None:
            mine = jobs.c.job_id == job_id
            connection.execute(sa.update(jobs).where(mine).values(is_queued_in_graph=True))

        try:
            if found.queued:
                await store.trails.queue(found.queued)
                await self._service.run(queued)
        except VeriTrailError as error:
            _logger.warning("job %s is queued by a worker: %s", job_id, error)

    async def _earlier(self, key_id: str, idempotency_key: str, input_hash: str) -> Job | None:
        found = await self._service.read(
            lambda one: orders.with_idempotency_key(one, key_id, idempotency_key)
        )
        if found is None:
            return None
        job, earlier_hash = found
        if earlier_hash != input_hash:
            raise OtherInput(
                f"Idempotency-Key {idempotency_key!r} was used for another request (job "
                f"{job.job_id}); take a new key for a new request."
            )
        return job

    async def _check_budget(self, caller: Caller, request: VerifyRequest) -> None:
        if caller.budget_usd is None or caller.key_id is None:
            return
        if request.price is not None:
            raise InputError(
                "A key with a budget may not say what a model costs; leave `price` out."
            )
        purse = purse_of_key(caller.key_id)
        spent = await self._service.read(lambda one: spent_of(one, purse))
        if spent >= caller.budget_usd:
            raise InputError(
                f"The budget of the key {caller.name!r} ({caller.budget_usd:g} USD) is used up."
            )


async def _is_void(opened: Callable[[], Awaitable[Store]], job: Job) -> bool:
    """See `repeating.is_void`; where the graph does not answer, the job stands."""
    try:
        return await is_void(await opened(), job)
    except EngineUnavailable:
        return False


def _new_job(
    caller: Caller, request: VerifyRequest, idempotency_key: str | None, input_hash: str
) -> dict[str, Any]:
    """The row of a new job, without what the graph and the models say."""
    number = uuid.uuid4().hex
    return {
        "job_id": f"j-{number}",
        "run_id": f"r-{number}",
        "process_id": request.process_id,
        "status": JobStatus.QUEUED.value,
        "key_id": caller.key_id or "",
        "name": caller.name,
        "key_budget": caller.budget_usd,
        "idempotency_key": idempotency_key,
        "input_hash": input_hash,
        "request": request.to_json(),
        "is_queued_in_graph": True,
        "is_extracted": not request.extract,
        "is_enqueued": False,
        "is_cancelled": False,
        "created_at": now(),
    }


async def _extractable(store: Store, request: VerifyRequest) -> str:
    """The content hash of a process from whose node claims can be extracted.

    Raises:
        InputError: There is no such process or node, or the node is a root.
    """
    from veritrail_graph.api.extraction import extractable_node

    process = await store.processes.get(request.process_id)
    await extractable_node(store, process, request.node_id)
    return process.content_hash
