"""A claim: the answer, its trail from there to the sources, its rounds, its reviews, its cost."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from veritrail_graph.api.app.browser_link import browser_address, browser_link, pasteable
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import needs
from veritrail_graph.api.http.names import ClaimId, ProcessId
from veritrail_graph.api.settings import Settings
from veritrail_graph.api.web.links import url
from veritrail_graph.api.web.rendering import render
from veritrail_graph.api.web.trails import outline_of, texts_of
from veritrail_graph.api.web.views import claim as views
from veritrail_graph.api.web.views.answer import TextClaim
from veritrail_graph.api.web.views.excerpts import clip
from veritrail_graph.api.web.views.marks import mark_now
from veritrail_graph.api.web.views.money import by_step, spent_by
from veritrail_graph.api.web.views.process import said_of
from veritrail_graph.api.web.views.routes import ROUTE_BYTES, routes_of
from veritrail_graph.api.web.views.steps import (
    REASONING_BYTES,
    WITHOUT_VERDICT,
    ending_words,
    steps_of,
)
from veritrail_graph.api.web.views.trail import (
    nodes_of_cards,
    trail_view,
)
from veritrail_graph.graph.model import Process, Review, Status, Verification
from veritrail_graph.graph.outline import TrailOutline
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.judged_claim import JudgedClaim
from veritrail_graph.graph.store.outlines import ClaimNeighbours, neighbours, verifications_of
from veritrail_graph.graph.store.queries import find

router = APIRouter(include_in_schema=False, prefix="/processes/{process_id}/claims/{claim_id}")

MOST_CHOICES = 30
"""Verifications of a claim that can be chosen."""

MOST_REVIEWS = 20
"""Reviews that a page shows."""

MOST_SUB_CLAIMS = 20
"""Simpler statements of a claim that a page shows."""

WORDS_BYTES = 800
"""Bytes of HTML that a simpler statement, or the reason of a review, may come to."""

VerificationName = Annotated[str | None, Query(min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True)
class _Subject:
    """A claim with what is known of it, whichever verification is looked at."""

    process: Process
    judged: JudgedClaim
    verifications: list[Verification]
    neighbours: ClaimNeighbours
    reviews: list[Review]


@router.get("", dependencies=[needs(Scope.READ)])
async def show_claim(
    request: Request,
    process_id: ProcessId,
    claim_id: ClaimId,
    verification: VerificationName = None,
    iteration: Annotated[int | None, Query(ge=1, le=1_000_000)] = None,
) -> HTMLResponse:
    """A claim with one of its verifications; the latest with a verdict, if none is named."""
    store = await request.app.state.graph.store()
    subject = await _subject(store, process_id, claim_id)
    chosen, missing = _chosen(subject, verification)
    outline = await outline_of(store, process_id, claim_id, chosen)
    if outline is None and chosen is not None:
        missing, chosen = chosen, None
    numbers = {one.number for one in outline.verification.iterations} if outline else set()
    current = iteration if iteration in numbers else None
    texts = await _texts(store, process_id, subject, outline, current)
    known = {"verification": verification, "iteration": current}
    place = ("processes", process_id, "claims", claim_id)
    return render(
        request,
        "claim.html",
        404 if missing is not None else 200,
        missing=missing,
        to=lambda **changed: _here(process_id, claim_id, known, **changed),
        here_of=lambda name: url("processes", process_id, "claims", name),
        evidence_url=lambda **query: url(*place, "evidence", **query),
        routes_url=lambda **query: url(*place, "routes", **query),
        **_claim(subject, texts),
        **_judgement(request.app.state.settings, subject, outline, texts, current),
    )


def _here(process_id: str, claim_id: str, known: Mapping[str, Any], **changed: Any) -> str:
    return url("processes", process_id, "claims", claim_id, **{**known, **changed})


async def _subject(store: Store, process_id: str, claim_id: str) -> _Subject:
    judged = await store.claims.get(process_id, claim_id)  # says what of it is not there
    process, verifications, around, (reviews, _) = await asyncio.gather(
        store.processes.get(process_id),
        verifications_of(store.database, process_id, claim_id, MOST_CHOICES),
        neighbours(store.database, process_id, claim_id),
        store.reviews.page(process_id, claim_id, limit=MOST_REVIEWS),
    )
    said = [one.review for one in reviews]
    return _Subject(process, judged, verifications, around, said)


def _chosen(subject: _Subject, asked: str | None) -> tuple[str | None, str | None]:
    """The verification to show; and the one that was asked for where that cannot be."""
    names = [one.verification_id for one in subject.verifications]
    if asked is not None and asked in names:
        return asked, None
    if asked is not None and len(names) >= MOST_CHOICES:
        return asked, None  # an older one, perhaps
    latest = subject.judged.verification_id or next(iter(names), None)
    return latest, asked


async def _texts(
    store: Store,
    process_id: str,
    subject: _Subject,
    outline: TrailOutline | None,
    current: int | None,
) -> dict[str, str]:
    """Texts of the verified node and of the nodes with a card, as far as they are not too long."""
    names = [subject.judged.claim.node_id]
    if outline is not None:
        names += nodes_of_cards(outline.verification, current)
    return await texts_of(store, process_id, names)


def _claim(subject: _Subject, texts: Mapping[str, str]) -> dict[str, Any]:
    """What a page shows of a claim, whichever verification is looked at."""
    claim = subject.judged.claim
    mark = mark_now(subject.judged)
    here = TextClaim(claim.claim_id, claim.text, mark, claim.start, claim.end, claim.also)
    text = texts.get(claim.node_id)
    return {
        "process": subject.process,
        "claim": claim,
        "judged": subject.judged,
        "latest_mark": mark,
        "said": said_of(subject.judged.reviewed),
        "around": subject.neighbours,
        "in_text": views.claim_in_text(text, here) if text is not None else None,
    }


def _sub_claims(subject: _Subject, one: Verification | None) -> Sequence[str]:
    """The simpler statements that a claim was taken apart into, as far as they are shown."""
    found = one.claim.sub_claims if one is not None else ()
    return (found or subject.judged.claim.sub_claims)[:MOST_SUB_CLAIMS]


def _judgement(
    settings: Settings,
    subject: _Subject,
    outline: TrailOutline | None,
    texts: Mapping[str, str],
    current: int | None,
) -> dict[str, Any]:
    """What a page shows of one verification, if there is any."""
    shown = outline.verification.verification_id if outline else None
    known: dict[str, Any] = {
        "choices": views.choices(subject.verifications, shown),
        "reviews": views.said_reviews(subject.reviews, shown),
        "verification": None,
        "error": None,
        "steps": (),
        "sub_claims": [clip(words, WORDS_BYTES) for words in _sub_claims(subject, None)],
    }
    if outline is None:
        return known
    one = outline.verification
    names = subject.process.stage_names
    cypher = pasteable(
        find("evidence_trail"),
        {
            "process_id": one.process_id,
            "claim_id": one.claim.claim_id,
            "verification_id": one.verification_id,
        },
    )
    browser = browser_address(settings.values)
    return known | {
        "verification": one,
        "mark": mark_now(one),
        "error": views.error_view(one, names),
        "reasoning": clip(one.reasoning or "", REASONING_BYTES),
        "sub_claims": [clip(words, WORDS_BYTES) for words in _sub_claims(subject, one)],
        "ending": ending_words(one),
        "without_verdict": WITHOUT_VERDICT.get(one.status),
        "is_busy": one.status in (Status.QUEUED, Status.RUNNING),
        "steps": steps_of(outline),
        "trail": trail_view(outline, names, texts, current),
        "routes": routes_of(one, room=ROUTE_BYTES),
        "spent": spent_by(one),
        "costs": by_step(one.steps),
        "cypher": cypher,
        "browser": browser_link(settings.neo4j_uri, settings.neo4j_database, cypher, browser),
    }
