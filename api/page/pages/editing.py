"""Changing what is stored: claims are added, edited, merged and removed, a process is deleted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse

from veritrail_graph.api.app import Application
from veritrail_graph.api.app.claim_tables import (
    MOST_ROWS,
    read_claims,
    read_labels,
    read_reviews,
)
from veritrail_graph.api.app.part import ProcessInUse
from veritrail_graph.api.auth.access import Caller, Scope
from veritrail_graph.api.page.faults import ADVICE
from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.pages.review import reviewer_of
from veritrail_graph.api.page.rendering import FromOurPage, render
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import ClaimId, ProcessId
from veritrail_graph.graph.errors import (
    ClaimInUse,
    InputError,
    NotFound,
    ProcessConflict,
    Violation,
    with_advice,
)
from veritrail_graph.graph.model import Process
from veritrail_graph.graph.model.listed import JudgedClaim
from veritrail_graph.graph.model.noun import MAX_NODE_ID

router = APIRouter(route_class=OneVersion, include_in_schema=False)

_WRITE = [needs(Scope.READ, Scope.WRITE)]
_POST = [needs(Scope.READ, Scope.WRITE), FromOurPage]

TERMINALS = 50
"""Nodes that are offered; any other can be typed in."""
MOST_OTHERS = 500
"""Claims that are offered to be merged."""
FAULTS = 50
"""Rows with faults that are shown."""

Text = Annotated[str, Form(max_length=900_000)]
Ticked = Annotated[str, Form(max_length=1)]


@router.get("/processes/{process_id}/edit", dependencies=_WRITE)
async def show(request: Request, app: App, process_id: ProcessId, done: str = "") -> HTMLResponse:
    """Forms that add claims, read tables, and delete the process."""
    return await _process_page(request, app, process_id, done=_done_words(done))


DONE = {
    "added": "{} of {} claims were added.",
    "labelled": "{} of {} claims were labelled.",
    "reviewed": "{} of {} reviews are stored.",
}
"""What is said after something was stored; the address holds only which it is, and numbers."""


def _done_words(done: str) -> str:
    what, _, rest = done.partition("-")
    first, _, second = rest.partition("-")
    if (
        what not in DONE
        or not re.fullmatch("[0-9]+", first + second)
        or len(rest) > 20
        or not second
    ):
        return ""
    return DONE[what].format(first, second)


async def _process_page(
    request: Request,
    app: Application,
    process_id: str,
    status: int = 200,
    *,
    part: str = "",
    wrong: str | None = None,
    violations: Sequence[Violation] = (),
    filled: dict[str, Any] | None = None,
    done: str = "",
) -> HTMLResponse:
    process = await app.processes.get(process_id)
    cost = await app.verifications.cost(process_id)
    reviewers = await app.reviews.reviewers(process_id)
    return render(
        request,
        "edit.html",
        status,
        process=process,
        terminals=process.terminals[:TERMINALS],
        verifications=cost.verifications + cost.questions,
        reviewed=len(reviewers),
        dollars=cost.usage.cost_usd,
        jobs=await app.processes.open_jobs(process_id),
        most=MOST_ROWS,
        part=part,
        wrong=wrong,
        violations=violations[:FAULTS],
        more_violations=max(len(violations) - FAULTS, 0),
        filled=filled or {},
        done=done,
    )


@router.post("/processes/{process_id}/edit/claims", dependencies=_POST)
async def add_claims(
    request: Request,
    app: App,
    process_id: ProcessId,
    texts: Text = "",
    node_id: Annotated[str, Form(max_length=MAX_NODE_ID)] = "",
) -> Response:
    """Store claims that were typed in, one on a line."""
    lines = [line.strip() for line in texts.splitlines() if line.strip()]
    try:
        if not lines:
            raise InputError("Type at least one claim, one on a line.")
        records = app.claims.records_of(lines)
        _, added = await app.claims.add(process_id, records, node_id.strip() or None)
    except InputError as error:
        return await _again(request, app, process_id, "claims", error, texts=texts, node_id=node_id)
    return _done(process_id, "added", added, len(lines))


@router.post("/processes/{process_id}/edit/table", dependencies=_POST)
async def read_table(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    what: Annotated[str, Form(max_length=20)] = "claims",
    table: Text = "",
    file: Annotated[UploadFile | None, File()] = None,
) -> Response:
    """Store claims, labels or reviews of a table in CSV."""
    text = table
    try:
        if file is not None and file.filename:
            text = (await file.read()).decode("utf-8-sig")
        if not text.strip():
            raise InputError("Choose a file, or paste a table.")
        stored = await _of_table(request, app, caller, process_id, what, text)
    except UnicodeDecodeError as error:
        wrong = InputError(f"The file is not UTF-8: byte {error.start} cannot be read.")
        return await _again(request, app, process_id, "table", wrong, what=what, table=table)
    except InputError as error:
        return await _again(request, app, process_id, "table", error, what=what, table=table)
    return _done(process_id, *stored)


async def _of_table(
    request: Request, app: Application, caller: Caller, process_id: str, what: str, text: str
) -> tuple[str, int, int]:
    """Store what a table holds; say what that was, how many of it, and of how many."""
    if what == "labels":
        labels = read_labels(text)
        return "labelled", await app.claims.label(process_id, labels, by=caller), len(labels)
    if what == "reviews":
        who = reviewer_of(request, caller)
        rows = read_reviews(text)
        if who.by_key:  # a key speaks for its owner, and no other name can be given with it
            others = {one.reviewer for one in rows if one.reviewer not in (None, who.name)}
            if others:
                raise InputError(
                    f"Your key reviews as {who.name}; the table names other reviewers. Let them "
                    "send their own, or leave the column out."
                )
        made = await app.reviews.add_all(process_id, rows, who.name or "", by=caller)
        return "reviewed", len(made), len(rows)
    records = read_claims(text)
    _, added = await app.claims.add(process_id, records)
    return "added", added, len(records)


@router.post("/processes/{process_id}/edit/delete", dependencies=_POST)
async def delete(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    typed: Annotated[str, Form(max_length=200)] = "",
    force: Ticked = "",
) -> Response:
    """Delete the process, when its id was typed."""
    try:
        if typed.strip() != process_id:
            raise InputError(
                f"Nothing was deleted. Type the id of the process, {process_id}, to confirm."
            )
        await app.processes.delete(process_id, force=force == "1", by=caller)
    except ProcessInUse as error:
        return await _again(request, app, process_id, "delete", error)
    except NotFound:
        raise
    except InputError as error:
        return await _again(request, app, process_id, "delete", error)
    app.summaries.forget()
    return RedirectResponse(url(), 303)


async def _again(
    request: Request, app: Application, process_id: str, part: str, error: InputError, **filled: Any
) -> HTMLResponse:
    """The forms once more, with what was typed and what is wrong with it."""
    is_taken = isinstance(error, (ProcessConflict, ProcessInUse, ClaimInUse))
    status = 404 if isinstance(error, NotFound) else 409 if is_taken else 422
    return await _process_page(
        request,
        app,
        process_id,
        status,
        part=part,
        wrong=with_advice(error, ADVICE),
        violations=error.violations,
        filled=filled,
    )


def _done(process_id: str, what: str, stored: int, given: int) -> Response:
    done = f"{what}-{stored}-{given}"
    return RedirectResponse(url("processes", process_id, "edit", done=done), 303)


@router.get("/processes/{process_id}/claims/{claim_id}/edit", dependencies=_WRITE)
async def show_claim(
    request: Request, app: App, process_id: ProcessId, claim_id: ClaimId
) -> HTMLResponse:
    """Forms that change, merge and remove a claim."""
    judged = await app.claims.get(process_id, claim_id)
    process = await app.processes.get(process_id)
    return await _claim_page(request, app, process, judged)


async def _claim_page(
    request: Request,
    app: Application,
    process: Process,
    judged: JudgedClaim,
    status: int = 200,
    *,
    part: str = "",
    wrong: str | None = None,
    filled: dict[str, Any] | None = None,
) -> HTMLResponse:
    every = await app.claims.all(process.process_id)
    others = [
        one
        for one in every
        if one.node_id == judged.node_id and one.claim_id != judged.claim_id and one.origin is None
    ]
    likely = {
        one.like if one.claim_id == judged.claim_id else one.claim_id
        for one in await app.claims.alike(every)
        if judged.claim_id in (one.like, one.claim_id)
    }
    others.sort(key=lambda one: one.claim_id not in likely)
    return render(
        request,
        "claim_edit.html",
        status,
        process=process,
        claim=judged,
        others=[(one, one.claim_id in likely) for one in others[:MOST_OTHERS]],
        part=part,
        wrong=wrong,
        filled=filled or {},
    )


@router.post("/processes/{process_id}/claims/{claim_id}/edit", dependencies=_POST)
async def edit(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    claim_id: ClaimId,
    text: Annotated[str, Form(max_length=100_000)] = "",
    force: Ticked = "",
) -> Response:
    """Give a claim another text."""

    async def work() -> Response:
        await app.claims.edit(process_id, claim_id, text.strip(), force=force == "1", by=caller)
        return RedirectResponse(url("processes", process_id, "claims", claim_id), 303)

    return await _tried(request, app, process_id, claim_id, "edit", work, text=text)


@router.post("/processes/{process_id}/claims/{claim_id}/merge", dependencies=_POST)
async def merge(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    claim_id: ClaimId,
    into: Annotated[str, Form(max_length=200)] = "",
    force: Ticked = "",
) -> Response:
    """Merge this claim into another one; this one is removed."""

    async def work() -> Response:
        if not into:
            raise InputError("Choose the claim that stays.")
        await app.claims.merge(process_id, into, [claim_id], force=force == "1", by=caller)
        return RedirectResponse(url("processes", process_id, "claims", into), 303)

    return await _tried(request, app, process_id, claim_id, "merge", work, into=into)


@router.post("/processes/{process_id}/claims/{claim_id}/remove", dependencies=_POST)
async def remove(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    claim_id: ClaimId,
    force: Ticked = "",
) -> Response:
    """Remove a claim; when that was ticked, with its verifications and reviews."""

    async def work() -> Response:
        await app.claims.remove(process_id, [claim_id], force=force == "1", by=caller)
        return RedirectResponse(url("processes", process_id), 303)

    return await _tried(request, app, process_id, claim_id, "remove", work)


async def _tried(
    request: Request,
    app: Application,
    process_id: str,
    claim_id: str,
    part: str,
    work: Any,
    **filled: Any,
) -> Response:
    """Do the work; if it is refused, show the form again with the reason."""
    try:
        answer: Response = await work()
    except NotFound:
        raise
    except InputError as error:
        judged = await app.claims.get(process_id, claim_id)
        process = await app.processes.get(process_id)
        status = 409 if isinstance(error, ClaimInUse) else 422
        words = (
            "Tick that you want this, although it was verified or reviewed."
            if isinstance(error, ClaimInUse)
            else with_advice(error, ADVICE)
        )
        return await _claim_page(
            request, app, process, judged, status, part=part, wrong=words, filled=filled
        )
    return answer
