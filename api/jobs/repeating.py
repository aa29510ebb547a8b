"""Check that a stored process still fits a job, and begin anew what the job was asked for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import EngineUnavailable, InputError, NotFound, ProcessConflict
from veritrail_graph.graph.model.job import OPEN, Job, JobKind
from veritrail_graph.verifier.models.batch_port import BatchRecord, BatchState

if TYPE_CHECKING:
    from veritrail_graph.api.jobs.storage import JobRow
    from veritrail_graph.api.jobs.storage.reading import Resumable
    from veritrail_graph.api.jobs.unmade import Ask
    from veritrail_graph.graph.model import Process
    from veritrail_graph.graph.store import Store


async def is_known_void(opened: Callable[[], Awaitable[Store]], job: Job) -> bool:
    """See `is_void`; where the graph does not answer, the job is valid."""
    try:
        return await is_void(await opened(), job)
    except EngineUnavailable:
        return False


_LOOKED_AT = 100


async def is_void(store: Store, job: Job) -> bool:
    """Return whether a job has ended and nothing that it stored is stored any more.

    A job that still runs is none: it learns itself, soon, that its process was removed.

    Args:
        store: The graph.
        job: The job.

    Raises:
        EngineUnavailable: The graph does not answer.
    """
    if job.status in OPEN:
        return False
    try:
        process = await store.processes.get(job.process_id)
    except NotFound:
        return True
    if job.kind is not JobKind.VERIFICATION:  # it goes with the content that it is about
        return process.content_hash != job.content_hash
    # They go all together, so a few tell; a claim that was removed took only its own along.
    some = job.verification_ids[:_LOOKED_AT]
    return bool(some) and not await store.trails.headers(some)


_OF_KIND = {
    JobKind.VERIFICATION: ("verified claims of {!r}", "run_of_claims"),
    JobKind.ATTRIBUTION: ("attributed sentences of {!r}", "run_attributes"),
    JobKind.DIALOGUE: ("verified turns of the dialogue {!r}", "run_of_dialogue"),
}
"""What a run did, and the code of the fault where another kind is resumed."""


def check_kind(job: Resumable, kind: JobKind) -> None:
    """See that a job is of a kind.

    Raises:
        InputError: It is of another one.
    """
    if job.kind is not kind:
        words, code = _OF_KIND[job.kind]
        raise InputError(
            f"Run {job.run_id} {words.format(job.process_id)}.",
            code=code,
            process_id=job.process_id,
            run_id=job.run_id,
        )


def with_pairs(
    job: Job,
    request: Mapping[str, Any],
    claim_ids: Sequence[str] | None,
    pairs: Sequence[Mapping[str, Any]],
) -> VerifyRequest:
    """The request of a job for its claims, with claims that a person found to say the same.

    Args:
        job: A job with an earlier version.
        request: What it was asked for.
        claim_ids: Its claims; None: all of the process.
        pairs: `earlier` and `claim_id` of each pair.

    Raises:
        InputError: A pair is none.
    """
    assert job.since is not None  # noqa: S101  # it has one
    is_own = job.since == job.process_id
    whole = dict.fromkeys(("claims", "node_id")) | dict.fromkeys(
        ("extract", "unfinished", "retry_failed", "again"), False
    )
    return VerifyRequest.checked(
        {
            **request,
            **whole,
            "claim_ids": claim_ids,
            "since": job.since_content if is_own else job.since,
            "match": [dict(one) for one in pairs],
        }
    )


_NAMED = 3


async def process_of(
    ask: Ask, open_batches: Callable[[], Awaitable[Sequence[BatchRecord]]], job: JobRow
) -> Process:
    """The process of a run, with the content that it had when the run began.

    Args:
        ask: Asks the graph.
        open_batches: Gives the batches of the run that were not read.
        job: The run.

    Raises:
        ProcessConflict: It is not stored any more, or has another content; the message names the
            batches that go on at their endpoint.
        EngineError: The graph does not answer.
    """
    name = job["process_id"]
    try:
        process: Process = await ask(lambda store: store.processes.get(name))
    except NotFound as error:
        if error.code != "process_unknown":
            raise
        what = "removed"
    else:
        if process.content_hash == job["content_hash"]:
            return process
        what = "replaced or appended to"
    left = [one for one in await open_batches() if one.state is not BatchState.CANCELLING]
    message = (
        f"Process {name!r} was {what} since run {job['run_id']} began, so the run cannot go on."
    )
    raise ProcessConflict(
        f"{message} {_left_words(left)}" if left else message,
        code="run_outdated_in_batches" if left else "run_outdated",
        process_id=name,
        run_id=job["run_id"],
    )


def _left_words(batches: Sequence[BatchRecord]) -> str:
    names = ", ".join(one.batch_id or one.name for one in batches[:_NAMED])
    more = f" and {len(batches) - _NAMED:,} more" if len(batches) > _NAMED else ""
    count = counted(len(batches), "batch", "batches")
    verb = "goes" if len(batches) == 1 else "go"
    lines = counted(sum(one.lines for one in batches), "line")
    return f"{count} of it with {lines} {verb} on at the endpoint: {names}{more}."
