"""What answers about verifications hold, for the OpenAPI document.

Source: VeriTrail 3.2 (what a verification returns).
"""

from __future__ import annotations

from pydantic import BaseModel, Field, JsonValue


class UsageModel(BaseModel):
    """What calls came to; a cost that is null is unknown, or no call was made."""

    calls: int
    cached_calls: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    cost_usd: float | None
    reasoning_tokens: int
    unpriced_calls: int


class SelectedSentence(BaseModel):
    """A sentence that was selected; `sentence` counts from 0 in its node."""

    node_id: str
    sentence: int
    start: int
    end: int
    text: str
    role: str = Field(description="evidence or context.")


class SummaryModel(BaseModel):
    """What one prompt found."""

    text: str
    missing: str | None
    node_ids: list[str]


class IterationModel(BaseModel):
    """One round, with its interim verdict."""

    number: int
    verdict: str
    reasoning: str
    checked: list[str] = Field(description="Nodes read in this round, without the carried ones.")
    carried_roots: list[str] = Field(description="Roots whose evidence came from earlier rounds.")
    evidence: list[SelectedSentence]
    summaries: list[SummaryModel]
    dropped_ids: int
    reruns: int
    left_out: int
    usage: UsageModel


class StepModel(BaseModel):
    """What a step asked a model for, and what it cost."""

    iteration: int
    step: str
    prompt: str
    prompt_hash: str
    model: str
    temperature: float | None
    usage: UsageModel


class VerificationModel(BaseModel):
    """One object of `verify --json`."""

    verification_id: str
    process_id: str
    claim_id: str
    claim: str
    node_id: str
    q: int
    sub_claims: list[str]
    engine: str
    model: str | None
    indicative: bool
    created_at: str
    status: str = Field(
        description="queued, running, succeeded, failed, over_budget or cancelled.",
        examples=["succeeded"],
    )
    verdict: str | None = Field(description="null unless it succeeded.")
    reasoning: str | None
    score: float | None
    termination: str | None
    error_stages: list[int]
    error_nodes: list[str]
    iterations: list[IterationModel]
    usage: UsageModel
    error: str | None
    run_id: str | None
    settings: dict[str, JsonValue] | None
    steps: list[StepModel]


class VerificationHeader(BaseModel):
    """A verification without its trail."""

    verification_id: str
    claim_id: str
    claim: str
    node_id: str
    engine: str
    model: str | None
    indicative: bool
    q: int
    run_id: str | None
    created_at: str
    status: str
    verdict: str | None
    error_stages: list[int]
    error: str | None


class _About(BaseModel):
    verification_id: str
    process_id: str
    claim_id: str
    node_id: str
    status: str
    verdict: str | None
    indicative: bool


class PathSentence(BaseModel):
    """A sentence on a path of evidence."""

    sentence: int
    role: str
    text: str


class PathStep(BaseModel):
    """A node on a path of evidence; `via`: nodes without evidence before the next step."""

    node_id: str
    stage: int
    role: str
    via: list[str]
    sentences: list[PathSentence]


class ProvenanceModel(_About):
    """Paths of evidence, each down to the verified node."""

    paths: list[list[PathStep]]
    paths_complete: list[bool] = Field(description="Of each path: whether it begins in a root.")
    complete: bool = Field(description="Whether there are paths, all of them begin in roots.")
    truncated: bool = Field(description="Whether there are more paths.")


class ErrorStep(BaseModel):
    """A node of an error path."""

    node_id: str
    stage: int
    kind: str | None
    step: str | None
    model: str | None
    prompt: str | None
    inherits_from: list[str]
    sentences: list[str]
    text: str


class ErrorModel(_About):
    """Where unsupported content came in, and where it was only carried on."""

    error_stages: list[int]
    introduced: list[ErrorStep]
    inherited: list[ErrorStep]


class ChangedValue(BaseModel):
    """A value that differs."""

    a: JsonValue
    b: JsonValue


class RoundSideModel(BaseModel):
    """What only one side did in the round at which two trails part."""

    verdict: str
    reasoning: str
    checked_only: list[str]
    selected_only: list[SelectedSentence]


class PartingModel(BaseModel):
    """The first round that differs; a side that had ended before is null."""

    iteration: int
    parts: list[str]
    a: RoundSideModel | None
    b: RoundSideModel | None


class DifferenceModel(BaseModel):
    """What `diff --json` prints."""

    a: str
    b: str
    same: bool
    same_claim: bool
    claim: dict[str, ChangedValue]
    settings: dict[str, ChangedValue]
    outcome: dict[str, ChangedValue]
    parting: PartingModel | None
