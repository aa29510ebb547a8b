"""A process: its answer with every claim in place, the list of claims, stages and cost."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import needs
from veritrail_graph.api.http.names import ProcessId
from veritrail_graph.api.http.pages import Cursor, Listing
from veritrail_graph.api.web.links import url
from veritrail_graph.api.web.rendering import render
from veritrail_graph.api.web.views import process as views
from veritrail_graph.api.web.views.answer import AnswerText, answer_text
from veritrail_graph.api.web.views.money import Spent, spent
from veritrail_graph.api.web.views.stages import StageBars, StageCount, stage_bars
from veritrail_graph.api.web.views.text_parts import PART, SLACK
from veritrail_graph.graph.importers.process_file.plain import MAX_NODE_ID, MAX_STAGE
from veritrail_graph.graph.model import Process, Verdict
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.placed_claims import (
    Tally,
    claims_in_text,
    nodes_with_claims,
    spent_on,
    tally,
)

router = APIRouter(include_in_schema=False)

ROWS = 50
"""Claims of one page of the list."""

MOST_NODES = 200
"""Nodes that can be chosen."""

Kind = Literal["supported", "not-supported", "inconclusive", "failed", "unchecked"]
Reviewed = Literal["none", "any", "confirmed", "overridden", "unclear"]


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the store says of a process as a whole."""

    process: Process
    verifications: int
    tally: Tally
    stages: StageBars
    spent: Spent
    nodes: list[tuple[str, int]]


@router.get("/processes/{process_id}", dependencies=[needs(Scope.READ)])
async def show_process(
    request: Request,
    process_id: ProcessId,
    verdict: Kind | None = None,
    error_stage: Annotated[int | None, Query(ge=0, le=MAX_STAGE)] = None,
    review: Reviewed | None = None,
    node: Annotated[str | None, Query(min_length=1, max_length=MAX_NODE_ID)] = None,
    part: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    cursor: Cursor = None,
) -> HTMLResponse:
    """A process with the claims that are asked for."""
    store = await request.app.state.graph.store()
    wanted = views.Wanted(verdict, error_stage, review)
    listing = Listing("page-claims", (process_id, verdict, error_stage, review))
    after = listing.place(cursor, (-1, ""))
    facts = await _facts(store, process_id)
    shown = node if node is not None else _first_node(facts)
    (claims, last), (answer, text, every) = await asyncio.gather(
        store.claims.page(process_id, wanted.filter, after, ROWS),
        _answer(store, process_id, shown, part, wanted),
    )
    known = {
        "verdict": verdict,
        "error_stage": error_stage,
        "review": review,
        "node": node,
        "part": part if part > 1 else None,
    }
    return render(
        request,
        "process.html",
        process=facts.process,
        verifications=facts.verifications,
        tally=facts.tally,
        counts=views.counts(facts.tally),
        indicative=views.indicative_words(facts.tally),
        is_mixed=0 < facts.tally.indicative < facts.tally.judged,
        stages=facts.stages,
        spent=facts.spent,
        nodes=facts.nodes,
        shown_node=shown,
        answer=answer,
        all_placed=every,
        wanted=wanted,
        cursor=cursor,
        rows=views.claim_rows(claims, facts.process, shown, text),
        reviews=views.REVIEW_WORDS,
        next_url=_here(process_id, known, cursor=listing.cursor(*last)) if last else None,
        first_url=_here(process_id, known) if cursor else None,
        to=lambda **changed: _here(process_id, known, **changed),
    )


def _here(process_id: str, known: dict[str, Any], **changed: Any) -> str:
    """The address of this page, but for what changes."""
    return url("processes", process_id, **(known | changed))


async def _facts(store: Store, process_id: str) -> _Facts:
    database = store.database
    process = await store.processes.get(process_id)
    found, outlay, nodes = await asyncio.gather(
        tally(database, process_id),
        spent_on(database, process_id),
        nodes_with_claims(database, process_id, MOST_NODES),
    )
    counted = [StageCount(stage, claims) for stage, claims in found.stages.items()]
    unsupported = found.states.get(Verdict.NOT_FULLY_SUPPORTED.value, 0)
    bars = stage_bars(process, counted, unsupported, found.without_stage)
    there = dict(nodes)
    chosen = {name: there.get(name, 0) for name in process.terminals[:MOST_NODES]}
    every = list((chosen | there).items())
    cost = spent(outlay.usage, modelled=outlay.modelled > 0, unmetered=outlay.unmetered > 0)
    return _Facts(process, outlay.verifications, found, bars, cost, every)


def _first_node(facts: _Facts) -> str | None:
    """The final output with most claims; where none has any, whatever has most."""
    terminals = set(facts.process.terminals)
    ranked = sorted(facts.nodes, key=lambda one: (one[0] not in terminals, -one[1]))
    with_claims = [name for name, claims in ranked if claims]
    return next(iter(with_claims), ranked[0][0] if ranked else None)


async def _answer(
    store: Store, process_id: str, node_id: str | None, part: int, wanted: views.Wanted
) -> tuple[AnswerText | None, str | None, bool]:
    """A part of a text with its claims, the text itself if it is long, and whether all are in."""
    if node_id is None:
        return None, None, True
    _, text = await store.reading.node(process_id, node_id)
    part = min(part, max(-(-len(text) // PART), 1))
    start, end = (part - 1) * PART - SLACK, part * PART
    placed, every = await claims_in_text(store.database, process_id, node_id, start, end)
    answer = answer_text(text, views.text_claims(placed, wanted), part)
    return answer, text if answer.parts > 1 else None, every
