"""Dialogues over REST: what was found of their turns, and having turns verified."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from veritrail_graph.api.app.findings import TURNS, DialoguePage, DialogueRuns, TurnPage
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.requests.dialogue import DialogueRequest
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.answers import answer
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import CHECKED, MOST, Cursor, Limit, Listing, ProcessId
from veritrail_graph.api.service.http.problems import problems_of
from veritrail_graph.api.service.rest.jobs import ONE_KEY, Key
from veritrail_graph.graph.contract import PUBLIC_ID
from veritrail_graph.graph.model.dialogue import MAX_ID

router = APIRouter(
    route_class=OneVersion,
    prefix="/v1/processes/{process_id}/dialogue",
    tags=["dialogues"],
    dependencies=[CHECKED, needs(Scope.READ)],
)

RunAsked = Annotated[
    str | None,
    Query(
        pattern=rf"^{PUBLIC_ID}$",
        description="Only what this run found; default: what counts for each turn.",
    ),
]


FromTurn = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=MAX_ID,
        description="The turn that the first page begins with; default: the first one.",
    ),
]

PageLimit = Annotated[
    int, Query(ge=1, le=MOST, description=f"At most this many turns; {MOST:,} is the most.")
]


@router.get("", response_model=DialoguePage, responses=problems_of(404, 504))
async def get_dialogue_result(
    app: App,
    process_id: ProcessId,
    run_id: RunAsked = None,
    from_turn: FromTurn = None,
    limit: PageLimit = TURNS,
    cursor: Cursor = None,
) -> Response:
    """What was found of the assistant's turns, with the score and its course.

    A turn that was never verified is left out; one that failed has a status and no label. Of a
    long dialogue it is a page: `turns` and `course` are those of the page, and `score` and `usage`
    those of all turns.
    """
    listing = Listing("dialogue", (process_id, run_id, from_turn))
    (after,) = listing.place(cursor, (-1,))
    if cursor is None:
        after, _ = await app.dialogues.before(process_id, from_turn)
    found, behind = await app.dialogues.page(process_id, run_id, after, limit)
    following = None if behind is None else listing.cursor(behind)
    return answer(DialoguePage.of(found, following))


@router.get("/runs", response_model=DialogueRuns, responses=problems_of(404, 504))
async def list_dialogue_runs(app: App, process_id: ProcessId) -> Response:
    """The runs in which turns of the dialogue were verified, newest first."""
    return answer(DialogueRuns(dialogue_runs=await app.dialogues.runs(process_id)))


@router.get("/turns", response_model=TurnPage, responses=problems_of(404, 504))
async def list_turns(
    app: App,
    process_id: ProcessId,
    from_turn: FromTurn = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """The turns as they were said, each with the ids of its documents."""
    listing = Listing("turns", (process_id, from_turn))
    after = listing.place(cursor, (-1, -1))
    if cursor is None:
        after = await app.dialogues.before(process_id, from_turn)
    found = await app.dialogues.turns(process_id, after, limit + 1)
    behind = listing.cursor(*found[limit - 1].place) if len(found) > limit else None
    return answer(TurnPage(turns=[one.turn for one in found[:limit]], nextCursor=behind))


submitting = APIRouter(
    route_class=OneVersion,
    prefix="/v1/dialogue-verifications",
    tags=["dialogues"],
    dependencies=[CHECKED, ONE_KEY],
)


class DialogueAccepted(BaseModel):
    """A job that verifies turns of a dialogue."""

    job_id: str = Field(examples=["j-0b0f6d0c6a6b4f0f9c3f0c4b6a0f7a11"])
    run_id: str = Field(
        description="The run that its results belong to.",
        examples=["r-0b0f6d0c6a6b4f0f9c3f0c4b6a0f7a11"],
    )
    turn_ids: list[str] = Field(description="The turns that it verifies, in their order.")


@submitting.post(
    "",
    status_code=202,
    response_model=DialogueAccepted,
    responses=problems_of(404, 409),
    dependencies=[needs(Scope.VERIFY)],
)
async def submit_dialogue(
    app: App, caller: Calling, wanted: DialogueRequest, idempotency_key: Key = None
) -> Response:
    """Have the assistant's turns of a dialogue verified; `Location` says where the job is.

    Turns are verified one after the other, and each is stored as soon as it has ended.
    """
    job = await app.jobs.submit(caller, wanted, idempotency_key)
    accepted = {"job_id": job.job_id, "run_id": job.run_id, "turn_ids": list(job.turn_ids)}
    return answer(accepted, 202, {"Location": f"/v1/jobs/{job.job_id}"})
