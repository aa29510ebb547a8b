"""A claim: the answer, its trail to the sources, more of that trail, and two trails compared."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from veritrail_graph.api.app import Application
from veritrail_graph.api.app.teamwork import Comment
from veritrail_graph.api.auth.access import Caller, Scope
from veritrail_graph.api.auth.database import ServiceUnavailable
from veritrail_graph.api.configured.measured import judge_name, measured_words
from veritrail_graph.api.page.downloads import download
from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.pages.review import reviewer_of
from veritrail_graph.api.page.rendering import render
from veritrail_graph.api.page.views.claim_picture import picture_html
from veritrail_graph.api.page.views.process import said_of
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.held_file import HeldFile
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import ClaimId, ProcessId
from veritrail_graph.api.show.answer import ClaimInText, TextClaim, claim_in_text
from veritrail_graph.api.show.asking import asked_as, asking_sentences
from veritrail_graph.api.show.columns import columns_of
from veritrail_graph.api.show.context import context_of, named_nodes, quoted
from veritrail_graph.api.show.contrast import Contrast, contrast_of
from veritrail_graph.api.show.dialogue import listed_mark
from veritrail_graph.api.show.difference import PARTS, VALUES, value_words
from veritrail_graph.api.show.drawing import Drawing
from veritrail_graph.api.show.node_names import names_of, with_names
from veritrail_graph.api.show.parts import part_views
from veritrail_graph.api.show.picture import picture_of
from veritrail_graph.api.show.picture_svg import svg
from veritrail_graph.api.show.picture_turn import turn_picture
from veritrail_graph.api.show.sources import SourcePlace, place_of
from veritrail_graph.api.show.trail import facts_of
from veritrail_graph.api.show.trail_view import TrailView, choose, trail_view
from veritrail_graph.api.show.two_answers import Verdicted, two_answers
from veritrail_graph.api.show.words import mark_now, mark_of, reuse_reason
from veritrail_graph.graph.comparing import compare, folded_settings
from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.evidence_nodes import EvidenceNode
from veritrail_graph.graph.model import Process, Status, Verification
from veritrail_graph.graph.model.attribution import CarriedSentence
from veritrail_graph.graph.model.difference import ChangedValue, RoundSide
from veritrail_graph.graph.model.listed import JudgedClaim, TrailOutline
from veritrail_graph.graph.model.noun import MAX_NODE_ID, MAX_STAGE

router = APIRouter(
    route_class=OneVersion,
    include_in_schema=False,
    prefix="/processes/{process_id}/claims/{claim_id}",
)

MOST_CARDS = 20
"""Nodes with evidence that a page shows; further ones are counted in their column."""

MOST_OF_STAGE = 9
"""Those of one stage."""

MOST_NAMED = 200
"""Nodes of a trail whose names are looked up."""

MOST_CHOICES = 30
"""Verifications of a claim that can be chosen."""

MOST_REVIEWS = 20
"""Reviews that a page shows."""

MORE_SENTENCES, MORE_CARDS = 50, 20
"""Sentences and nodes that are shown at a time beyond those of the page."""

Name = Annotated[str, Query(min_length=1, max_length=200)]
VerificationName = Annotated[str | None, Query(min_length=1, max_length=200)]
Number = Annotated[int | None, Query(ge=1, le=1_000_000)]
After = Annotated[int, Query(ge=0, le=10_000_000)]


@router.get("", dependencies=[needs(Scope.READ)])
async def show_claim(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    claim_id: ClaimId,
    verification: VerificationName = None,
    iteration: Number = None,
) -> HTMLResponse:
    """A claim with one of its verifications; the latest with a verdict, if none is named."""
    judged = await app.claims.get(process_id, claim_id)  # says what of it is not there
    process, verifications, around, (reviews, _) = await asyncio.gather(
        app.processes.get(process_id),
        app.verifications.of_claim(process_id, claim_id, MOST_CHOICES),
        app.claims.neighbours(process_id, claim_id),
        app.reviews.page(process_id, claim_id, limit=MOST_REVIEWS),
    )
    chosen, missing = _chosen(judged, verifications, verification)
    outline = await app.verifications.outline(process_id, claim_id, chosen)
    if outline is None and chosen is not None:
        missing = chosen
    view = await _whole_view(app, outline, process, iteration)
    whole = view if view is None or view.until is None else _view(outline, process, None)
    contrast = contrast_of(whole) if whole is not None else None
    cards = choose(view.levels, MOST_CARDS, MOST_OF_STAGE) if view else {}
    shown = [node for nodes in cards.values() for node in nodes]
    names = [judged.node_id, *(node.node_id for node in shown)]
    texts, called, comments, source_place, stating = await asyncio.gather(
        app.nodes.texts(process_id, names),
        _names(app, whole),
        _comments(app, caller, process_id, claim_id),
        _source_place(app, process_id, contrast),
        app.attributions.stating(process_id, judged),
    )
    known = {"verification": verification, "iteration": view.until if view else None}
    place = ("processes", process_id, "claims", claim_id)
    return render(
        request,
        "claim.html",
        404 if missing is not None else 200,
        missing=missing,
        to=lambda **changed: url(*place, **{**known, **changed}),
        here_of=lambda name: url("processes", process_id, "claims", name),
        evidence_url=lambda **query: url(*place, "evidence", **query),
        process=process,
        claim=judged,
        own_mark=listed_mark(judged),
        said=said_of(judged.reviewed),
        around=around,
        in_text=_in_text(judged, texts),
        verifications=verifications,
        reviews=reviews,
        comments=comments,
        commenter=reviewer_of(request, caller),
        view=view,
        picture=await _picture(app, process, judged, whole, contrast, called),
        source_place=source_place,
        two_answers=_two_answers(view, stating),
        columns=columns_of(view) if view else (),
        ways=_ways(app, view.verification) if view is not None else (),
        asked_as=asked_as,
        facts=facts_of(view) if view is not None else (),
        kept_why=reuse_reason(view.verification) if view is not None else None,
        earlier=await _earlier(app, caller, view),
        **_cards(judged.node_id, cards, view, texts),
        **_cypher(app, view),
    )


def _ways(app: Application, one: Verification) -> tuple[str, ...]:
    """Return how the judge was asked, where not as the paper asks, and what was measured of it."""
    judge = judge_name(one.engine, one.model, one.settings)
    measured = measured_words(app.settings.home, [judge]) if one.verdict is not None else ()
    return (*asking_sentences([one]), *measured)


async def _picture(
    app: Application,
    process: Process,
    judged: JudgedClaim,
    whole: TrailView | None,
    contrast: Contrast | None,
    called: Mapping[str, str],
) -> Markup | None:
    """Return the picture of the shown verification, or of a claim of a turn."""
    if whole is not None:
        drawing = with_names(picture_of(whole, contrast), called)
        return picture_html(drawing, process.process_id)
    if not judged.is_of_turn:
        return None
    found = await app.dialogues.claim(process.process_id, judged.claim_id)
    return picture_html(turn_picture(found), process.process_id)


def _two_answers(view: TrailView | None, stating: Sequence[CarriedSentence]) -> str | None:
    """Return why the attribution of a sentence that states or carried the claim differs."""
    if view is None:
        return None
    found = view.verification
    sentences = [*stating, *(twist.carried for twist in view.twists)]
    words = (two_answers(one, Verdicted.of(found, one.node_id)) for one in sentences)
    return next((one for one in words if one is not None), None)


async def _source_place(
    app: Application, process_id: str, contrast: Contrast | None
) -> SourcePlace | None:
    """Return where the source of the pair is in its document, if its metadata says so."""
    if contrast is None or contrast.source is None or not contrast.source.is_root:
        return None
    with suppress(NotFound):
        return place_of((await app.nodes.piece(process_id, contrast.source.node_id)).metadata)
    return None


async def _earlier(app: Application, caller: Caller, view: TrailView | None) -> str | None:
    """The page of the earlier verification whose verdict was kept.

    Empty: the caller may not see it; None: it is not stored any more.
    """
    if view is None or view.verification.reused_from is None:
        return None
    name = view.verification.reused_from
    for found in await app.verifications.headers([name]):
        if caller.only_process not in (None, found.process_id):
            return ""
        place = ("processes", found.process_id, "claims", found.claim_id)
        return url(*place, verification=name)
    return None


async def _comments(
    app: Application, caller: Caller, process_id: str, claim_id: str
) -> list[Comment] | None:
    """The comments; None: the database of the service does not answer."""
    if caller.only_process is not None:
        return []
    try:
        return (await app.teamwork.comments(process_id, claim_id, by=caller)).comments
    except ServiceUnavailable:
        return None


def _chosen(
    judged: JudgedClaim, verifications: Sequence[Verification], asked: str | None
) -> tuple[str | None, str | None]:
    """The verification to show; and the one that was asked for where that cannot be."""
    names = [one.verification_id for one in verifications]
    if asked is not None and (asked in names or len(names) >= MOST_CHOICES):
        return asked, None  # perhaps an older one than those that were read
    return judged.verification_id or next(iter(names), None), asked


def _view(
    outline: TrailOutline | None,
    process: Process,
    iteration: int | None,
    carried: Sequence[CarriedSentence] = (),
) -> TrailView | None:
    """The trail, up to an iteration if there is one of that number."""
    if outline is None:
        return None
    one = outline.verification
    until = iteration if iteration in {each.number for each in one.iterations} else None
    return trail_view(
        one,
        process.stage_names,
        until,
        read=outline.checked,
        sources=outline.sources,
        carried=carried,
    )


async def _whole_view(
    app: Application, outline: TrailOutline | None, process: Process, iteration: int | None
) -> TrailView | None:
    """Return the same with what the error nodes did with their sources."""
    if outline is None:
        return None
    one = outline.verification
    carried = await app.verifications.carried([one])
    return _view(outline, process, iteration, carried.get(one.verification_id, ()))


def _in_text(claim: JudgedClaim, texts: Mapping[str, str]) -> ClaimInText | None:
    """The claim in its text; None where that is too long to be shown."""
    text = texts.get(claim.node_id)
    if text is None:
        return None
    mark = listed_mark(claim)
    here = TextClaim(claim.claim_id, claim.text, mark, claim.start, claim.end, claim.also)
    return claim_in_text(text, here)


def _cards(
    answer: str,
    cards: Mapping[int, Sequence[EvidenceNode]],
    view: TrailView | None,
    texts: Mapping[str, str],
) -> dict[str, Any]:
    """The cards of a page by stage, their numbers (0 is the verified node), and their context."""
    shown = [node for nodes in cards.values() for node in nodes]
    numbers = {node.node_id: number for number, node in enumerate(shown, start=1)}
    cited = [one for node in shown for one in node.cited]
    context = context_of(cited, texts)
    return {
        "cards": cards,
        "numbers": {**numbers, answer: 0},
        "quoted": lambda cited: quoted(cited, context),
        "part_views": part_views,
        "until": view.until if view else None,
    }


def _cypher(app: Application, view: TrailView | None) -> dict[str, Any]:
    """The query that gives this trail, and where it can be asked in the Neo4j Browser."""
    if view is None:
        return {}
    one = view.verification
    asked = {
        "process_id": one.process_id,
        "claim_id": one.claim_id,
        "verification_id": one.verification_id,
    }
    cypher = app.queries.as_text("evidence_trail", asked)
    return {"cypher": cypher, "browser": app.queries.browser_link(cypher)}


@router.get("/evidence", dependencies=[needs(Scope.READ)])
async def show_more(
    request: Request,
    app: App,
    process_id: ProcessId,
    claim_id: ClaimId,
    verification: Name,
    node: Annotated[str | None, Query(min_length=1, max_length=MAX_NODE_ID)] = None,
    stage: Annotated[int | None, Query(ge=0, le=MAX_STAGE)] = None,
    iteration: Number = None,
    after: After = 0,
    fragment: bool = False,
) -> HTMLResponse:
    """More of a trail: further sentences of a node, or further nodes of a stage.

    With an iteration, the trail is that of the iterations up to it.

    Raises:
        NotFound: The trail is not stored (any more).
    """
    process, view = await _trail(app, process_id, claim_id, verification, iteration)
    here = {"verification": verification, "iteration": view.until, "node": node, "stage": stage}
    of_stage = [each for each in view.nodes if stage in (None, each.ref.stage)]
    asked = trail_view(view.verification, process.stage_names).node(node) if node else None
    cited = asked.cited if asked else ()
    end = after + (MORE_SENTENCES if node else MORE_CARDS)
    shown = () if node else of_stage[after:end]
    total = len(cited) if node else len(of_stage)
    names = [node] if node else [one.node_id for one in shown]
    texts = await app.nodes.texts(process_id, names)
    sentences = cited[after:end]
    context = context_of([*sentences, *(one for each in shown for one in each.cited)], texts)
    place = ("processes", process_id, "claims", claim_id)
    return render(
        request,
        "parts/more_evidence.html" if fragment else "evidence.html",
        process=process,
        claim=view.verification.claim,
        verification=view.verification,
        node=node,
        stage=stage,
        back=url(*place, verification=verification, iteration=view.until),
        evidence_url=lambda **query: url(*place, "evidence", **{**here, **query}),
        sentences=sentences,
        shown=shown,
        until=view.until,
        numbers={one.node_id: number for number, one in enumerate(shown, start=after + 1)},
        quoted=lambda each: quoted(each, context),
        after=after,
        total=total,
        following=end if end < total else None,
    )


@router.get("/picture", dependencies=[needs(Scope.READ)])
async def show_picture(
    request: Request, app: App, process_id: ProcessId, claim_id: ClaimId
) -> HTMLResponse:
    """Show the picture of a claim alone, for the page of its process."""
    judged = await app.claims.get(process_id, claim_id)
    process = await app.processes.get(process_id)
    drawn = await claim_picture(app, process, judged)
    return render(request, "claim_picture.html", process=process, claim=judged, picture=drawn)


@router.get("/picture.svg", dependencies=[needs(Scope.READ)])
async def download_picture(app: App, process_id: ProcessId, claim_id: ClaimId) -> HeldFile:
    """Download the picture of a claim as a file of its own.

    Raises:
        NotFound: No trail of the claim is stored.
    """
    judged = await app.claims.get(process_id, claim_id)
    drawing = await _drawing(app, await app.processes.get(process_id), judged)
    if drawing is None:
        raise NotFound("No trail of this claim is stored, so there is no picture. Verify it first.")

    async def written() -> AsyncIterator[str]:
        yield svg(drawing)

    return await download(written(), f"{process_id}-{claim_id}.svg", "image/svg+xml")


async def claim_picture(app: Application, process: Process, judged: JudgedClaim) -> Markup | None:
    """Return the picture of a claim by its verification that counts; None: it has none."""
    drawing = await _drawing(app, process, judged)
    if drawing is None:
        return None
    return picture_html(drawing, process.process_id, with_claim=True)


async def _drawing(app: Application, process: Process, judged: JudgedClaim) -> Drawing | None:
    """Return what a picture of a claim shows, by its verification that counts."""
    if judged.verification_id is None:
        if not judged.is_of_turn:
            return None
        return turn_picture(await app.dialogues.claim(process.process_id, judged.claim_id))
    outline = await app.verifications.outline(
        process.process_id, judged.claim_id, judged.verification_id
    )
    view = _view(outline, process, None)
    if view is None:
        return None
    return with_names(picture_of(view), await names_in(app, view.verification))


async def _names(app: Application, view: TrailView | None) -> dict[str, str]:
    return {} if view is None else await names_in(app, view.verification)


async def names_in(app: Application, found: Verification) -> dict[str, str]:
    """Return what people call the nodes of a trail, by node_id."""
    read = await app.nodes.with_metadata(found.process_id, named_nodes(found)[:MOST_NAMED])
    return names_of((one.node_id, one.metadata) for one in read)


async def _trail(
    app: Application, process_id: str, claim_id: str, name: str, iteration: int | None = None
) -> tuple[Process, TrailView]:
    outline = await app.verifications.outline(process_id, claim_id, name)
    if outline is None:
        raise NotFound(
            "This trail is not stored any more: the verification was deleted, or its process "
            "replaced. Go back to the claim."
        )
    process = await app.processes.get(process_id)
    view = _view(outline, process, iteration)
    assert view is not None  # noqa: S101 (there is an outline)
    return process, view


MOST = 50
"""Nodes or sentences of one side that are listed."""


@router.get("/difference", dependencies=[needs(Scope.READ)])
async def show_difference(
    request: Request, app: App, process_id: ProcessId, claim_id: ClaimId, a: Name, b: Name
) -> HTMLResponse:
    """Two verifications of one claim.

    Raises:
        NotFound: One of them is not stored (any more), or belongs to another claim.
    """
    process = await app.processes.get(process_id)
    found = {one.verification_id: one for one in await app.verifications.read(list({a, b}))}
    for name in (a, b):
        one = found.get(name)
        if one is None or (one.process_id, one.claim_id) != (process_id, claim_id):
            raise NotFound(
                f"No verification {name!r} of this claim is stored; it may have been deleted. Go "
                "back to the claim and choose another one."
            )
    difference = compare(found[a], found[b])
    settings, folded = folded_settings(difference.settings)
    parting = difference.parting
    return render(
        request,
        "difference.html",
        process=process,
        asked_as=asked_as,
        claim=found[a].claim,
        sides=[(one, mark_now(one)) for one in (found[a], found[b])],
        changed=_rows({**difference.claim, **difference.outcome}),
        settings=_rows(settings),
        folded=_rows(folded),
        parting=parting,
        parts=[PARTS[one] for one in parting.parts] if parting else [],
        rounds=[
            _side(side, found[name].indicative) for side, name in ((parting.a, a), (parting.b, b))
        ]
        if parting
        else [],
    )


def _rows(changed: Mapping[str, ChangedValue]) -> list[tuple[str, str, str]]:
    return [
        (
            VALUES.get(name, name),
            value_words(name, both.a)[:2_000],
            value_words(name, both.b)[:2_000],
        )
        for name, both in changed.items()
    ]


def _side(side: RoundSide | None, indicative: bool) -> dict[str, Any] | None:
    if side is None:
        return None
    return {
        "mark": mark_of(side.verdict, Status.UNDECIDED, indicative=indicative),
        "reasoning": side.reasoning[:3_000],
        "checked": side.checked_only[:MOST],
        "more_checked": max(len(side.checked_only) - MOST, 0),
        "selected": side.selected_only[:MOST],
        "more_selected": max(len(side.selected_only) - MOST, 0),
    }
