"""The database of the service: what it says when it is down, and to whom its file belongs."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from fakes.ports import free_port
from fakes.service_databases import IN_BOTH

from veritrail_graph.api.auth.access import LOCAL, Scope
from veritrail_graph.api.auth.database import (
    SCHEMA_VERSION,
    OtherVersion,
    ServiceDatabase,
    ServiceUnavailable,
)
from veritrail_graph.api.auth.key_cache import ENVIRONMENT
from veritrail_graph.api.auth.keys import Keys, Wish, api_keys
from veritrail_graph.api.auth.shares import Shares, share_links
from veritrail_graph.api.cli.advice import ADVICE
from veritrail_graph.graph.errors import InputError, with_advice
from veritrail_graph.graph.model.version import Version

STORED = Version("p", "h", "2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.000000Z")


def test_a_server_that_is_down_is_told_without_its_address_and_login() -> None:
    port = free_port()
    service = ServiceDatabase(f"postgresql://user:pa55word@127.0.0.1:{port}/name")
    with pytest.raises(ServiceUnavailable) as told:
        service.read_now(lambda connection: connection.execute(sa.text("SELECT 1")))
    for secret in ("user", "pa55word", "127.0.0.1", str(port), "name"):
        assert secret not in str(told.value), secret
    assert "it cannot be reached" in str(told.value)
    assert told.value.__cause__ is None
    service.close()


@pytest.mark.parametrize(
    "url", ["", "mysql://root:hidden@db/x", "sqlite://", "http://hidden", "://hidden", "hidden"]
)
def test_an_address_of_no_known_kind_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(InputError, match="VERITRAIL_JOBS_URL") as told:
        ServiceDatabase(url)
    assert "hidden" not in str(told.value)


def test_the_file_is_its_owners_alone_also_what_stands_beside_it(tmp_path: Path) -> None:
    service = ServiceDatabase(f"sqlite:///{tmp_path}/inner/service.sqlite3")
    service.run_now(lambda connection: connection.execute(sa.select(api_keys)).all())
    files = sorted((tmp_path / "inner").iterdir())
    assert "service.sqlite3" in [file.name for file in files]
    assert all(file.stat().st_mode & 0o077 == 0 for file in files)
    assert (tmp_path / "inner").stat().st_mode & 0o077 == 0
    service.close()


def test_a_fault_shows_no_values(tmp_path: Path) -> None:
    service = ServiceDatabase(f"sqlite:///{tmp_path}/service.sqlite3")
    insert = sa.text("INSERT INTO api_keys (key_id, nothing) VALUES (:id, 1)")
    with pytest.raises(ServiceUnavailable) as told:
        service.run_now(lambda connection: connection.execute(insert, {"id": "hidden"}))
    assert "hidden" not in str(told.value)
    service.close()


def test_many_make_the_tables_at_once(tmp_path: Path) -> None:
    path = tmp_path / "service.sqlite3"
    together = threading.Barrier(8)
    services = [ServiceDatabase(f"sqlite:///{path}") for _ in range(8)]

    def first(service: ServiceDatabase) -> int:
        together.wait()
        return service.read_now(lambda c: len(c.execute(sa.select(api_keys)).all()))

    async def go() -> list[int]:
        return await asyncio.gather(*(asyncio.to_thread(first, one) for one in services))

    # As many threads as services: each waits for the others.
    loop = asyncio.new_event_loop()
    try:
        from concurrent.futures import ThreadPoolExecutor

        loop.set_default_executor(ThreadPoolExecutor(8))
        assert loop.run_until_complete(go()) == [0] * 8
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()
    for service in services:
        service.close()


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("DROP TABLE veritrail_schema", "before schema versions were recorded"),
        ("UPDATE veritrail_schema SET version = 99", "has schema version 99"),
    ],
)
@IN_BOTH
def test_a_database_of_another_version_is_refused_and_kept(
    service: ServiceDatabase, service_url: str, change: str, found: str
) -> None:
    service.run_now(lambda one: one.execute(sa.text(change)))
    later = ServiceDatabase(service_url)
    for call in (later.read_now, later.run_now):
        with pytest.raises(OtherVersion, match=found) as refused:
            call(lambda one: one.execute(sa.select(api_keys)).all())
    advice = with_advice(refused.value, ADVICE)
    assert service_url.removeprefix("sqlite:///") in advice or "VERITRAIL_JOBS_URL" in advice
    assert "stay there" in advice
    assert service_url.removeprefix("sqlite:///") not in str(refused.value)
    assert service.read_now(lambda one: one.execute(sa.select(api_keys)).all()) == []
    later.close()


def test_a_database_keeps_its_version_when_it_is_opened_again(
    service: ServiceDatabase, service_url: str
) -> None:
    later = ServiceDatabase(service_url)
    versions = later.read_now(
        lambda one: one.execute(sa.text("SELECT version FROM veritrail_schema")).scalars().all()
    )
    assert versions == [SCHEMA_VERSION]
    later.close()


@IN_BOTH
def test_a_database_of_version_1_learns_of_calls_in_batches(
    service: ServiceDatabase, service_url: str
) -> None:
    from veritrail_graph.api.jobs.storage.tables import job_claims

    def back_to_1(one: sa.Connection) -> None:
        one.execute(sa.text("DROP TABLE IF EXISTS job_claims"))
        one.execute(sa.text("CREATE TABLE job_claims (job_id VARCHAR(160), calls INTEGER)"))
        one.execute(sa.text("INSERT INTO job_claims VALUES ('j', 3)"))
        one.execute(sa.text("UPDATE veritrail_schema SET version = 1"))

    service.run_now(back_to_1)
    later = ServiceDatabase(service_url)
    columns = (job_claims.c.calls, job_claims.c.batch_calls)
    assert later.read_now(lambda one: one.execute(sa.select(*columns)).all()) == [(3, 0)]
    later.close()
    again = ServiceDatabase(service_url)
    assert again.read_now(lambda one: one.execute(sa.select(*columns)).all()) == [(3, 0)]
    again.close()


@IN_BOTH
def test_a_link_of_version_2_stays_open(service: ServiceDatabase, service_url: str) -> None:
    unbound: Any = None  # what versions before 4 knew
    before = STORED._replace(first_stored_at=unbound)
    link, token = asyncio.run(Shares(service).create(before, 60, "", LOCAL))

    def back_to_2(one: sa.Connection) -> None:
        one.execute(sa.text("ALTER TABLE share_links DROP COLUMN key_id"))
        one.execute(sa.text("ALTER TABLE share_links DROP COLUMN made_for"))
        one.execute(sa.text("UPDATE veritrail_schema SET version = 2"))

    service.run_now(back_to_2)
    later = ServiceDatabase(service_url)
    assert asyncio.run(Shares(later).admit(token)) == link
    assert link.shows(STORED)
    assert not link.shows(STORED._replace(first_stored_at="2999-01-01T00:00:00.000000Z"))
    later.close()


def test_a_link_ends_with_the_key_that_made_it(service: ServiceDatabase) -> None:
    async def work() -> None:
        keys, links = Keys(service), Shares(service)
        revoked, _ = await keys.create(Wish("ci", frozenset({Scope.WRITE})), LOCAL)
        expiring, _ = await keys.create(Wish("week", frozenset({Scope.WRITE}), seconds=60), LOCAL)
        tokens = {}
        for key in (revoked, expiring):
            _, tokens[key.name] = await links.create(STORED, 3600, "", key.caller())
        _, tokens["local"] = await links.create(STORED, 3600, "", LOCAL)
        later = Shares(service, clock=lambda: time.time() + 120)
        assert await links.admit(tokens["week"])
        assert await later.admit(tokens["week"]) is None
        assert await links.admit(tokens["ci"])
        await keys.revoke("ci", LOCAL)
        assert await links.admit(tokens["ci"]) is None
        found = {one.created_by: one for one in await links.of_process("p")}
        assert not found["ci"].is_open(time.time())
        assert await later.admit(tokens["local"])
        # Without the name of its key a row opens nothing: it cannot be made to outlive the key.
        unbound = sa.update(share_links).values(key_id=None)
        await service.run(lambda one: one.execute(unbound))
        assert await links.admit(tokens["week"]) is None

    asyncio.run(work())


def test_a_link_of_the_key_from_outside_ends_when_another_one_is_set(
    service: ServiceDatabase,
) -> None:
    async def work() -> None:
        _, token = await Shares(service, "first-key-of-all").create(STORED, 60, "", ENVIRONMENT)
        assert await Shares(service, "first-key-of-all").admit(token)
        assert await Shares(service, "another-key-now").admit(token) is None
        assert await Shares(service).admit(token) is None

    asyncio.run(work())
