"""Bodies on their way to a file: limits, bombs, and what is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import os
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import Headers

from veritrail_graph.api.auth.access import LOCAL, Caller, Scope
from veritrail_graph.api.service.http import receiving
from veritrail_graph.api.service.http.bodies import TooSlow, Upload
from veritrail_graph.api.service.http.receiving import (
    UploadRefused,
    Uploads,
    check_encoding,
    check_unpacked,
    parse_name,
)
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.writers import this_writer


class Body:
    """A request, as far as receiving its body goes."""

    def __init__(self, *pieces: bytes, fails: bool = False, **headers: str) -> None:
        self.pieces = pieces
        self.fails = fails
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    async def stream(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece
        if self.fails:
            raise RuntimeError("the client is gone")


@pytest.fixture
def uploads(tmp_path: Path) -> Uploads:
    return Uploads(Settings(home=tmp_path, upload_max="1kb"))


def received(uploads: Uploads, body: Body) -> bytes:
    async def read() -> bytes:
        request: Any = body
        async with uploads.received(request, "body", LOCAL) as file:
            return file.read_bytes()

    return asyncio.run(read())


@pytest.mark.parametrize("umask", [0, 0o022])
def test_only_its_owner_reads_an_upload_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    uploads = Uploads(Settings(home=tmp_path / "home", upload_max="1kb"))

    def modes() -> dict[str, int]:
        return {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}

    async def rights() -> dict[str, int]:
        body: Any = Body(b"{}")
        async with uploads.received(body, "body", LOCAL):
            return modes()

    before = os.umask(umask)
    try:
        found = asyncio.run(rights())
    finally:
        os.umask(before)
    files = {name: found.pop(name) for name in ("body", "owner")}
    assert set(files.values()) == {0o600}
    assert len(found) == 4
    assert set(found.values()) == {0o700}


def left(uploads: Uploads) -> list[str]:
    return [path.name for path in uploads._all.rglob("body*")]


def test_a_body_is_there_whole_and_gone_afterwards(uploads: Uploads) -> None:
    assert received(uploads, Body(b"a" * 600, b"", b"b" * 400)) == b"a" * 600 + b"b" * 400
    assert left(uploads) == []


@pytest.mark.parametrize("body", [Body(content_length="1001"), Body(b"a" * 600, b"b" * 401)])
def test_a_body_above_the_limit_is_refused_and_gone(uploads: Uploads, body: Body) -> None:
    with pytest.raises(UploadRefused) as told:
        received(uploads, body)
    assert (told.value.status, told.value.kind) == (413, "body-too-large")
    assert left(uploads) == []


def test_a_body_that_is_cut_leaves_nothing(uploads: Uploads) -> None:
    with pytest.raises(RuntimeError):
        received(uploads, Body(b"half", fails=True))
    assert left(uploads) == []


@pytest.mark.parametrize(
    ("content", "is_bomb"),
    [
        (gzip.compress(b"x" * 8_000, mtime=0), False),
        (gzip.compress(b"x" * 8_001, mtime=0), True),
        (gzip.compress(b"x" * 5_000, mtime=0) + gzip.compress(b"x" * 5_000, mtime=0), True),
        (gzip.compress(b"x" * 5_000, mtime=0)[:-5], False),
        (b"x" * 900, False),
    ],
    ids=["as far as it may", "one more", "in two parts", "cut", "not packed"],
)
def test_what_grows_too_much_is_refused(uploads: Uploads, content: bytes, is_bomb: bool) -> None:
    if is_bomb:
        with pytest.raises(UploadRefused, match="unpacked"):
            received(uploads, Body(content))
    else:
        assert received(uploads, Body(content)) == content


def test_a_bomb_is_told_by_how_much_it_grows(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb"
    bomb.write_bytes(gzip.compress(b"\0" * 150_000_000, 1))
    started = time.monotonic()
    with pytest.raises(UploadRefused):
        check_unpacked(bomb, bomb.stat().st_size, 10**12)
    assert time.monotonic() - started < 30


def key(name: str) -> Caller:
    return Caller(name, name, frozenset({Scope.WRITE}))


def test_no_more_than_a_few_at_a_time_and_fewer_of_one_key(
    uploads: Uploads, monkeypatch: pytest.MonkeyPatch
) -> None:
    now: Counter[str | None] = Counter()
    leaving = asyncio.Event()

    async def one(caller: Caller) -> None:
        request: Any = Body(b"x")
        async with uploads.received(request, "body", caller):
            now[caller.key_id] += 1
            await leaving.wait()

    async def stand(count: int) -> None:
        while now.total() < count:  # noqa: ASYNC110  # once
            await asyncio.sleep(0.01)

    async def many() -> list[BaseException | None]:
        patient = [asyncio.create_task(one(key("k0"))) for _ in range(receiving.AT_ONCE)]
        await stand(receiving.OF_KEY)
        patient += [asyncio.create_task(one(key("k1"))) for _ in range(2)]
        await stand(receiving.AT_ONCE)
        monkeypatch.setattr(receiving, "WAIT_SECONDS", 0.1)
        late = await asyncio.gather(one(key("k2")), return_exceptions=True)
        assert now == {"k0": receiving.OF_KEY, "k1": receiving.AT_ONCE - receiving.OF_KEY}
        leaving.set()
        assert await asyncio.gather(*patient) == [None] * len(patient)
        return late

    (late,) = asyncio.run(many())
    assert isinstance(late, UploadRefused)
    assert (late.status, late.headers) == (503, {"Retry-After": "30"})
    assert uploads._storing._keys == {}


def test_who_sends_slowly_keeps_neither_uploads_nor_exports_waiting(
    uploads: Uploads, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = asyncio.Event()
    begun: list[Body] = []

    class Stalled(Body):
        async def stream(self) -> AsyncIterator[bytes]:
            begun.append(self)
            yield b"{"
            await never.wait()

    async def upload(body: Any, caller: Caller) -> None:
        async with uploads.received(body, "body", caller):
            pass

    async def work() -> None:
        slow = [
            asyncio.create_task(upload(Stalled(), key("slow")))
            for _ in range(receiving.RECEIVED_OF_KEY)
        ]
        while len(begun) < len(slow):  # noqa: ASYNC110  # once
            await asyncio.sleep(0.01)
        await upload(Body(b"x"), key("other"))
        async with uploads.writing("export", key("other")):
            pass
        monkeypatch.setattr(receiving, "WAIT_SECONDS", 0.1)
        with pytest.raises(UploadRefused, match="Too many"):
            await upload(Body(b"x"), key("slow"))
        for one in slow:
            one.cancel()
        await asyncio.gather(*slow, return_exceptions=True)

    asyncio.run(work())
    assert left(uploads) == []


@pytest.mark.parametrize(
    ("size", "most", "lasts"),
    [
        (1, 7_200.0, 60.0),  # a byte every 20 seconds
        (100_000, 7_200.0, 110.0),  # half of the least rate
        (200_000, 7_200.0, 4_000.0),  # the least rate: it may come to its end
        (250_000, 3_600.0, 3_600.0),  # quick enough, and without an end
    ],
)
def test_an_upload_has_a_least_rate_and_an_end(size: int, most: float, lasts: float) -> None:
    time_now, left = 0.0, 200

    async def receive() -> Any:
        nonlocal time_now, left
        if upload.patience < 20.0:
            time_now += upload.patience
            raise TimeoutError
        time_now += 20.0
        left -= 1
        return {"type": "http.request", "body": bytes(size), "more_body": left > 0}

    async def whole() -> None:
        with contextlib.suppress(TooSlow):
            while left:
                await upload.receive()

    upload = Upload(Headers(), receive, receive, most, lambda: time_now)
    asyncio.run(whole())
    assert time_now == pytest.approx(lasts, rel=0.01)
    assert (left == 0) == (lasts == 4_000.0)


def test_what_a_killed_server_left_is_swept(uploads: Uploads, tmp_path: Path) -> None:
    host = this_writer().rsplit("/", 2)[0]
    owners = {"dead": f"{host}/{os.getpid()}/1", "unnamed": None, "mine": this_writer(),
              "other-host": "elsewhere#abc/1/1", "forgotten": "elsewhere#abc/1/1"}  # fmt: skip
    for name, owner in owners.items():
        folder = tmp_path / "uploads" / name / "upload"
        folder.mkdir(parents=True)
        (folder / "body").write_bytes(b"half")
        if owner:
            (folder.parent / "owner").write_text(owner)
    old = time.time() - receiving.FORGOTTEN_SECONDS - 60
    gone = tmp_path / "uploads" / "forgotten"
    for path in (*gone.rglob("*"), gone):
        os.utime(path, (old, old))
    assert uploads.sweep() == 3
    assert {path.name for path in (tmp_path / "uploads").iterdir()} == {"mine", "other-host"}


def test_a_wrong_limit_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="VERITRAIL_UPLOAD_MAX"):
        Uploads(Settings(home=tmp_path, upload_max="much"))


def test_media_types_and_encodings() -> None:
    assert parse_name("application/x-ndjson; charset=utf-8") == "body.jsonl"
    assert parse_name("") == parse_name("application/json") == "body"
    with pytest.raises(UploadRefused):
        parse_name("Multipart/Form-Data; boundary=x")
    check_encoding("", b"{}")
    check_encoding("GZIP", b"\x1f\x8b")
    for encoding, start in (("gzip", b"{}"), ("br", b"{}"), ("gzip, br", b"\x1f\x8b")):
        with pytest.raises(UploadRefused):
            check_encoding(encoding, start)
