"""Verifications and extracted sentences of a process file as pydantic models.

Only what can be said of one record alone is checked here; what needs the whole process
stands in `graph.restoring`.

Source: VeriTrail 3.2 (what a verification returns).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from veritrail_graph.graph.errors import Violation
from veritrail_graph.graph.importers.process_file.schema import (
    MAX_DEPTH,
    NodeId,
    PublicId,
    Text,
    _is_deeper_than,
    _Model,
    _named,
    _violations,
)
from veritrail_graph.graph.importers.process_file.trail_building import extracted, verification
from veritrail_graph.graph.importers.records import ExtractionRecord, VerificationRecord
from veritrail_graph.graph.model import EvidenceRole, Status, Termination, Verdict
from veritrail_graph.graph.model.extraction import SentenceOutcome

MOST = 2**63 - 1
MOST_ITERATIONS = 10_000

Count = Annotated[int, Field(ge=0, le=MOST)]
Time = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$")]
VerificationId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/-]{0,255}$")]


def _one_of(words: type[StrEnum]) -> Any:
    return Field(pattern="^(" + "|".join(words) + ")$")


AVerdict = Annotated[str, _one_of(Verdict)]


class UsageModel(_Model):
    """What calls came to."""

    calls: Count = 0
    cached_calls: Count = 0
    input_tokens: Count = 0
    cached_input_tokens: Count = 0
    output_tokens: Count = 0
    cost_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    reasoning_tokens: Count = 0
    unpriced_calls: Count = 0


class SentenceModel(_Model):
    """A selected sentence."""

    node_id: NodeId
    sentence: Count
    start: Count
    end: Count
    text: Text
    role: Annotated[str, _one_of(EvidenceRole)] = EvidenceRole.EVIDENCE.value


class SummaryModel(_Model):
    """What one prompt found."""

    text: Text
    missing: Text | None = None
    node_ids: list[NodeId] = Field(default_factory=list)
    sentences: list[SentenceModel] | None = None


class IterationModel(_Model):
    """One round."""

    number: Annotated[int, Field(ge=1, le=MOST_ITERATIONS)]
    verdict: AVerdict
    reasoning: Text
    checked: list[NodeId]
    carried_roots: list[NodeId] = Field(default_factory=list)
    evidence: list[SentenceModel] = Field(default_factory=list)
    summaries: list[SummaryModel] = Field(default_factory=list)
    dropped_ids: Count = 0
    reruns: Count = 0
    left_out: Count = 0
    usage: UsageModel | None = None


class StepModel(_Model):
    """What a step asked a model for."""

    iteration: Count
    step: Text
    prompt: Text
    prompt_hash: Text
    model: Text
    temperature: Annotated[float, Field(allow_inf_nan=False)] | None = None
    usage: UsageModel = UsageModel()


class PathModel(_Model):
    """A link of the evidence trail."""

    source: NodeId
    target: NodeId
    iteration: Annotated[int, Field(ge=1, le=MOST_ITERATIONS)]
    via: list[NodeId] = Field(default_factory=list)


class VerificationModel(_Model):
    """An object of `verify --json`, and beside it what only the graph knew."""

    verification_id: VerificationId
    process_id: PublicId | None = None
    claim_id: PublicId
    claim: Text
    node_id: NodeId
    q: Annotated[int, Field(ge=1, le=MOST)]
    sub_claims: list[Text] = Field(default_factory=list)
    engine: Text
    model: Text | None = None
    indicative: bool
    created_at: Time
    status: Annotated[str, _one_of(Status)]
    verdict: AVerdict | None = None
    reasoning: Text | None = None
    score: Annotated[float, Field(allow_inf_nan=False)] | None = None
    termination: Annotated[str, _one_of(Termination)] | None = None
    error_stages: list[Count] = Field(default_factory=list)
    error_nodes: list[NodeId] = Field(default_factory=list)
    iterations: list[IterationModel] = Field(default_factory=list)
    usage: UsageModel = UsageModel()
    error: Text | None = None
    run_id: PublicId | None = None
    settings: dict[str, Any] | None = None
    steps: list[StepModel] = Field(default_factory=list)
    method: Literal["veritrail"] = "veritrail"
    content_hash: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    place: Count | None = None
    propagated_nodes: list[NodeId] = Field(default_factory=list)
    paths: list[PathModel] = Field(default_factory=list)
    run_options: dict[str, Any] | None = None
    settings_text: Text | None = None
    run_options_text: Text | None = None

    @field_validator("settings", "run_options")
    @classmethod
    def bounded(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        """Settings that every later step can walk through."""
        if value is not None and _is_deeper_than(value, MAX_DEPTH):
            raise _wrong("settings and run_options must not be nested too deeply")
        return value

    @model_validator(mode="after")
    def fits_together(self) -> Self:
        """A verdict stands on a verification that succeeded, and on no other."""
        if (self.verdict is not None) != (self.status == Status.SUCCEEDED):
            said = "has no verdict" if self.verdict is None else f"has the verdict {self.verdict}"
            raise _wrong(f"status is {self.status}, and it {said}")
        if [one.number for one in self.iterations] != [*range(1, len(self.iterations) + 1)]:
            raise _wrong("iterations must be numbered 1, 2, 3 …")
        for link in self.paths:
            if link.iteration > len(self.iterations):
                raise _wrong(f"paths: there is no iteration {link.iteration}")
        return self


class ExtractionModel(_Model):
    """What extraction left of a sentence."""

    node_id: NodeId
    position: Count
    start: Count
    end: Count
    text: Text
    outcome: Annotated[str, _one_of(SentenceOutcome)]
    reason: Text | None = None
    claim_ids: list[PublicId] = Field(default_factory=list)


def _wrong(message: str) -> PydanticCustomError:
    return PydanticCustomError("wrong_trail", "{message}", {"message": message})


def read_verification(value: object, place: str) -> VerificationRecord | list[Violation]:
    """A verification, or everything that is wrong with it."""
    where = _named(place, value, "verification_id")
    try:
        model = VerificationModel.model_validate(value)
    except ValidationError as error:
        return list(_violations(error, where, VerificationModel))
    given = value if isinstance(value, dict) else {}
    try:
        return VerificationRecord(verification(model), where, model.place, given)
    except ValueError as error:
        return [Violation("wrong_trail", where, str(error))]


def read_extraction(value: object, place: str) -> ExtractionRecord | list[Violation]:
    """An extracted sentence, or everything that is wrong with it."""
    where = _named(place, value, "node_id")
    try:
        model = ExtractionModel.model_validate(value)
    except ValidationError as error:
        return list(_violations(error, where, ExtractionModel))
    return ExtractionRecord(extracted(model), where)
