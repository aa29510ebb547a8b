"""The state of a job as every door answers with it."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field

from veritrail_graph.api.app.answers import Answer
from veritrail_graph.api.jobs.model import Job, JobKind, JobStatus
from veritrail_graph.graph.model import Status, Usage
from veritrail_graph.verifier.models.batch_port import BatchRecord

_SAME = (
    "job_id", "kind", "status", "process_id", "run_id", "cancelling", "usage", "reused", "error",
    "created_at", "started_at", "ended_at",
)  # fmt: skip
"""Fields that a job has by the same names."""


class ExplanationModel(Answer):
    """The explanation of the verdicts of a job, its last unit; no fault of it changes a verdict."""

    status: Status
    error: str | None = Field(description="Why sentences could not be attributed.")


class JobSummary(Answer):
    """The state of a job.

    `failed`: a verification, a sentence or a turn did not succeed, or a correction or the
    explanation failed.
    """

    job_id: str
    kind: JobKind = Field(
        description="Whether it verifies claims, attributes sentences or verifies turns."
    )
    status: JobStatus
    process_id: str
    run_id: str = Field(description="The run of what it makes, as the command line has it.")
    cancelling: bool = Field(description="It was cancelled, and something of it still runs.")
    submitted_by: str = Field(description="The name of the key, or `local`.")
    counts: dict[str, int] = Field(
        description="How many verifications, sentences or turns have each status; only those that "
        "occur."
    )
    usage: Usage
    reused: int = Field(description="How many were verified before, with the same settings.")
    error: str | None = Field(description="Why nothing more can be done, where that holds for all.")
    warnings: list[str] = Field(description="What a person should know, such as what was left out.")
    explanation: ExplanationModel | None = Field(
        description="The explanation of its verdicts; null: none was asked for."
    )
    created_at: str
    started_at: str | None
    ended_at: str | None

    @classmethod
    def of(cls, job: Job) -> Self:
        """The answer for a job."""
        explanation = job.explanation
        return cls(
            explanation=None
            if explanation is None
            else ExplanationModel(status=explanation.status, error=explanation.error),
            submitted_by=job.name,
            counts=dict(job.counts),
            warnings=list(job.warnings),
            **{name: getattr(job, name) for name in _SAME},
            **cls._more(job),
        )

    @classmethod
    def _more(cls, _job: Job) -> dict[str, Any]:
        """What a summary leaves out."""
        return {}


class WaitingBatch(Answer):
    """A batch that a job waits for."""

    batch_id: str | None = Field(description="Its id at the endpoint; null: it is being made.")
    model: str
    status: str = Field(
        description="planned, uploaded, or as the endpoint says: validating, in_progress, …"
    )
    lines: int = Field(description="Calls in it.")
    done: int
    failed: int
    since: str

    @classmethod
    def of(cls, batch: BatchRecord) -> WaitingBatch:
        """The answer for a batch."""
        return cls(
            batch_id=batch.batch_id,
            model=batch.model,
            status=batch.state.value,
            lines=batch.lines,
            done=batch.done,
            failed=batch.failed,
            since=batch.since,
        )


class JobModel(JobSummary):
    """A job with its verifications, or the nodes or turns that it is about."""

    verification_ids: list[str] = Field(description="In the order of the claims.")
    node_ids: list[str] = Field(description="The nodes of an attribution.")
    turn_ids: list[str] = Field(description="The turns of a dialogue, in their order.")
    batches: list[WaitingBatch] = Field(description="The batches that it waits for.")
    mode: Literal["live", "batch"] = Field(
        "live", description="Whether models are asked call by call, or in batches."
    )
    model: str | None = Field(None, description="The models that it asks; null: none is asked.")
    share: int | None = Field(
        None,
        description="The most claims that a prompt asks about; null: each asks about one.",
    )
    escalate_to: str | None = Field(
        None, description="The second judge of a cascade; null: there is one judge."
    )
    since: str | None = Field(
        None,
        description="The process that the earlier version is stored as from which verdicts are "
        "kept; null: none are. `GET /v1/jobs/{job_id}/changes` has more.",
    )

    @classmethod
    def _more(cls, job: Job) -> dict[str, Any]:
        return {
            "verification_ids": list(job.verification_ids),
            "node_ids": list(job.node_ids),
            "turn_ids": list(job.turn_ids),
            "batches": [WaitingBatch.of(one) for one in job.batches],
            "mode": "batch" if job.in_batches else "live",
            "model": job.model,
            "share": job.asking.share,
            "escalate_to": job.asking.second,
            "since": job.since.process_id if job.since is not None else None,
        }
