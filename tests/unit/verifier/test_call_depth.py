"""Few calls lie between a run of verifications and the request to a model."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from fakes.byte_server import answer, serving
from fakes.call_depth import ways_to_requests
from fakes.dag import Dag, DagSource
from fakes.judging import PROMPTS, SPLITTER, a_claim, says, selects

from veritrail_graph.graph.model import Verdict, Verification
from veritrail_graph.verifier.driver import Task
from veritrail_graph.verifier.judge import LanguageModelJudge, StepModel, StepModels
from veritrail_graph.verifier.models.language_model import LanguageModel
from veritrail_graph.verifier.models.openai_endpoint import OpenAiEndpoint
from veritrail_graph.verifier.run import Run

MOST = 13
CHAIN = Dag.of({"t": ["s"], "s": ["r"]}, texts={"s": ["In s."], "r": ["In r."]})


def reply(body: dict[str, Any]) -> bytes:
    system, user = (message["content"] for message in body["messages"])
    if "sub-claims" in system.partition("\n\n")[2][:120]:
        return answer(json.dumps({"claims": [user.removeprefix("Claim: ")]}))
    is_verdict = system == PROMPTS["verdict"].text
    return answer(says("FULLY_SUPPORTED") if is_verdict else selects(0))


async def verified() -> list[Verification]:
    async def write(*_verifications: Verification) -> None:
        pass

    async with serving(reply) as server:
        model = LanguageModel(OpenAiEndpoint(server.base_url, "a-key"), "a-model")
        step = StepModel(model)
        judge = LanguageModelJudge.of(
            "openai", StepModels(step, step, step), PROMPTS, SPLITTER.split
        )
        run = Run("p", judge, DagSource(CHAIN), write)
        found = await run.verify([Task(a_claim(), CHAIN.refs["t"])])
        await model.close()
        return found


def test_at_most_13_calls_lie_between_a_run_and_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    with ways_to_requests(monkeypatch) as ways:
        (found,) = asyncio.run(verified())
    assert found.verdict is Verdict.FULLY_SUPPORTED
    assert len(ways) == 5  # sub-claims, and evidence and verdict of two iterations
    for way in ways:
        assert way[0] == "run.Run.verify"
        assert way[-1] == "openai_endpoint.OpenAiEndpoint.send"
        assert len(way) <= MOST, "\n".join(way)
