"""Submitting a job: which claims, what it may cost, and that the same is not begun twice.

Submitting waits for the graph, so that a request that names what is not there is refused at once.
The job is then a row in the database, and all work for it is found from there, whichever process
is killed after that.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from veritrail_graph.api.auth.access import Caller
from veritrail_graph.api.auth.database import NotWritable, ServiceDatabase
from veritrail_graph.api.configured.attribution import (
    AttributeOptions,
    configure_attribution,
    explaining,
)
from veritrail_graph.api.configured.dialogue import DialogueOptions, configure_dialogue
from veritrail_graph.api.configured.judge import ConfiguredJudge
from veritrail_graph.api.jobs.chosen import chosen, claim_rows, sentence_rows, turn_rows
from veritrail_graph.api.jobs.earlier import version_for
from veritrail_graph.api.jobs.model import (
    OtherInput,
    Version,
    explanation_row,
    job_id_of,
    run_id_of,
)
from veritrail_graph.api.jobs.repeating import is_known_void
from veritrail_graph.api.jobs.storage import (
    AlreadySubmitted,
    JobRow,
    Transaction,
    changes,
    reading,
)
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.api.jobs.storage.leases import budget_of_key, used_of
from veritrail_graph.api.jobs.unmade import header_of
from veritrail_graph.api.requests.attribute import MAX_NODES, MAX_SENTENCES, AttributeRequest
from veritrail_graph.api.requests.dialogue import DialogueRequest
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.settings import Settings
from veritrail_graph.api.work.dialogue import asking, check_turns, dialogue_text, wanted_turns
from veritrail_graph.api.work.sentences import selected_sentences
from veritrail_graph.api.work.stated import lacks_claims
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.judge_mode import judge_mode_of_settings
from veritrail_graph.graph.model import Process
from veritrail_graph.graph.model.job import Job, JobKind, JobStatus
from veritrail_graph.graph.model.run import JudgeMode

if TYPE_CHECKING:
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.graph.importers.records import ClaimRecord
    from veritrail_graph.graph.store import Store

T = TypeVar("T")

JobRequest = VerifyRequest | AttributeRequest | DialogueRequest
"""What a job may be asked to do."""


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """A job that the process which submits it carries out itself.

    Attributes:
        records: The claims that are given; None: those of the request.
        prompts: A folder of the user's own prompts.
        concurrency: Concurrent calls, or claims at a time of an engine without models.
        shared: What it shares with other jobs of this process: what all of them may spend, and
            the slots of the endpoints; None: nothing.
        is_attended: Whether somebody waits for its sentences or turns: they may be any number,
            and where the endpoint refuses every call each of them says so.
        run_id: The run that it goes on with, of which no job is known; None: it has a new one.
        process: The process, where it was read just now; None: it is read.
    """

    records: Sequence[ClaimRecord] | None = None
    prompts: Path | str | None = None
    concurrency: int | None = None
    shared: Shared | None = None
    is_attended: bool = False
    run_id: str | None = None
    process: Process | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a job, before it is submitted.

    Attributes:
        asking: How its judge would be asked.
        since: The earlier version from which it would keep verdicts; None: from none.
    """

    asking: JudgeMode
    since: Version | None


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
        request: JobRequest,
        idempotency_key: str | None = None,
        *,
        is_local: bool = False,
    ) -> tuple[Job, bool]:
        """Submit a job; the answer says, too, whether it is new.

        Args:
            opened: Gives the graph.
            caller: Who submits it.
            request: What is asked for.
            idempotency_key: Who submits the same again under it is given the same job, if not void.
            is_local: Whether this process carries it out, and no worker.

        Raises:
            InputError: It cannot be done as it was asked for; nothing was submitted.
            OtherInput: Something else was submitted under the key.
            EngineUnavailable: The graph or the database does not answer.
        """
        if isinstance(request, VerifyRequest):
            request.claim_records()  # what breaks rules may be no text that can be hashed
        key_id = caller.key_id or ""
        input_hash = _hash_of(request)
        earlier: Job | None = None
        if idempotency_key is not None:
            earlier = await self._earlier(key_id, idempotency_key, input_hash)
            if earlier is not None and not await is_known_void(opened, earlier):
                return earlier, False
        await self._check_budget(caller, request)
        job = _new_job(caller, request, idempotency_key, input_hash, is_local=is_local)
        rows = await self._fill(opened, caller, request, job, LocalOptions())
        try:
            return await self._keep(job, rows, earlier), True
        except AlreadySubmitted:  # somebody submitted it at the same time
            if idempotency_key is None:
                raise
            earlier = await self._earlier(key_id, idempotency_key, input_hash)
            if earlier is None:
                raise
            return earlier, False

    async def submit_here(
        self,
        opened: Callable[[], Awaitable[Store]],
        caller: Caller,
        request: JobRequest,
        here: LocalOptions,
    ) -> JobRow:
        """Submit a job that this process carries out itself; gives its row.

        Args:
            opened: Gives the graph.
            caller: Who submits it.
            request: What is asked for.
            here: What no request can name.

        Raises:
            InputError: It cannot be done as it was asked for; nothing was submitted.
            EngineUnavailable: The graph or the database does not answer.
        """
        if isinstance(request, VerifyRequest) and here.records is None:
            request.claim_records()  # what breaks rules may be no text that can be hashed
        await self._check_budget(caller, request)
        job = _new_job(caller, request, None, _hash_of(request), is_local=True)
        if here.run_id is not None:
            job |= {"job_id": job_id_of(here.run_id), "run_id": here.run_id}
        rows = await self._fill(opened, caller, request, job, here)

        def keep(connection: Transaction) -> JobRow:
            changes.insert(connection, job, rows, self._log)
            kept = reading.job_of(connection, job["job_id"])
            assert kept is not None  # noqa: S101  # it was inserted just now
            if not kept["is_extracted"]:  # its claims are extracted at once
                changes.start(connection, kept, self._log)
            return kept

        return await self._kept(keep, is_local=True)

    async def plan(
        self, opened: Callable[[], Awaitable[Store]], caller: Caller, request: VerifyRequest
    ) -> Plan:
        """Return what a job would be, apart from its claims.

        What would be refused is, nothing is kept.

        Args:
            opened: Gives the graph.
            caller: Who would submit it.
            request: What is asked for.

        Raises:
            InputError: It cannot be done as it was asked for.
            EngineUnavailable: The graph or the database does not answer.
        """
        await self._check_budget(caller, request)
        async with self._ready(opened, caller, request, LocalOptions()) as (judge, since):
            await _extracted(opened, judge, request, LocalOptions())
            return Plan(judge_mode_of_settings(judge.settings), since)

    async def _fill(
        self,
        opened: Callable[[], Awaitable[Store]],
        caller: Caller,
        request: JobRequest,
        job: dict[str, Any],
        here: LocalOptions,
    ) -> list[dict[str, Any]]:
        """Set what the graph and the models say of a new job; gives the rows of its claims."""
        if isinstance(request, AttributeRequest):
            return await self._sentences(opened, caller, request, job, here)
        if isinstance(request, DialogueRequest):
            return await self._turns(opened, caller, request, job, here)
        return await self._claims(opened, caller, request, job, here)

    async def _claims(
        self,
        opened: Callable[[], Awaitable[Store]],
        caller: Caller,
        request: VerifyRequest,
        job: dict[str, Any],
        here: LocalOptions,
    ) -> list[dict[str, Any]]:
        """Return the rows of the claims of a job; those of an extraction come later."""
        last = [explanation_row()] if request.explain else []
        async with self._ready(opened, caller, request, here) as (judge, since):
            job |= {"settings": judge.settings, "header": header_of(judge, since)}
            process = await _extracted(opened, judge, request, here)
            if process is not None:
                request = request.model_copy(update={"extract": True})
                job |= {"request": request.to_json(), "is_extracted": False}
                job["content_hash"] = process.content_hash
                return last
            store = await opened()
            found = await chosen(
                store,
                judge,
                request,
                here.process,
                records=here.records,
                in_flight=await self._in_flight(request),
            )
        job["content_hash"] = found.process.content_hash
        return [*claim_rows(found), *last]

    @asynccontextmanager
    async def _ready(
        self,
        opened: Callable[[], Awaitable[Store]],
        caller: Caller,
        request: VerifyRequest,
        here: LocalOptions,
    ) -> AsyncIterator[tuple[ConfiguredJudge, Version | None]]:
        """The judge of a job, and the earlier version from which it keeps verdicts.

        Raises:
            InputError: The settings, or claims that are taken from a text, cannot be.
        """
        from veritrail_graph.api.configured.judge import configure_judge, judge_options

        _check_batch(request)
        options = judge_options(
            self._settings, request, prompts=here.prompts, concurrency=here.concurrency
        )
        shared = _shared(caller, request, here.shared)
        async with AsyncExitStack() as stack:
            judge = here.shared.judge if here.shared is not None else None
            if judge is None or judge.how != options:
                made = configure_judge(self._settings, options, shared)
                judge = await stack.enter_async_context(made)
            if request.explain:  # an engine that cannot do so is refused before anything is paid
                how = explaining(judge.how)
                async with configure_attribution(self._settings, how, shared):
                    pass
            if request.extract and not judge.can_extract:
                raise InputError(
                    "Extracting claims needs a language model, and engine "
                    f"{judge.how.engine} asks none.",
                    code="extraction_needs_model",
                    engine=judge.how.engine,
                )
            yield judge, await version_for(opened, request, _new_claims(request))

    async def _sentences(
        self,
        opened: Callable[[], Awaitable[Store]],
        caller: Caller,
        request: AttributeRequest,
        job: dict[str, Any],
        here: LocalOptions,
    ) -> list[dict[str, Any]]:
        """Return the rows of the sentences that a job attributes."""
        options = AttributeOptions(request, here.prompts, here.concurrency)
        shared = _shared(caller, request)
        async with configure_attribution(self._settings, options, shared) as made:
            store = await opened()
            process = await store.processes.get(request.process_id)
            is_of_terminals = not (request.node_ids or request.is_of_claims or here.is_attended)
            if is_of_terminals and len(process.terminals) > MAX_NODES:
                raise InputError(
                    f"Process {process.process_id!r} has {len(process.terminals):,} terminals; a "
                    f"job attributes at most {MAX_NODES:,} nodes. Name some.",
                    code="too_many_nodes",
                    most=MAX_NODES,
                )
            selected = await selected_sentences(store, process, request, made.splitter)
            attributor = made.steps.attributor
            header = {
                "kind": JobKind.ATTRIBUTION.value,
                "engine": made.engine,
                "model": attributor.model,
                "indicative": attributor.indicative,
                "nodes": list(selected.only),
                "left_out": [one.json_object() for one in selected.left_out],
            }
        job |= {"settings": made.settings, "header": json.dumps(header)}
        job["content_hash"] = process.content_hash
        most = None if here.is_attended else MAX_SENTENCES
        return sentence_rows(list(selected.only.values()), most)

    async def _turns(
        self,
        opened: Callable[[], Awaitable[Store]],
        caller: Caller,
        request: DialogueRequest,
        job: dict[str, Any],
        here: LocalOptions,
    ) -> list[dict[str, Any]]:
        """Return the rows of the turns of a dialogue that a job verifies."""
        options = DialogueOptions(request, here.prompts, here.concurrency)
        shared = _shared(caller, request)
        async with configure_dialogue(self._settings, options, shared) as made:
            store = await opened()
            text = await dialogue_text(
                asking(store), store.reading, request.dialogue_id, made.splitter
            )
            check_turns(text, request.turn_ids)
            turns = wanted_turns(text, request.turn_ids)
            header = {
                "kind": JobKind.DIALOGUE.value,
                "engine": made.judge.name,
                "model": made.judge.model,
                "indicative": made.judge.indicative,
                "turns": turns,
            }
        job |= {"settings": made.settings, "header": json.dumps(header)}
        job["content_hash"] = text.process.content_hash
        return turn_rows(len(turns))

    async def _in_flight(self, request: VerifyRequest) -> set[str]:
        """Claims of the process whose verification has not ended, where that matters."""
        if not request.retry_failed:
            return set()
        try:
            found = await self._service.read(
                lambda one: reading.claims_by_job(one, process_ids=[request.process_id])
            )
        except NotWritable:
            return set()
        return {claim.claim_id for _, claims in found for claim in claims}

    async def _keep(
        self, job: dict[str, Any], rows: Sequence[dict[str, Any]], void: Job | None
    ) -> Job:
        """Keep a job; the key of a void one goes over to it."""

        def keep(connection: Transaction) -> Job:
            if void is not None:
                changes.release_key(connection, void.job_id)
            changes.insert(connection, job, rows, self._log)
            return reading.found_jobs(connection, [job["job_id"]])[0]

        return await self._kept(keep, is_local=job["is_local"])

    async def _kept(self, keep: Callable[[Transaction], T], *, is_local: bool) -> T:
        """Keep a job; one of this process is worked on even where the home cannot be written."""
        try:
            return await self._service.run(keep)
        except NotWritable as error:
            if not is_local:
                raise
            try:
                self._service.use_temporary()
            except OSError:
                raise error from None
        return await self._service.run(keep)

    async def _earlier(self, key_id: str, idempotency_key: str, input_hash: str) -> Job | None:
        found = await self._service.read(
            lambda one: changes.with_idempotency_key(one, key_id, idempotency_key)
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

    async def _check_budget(self, caller: Caller, request: JobRequest) -> None:
        if caller.budget_usd is None or caller.key_id is None:
            return
        if request.price is not None:
            raise InputError(
                "A key with a budget may not say what a model costs; leave `price` out."
            )
        lease = budget_of_key(caller.key_id)
        spent, _ = await self._service.read(lambda one: used_of(one, lease))
        if spent >= caller.budget_usd:
            raise InputError(
                f"The budget of the key {caller.name!r} ({caller.budget_usd:g} USD) is used up."
            )


def _check_batch(request: VerifyRequest) -> None:
    """See that what is said of batches is said of a run that makes some.

    Raises:
        InputError: Calls are made live.
    """
    is_said = request.batch_finish != "wait" or request.batch_price_factor is not None
    if request.mode == "live" and is_said:
        raise InputError(
            "How batches end and what part of the price they cost is of use only where calls are "
            "made in batches; this run makes them live.",
            code="batch_options",
        )


def _new_claims(request: VerifyRequest) -> set[str] | None:
    """claim_ids that the process is about to get; None: that is not known yet."""
    if request.extract:
        return None
    objects = [one for one in request.claims or () if isinstance(one, dict)]
    return {str(one["claim_id"]) for one in objects if "claim_id" in one}


def _shared(caller: Caller, request: JobRequest, here: Shared | None = None) -> Shared:
    """Say what a job may spend while it is submitted; the budget of a key is instead of its own."""
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.verifier.models.retrying import Spending

    limit = request.budget_usd if caller.budget_usd is None else caller.budget_usd
    return Shared(Spending(limit, request.max_calls), endpoints=here.endpoints if here else None)


def _hash_of(request: JobRequest) -> str:
    return hashlib.sha256(request.to_json().encode()).hexdigest()


def _new_job(
    caller: Caller,
    request: JobRequest,
    idempotency_key: str | None,
    input_hash: str,
    *,
    is_local: bool = False,
) -> dict[str, Any]:
    """The row of a new job, without what the graph and the models say."""
    job_id = f"j-{uuid.uuid4().hex}"
    return {
        "job_id": job_id,
        "run_id": run_id_of(job_id),
        "process_id": request.process_id,
        "status": JobStatus.QUEUED.value,
        "key_id": caller.key_id or "",
        "name": caller.name,
        "key_budget": caller.budget_usd,
        "idempotency_key": idempotency_key,
        "input_hash": input_hash,
        "request": request.to_json(),
        "is_extracted": not (isinstance(request, VerifyRequest) and request.extract),
        "is_local": is_local,
        "is_cancelled": False,
        "created_at": now(),
    }


async def _extracted(
    opened: Callable[[], Awaitable[Store]],
    judge: ConfiguredJudge,
    request: VerifyRequest,
    here: LocalOptions,
) -> Process | None:
    """The process from which a model extracts claims, as it is asked to or as there are none.

    Raises:
        InputError: There is no such process or node, or the node is a root.
    """
    from veritrail_graph.api.work.extraction import extractable_node

    is_given = here.records or request.names_claims or request.retry_failed
    if not request.extract and (not judge.can_extract or is_given):
        return None
    store = await opened()
    process = here.process or await store.processes.get(request.process_id)
    if not request.extract and not await lacks_claims(store, process, request.node_id):
        return None
    await extractable_node(store, process, request.node_id)
    return process
