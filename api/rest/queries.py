"""The query library over REST."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import App, needs
from veritrail_graph.api.http.answers import answer
from veritrail_graph.api.http.names import CHECKED
from veritrail_graph.api.http.problems import problems_of
from veritrail_graph.graph.store.queries import MAX_ROWS

router = APIRouter(
    prefix="/v1/queries", tags=["queries"], dependencies=[CHECKED, needs(Scope.READ)]
)

MOST_PARAMETERS = 100


class QueryCall(BaseModel):
    """Parameters of a query, by name; those with a default may be left out."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"params": {"process_id": "harbour-summary"}}]},
    )

    params: dict[str, JsonValue] = Field(default={}, max_length=MOST_PARAMETERS)


class QueryAnswer(BaseModel):
    """Columns and rows: `truncated` when there were more, `indicative` when no model judged."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "columns": ["stage", "nodes", "claims_with_errors", "sentences_cited"],
                    "rows": [[1, 14, 0, 21], [2, 14, 5, 17]],
                    "truncated": False,
                    "indicative": True,
                }
            ]
        }
    )

    columns: list[str]
    rows: list[list[Any]] = Field(description=f"At most {MAX_ROWS:,}.")
    truncated: bool
    indicative: bool | None


class ParameterModel(BaseModel):
    """A parameter of a query."""

    name: str
    type: str
    required: bool
    default: JsonValue
    choices: list[str]
    bounds: list[int] | None
    meaning: str


class ColumnModel(BaseModel):
    """A column of an answer."""

    name: str
    type: str
    meaning: str


class QueryModel(BaseModel):
    """A query, with all that its header says."""

    name: str = Field(examples=["provenance"])
    group: str | None
    purpose: str
    parameters: list[ParameterModel]
    columns: list[ColumnModel]
    shows_verdicts: bool
    example: dict[str, str]
    source: str


class QueryList(BaseModel):
    """The queries of the library."""

    queries: list[QueryModel]


@router.get("", response_model=QueryList)
async def list_queries(app: App) -> Response:
    """Every query of the library, with its parameters and columns."""
    return answer({"queries": [app.queries.described(one) for one in app.queries.all()]})


@router.post("/{name}", response_model=QueryAnswer, responses=problems_of(404, 504))
async def run_query(
    app: App,
    name: Annotated[str, Path(description="The query.", examples=["stage_summary"])],
    call: QueryCall,
) -> Response:
    """Run a query of the library by name; it reads and never writes."""
    found = await app.queries.run(name, call.params)
    return answer(
        {
            "columns": found.columns,
            "rows": found.rows,
            "truncated": found.truncated,
            "indicative": found.indicative,
        }
    )
