"""The reading page of a node: what its sentences rest on; and a form to find that out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import HTMLResponse

from veritrail_graph.api.app import Application
from veritrail_graph.api.app.engines import engine_choices
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.page.faults import field_words
from veritrail_graph.api.page.links import plain
from veritrail_graph.api.page.pages.starting import answered, broken_engines, start
from veritrail_graph.api.page.rendering import FromOurPage, render
from veritrail_graph.api.page.views.attribution import (
    AT_A_TIME,
    MOST_SOURCES,
    Failed,
    Open,
    gap_of,
    open_view,
    rows_of,
    shown_sources,
    sources_of,
)
from veritrail_graph.api.page.views.forms import JobForm, dollars
from veritrail_graph.api.page.views.job_costs import (
    ESTIMATE_SECONDS,
    SentenceCost,
    sentence_cost,
)
from veritrail_graph.api.requests.attribute import AttributeRequest
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import LONGEST_CURSOR, Listing, ProcessId
from veritrail_graph.api.show.attribution_marks import failed_mark
from veritrail_graph.api.show.two_answers import Verdicted, two_answers
from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.model import Process
from veritrail_graph.graph.model.attribution import (
    Against,
    JudgeName,
    StoredNodeAttribution,
    StoredSentence,
)
from veritrail_graph.graph.model.lineage import Direction
from veritrail_graph.graph.model.listed import ListedNode, PlacedClaim

router = APIRouter(route_class=OneVersion, include_in_schema=False)

MOST_READ = 2_000_000
"""UTF-16 units of the texts that are read for a page; longer sources are shown in part."""

MOST_BESIDE = 60_000
"""The same of sources in which nothing is marked; of longer ones the beginning is shown."""

MOST_CONTRADICTED = 5
"""Claims of a sentence that are named because their verdicts contradict its label."""

_SPACE = 2
"""Characters between two sentences that are white space, most likely."""

NodeId = Annotated[str, Path(description="The node, by its node_id.")]

_BEGINNING = (-1, -1, -1)
_NUMBER = 2**31 - 1


@router.get("/processes/{process_id}/nodes/{node_id}/attribution", dependencies=[needs(Scope.READ)])
async def show_attribution(
    request: Request,
    app: App,
    process_id: ProcessId,
    node_id: NodeId,
    sentence: Annotated[int | None, Query(ge=0, le=_NUMBER)] = None,
    after: Annotated[str | None, Query(max_length=LONGEST_CURSOR)] = None,
) -> HTMLResponse:
    """The sentences of a node, and what the open one rests on."""
    node_id = plain(node_id)
    listing = Listing("page-attribution", (process_id, node_id))
    place = listing.place(after, _BEGINNING)
    process, node, (found, place), (inputs, more_inputs) = await asyncio.gather(
        app.processes.get(process_id),
        app.nodes.listed(process_id, node_id),
        _sentences(app, process_id, node_id, place, sentence),
        app.nodes.neighbours(process_id, node_id, Direction.UPSTREAM, (-1, -1), MOST_SOURCES),
    )
    opened = next((one for one in found.sentences if one.sentence == sentence), None)
    attributed = opened.attributed if opened is not None else ()
    view = open_view(opened) if opened is not None else None
    names = shown_sources((one.node_id for one in inputs), attributed)
    lit = {one.node_id for one in attributed}
    last = found.sentences[-1] if found.sentences else None
    every = await _failed(app, process, node_id, place[2], last if found.more else None)
    stored = {one.sentence for one in found.sentences}
    failed = [one for one in every if one.number not in stored]
    text, marked, others = await asyncio.gather(
        _between(app, process_id, node_id, found, place, has_failed=bool(failed)),
        app.nodes.texts(process_id, [name for name in names if name in lit], MOST_READ),
        app.nodes.texts(process_id, [name for name in names if name not in lit], MOST_BESIDE),
    )
    texts = {**marked, **others}
    others_say = await _two_answers(app, process_id, node, opened) if opened else ()
    beginnings = {one.node_id: one.excerpt for one in inputs}
    open_failed = next((one for one in failed if one.number == sentence), None)
    behind = [one for one in failed if last is None or one.number > last.sentence]
    rest = text[max(place[1], 0, last.end if last is not None else 0) :] if text else None
    return render(
        request,
        "attribution.html",
        200 if sentence is None or opened is not None or open_failed is not None else 404,
        process=process,
        node=node,
        has_text=node.is_cut or bool(node.excerpt.strip()),
        no_text=_no_text(names, texts, view) and not more_inputs,
        number=sentence,
        rows=rows_of(found.sentences, sentence, text, max(place[1], 0), every),
        gap=gap_of(rest, behind) if behind else None,
        open_failed=open_failed,
        open=view,
        two_answers=others_say,
        sources=sources_of(
            names, texts, attributed, view.lit if view is not None else (), beginnings
        ),
        more_sources=max(0, node.upstream - len(names)) if more_inputs else 0,
        runs=_runs(found.sentences),
        after=listing.cursor(*place) if place != _BEGINNING else None,
        following=listing.cursor(last.start, last.end, last.sentence)
        if last is not None and found.more
        else None,
    )


async def _two_answers(
    app: Application, process_id: str, node: ListedNode, sentence: StoredSentence
) -> tuple[tuple[str, str], ...]:
    """Claims of a sentence whose verdicts its label contradicts, each with why."""
    found, _ = await app.claims.in_text(process_id, node.node_id, sentence.start, sentence.end)
    words = []
    for claim in found:
        if not _is_in(claim, sentence):
            continue
        is_earlier = bool(claim.error_stages) and node.stage not in claim.error_stages
        verdict = Verdicted(node.node_id, claim.verdict, None, claim.indicative, is_earlier)
        if (why := two_answers(sentence, verdict)) is not None:
            words.append((claim.claim_id, why))
    return tuple(words[:MOST_CONTRADICTED])


def _is_in(claim: PlacedClaim, sentence: StoredSentence) -> bool:
    """Return whether a claim is known to be stated in a sentence."""
    first = () if claim.start is None or claim.end is None else ((claim.start, claim.end),)
    return any(
        start < sentence.end and sentence.start < end for start, end in (*first, *claim.also)
    )


def _no_text(names: Sequence[str], texts: Mapping[str, str], opened: Open | None) -> bool:
    """Return whether the sources of the open sentence are known to hold no text."""
    if opened is None or opened.sentence.attributed or not names:
        return False
    against = getattr(opened.sentence, "against", None)
    known = against is not Against.ROOTS and all(name in texts for name in names)
    return known and not any(texts[name].strip() for name in names)


_Place = tuple[int, int, int]
"""Start, end and number of the last attributed sentence before a page."""


async def _sentences(
    app: Application, process_id: str, node_id: str, place: _Place, sentence: int | None
) -> tuple[StoredNodeAttribution, _Place]:
    """A page of sentences and where it begins: the one that holds the sentence asked for."""
    of_node = partial(app.attributions.of_node, process_id, node_id, limit=AT_A_TIME)
    found = await of_node(after=place[:2])
    last = found.sentences[-1].sentence if found.sentences else -1
    if sentence is None or (place[2] < sentence and (sentence <= last or not found.more)):
        return found, place
    first = sentence - sentence % AT_A_TIME
    at = await app.attributions.before(process_id, node_id, first) if first else None
    return await of_node(after=(at or _BEGINNING)[:2]), at or _BEGINNING


async def _failed(
    app: Application, process: Process, node_id: str, behind: int, last: StoredSentence | None
) -> list[Failed]:
    """The sentences of a page that failed in the job that was last to attribute them."""
    before = None if last is None else last.sentence
    found = await app.jobs.unattributed(process, node_id, behind, before)
    return [
        Failed(number, failed_mark(row.status, row.failure), job_id, submitted)
        for number, (job_id, row, submitted) in sorted(found.items())
    ]


async def _between(
    app: Application,
    process_id: str,
    node_id: str,
    found: StoredNodeAttribution,
    place: _Place,
    *,
    has_failed: bool,
) -> str | None:
    """The text of the node, where there is more than white space between its sentences."""
    ends = [max(place[1], 0), *(one.end for one in found.sentences)]
    if not has_failed and all(
        one.start - end <= _SPACE for one, end in zip(found.sentences, ends, strict=False)
    ):
        return None
    return (await app.nodes.texts(process_id, [node_id], MOST_READ)).get(node_id)


def _runs(sentences: tuple[StoredSentence, ...]) -> list[StoredSentence]:
    """A sentence of each run that found some of these, in their order."""
    return list({one.run_id: one for one in reversed(sentences)}.values())[::-1]


ENGINES = ("openai", "azure", "nli", "lexical")
"""The engines that attribute sentences."""


CHOICES = (
    ("node", "All sentences of this node"),
    ("claims", "Those of error nodes that carried these claims"),
    ("unsupported", "Those that carried any claim that is Not Fully Supported"),
)
"""Which sentences are attributed."""


@dataclass(frozen=True, slots=True)
class Filled(JobForm):
    """The form of an attribution, as it was filled in."""

    which: str = "node"
    claims: str = ""
    against: str = "inputs"
    propositions: str = ""
    mode: str = "attribution"
    judge: str = ""
    judge_with: str = "model"
    correct: str = ""
    recheck: str = ""
    every_mode: str = ""

    def request(self, process_id: str, node_id: str) -> AttributeRequest:
        """Return what is asked for.

        Raises:
            InputError: A field holds what it cannot.
        """
        wrong: list[Violation] = []
        budget = dollars(self.budget_usd, wrong)
        if self.which not in dict(CHOICES):
            words = "choose which sentences are attributed"
            wrong.append(Violation("wrong_value", "which", words))
        if wrong:
            raise InputError("Please correct this:", wrong)
        return AttributeRequest.checked(
            {
                "process_id": process_id,
                "node_ids": [node_id] if self.which == "node" else None,
                "claim_ids": self.claims.split() if self.which == "claims" else None,
                "unsupported": self.which == "unsupported",
                "against": self.against,
                "propositions": bool(self.propositions),
                "mode": self.mode,
                "engine": self.engine or None,
                "model": self.model or None,
                "judge": bool(self.judge),
                "judge_with": self.judge_with,
                "correct": bool(self.correct),
                "recheck": self.recheck or None,
                "every_mode": bool(self.every_mode),
                "budget_usd": budget,
                "price": self.price or None,
            }
        )


@router.get(
    "/processes/{process_id}/nodes/{node_id}/attribute",
    dependencies=[needs(Scope.READ, Scope.VERIFY)],
)
async def show_form(
    request: Request, app: App, process_id: ProcessId, node_id: NodeId
) -> HTMLResponse:
    """A form to have the sentences of a node attributed."""
    await app.nodes.listed(process_id, plain(node_id))
    query = request.query_params
    filled = Filled.of({name: query[name] for name in ("which", "claims") if name in query})
    return await _form(request, app, process_id, plain(node_id), filled.anew())


@router.post(
    "/processes/{process_id}/nodes/{node_id}/attribute",
    dependencies=[needs(Scope.READ, Scope.VERIFY), FromOurPage],
)
async def look_or_start(
    request: Request, app: App, caller: Calling, process_id: ProcessId, node_id: NodeId
) -> Response:
    """Say what it may cost; when that was seen, start a job, and go on to it."""
    node_id = plain(node_id)
    sent = await request.form()  # was read already, for its token
    filled = Filled.of(sent)

    async def work() -> Response:
        wanted = filled.request(process_id, node_id)
        if sent.get("step") == "change":
            return await _form(request, app, process_id, node_id, filled)
        if sent.get("step") == "start":
            return await start(app, caller, wanted, filled.once)
        return render(
            request,
            "attribute_cost.html",
            process=await app.processes.get(process_id),
            node_id=node_id,
            filled=filled,
            cost=await _cost(app, wanted),
            budget=wanted.budget_usd,
            which=dict(CHOICES)[filled.which],
        )

    return await answered(filled, partial(_form, request, app, process_id, node_id), work)


async def _cost(app: Application, wanted: AttributeRequest) -> SentenceCost:
    """Return what it may cost.

    Raises:
        InputError: It cannot be done as it is asked for.
    """
    from veritrail_graph.api.app.attribution_estimate import estimate_sentences

    try:
        async with asyncio.timeout(ESTIMATE_SECONDS):
            store = await app.graph.store()
            return sentence_cost(await estimate_sentences(app.settings, store, wanted))
    except TimeoutError:
        why = "Looking at all prompts takes longer than this page waits."
    return SentenceCost(None, wanted.engine or app.settings.engine_name(None, wanted.model), why)


async def _form(
    request: Request,
    app: Application,
    process_id: str,
    node_id: str,
    filled: Filled,
    status: int = 200,
    wrong: str | None = None,
    violations: Sequence[Violation] = (),
) -> HTMLResponse:
    engines = engine_choices(app.settings, ENGINES)
    return render(
        request,
        "attribute.html",
        status,
        process=await app.processes.get(process_id),
        node_id=node_id,
        filled=filled,
        engines=engines,
        broken=broken_engines(engines),
        checkers=[one.value for one in JudgeName if one is not JudgeName.MODEL],
        default_model=app.settings.model,
        wrong=wrong,
        violations=violations,
        field_words=field_words,
        choices=CHOICES,
    )
