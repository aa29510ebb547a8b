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
