"""The query library over REST."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from veritrail_graph.api.app.findings import QueryList
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.service.http.access import App, needs
from veritrail_graph.api.service.http.answers import answer
from veritrail_graph.api.service.http.pages import CHECKED
from veritrail_graph.api.service.http.problems import problems_of
from veritrail_graph.graph.model.queried import QueryRows

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


@router.get("", response_model=QueryList)
async def list_queries(app: App) -> Response:
    """Every query of the library, with its parameters and columns."""
    return answer({"queries": [app.queries.described(one) for one in app.queries.all()]})


@router.post("/{name}", response_model=QueryRows, responses=problems_of(404, 504))
async def run_query(
    app: App,
    name: Annotated[str, Path(description="The query.", examples=["stage_summary"])],
    call: QueryCall,
) -> Response:
    """Run a query of the library by name; it reads and never writes."""
    found = await app.queries.run(name, call.params)
    return answer(found)
