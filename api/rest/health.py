"""Whether the service lives, and whether it can work."""

from __future__ import annotations

from fastapi import APIRouter, Request

router = APIRouter(tags=["operations"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process answers; it says nothing of the graph."""
    return {"status": "ok"}


@router.get("/readyz", responses={503: {"description": "The graph engine does not answer"}})
async def readyz(request: Request) -> dict[str, str]:
    """The graph engine answers too; 503 with Retry-After when it does not."""
    await request.app.state.graph.check()
    return {"status": "ready"}
