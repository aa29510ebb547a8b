"""The server for assistants, spoken to by the real client of the protocol.

Over stdio where money, signals and streams are looked at; in this process everywhere else.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp
import pytest
from acceptance.command import Veritrail, command, process_file
from acceptance.model_fixtures import asking as asking_model
from acceptance.model_fixtures import pumps
from fakes.model_server import ModelServer
from fakes.service_process import serving
from fakes.settings_of import settings_of
from mcp.client.stdio import StdioServerParameters, stdio_client

from veritrail_graph import AsyncClient, AsyncLocal
from veritrail_graph.api.mcp.advice import ADVICE
from veritrail_graph.api.mcp.server import Terms, create_server
from veritrail_graph.graph.store.queries import library

pytestmark = pytest.mark.engine

TOOLS = ("list_processes", "verify_claim", "show_trail", "run_query")


@asynccontextmanager
async def assistant_here(
    veritrail: Veritrail, *arguments: str, **settings: str
) -> AsyncIterator[mcp.Client]:
    """A client of the server that `veritrail mcp` makes of these arguments, in this process."""
    given = dict(zip(arguments[::2], arguments[1::2], strict=True))
    known = settings_of(veritrail.environment(settings))
    door: AsyncClient | AsyncLocal = AsyncLocal(known, advice=ADVICE)
    if "--url" in given:
        key = settings.get("VERITRAIL_API_KEY")
        door = AsyncClient(given["--url"], key, patience=1, caller="mcp")
    async with door, mcp.Client(create_server(door, Terms(engine=given["--engine"]))) as client:
        yield client


@asynccontextmanager
async def assistant(
    veritrail: Veritrail, *arguments: str, log: Path, **settings: str
) -> AsyncIterator[mcp.Client]:
    """A client that has started `veritrail mcp` and speaks with it."""
    program, *rest = [os.fsdecode(part) for part in command("mcp", *arguments)]
    server = StdioServerParameters(
        command=program, args=rest, env=veritrail.environment(settings), cwd=log.parent
    )
    with log.open("w", encoding="utf-8") as errors:
        async with mcp.Client(stdio_client(server, errlog=errors)) as client:
            yield client


@pytest.fixture
def asking(veritrail: Veritrail, harbour: str) -> Callable[..., Any]:
    """Runs what an assistant does with a server in this process."""

    def run(work: Callable[[mcp.Client], Awaitable[Any]], *arguments: str, **settings: str) -> Any:
        async def whole() -> Any:
            given = arguments or ("--engine", "lexical")
            async with assistant_here(veritrail, *given, **settings) as client:
                return await work(client)

        return asyncio.run(whole())

    assert harbour
    return run


@pytest.fixture
def asking_child(veritrail: Veritrail, harbour: str, tmp_path: Path) -> Callable[..., Any]:
    """The same over stdio; checks that the server did not stumble."""

    def run(work: Callable[[mcp.Client], Awaitable[Any]], *arguments: str, **settings: str) -> Any:
        log = tmp_path / "mcp.log"

        async def whole() -> Any:
            async with assistant(veritrail, *arguments, log=log, **settings) as client:
                return await work(client)

        found = asyncio.run(whole())
        assert "Traceback" not in log.read_text()
        return found

    assert harbour
    return run


def text_of(answer: Any) -> str:
    return "\n".join(part.text for part in answer.content)


def test_the_tools_are_typed_and_those_that_only_read_say_so(asking):
    async def work(client):
        return await client.list_tools()

    tools = {tool.name: tool for tool in asking(work).tools}
    assert tuple(tools) == TOOLS
    for name, tool in tools.items():
        assert tool.annotations.read_only_hint is (name != "verify_claim")
        assert tool.annotations.destructive_hint is not True
        assert tool.output_schema["type"] == "object"
        assert tool.description
        assert "base_url" not in json.dumps(tool.input_schema)
    assert tools["verify_claim"].input_schema["required"] == ["process_id"]
    # Neither engine nor model nor money is an assistant's to choose.
    assert set(tools["verify_claim"].input_schema["properties"]) == {
        "process_id", "claim", "claim_id", "node_id", "q", "add",
    }  # fmt: skip
    for statement in library():
        assert f"- {statement.short_name}(" in tools["run_query"].description


def test_a_claim_is_verified_and_its_trail_shown(asking_child):
    seen: list[float] = []

    async def told(progress: float, _total: float | None, _message: str | None) -> None:
        seen.append(progress)

    async def work(client):
        listed = await client.call_tool("list_processes", {})
        given = {"process_id": "harbour-summary", "claim_id": "k04"}
        verified = await client.call_tool("verify_claim", given, progress_callback=told)
        name = verified.structured_content["verification_id"]
        shown = await client.call_tool("show_trail", {"verification_id": name})
        again = await client.call_tool("verify_claim", given)
        return listed, verified, shown, again

    listed, verified, shown, again = asking_child(work, "--engine", "lexical")
    processes = [one["process_id"] for one in listed.structured_content["processes"]]
    assert "harbour-summary" in processes
    assert "harbour-summary" in text_of(listed)
    trail = verified.structured_content
    assert trail["verdict"] == "NOT_FULLY_SUPPORTED"
    assert trail["indicative"] is True
    assert trail["error_stages"] == [2]
    assert trail["iterations"][0]["evidence"][0]["text"] in text_of(verified)
    assert "Not Fully Supported" in text_of(verified)
    assert "indicative only" in text_of(verified)
    assert shown.structured_content == trail
    assert again.structured_content["verification_id"] == trail["verification_id"]
    assert seen == sorted(seen)


def test_a_new_claim_is_told_in_rounds(veritrail, tmp_path):
    process_file(tmp_path / "mcp-rounds.json")
    veritrail("ingest", str(tmp_path / "mcp-rounds.json"))
    messages: list[str | None] = []

    async def told(_progress: float, _total: float | None, message: str | None) -> None:
        messages.append(message)

    async def whole() -> Any:
        async with assistant_here(veritrail, "--engine", "lexical") as client:
            given = {"process_id": "mcp-rounds", "claim": "The harbour opened in 1901."}
            return await client.call_tool("verify_claim", given, progress_callback=told)

    answer = asyncio.run(whole())
    assert answer.structured_content["verdict"] == "FULLY_SUPPORTED"
    assert messages[0] is not None
    assert messages[0].startswith("iteration 1: ")


def test_queries_of_the_library_are_asked_and_bounded(asking):
    async def work(client):
        given = {"name": "source_nodes"}
        params = {"process_id": "harbour-summary", "node_id": "final"}
        fine = await client.call_tool("run_query", {**given, "params": params})
        whole = await client.call_tool(
            "run_query",
            {"name": "ancestors", "params": {**params, "limit": 2}},
        )
        return fine, whole

    fine, whole = asking(work)
    assert fine.structured_content["rows"]
    assert fine.structured_content["truncated"] is False
    assert fine.structured_content["columns"][0] in text_of(fine)
    assert len(whole.structured_content["rows"]) == 2
    assert whole.structured_content["truncated"] is True
    assert "more rows" in text_of(whole)


REFUSED = (
    ("verify_claim", {"process_id": "nope", "claim": "x"}, "No process 'nope' is stored"),
    ("verify_claim", {"process_id": "harbour-summary"}, "either `claim` or `claim_id`"),
    (
        "verify_claim",
        {"process_id": "harbour-summary", "claim": "x", "node_id": "c01"},
        "is a root",
    ),
    ("verify_claim", {"process_id": "harbour-summary", "claim": "x", "q": 0}, "q"),
    ("show_trail", {"verification_id": "v-none"}, "is stored. `run_query` with the query"),
    ("run_query", {"name": "drop_all"}, "No query 'drop_all'"),
    ("run_query", {"name": "MATCH (n) DETACH DELETE n"}, "No query"),
    ("run_query", {"name": "claims", "params": {"x": 1}}, "process_id: is missing"),
)


def test_what_cannot_be_done_is_an_error_of_the_tool_in_clear_words(asking):
    async def work(client):
        failed = [await client.call_tool(tool, given) for tool, given, _ in REFUSED]
        return failed, await client.call_tool("list_processes", {"limit": 1})

    failed, after = asking(work)
    for answer, (_, _, words) in zip(failed, REFUSED, strict=True):
        assert answer.is_error
        assert words in text_of(answer)
        assert "Traceback" not in text_of(answer)
        assert "Error executing" not in text_of(answer)
        assert "GET /v1" not in text_of(answer)
    assert not after.is_error


def test_a_server_that_may_ask_models_needs_a_limit(veritrail):
    for arguments in (
        ["--model", "gpt-x"],
        ["--engine", "openai"],
        ["--url", "http://127.0.0.1:9"],
    ):
        ended = veritrail("mcp", *arguments, status=2)
        assert "--budget" in ended.err
        assert ended.out == ""
    assert "Unknown engine 'nope'" in veritrail("mcp", "--engine", "nope", status=2).err


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


def test_what_assistants_may_spend_is_said_by_whoever_starts_the_server(
    veritrail, model, tmp_path, asking_child
):
    veritrail("ingest", pumps(tmp_path / "pumps-mcp.json", 3))

    async def work(client):
        calls = [{"process_id": "pumps-mcp", "claim_id": f"k{number}"} for number in range(3)]
        return [await client.call_tool("verify_claim", one) for one in calls]

    # Enough for one claim, and not for two.
    first, second, third = asking_child(work, "--max-calls", "6", **asking_model(model))
    asked = len(model.requests)
    assert 0 < asked <= 6
    assert first.structured_content["verdict"] == "FULLY_SUPPORTED"
    assert first.structured_content["indicative"] is False
    assert second.structured_content["status"] == "over_budget"
    assert second.structured_content["verdict"] is None
    assert "Could not be checked" in text_of(second)
    assert "Not Fully Supported" not in text_of(second).split("Iteration")[0]
    assert third.is_error
    assert "used up its number of calls" in text_of(third)

    spent = asking_child(
        work, "--budget", "0.000001", "--price", "1000,1000", **asking_model(model)
    )
    assert spent[1].structured_content["status"] == "over_budget"
    assert spent[2].is_error
    assert "used up its budget" in text_of(spent[2])
    assert len(model.requests) == asked + 1  # what is in flight may pass a budget, and no more


def test_a_service_is_asked_with_its_key(beside, harbour, asking):
    key = {"VERITRAIL_API_KEY": "a-key-that-is-long-enough"}

    async def work(client):
        given = {"process_id": harbour, "claim_id": "k07"}
        verified = await client.call_tool("verify_claim", given)
        listed = await client.call_tool("list_processes", {})
        unknown = await client.call_tool("show_trail", {"verification_id": "v-none"})
        return verified, listed, unknown

    with serving(beside, env=key) as service:
        service.until_ready()
        through = ("--url", service.url, "--engine", "lexical")
        verified, listed, unknown = asking(work, *through, **key)
        assert "`run_query` with the query `verifications` lists" in text_of(unknown)
        assert verified.structured_content["indicative"] is True
        assert verified.structured_content["status"] == "succeeded"
        assert harbour in text_of(listed)
        _, refused, _ = asking(work, *through)
        assert refused.is_error
        assert "key" in text_of(refused)


def test_a_service_that_does_not_answer_is_an_error_of_the_tool(asking):
    async def work(client):
        return await client.call_tool("show_trail", {"verification_id": "v"})

    failed = asking(work, "--url", "http://127.0.0.1:9", "--engine", "lexical")
    assert failed.is_error
    assert "No service answers at http://127.0.0.1:9" in text_of(failed)


def test_nothing_but_the_protocol_is_on_stdout(veritrail, harbour):
    asked = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "0"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "show_trail", "arguments": {"verification_id": "v"}},
        },
    ]
    child = subprocess.Popen(
        command("mcp", "--engine", "lexical"),
        env=veritrail.environment({}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write("".join(json.dumps(one) + "\n" for one in asked))
    child.stdin.flush()
    answers = [json.loads(child.stdout.readline()) for _ in range(2)]
    out, err = child.communicate(timeout=60)  # the end of its input ends it
    assert out == ""
    assert child.returncode == 0, err
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[1]["result"]["isError"] is True
    assert harbour


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_also_while_it_waits_for_the_next_line(veritrail, how):
    child = subprocess.Popen(
        command("mcp", "--engine", "lexical"),
        env=veritrail.environment({}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}) + "\n")
    child.stdin.flush()
    child.stdout.readline()
    child.send_signal(how)
    assert child.wait(30) == 130
    out, err = child.communicate()
    assert out == ""
    assert "Traceback" not in err
