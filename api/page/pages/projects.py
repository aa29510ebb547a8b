"""Projects: processes of one pipeline over time."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from veritrail_graph.api.app.projects import By
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.rendering import FromOurPage, csv_file, render
from veritrail_graph.api.requests.limits import LONGEST_PROJECT
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import ProcessId
from veritrail_graph.api.show.tables import csv_text
from veritrail_graph.api.show.words import INDICATIVE_IN_PART

router = APIRouter(route_class=OneVersion, include_in_schema=False)

_READ = [needs(Scope.READ)]
BY_WORDS = {
    "day": "By day",
    "process": "By process",
    "tag": "By tag",
    "judge": "By judge",
    "model": "By model of the pipeline",
    "prompt": "By prompt of the pipeline",
}
COLUMNS = (
    "name", "processes", "claims", "judged", "unsupported", "share", "fully_supported",
    "not_fully_supported", "inconclusive",
)  # fmt: skip
MOST_BARS = 60
"""Groups that the picture shows, the latest."""

Project = Annotated[str, Query(min_length=1, max_length=LONGEST_PROJECT)]


@router.get("/projects", dependencies=_READ)
async def show(
    request: Request, app: App, project: Project | None = None, by: By = "day"
) -> HTMLResponse:
    """The projects, or one of them in groups."""
    if project is None:
        found = await app.projects.all()
        return render(request, "projects.html", projects=found.projects, trend=None)
    trend = await app.projects.trend(project, by)
    stages = sorted({int(stage) for one in trend.groups for stage in one.error_stages})
    bars = trend.groups[-MOST_BARS:]
    return render(
        request,
        "projects.html",
        projects=(),
        trend=trend,
        stages=stages,
        words=BY_WORDS,
        some_undecided=any(one.undecided for one in trend.groups),
        some_indicative=any(one.indicative for one in trend.groups),
        indicative_in_part=INDICATIVE_IN_PART,
        some_split=any(
            one.error_shares[stage] != claims
            for one in trend.groups
            for stage, claims in one.error_stages.items()
        ),
        bars=[(one, 100 * (one.share or 0.0), place) for place, one in enumerate(bars)],
        left_out=len(trend.groups) - len(bars),
        csv=url("projects.csv", project=project, by=by),
        to=lambda **changed: url("projects", **{"project": project, "by": by, **changed}),
    )


@router.get("/projects.csv", dependencies=_READ)
async def download(app: App, project: Project, by: By = "day") -> Response:
    """The groups as a table, with a column for each stage."""
    trend = await app.projects.trend(project, by)
    stages = sorted({int(stage) for one in trend.groups for stage in one.error_stages})
    columns = (*COLUMNS, *(f"stage_{stage}" for stage in stages), "undecided", "indicative")
    rows = (
        (
            one.name, one.processes, one.claims, one.judged, one.unsupported, one.share,
            *one.verdicts.values(), *(one.error_stages.get(str(stage), 0) for stage in stages),
            one.undecided, one.indicative,
        )
        for one in trend.groups
    )  # fmt: skip
    return csv_file(f"{project}-{by}.csv", csv_text(columns, rows))


@router.post("/processes/{process_id}/tags", dependencies=[needs(Scope.WRITE), FromOurPage])
async def tag(
    app: App,
    caller: Calling,
    process_id: ProcessId,
    project: Annotated[str, Form(max_length=1_000)] = "",
    tags: Annotated[str, Form(max_length=10_000)] = "",
) -> Response:
    """Say to which project a process belongs, and which tags it has."""
    await app.projects.tag(process_id, project, tags.splitlines(), by=caller)
    return RedirectResponse(url("processes", process_id), 303)
