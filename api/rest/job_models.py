"""What is sent and answered about jobs, for the OpenAPI document."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from veritrail_graph.api.http.pages import NextCursor
from veritrail_graph.api.jobs.model import Job, JobRequest, JobStatus
from veritrail_graph.api.rest.trail_models import UsageModel
from veritrail_graph.graph.importers.process_file.plain import MAX_NODE_ID
from veritrail_graph.verifier.driver import DEFAULT_Q

MOST_CLAIMS = 10_000

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Sentences = Annotated[int, Field(ge=1, lt=10**9)]


class VerificationsWanted(BaseModel):
    """Which claims are verified, and how; what is left out is as `veritrail verify` has it.

    Without `claims`, `claim_ids` and `extract` the stored claims of the process are verified.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"process_id": "harbour-2025"},
                {
                    "process_id": "harbour-2025",
                    "claims": ["The new quay opened in 2021."],
                    "engine": "openai",
                    "model": "gpt-4.1-mini",
                    "budget_usd": 2.5,
                },
            ]
        },
    )

    process_id: Annotated[str, Field(min_length=1, max_length=128)]
    claims: list[str | dict[str, JsonValue]] | None = Field(
        None,
        min_length=1,
        max_length=MOST_CLAIMS,
        description="Claims: texts, or objects as in a process file.",
    )
    claim_ids: list[Annotated[str, Field(min_length=1, max_length=128)]] | None = Field(
        None, min_length=1, max_length=MOST_CLAIMS, description="Stored claims."
    )
    extract: bool = Field(False, description="Extract the claims from the node with a model.")
    node_id: Annotated[str, Field(min_length=1, max_length=MAX_NODE_ID)] | None = Field(
        None, description="The node that new claims are about; default: the only terminal."
    )
    unfinished: bool = Field(False, description="Leave out claims that have a verdict.")
    retry_failed: bool = Field(False, description="Only claims whose latest attempt has none.")
    again: bool = Field(False, description="Also what was verified with the same settings.")
    q: int = Field(DEFAULT_Q, ge=1, le=1_000_000, description="Consecutive Not Fully Supported.")
    engine: Name | None = Field(None, description="lexical, openai or azure.")
    model: Name | None = Field(None, description="The model that is asked; selects openai.")
    claims_model: Name | None = None
    selection_model: Name | None = None
    verdict_model: Name | None = None
    budget_usd: Annotated[float, Field(ge=0, le=1e9)] | None = Field(
        None, description="What the job may cost at most, over all workers."
    )
    max_calls: Annotated[int, Field(ge=0, le=2_000_000_000)] | None = None
    price: Annotated[str, Field(max_length=100)] | None = Field(
        None, description="IN,OUT[,CACHED] in USD per million tokens; not with a key's budget."
    )
    samples: int = Field(1, ge=1, le=100, description="Answers drawn to each prompt.")
    threshold: Annotated[int, Field(ge=1, le=100)] | None = None
    max_root_sentences: Sentences | None = Field(40, description="null: what the window holds.")
    max_sentences: Sentences | None = Field(40, description="null: what the window holds.")
    verdict_sentences: Sentences = 200
    max_reruns: int = Field(2, ge=0, le=20)
    sub_claims: bool = Field(True, description="Whether a model takes claims apart.")
    structured: bool = Field(False, description="Send the endpoint a schema of the answers.")
    use_cache: bool = Field(True, description="Use and fill the cache of answers.")

    def request(self) -> JobRequest:
        """The request that this body stands for."""
        given = self.model_dump()
        claims = [one if isinstance(one, dict) else {"text": one} for one in self.claims or ()]
        given |= {"claims": tuple(claims), "claim_ids": tuple(self.claim_ids or ())}
        return JobRequest(**given)


class JobAccepted(BaseModel):
    """A job that was submitted; with `extract` the ids appear in the job later."""

    job_id: str = Field(examples=["j-0b0f6d0c6a6b4f0f9c3f0c4b6a0f7a11"])
    verification_ids: list[str]


class Limits(BaseModel):
    """What a job may cost in all from now on; what is left out stays as it was."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"budget_usd": 5}]})

    budget_usd: Annotated[float, Field(ge=0, le=1e9)] | None = None
    max_calls: Annotated[int, Field(ge=0, le=2_000_000_000)] | None = None


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
    usage: UsageModel
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


def summary_json(job: Job) -> dict[str, Any]:
    """A job in a list, as it is answered."""
    return {
        "job_id": job.job_id,
        "status": job.status.value,
        "process_id": job.process_id,
        "run_id": job.run_id,
        "cancelling": job.cancelling,
        "submitted_by": job.name,
        "counts": dict(job.counts),
        "usage": asdict(job.usage),
        "reused": job.reused,
        "error": job.error,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "ended_at": job.ended_at,
    }


def job_json(job: Job) -> dict[str, Any]:
    """A job, as it is answered."""
    return {**summary_json(job), "verification_ids": list(job.verification_ids)}
