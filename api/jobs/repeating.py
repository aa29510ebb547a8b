"""Whether a job that was submitted before is void, so that the same may be begun anew."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from veritrail_graph.api.jobs.model import OPEN, Job, JobKind
from veritrail_graph.graph.errors import EngineUnavailable, NotFound

if TYPE_CHECKING:
    from veritrail_graph.graph.store import Store


async def is_known_void(opened: Callable[[], Awaitable[Store]], job: Job) -> bool:
    """See `is_void`; where the graph does not answer, the job is valid."""
    try:
        return await is_void(await opened(), job)
    except EngineUnavailable:
        return False


_LOOKED_AT = 100


async def is_void(store: Store, job: Job) -> bool:
    """Whether a job has ended and nothing that it tells of is stored any more.

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
