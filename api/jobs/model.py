"""Jobs: what is asked for, and how far it has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Status, Usage


class JobStatus(StrEnum):
    """The state of a job."""

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
    """The state of a job.

    Attributes:
        job_id: Its id.
        run_id: The run that its verifications belong to.
        process_id: The process.
        status: Its state.
        cancelling: Whether it was cancelled and something of it still runs.
        name: Who submitted it.
        key_id: The key of the caller who submitted it; None: no key was asked for.
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

    def summary(self) -> dict[str, Any]:
        """The job in a list, as JSON of the contract."""
        return {
            "job_id": self.job_id,
            "status": self.status.value,
            "process_id": self.process_id,
            "run_id": self.run_id,
            "cancelling": self.cancelling,
            "submitted_by": self.name,
            "counts": dict(self.counts),
            "usage": self.usage.json_object(),
            "reused": self.reused,
            "error": self.error,
            "created_at": self.created_at,
            "started_at": self.started_at,
            "ended_at": self.ended_at,
        }

    def document(self) -> dict[str, Any]:
        """The job with its verifications, as JSON of the contract."""
        return {**self.summary(), "verification_ids": list(self.verification_ids)}


@dataclass(frozen=True, slots=True)
class Work:
    """Something that is to be done: a claim of a job, or the extraction of its claims.

    Attributes:
        job_id: The job.
        verification_id: The claim's verification; "" for the extraction.
        attempt: How often it was taken up, from 1.
        priority: Its turn; lower ones come first.
    """

    job_id: str
    verification_id: str
    attempt: int
    priority: int = 1

    @property
    def workflow_id(self) -> str:
        """Its id in the engine: whatever is enqueued twice under it is done once."""
        return f"{self.job_id}/{self.verification_id}/{self.attempt}"


@dataclass(frozen=True, slots=True)
class JobClaim:
    """A claim of a job.

    Attributes:
        place: Its place in the job.
        verification_id: Its verification.
        claim_id: The claim.
        status: Its state.
        failure: Why it has no verdict.
    """

    place: int
    verification_id: str
    claim_id: str
    status: Status
    failure: str | None


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a claim.

    Attributes:
        of: The claim.
        status: How it ended.
        failure: Why, if it has no verdict.
        usage: What it cost this time.
        event: What `claim.finished` tells.
    """

    of: Work
    status: Status
    failure: str | None
    usage: Usage
    event: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Figures:
    """All jobs that are kept.

    Attributes:
        jobs: How many, by status.
        claims: How many claims, by status.
        workers: Workers that live.
        calls: Calls of models for these claims, those aside that were answered from the cache.
        tokens: Tokens by kind: `input`, `cached_input`, `output`, `reasoning`.
        cost_usd: What it cost, where prices are known; None: no price is.
        unpriced_calls: Calls whose price is not known.
    """

    jobs: Mapping[str, int]
    claims: Mapping[str, int]
    workers: int
    calls: int
    tokens: Mapping[str, int]
    cost_usd: float | None
    unpriced_calls: int


class Kind(StrEnum):
    """What an event tells."""

    JOB_STARTED = "job.started"
    """Work on the job begins, or begins again."""
    JOB_RESUMED = "job.resumed"
    """What a job that had ended left without a verdict is taken up again."""
    CLAIM_STARTED = "claim.started"
    ITERATION_FINISHED = "iteration.finished"
    CLAIM_FINISHED = "claim.finished"
    JOB_FINISHED = "job.finished"
    """Nothing of the job is left to do; the stream ends here."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event as it is stored.

    Attributes:
        seq: Its number in the job, from 1.
        kind: What it tells.
        data: What there is to tell, as JSON.
        at: When it happened, ISO 8601 in UTC.
    """

    seq: int
    kind: str
    data: str
    at: str


class Busy(InputError):
    """What is asked for cannot be done at this moment."""

    code = "job_busy"


class OtherInput(InputError):
    """Something else was submitted under the same idempotency key."""

    code = "idempotency_conflict"
