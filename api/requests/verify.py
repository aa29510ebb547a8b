"""The one request to verify claims, for every door and for the row of a job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    WithJsonSchema,
)

from veritrail_graph.api.requests.job import (
    MAX_CLAIMS,
    Id,
    JobBudget,
    JobCache,
    JobCalls,
    JobEffort,
    JobPrice,
    JobStructured,
    Name,
    OfProcess,
)
from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.importers.process_file.schema import read_claim
from veritrail_graph.graph.importers.records import ClaimRecord
from veritrail_graph.graph.model.noun import MAX_NODE_ID, PUBLIC_ID
from veritrail_graph.verifier.driver import DEFAULT_Q as DEFAULT_Q
from veritrail_graph.verifier.limits import MOST_SHARED as MOST_SHARED

MAX_Q = 1_000_000

_GIVEN = ("text", "claim_id", "node_id", "start", "end", "label", "also", "origin")
ClaimObject = dict[str, JsonValue]
_MOST_SENTENCES = 10**9 - 1
NO_LIMIT = "none"
SentenceLimit = Annotated[
    Annotated[int, Field(ge=1, le=_MOST_SENTENCES)] | None,
    BeforeValidator(lambda value: None if value == NO_LIMIT else value),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": _MOST_SENTENCES},
                {"type": "string", "const": NO_LIMIT},
                {"type": "null"},
            ]
        }
    ),
]


def _as_objects(claims: tuple[str | ClaimObject, ...]) -> tuple[str | ClaimObject, ...]:
    """Texts become claim objects, so that a request has one spelling."""
    return tuple({"text": claim} if isinstance(claim, str) else claim for claim in claims)


Mode = Literal["live", "batch"]
BatchFinish = Literal["wait", "live"]
Claims = Annotated[
    tuple[str | ClaimObject, ...],
    Field(min_length=1, max_length=MAX_CLAIMS, strict=False),
    AfterValidator(_as_objects),
]


class ClaimPair(BaseModel):
    """A claim of the earlier version and one of now that a person found to say the same."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    earlier: Id = Field(description="The claim_id in the earlier version.")
    claim_id: Id = Field(description="The claim_id in the process.")


class VerifyRequest(OfProcess):
    """Which claims are verified, and how; omitted fields have the defaults of `veritrail verify`.

    Without `claims`, `claim_ids` and `extract` the stored claims of the process are verified; where
    it has none, a model extracts some, or without a model they are the sentences of its final
    outputs that state something. No field names a file, an address or a secret of the server.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"process_id": "harbour-2025"},
                {
                    "process_id": "harbour-2025",
                    "claims": ["The new quay opened in 2021."],
                    "engine": "openai",
                    "model": "gpt-6-luna",
                    "budget_usd": 2.5,
                },
            ]
        },
    )

    claims: Claims | None = Field(
        None,
        description="Claims: texts, or objects as in a process file; one with the origin `asked` "
        "is a question, which is kept apart and counted nowhere.",
    )
    claim_ids: Annotated[tuple[Id, ...], Field(strict=False)] | None = Field(
        None, min_length=1, max_length=MAX_CLAIMS, description="Stored claims."
    )
    extract: bool = Field(False, description="Extract the claims from the node with a model.")
    node_id: Annotated[str, Field(min_length=1, max_length=MAX_NODE_ID)] | None = Field(
        None, description="The node that new claims are about; default: the only terminal."
    )
    unfinished: bool = Field(False, description="Leave out claims that have a verdict.")
    retry_failed: bool = Field(False, description="Only claims whose latest attempt has none.")
    again: bool = Field(False, description="Also what was verified with the same settings.")
    since: Annotated[str, Field(pattern=rf"^{PUBLIC_ID}$")] | None = Field(
        None,
        description="Keep the verdicts of an earlier version that the changes since cannot touch: "
        "another process_id, a content hash (at least 12 digits), or `last`.",
    )
    match: Annotated[tuple[ClaimPair, ...], Field(strict=False)] = Field(
        (),
        max_length=MAX_CLAIMS,
        description="With `since`: claims with other texts that say the same, as a person found.",
    )
    explain: bool = Field(
        False,
        description="Behind the verdicts, with what is left to spend: attribute the sentences of "
        "error nodes that carried each claim that is Not Fully Supported.",
    )
    q: int = Field(DEFAULT_Q, ge=1, le=MAX_Q, description="Consecutive Not Fully Supported.")
    engine: Name | None = Field(
        None, description="lexical, nli, decisions, openai, azure or recorded."
    )
    verdict_engine: Name | None = Field(
        None, description="Another engine that gives the verdicts; `engine` selects the evidence."
    )
    model: Name | None = Field(None, description="The model that is asked; selects openai.")
    claims_model: Name | None = Field(
        None, description="The model that extracts claims and splits them into sub-claims."
    )
    selection_model: Name | None = Field(None, description="The model that selects evidence.")
    verdict_model: Name | None = Field(None, description="The model that gives verdicts.")
    escalate_to: Name | None = Field(
        None,
        description="A stronger model that gives the verdict wherever that of `verdict_model` "
        "would not be Fully Supported, or is not sure. Ours, not the paper's.",
    )
    budget_usd: JobBudget = None
    max_calls: JobCalls = None
    price: JobPrice = None
    samples: int = Field(1, ge=1, le=100, description="Answers drawn to each prompt.")
    threshold: Annotated[int, Field(ge=1, le=100)] | None = Field(
        None, description="Samples that must agree; default: more than half of them."
    )
    max_root_sentences: SentenceLimit = Field(
        40, description="Sentences of roots in a prompt; none or null: what the window holds."
    )
    max_sentences: SentenceLimit = Field(
        40, description="Sentences of other nodes in a prompt; none or null: what the window holds."
    )
    verdict_sentences: SentenceLimit = Field(
        200,
        description="Sentences of a verdict prompt without roots; none or null: "
        "what the window holds.",
    )
    verdict_root_sentences: SentenceLimit = Field(
        None,
        description="Sentences of a verdict prompt with roots; none or null: "
        "what the window holds.",
    )
    max_reruns: int = Field(
        2, ge=0, le=20, description="Selections again from evidence that is too much."
    )
    sub_claims: bool = Field(True, description="Whether a model splits claims into sub-claims.")
    correct: bool = Field(
        False,
        description="Whether the smallest change that its evidence supports is proposed for each "
        "claim that is Not Fully Supported. It is judged again first, and changes nothing.",
    )
    share: int = Field(
        1,
        ge=1,
        le=MOST_SHARED,
        description="The most claims that one prompt may ask about. Ours: the paper asks about one "
        "claim a prompt; measure what it does to your model.",
    )
    effort: JobEffort = None
    structured: JobStructured = False
    use_cache: JobCache = True
    mode: Mode = Field(
        "live", description="live, or batch: calls go out in files, at a lower price, within a day."
    )
    batch_finish: BatchFinish = Field(
        "wait",
        description="What had no valid answer in a batch waits for the next one, or is asked live.",
    )
    batch_price_factor: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None,
        description="What part of the price a call in a batch costs; null: as far as known, else "
        "0.5.",
    )

    def with_claims(self, records: Sequence[ClaimRecord]) -> Self:
        """The request with claims that were read from a file or an option."""
        objects = tuple(
            {
                name: list(map(list, value)) if name == "also" else value
                for name in _GIVEN
                if (value := getattr(one, name))
            }
            | ({"sub_claims": list(one.sub_claims)} if one.sub_claims else {})
            for one in records
        )
        return self.model_copy(update={"claims": objects or None})

    @property
    def names_claims(self) -> bool:
        """Return whether the request itself gives or names claims."""
        return bool(self.claims or self.claim_ids)

    @property
    def named_model(self) -> str | None:
        """A model that the request names for any step."""
        return self.model or self.claims_model or self.selection_model or self.verdict_model

    def claim_records(self) -> list[ClaimRecord]:
        """The claims of `claims`.

        Raises:
            InputError: Some break rules; all violations are listed.
        """
        records: list[ClaimRecord] = []
        violations: list[Violation] = []
        for place, value in enumerate(self.claims or ()):
            record = read_claim(value, f"claims[{place}]")
            if isinstance(record, ClaimRecord):
                records.append(record)
            else:
                violations += record
        if violations:
            raise InputError("Claims break rules; nothing was begun.", violations)
        return records
