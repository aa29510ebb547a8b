"""Nodes of a process over REST."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from veritrail_graph.api.app.answers import LineageFound, NodesFound, NodesPage
from veritrail_graph.api.app.nodes import DEEPEST, LARGEST
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.service.http.access import App, needs
from veritrail_graph.api.service.http.answers import answer
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import CHECKED, MOST, Cursor, Limit, Listing, ProcessId
from veritrail_graph.api.service.http.problems import problem, problems_of
from veritrail_graph.graph.model import Role
from veritrail_graph.graph.model.lineage import Direction
from veritrail_graph.graph.model.noun import MAX_NODE_ID, MAX_STAGE

router = APIRouter(
    route_class=OneVersion,
    prefix="/v1/processes/{process_id}",
    tags=["nodes"],
    dependencies=[CHECKED],
)

LONGEST_SEARCH = 1_000
"""Characters of a text that is looked for."""

FieldName = Literal["text", "prompt", "metadata"]
_FIELDS = r"^(text|prompt|metadata)(,(text|prompt|metadata))*$"

Fields = Annotated[
    str | None,
    Query(
        pattern=_FIELDS,
        description="What is long of a node and wanted too: text, prompt, metadata; with commas.",
        examples=["text"],
    ),
]


class NodesAsked(BaseModel):
    """Nodes that are asked for."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"node_ids": ["s14", "final"], "fields": ["text"]}]},
    )

    node_ids: list[Annotated[str, Field(min_length=1, max_length=MAX_NODE_ID)]] = Field(
        min_length=1, max_length=MOST
    )
    fields: list[FieldName] = Field(default=[], max_length=3)


@router.get(
    "/nodes",
    response_model=NodesPage,
    responses=problems_of(404, 504),
    dependencies=[needs(Scope.READ)],
)
async def list_nodes(
    app: App,
    process_id: ProcessId,
    stage: Annotated[
        int | None, Query(ge=0, le=MAX_STAGE, description="Only nodes of this stage.")
    ] = None,
    role: Annotated[Role | None, Query(description="Only nodes of this role.")] = None,
    text: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=LONGEST_SEARCH,
            description="Only nodes whose text holds this, in capitals or not.",
        ),
    ] = None,
    fields: Fields = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Nodes by stage and place in the input.

    A page ends before `limit` where the texts that were asked for come to 20 million characters.
    """
    listing = Listing("nodes", (process_id, stage, role, text))
    after = listing.place(cursor, (-1, -1))
    asked = fields.split(",") if fields else []
    found = await app.nodes.search(
        process_id,
        stage=stage,
        role=role,
        text=text,
        after=after,
        limit=limit,
        fields=asked,
    )
    last = (found.nodes[-1].stage, found.nodes[-1].position) if found.more else None
    return answer(
        NodesPage.model_construct(
            nodes=found.nodes, nextCursor=listing.cursor(*last) if last else None
        )
    )


@router.post(
    "/nodes:batchGet",
    response_model=NodesFound,
    responses=problems_of(404, 504),
    dependencies=[needs(Scope.READ)],
)
async def get_nodes(app: App, process_id: ProcessId, asked: NodesAsked) -> Response:
    """Nodes by their ids, which may hold any character."""
    found = await app.nodes.get(process_id, asked.node_ids, asked.fields)
    return answer(NodesFound.model_construct(nodes=found.nodes, missing=list(found.missing)))


walking = APIRouter(
    route_class=OneVersion,
    prefix="/v1/processes/{process_id}",
    tags=["lineage"],
    dependencies=[CHECKED],
)


@dataclass(frozen=True, slots=True)
class _Bound:
    name: str
    most: int

    def fault(self, given: int) -> str | None:
        if 1 <= given <= self.most:
            return None
        return f"{self.name} must be from 1 to {self.most:,}, and is {given:,}."

    def json_schema(self) -> dict[str, JsonValue]:
        """For the description alone: what is beyond is answered with 400 and not with 422."""
        return {"minimum": 1, "maximum": self.most}


_DEPTH, _LIMIT = _Bound("depth", DEEPEST), _Bound("limit", LARGEST)


@walking.get(
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
            json_schema_extra=_DEPTH.json_schema(),
        ),
    ] = 1,
    limit: Annotated[
        int,
        Query(
            description=f"The most nodes, the nearest first; up to {LARGEST:,}.",
            json_schema_extra=_LIMIT.json_schema(),
        ),
    ] = 500,
) -> Response:
    """The surroundings of a node: nearest nodes first, every edge between them, what is hidden."""
    for fault in (_DEPTH.fault(depth), _LIMIT.fault(limit)):
        if fault is not None:
            return problem(400, "out-of-range", fault)
    found = await app.nodes.lineage(process_id, node_id, direction, depth, limit)
    return answer(LineageFound.of(found))
