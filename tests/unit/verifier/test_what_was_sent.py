"""Temperature and effort: what is asked for, what an endpoint takes, and what is recorded."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes.model_server import THOUGHTS, ModelServer

from veritrail_graph.graph.model import StepRecord
from veritrail_graph.verifier.judge import StepModel
from veritrail_graph.verifier.limits import Samples
from veritrail_graph.verifier.models.cache import AnswerCache
from veritrail_graph.verifier.models.language_model import LanguageModel
from veritrail_graph.verifier.models.openai_endpoint import OpenAiEndpoint
from veritrail_graph.verifier.models.port import (
    NO_TEMPERATURE,
    EndpointRefused,
    Meter,
    ParameterRefused,
    Request,
    Step,
    StepCall,
)
from veritrail_graph.verifier.prompted import begun
from veritrail_graph.verifier.prompts import load_prompts

PROMPT = load_prompts()[Step.SUB_CLAIM_DECOMPOSITION]
QUESTION = "Claim: The quay opened in 2021."
LUNA, UNKNOWN = "gpt-6-luna", "our-deployment"


def asked(
    server: ModelServer,
    model: str,
    *,
    samples: Samples = Samples(),
    cache: Path | None = None,
    **how: Any,
) -> tuple[tuple[StepRecord, ...], LanguageModel]:
    """Ask a step once, and return what was recorded of it."""

    async def run() -> tuple[tuple[StepRecord, ...], LanguageModel]:
        kept = AnswerCache(cache) if cache is not None else None
        asking = LanguageModel(OpenAiEndpoint(server.base_url), model, cache=kept)
        step = StepModel(asking, **how).step(PROMPT, samples)
        meter = Meter()
        try:
            await asyncio.gather(*begun(step.calls(QUESTION, str, meter)))
        finally:
            await asking.close()
            if kept is not None:
                await kept.close()
        return meter.steps, asking

    return asyncio.run(run())


def sent_of(server: ModelServer) -> list[tuple[Any, Any]]:
    """Temperature and effort of each request, as they came over the wire."""
    found = [received.body for received in server.requests]
    return [(body.get("temperature"), body.get("reasoning_effort")) for body in found]


@pytest.mark.parametrize(
    ("model", "how", "sent", "thoughts"),
    [
        (LUNA, {}, (0.0, "none"), 0),
        (LUNA, {"effort": "high"}, (None, "high"), THOUGHTS),
        (LUNA, {"temperature": None}, (None, None), THOUGHTS),
        (LUNA, {"temperature": 1.0}, (1.0, None), THOUGHTS),
        (LUNA, {"effort": "minimal"}, (None, None), THOUGHTS),
        (UNKNOWN, {}, (None, None), THOUGHTS),
        (UNKNOWN, {"effort": "none"}, (0.0, "none"), 0),
        (UNKNOWN, {"effort": "low"}, (None, "low"), THOUGHTS),
    ],
)
def test_what_is_recorded_is_what_luna_was_sent(
    model: str, how: dict[str, Any], sent: tuple[float | None, str | None], thoughts: int
) -> None:
    with ModelServer(is_luna=True) as server:
        (record,), _ = asked(server, model, **how)
    assert (record.temperature, record.effort) == sent == sent_of(server)[-1]
    assert record.usage.reasoning_tokens == thoughts


def test_luna_takes_what_the_table_asks_for_at_once() -> None:
    with ModelServer(is_luna=True) as server:
        asked(server, LUNA)
    # The first request is refused for the name of the limit on the length alone.
    assert sent_of(server) == [(0.0, "none")] * 2


@pytest.mark.parametrize("refused", ["reasoning_effort", "temperature"])
def test_an_endpoint_that_refuses_one_of_them_gets_the_other(refused: str) -> None:
    with ModelServer(refuses=[refused]) as server:
        (record,), _ = asked(server, UNKNOWN, effort="low")
    assert (record.temperature, record.effort) == (
        (0.0, None) if refused == "reasoning_effort" else (None, "low")
    )


def test_an_answer_of_the_cache_is_recorded_as_it_was_sent(tmp_path: Path) -> None:
    cache = tmp_path / "answers.sqlite"
    with ModelServer(refuses=["temperature"]) as server:
        (first,), _ = asked(server, UNKNOWN, cache=cache)
        (second,), _ = asked(server, UNKNOWN, cache=cache)
    assert second.usage.cached_calls == 1
    assert first.temperature is second.temperature is None


def test_samples_of_luna_are_drawn_at_their_temperature() -> None:
    with ModelServer(is_luna=True) as server:
        records, _ = asked(server, LUNA, samples=Samples(3, 2))
    assert [(one.temperature, one.effort) for one in records] == [(0.2, "none")]


def test_samples_that_cannot_be_drawn_end_at_the_first_refusal() -> None:
    with (
        ModelServer(refuses=["temperature"]) as server,
        pytest.raises(EndpointRefused, match="takes no temperature") as raised,
    ):
        asked(server, UNKNOWN, samples=Samples(3, 2))
    assert raised.value.code == NO_TEMPERATURE
    assert {temperature for temperature, _ in sent_of(server)} == {0.2}


def test_completions_of_extraction_do_without_a_temperature() -> None:
    with ModelServer(refuses=["temperature"]) as server:
        (record,), _ = asked(server, UNKNOWN, samples=Samples(3, 2, needs_temperature=False))
    assert (record.temperature, record.usage.calls) == (None, 3)


def test_a_line_of_a_batch_is_recorded_as_it_was_written() -> None:
    call = StepCall("verdict", "verdict.v1", "00" * 32, UNKNOWN, 0.0, "low")
    request = Request(call, "Be exact.", "0: A")
    endpoint = OpenAiEndpoint("http://127.0.0.1:1/v1")
    refusal = {"message": "Only the default (1) value is supported.", "param": "temperature"}
    body = {"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}
    first = endpoint.write_line(request, 100)
    with pytest.raises(ParameterRefused):
        endpoint.read_line(400, {"error": refusal}, request, first.context)
    second = endpoint.write_line(request, 100)
    assert (first.body["temperature"], second.body.get("temperature")) == (0.0, None)
    for line in (first, second):
        answer = endpoint.read_line(200, body, request, line.context)
        assert answer.sent == call._replace(temperature=line.body.get("temperature"))
    with pytest.raises(EndpointRefused, match="takes no temperature"):
        endpoint.write_line(replace(request, needs_temperature=True), 100)
