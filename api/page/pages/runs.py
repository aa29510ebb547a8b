"""The runs of a process, the run of record, and two runs or judges over all claims."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from veritrail_graph.api.app.runs import Change
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.rendering import FromOurPage, csv_file, render
from veritrail_graph.api.page.views.process import counts_of
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import ProcessId
from veritrail_graph.api.show.asking import asking_short
from veritrail_graph.api.show.runs import (
    CHANGE_HINTS,
    CHANGE_WORDS,
    comparison_csv,
    flow_of,
    known_cost,
    side_mark,
)
from veritrail_graph.api.show.tables import csv_text
from veritrail_graph.graph.errors import InputError, NotFound

router = APIRouter(route_class=OneVersion, include_in_schema=False)

_READ = [needs(Scope.READ)]
MOST_RUNS = 200
"""Runs of one page."""
ROWS = 100
"""Claims of one page of a comparison."""

Side = Annotated[str, Query(max_length=200)]
RUN_COLUMNS = (
    "run_id", "created_at", "engine", "model", "q", "indicative", "is_of_record", "verifications",
    "fully_supported", "not_fully_supported", "inconclusive", "calls", "cost_usd", "share",
    "escalate_to", "mode", "since", "kept", "undecided",
)  # fmt: skip


@router.get("/processes/{process_id}/runs", dependencies=_READ)
async def show_runs(request: Request, app: App, process_id: ProcessId) -> HTMLResponse:
    """The runs, newest first, and a form that compares two."""
    process = await app.processes.get(process_id)
    found = await app.runs.of_process(process_id)
    shown = found.runs[:MOST_RUNS]
    judges = list(dict.fromkeys(one.model or one.engine for one in found.runs))
    return render(
        request,
        "runs.html",
        process=process,
        asking_short=asking_short,
        runs=[
            (one, counts_of({**one.verdicts, **_unjudged(one.counts)}), known_cost(one.spent))
            for one in shown
        ],
        more=len(found.runs) - len(shown),
        judges=judges,
    )


def _unjudged(counts: dict[str, int]) -> dict[str, int]:
    return {name: number for name, number in counts.items() if name != "succeeded"}


@router.get("/processes/{process_id}/runs.csv", dependencies=_READ)
async def download_runs(app: App, process_id: ProcessId) -> Response:
    """The runs as a table."""
    found = await app.runs.of_process(process_id)
    rows = (
        (
            one.run_id, one.created_at, one.engine, one.model, one.q, one.indicative,
            one.is_of_record, one.verifications, *one.verdicts.values(), one.spent.calls,
            known_cost(one.spent), one.share, one.escalate_to, one.mode, one.since, one.kept,
            one.counts.get("undecided", 0),
        )
        for one in found.runs
    )  # fmt: skip
    return csv_file(f"{process_id}-runs.csv", csv_text(RUN_COLUMNS, rows))


@router.get("/processes/{process_id}/runs/compare", dependencies=_READ)
async def compare(
    request: Request,
    app: App,
    process_id: ProcessId,
    a: Side = "",
    b: Side = "",
    change: Change | None = None,
    after: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> Response:
    """Two sides: what was gained and lost, where it moved, and what each cost."""
    process = await app.processes.get(process_id)
    if not a and not b:  # the address alone: the form stands on the page of the runs
        return RedirectResponse(url("processes", process_id, "runs"), 303)
    wrong, status, found = None, 200, None
    try:
        if not a or not b:
            raise InputError("Choose a first and a second side.")
        found = await app.runs.compare(process_id, a, b)
    except NotFound as error:
        wrong, status = str(error), 404
    except InputError as error:
        wrong, status = str(error), 422
    if found is None:
        return render(
            request, "runs_compare.html", status, process=process, wrong=wrong, found=None
        )
    chosen = [one for one in found.claims if change is None or one.change is change]
    place = ("processes", process_id, "runs", "compare")
    costs = known_cost(found.a.spent), known_cost(found.b.spent)
    return render(
        request,
        "runs_compare.html",
        process=process,
        wrong=None,
        found=found,
        flow=flow_of(found.pairs),
        costs=costs,
        change=change,
        words=CHANGE_WORDS,
        hints=CHANGE_HINTS,
        asking_short=asking_short,
        rows=[(one, side_mark(one.a), side_mark(one.b)) for one in chosen[after : after + ROWS]],
        to=lambda **changed: url(*place, **{"a": a, "b": b, "change": change, **changed}),
        csv=url("processes", process_id, "runs", "compare.csv", a=a, b=b),
        first=url(*place, a=a, b=b, change=change) if after else None,
        next=url(*place, a=a, b=b, change=change, after=after + ROWS)
        if len(chosen) > after + ROWS
        else None,
    )


@router.get("/processes/{process_id}/runs/compare.csv", dependencies=_READ)
async def download_comparison(app: App, process_id: ProcessId, a: Side, b: Side) -> Response:
    """The comparison as a table, a row a claim."""
    found = await app.runs.compare(process_id, a, b)
    return csv_file(f"{process_id}-comparison.csv", comparison_csv(found))


@router.post("/processes/{process_id}/runs/{act}", dependencies=[needs(Scope.VERIFY), FromOurPage])
async def pin(
    app: App,
    caller: Calling,
    process_id: ProcessId,
    act: Literal["pin", "unpin"],
    run_id: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Make a run the run of record, or end that."""
    await app.verifications.pin(run_id, on=act == "pin", by=caller)
    return RedirectResponse(url("processes", process_id, "runs"), 303)
