"""The one request to attribute sentences, for every door and for the row of a job."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from veritrail_graph.api.requests.job import (
    MAX_CLAIMS,
    Id,
    JobBudget,
    JobCache,
    JobCalls,
    JobEffort,
    JobPrice,
    JobRequest,
    JobStructured,
    Name,
    OfProcess,
)
from veritrail_graph.graph.model.attribution import Against, JudgeName, Recheck, SourceMode
from veritrail_graph.graph.model.noun import NodeId, OneOf

MAX_NODES = 1_000
"""Nodes of one request."""
MAX_SENTENCES = 100_000
"""Sentences of one job."""


class AttributeParameters(JobRequest):
    """Whose sentences are attributed, and how: all that a request says but its process."""

    node_ids: Annotated[tuple[NodeId, ...], Field(strict=False)] | None = Field(
        None,
        min_length=1,
        max_length=MAX_NODES,
        description="The nodes; default: the terminals of the process.",
    )
    claim_ids: Annotated[tuple[Id, ...], Field(strict=False)] | None = Field(
        None,
        min_length=1,
        max_length=MAX_CLAIMS,
        description="Claims in place of nodes: attributed are the sentences of their error nodes "
        "that carried them.",
    )
    unsupported: bool = Field(
        False, description="The same for all claims that are Not Fully Supported."
    )
    against: OneOf[Against] = Field(
        Against.INPUTS,
        description="The node's own source nodes (`inputs`), or the roots below it (`roots`).",
    )
    propositions: bool = Field(
        False,
        description="Split each sentence into the statements in it, and attribute these one by "
        "one; a language model is asked.",
    )
    engine: Name | None = Field(None, description="lexical, nli, openai, azure or recorded.")
    model: Name | None = Field(None, description="The model that is asked; selects openai.")
    judge: bool = Field(False, description="Also ask a model whether each sentence is faithful.")
    judge_with: OneOf[JudgeName] = Field(
        JudgeName.MODEL,
        description="Who judges: the language `model`, or a checker with the entailment model of "
        "the server, such as `summac-zs`; a checker implies `judge`.",
    )
    judge_threshold: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="Of a checker: the score from which a sentence is faithful.",
    )
    correct: bool = Field(
        False, description="Also propose a wording for each unfaithful sentence; none is changed."
    )
    mode: OneOf[SourceMode] = Field(
        SourceMode.ATTRIBUTION,
        description="What `judge` and `correct` see: all sources (`plain`), all with the "
        "attributed sentences marked (`highlighted`), or these alone (`attribution`).",
    )
    recheck: OneOf[Recheck] | None = Field(
        None,
        description="Who verifies corrections again: the `judge`, or a `walk` that verifies each "
        "claim of the wording; default: the judge, where there is one.",
    )
    every_mode: bool = Field(
        False, description="Propose a wording in each of the three modes, and rank them."
    )
    budget_usd: JobBudget = None
    max_calls: JobCalls = None
    price: JobPrice = None
    effort: JobEffort = None
    structured: JobStructured = False
    use_cache: JobCache = True

    @property
    def judges(self) -> bool:
        """Say whether it is also said whether each sentence is faithful; a checker implies it."""
        return self.judge or self.judge_with is not JudgeName.MODEL

    @property
    def judges_with_model(self) -> bool:
        """Return whether a language model says so."""
        return self.judges and self.judge_with is JudgeName.MODEL

    @property
    def changes(self) -> dict[str, Any]:
        """Return what a run that goes on is changed in: what it may spend, and its cache."""
        limits = {"budget_usd": self.budget_usd, "max_calls": self.max_calls, "price": self.price}
        return limits if self.use_cache else {**limits, "use_cache": False}

    @property
    def is_of_claims(self) -> bool:
        """Return whether it is about what carried claims, and not about whole nodes."""
        return bool(self.claim_ids) or self.unsupported


class AttributeRequest(AttributeParameters, OfProcess):
    """Whose sentences are attributed, and how; omitted fields have the defaults of the command.

    Without `node_ids`, `claim_ids` and `unsupported` the terminals of the process are attributed.
    No field names a file, an address or a secret of the server.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"process_id": "harbour-attribution"},
                {
                    "process_id": "harbour-attribution",
                    "node_ids": ["summary"],
                    "engine": "openai",
                    "model": "gpt-6-luna",
                    "judge": True,
                    "budget_usd": 0.5,
                },
            ]
        },
    )
