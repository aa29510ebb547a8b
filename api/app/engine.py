"""The embedded engine: start, stop, status; and the server of NEO4J_URI, where there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.configured.graph_connection import engine_settings, server_address

if TYPE_CHECKING:
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.embedded import EngineStatus
    from veritrail_graph.graph.store import DatabaseAddress
    from veritrail_graph.graph.store.database import ServerFacts


def begin_engine(settings: Settings, on_starting: Callable[[], None] | None = None) -> None:
    """Start the embedded engine, where it is used, while other work is done; say nothing of faults.

    Args:
        settings: The settings.
        on_starting: Called before a start, or while one is under way.
    """
    if settings.neo4j_uri is None:
        from veritrail_graph.graph.embedded import begin_engine

        begin_engine(engine_settings(settings), on_starting)


async def start_engine(settings: Settings) -> dict[str, Any]:
    """Start the embedded engine and keep it running; returns its facts.

    Raises:
        EngineUnavailable: It cannot be started.
    """
    from veritrail_graph.graph.embedded import start_engine

    return engine_facts(await start_engine(engine_settings(settings)))


async def stop_engine(settings: Settings) -> bool:
    """Stop the embedded engine; returns whether it was running."""
    from veritrail_graph.graph.embedded import stop_engine

    return await stop_engine(engine_settings(settings))


async def can_be_asked(settings: Settings) -> bool:
    """Return whether a server is named, or the embedded engine runs; nothing is started."""
    from veritrail_graph.graph.embedded import engine_status

    return settings.neo4j_uri is not None or (
        (await engine_status(engine_settings(settings))).running
    )


async def graph_facts(settings: Settings, *, with_password: bool = False) -> dict[str, Any]:
    """Facts on the embedded engine and, where NEO4J_URI names one, on the server.

    The engine is not started, and nothing is written.
    """
    from veritrail_graph.graph.embedded import engine_status
    from veritrail_graph.graph.embedded.folder import EngineFolder
    from veritrail_graph.graph.store import DatabaseAddress
    from veritrail_graph.graph.store.database import server_facts

    found = await engine_status(engine_settings(settings))
    facts = {**engine_facts(found), "schema_version": None, "server": None}
    if found.running and found.uri is not None:
        password = EngineFolder(settings.home).read_password()
        address = DatabaseAddress(found.uri, found.username, password, found.database)
        facts["schema_version"] = (await server_facts(address)).schema_version
        if with_password:
            facts["password"] = password
    server = server_address(settings)
    if server is not None:
        facts["server"] = _server(server, await server_facts(server))
        if with_password:
            facts["server"]["password"] = settings.neo4j_password
    return facts


def engine_facts(found: EngineStatus) -> dict[str, Any]:
    """Return what is known of the embedded engine, as JSON values."""
    return {
        "running": found.running,
        "uri": found.uri,
        "username": found.username,
        "database": found.database,
        "password_file": str(found.password_file),
        "home": str(found.home),
        "data_bytes": found.data_bytes,
        "version": found.version,
        "pid": found.pid,
        "pinned": found.pinned,
        "clients": found.clients,
        "idle_seconds_left": found.idle_seconds_left,
    }


def _server(address: DatabaseAddress, facts: ServerFacts) -> dict[str, Any]:
    return {
        "uri": address.uri,
        "username": address.username,
        "database": address.database,
        "password_from": "NEO4J_PASSWORD" if address.password else None,
        "answers": facts.answers,
        "agent": facts.agent,
        "edition": facts.edition,
        "schema_version": facts.schema_version,
        "error": facts.error,
    }
