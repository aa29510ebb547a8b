"""The routes of the service as an application without a server, for one caller in this process.

What guards a service against others (keys, limits, logs of requests) has no place here; jobs are
those of the client itself.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from veritrail_graph.api.app import Application
from veritrail_graph.api.auth.access import LOCAL
from veritrail_graph.api.auth.database import ServiceDatabase
from veritrail_graph.api.http import request_id
from veritrail_graph.api.http.paths import SentPath
from veritrail_graph.api.http.problems import tell_problems
from veritrail_graph.api.rest import queries, resources, reviews
from veritrail_graph.api.settings import Settings

ROUTERS = (*resources.ROUTERS, reviews.router, queries.router)


def application(settings: Settings, graph: Any, service: ServiceDatabase) -> ASGIApp:
    """The routes over a graph.

    Args:
        settings: The settings.
        graph: Gives the graph: `store()`, `check()`, `lost()`.
        service: Where it is noted who changed or removed something.
    """
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.settings = settings
    app.state.graph = graph
    app.state.service = service
    app.state.app = Application(settings, graph=graph)
    app.state.app.__dict__["database"] = service
    for router in ROUTERS:
        app.include_router(router)
    tell_problems(app)
    return _AsLocal(SentPath(app))


class _AsLocal:
    """Lets every request be one of whoever runs this process.

    Args:
        app: What answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        state = {"caller": LOCAL, "request_id": request_id.taken_or_made(None)}
        await self._app({**scope, "state": state}, receive, send)
