"""A Neo4j server whose disk has no room left: it is said, and nothing of what was there is lost."""

from __future__ import annotations

import asyncio
import resource
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from fakes.processes import MemoryInput, process
from neo4j_server import launcher

from veritrail_graph.graph.errors import EngineError, StoreFull
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.store import DatabaseAddress, open_store

pytestmark = [
    pytest.mark.engine,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="limits a running process: Linux only"),
]


def address_of(server: launcher.Server) -> DatabaseAddress:
    return DatabaseAddress(server.uri, server.username, server.password, server.database)


def wide(nodes: int = 6_000) -> MemoryInput:
    texts = {f"n{number}": f"Sentence {number}. " + "word " * 200 for number in range(nodes)}
    edges = [(name, "t") for name in texts]
    return process({**texts, "t": "The end."}, edges, process_id="wide")


def java_of(server: launcher.Server) -> psutil.Process:
    port = int(server.uri.rsplit(":", 1)[1])
    for one in psutil.process_iter():
        if one.name() == "java" and any(
            connection.status == psutil.CONN_LISTEN and connection.laddr[1] == port
            for connection in one.net_connections("tcp")
        ):
            return one
    raise AssertionError("no such process")


def limit_files(server: launcher.Server) -> None:
    java = java_of(server)
    [home] = [word.partition("=")[2] for word in java.cmdline() if word.startswith("--home-dir=")]
    largest = max(file.stat().st_size for file in Path(home, "data").rglob("*") if file.is_file())
    hard = resource.prlimit(java.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(java.pid, resource.RLIMIT_FSIZE, (largest + 300_000, hard))


async def fill(server: launcher.Server) -> None:
    small: Any = process({"a": "A", "t": "T"}, [("a", "t")], process_id="before")
    async with open_store(address_of(server), retry_seconds=1) as store:
        await ingest(store, small)
        limit_files(server)
        with pytest.raises(StoreFull, match="room"):
            await ingest(store, wide())
        with pytest.raises(EngineError, match=r"restart the server|room"):
            await ingest(store, wide())


async def look(server: launcher.Server) -> None:
    async with open_store(address_of(server), wait_seconds=30) as store:
        assert [one.process_id for one in await store.processes.page()] == ["before"]
        # Its writer, this program, is alive and had no room to let go of it; else others wait until
        # it was silent for a while.
        await store.processes.release("wide")
        assert (await ingest(store, wide())).status == "created"


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_a_full_disk_is_said_and_what_was_stored_is_there_after_a_restart() -> None:
    try:
        with launcher.restarted(lambda server: asyncio.run(fill(server)), {}) as server:
            asyncio.run(look(server))
    except launcher.Unavailable as missing:
        pytest.skip(f"no real Neo4j: {missing}")
