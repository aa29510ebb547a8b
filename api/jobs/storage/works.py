"""The work that jobs have left, and the work that is to be stopped."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from veritrail_graph.api.jobs.model import OPEN_CLAIMS, Work, goes_whole, is_explanation, kind_of
from veritrail_graph.api.jobs.storage.reading import first_open, job_of
from veritrail_graph.api.jobs.storage.tables import job_claims, jobs
from veritrail_graph.graph.model.job import JobKind

_OPEN = (
    sa.select(job_claims.c.verification_id, job_claims.c.attempt, job_claims.c.priority)
    .where(job_claims.c.job_id == sa.bindparam("job_id"), job_claims.c.status.in_(OPEN_CLAIMS))
    .order_by(job_claims.c.priority)
)


def works_of(connection: Connection, job_id: str) -> list[Work]:
    """Return what there is to do of a job: its open claims in their order, or the extraction.

    Its explanation is to be done when none of these is left. A dialogue is done as a whole: its
    turns cannot be done side by side. So are the claims of a job in batches, or with shared
    prompts: they share each round, or each prompt.
    """
    job = job_of(connection, job_id)
    if job is None:
        return []
    whole = Work(job_id, "", job["attempt"])
    if kind_of(job["header"]) is JobKind.DIALOGUE:
        return [whole] if first_open(connection, job_id) is not None else []
    works = open_works(connection, job_id)
    claims = [one for one in works if not is_explanation(one.verification_id)]
    if goes_whole(job["request"]) and not job["is_local"]:
        return [whole] if claims or not job["is_extracted"] else works
    return claims or works if job["is_extracted"] else [*claims, whole]


def open_works(connection: Connection, job_id: str) -> list[Work]:
    """The claims of a job that have not ended, in their order, and its explanation."""
    return [Work(job_id, *row) for row in connection.execute(_OPEN, {"job_id": job_id})]


def to_stop(connection: Connection, job_ids: Sequence[str]) -> list[tuple[str, str | None, bool]]:
    """Those of some jobs that were cancelled or given up.

    Returns:
        The job_id, the reason, and whether it was cancelled: then its batches end, too.
    """
    found = connection.execute(
        sa.select(jobs.c.job_id, jobs.c.error, jobs.c.is_cancelled).where(
            jobs.c.job_id.in_(job_ids), jobs.c.is_cancelled | jobs.c.error.is_not(None)
        )
    )
    return [(row.job_id, row.error, row.is_cancelled) for row in found]
