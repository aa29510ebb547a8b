"""Where adapters are chosen: which engine holds the graph, who judges, what can be read.

Everything heavy is imported where it is needed, so that `--help` stays quick.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from veritrail_graph.api.settings import Settings

if TYPE_CHECKING:
    from veritrail_graph.graph.embedded import EngineSettings
    from veritrail_graph.graph.importers.registry import Registry
    from veritrail_graph.graph.store import DatabaseAddress, Store


def engine_settings(settings: Settings) -> EngineSettings:
    """The embedded engine's settings."""
    from veritrail_graph.graph.embedded import STATEMENT_SECONDS, EngineSettings, parse_duration

    return EngineSettings(
        home=settings.home,
        idle_seconds=parse_duration(settings.db_idle, "VERITRAIL_DB_IDLE"),
        heap=settings.db_heap,
        jit=settings.db_jit,
        # What nobody waits for any more is to end; what an ingest or a deletion does is not.
        statement_seconds=max(STATEMENT_SECONDS, settings.query_seconds),
    )


def server_address(settings: Settings) -> DatabaseAddress | None:
    """The server of NEO4J_URI; None where the embedded engine is used."""
    from veritrail_graph.graph.store import DatabaseAddress

    if settings.neo4j_uri is None:
        return None
    return DatabaseAddress(
        settings.neo4j_uri,
        settings.neo4j_username,
        settings.neo4j_password,
        settings.neo4j_database,
    )


@asynccontextmanager
async def open_graph(
    settings: Settings, on_starting: Callable[[], None] | None = None
) -> AsyncIterator[Store]:
    """The graph: the server of NEO4J_URI, or the embedded engine, started when needed.

    Raises:
        EngineUnavailable: It cannot be started, reached or logged in to.
    """
    from veritrail_graph.graph.store import DatabaseAddress, open_store

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

    async with running_engine(engine_settings(settings), on_starting=on_starting) as engine:
        address = DatabaseAddress(engine.uri, engine.username, engine.password, engine.database)
        # It is on this machine: when it does not answer now, it is gone.
        async with open_store(
            address, retry_seconds=3, query_seconds=settings.query_seconds
        ) as store:
            yield store


def importers() -> Registry:
    """Every format that can be read, in the order of detection."""
    from veritrail_graph.graph.importers.graphrag import GraphRagImporter
    from veritrail_graph.graph.importers.process_file import ProcessFileImporter
    from veritrail_graph.graph.importers.registry import Registry

    return Registry.of([ProcessFileImporter(), GraphRagImporter()])
