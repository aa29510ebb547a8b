"""Attributions over REST: what sentences rest on, and having sentences attributed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from veritrail_graph.api.app.findings import AttributedNodePage, AttributionPage
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.requests.attribute import AttributeRequest
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.answers import answer
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import CHECKED, Cursor, Limit, Listing, ProcessId
from veritrail_graph.api.service.http.problems import problems_of
from veritrail_graph.api.service.rest.jobs import ONE_KEY, Key
from veritrail_graph.graph.contract import PUBLIC_ID
from veritrail_graph.graph.model.attribution import LeftOut
from veritrail_graph.graph.model.noun import MAX_NODE_ID

router = APIRouter(
    route_class=OneVersion,
    prefix="/v1/processes/{process_id}",
    tags=["attributions"],
    dependencies=[CHECKED, needs(Scope.READ)],
)

NodeAsked = Annotated[
    str, Query(min_length=1, max_length=MAX_NODE_ID, description="The node, by its node_id.")
]
RunAsked = Annotated[
    str | None,
    Query(
        pattern=rf"^{PUBLIC_ID}$",
        description="Only what this run found; default: the attribution in force of each sentence.",
    ),
]


@router.get("/attributions", response_model=AttributionPage, responses=problems_of(404, 504))
async def list_attributions(
    app: App,
    process_id: ProcessId,
    node_id: NodeAsked,
    run_id: RunAsked = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """What each attributed sentence of a node rests on, also where it is wrong.

    A sentence that was never attributed, or that failed, is left out: nothing is known of it. One
    with an empty list was attributed, and rests on no source sentence.
    """
    listing = Listing("attributions", (process_id, node_id, run_id))
    after = listing.place(cursor, (-1, -1))
    found = await app.attributions.of_node(process_id, node_id, run_id, after, limit)
    last = found.sentences[-1] if found.more else None
    behind = listing.cursor(last.start, last.end) if last is not None else None
    return answer(AttributionPage.of(found, behind))


@router.get("/attributed-nodes", response_model=AttributedNodePage, responses=problems_of(404, 504))
async def list_attributed_nodes(
    app: App, process_id: ProcessId, limit: Limit = 100, cursor: Cursor = None
) -> Response:
    """The nodes that hold attributed sentences, by stage and place in the input."""
    listing = Listing("attributed-nodes", (process_id,))
    found, more = await app.attributions.nodes(process_id, listing.place(cursor, (-1, -1)), limit)
    behind = listing.cursor(found[-1].stage, found[-1].position) if more else None
    return answer(AttributedNodePage(attributed_nodes=found, nextCursor=behind))


submitting = APIRouter(
    route_class=OneVersion,
    prefix="/v1/attributions",
    tags=["attributions"],
    dependencies=[CHECKED, ONE_KEY],
)


class AttributionAccepted(BaseModel):
    """A job that attributes sentences."""

    job_id: str = Field(examples=["j-0b0f6d0c6a6b4f0f9c3f0c4b6a0f7a11"])
    run_id: str = Field(
        description="The run of its attributions.",
        examples=["r-0b0f6d0c6a6b4f0f9c3f0c4b6a0f7a11"],
    )
    node_ids: list[str] = Field(description="The nodes whose sentences it attributes.")
    sentences: int = Field(description="How many of their sentences it attributes.")
    left_out: list[LeftOut] = Field(
        description="Nodes that were asked for and have nothing to attribute, each with the reason."
    )


@submitting.post(
    "",
    status_code=202,
    response_model=AttributionAccepted,
    responses=problems_of(404, 409),
    dependencies=[needs(Scope.VERIFY)],
)
async def submit_attribution(
    app: App, caller: Calling, wanted: AttributeRequest, idempotency_key: Key = None
) -> Response:
    """Have sentences attributed, of nodes or of claims; `Location` says where the job is.

    What the same engine found for these sentences before is replaced, sentence by sentence.
    """
    job = await app.jobs.submit(caller, wanted, idempotency_key)
    accepted = {
        "job_id": job.job_id,
        "run_id": job.run_id,
        "node_ids": list(job.node_ids),
        "sentences": sum(job.counts.values()),
        "left_out": [one.json_object() for one in job.left_out],
    }
    return answer(accepted, 202, {"Location": f"/v1/jobs/{job.job_id}"})
