"""Starting a verification: the form, what it may cost, and off it goes."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from veritrail_graph.api.app.verify_request import VerifyRequest
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.configured_judge import judge_options
from veritrail_graph.api.http.access import Calling, needs, record
from veritrail_graph.api.http.wording import worded
from veritrail_graph.api.jobs.submission import OtherInput
from veritrail_graph.api.web.forms import FromOurPage
from veritrail_graph.api.web.links import url
from veritrail_graph.api.web.rendering import render
from veritrail_graph.api.web.views.verify import WHICH, Cost, Filled, cost_of, request_of
from veritrail_graph.api.web.wording import field_words, plain
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Process
from veritrail_graph.graph.store.judged_claims import ClaimFilter, Place

if TYPE_CHECKING:
    from veritrail_graph.api.configured_judge import JudgeOptions

router = APIRouter(prefix="/processes", include_in_schema=False, dependencies=[needs(Scope.VERIFY)])

ESTIMATE_SECONDS = 15.0
"""How long a page waits for an estimate."""

TERMINALS = 50
"""Terminal nodes that are offered; any other can be typed in."""


@router.get("/{process_id}/verify")
async def show_form(request: Request, process_id: str) -> Response:
    """The form."""
    process = await _process(request, process_id)
    query = request.query_params
    filled = Filled.of({name: query[name] for name in ("which", "node_id") if name in query})
    if not process.claims and "which" not in query:
        filled = replace(filled, which="typed")
    return _form(request, process, replace(filled, once=secrets.token_urlsafe(16)))


@router.post("/{process_id}/verify", dependencies=[FromOurPage])
async def look_or_start(request: Request, caller: Calling, process_id: str) -> Response:
    """Say what it may cost; when that was seen, start."""
    sent = await request.form()  # was read already, for its token
    filled = Filled.of({name: value for name, value in sent.items() if isinstance(value, str)})
    process = await _process(request, process_id)
    try:
        wanted = request_of(process_id, filled)
        if sent.get("step") == "change":
            return _form(request, process, filled)
        if sent.get("step") != "start":
            cost = await _cost(request, wanted)
            return render(
                request,
                "verify_cost.html",
                process=process,
                filled=filled,
                cost=cost,
                budget=wanted.budget_usd,
                which=dict(WHICH)[filled.which],
            )
        job, is_new = await request.app.state.jobs.submit(caller, wanted, filled.once or None)
    except OtherInput:
        words = "This form was sent before with other values. Load it again to start anew."
        return _form(request, process, replace(filled, once=secrets.token_urlsafe(16)), words, 409)
    except InputError as error:
        words = plain(worded(str(error)))
        return _form(request, process, filled, words, 422, list(error.violations))
    if is_new:
        await record(request, caller, "job.start", job.job_id, process_id=process_id)
    return RedirectResponse(url("jobs", job.job_id), 303)


async def _process(request: Request, process_id: str) -> Process:
    store = await request.app.state.graph.store()
    process: Process = await store.processes.get(process_id)
    return process


async def _cost(request: Request, wanted: VerifyRequest) -> Cost:
    """What it may come to.

    Raises:
        InputError: A claim, a node, a model or a setting is wrong.
    """
    from veritrail_graph.verifier.engines import engine_named

    settings = request.app.state.settings
    how = judge_options(settings, wanted)
    records = wanted.claim_records()
    asks = engine_named(how.engine).asks_models
    store = await request.app.state.graph.store()
    if wanted.extract and not asks:
        raise InputError(
            f"Claims are taken from a text by a language model, and engine {how.engine} asks none. "
            "Name a model, or choose an engine that asks one."
        )
    if wanted.extract:
        why = "How many claims the text holds is known when they have been taken from it."
        return Cost(None, how.engine, wanted.model or settings.model, asks, why_unknown=why)
    claim_ids: list[str] = []
    if wanted.unfinished:
        claim_ids = await _unverified(store, wanted.process_id)
        if not claim_ids:
            raise InputError("Every stored claim has a verdict. Choose other claims.")
    if not asks:
        count = len(records) or len(claim_ids)
        known = count or (await store.processes.get(wanted.process_id)).claims
        return Cost(known, how.engine)
    model = wanted.model or settings.model
    wanted = wanted.model_copy(update={"claim_ids": tuple(claim_ids)})
    return await _estimated(request, how, wanted, model)


async def _estimated(
    request: Request, how: JudgeOptions, wanted: VerifyRequest, model: str | None
) -> Cost:
    """What models would be asked, unless that takes too long to find out."""
    from veritrail_graph.api.app.estimation import estimate_claims

    state = request.app.state
    try:
        async with asyncio.timeout(ESTIMATE_SECONDS):
            found = await estimate_claims(state.settings, await state.graph.store(), how, wanted)
    except TimeoutError:
        why = (
            "Walking a process of this size takes longer than this page waits; "
            "`veritrail estimate` says it."
        )
        number = len(wanted.claims or wanted.claim_ids or ()) or None
        return Cost(number, how.engine, model, True, why_unknown=why)
    return cost_of(found, how.engine)


async def _unverified(store: Any, process_id: str) -> list[str]:
    """Ids of the stored claims that have no verdict."""
    found: list[str] = []
    place: Place | None = (-1, "")
    while place is not None:
        claims, place = await store.claims.page(
            process_id, ClaimFilter(verdict="none"), place, 1_000
        )
        found += [one.claim.claim_id for one in claims]
    return found


def _form(
    request: Request,
    process: Process,
    filled: Filled,
    wrong: str | None = None,
    status: int = 200,
    violations: Any = (),
) -> Response:
    from veritrail_graph.verifier.engines import engine_names

    settings = request.app.state.settings
    return render(
        request,
        "verify.html",
        status,
        process=process,
        filled=filled,
        wrong=wrong,
        violations={one.where: one.message for one in violations},
        field_words=field_words,
        which=WHICH,
        engines=engine_names(),
        default_engine=settings.engine_name(),
        default_model=settings.model,
        terminals=process.terminals[:TERMINALS],
    )
