"""Submitting a job: which claims, what it may cost, and that the same is not begun twice.

Submitting waits for the graph, so that a request that names what is not there is refused at once.
The job is then a row in the database, and all work for it is found from there, whichever process
is killed after that.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.auth.access import Caller
from veritrail_graph.api.auth.database import NotWritable, ServiceDatabase
from veritrail_graph.api.configured.attribution import (
    AttributeOptions,
    configure_attribution,
    explaining,
)
from veritrail_graph.api.configured.dialogue import DialogueOptions, configure_dialogue
from veritrail_graph.api.configured.judge import ConfiguredJudge
from veritrail_graph.api.jobs.earlier import version_for
from veritrail_graph.api.jobs.model import (
    SENTENCE,
    TURN,
    OtherInput,
    Version,
    explanation_row,
    job_id_of,
    run_id_of,
)
from veritrail_graph.api.jobs.repeating import is_known_void
from veritrail_graph.api.jobs.storage import AlreadySubmitted, Transaction, changes, reading
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.api.jobs.storage.leases import budget_of_key, used_of
from veritrail_graph.api.jobs.unmade import header_of
from veritrail_graph.api.requests.attribute import MAX_NODES, MAX_SENTENCES, AttributeRequest
from veritrail_graph.api.requests.dialogue import DialogueRequest
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.settings import Settings
from veritrail_graph.api.work.claims import choose_claims
from veritrail_graph.api.work.dialogue import asking, check_turns, dialogue_text, wanted_turns
from veritrail_graph.api.work.sentences import selected_sentences
from veritrail_graph.api.work.stated import lacks_claims, stated_where_none
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.judge_mode import judge_mode_of_settings
from veritrail_graph.graph.model import Process, Status
from veritrail_graph.graph.model.job import Job, JobKind, JobStatus
from veritrail_graph.graph.model.run import JudgeMode
from veritrail_graph.verifier.driver import Task

if TYPE_CHECKING:
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.graph.importers.records import ClaimRecord
    from veritrail_graph.graph.store import Store

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
    """

    records: Sequence[ClaimRecord] | None = None
    prompts: Path | None = None
    concurrency: int | None = None
    shared: Shared | None = None
    is_attended: bool = False
    run_id: str | None = None


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
        here: LocalOptions | None = None,
    ) -> tuple[Job, bool]:
        """Submit a job; the answer says, too, whether it is new.

        Args:
            opened: Gives the graph.
            caller: Who submits it.
            request: What is asked for.
            idempotency_key: Who submits the same again under it is given the same job, if not void.
            here: Set where this process carries the job out itself.

        Raises:
            InputError: It cannot be done as it was asked for; nothing was submitted.
            OtherInput: Something else was submitted under the key.
            EngineUnavailable: The graph or the database does not answer.
        """
        if isinstance(request, VerifyRequest) and (here is None or here.records is None):
            request.claim_records()  # what breaks rules may be no text that can be hashed
        key_id = caller.key_id or ""
        input_hash = hashlib.sha256(request.to_json().encode()).hexdigest()
        earlier: Job | None = None
        if idempotency_key is not None:
            earlier = await self._earlier(key_id, idempotency_key, input_hash)
            if earlier is not None and not await is_known_void(opened, earlier):
                return earlier, False
        await self._check_budget(caller, request)
        job = _new_job(caller, request, idempotency_key, input_hash)
        job["is_local"] = here is not None
        here = here or LocalOptions()
        if here.run_id is not None:
            job |= {"job_id": job_id_of(here.run_id), "run_id": here.run_id}
        try:
            if isinstance(request, AttributeRequest):
                kept = await self._insert_sentences(opened, caller, request, job, earlier, here)
                return kept, True
            if isinstance(request, DialogueRequest):
                return await self._insert_turns(opened, caller, request, job, earlier, here), True
            return await self._insert(opened, caller, request, job, earlier, here), True
        except AlreadySubmitted:  # somebody submitted it at the same time
            if idempotency_key is None:
                raise
            earlier = await self._earlier(key_id, idempotency_key, input_hash)
            if earlier is None:
                raise
            return earlier, False

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
            await _extracted(opened, judge, request)
            return Plan(judge_mode_of_settings(judge.settings), since)

    async def _insert(
        self,
        opened: Callable[[], Awaitable[Store]],
        caller: Caller,
        request: VerifyRequest,
        job: dict[str, Any],
        void: Job | None,
        here: LocalOptions,
    ) -> Job:
        last = [explanation_row()] if request.explain else []
        async with self._ready(opened, caller, request, here) as (judge, since):
            job |= {"settings": judge.settings, "header": header_of(judge, since)}
            process = await _extracted(opened, judge, request, here.records)
            if process is not None:
                request = request.model_copy(update={"extract": True})
                job |= {"request": request.to_json(), "is_extracted": False}
                job["content_hash"] = process.content_hash
                return await self._keep(job, last, void)
            store = await opened()
            found = await chosen(
                store,
                judge,
                request,
                records=here.records,
                in_flight=await self._in_flight(request),
            )
        job["content_hash"] = found.process.content_hash
        return await self._keep(job, [*claim_rows(found), *last], void)

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
            if request.extract and judge.models is None:
                raise InputError(
                    "Extracting claims needs a language model, and engine "
                    f"{judge.how.engine} asks none.",
                    code="extraction_needs_model",
                    engine=judge.how.engine,
                )
            yield judge, await version_for(opened, request, _new_claims(request))

    async def _insert_sentences(
        self,
        opened: Callable[[], Awaitable[Store]],
        caller: Caller,
        request: AttributeRequest,
        job: dict[str, Any],
        void: Job | None,
        here: LocalOptions,
    ) -> Job:
        """Keep a job that attributes sentences."""
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
        rows = sentence_rows(list(selected.only.values()), most)
        return await self._keep(job, rows, void)

    async def _insert_turns(
        self,
        opened: Callable[[], Awaitable[Store]],
        caller: Caller,
        request: DialogueRequest,
        job: dict[str, Any],
        void: Job | None,
        here: LocalOptions,
    ) -> Job:
        """Keep a job that verifies turns of a dialogue."""
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
        return await self._keep(job, turn_rows(len(turns)), void)

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
        """Keep a job; one of this process is worked on even where the home cannot be written."""

        def keep(connection: Transaction) -> Job:
            if void is not None:  # its key goes over to this one
                changes.release_key(connection, void.job_id)
            changes.insert(connection, job, rows, self._log)
            return reading.found_jobs(connection, [job["job_id"]])[0]

        try:
            return await self._service.run(keep)
        except NotWritable as error:
            if not job["is_local"]:
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


def _new_job(
    caller: Caller, request: JobRequest, idempotency_key: str | None, input_hash: str
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
        "is_cancelled": False,
        "created_at": now(),
    }


async def _extracted(
    opened: Callable[[], Awaitable[Store]],
    judge: ConfiguredJudge,
    request: VerifyRequest,
    records: Sequence[ClaimRecord] | None = None,
) -> Process | None:
    """The process from which a model extracts claims, as it is asked to or as there are none.

    Raises:
        InputError: There is no such process or node, or the node is a root.
    """
    from veritrail_graph.api.work.extraction import extractable_node

    is_given = records or request.names_claims or request.retry_failed
    if not request.extract and (judge.models is None or is_given):
        return None
    store = await opened()
    process = await store.processes.get(request.process_id)
    if not request.extract and not await lacks_claims(store, process, request.node_id):
        return None
    await extractable_node(store, process, request.node_id)
    return process


@dataclass(frozen=True, slots=True)
class Chosen:
    """The claims of a job.

    Attributes:
        process: The process.
        tasks: All of them, in order.
        reused: The verification_ids of those that were verified before, by claim_id.
        left: Those that are still to be verified, in the order of their turns.
    """

    process: Process
    tasks: list[Task]
    reused: dict[str, str]
    left: list[Task]


async def chosen(
    store: Store,
    judge: ConfiguredJudge,
    request: VerifyRequest,
    extracted: Sequence[str] = (),
    name: Callable[[str], str] | None = None,
    records: Sequence[ClaimRecord] | None = None,
    in_flight: Collection[str] = (),
) -> Chosen:
    """Choose the claims of a job, and store those that are new.

    Where the process has none, they are the sentences of its final outputs that state something.

    Args:
        store: The graph.
        judge: Who judges.
        request: What was asked for.
        extracted: Claims that were extracted for it.
        name: Gives a claim's verification its id; None: they have new ones.
        records: The claims that are given; None: those of the request.
        in_flight: Claims of the process whose verification has not ended.

    Raises:
        InputError: A claim or a node cannot be verified.
    """
    if records is None:
        records = request.claim_records()
    if not (records or extracted or request.extract or request.retry_failed):
        records = await stated_where_none(store, request, judge.splitter)
    tasks = await choose_claims(
        store,
        request.process_id,
        (),
        records,
        [*(request.claim_ids or ()), *extracted],
        request.node_id,
        unfinished=request.unfinished,
        retry_failed=request.retry_failed,
        in_flight=in_flight,
        may_be_none=request.extract,
    )
    if name is not None:
        tasks = [replace(task, verification_id=name(task.claim.claim_id)) for task in tasks]
    process = await store.processes.get(request.process_id)
    reused: dict[str, str] = {}
    if not (request.again or request.retry_failed):
        matched = {one.claim_id for one in request.match}  # compared by their pairs of now
        claims = [task.claim for task in tasks if task.claim.claim_id not in matched]
        reused = await store.trails.same(
            process.process_id, claims, judge.settings, process.content_hash
        )
    left = by_frontier([task for task in tasks if task.claim.claim_id not in reused])
    return Chosen(process, tasks, reused, left)


def claim_rows(found: Chosen) -> list[dict[str, Any]]:
    """The rows of the claims of a job: those to be verified first, in the order of their turns."""
    place = {task.claim.claim_id: number for number, task in enumerate(found.tasks)}
    open_ = [_row(one.verification_id, one.claim.claim_id, Status.QUEUED) for one in found.left]
    done = [
        _row(found.reused[claim.claim_id], claim.claim_id, Status.SUCCEEDED)
        for claim in (task.claim for task in found.tasks)
        if claim.claim_id in found.reused
    ]
    return [{**row, "place": place[row["claim_id"]]} for row in (*open_, *done)]


def sentence_rows(
    sentences: Sequence[Sequence[int]], most: int | None = MAX_SENTENCES
) -> list[dict[str, Any]]:
    """The rows of the sentences of a job, in their order.

    Args:
        sentences: The numbers of the sentences of each of its nodes.
        most: How many they may be; None: any number.

    Raises:
        InputError: They are too many.
    """
    total = sum(map(len, sentences))
    if most is not None and total > most:
        raise InputError(
            f"The nodes have {total:,} sentences; a job attributes at most {most:,}. "
            "Name fewer nodes.",
            code="too_many_sentences",
            most=most,
        )
    return [
        _row(f"{SENTENCE}{uuid.uuid4().hex}", f"{node}.{one}", Status.QUEUED)
        for node, numbers in enumerate(sentences)
        for one in numbers
    ]


def turn_rows(turns: int) -> list[dict[str, Any]]:
    """The rows of the turns of a job, in their order.

    Args:
        turns: How many it has.
    """
    return [_row(f"{TURN}{uuid.uuid4().hex}", str(one), Status.QUEUED) for one in range(turns)]


def _row(verification_id: str, claim_id: str, status: Status) -> dict[str, Any]:
    return {
        "verification_id": verification_id,
        "claim_id": claim_id,
        "status": status.value,
        "reused": status is Status.SUCCEEDED,
    }


def by_frontier(tasks: Sequence[Task]) -> list[Task]:
    """Claims about one node together: they share their frontiers, and endpoints their prefixes."""
    first = {task.node.node_id: place for place, task in reversed(list(enumerate(tasks)))}
    return sorted(tasks, key=lambda task: first[task.node.node_id])
