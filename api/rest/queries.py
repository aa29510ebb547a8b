"""The query library over REST."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, JsonValue

from graph.store.queries import described, library

router = APIRouter(prefix="/v1/queries", tags=["queries"])


class QueryCall(BaseModel):
    """Parameters of a query, by name; those with a default may be left out."""

    model_config = ConfigDict(extra="forbid")

    params: dict[str, JsonValue] = {}


class QueryAnswer(BaseModel):
    """Columns and rows: `truncated` when there were more, `indicative` when no model judged."""

    columns: list[str]
    rows: list[list[Any]]
    truncated: bool
    indicative: bool | None


@router.get("")
async def list_queries() -> dict[str, list[dict[str, Any]]]:
    """Every query of the library, with its parameters and columns."""
    return {"queries": [described(statement) for statement in library()]}


@router.post("/{name}")
async def run_query(name: str, call: QueryCall, request: Request) -> QueryAnswer:
    """Run a query of the library by name."""
    store = await request.app.state.graph.store()
    found = await store.queries.run(name, call.params)
    return QueryAnswer(
        columns=list(found.columns),
        rows=[list(row) for row in found.rows],
        truncated=found.truncated,
        indicative=found.indicative,
    )
