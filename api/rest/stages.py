"""Stages of a process over REST: where nodes, errors and evidence are."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import needs
from veritrail_graph.api.http.answers import answer
from veritrail_graph.api.http.names import CHECKED, ProcessId
from veritrail_graph.api.http.problems import problems_of

router = APIRouter(prefix="/v1/processes/{process_id}", tags=["processes"], dependencies=[CHECKED])


class StageModel(BaseModel):
    """A stage. Each claim counts by its latest verification that succeeded."""

    stage: int
    name: str | None = Field(description="What the input calls it.")
    nodes: int
    claims_with_errors: int = Field(description="Claims into which an error came here.")
    sentences_cited: int = Field(description="Different sentences of its nodes that are evidence.")


class StagesModel(BaseModel):
    """The stages of a process, ascending."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "process_id": "harbour-summary",
                    "stages": [
                        {
                            "stage": 1,
                            "name": "source page",
                            "nodes": 14,
                            "claims_with_errors": 0,
                            "sentences_cited": 21,
                        }
                    ],
                    "indicative": True,
                }
            ]
        }
    )

    process_id: str
    stages: list[StageModel]
    indicative: bool = Field(description="Whether a verdict counts here that no model gave.")


@router.get(
    "/stages",
    response_model=StagesModel,
    responses=problems_of(404, 504),
    dependencies=[needs(Scope.READ)],
)
async def list_stages(request: Request, process_id: ProcessId) -> Response:
    """Per stage: nodes, claims into which an error came there, sentences that evidence cites."""
    store = await request.app.state.graph.store()
    process, found = await asyncio.gather(
        store.processes.get(process_id),
        store.queries.run("stage_summary", {"process_id": process_id}),
    )
    stages = []
    for row in found.rows:
        told = dict(zip(found.columns, row, strict=True))
        name = process.stage_names.get(told["stage"])
        stages.append({"stage": told.pop("stage"), "name": name, **told})
    return answer(
        {"process_id": process_id, "stages": stages, "indicative": bool(found.indicative)}
    )
