"""Search over the texts of all processes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from veritrail_graph.api.app.excerpts import marked
from veritrail_graph.api.app.search import LONGEST_QUERY, MOST_RESULTS, Kind, SearchResult
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.rendering import render
from veritrail_graph.api.service.http.access import App, needs
from veritrail_graph.api.show.words import Mark, mark_of
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Status, Verdict

router = APIRouter(include_in_schema=False, dependencies=[needs(Scope.READ)])

PAGE = 20


@router.get("/search")
async def search(
    request: Request,
    app: App,
    q: Annotated[str, Query(max_length=10 * LONGEST_QUERY)] = "",
    kind: Kind | None = None,
    process: Annotated[str | None, Query(min_length=1, max_length=128)] = None,
    after: Annotated[int, Query(ge=0, le=MOST_RESULTS)] = 0,
) -> HTMLResponse:
    """Nodes and claims that hold all words, the best first."""
    found, behind, wrong = None, None, None
    if q.strip():
        try:
            found, behind = await app.search.find(
                q, kind=kind, process_id=process, after=after, limit=PAGE
            )
        except InputError as error:
            wrong = str(error)
    known = {"q": q, "kind": kind, "process": process}
    return render(
        request,
        "search.html",
        422 if wrong else 200,
        q=q,
        kind=kind,
        process_id=process,
        longest=LONGEST_QUERY,
        wrong=wrong,
        found=found,
        results=[
            (
                one,
                marked(one.excerpt, q),
                _mark(one) if one.claim_id else None,
            )
            for one in (found.results if found else ())
        ],
        to=lambda **changed: url("search", **{**known, **changed}),
        first=url("search", **known) if after else None,
        next=url("search", **known, after=behind) if behind is not None else None,
    )


def _mark(one: SearchResult) -> Mark:
    """The mark of a claim that was found."""
    verdict = Verdict(one.verdict) if one.verdict else None
    status = Status(one.status) if one.status else None
    return mark_of(verdict, status, indicative=one.indicative)
