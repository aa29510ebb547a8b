"""Jobs: what is asked for, and how far it has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from veritrail_graph.graph.model import Status, Usage


class JobStatus(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """At least one verification did not succeed, or no claims could be extracted."""
    CANCELLED = "cancelled"


OPEN = frozenset({JobStatus.QUEUED, JobStatus.RUNNING})
"""Jobs of which something is left to do."""

OPEN_CLAIMS = frozenset({Status.QUEUED, Status.RUNNING})


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it stands.

    Attributes:
        job_id: Its id.
        run_id: The run that its verifications belong to.
        process_id: The process.
        status: Where it stands.
        cancelling: Whether it was cancelled and something of it still runs.
        name: Who submitted it.
        key_id: The key of whoever submitted it; None: no key was asked for.
        verification_ids: Its verifications, in the order of the claims.
        counts: How many of them have each status; only those that occur.
        usage: What it has cost until now.
        reused: How many verifications were stored before, with the same settings.
        error: Why nothing more can be done, where one reason holds for all.
        created_at: When it was submitted, ISO 8601 in UTC.
        started_at: When work on it began.
        ended_at: When nothing was left to do.
        asks_models: Whether its engine asks models.
    """

    job_id: str
    run_id: str
    process_id: str
    status: JobStatus
    cancelling: bool
    name: str
    key_id: str | None
    verification_ids: tuple[str, ...]
    counts: Mapping[str, int]
    usage: Usage = field(default_factory=Usage)
    reused: int = 0
    error: str | None = None
    created_at: str = ""
    started_at: str | None = None
    ended_at: str | None = None
    asks_models: bool = False
