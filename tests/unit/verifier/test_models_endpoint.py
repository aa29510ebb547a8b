"""One attempt at one call, against a real HTTP server with scripted answers."""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from fakes.byte_server import Server, answer, http, serving

from veritrail_graph.verifier.models.language_model import LanguageModel
from veritrail_graph.verifier.models.openai_endpoint import OpenAiEndpoint
from veritrail_graph.verifier.models.port import (
    AnswerTooLong,
    Completion,
    CutOff,
    EmptyAnswer,
    Filtered,
    InvalidAnswer,
    Meter,
    ModelError,
    ParameterRefused,
    Refused,
    Request,
    RequestRejected,
    StepCall,
    TransportFault,
)
from veritrail_graph.verifier.models.prices import Price

ROOT = Path(__file__).resolve().parents[3]
KEY = "sk-secret-0123456789"
PROMPT = "0: A private sentence."
REQUEST = Request(
    StepCall("verdict", "verdict.v1", "00" * 32, "some-model", 0.0), "Be exact.", PROMPT
)


def send(reply: Any, request: Request = REQUEST, max_output: int | None = 100) -> Completion:
    async def call() -> Completion:
        async with serving(reply) as server:
            endpoint = OpenAiEndpoint(server.base_url, KEY, attempt_timeout=5)
            try:
                return await endpoint.send(request, max_output)
            finally:
                await endpoint.close()

    return asyncio.run(call())


def fault(reply: Any) -> ModelError:
    with pytest.raises(ModelError) as raised:
        send(reply)
    return raised.value


def test_a_request_is_as_the_protocol_wants_it() -> None:
    async def call() -> Server:
        async with serving(answer()) as server:
            endpoint = OpenAiEndpoint(server.base_url, KEY)
            completion = await endpoint.send(REQUEST, 100)
            assert completion.text == "Yes."
            await endpoint.close()
            return server

    server = asyncio.run(call())
    assert server.bodies == [
        {
            "model": "some-model",
            "messages": [
                {"role": "system", "content": "Be exact."},
                {"role": "user", "content": PROMPT},
            ],
            "temperature": 0.0,
            "max_tokens": 100,
        }
    ]
    head = server.heads[0].lower()
    assert head.startswith("post /v1/chat/completions http/1.1")
    assert "x-veritrail-step: verdict" in head
    assert f"authorization: bearer {KEY}" in head


def test_no_temperature_and_a_schema_are_sent_as_asked() -> None:
    bodies: list[dict[str, Any]] = []

    def reply(body: dict[str, Any]) -> bytes:
        bodies.append(body)
        return answer()

    asked = REQUEST.call._replace(temperature=None)
    send(reply, Request(asked, "s", "u", schema={"type": "object"}), None)
    assert "temperature" not in bodies[0]
    assert "max_tokens" not in bodies[0]
    assert bodies[0]["response_format"]["json_schema"]["schema"] == {"type": "object"}


def test_a_query_of_the_address_goes_with_every_call() -> None:
    async def call() -> Server:
        async with serving(answer()) as server:
            endpoint = OpenAiEndpoint(f"{server.base_url}?tenant=mine", KEY)
            await endpoint.send(REQUEST, 100)
            await endpoint.close()
            return server

    head = asyncio.run(call()).heads[0]
    assert head.startswith("POST /v1/chat/completions?tenant=mine HTTP/1.1")


def test_azure_is_addressed_by_deployment() -> None:
    async def call() -> Server:
        async with serving(answer()) as server:
            address = f"http://127.0.0.1:{server.port}"
            endpoint = OpenAiEndpoint(address, KEY, api_version="2024-10-21")
            await endpoint.send(REQUEST, 100)
            await endpoint.close()
            return server

    head = asyncio.run(call()).heads[0].lower()
    path = "/openai/deployments/some-model/chat/completions?api-version=2024-10-21"
    assert head.startswith(f"post {path} ")
    assert f"api-key: {KEY}" in head


def test_an_address_holds_no_secret() -> None:
    endpoint = OpenAiEndpoint("https://user:password@Host.example/v1/?key=secret", KEY)
    assert endpoint.address == "https://host.example/v1"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 4}, (9, 0, 4, 0)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 5},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            (9, 5, 4, 3),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 7},
            (9, 7, 4, 0),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": None}, (9, 0, 4, 0)),
    ],
)
def test_tokens_are_those_the_endpoint_counted(
    usage: dict[str, Any], expected: tuple[int, ...]
) -> None:
    found = send(answer(usage=usage)).usage
    assert found.calls == 1
    assert expected == (
        found.input_tokens,
        found.cached_input_tokens,
        found.output_tokens,
        found.reasoning_tokens,
    )


def test_tokens_are_estimated_where_the_endpoint_counts_none() -> None:
    found = send(answer("A longer answer of seven words here.")).usage
    assert found.input_tokens >= 6
    assert found.output_tokens >= 7


def test_an_answer_in_parts_is_joined() -> None:
    parts = [{"type": "text", "text": "Yes"}, {"type": "text", "text": "."}]
    assert send(answer(parts)).text == "Yes."


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (answer("Half an ans", "length"), CutOff),
        (answer(None, "length"), CutOff),
        (answer(None, "content_filter"), Filtered),
        (answer(None, message={"refusal": "I will not."}), Refused),
        (answer(""), EmptyAnswer),
        (answer(None), EmptyAnswer),
        (answer("  \n"), EmptyAnswer),
    ],
)
def test_answers_that_are_none_are_told_apart(reply: bytes, kind: type[InvalidAnswer]) -> None:
    found = fault(reply)
    assert type(found) is kind
    assert isinstance(found, InvalidAnswer)
    assert found.usage.calls == 1


@pytest.mark.parametrize(
    "reply",
    [
        http(200, {"choices": []}),
        http(200, {"choices": None}),
        http(200, {"choices": [{"text": "old"}]}),
        http(200, [1]),
        http(200, b'{"choices": [{"mess'),
        http(200, b"[" * 100_000),
        http(200, b""),
        http(200, b"<html>Sign in</html>", kind="text/html"),
    ],
)
def test_a_body_that_is_no_completion_is_worth_another_try(reply: bytes) -> None:
    found = fault(reply)
    assert isinstance(found, TransportFault)
    assert found.status == 200
    assert not found.is_unreachable


def picky(body: dict[str, Any]) -> bytes:
    """Refuses one parameter after the other, as endpoints do."""
    for name, text in (
        ("max_tokens", "is not supported with this model. Use 'max_completion_tokens' instead."),
        ("temperature", "does not support 0 with this model. Only the default (1) is supported."),
        ("response_format", "is not supported with this model."),
    ):
        if name in body:
            message = f"Unsupported parameter: '{name}' {text}"
            return http(400, {"error": {"message": message, "param": name}})
    return answer()


def test_refused_parameters_are_left_out_for_the_rest_of_the_run() -> None:
    async def call() -> Server:
        async with serving(picky) as server:
            endpoint = OpenAiEndpoint(server.base_url, KEY)
            request = Request(REQUEST.call, "s", "u", schema={"type": "object"})
            for _ in range(3):
                with pytest.raises(ParameterRefused):
                    await endpoint.send(request, 100)
            await endpoint.send(request, 100)
            await endpoint.send(request, 100)
            await endpoint.close()
            return server

    server = asyncio.run(call())
    assert len(server.bodies) == 5
    assert set(server.bodies[-1]) == {"model", "messages", "max_completion_tokens"}


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 8192. This model supports at most 4096 completion tokens.",
        "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens",
        "`max_tokens` must be less than or equal to `4096`",
    ],
)
def test_a_limit_on_the_answer_that_is_too_high_is_lowered(message: str) -> None:
    def reply(body: dict[str, Any]) -> bytes:
        if body["max_tokens"] > 4096:
            return http(400, {"error": {"message": message, "param": "max_tokens"}})
        return answer()

    async def call() -> Server:
        async with serving(reply) as server:
            endpoint = OpenAiEndpoint(server.base_url, KEY)
            with pytest.raises(ParameterRefused):
                await endpoint.send(REQUEST, 8192)
            await endpoint.send(REQUEST, 8192)
            await endpoint.close()
            return server

    assert [body["max_tokens"] for body in asyncio.run(call()).bodies] == [8192, 4096]


def test_messages_are_short_and_hold_no_key_and_no_prompt() -> None:
    body = {"error": {"message": f"Key {KEY} is wrong.\x1b[31m\n" + "x" * 1000}}
    told = str(fault(http(401, body)))
    assert KEY not in told
    assert PROMPT not in told
    assert "\x1b" not in told
    assert "\n" not in told
    assert "HTTP 401" in told
    assert "http://127.0.0.1:" in told
    assert len(told) < 400


def test_a_prompt_that_a_server_echoes_is_not_told() -> None:
    told = str(fault(http(400, {"error": {"message": f"Cannot parse: {PROMPT}"}})))
    assert "private" not in told
    assert "HTTP 400" in told


def test_an_answer_that_has_too_much_room_is_asked_for_with_less() -> None:
    message = "max_tokens is too large. This model's maximum context length is 4096 tokens."

    def reply(body: dict[str, Any]) -> bytes:
        if body["max_tokens"] > 4000:
            return http(400, {"error": {"message": message}})
        return answer()

    async def call() -> Server:
        async with serving(reply) as server:
            asking = LanguageModel(OpenAiEndpoint(server.base_url, KEY), "some-model")
            assert await asking.ask(REQUEST, str.lower, Meter()) == "yes."
            assert asking.context_tokens == 3072
            await asking.close()
            return server

    assert [body["max_tokens"] for body in asyncio.run(call()).bodies] == [8192, 1024]


def test_an_endpoint_that_is_not_there_is_unreachable() -> None:
    async def call() -> TransportFault:
        async with serving(b"") as server:
            url = server.base_url
        endpoint = OpenAiEndpoint(url, KEY)
        with pytest.raises(TransportFault) as raised:
            await endpoint.send(REQUEST, 100)
        await endpoint.close()
        return raised.value

    assert asyncio.run(call()).is_unreachable


def test_an_answer_that_does_not_come_in_time_is_a_fault() -> None:
    async def call() -> tuple[TransportFault, float]:
        async with serving(answer(), delay=30) as server:
            endpoint = OpenAiEndpoint(server.base_url, KEY, attempt_timeout=0.2)
            began = time.monotonic()
            with pytest.raises(TransportFault) as raised:
                await endpoint.send(REQUEST, 100)
            took = time.monotonic() - began
            await endpoint.close()
            return raised.value, took

    found, took = asyncio.run(call())
    assert not found.is_unreachable
    assert took < 5


ENDLESS = b"content-type: application/json\r\n\r\n" + b" " * 5_000_000


def test_an_endless_answer_is_cut_short_and_counts_as_a_call() -> None:
    found = fault(b"HTTP/1.1 200 Status\r\n" + ENDLESS)
    assert isinstance(found, AnswerTooLong)
    assert "longer than 4,000,000 bytes" in str(found)
    assert found.usage.calls == 1
    assert found.usage.input_tokens > 0


@pytest.mark.parametrize(("status", "meaning"), [(500, TransportFault), (400, RequestRejected)])
def test_the_status_decides_about_an_endless_error(status: int, meaning: type[ModelError]) -> None:
    found = fault(f"HTTP/1.1 {status} Status\r\n".encode() + ENDLESS)
    assert type(found) is meaning
    assert f"answered HTTP {status}" in str(found)


def test_an_answer_that_is_too_long_ends_the_call_at_once_and_is_paid() -> None:
    meter = Meter()

    async def call() -> Server:
        async with serving(b"HTTP/1.1 200 Status\r\n" + ENDLESS) as server:
            endpoint = OpenAiEndpoint(server.base_url, KEY)
            price = Price(input=1.0, cached_input=1.0, output=1.0)
            model = LanguageModel(endpoint, "some-model", price=price)
            with pytest.raises(AnswerTooLong):
                await model.ask(REQUEST, str, meter)
            await model.close()
            return server

    assert len(asyncio.run(call()).bodies) == 1
    assert meter.total.calls == 1
    assert meter.total.input_tokens > 0
    assert meter.total.cost_usd


@pytest.mark.parametrize("status", [200, 500])
def test_a_packed_answer_is_unpacked_no_further_than_an_answer_may_be_long(status: int) -> None:
    bomb = gzip.compress(bytes(50_000_000), 1)
    tracemalloc.start()
    try:
        found = fault(http(status, bomb, "content-encoding: gzip"))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(found, AnswerTooLong if status == 200 else TransportFault)
    assert most < 30_000_000


def test_a_packed_answer_is_read() -> None:
    body = {"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}
    packed = gzip.compress(json.dumps(body).encode())
    assert send(http(200, packed, "content-encoding: gzip")).text == "Yes."


@pytest.mark.parametrize(
    "reply",
    [
        answer("{" * 1_000_001),
        answer("{}", message={"reasoning_content": "m" * 1_000_000}),
        answer("{}", message={"reasoning": "m" * 1_000_000, "reasoning_content": "m" * 1_000_000}),
    ],
)
def test_an_answer_of_too_many_characters_is_invalid_and_paid(reply: bytes) -> None:
    found = fault(reply)
    assert isinstance(found, InvalidAnswer)
    assert "at most 1,000,000 are read" in str(found)
    assert found.usage.calls == 1


def test_connections_are_kept() -> None:
    async def call() -> Server:
        async with serving(answer()) as server:
            endpoint = OpenAiEndpoint(server.base_url, KEY)
            for _ in range(5):
                await endpoint.send(REQUEST, 100)
            await endpoint.close()
            return server

    server = asyncio.run(call())
    assert len(server.heads) == 5
    assert server.connections == 1


@pytest.mark.slow
def test_nothing_of_the_client_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, veritrail_graph.verifier.models.language_model;"
        "import veritrail_graph.verifier.models.openai_endpoint;"
        "sys.exit(any(name in sys.modules for name in ('openai', 'httpx2', 'genai_prices')))"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_calls_at_the_same_time_have_a_connection_each_and_later_ones_take_it_over() -> None:
    async def call() -> list[int]:
        async with serving(answer(), delay=0.05) as server:
            endpoint = OpenAiEndpoint(server.base_url, KEY)
            counts = []
            for calls in (3, 2, 4):
                await asyncio.gather(*(endpoint.send(REQUEST, 100) for _ in range(calls)))
                counts.append(server.connections)
            await endpoint.close()
            return counts

    assert asyncio.run(call()) == [3, 3, 4]


def test_a_connection_that_broke_is_made_anew() -> None:
    replies = iter([answer(), b"", answer(), answer()])

    async def call() -> int:
        async with serving(lambda _: next(replies)) as server:
            endpoint = OpenAiEndpoint(server.base_url, KEY)
            await endpoint.send(REQUEST, 100)
            with pytest.raises(TransportFault):
                await endpoint.send(REQUEST, 100)
            for _ in range(2):
                await endpoint.send(REQUEST, 100)
            await endpoint.close()
            return server.connections

    assert asyncio.run(call()) == 2


def test_an_answer_to_a_call_that_was_given_up_is_taken_for_no_other() -> None:
    def reply(body: dict[str, Any]) -> bytes:
        return answer(body["messages"][1]["content"])

    async def call() -> list[str]:
        async with serving(reply, delay=0.2) as server:
            endpoint = OpenAiEndpoint(server.base_url, KEY)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(endpoint.send(Request(REQUEST.call, "s", "old"), 9), 0.1)
            found = [await endpoint.send(Request(REQUEST.call, "s", new), 9) for new in "ab"]
            await endpoint.close()
            return [one.text for one in found]

    assert asyncio.run(call()) == ["a", "b"]


def test_calls_may_take_all_connections_that_wait_while_another_one_is_closed() -> None:
    import httpx2

    from veritrail_graph.verifier.models.kept_connections import KeptConnections

    async def put_two_back() -> None:
        kept = KeptConnections(ssl.create_default_context(), most=1)

        class Closing(httpx2.AsyncHTTPTransport):
            async def aclose(self) -> None:
                kept._waiting.clear()  # as other calls do meanwhile

        for _ in range(2):
            await kept._put_back(Closing())

    asyncio.run(put_two_back())
