"""The conversation of a dialogue with the claims of its turns; and a form to have them verified."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from veritrail_graph.api.app import Application
from veritrail_graph.api.app.engines import engine_choices, usual_engine
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.page.faults import field_words
from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.pages.starting import answered, broken_engines, start
from veritrail_graph.api.page.rendering import FromOurPage, render
from veritrail_graph.api.page.views.forms import JobForm, dollars
from veritrail_graph.api.requests.dialogue import DialogueRequest
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import ProcessId
from veritrail_graph.api.show.conversation import (
    LONGEST,
    MOST_BACKGROUND,
    OPEN_CLAIMS,
    OTHERS_READ,
    TURNS,
    part_with,
    rows_of,
    shown_claims,
)
from veritrail_graph.api.show.dialogue import (
    SCORE_WORDS,
    chart_of,
    score_of,
    score_words,
    total_counts,
)
from veritrail_graph.graph.contract import PUBLIC_ID
from veritrail_graph.graph.errors import InputError, NotFound, Violation
from veritrail_graph.graph.model.noun import MAX_NODE_ID

router = APIRouter(route_class=OneVersion, include_in_schema=False)

MOST_RUNS = 30
"""Runs that can be chosen."""

ENGINES = ("openai", "azure", "lexical")
"""The engines that verify dialogues."""

_NUMBER = 2**31 - 1
Number = Annotated[int | None, Query(ge=0, le=_NUMBER)]
PublicId = Annotated[str | None, Query(pattern=rf"^{PUBLIC_ID}$")]


@router.get("/processes/{process_id}/dialogue", dependencies=[needs(Scope.READ)])
async def show_dialogue(
    request: Request,
    app: App,
    process_id: ProcessId,
    run: Annotated[str, Query(pattern=rf"^({PUBLIC_ID})?$")] = "",
    part: Annotated[int, Query(ge=1, le=_NUMBER)] = 1,
    turn: Number = None,
    claim: PublicId = None,
    begin: Annotated[int, Query(ge=0, le=_NUMBER)] = 0,
    at: Annotated[str | None, Query(min_length=1, max_length=MAX_NODE_ID)] = None,
) -> Response:
    """The turns of a dialogue, and what was found of the assistant's.

    Without a run what counts for each turn is shown. `at` names a turn by its node.
    """
    if at is not None:
        number = (await app.nodes.listed(process_id, at)).stage
        address = url("processes", process_id, "dialogue", run=run or None, turn=number)
        return RedirectResponse(f"{address}#turn-{number}", 303)
    process, size, runs = await asyncio.gather(
        app.processes.get(process_id),
        app.dialogues.size(process_id),
        app.dialogues.runs(process_id),
    )
    run_id = run or None
    chosen = next((one for one in runs if one.run_id == run_id), None)
    if run_id is not None and chosen is None:
        raise NotFound(f"This dialogue has no run {run_id!r}.")
    if claim is not None:
        place = (await app.dialogues.places(process_id, [claim])).get(claim)
        if place is None:
            raise NotFound(f"No turn of this dialogue makes the claim {claim!r}.")
        turn = place.stage
    parts = part_with(size.last_stage)
    part = min(part if turn is None else part_with(turn), parts)
    first, last = (part - 1) * TURNS, part * TURNS
    said, found, counts = await asyncio.gather(
        app.dialogues.turns(
            process_id, (first, _NUMBER) if part > 1 else (-1, -1), TURNS + 1, until=last,
            longest=LONGEST,
        ),
        app.dialogues.found(process_id, run_id, first if part > 1 else -1, TURNS + 1),
        app.dialogues.counts(process_id, run_id),
    )  # fmt: skip
    by_number = {one.stage: one.found for one in found}
    shown = shown_claims(said, by_number, turn, begin, claim)
    claims = [one for _, some in shown.values() for one in some]
    around = await app.dialogues.linked(
        process_id, run_id, said, by_number, claims, claim, OTHERS_READ
    )
    known = {"run": run_id}
    return render(
        request,
        "dialogue.html",
        process=process,
        size=size,
        rows=rows_of(said, by_number, shown, turn, around),
        counts=total_counts(counts),
        checked=len(counts),
        score=score_words(score_of(counts), total_counts(counts)),
        score_words=SCORE_WORDS,
        chart=chart_of(counts),
        runs=runs[:MOST_RUNS],
        more_runs=max(0, len(runs) - MOST_RUNS),
        chosen=chosen,
        counting=[one for one in runs if one.counting],
        part=part,
        parts=parts,
        open_claims=OPEN_CLAIMS,
        most_background=MOST_BACKGROUND,
        to=lambda **changed: url("processes", process_id, "dialogue", **(known | changed)),
        to_part=lambda number: url(
            "processes", process_id, "dialogue", **known, part=number if number > 1 else None
        ),
    )


@dataclass(frozen=True, slots=True)
class Filled(JobForm):
    """The form of a dialogue verification, as it was filled in."""

    turn_check: str = ""
    turn_check_model: str = ""
    no_background: str = ""
    no_history: str = ""
    zero_shot: str = ""
    binary: str = ""


@router.get(
    "/processes/{process_id}/dialogue/verify", dependencies=[needs(Scope.READ, Scope.VERIFY)]
)
async def show_form(request: Request, app: App, process_id: ProcessId) -> Response:
    """A form to have the assistant's turns verified."""
    return await _form(request, app, process_id, Filled().anew())


@router.post(
    "/processes/{process_id}/dialogue/verify",
    dependencies=[needs(Scope.READ, Scope.VERIFY), FromOurPage],
)
async def start_job(request: Request, app: App, caller: Calling, process_id: ProcessId) -> Response:
    """Start a job that verifies the assistant's turns, and go on to it."""
    filled = Filled.of(await request.form())  # was read already, for its token

    async def work() -> Response:
        return await start(app, caller, request_of(process_id, filled), filled.once)

    return await answered(filled, partial(_form, request, app, process_id), work)


def request_of(process_id: str, filled: Filled) -> DialogueRequest:
    """Return what the form asks for.

    Raises:
        InputError: A field holds what it cannot.
    """
    wrong: list[Violation] = []
    budget = dollars(filled.budget_usd, wrong)
    if wrong:
        raise InputError("Please correct this:", wrong)
    asked: dict[str, Any] = {
        "dialogue_id": process_id,
        "engine": filled.engine or None,
        "model": filled.model or None,
        "turn_check": bool(filled.turn_check),
        "turn_check_model": filled.turn_check_model or None,
        "background": not filled.no_background,
        "history": not filled.no_history,
        "zero_shot": bool(filled.zero_shot),
        "categories": not filled.binary,
        "budget_usd": budget,
        "price": filled.price or None,
    }
    return DialogueRequest.checked(asked)


async def _form(
    request: Request,
    app: Application,
    process_id: str,
    filled: Filled,
    status: int = 200,
    wrong: str | None = None,
    violations: Sequence[Violation] = (),
) -> Response:
    size = await app.dialogues.size(process_id)
    engines = engine_choices(app.settings, ENGINES)
    return render(
        request,
        "dialogue_verify.html",
        status,
        process=await app.processes.get(process_id),
        size=size,
        filled=filled,
        engines=engines,
        broken=broken_engines(engines),
        chosen=filled.engine or usual_engine(app.settings, engines),
        default_model=app.settings.model,
        wrong=wrong,
        violations=violations,
        field_words=field_words,
    )
