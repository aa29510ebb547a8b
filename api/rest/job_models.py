"""What is sent and answered about jobs, for the OpenAPI document."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from veritrail_graph.api.app.jobs import JobStatus
from veritrail_graph.api.app.verify_request import BudgetUsd, CallLimit
from veritrail_graph.api.http.pages import NextCursor
from veritrail_graph.graph.model import Usage


class JobAccepted(BaseModel):
    """A job that was submitted; with `extract` the ids appear in the job later."""

    job_id: str = Field(examples=["j-0b0f6d0c6a6b4f0f9c3f0c4b6a0f7a11"])
    verification_ids: list[str]


class Limits(BaseModel):
    """What a job may cost in all from now on; what is left out stays as it was."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"budget_usd": 5}]})

    budget_usd: BudgetUsd | None = None
    max_calls: CallLimit | None = None


class JobSummary(BaseModel):
    """A job as it stands. `failed`: at least one verification did not succeed."""

    job_id: str
    status: JobStatus
    process_id: str
    run_id: str = Field(description="The run of its verifications, as the command line has it.")
    cancelling: bool = Field(description="It was cancelled, and something of it still runs.")
    submitted_by: str = Field(description="The name of the key, or `local`.")
    counts: dict[str, int] = Field(
        description="How many verifications have each status; only those that occur."
    )
    usage: Usage
    reused: int = Field(description="How many were verified before, with the same settings.")
    error: str | None = Field(description="Why nothing more can be done, where that holds for all.")
    created_at: str
    started_at: str | None
    ended_at: str | None


class JobModel(JobSummary):
    """A job with its verifications."""

    verification_ids: list[str] = Field(description="In the order of the claims.")


class JobPage(BaseModel):
    """A page of jobs, newest first."""

    jobs: list[JobSummary]
    nextCursor: NextCursor  # noqa: N815
