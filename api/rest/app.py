"""The application: health, readiness and the query library."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import metadata

from fastapi import FastAPI

from api.rest import health, queries
from api.rest.graph import GraphConnection
from api.rest.guard import Guard
from api.rest.problems import tell_problems
from api.settings import Settings


def create_app(settings: Settings, key: str | None = None) -> FastAPI:
    """The service over a graph.

    Args:
        settings: Where the graph is.
        key: What requests must carry; None: nothing, for a service that only this machine reaches.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.graph = GraphConnection(settings)
        yield
        await app.state.graph.close()

    app = FastAPI(
        title="VeriTrail Graph",
        description="Where did that come from, and where did it go wrong?",
        version=metadata.version("veritrail-graph"),
        lifespan=lifespan,
        # Their pages would load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # Whatever type a body says to have, it is read as JSON.
        strict_content_type=False,
    )
    app.include_router(health.router)
    app.include_router(queries.router)
    tell_problems(app)
    app.add_middleware(Guard, key=key)
    return app
