"""Routing on the path as it was sent: an id may hold any character."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.api.service.http.paths import SegmentConvertor, SentPath


def made() -> SentPath:
    app = FastAPI()

    @app.get("/things/{one}")
    async def thing(one: str) -> dict[str, str]:
        return {"thing": one}

    @app.get("/things/{one}/parts/{two}")
    async def part(one: str, two: str) -> dict[str, str]:
        return {"thing": one, "part": two}

    @app.get("/things/{one}:stop")
    async def stop(one: str) -> dict[str, str]:
        return {"stop": one}

    return SentPath(app)


APP = made()


def asked(raw: bytes) -> tuple[int, Any]:
    """Ask an application as a server does, the path decoded as a whole."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/things/elsewhere",
        "raw_path": raw,
        "query_string": b"",
        "headers": [],
        "root_path": "",
    }
    asyncio.run(APP(scope, receive, send))
    body = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], json.loads(body)


@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40))
def test_any_text_survives_as_a_segment(one: str, two: str) -> None:
    for text in (one, two):
        try:
            text.encode()
        except UnicodeEncodeError:
            return
    path = f"/things/{quote(one, safe='')}/parts/{quote(two, safe='')}"
    assert asked(path.encode()) == (200, {"thing": one, "part": two})


@pytest.mark.parametrize(
    ("raw", "status", "found"),
    [
        (b"/things/a%2Fb", 200, {"thing": "a/b"}),
        (b"/things/a%2fparts%2fb", 200, {"thing": "a/parts/b"}),
        (b"/things/a/b", 404, None),
        (b"/things/%2E%2E", 200, {"thing": ".."}),
        (b"/things/..%2F..%2Fhealthz", 200, {"thing": "../../healthz"}),
        (b"/things/a%252Fb", 200, {"thing": "a%2Fb"}),
        (b"/things/100%25", 200, {"thing": "100%"}),
        (b"/things/a%zz", 200, {"thing": "a%zz"}),
        (b"/th%69ngs/a", 200, {"thing": "a"}),
        (b"/things%2Fa", 404, None),
        (b"/things/j%3A1:stop", 200, {"thing": "j:1:stop"}),
        (b"/things/\xff", 400, None),
        (b"/things/%C3%28", 400, None),
        (b"/things/%ED%A0%80", 400, None),
    ],
)
def test_segments_are_decoded_one_by_one(raw: bytes, status: int, found: Any) -> None:
    told, body = asked(raw)
    assert told == status
    assert found is None or body == found


def test_a_segment_can_be_made_of_any_text() -> None:
    convertor = SegmentConvertor()
    for text in ("a/b", "%2F", "%", "%25/%"):
        assert "/" not in convertor.to_string(text)
        assert convertor.convert(convertor.to_string(text)) == text
