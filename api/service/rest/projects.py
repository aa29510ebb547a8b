"""Projects of processes over REST: tags, and how they do over time."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from veritrail_graph.api.app.projects import By, ProjectList, Trend
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.requests.bodies import ProcessEdit
from veritrail_graph.api.requests.limits import LONGEST_PROJECT
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.answers import answer
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import CHECKED, ProcessId
from veritrail_graph.api.service.http.problems import problems_of
from veritrail_graph.graph.model.processes import ProcessOverview

router = APIRouter(route_class=OneVersion, prefix="/v1", tags=["processes"], dependencies=[CHECKED])


@router.patch(
    "/processes/{process_id}",
    response_model=ProcessOverview,
    responses=problems_of(404),
    dependencies=[needs(Scope.READ, Scope.WRITE)],
)
async def tag_process(
    app: App, caller: Calling, process_id: ProcessId, edit: ProcessEdit
) -> Response:
    """Say to which project a process belongs, and which tags it has."""
    await app.projects.tag(process_id, edit.project, edit.tags, by=caller)
    return answer(await app.processes.overview(process_id))


@router.get("/projects", response_model=ProjectList, dependencies=[needs(Scope.READ)])
async def list_projects(app: App) -> Response:
    """The projects, by their names."""
    return answer(await app.projects.all())


@router.get(
    "/trend", response_model=Trend, responses=problems_of(404), dependencies=[needs(Scope.READ)]
)
async def get_trend(
    app: App,
    project: Annotated[
        str, Query(min_length=1, max_length=LONGEST_PROJECT, description="The project.")
    ],
    by: Annotated[
        By,
        Query(
            description="What makes a group: the day on which a process was stored, the process, "
            "its tags, the judge, or the model or prompt of its final outputs."
        ),
    ] = "day",
) -> Response:
    """How much of a project is unsupported, and at which stage that came in, in groups."""
    return answer(await app.projects.trend(project, by))
