"""MCP over HTTP, spoken to by the real client: the tools of stdio, within what a key allows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from acceptance.command import Veritrail
from acceptance.homes import home_beside
from acceptance.model_fixtures import asking
from acceptance.test_mcp import TOOLS, text_of
from fakes.model_server import ModelServer
from fakes.service_process import ServiceProcess, serving

if TYPE_CHECKING:
    import mcp

pytestmark = pytest.mark.engine

ANSWER = {
    "answer": "The HTTP ferry carries 48 cars.",
    "sources": ["The HTTP ferry carries 42 cars."],
}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
TAKES = {"Accept": "application/json, text/event-stream"}


@dataclass(frozen=True)
class Served:
    """A service, the header of each of its keys, and the command with its home."""

    service: ServiceProcess
    keys: dict[str, dict[str, str]]
    own: Veritrail


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def served(veritrail: Veritrail, model: ModelServer) -> Iterator[Served]:
    """A service that asks a model, with keys."""
    scopes = ("--scope", "read", "--scope", "ingest", "--scope", "verify")
    options = {
        "reader": ("--scope", "read"),
        "exporter": ("--scope", "ingest"),
        "prover": ("--scope", "ingest", "--scope", "verify", "--budget", "1"),
        "unlimited": scopes,
        "assistant": (*scopes, "--budget", "1"),
    }
    with home_beside(veritrail) as own:
        keys = {}
        for name, given in options.items():
            made = own("keys", "create", "--name", name, *given, "--json").json
            keys[name] = {"Authorization": f"Bearer {made['key']}"}
        with serving(own, env=asking(model, VERITRAIL_PRICE="1,1")) as service:
            service.until_ready()
            yield Served(service, keys, own)


@asynccontextmanager
async def assistant(service: ServiceProcess, key: dict[str, str]) -> AsyncIterator[mcp.Client]:
    """A client of the protocol that shows a key."""
    import mcp
    from mcp.client.streamable_http import streamable_http_client

    async with httpx2.AsyncClient(headers=key, timeout=60.0, trust_env=False) as http:
        way = streamable_http_client(f"{service.url}/mcp", http_client=http)
        async with mcp.Client(way) as client:
            yield client


def asked(
    service: ServiceProcess, key: dict[str, str], work: Callable[[mcp.Client], Awaitable[Any]]
) -> Any:
    """Return what comes of some work with a client."""

    async def whole() -> Any:
        async with assistant(service, key) as client:
            return await work(client)

    return asyncio.run(whole())


def test_a_key_does_what_its_scopes_and_its_budget_allow_and_the_audit_log_names_it(
    served: Served, model: ModelServer
) -> None:
    service, keys = served.service, served.keys

    async def reads(client: mcp.Client) -> tuple[list[str], str, str]:
        tools = [one.name for one in (await client.list_tools()).tools]
        listed = await client.call_tool("list_processes", {})
        assert not listed.is_error
        refused = [
            await client.call_tool(name, given)
            for name, given in (("check", ANSWER), ("comment_on_claim", COMMENT))
        ]
        return tools, *map(text_of, refused)

    async def checks(client: mcp.Client) -> Any:
        return await client.call_tool("check", ANSWER)

    tools, no_check, no_comment = asked(service, keys["reader"], reads)
    assert tuple(tools) == TOOLS
    assert "does not have the scope 'verify'" in no_check
    assert "does not have the scope 'review'" in no_comment

    before = len(model.requests)
    there = service.get("/v1/processes", headers=keys["reader"]).json()["processes"]
    unlimited = asked(service, keys["unlimited"], checks)
    assert unlimited.is_error
    assert "asks a model (openai)" in text_of(unlimited)
    assert "the key 'unlimited' has none" in text_of(unlimited)
    for name in ("exporter", "prover"):
        refused = text_of(asked(service, keys[name], checks))
        assert "does not have the scope 'read'" in refused
    assert len(model.requests) == before
    stored = service.get("/v1/processes", headers=keys["reader"]).json()["processes"]
    assert stored == there

    done = asked(service, keys["assistant"], checks)
    assert not done.is_error, text_of(done)
    assert "1 claim: 1 wrong." in text_of(done)
    assert len(model.requests) > before
    audit = served.own("audit", "--who", "assistant", "--json").json["entries"]
    assert [one["action"] for one in audit] == ["job.start", "process.ingest"]
    assert all(one["request_id"] for one in audit)


def test_without_a_key_nothing_is_answered_and_refusals_are_problems(served: Served) -> None:
    service, keys = served.service, served.keys
    admitted = {**TAKES, **keys["reader"]}
    elsewhere = {**admitted, "Origin": "http://elsewhere.example"}
    for headers, body, status in (
        (TAKES, LIST, 401),
        (elsewhere, LIST, 403),
        (admitted, {**LIST, "params": {"x": "y" * 1_000_000}}, 413),
        (admitted, LIST, 200),
    ):
        found = service.post("/mcp", json=body, headers=headers)
        assert found.status_code == status, found.text
        if status != 200:
            assert found.json()["type"].startswith("urn:veritrail:problem:")
    got = service.get("/mcp", headers=admitted)
    assert (got.status_code, got.headers["Allow"]) == (405, "POST")


def test_a_client_of_an_earlier_version_is_answered_and_no_session_is_kept(served: Served) -> None:
    service, keys = served.service, served.keys
    about = {"protocolVersion": "2025-06-18", "capabilities": {}}
    about["clientInfo"] = {"name": "old", "version": "1"}
    begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    found = service.post("/mcp", json=begin, headers={**TAKES, **keys["reader"]})
    assert '"protocolVersion":"2025-06-18"' in found.text
    assert "mcp-session-id" not in found.headers


COMMENT = {"process_id": "none", "claim_id": "k1", "text": "Hm."}
