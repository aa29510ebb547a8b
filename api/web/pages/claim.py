"""A claim: the answer, its trail to the sources, more of that trail, and two trails compared."""

from __future__ import annotations

import asyncio
import json
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
from veritrail_graph.api.views.answer import TextClaim
from veritrail_graph.api.views.costs import by_step, spent_by
from veritrail_graph.api.views.routes import ROUTE_BYTES, routes_of
from veritrail_graph.api.views.words import (
    ENDINGS,
    WITHOUT_VERDICT,
    ending_words,
    mark_now,
    mark_of,
)
from veritrail_graph.api.web.links import url
from veritrail_graph.api.web.rendering import render
from veritrail_graph.api.web.trails import outline_of, texts_of
from veritrail_graph.api.web.views import claim as views
from veritrail_graph.api.web.views.excerpts import clip, shown_sentences
from veritrail_graph.api.web.views.process import said_of
from veritrail_graph.api.web.views.steps import REASONING_BYTES, steps_of
from veritrail_graph.api.web.views.trail import (
    cards_of_stage,
    cited_in,
    nodes_of_cards,
    nodes_of_stage,
    trail_view,
)
from veritrail_graph.graph.comparing import Changed, Part, RoundSide, compare
from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.importers.process_file.plain import MAX_NODE_ID, MAX_STAGE
from veritrail_graph.graph.model import Process, Review, Status, Termination, Verdict, Verification
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


MORE = 50
"""Sentences that are shown at a time."""

MORE_CARDS = 20
"""Nodes that are shown at a time."""

MORE_ROUTES = 50
"""Routes that are shown at a time."""

FURTHEST_ROUTE = 10_000
"""Routes beyond this one are counted and not listed."""

Name = Annotated[str, Query(min_length=1, max_length=200)]
After = Annotated[int, Query(ge=0, le=10_000_000)]


@router.get("/evidence", dependencies=[needs(Scope.READ)])
async def show_more(
    request: Request,
    process_id: ProcessId,
    claim_id: ClaimId,
    verification: Name,
    node: Annotated[str | None, Query(min_length=1, max_length=MAX_NODE_ID)] = None,
    stage: Annotated[int | None, Query(ge=0, le=MAX_STAGE)] = None,
    iteration: Annotated[int | None, Query(ge=1, le=1_000_000)] = None,
    after: After = 0,
    fragment: bool = False,
) -> HTMLResponse:
    """More of a trail: further sentences of a node, or further nodes of a stage.

    With an iteration, the trail is that of the iterations up to it.

    Raises:
        NotFound: The trail is not stored (any more).
    """
    store = await request.app.state.graph.store()
    outline, process = await _trail(store, process_id, claim_id, verification)

    numbers = {one.number for one in outline.verification.iterations}
    current = iteration if iteration in numbers else None
    here = {"verification": verification, "iteration": current, "node": node, "stage": stage}

    def further(**query: Any) -> str:
        return url("processes", process_id, "claims", claim_id, "evidence", **{**here, **query})

    known: dict[str, Any] = {
        "process": process,
        "claim": outline.verification.claim,
        "verification": outline.verification,
        "node": node,
        "stage": stage,
        "stage_name": process.stage_names.get(stage) if stage is not None else None,
        "back": _back(process_id, claim_id, verification, current),
        "evidence_url": further,
    }
    if node is not None:
        found = await _sentences(store, outline.verification, node, after)
    else:
        found = await _cards(store, outline, process, stage, current, after)
    template = "parts/more_evidence.html" if fragment else "evidence.html"
    return render(request, template, **known, **found)


@router.get("/routes", dependencies=[needs(Scope.READ)])
async def show_routes(
    request: Request,
    process_id: ProcessId,
    claim_id: ClaimId,
    verification: Name,
    after: Annotated[int, Query(ge=0, le=FURTHEST_ROUTE - MORE_ROUTES)] = 0,
    fragment: bool = False,
) -> HTMLResponse:
    """Further routes from a source to the answer.

    Raises:
        NotFound: The trail is not stored (any more).
    """
    store = await request.app.state.graph.store()
    outline, process = await _trail(store, process_id, claim_id, verification)
    end = after + MORE_ROUTES
    found = routes_of(outline.verification, end)
    is_more = len(found.routes) == end and end < found.total
    place = ("processes", process_id, "claims", claim_id, "routes")
    return render(
        request,
        "parts/more_routes.html" if fragment else "routes.html",
        process=process,
        claim=outline.verification.claim,
        routes=found,
        shown=found.routes[after:],
        after=after,
        following=url(*place, verification=verification, after=end)
        if is_more and end < FURTHEST_ROUTE
        else None,
        back=_back(process_id, claim_id, verification),
    )


async def _trail(
    store: Store, process_id: str, claim_id: str, name: str
) -> tuple[TrailOutline, Process]:
    outline = await outline_of(store, process_id, claim_id, name)
    if outline is None:
        raise NotFound(
            "This trail is not stored any more: the verification was deleted, or its process "
            "replaced. Go back to the claim."
        )
    return outline, await store.processes.get(process_id)


def _back(process_id: str, claim_id: str, verification: str, current: int | None = None) -> str:
    place = ("processes", process_id, "claims", claim_id)
    return url(*place, verification=verification, iteration=current)


async def _sentences(
    store: Store, verification: Verification, node_id: str, after: int
) -> dict[str, Any]:
    every = cited_in(verification, node_id)
    texts = await texts_of(store, verification.process_id, [node_id])
    end = after + MORE
    return {
        "sentences": shown_sentences(every[after:end], texts.get(node_id)),
        "cards": (),
        "after": after,
        "total": len(every),
        "following": end if end < len(every) else None,
    }


async def _cards(
    store: Store,
    outline: TrailOutline,
    process: Process,
    stage: int | None,
    current: int | None,
    after: int,
) -> dict[str, Any]:
    names = nodes_of_stage(outline.verification, stage, current)
    end = after + MORE_CARDS
    texts = await texts_of(store, process.process_id, names[after:end])
    return {
        "sentences": (),
        "cards": cards_of_stage(outline.verification, stage, after, MORE_CARDS, texts, current),
        "after": after,
        "total": len(names),
        "following": end if end < len(names) else None,
    }


MOST = 50
"""Nodes or sentences of one side that are listed."""

WORDS: Mapping[str, str] = {
    "claim": "Claim",
    "engine": "Engine",
    "model": "Model",
    "q": "q",
    "content_hash": "Content",
    "status": "Status",
    "verdict": "Verdict",
    "score": "Score",
    "termination": "Why it ended",
    "error_stages": "Error stages",
    "error_nodes": "Where it came in",
    "error": "Reason of the failure",
}
"""What differs, in words; anything else keeps its name."""

PARTS: Mapping[Part, str] = {
    Part.NODES: "other nodes were read",
    Part.EVIDENCE: "other sentences were selected",
    Part.VERDICT: "the interim verdict is another",
    Part.LENGTH: "one check had ended",
}
"""How rounds differ, in words."""


@router.get("/difference", dependencies=[needs(Scope.READ)])
async def show_difference(
    request: Request, process_id: ProcessId, claim_id: ClaimId, a: Name, b: Name
) -> HTMLResponse:
    """Two verifications of one claim.

    Raises:
        NotFound: One of them is not stored (any more), or belongs to another claim.
    """
    store = await request.app.state.graph.store()
    process = await store.processes.get(process_id)
    found = {one.verification_id: one for one in await store.trails.read(list({a, b}))}
    for name in (a, b):
        one = found.get(name)
        if one is None or (one.process_id, one.claim.claim_id) != (process_id, claim_id):
            raise NotFound(
                f"No verification {name!r} of this claim is stored; it may have been deleted. Go "
                "back to the claim and choose another one."
            )
    difference = compare(found[a], found[b])
    parting = difference.parting
    return render(
        request,
        "difference.html",
        process=process,
        claim=found[a].claim,
        sides=[(one, mark_now(one)) for one in (found[a], found[b])],
        changed=[_row(one) for one in (*difference.claim, *difference.outcome)],
        settings=[_row(one) for one in difference.settings],
        parting=parting,
        parts=[PARTS[one] for one in parting.parts] if parting else [],
        rounds=[_side(parting.a), _side(parting.b)] if parting else [],
    )


def _row(one: Changed) -> tuple[str, str, str]:
    return WORDS.get(one.name, one.name), _words(one.name, one.a), _words(one.name, one.b)


def _words(name: str, value: Any) -> str:
    if value is None or value == []:
        return "none"
    if name == "verdict":
        return mark_of(Verdict(value)).word
    if name == "termination":
        return ENDINGS[Termination(value)].capitalize()
    if isinstance(value, str):
        return value[:2_000]
    if isinstance(value, list) and all(isinstance(one, str | int) for one in value):
        more = f" and {len(value) - MOST} more" if len(value) > MOST else ""
        return ", ".join(str(one) for one in value[:MOST]) + more
    return json.dumps(value, ensure_ascii=False)[:2_000]


def _side(side: RoundSide | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {
        "mark": mark_of(side.verdict),
        "reasoning": side.reasoning[:3_000],
        "checked": side.checked[:MOST],
        "more_checked": max(len(side.checked) - MOST, 0),
        "selected": [one.sentence for one in side.selected[:MOST]],
        "more_selected": max(len(side.selected) - MOST, 0),
    }
