"""What a node was made from, and what was made of it, over REST."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import JsonValue

from veritrail_graph.api.app.answers import LineageFound
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import App, needs
from veritrail_graph.api.http.answers import answer
from veritrail_graph.api.http.names import CHECKED, ProcessId
from veritrail_graph.api.http.problems import problem, problems_of
from veritrail_graph.graph.model.noun import MAX_NODE_ID
from veritrail_graph.graph.model.walk import Direction

router = APIRouter(prefix="/v1/processes/{process_id}", tags=["lineage"], dependencies=[CHECKED])

DEEPEST, LARGEST = 100, 5_000
"""The greatest depth and limit that may be asked for."""


@dataclass(frozen=True, slots=True)
class _Bound:
    name: str
    most: int

    def fault(self, given: int) -> str | None:
        if 1 <= given <= self.most:
            return None
        return f"{self.name} must be from 1 to {self.most:,}, and is {given:,}."

    def told(self) -> dict[str, JsonValue]:
        """For the description alone: what is beyond is answered with 400 and not with 422."""
        return {"minimum": 1, "maximum": self.most}


_DEPTH, _LIMIT = _Bound("depth", DEEPEST), _Bound("limit", LARGEST)


@router.get(
    "/lineage",
    response_model=LineageFound,
    responses=problems_of(400, 404, 504),
    dependencies=[needs(Scope.READ)],
)
async def get_lineage(
    app: App,
    process_id: ProcessId,
    node_id: Annotated[
        str, Query(min_length=1, max_length=MAX_NODE_ID, description="The node to begin with.")
    ],
    direction: Annotated[
        Direction, Query(description="both: what it was made from, and what was made of it.")
    ] = Direction.UPSTREAM,
    depth: Annotated[
        int,
        Query(
            description=f"Steps away, from 1 (direct neighbours) to {DEEPEST}.",
            json_schema_extra=_DEPTH.told(),
        ),
    ] = 1,
    limit: Annotated[
        int,
        Query(
            description=f"At most so many nodes, the nearest first; up to {LARGEST:,}.",
            json_schema_extra=_LIMIT.told(),
        ),
    ] = 500,
) -> Response:
    """The surroundings of a node: nearest nodes first, every edge between them, what is hidden."""
    for fault in (_DEPTH.fault(depth), _LIMIT.fault(limit)):
        if fault is not None:
            return problem(400, "out-of-range", fault)
    found = await app.nodes.lineage(process_id, node_id, direction, depth, limit)
    return answer(LineageFound.of(found))
