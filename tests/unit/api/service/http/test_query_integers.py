"""Integers in addresses: plain digits alone, at every route that takes some."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi import Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.exceptions import RequestValidationError
from fastapi.params import ParamTypes
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from veritrail_graph.api.page.plugin_pages import plugin_routers
from veritrail_graph.api.server.application import ROUTERS, create_app
from veritrail_graph.api.service.http.answers import only_plain_integers
from veritrail_graph.api.settings import Settings

WRONG = ["+0", " 1", "1 ", "1_0", "\u0661", "\uff11", "1.0", "+0.0", "007", "", "0x1", "1\n"]
PARAMETERS = [
    (route, one.alias)
    for router in (*ROUTERS, *plugin_routers())
    for route in router.routes
    if isinstance(route, APIRoute)
    for one in get_flat_params(route.dependant)
    if getattr(one.field_info, "in_", None) is ParamTypes.query
    and re.search(r"\bint\b", str(one.field_info.annotation))
]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    # One loop for all calls: those that name a process open the graph, which is not there.
    nobody = Settings(home=tmp_path, neo4j_uri="bolt://127.0.0.1:1")
    with TestClient(create_app(nobody), "http://localhost") as opened:
        yield opened


def check(route: APIRoute, query: str) -> None:
    scope = {"type": "http", "path": "/", "headers": [], "server": ("localhost", 80)}
    request = Request({**scope, "query_string": query.encode(), "route": route})
    asyncio.run(only_plain_integers(request))


def test_an_integer_in_an_address_is_written_with_the_digits_0_to_9_alone() -> None:
    for route, name in PARAMETERS:
        for wrong in WRONG:
            with pytest.raises(RequestValidationError) as caught:
                check(route, f"{name}={quote(wrong)}")
            assert caught.value.errors()[0]["loc"] == ("query", name), (route.path, wrong)
        for right in ("0", "-1", "42"):
            check(route, f"{name}={right}")


def test_every_route_that_takes_integers_looks_at_how_they_are_written(client: TestClient) -> None:
    assert len(PARAMETERS) > 40
    for route, name in PARAMETERS:
        path = re.sub(r"\{\w+\}", "x", route.path)
        (method,) = route.methods
        answer = client.request(method, path, params={name: "+0"})
        assert answer.status_code == 422, (route.path, name, answer.text)
        if path.startswith("/v1/"):
            (violation,) = answer.json()["violations"]
            assert violation["where"] == f"query.{name}"
            assert violation["message"] == "must be a whole number"
