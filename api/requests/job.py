"""The base of requests that become jobs: their bounds, their checks, and their one spelling.

A request is the row of its job as well, so equal requests have equal texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from veritrail_graph.api.requests.value_faults import violations_of
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.canonical import canonical

MAX_USD = 1e9
MAX_CALLS = 2_000_000_000
MAX_CLAIMS = 10_000

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Id = Annotated[str, Field(min_length=1, max_length=128)]
BudgetUsd = Annotated[float, Field(ge=0, le=MAX_USD)]
CallLimit = Annotated[int, Field(ge=0, le=MAX_CALLS)]

JobBudget = Annotated[
    BudgetUsd | None, Field(description="What the job may cost at most, over all workers.")
]
JobCalls = Annotated[
    CallLimit | None,
    Field(description="The calls that the job may make at most, over all workers."),
]
JobPrice = Annotated[
    Annotated[str, Field(max_length=100)] | None,
    Field(description="IN,OUT[,CACHED] in USD per million tokens; not with a key's budget."),
]
_EFFORT = "(none|minimal|low|medium|high|xhigh|max)"
_STEP_EFFORT = f"((claims|selection|verdict|escalation)=)?{_EFFORT}"
_EFFORTS = re.compile(f"{_STEP_EFFORT}(,{_STEP_EFFORT})*")


def _efforts(text: str) -> str:
    found = text.replace(" ", "").lower()
    if not _EFFORTS.fullmatch(found):
        raise PydanticCustomError(
            "effort",
            "must be none, minimal, low, medium, high, xhigh or max, for all steps or for one of "
            "claims, selection, verdict and escalation, as in low,verdict=high",
        )
    return found


JobEffort = Annotated[
    Annotated[str, Field(max_length=200), AfterValidator(_efforts)] | None,
    Field(
        description="How much models reason: none, minimal, low, medium, high, xhigh or max; by "
        "step as `low,verdict=high`. Default: as is known of the model."
    ),
]
JobStructured = Annotated[bool, Field(description="Use structured output (JSON schema).")]
JobCache = Annotated[bool, Field(description="Use and fill the cache of answers.")]


class JobRequest(BaseModel):
    """A request to do something in a job; no value is guessed from one of another type."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,  # but for lists, which are tuples here
    )

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
            violations = violations_of(error, place)
        raise InputError("The request is invalid.", violations)

    @classmethod
    def of_any_length(cls, values: Mapping[str, Any]) -> Self:
        """Return the request with these values; its lists may be longer than a door takes them.

        Raises:
            InputError: Other values break bounds; all of them are listed.
        """
        lists = {
            name: tuple(value) for name, value in values.items() if isinstance(value, list | tuple)
        }
        others = {name: value for name, value in values.items() if name not in lists}
        return cls.checked(others).model_copy(update=lists)

    @classmethod
    def of_row(cls, text: str) -> Self:
        """Return the request of the row of a job."""
        return cls.of_any_length(json.loads(text))

    def to_json(self) -> str:
        """Canonical JSON: equal requests have equal texts."""
        return canonical(self.model_dump(mode="json")).decode()


class OfProcess(JobRequest):
    """A request about a process; it comes first among the fields."""

    process_id: Id
