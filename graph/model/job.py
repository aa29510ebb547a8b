"""A job, as it is stored, listed and answered: what is done, and how far it has come.

Source: ours (docs/adr/0015-jobs.md).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import ConfigDict, Field

from veritrail_graph.graph.model.attribution import LeftOut
from veritrail_graph.graph.model.noun import Answer
from veritrail_graph.graph.model.run import JudgeMode
from veritrail_graph.graph.model.trail import Status, Usage


class JobStatus(StrEnum):
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """At least one verification, sentence or turn did not succeed, a correction or the explanation
    failed, or no claims could be extracted."""
    CANCELLED = "cancelled"


OPEN = frozenset({JobStatus.QUEUED, JobStatus.RUNNING})
"""Jobs of which something is left to do."""


class JobKind(StrEnum):
    """What a job does; the header of its row says it."""

    VERIFICATION = "verification"
    """It verifies claims."""
    ATTRIBUTION = "attribution"
    """It attributes sentences to those of their sources."""
    DIALOGUE = "dialogue"
    """It verifies the assistant's turns of a dialogue, one after the other."""


class JobExplanation(Answer):
    """The explanation of the verdicts of a job, its last unit; no fault of it changes a verdict."""

    model_config = ConfigDict(title="ExplanationModel")

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
    explanation: JobExplanation | None = Field(
        description="The explanation of its verdicts; null: none was asked for."
    )
    created_at: str
    started_at: str | None
    ended_at: str | None


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


class Job(JobSummary):
    """A job with its verifications, or the nodes or turns that it is about."""

    model_config = ConfigDict(title="JobModel")

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
    since_content: str = Field(
        "", description="The hash of the content of that earlier version.", exclude=True
    )
    key_id: str | None = Field(
        None,
        description="The key of the caller who submitted it; None: no key was asked for.",
        exclude=True,
    )
    asks_models: bool = Field(False, description="Whether its engine asks models.", exclude=True)
    content_hash: str = Field("", description="The content of its process.", exclude=True)
    left_out: list[LeftOut] = Field(
        [],
        description="Nodes that were asked for, and of which no sentence is attributed.",
        exclude=True,
    )

    @property
    def asking(self) -> JudgeMode:
        """The mode in which its judge is asked."""
        return JudgeMode(self.share, self.escalate_to)
