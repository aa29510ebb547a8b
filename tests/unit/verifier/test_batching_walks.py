"""Walks in batches end as walks of single calls do, whatever the process and the answers are."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from fakes.batch_ledger import batching
from fakes.dag import Dag, DagSource, dags
from fakes.model_prompts import parse_excerpts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from veritrail_graph.graph.model import Claim, Usage, Verification
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.driver import Observer, Task
from veritrail_graph.verifier.judge import LanguageModelJudge, StepModel, StepModels
from veritrail_graph.verifier.models.batch_port import (
    BatchFault,
    BatchReport,
    BatchState,
    WrittenLine,
)
from veritrail_graph.verifier.models.language_model import LanguageModel
from veritrail_graph.verifier.models.port import Completion, ModelPort, Request
from veritrail_graph.verifier.models.retrying import Patience
from veritrail_graph.verifier.prompts import load_prompts
from veritrail_graph.verifier.run import Run

PROMPTS = load_prompts()
SPLITTER = SentenceSplitter.for_language()
VERDICTS = ("FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED", "INCONCLUSIVE")


@dataclass
class Answering:
    """A `BatchingEndpoint` in memory; a hash of the prompt decides each answer.

    Attributes:
        seed: Another one gives other answers.
        most_lines: Takes no more lines than these at a time.
        leaves_out: Leaves out one line of so many the first time, and spoils as many; 0: none.
    """

    seed: int
    leaves_out: int = 0
    most_lines: int = 1_000
    address: str = "memory"
    files: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)
    on_their_way: dict[str, int] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)

    def _number(self, *parts: object) -> int:
        text = json.dumps([self.seed, *parts])
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])

    def _text(self, step: str, user: str) -> str:
        excerpts = parse_excerpts(user, step)
        if step == "verdict":
            kind = VERDICTS[self._number(user) % 3]
            return json.dumps({"verdict": kind, "reason": f"{self._number(user)}"})
        ids = [one for one in excerpts.sentences if self._number(user, one) % 3]
        found = {"sentence_ids": ids, "context_ids": [], "summary": None, "missing": None}
        return json.dumps(found | ({"summary": f"Of {excerpts.claim}."} if ids else {}))

    async def send(self, request: Request, max_output_tokens: int | None) -> Completion:
        return Completion(self._text(request.call.step, request.user), Usage(calls=1))

    def batches(self) -> Answering:
        return self

    def write_line(self, request: Request, max_output_tokens: int | None) -> WrittenLine:
        return WrittenLine({"step": request.call.step, "user": request.user})

    def read_line(
        self, status: int, body: Any, request: Request, written: object | None
    ) -> Completion:
        return Completion(body, Usage(calls=1))

    async def upload(self, name: str, content: bytes) -> str:
        self.files[name] = [json.loads(line) for line in content.splitlines()]
        self.asked.append(len(self.files[name]))
        return name

    async def uploaded(self, name: str) -> str | None:
        return name if name in self.files else None

    async def create(self, file_id: str, name: str) -> BatchReport:
        lines = len(self.files[name])
        if sum(self.on_their_way.values()) + lines > self.most_lines:
            self.refused.add(name)
        else:
            self.on_their_way[name] = lines
        return BatchReport(name, BatchState.VALIDATING)

    async def created(self, file_id: str, name: str) -> BatchReport | None:
        return None

    async def look(self, batch_id: str) -> BatchReport:
        if batch_id in self.refused:
            full = BatchFault("token_limit_exceeded", "Enqueued token limit reached.")
            return BatchReport(batch_id, BatchState.FAILED, faults=(full,))
        self.on_their_way.pop(batch_id, None)
        return BatchReport(batch_id, BatchState.COMPLETED, output_file=batch_id)

    async def cancel(self, batch_id: str) -> None:
        raise AssertionError(batch_id)

    async def lines(self, file_id: str) -> AsyncIterator[str]:
        for line in reversed(self.files[file_id]):
            line_id, body = line["custom_id"], line["body"]
            text = self._text(body["step"], body["user"])
            if self.leaves_out and line_id.endswith("-0"):
                turn = self._number(line_id) % self.leaves_out
                if turn == 0:
                    continue
                text = "I am done." if turn == 1 else text
            yield json.dumps({"custom_id": line_id, "response": {"status_code": 200, "body": text}})

    async def delete(self, file_id: str) -> None:
        self.files.pop(file_id, None)

    async def close(self) -> None:
        pass


def judge_of(model: ModelPort) -> LanguageModelJudge:
    one = StepModel(model)
    return LanguageModelJudge.of(
        "openai", StepModels(one, one, one), PROMPTS, SPLITTER.split, sub_claims=False
    )


async def verified(
    dag: Dag, claims: list[Claim], q: int, model: ModelPort, observer: Observer | None = None
) -> list[Verification]:
    async def keep(*verifications: Verification) -> None:
        del verifications

    run = Run("p", judge_of(model), DagSource(dag), keep, q=q, concurrency=1_000, observer=observer)
    return await run.verify([Task(one, dag.refs[one.node_id]) for one in claims])


async def live(dag: Dag, claims: list[Claim], q: int, seed: int) -> list[Verification]:
    model = LanguageModel(Answering(seed), "scripted", patience=Patience())
    try:
        return await verified(dag, claims, q, model)
    finally:
        await model.close()


async def in_batches(
    dag: Dag, claims: list[Claim], q: int, endpoint: Answering, most_lines: int
) -> list[Verification]:
    made = batching(endpoint, most_lines=most_lines, poll=0.001)
    observer = Observer(
        claim_started=lambda task: made.rounds.walk_begins(task.verification_id),
        claim_finished=lambda one: made.rounds.walk_ends(one.verification_id),
    )
    try:
        return await verified(dag, claims, q, made.model, observer)
    finally:
        await made.close()


def outcome(found: list[Verification]) -> list[Mapping[str, Any]]:
    """All that does not differ from one run to the next by itself."""
    apart = {"verification_id", "run_id", "created_at", "usage", "steps", "share", "engine"}
    told = [one.json_object() for one in found]
    for iteration in (iteration for one in told for iteration in one["iterations"]):
        del iteration["usage"]
    return [{name: value for name, value in one.items() if name not in apart} for one in told]


@pytest.mark.slow
@given(st.data())
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_batches_and_single_calls_give_the_same_verdicts(data: st.DataObject) -> None:
    dag, _ = data.draw(dags())
    targets = [name for name, inputs in dag.sources.items() if inputs]
    nodes = data.draw(st.lists(st.sampled_from(targets), min_size=1, max_size=5))
    claims = [
        Claim(claim_id=f"k{place}", text=f"Claim {place} holds.", node_id=node)
        for place, node in enumerate(nodes)
    ]
    q, seed = data.draw(st.integers(1, 3)), data.draw(st.integers(0, 1 << 30))
    endpoint = Answering(
        seed, data.draw(st.sampled_from([0, 3])), data.draw(st.sampled_from([1, 3, 1_000]))
    )
    most = data.draw(st.sampled_from([1, 2, 1_000]))
    single = asyncio.run(live(dag, claims, q, seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("veritrail_graph.verifier.models.batching.SETTLE", 0.005)
        batched = asyncio.run(in_batches(dag, claims, q, endpoint, most))
    assert outcome(batched) == outcome(single)
    assert max(endpoint.asked, default=0) <= most
    assert endpoint.files == {}
    assert endpoint.on_their_way == {}
