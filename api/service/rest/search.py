"""Search over the texts of all processes, over REST."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from veritrail_graph.api.app.search import LONGEST_QUERY, Kind, SearchResults
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.service.http.access import App, needs
from veritrail_graph.api.service.http.answers import answer
from veritrail_graph.api.service.http.pages import CHECKED, Cursor, Limit, Listing
from veritrail_graph.api.service.http.problems import problems_of

router = APIRouter(prefix="/v1", tags=["processes"], dependencies=[CHECKED])


@router.get(
    "/search",
    response_model=SearchResults,
    responses=problems_of(404),
    dependencies=[needs(Scope.READ)],
)
async def search(
    app: App,
    q: Annotated[
        str,
        Query(
            min_length=1,
            max_length=LONGEST_QUERY,
            description="Words, all of which are needed; those in quotation marks must be side by "
            "side, and the last one may go on.",
            examples=["dredger"],
        ),
    ],
    kind: Annotated[Kind | None, Query(description="Only nodes, or only claims.")] = None,
    process_id: Annotated[
        str | None, Query(min_length=1, max_length=128, description="Only of this process.")
    ] = None,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> Response:
    """Nodes and claims of all processes that hold all words, the best first.

    `waiting` says how many processes are not in the index yet.
    """
    listing = Listing("search", (q, kind, process_id))
    (after,) = listing.place(cursor, (0,))
    found, behind = await app.search.find(
        q, kind=kind, process_id=process_id, after=after, limit=limit
    )
    following = listing.cursor(behind) if behind is not None else None
    return answer(found.model_copy(update={"nextCursor": following}))
