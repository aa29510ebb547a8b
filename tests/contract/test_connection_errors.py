"""A server that is not there, not ready, not ours or does not let us in: what is said."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import neo4j
import pytest
from fakes.ports import free_port
from fakes.strangers import closes, encrypted, mail, old_bolt, stranger, web
from fakes.tcp_proxy import TcpProxy

from veritrail_graph.graph.errors import EngineError, EngineUnavailable
from veritrail_graph.graph.store import Database, DatabaseAddress, Store

SECRET = "not-the-password-12345"


async def told_by(address: DatabaseAddress, wait_seconds: float = 0.0) -> str:
    """The message to a person who connects there."""
    database = Database(address, connect_timeout=2, retry_seconds=1)
    try:
        with pytest.raises(EngineError) as caught:
            await connect_and_read(database, wait_seconds)
    finally:
        await database.close()
    told = str(caught.value)
    assert SECRET not in told
    assert "\n" not in told
    return told


async def connect_and_read(database: Database, wait_seconds: float) -> None:
    await database.connect(wait_seconds)
    await database.read("meta/schema_state")


def at(port: int, scheme: str = "bolt") -> DatabaseAddress:
    return DatabaseAddress(f"{scheme}://127.0.0.1:{port}", "neo4j", SECRET, "neo4j")


@pytest.mark.parametrize("scheme", ["bolt", "neo4j", "bolt+ssc", "neo4j+s"])
def test_a_port_on_which_nothing_listens(scheme: str) -> None:
    told = asyncio.run(told_by(at(free_port(), scheme)))
    assert "nothing listens there" in told
    assert "Is it running?" in told


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
@pytest.mark.parametrize("serve", [closes, web, mail])
def test_a_port_on_which_something_else_listens(scheme: str, serve: Callable[..., None]) -> None:
    with stranger(serve) as port:
        told = asyncio.run(told_by(at(port, scheme)))
    assert "does not answer as Bolt does" in told
    assert "7687" in told


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_a_server_that_asks_for_encryption_and_one_whose_certificate_nobody_knows(
    tmp_path: Path, scheme: str
) -> None:
    serve = encrypted(tmp_path)
    if serve is None:
        pytest.skip("openssl is not installed")
    with stranger(serve) as port:
        assert f"{scheme}+s://" in asyncio.run(told_by(at(port, scheme)))
        told = asyncio.run(told_by(at(port, f"{scheme}+s")))
    assert "certificate" in told
    assert "+ssc" in told


def test_a_server_that_is_too_old() -> None:
    with stranger(old_bolt) as port:
        told = asyncio.run(told_by(at(port)))
    assert "too old" in told
    assert "Neo4j 5.7" in told


@pytest.mark.engine
@pytest.mark.parametrize("scheme", ["bolt+s", "bolt+ssc", "neo4j+ssc"])
def test_an_engine_that_does_not_encrypt(address: DatabaseAddress, arun: Any, scheme: str) -> None:
    secure = replace(address, uri=address.uri.replace("bolt", scheme, 1))
    told = arun(told_by(secure))
    assert "does not answer with TLS" in told


@pytest.mark.engine
def test_a_wrong_password_and_a_missing_login(address: DatabaseAddress, arun: Any) -> None:
    # Another user, because several wrong passwords lock one out for a while.
    told = arun(told_by(replace(address, username="nobody", password=SECRET)))
    assert "NEO4J_PASSWORD" in told
    told = arun(told_by(replace(address, username=None, password=None)))
    assert "NEO4J_USERNAME" in told


@pytest.mark.engine
def test_several_wrong_passwords(neo4j_server: Any, arun: Any) -> None:
    # A user of its own, known to the server: it counts no attempts of others, and locks one out.
    login = (neo4j_server.username, neo4j_server.password)
    with neo4j.GraphDatabase.driver(neo4j_server.uri, auth=login) as driver:
        driver.execute_query(
            "CREATE USER somebody IF NOT EXISTS SET PASSWORD $password CHANGE NOT REQUIRED",
            password=SECRET[::-1],
            database_="system",
        )
    wrong = DatabaseAddress(neo4j_server.uri, "somebody", SECRET, neo4j_server.database)
    told = [arun(told_by(wrong)) for _ in range(12)]
    assert any("does not accept" in one for one in told)
    assert any("refuses every login for some seconds" in one for one in told)


@pytest.mark.engine
@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_a_database_that_does_not_exist(address: DatabaseAddress, arun: Any, scheme: str) -> None:
    uri = address.uri.replace("bolt", scheme, 1)
    told = arun(told_by(replace(address, uri=uri, database="no-such-database")))
    assert "no-such-database" in told
    assert "NEO4J_DATABASE" in told


@pytest.mark.engine
def test_a_server_that_is_starting_is_waited_for(
    address: DatabaseAddress, arun: Any, caplog: pytest.LogCaptureFixture
) -> None:
    host, _, port = address.uri.removeprefix("bolt://").rpartition(":")
    proxy = TcpProxy(host, int(port), port=free_port())

    async def work() -> float:
        database = Database(replace(address, uri=proxy.uri))
        began = time.monotonic()
        asyncio.get_running_loop().call_later(2.0, proxy.listen)
        try:
            await database.connect(wait_seconds=20)
        finally:
            await database.close()
            proxy.close()
        return time.monotonic() - began

    with caplog.at_level(logging.WARNING, logger="veritrail"):
        assert 1.5 < arun(work()) < 15
    assert [record.getMessage() for record in caplog.records if "Waiting" in record.message] == [
        f"Waiting for the graph engine at {proxy.uri} (nothing listens there), at most 20 seconds."
    ]


def test_a_server_that_never_comes_is_not_waited_for_longer_than_said() -> None:
    began = time.monotonic()
    told = asyncio.run(told_by(at(free_port()), wait_seconds=1.5))
    assert 1.4 < time.monotonic() - began < 6
    assert "Is it running?" in told


@pytest.mark.engine
def test_a_login_that_is_refused_is_not_waited_for(address: DatabaseAddress, arun: Any) -> None:
    began = time.monotonic()
    wrong = replace(address, username="anybody", password=SECRET)
    assert "NEO4J_PASSWORD" in arun(told_by(wrong, wait_seconds=30))
    assert time.monotonic() - began < 10


@pytest.mark.engine
def test_a_statement_that_fails_is_said_in_one_line(store: Store, arun: Any) -> None:
    with pytest.raises(EngineError) as error:
        arun(store.database.run_text("RETURN $missing AS x", {}, 1))
    assert not isinstance(error.value, EngineUnavailable)
    assert "missing" in str(error.value)
