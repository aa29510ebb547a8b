"""Report that the service lives, that it can work, and its figures."""

from __future__ import annotations

from fastapi import APIRouter, Request, Security
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from pydantic import BaseModel

from veritrail_graph.api.service.http.access import BEARER
from veritrail_graph.api.service.http.problems import problems_of
from veritrail_graph.graph.errors import EngineUnavailable

router = APIRouter(tags=["operations"])


class Health(BaseModel):
    """How the service is."""

    status: str


@router.get("/healthz")
async def healthz() -> Health:
    """The process answers; it says nothing of the graph."""
    return Health(status="ok")


@router.get("/readyz", responses=problems_of(503))
async def readyz(request: Request) -> Health:
    """The graph engine and the database of the service answer too."""
    await request.app.state.ring.asks()
    await request.app.state.app.check()
    return Health(status="ready")


@router.get(
    "/metrics",
    dependencies=[Security(BEARER)],
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(request: Request) -> Response:
    """Figures for Prometheus; any key opens them."""
    state = request.app.state
    try:
        jobs = await state.app.job_figures()
    except EngineUnavailable:  # the process's own figures are still useful
        jobs = None
    return Response(
        state.metrics.text(jobs, state.app.traces.figures), media_type=CONTENT_TYPE_PLAIN_0_0_4
    )
