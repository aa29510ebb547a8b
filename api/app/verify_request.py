"""The one request to verify claims, for every door and for the row of a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    WithJsonSchema,
)

from veritrail_graph.api.app.value_faults import sentence
from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.importers.process_file.schema import read_claim
from veritrail_graph.graph.importers.records import ClaimRecord
from veritrail_graph.graph.model.canonical import canonical
from veritrail_graph.graph.model.noun import MAX_NODE_ID
from veritrail_graph.verifier.driver import DEFAULT_Q as DEFAULT_Q

MAX_CLAIMS = 10_000
MAX_Q = 1_000_000
MAX_USD = 1e9
MAX_CALLS = 2_000_000_000

_GIVEN = ("text", "claim_id", "node_id", "start", "end", "label", "also", "origin")
ClaimObject = dict[str, JsonValue]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Id = Annotated[str, Field(min_length=1, max_length=128)]
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
BudgetUsd = Annotated[float, Field(ge=0, le=MAX_USD)]
CallLimit = Annotated[int, Field(ge=0, le=MAX_CALLS)]


def _as_objects(claims: tuple[str | ClaimObject, ...]) -> tuple[str | ClaimObject, ...]:
    """Texts become claim objects, so that a request has one spelling."""
    return tuple({"text": claim} if isinstance(claim, str) else claim for claim in claims)


Claims = Annotated[
    tuple[str | ClaimObject, ...],
    Field(min_length=1, max_length=MAX_CLAIMS, strict=False),
    AfterValidator(_as_objects),
]


class VerifyRequest(BaseModel):
    """Which claims are verified, and how; omitted fields have the defaults of `veritrail verify`.

    Without `claims`, `claim_ids` and `extract` the stored claims of the process are verified. No
    field names a file, an address or a secret of the server.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,  # but for lists, which are tuples here
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

    process_id: Id
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
    q: int = Field(DEFAULT_Q, ge=1, le=MAX_Q, description="Consecutive Not Fully Supported.")
    engine: Name | None = Field(None, description="lexical, nli, openai or azure.")
    verdict_engine: Name | None = Field(
        None, description="Another engine that gives the verdicts; `engine` selects the evidence."
    )
    model: Name | None = Field(None, description="The model that is asked; selects openai.")
    claims_model: Name | None = Field(
        None, description="The model that extracts claims and splits them into sub-claims."
    )
    selection_model: Name | None = Field(None, description="The model that selects evidence.")
    verdict_model: Name | None = Field(None, description="The model that gives verdicts.")
    budget_usd: BudgetUsd | None = Field(
        None, description="What the job may cost at most, over all workers."
    )
    max_calls: CallLimit | None = Field(
        None, description="The calls that the job may make at most, over all workers."
    )
    price: Annotated[str, Field(max_length=100)] | None = Field(
        None, description="IN,OUT[,CACHED] in USD per million tokens; not with a key's budget."
    )
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
    structured: bool = Field(False, description="Use structured output (JSON schema).")
    use_cache: bool = Field(True, description="Use and fill the cache of answers.")

    @classmethod
    def checked(cls, values: Mapping[str, Any], place: str = "") -> Self:
        """The request with these values, as a door other than REST receives them.

        Args:
            values: Fields by name.
            place: What the violations put before the name of a field.

        Raises:
            InputError: Values break bounds; all of them are listed.
        """
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            violations = [
                Violation(one["type"], place + ".".join(map(str, one["loc"])), sentence(one))
                for one in error.errors()
            ]
        raise InputError("The request is invalid.", violations)

    def with_claims(self, records: Sequence[ClaimRecord]) -> Self:
        """The request with claims that were read from a file or an option."""
        objects = tuple(
            {
                name: list(map(list, value)) if name == "also" else value
                for name in (
                    "text",
                    "claim_id",
                    "node_id",
                    "start",
                    "end",
                    "label",
                    "also",
                    "origin",
                )
                if (value := getattr(one, name))
            }
            | ({"sub_claims": list(one.sub_claims)} if one.sub_claims else {})
            for one in records
        )
        return self.model_copy(update={"claims": objects or None})

    def to_json(self) -> str:
        """Canonical JSON: equal requests have equal texts."""
        return canonical(self.model_dump()).decode()

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
