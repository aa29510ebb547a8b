"""The query library over REST."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, JsonValue

from cypher import Statement
from graph.store.queries import library

router = APIRouter(prefix="/v1/queries", tags=["queries"])


class QueryCall(BaseModel):
    """Parameters of a query, by name; those with a default may be left out."""

    model_config = ConfigDict(extra="forbid")

    params: dict[str, JsonValue] = {}


class QueryAnswer(BaseModel):
    """Columns and rows; `truncated` when there were more rows."""

    columns: list[str]
    rows: list[list[Any]]
    truncated: bool


@router.get("")
async def list_queries() -> dict[str, list[dict[str, Any]]]:
    """Every query of the library, with its parameters and columns."""
    return {"queries": [_described(statement) for statement in library()]}


@router.post("/{name}")
async def run_query(name: str, call: QueryCall, request: Request) -> QueryAnswer:
    """Run a query of the library by name."""
    store = await request.app.state.graph.store()
    found = await store.queries.run(name, call.params)
    return QueryAnswer(
        columns=list(found.columns),
        rows=[list(row) for row in found.rows],
        truncated=found.truncated,
    )


def _described(statement: Statement) -> dict[str, Any]:
    return {
        "name": statement.short_name,
        "purpose": statement.purpose,
        "source": statement.source,
        "parameters": [
            {
                "name": one.name,
                "type": one.type,
                "required": one.required,
                "default": one.default,
                "meaning": one.meaning,
            }
            for one in statement.parameters
        ],
        "columns": [
            {"name": one.name, "type": one.type, "meaning": one.meaning}
            for one in statement.columns
        ],
    }
