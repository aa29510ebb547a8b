"""The request to check an answer over its sources, for REST, the page and MCP."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from veritrail_graph.api.requests.value_faults import violations_of
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.plain import PlainText

MOST_SOURCES = 1_000
MOST_CHARACTERS = 10_000_000


class SourceText(BaseModel):
    """A text that an answer was made from, with the name that people know it by."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=200)]
    text: Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)]


class CheckBody(BaseModel):
    """An answer, and what it was made from."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "answer": "The ferry carries 48 cars.",
                    "sources": [{"name": "ferry.md", "text": "The ferry carries 42 cars."}],
                    "question": "How many cars does the ferry carry?",
                    "options": {"engine": "lexical"},
                }
            ]
        },
    )

    answer: Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)]
    sources: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)] | SourceText],
        Field(min_length=1, max_length=MOST_SOURCES),
    ]
    question: Annotated[str, Field(max_length=10_000)] | None = None
    options: dict[str, Any] = Field(
        {}, description="How claims are verified: fields of `POST /v1/verifications`."
    )

    @classmethod
    def checked(cls, values: Mapping[str, Any]) -> CheckBody:
        """Return the request with these values, as a door other than REST receives them.

        Raises:
            InputError: Values break bounds; all of them are listed.
        """
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            violations = violations_of(error)
        raise InputError("This cannot be checked.", violations)

    def texts(self) -> list[PlainText]:
        """Return the sources, each with its name, or with one by its place.

        Raises:
            InputError: Two have one name.
        """
        given = [
            PlainText(f"source-{number}", one)
            if isinstance(one, str)
            else PlainText(one.name, one.text)
            for number, one in enumerate(self.sources, start=1)
        ]
        names = Counter(one.name for one in given)
        if twice := [name for name, times in names.items() if times > 1]:
            raise InputError(f"sources: two have the name {twice[0]!r}; give each one of its own.")
        return given
