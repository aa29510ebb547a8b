"""Reviews over REST: what people say of verdicts, beside them and never in their place."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import APIRouter, Response
from pydantic import BaseModel

from veritrail_graph.api.app.answers import Page
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.requests.bodies import ReviewGiven, ReviewsGiven
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.answers import answer
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import (
    CHECKED,
    ClaimId,
    Cursor,
    Limit,
    Listing,
    ProcessId,
)
from veritrail_graph.api.service.http.problems import problems_of
from veritrail_graph.graph.model import Review
from veritrail_graph.graph.model.agreement import Agreement
from veritrail_graph.graph.reviewing import NewReview, ReviewInTable

router = APIRouter(
    route_class=OneVersion,
    prefix="/v1/processes/{process_id}",
    tags=["reviews"],
    dependencies=[CHECKED],
)


class ReviewsStored(BaseModel):
    """The reviews that were sent together, as they are stored."""

    process_id: str
    reviews: list[Review]


class ReviewPage(Page):
    """A page of reviews, newest first."""

    reviews: list[Review]


@router.post(
    "/claims/{claim_id}/reviews",
    status_code=201,
    response_model=Review,
    responses=problems_of(404),
    dependencies=[needs(Scope.READ, Scope.REVIEW)],
)
async def add_review(
    app: App, caller: Calling, process_id: ProcessId, claim_id: ClaimId, given: ReviewGiven
) -> Response:
    """Append a review of a claim's verdict; nothing is replaced, and no verdict is changed."""
    reviewer = caller.author(given.reviewer)
    new = NewReview(given.verdict, given.reason, reviewer, given.overrides)
    review = await app.reviews.add(process_id, claim_id, new, by=caller)
    names = quote(process_id, safe=""), quote(claim_id, safe="")
    place = "/v1/processes/{}/claims/{}/reviews".format(*names)
    return answer(review.json_object(), 201, {"Location": place})


@router.post(
    "/reviews:import",
    status_code=201,
    response_model=ReviewsStored,
    responses=problems_of(404),
    dependencies=[needs(Scope.READ, Scope.REVIEW)],
)
async def import_reviews(
    app: App, caller: Calling, process_id: ProcessId, given: ReviewsGiven
) -> Response:
    """Append reviews of several claims: all are checked first, and faults name the review."""
    rows = [
        ReviewInTable(
            **{**one.model_dump(), "reviewer": one.reviewer or ""}, where=f"reviews[{place}]"
        )
        for place, one in enumerate(given.reviews)
    ]
    made = await app.reviews.add_all(process_id, rows, caller.author(None), by=caller)
    stored = {"process_id": process_id, "reviews": [one.json_object() for one in made]}
    return answer(stored, 201)


@router.get(
    "/claims/{claim_id}/reviews",
    response_model=ReviewPage,
    responses=problems_of(404),
    dependencies=[needs(Scope.READ)],
)
async def list_claim_reviews(
    app: App,
    process_id: ProcessId,
    claim_id: ClaimId,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """The reviews of a claim, newest first; the claim itself says what they come to."""
    listing = Listing("reviews", (process_id, claim_id))
    (before,) = listing.place(cursor, ("",))
    return answer(_page(listing, await app.reviews.page(process_id, claim_id, before, limit)))


@router.get(
    "/reviews",
    response_model=ReviewPage,
    responses=problems_of(404),
    dependencies=[needs(Scope.READ)],
)
async def list_reviews(
    app: App, process_id: ProcessId, limit: Limit = 100, cursor: Cursor = None
) -> Response:
    """All reviews of a process, newest first."""
    listing = Listing("reviews", (process_id,))
    (before,) = listing.place(cursor, ("",))
    return answer(_page(listing, await app.reviews.page(process_id, None, before, limit)))


@router.get(
    "/reviews/agreement",
    response_model=Agreement,
    responses=problems_of(404),
    dependencies=[needs(Scope.READ)],
)
async def get_agreement(app: App, process_id: ProcessId) -> Response:
    """How far people agree with the judge, and with each other, as figures."""
    return answer(await app.reviews.agreement(process_id))


def _page(listing: Listing, found: tuple[list[Review], str | None]) -> ReviewPage:
    reviews, behind = found
    cursor = listing.cursor(behind) if behind is not None else None
    return ReviewPage.model_construct(reviews=reviews, nextCursor=cursor)
