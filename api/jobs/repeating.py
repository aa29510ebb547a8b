"""Whether a job that was submitted under an idempotency key still stands for what is asked again.

Its answer names verifications. They are gone with their process when that is deleted or replaced,
and whoever then asks again under the same key wants them made, not their old ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from veritrail_graph.api.jobs.model import OPEN, Job
from veritrail_graph.graph.errors import NotFound

if TYPE_CHECKING:
    from veritrail_graph.graph.store import Store

_LOOKED_AT = 100


async def is_void(store: Store, job: Job) -> bool:
    """Whether a job has ended and nothing that it tells of is stored any more.

    A job that still runs is none: it is told itself, soon, that its process is gone.

    Args:
        store: The graph.
        job: The job.

    Raises:
        EngineUnavailable: The graph does not answer.
    """
    if job.status in OPEN:
        return False
    try:
        await store.processes.get(job.process_id)
    except NotFound:
        return True
    # They go all together, so a few tell; a claim that was removed took only its own along.
    some = job.verification_ids[:_LOOKED_AT]
    return bool(some) and not await store.trails.headers(some)
