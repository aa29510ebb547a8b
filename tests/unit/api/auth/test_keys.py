"""Keys in the database and in memory, rates, and what the log may not hold."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes.settings_of import settings_of

from veritrail_graph.api.auth import key_cache as rings
from veritrail_graph.api.auth.access import EVERYTHING, LOCAL, Caller, Scope, parse_scopes
from veritrail_graph.api.auth.audit import Audit, Filters
from veritrail_graph.api.auth.database import ServiceDatabase, ServiceUnavailable
from veritrail_graph.api.auth.key_cache import ENVIRONMENT, KeyCache, KeyNeeded, Unauthorized
from veritrail_graph.api.auth.keys import Key, Keys, Wish, hash_of, split_key
from veritrail_graph.api.cli.keys import parse_rate, parse_since, parse_span
from veritrail_graph.api.server.logs import Lines, secrets_of
from veritrail_graph.api.server.options import LogFormat
from veritrail_graph.api.service.http.attempts import Rates
from veritrail_graph.graph.errors import InputError, NotFound

READ = frozenset({Scope.READ})


class Clock:
    """A time that is set."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ServiceDatabase]:
    service = ServiceDatabase(f"sqlite:///{tmp_path}/service.sqlite3")
    yield service
    service.close()


@pytest.fixture
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are read at every request, so that no test waits."""
    monkeypatch.setattr(rings, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(rings, "FAILED_SECONDS", 0.0)


async def made(service: ServiceDatabase, name: str = "one", **wish: Any) -> tuple[Key, str]:
    return await Keys(service).create(Wish(name, READ, **wish), LOCAL)


def test_admin_stands_for_all_scopes_and_others_for_themselves() -> None:
    admin = Caller("a", "a", frozenset({Scope.ADMIN}))
    writer = Caller("w", "w", frozenset({Scope.WRITE}))
    assert all(admin.may(scope) for scope in Scope)
    writes = [Scope.REVIEW, Scope.INGEST, Scope.WRITE]
    assert [scope for scope in Scope if writer.may(scope)] == writes
    reviewer = Caller("r", "r", frozenset({Scope.REVIEW}))
    assert [scope for scope in Scope if reviewer.may(scope)] == [Scope.READ, Scope.REVIEW]
    assert parse_scopes(["read,Write", " verify "]) == {Scope.READ, Scope.WRITE, Scope.VERIFY}
    assert set(EVERYTHING) == set(Scope)


@pytest.mark.usefixtures("always_fresh")
def test_nobody_is_asked_until_a_key_was_made_and_then_everybody_is(
    service: ServiceDatabase,
) -> None:
    async def go() -> None:
        ring = KeyCache(service)
        assert (await ring.admit(None)).caller == LOCAL
        assert (await ring.admit("anything")).caller == LOCAL
        key, shown = await made(service, budget_usd=3.0, per_minute=60)
        with pytest.raises(KeyNeeded):
            await ring.admit(None)
        admitted = await ring.admit(shown)
        assert admitted.caller == Caller(key.key_id, "one", READ, 3.0)
        assert admitted.per_minute == 60
        await Keys(service).revoke("one", LOCAL)
        with pytest.raises(Unauthorized, match="revoked"):
            await ring.admit(shown)
        with pytest.raises(KeyNeeded):
            await ring.admit(None)
        assert not await ring.still(admitted.caller)

    asyncio.run(go())


@pytest.mark.usefixtures("always_fresh")
def test_an_expired_key_does_not_open(service: ServiceDatabase) -> None:
    async def go() -> None:
        key, shown = await made(service, seconds=60.0)
        assert key.expires_at is not None
        clock = Clock()
        ring = KeyCache(service, clock=clock)
        clock.now = key.expires_at - 0.001
        admitted = await ring.admit(shown)
        assert await ring.still(admitted.caller)
        clock.now = key.expires_at
        with pytest.raises(Unauthorized, match="expired"):
            await ring.admit(shown)
        assert not await ring.still(admitted.caller)

    asyncio.run(go())


def test_keys_are_kept_for_two_seconds_and_read_once_for_all(service: ServiceDatabase) -> None:
    async def go() -> None:
        ring = KeyCache(service)
        assert not await ring.asks()
        await made(service)
        assert not await ring.asks()  # as it was a moment ago
        reads = 0
        whole = service.read

        async def counted(work: Any) -> Any:
            nonlocal reads
            reads += 1
            return await whole(work)

        service.read = counted  # type: ignore[method-assign]
        ring = KeyCache(service)
        assert all(await asyncio.gather(*(ring.asks() for _ in range(50))))
        assert reads == 1

    asyncio.run(go())


def test_a_database_that_is_gone_lets_nobody_in_but_the_key_from_outside(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    service = ServiceDatabase(f"sqlite:///{tmp_path}/file/service.sqlite3")

    async def go() -> None:
        ring = KeyCache(service)
        for shown in (None, "vt_aaaaaaaa_" + "x" * 43):
            with pytest.raises(ServiceUnavailable) as told:
                await ring.admit(shown)
            assert str(tmp_path) not in str(told.value)
        outside = KeyCache(service, "a key from outside")
        assert outside.opens_outside("a key from outside")
        assert not outside.opens_outside("a key from outsidE")
        assert await outside.still(ENVIRONMENT)

    asyncio.run(go())
    service.close()


def test_when_a_key_was_used_is_written_once_in_a_while(service: ServiceDatabase) -> None:
    async def go() -> None:
        key, shown = await made(service)
        clock = Clock()
        ring = KeyCache(service, clock=clock)
        for clock.now in (2_000.0, 3_000.0):
            await ring.admit(shown)
        await ring.note_uses()
        await Keys(service).used({key.key_id: 2_500.0})  # of another service, which is behind
        (found,) = await Keys(service).all()
        assert found.last_used_at == 3_000.0

    asyncio.run(go())


def test_a_secret_is_random_and_its_hash_alone_is_kept(service: ServiceDatabase) -> None:
    async def go() -> None:
        keys = [await made(service, f"key {n}") for n in range(20)]
        parts = [split_key(shown) for _, shown in keys]
        assert len({part[1] for part in parts if part}) == 20
        for (key, shown), part in zip(keys, parts, strict=True):
            assert part is not None
            assert part[0] == key.key_id
            assert key.hash == hash_of(part[1])
            assert shown not in repr(key)
            assert key.hash not in repr(key)

    asyncio.run(go())


@pytest.mark.parametrize(
    "shown", ["", "vt_", "vt_ABCDEFGH_" + "x" * 43, "vt_aaaaaaaa_" + "x" * 42, "vt_aaaaaaaa", "é"]
)
def test_what_has_another_form_is_no_key(shown: str) -> None:
    assert split_key(shown) is None


def test_a_name_is_free_again_once_its_key_is_revoked(service: ServiceDatabase) -> None:
    async def go() -> None:
        first, _ = await made(service)
        with pytest.raises(InputError, match="with the name 'one'"):
            await made(service)
        await Keys(service).revoke("one", LOCAL)
        second, _ = await made(service)
        assert (await Keys(service).revoke("one", LOCAL)).key_id == second.key_id
        assert (await Keys(service).revoke(first.key_id, LOCAL)).key_id == first.key_id
        with pytest.raises(NotFound):
            await Keys(service).revoke("two", LOCAL)
        with pytest.raises(InputError, match="is a key"):
            await made(service, "vt_aaaaaaaa_" + "x" * 43)

    asyncio.run(go())


def test_the_audit_log_takes_odd_ids_and_fails_nobody(
    service: ServiceDatabase, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def go() -> None:
        audit = Audit(service)
        odd = "a\0b\ud800'; DROP TABLE audit; --"
        caller = replace(LOCAL, request_id="r")
        await audit.record(caller, "process.delete", target=odd, count=3)
        await audit.record(LOCAL, "process_other", target="%")
        (found,) = await audit.entries(Filters(action="process"))
        assert (found.action, found.details, found.request_id) == (
            "process.delete",
            {"count": 3},
            "r",
        )
        assert len(await audit.entries(Filters())) == 2
        (tmp_path / "file").touch()
        gone = ServiceDatabase(f"sqlite:///{tmp_path}/file/service.sqlite3")
        with caplog.at_level(logging.ERROR, "veritrail.audit"):
            await Audit(gone).record(LOCAL, "process.delete", target="x")
        gone.close()

    asyncio.run(go())
    (line,) = [one for one in caplog.records if one.name == "veritrail.audit"]
    assert json.loads(Lines(LogFormat.JSON).format(line))["audit"]["target"] == "x"


def test_a_rate_fills_with_time_and_forgets_whoever_was_away_longest() -> None:
    clock = Clock()
    rates = Rates(most=2, clock=clock)
    assert [rates.take("a", 3) for _ in range(4)] == [None, None, None, 20]
    assert rates.wait("a", 3) == 20
    assert rates.wait("b", 3) is None
    clock.now += 19.0
    assert rates.take("a", 3) == 1
    clock.now += 1.0
    assert rates.take("a", 3) is None
    clock.now += 3_600.0
    assert [rates.take("a", 3) for _ in range(4)][:3] == [None] * 3
    for name in ("b", "c"):
        rates.take(name, 3)
    assert rates.wait("a", 3) is None  # forgotten, so it begins anew


SECRETS = {
    "VERITRAIL_API_KEY": "the-api-key-itself",
    "OPENAI_API_KEY": 'with "quotes" and \\',
    "VERITRAIL_JOBS_URL": "postgresql://user:pa55word@db.internal:5432/x",
    "NEO4J_PASSWORD": "graph-password",
}


@pytest.mark.parametrize("form", list(LogFormat))
def test_a_line_of_the_log_holds_no_secret_and_stays_one_line(form: LogFormat) -> None:
    lines = Lines(form, secrets_of(settings_of({"HOME": "/", **SECRETS})))
    words = " ".join(SECRETS.values())
    shown = "vt_aaaaaaaa_" + "Secret" * 7 + "x"
    try:
        raise ValueError(f"{words} {shown} Bearer abcdef\nX: 1")
    except ValueError:
        fault = sys.exc_info()
    record = logging.LogRecord(
        "x", logging.ERROR, "f", 1, f"{words}\n{shown} bolt://u:p@graph:7687", (), fault
    )
    record.fields = {"note": f"{shown}\n{SECRETS['OPENAI_API_KEY']}"}
    line = lines.format(record)
    assert "\n" not in line
    for secret in ("api-key-itself", "quotes", "pa55word", "graph-password", "Secret", "abcdef"):
        assert secret not in line, secret
    for address in ("db.internal", "graph:7687"):
        assert address not in line
    assert "vt_aaaaaaaa_***" in line
    if form is LogFormat.JSON:
        told = json.loads(line)
        assert told["level"] == "error"
        assert told["trace"][0].endswith(
            "test_a_line_of_the_log_holds_no_secret_and_stays_one_line"
        )


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("12h", 43_200), ("30d", 2_592_000), ("1W", 604_800)]
)
def test_a_span_of_time_is_read(text: str, seconds: float) -> None:
    assert parse_span(text, "--expires") == seconds


@pytest.mark.parametrize("text", ["", "0d", "-1d", "1y", "d", "1.5h", "999999999w", "\u0661d"])
def test_what_is_no_span_of_time_is_told(text: str) -> None:
    with pytest.raises(InputError, match="--expires"):
        parse_span(text, "--expires")


def test_a_rate_and_a_day_are_read() -> None:
    assert [parse_rate(text) for text in ("60", "60/min", " 60 / minute ")] == [60, 60, 60]
    assert parse_since("2026-05-01") == 1_777_593_600.0
    assert parse_since("2026-05-01T02:00+02:00") == 1_777_593_600.0
    with pytest.raises(InputError, match="--rate"):
        parse_rate("0/min")
