"""What assistants cannot get round: limits of spending, arguments, and what people said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import asking, pumps
from acceptance.test_mcp import assistant, assistant_here, text_of
from fakes.model_server import ModelServer
from fakes.waiting import until

pytestmark = pytest.mark.engine

SLOW = 1.0


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(latency=SLOW) as server:
        yield server


async def given_up(client: Any, model: ModelServer, claim: dict[str, str], calls: int) -> None:
    """Ask for a verification, and stop waiting for it when a number of calls have been sent."""
    asked = len(model.requests)

    async def verify() -> None:
        await client.call_tool("verify_claim", claim)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(verify)
            await anyio.to_thread.run_sync(
                lambda: until(lambda: len(model.requests) >= asked + calls)
            )
            group.cancel_scope.cancel()


def test_a_server_that_may_ask_models_needs_a_limit(veritrail: Veritrail) -> None:
    for arguments in (
        ["--model", "gpt-x"],
        ["--engine", "openai"],
        ["--url", "http://127.0.0.1:9"],
    ):
        ended = veritrail("mcp", *arguments, status=2)
        assert "--budget" in ended.err
        assert ended.out == ""
    assert "Unknown engine 'nope'" in veritrail("mcp", "--engine", "nope", status=2).err


@pytest.mark.soak
def test_calls_of_verifications_that_were_given_up_are_counted(
    veritrail: Veritrail, model: ModelServer, tmp_path: Path
) -> None:
    veritrail("ingest", pumps(tmp_path / "pumps-calls.json", 3))
    claims = [{"process_id": "pumps-calls", "claim_id": f"k{number}"} for number in range(3)]
    settings = asking(model, VERITRAIL_CONCURRENCY="1")

    async def whole() -> Any:
        limit = ("--max-calls", "3")
        async with assistant(veritrail, *limit, log=tmp_path / "log", **settings) as client:
            await given_up(client, model, claims[0], calls=2)
            await given_up(client, model, claims[1], calls=1)
            return await client.call_tool("verify_claim", claims[2])

    refused = anyio.run(whole)
    assert refused.is_error
    assert "used up its number of calls" in text_of(refused)
    assert len(model.requests) == 3
    assert "Traceback" not in (tmp_path / "log").read_text()


@pytest.mark.soak
def test_what_a_verification_that_was_given_up_cost_is_charged(
    veritrail: Veritrail, model: ModelServer, tmp_path: Path
) -> None:
    veritrail("ingest", pumps(tmp_path / "pumps-costs.json", 3))
    claims = [{"process_id": "pumps-costs", "claim_id": f"k{number}"} for number in range(3)]
    settings = asking(model, VERITRAIL_CONCURRENCY="1")

    async def whole() -> list[Any]:
        limit = ("--budget", "1", "--price", "1000,1000")  # a call costs more than half of it
        async with assistant(veritrail, *limit, log=tmp_path / "log", **settings) as client:
            await given_up(client, model, claims[0], calls=2)
            return [await client.call_tool("verify_claim", one) for one in claims[1:]]

    second, third = anyio.run(whole)
    assert second.structured_content["status"] == "over_budget"
    assert third.is_error
    assert "used up its budget" in text_of(third)
    assert len(model.requests) == 3


def test_a_submission_that_is_given_up_leaves_nothing_that_runs(
    veritrail: Veritrail, model: ModelServer, tmp_path: Path
) -> None:
    veritrail("ingest", pumps(tmp_path / "pumps-at-once.json", 1))
    claim = {"process_id": "pumps-at-once", "claim_id": "k0"}
    settings = asking(model, VERITRAIL_CONCURRENCY="1")

    async def whole() -> Any:
        limit = ("--max-calls", "2")
        async with assistant(veritrail, *limit, log=tmp_path / "log", **settings) as client:
            with anyio.move_on_after(0.05):  # the graph is not even opened by then
                await client.call_tool("verify_claim", claim)
            return [await client.call_tool("verify_claim", claim) for _ in range(3)]

    answers = anyio.run(whole)
    assert answers[-1].is_error
    assert len(model.requests) <= 2  # one that went on unseen would send two more


def test_what_people_said_stands_beside_the_verdict(veritrail: Veritrail, tmp_path: Path) -> None:
    veritrail("ingest", pumps(tmp_path / "0-pumps-people.json", 2))
    claim = {"process_id": "0-pumps-people", "claim_id": "k0"}

    async def asked() -> list[Any]:
        lexical = ("--engine", "lexical")
        async with assistant_here(veritrail, *lexical) as client:
            verified = await client.call_tool("verify_claim", claim)
            name = verified.structured_content["verification_id"]
            shown = await client.call_tool("show_trail", {"verification_id": name})
            return [verified, shown, await client.call_tool("list_processes", {})]

    for before in anyio.run(asked)[:2]:
        assert before.structured_content["people"] is None
        assert "People" not in text_of(before)
    for verdict, who in (("UNCLEAR", "Ada"), ("NOT_FULLY_SUPPORTED", "Ben")):
        said = ("--verdict", verdict, "--reason", "Read the\x1b[1m minutes.", "--reviewer", who)
        veritrail("reviews", "add", "0-pumps-people", "k0", *said)
    *trails, listed = anyio.run(asked)
    for answer in trails:
        found = answer.structured_content
        assert found["verdict"] == "FULLY_SUPPORTED"
        assert found["people"]["reviewed_verdict"] == "NOT_FULLY_SUPPORTED"
        assert [one["reviewer"] for one in found["people"]["reviews"]] == ["Ben", "Ada"]
        assert found["people"]["disputed"] is True
        assert "Ben: Not Fully Supported (overridden" in text_of(answer)
        assert "Reviewers disagree" in text_of(answer)
        assert "\x1b" not in text_of(answer)
    processes = listed.structured_content["processes"]
    (mine,) = [one for one in processes if one["process_id"] == "0-pumps-people"]
    assert mine["reviewed"] == {"claims": 1, "overridden": 1, "unclear": 0, "disputed": 1}
    assert "1 claim: 1 overridden" in text_of(listed)


def test_arguments_that_a_tool_does_not_have_are_refused_in_clear_words(
    veritrail: Veritrail,
) -> None:
    refused = (
        ("list_processes", {"verdict": "FULLY_SUPPORTED"}, "'verdict': list_processes has no such"),
        ("verify_claim", {"process_id": "p", "claim": "x", "budget_usd": 9}, "'budget_usd'"),
        ("verify_claim", {"claim": "x"}, "process_id: is missing"),
        ("list_processes", {"limit": 0}, "limit: must be at least 1"),
    )

    async def whole() -> list[Any]:
        lexical = ("--engine", "lexical")
        async with assistant_here(veritrail, *lexical) as client:
            tools = (await client.list_tools()).tools
            return [tools, *[await client.call_tool(tool, given) for tool, given, _ in refused]]

    tools, *answers = anyio.run(whole)
    assert all(tool.input_schema["additionalProperties"] is False for tool in tools)
    for answer, (_, _, words) in zip(answers, refused, strict=True):
        assert answer.is_error
        assert words in text_of(answer)
        assert "pydantic" not in text_of(answer)
        assert "http" not in text_of(answer)


def test_a_server_that_could_not_ask_its_model_does_not_start(veritrail: Veritrail) -> None:
    key = {"OPENAI_API_KEY": "sk-test-7f3a91c2e5d8", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    limit = ("mcp", "--model", "nobody-knows", "--budget", "1")
    ended = veritrail(*limit, status=2, **key)
    assert "needs the price of nobody-knows" in ended.err
    without = veritrail("mcp", "--model", "gpt-6-luna", "--budget", "1", status=2)
    assert "OPENAI_API_KEY" in without.err
    assert ended.out == without.out == ""
