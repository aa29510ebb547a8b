"""Links that show one process to people without a key, over REST."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from veritrail_graph.api.app.sharing import NewShare, ShareList
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.requests.bodies import ShareWanted
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.answers import answer
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import CHECKED, ProcessId
from veritrail_graph.api.service.http.problems import problems_of

_READ_AND_WRITE = [needs(Scope.READ, Scope.WRITE)]
"""Whoever makes a link can open it, and reads the process."""

router = APIRouter(
    route_class=OneVersion,
    prefix="/v1/processes/{process_id}/shares",
    tags=["processes"],
    dependencies=[CHECKED],
)

ShareId = Annotated[str, Path(description="The link, by its id.", examples=["0b0f6d0c6a6b4f0f"])]


@router.post(
    "",
    status_code=201,
    response_model=NewShare,
    responses=problems_of(404),
    dependencies=_READ_AND_WRITE,
)
async def create_share(
    app: App, caller: Calling, process_id: ProcessId, wanted: ShareWanted
) -> Response:
    """Make a link that shows the process, read-only, without a key, until its end.

    `path` opens it; it is shown this once.
    """
    found = await app.sharing.create(process_id, days=wanted.days, note=wanted.note, by=caller)
    return answer(found, 201)


@router.get("", response_model=ShareList, responses=problems_of(404), dependencies=_READ_AND_WRITE)
async def list_shares(app: App, process_id: ProcessId) -> Response:
    """The links of a process, newest first, those that have ended too."""
    return answer(await app.sharing.of_process(process_id))


@router.delete(
    "/{share_id}", status_code=204, responses=problems_of(404), dependencies=[needs(Scope.WRITE)]
)
async def revoke_share(
    app: App, caller: Calling, process_id: ProcessId, share_id: ShareId
) -> Response:
    """End a link at once."""
    await app.sharing.revoke(process_id, share_id, by=caller)
    return Response(status_code=204)
