"""Refusals, redirects and odd words of an endpoint, as they come over the wire."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fakes.byte_server import Server, answer, http, serving

from veritrail_graph.verifier.models.language_model import LanguageModel
from veritrail_graph.verifier.models.openai_endpoint import OpenAiEndpoint
from veritrail_graph.verifier.models.port import (
    EndpointRefused,
    InvalidAnswer,
    Meter,
    ModelError,
    Request,
    StepCall,
)
from veritrail_graph.verifier.models.prices import Price
from veritrail_graph.verifier.models.retrying import Patience, Spending

KEY = "sk-secret-0123456789"
REQUEST = Request(
    StepCall("verdict", "verdict.v1", "00" * 32, "some-model", 0.0), "Be exact.", "0: A"
)
NONE = http(200, {"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 500}})
PRICE = Price(1_000.0, 1_000.0, 2_000.0)


def told_in_turn(*replies: bytes) -> tuple[list[ModelError | None], Server]:
    """What one endpoint says of these answers, one after the other."""

    async def calls() -> tuple[list[ModelError | None], Server]:
        left = list(replies)
        async with serving(lambda _body: left.pop(0)) as server:
            endpoint = OpenAiEndpoint(server.base_url, KEY, attempt_timeout=5)
            found: list[ModelError | None] = []
            for _ in replies:
                try:
                    await endpoint.send(REQUEST, 100)
                    found.append(None)
                except ModelError as error:
                    found.append(error)
            await endpoint.close()
            return found, server

    return asyncio.run(calls())


@pytest.mark.parametrize(
    "reply",
    [
        http(400, b'{"error": {"message": "bad \\ud800 thing"}}'),
        http(400, "bad \ud800 thing".encode("utf-8", "surrogatepass")),
        http(200, b'{"choices": [{"message": {"content": null, "refusal": "no \\ud800"}}]}'),
        http(500, b'{"error": {"message": "bad \\udfff"}}', "retry-after: x"),
        http(200, b"x", kind="text/\u00ff"),
    ],
)
def test_half_characters_of_an_endpoint_are_in_no_message(reply: bytes) -> None:
    (found,), _ = told_in_turn(reply)
    assert found is not None
    assert str(found).encode()


def test_half_characters_of_an_answer_are_in_no_message() -> None:
    def read(text: str) -> str:
        raise InvalidAnswer(f"cannot read {text}")

    async def call() -> str:
        reply = http(200, b'{"choices": [{"message": {"content": "half \\ud800"}}]}')
        async with serving(reply) as server:
            endpoint = OpenAiEndpoint(server.base_url, KEY)
            asking = LanguageModel(endpoint, "some-model", answer_retries=1)
            with pytest.raises(ModelError) as raised:
                await asking.ask(REQUEST, read, Meter())
            await asking.close()
            return str(raised.value)

    assert asyncio.run(call()).endswith("cannot read half \ufffd")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_says_where_it_leads(status: int) -> None:
    async def call() -> tuple[str, Server]:
        async with serving(answer()) as other:
            place = f"http://user:secret@127.0.0.1:{other.port}/v2/chat/completions?token=secret"
            async with serving(http(status, b"", f"location: {place}")) as server:
                endpoint = OpenAiEndpoint(server.base_url, KEY)
                with pytest.raises(EndpointRefused) as raised:
                    await endpoint.send(REQUEST, 100)
                await endpoint.close()
            told = str(raised.value).replace(f":{other.port}/", ":PORT/")
            return told, other

    told, other = asyncio.run(call())
    assert other.heads == []
    assert "redirects to http://127.0.0.1:PORT/v2/chat/completions and is not followed" in told
    assert "make it the base URL" in told
    assert "secret" not in told


def asked(*replies: bytes, **options: Any) -> tuple[Meter, Spending, ModelError | None]:
    """Ask once, with these answers in turn."""

    async def call() -> tuple[Meter, Spending, ModelError | None]:
        left, meter, spending = list(replies), Meter(), Spending(5.0)
        async with serving(lambda _body: left.pop(0) if left[1:] else left[0]) as server:
            asking = LanguageModel(
                OpenAiEndpoint(server.base_url, KEY), "some-model", price=PRICE, spending=spending,
                patience=Patience(deadline=0.5, attempt_timeout=0.5, base=0.05, cap=0.1), **options,
            )  # fmt: skip
            try:
                await asking.ask(REQUEST, str.lower, meter)
                error = None
            except ModelError as raised:
                error = raised
            finally:
                await asking.close()
        return meter, spending, error

    return asyncio.run(call())


def test_tokens_that_are_billed_without_an_answer_are_paid() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    meter, spending, error = asked(NONE, answer(usage=usage))
    assert error is None
    total = meter.total
    assert (total.calls, total.input_tokens, total.output_tokens) == (1, 1010, 505)
    assert total.cost_usd == pytest.approx(2.02)
    assert spending.spent == pytest.approx(2.02)


def test_nothing_is_estimated_for_what_is_no_answer() -> None:
    meter, spending, _ = asked(http(200, {"choices": []}), answer("Yes."))
    assert meter.total.calls == 1
    assert meter.total.input_tokens < 20
    assert spending.spent == pytest.approx(meter.total.cost_usd)
