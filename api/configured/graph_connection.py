"""The graph: which engine holds it, the shared connection to it, and what can be read into it.

Everything heavy is imported where it is needed, so that `--help` stays quick.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from veritrail_graph.graph.errors import EngineStarting, InputError

if TYPE_CHECKING:
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.embedded import EngineSettings
    from veritrail_graph.graph.store import DatabaseAddress, Store


IMPORT_PREFIX = "VERITRAIL_IMPORT_"
"""What the names of the settings begin with that hold the login of a graph to be read."""

STARTING_SECONDS = 3.0
"""How long a request waits for an engine that is being opened."""


def engine_settings(settings: Settings) -> EngineSettings:
    """The embedded engine's settings."""
    from veritrail_graph.graph.embedded import STATEMENT_SECONDS, EngineSettings, parse_duration

    return EngineSettings(
        home=settings.home,
        idle_seconds=parse_duration(settings.db_idle, "VERITRAIL_DB_IDLE"),
        heap=settings.db_heap,
        # A read without a caller may end; an ingest or a deletion may not.
        statement_seconds=max(STATEMENT_SECONDS, settings.query_seconds),
    )


def server_address(settings: Settings) -> DatabaseAddress | None:
    """The server of NEO4J_URI; None where the embedded engine is used.

    Raises:
        InputError: The address comes from a less trusted source than the password.
    """
    from veritrail_graph.api.settings.sources import Setting
    from veritrail_graph.graph.store import DatabaseAddress

    if settings.neo4j_uri is None:
        return None
    if settings.neo4j_password is not None:
        settings.check_told(Setting.of("NEO4J_URI"), Setting.of("NEO4J_PASSWORD"))
    return DatabaseAddress(
        settings.neo4j_uri,
        settings.neo4j_username,
        settings.neo4j_password,
        settings.neo4j_database,
    )


def import_address(settings: Settings, uri: str) -> DatabaseAddress:
    """A server that `ingest` reads, with its login; the path of the address names the database.

    The login is that of VERITRAIL_IMPORT_…; for the server of NEO4J_URI also that of NEO4J_….
    It is sent to no other server.

    Raises:
        InputError: It is no address, or holds a login.
    """
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.store import DatabaseAddress

    server, _, database = uri.partition("://")[2].partition("/")
    uri = f"{uri.partition('://')[0]}://{server}"
    try:
        Settings(NEO4J_URI=uri)  # checks it
    except InputError as error:
        said = str(error).replace("NEO4J_URI=", "").replace("NEO4J_URI", "The address of a graph")
        raise InputError(said.replace("NEO4J_", IMPORT_PREFIX)) from None
    own = settings.import_from
    if settings.neo4j_uri is not None and _server(settings.neo4j_uri) == _server(uri):
        usual = (settings.neo4j_username, settings.neo4j_password, settings.neo4j_database)
        if own.password is None and own.username is None:
            named = own.database or usual[2]
            return DatabaseAddress(
                uri, usual[0], usual[1], database or named, named_by=_named_by(database)
            )
    user = own.username or ("neo4j" if own.password else None)
    return DatabaseAddress(
        uri,
        user,
        own.password,
        database or own.database,
        settings=IMPORT_PREFIX,
        named_by=_named_by(database),
    )


def _named_by(database: str) -> str:
    """Return where the name of a database stood: in the address, or else in the settings."""
    return "the name behind the slash of the address" if database else "NEO4J_DATABASE"


def _server(uri: str) -> tuple[str, int]:
    """Host and port of an address; the names of this machine count as one."""
    parts = urlsplit(uri)
    host = (parts.hostname or "").lower()
    return "localhost" if host in ("127.0.0.1", "::1") else host, parts.port or 7687


@asynccontextmanager
async def open_graph(
    settings: Settings, on_starting: Callable[[], None] | None = None
) -> AsyncIterator[Store]:
    """The graph: the server of NEO4J_URI, or the embedded engine, started when needed.

    Raises:
        EngineUnavailable: It cannot be started, reached or logged in to.
    """
    from veritrail_graph.graph.store import open_store

    address = server_address(settings)
    if address is not None:
        async with open_store(
            address,
            query_seconds=settings.query_seconds,
            wait_seconds=settings.connect_seconds,
        ) as store:
            yield store
        return

    from veritrail_graph.graph.embedded import running_engine

    # It is on this machine: an engine that does not answer now has ended.
    async with (
        running_engine(engine_settings(settings), on_starting=on_starting) as address,
        open_store(address, retry_seconds=3, query_seconds=settings.query_seconds) as store,
    ):
        yield store


class GraphConnection:
    """Opens the graph once, at the first call; an engine that is down is tried again.

    Args:
        settings: Where the graph is.
        patience: Seconds that a caller waits for an engine that is being opened; an engine that
            is down is then an error at once, as the caller comes again. None: as long as the
            settings say.
        on_starting: Called before the embedded engine is started.
    """

    def __init__(
        self,
        settings: Settings,
        patience: float | None = STARTING_SECONDS,
        on_starting: Callable[[], None] | None = None,
    ) -> None:
        self._on_starting = on_starting
        self._settings = (
            settings if patience is None else settings.model_copy(update={"connect_seconds": 0.0})
        )
        self._patience = patience
        self._opening: asyncio.Task[Store] | None = None
        self._stack = AsyncExitStack()

    async def store(self) -> Store:
        """The graph; opening it goes on when the first caller has given up.

        Raises:
            EngineUnavailable: It cannot be reached now, or is still starting.
        """
        if self._opening is None or _has_failed(self._opening):
            self._opening = asyncio.create_task(self._open())
        opening = self._opening
        done, _ = await asyncio.wait([opening], timeout=self._patience)
        if not done:
            raise EngineStarting("The graph engine is still starting. Ask again in a moment.")
        return opening.result()

    async def _open(self) -> Store:
        opened = open_graph(self._settings, self._on_starting)
        return await self._stack.enter_async_context(opened)

    async def check(self) -> None:
        """Ask the graph something.

        Raises:
            EngineError: It does not answer.
        """
        store = await self.store()
        await store.processes.page(limit=1)

    async def lost(self) -> None:
        """Open the graph anew when it is next needed: the embedded engine may listen elsewhere."""
        if self._opening is None or not self._opening.done():
            return
        stack, self._stack, self._opening = self._stack, AsyncExitStack(), None
        with suppress(Exception):  # what is lost need not close well
            await stack.aclose()

    async def close(self) -> None:
        """Close the connection."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait([self._opening])
            _has_failed(self._opening)
        await self._stack.aclose()


class OpenGraph(GraphConnection):
    """A graph that somebody else opened and closes.

    Args:
        store: The graph.
    """

    def __init__(self, store: Store) -> None:  # it opens nothing
        self._store = store

    async def store(self) -> Store:
        """The graph."""
        return self._store

    async def check(self) -> None:
        """Ask the graph something.

        Raises:
            EngineError: It does not answer.
        """
        await self._store.processes.page(limit=1)

    async def lost(self) -> None:
        """Do nothing: the connection is not ours."""

    async def close(self) -> None:
        """Do nothing: the connection is not ours."""


def _has_failed(opening: asyncio.Task[Store]) -> bool:
    """Return whether opening ended without a graph; also marks a fault without a caller as seen."""
    return opening.done() and (opening.cancelled() or opening.exception() is not None)
