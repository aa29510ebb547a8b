"""Queries of the library, and what they answer: columns and rows.

Source: ours.
"""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field, JsonValue

from veritrail_graph.graph.model.noun import Answer


class QueryRows(Answer):
    """Columns and rows: `truncated` when there were more, `indicative` when no model judged."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "columns": [
                        "stage",
                        "nodes",
                        "claims_with_errors",
                        "sentences_cited",
                        "claims_counted",
                    ],
                    "rows": [[1, 14, 0, 21, 0.0], [2, 14, 5, 17, 4.5]],
                    "truncated": False,
                    "indicative": True,
                }
            ]
        }
    )

    columns: list[str]
    rows: list[list[Any]] = Field(description="At most 10,000.")
    truncated: bool = False
    indicative: bool | None = None
    changes: dict[str, int] = Field(
        default={},
        description="What a statement given as text changed, in the words of the engine.",
        exclude=True,
    )


class QueryParameter(Answer):
    """A parameter of a query."""

    name: str
    type: str
    required: bool
    default: JsonValue
    choices: list[str]
    bounds: list[int] | None
    meaning: str


class QueryColumn(Answer):
    """A column of an answer."""

    name: str
    type: str
    meaning: str


class Query(Answer):
    """A query of the library, with all that its header says."""

    name: str = Field(examples=["provenance"])
    group: str | None = None
    purpose: str
    parameters: list[QueryParameter] = Field([])
    columns: list[QueryColumn] = Field([])
    shows_verdicts: bool = False
    example: dict[str, str] = Field({})
    source: str = ""
