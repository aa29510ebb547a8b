"""The application: every route, and what they share."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from fastapi import Depends, FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware

from veritrail_graph.api.advice import CALLER_HEADER, PYTHON, REST
from veritrail_graph.api.app import Application
from veritrail_graph.api.auth.key_cache import KeyCache
from veritrail_graph.api.auth.sessions import Sessions
from veritrail_graph.api.configured.graph_connection import STARTING_SECONDS, GraphConnection
from veritrail_graph.api.mcp.advice import ADVICE as MCP_ADVICE
from veritrail_graph.api.mcp.over_http import OverHttp
from veritrail_graph.api.page.faults import ADVICE as PAGE_ADVICE
from veritrail_graph.api.page.faults import Faults, is_page
from veritrail_graph.api.page.pages import ROUTERS as PAGES
from veritrail_graph.api.page.plugin_pages import plugin_routers
from veritrail_graph.api.page.rendering import warm_up
from veritrail_graph.api.service.http import request_id
from veritrail_graph.api.service.http.answers import only_plain_integers
from veritrail_graph.api.service.http.attempts import Attempts
from veritrail_graph.api.service.http.bodies import upload_seconds
from veritrail_graph.api.service.http.guard import Guard, Rules
from veritrail_graph.api.service.http.otlp import ExportBodies, Statuses
from veritrail_graph.api.service.http.paths import SentPath
from veritrail_graph.api.service.http.problems import answer_with_problems
from veritrail_graph.api.service.http.receiving import Uploads
from veritrail_graph.api.service.http.watch import Head, Metrics, Watch
from veritrail_graph.api.service.rest import resources
from veritrail_graph.api.service.rest.description import ABOUT, describe
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import VeriTrailError

ROUTERS = (*resources.ROUTERS, *PAGES)

ENDING_SECONDS = 15.0
"""How long handing back jobs may take when the service ends; what is left is found by others."""

CLOSING_SECONDS = 3.0
"""How long each step after that may take."""

NOTE_SECONDS = 20.0
"""How often it is written down when keys were last shown."""


@dataclass(frozen=True, slots=True)
class Way:
    """Options of an application that serves.

    Attributes:
        key: VERITRAIL_API_KEY, if it is set.
        is_open: Whether others than this machine may reach it: then a key is always needed.
        works: Whether jobs are worked on in this process.
        opens_graph: Whether the graph is opened at once, so that the first request finds it.
    """

    key: str | None = None
    is_open: bool = False
    works: bool = True
    opens_graph: bool = False


_ADVICE_OF = {"python": PYTHON, "mcp": MCP_ADVICE}


def advice_at(path: str, headers: Mapping[str, str]) -> Mapping[str, str]:
    """The advice of the door that sent a request, by code of the error.

    The page is known by the path. Other callers name themselves in the header
    `X-Veritrail-Client`; without it, or with a name that is not known, they get that of REST.
    """
    if is_page(path):
        return PAGE_ADVICE
    return _ADVICE_OF.get(headers.get(CALLER_HEADER, ""), REST)


def create_app(settings: Settings, way: Way | None = None) -> FastAPI:
    """The service over a graph.

    Args:
        settings: Where the graph and the database of the service are.
        way: How it serves; None: for this machine alone.

    Raises:
        InputError: A setting has a value that it cannot have.
    """
    way = way or Way()
    app = FastAPI(
        **ABOUT,
        lifespan=_living,
        dependencies=[Depends(only_plain_integers)],
        # Their pages would load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # Whatever type a body says to have, it is read as JSON.
        strict_content_type=False,
    )
    state = app.state
    state.opens_graph = way.opens_graph
    state.app = Application(
        settings, patience=STARTING_SECONDS, works=way.works, service_key=way.key
    )
    state.settings, state.service = settings, state.app.database
    service = state.service
    app.state.ring = KeyCache(service, way.key, always=way.is_open)
    app.state.attempts = Attempts(app.state.ring)
    app.state.sessions = Sessions(service, app.state.ring)
    app.state.metrics = Metrics()
    app.state.uploads = Uploads(settings)
    app.state.exports = ExportBodies(settings)
    for router in (*ROUTERS, *plugin_routers()):
        app.include_router(router)
    app.state.mcp = OverHttp(app.state.app)
    app.router.routes.append(app.state.mcp.route)
    answer_with_problems(app, advice_at)
    describe(app)
    rules = Rules(
        settings.rate,
        settings.cors_origins,
        settings.body_seconds,
        upload_seconds(settings.upload_max),
    )
    _add_layers(app, rules)
    return app


@asynccontextmanager
async def _living(app: FastAPI) -> AsyncIterator[None]:
    """Run the parts of the application while it serves; begin without waiting for what is down."""
    state = app.state
    state.graph, state.standings = state.app.graph, state.app.summaries
    state.closing = asyncio.Event()
    await asyncio.to_thread(state.uploads.sweep)
    noting = asyncio.create_task(_note_uses(state.ring))
    warming = asyncio.create_task(asyncio.to_thread(warm_up))
    state.jobs = state.app.jobs
    state.jobs.start()
    state.app.traces.start()
    opening = [asyncio.create_task(_open(state.graph))] if state.opens_graph else []
    try:
        yield
    finally:
        await _within(CLOSING_SECONDS, state.mcp.close())
        await asyncio.gather(
            *(
                _within(ENDING_SECONDS, part.stop())
                for part in (state.app.search, state.app.traces, state.jobs)
            )
        )
        for task in (noting, warming, *opening):
            task.cancel()
        await asyncio.wait([noting, warming, *opening], timeout=CLOSING_SECONDS)
        await _within(CLOSING_SECONDS, state.ring.note_uses())
        await _within(CLOSING_SECONDS, state.graph.close())
        await asyncio.to_thread(state.uploads.close)
        state.service.close()


async def _open(graph: GraphConnection) -> None:
    """Open the graph; the next request meets a fault again."""
    with suppress(VeriTrailError):
        await graph.store()


def _add_layers(app: FastAPI, rules: Rules) -> None:
    """Add the layers that a request passes before the routes; the last one added is met first."""
    app.add_middleware(SentPath)
    state = app.state
    app.add_middleware(
        Guard,
        ring=state.ring,
        attempts=state.attempts,
        sessions=state.sessions,
        shares=state.app.sharing.links,
        rules=rules,
        advice_at=advice_at,
    )
    app.add_middleware(Faults)
    app.add_middleware(Statuses)
    app.add_middleware(GZipMiddleware, minimum_size=1_000, compresslevel=3)
    if rules.origins:
        _allow_origins(app, rules.origins)
    app.add_middleware(Head)
    app.add_middleware(Watch, metrics=app.state.metrics)


def _allow_origins(app: FastAPI, origins: frozenset[str]) -> None:
    """Let pages of these origins ask; what they ask with a cookie they are not given to read."""
    app.add_middleware(
        CORSMiddleware,
        allow_origins=sorted(origins),
        allow_methods=["DELETE", "GET", "HEAD", "PATCH", "POST"],
        allow_headers=[
            "Authorization",
            "Content-Type",
            "Idempotency-Key",
            "If-None-Match",
            "Last-Event-ID",
            "MCP-Protocol-Version",
            "Mcp-Method",
            "Mcp-Name",
        ],
        expose_headers=["ETag", "Location", "Retry-After", request_id.HEADER],
        max_age=600,
    )


async def _within(seconds: float, work: Coroutine[Any, Any, None]) -> None:
    """Do something within a time: the operator kills a service that takes too long to end."""
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        logging.getLogger("veritrail").warning("Not everything was handed back in time")


async def _note_uses(ring: KeyCache) -> None:
    while True:
        await asyncio.sleep(NOTE_SECONDS)
        await ring.note_uses()
