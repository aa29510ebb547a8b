"""A form with a file, however it is cut into pieces on its way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from fastapi import Request
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import ClientDisconnect

from veritrail_graph.api.page.pages.upload import MOST_FIELD, SentFile
from veritrail_graph.graph.errors import InputError

KIND = "multipart/form-data; boundary=edge"


def body_of(*parts: tuple[str, str | None, bytes], end: bytes = b"--edge--\r\n") -> bytes:
    """Parts by name, name of the file, content."""
    made = b""
    for name, file, content in parts:
        head = f'Content-Disposition: form-data; name="{name}"'
        head += f'; filename="{file}"\r\nContent-Type: application/json' if file is not None else ""
        made += b"--edge\r\n" + head.encode() + b"\r\n\r\n" + content + b"\r\n"
    return made + end


def request_of(pieces: Sequence[bytes], kind: str = KIND, *, is_cut: bool = False) -> Request:
    waiting = [{"type": "http.request", "body": one, "more_body": True} for one in pieces]
    last: dict[str, Any] = {"type": "http.request", "body": b"", "more_body": False}
    waiting.append({"type": "http.disconnect"} if is_cut else last)
    coming = iter(waiting)

    async def receive() -> Any:
        return next(coming)

    headers = [(b"content-type", kind.encode())]
    return Request({"type": "http", "method": "POST", "headers": headers}, receive)


async def whole(stream: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in stream])


def read(request: Request) -> tuple[dict[str, str], str, bytes]:
    async def reading() -> tuple[dict[str, str], str, bytes]:
        sent = SentFile(request)
        await sent.begin()
        return sent.fields, sent.name, await whole(sent.stream())

    return asyncio.run(reading())


@given(st.data(), st.binary(max_size=300))
def test_a_file_comes_as_it_was_sent_wherever_it_was_cut(
    data: st.DataObject, content: bytes
) -> None:
    body = body_of(
        ("form_token", None, b"x"), ("replace", None, b"1"), ("file", "p é.json", content)
    )
    cuts = data.draw(st.lists(st.integers(0, len(body)), max_size=12))
    edges = sorted({0, len(body), *cuts})
    pieces = [body[one:other] for one, other in pairwise(edges)]
    fields, name, found = read(request_of(pieces))
    assert fields == {"form_token": "x", "replace": "1"}
    assert name == "p é.json"
    assert found == content


def test_what_stands_behind_the_file_is_not_part_of_it() -> None:
    body = body_of(("file", "p.json", b"{}"), ("replace", None, b"1"))
    assert read(request_of([body])) == ({}, "p.json", b"{}")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (body_of(("replace", None, b"1")), KIND),
        (b"nonsense", KIND),
        (b"--edge\r\nno colon here\r\n\r\n", KIND),
        (body_of(("a", None, b"x" * (MOST_FIELD + 1)), ("file", "f", b"")), KIND),
        (body_of(*((f"f{n}", None, b"") for n in range(40)), ("file", "f", b"")), KIND),
        (b"{}", "application/json"),
        (b"{}", "multipart/form-data"),
        (b"{}", ""),
    ],
)
def test_what_is_no_form_with_a_file_is_told(body: bytes, kind: str) -> None:
    with pytest.raises(InputError):
        read(request_of([body], kind))


def test_a_file_that_was_cut_is_not_taken_for_a_whole_one() -> None:
    half = body_of(("file", "p.json", b"{" + b" " * 100), end=b"")[:-20]
    with pytest.raises(ClientDisconnect):
        read(request_of([half], is_cut=True))
    with pytest.raises(InputError):
        read(request_of([half]))
