"""Our own cost of rounds in batches, against a bare loop that writes and reads the same lines.

Both write the lines of a round, and read its answers, in memory: what is left is what gathering
calls, remembering them and handing answers out cost.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.children import run_child
from benchmarks.report import Line, Report, middle
from veritrail_graph.graph.model import Usage
from veritrail_graph.verifier.answers import read_verdict
from veritrail_graph.verifier.models.batch_endpoint import BatchOptions
from veritrail_graph.verifier.models.batch_port import (
    BatchRecord,
    BatchReport,
    BatchState,
    KnownLine,
    WrittenLine,
)
from veritrail_graph.verifier.models.batching import BATCH_PATIENCE, SETTLE, Rounds
from veritrail_graph.verifier.models.language_model import LanguageModel, Warm
from veritrail_graph.verifier.models.limits import Limiter
from veritrail_graph.verifier.models.openai_batches import batch_line
from veritrail_graph.verifier.models.openai_endpoint import read_completion, request_body
from veritrail_graph.verifier.models.port import Completion, Meter, Request, StepCall
from veritrail_graph.verifier.models.retrying import Spending
from veritrail_graph.verifier.models.tokens import counter

LINES, WORDS, REPEATS = 2_000, 800, 5
MOST_SECONDS = 0.005
_ANSWER = json.dumps({"verdict": "FULLY_SUPPORTED", "reason": "It says so."})


@dataclass
class _Memory:
    """Files, batches and the ledger, all in memory: each answer is there at once."""

    address: str = "memory"
    files: dict[str, bytes] = field(default_factory=dict)
    lines_of: dict[str, str] = field(default_factory=dict)

    async def send(self, request: Request, max_output_tokens: int | None) -> Completion:
        raise NotImplementedError

    def batches(self) -> _Memory:
        return self

    def write_line(self, request: Request, max_output_tokens: int | None) -> WrittenLine:
        return WrittenLine(request_body(request, max_output_tokens))

    def read_line(
        self, status: int, body: Any, request: Request, written: object | None
    ) -> Completion:
        return read_completion(json.dumps(body).encode(), "", request, self.address)

    async def upload(self, name: str, content: bytes) -> str:
        self.files[name] = answered(content)
        return name

    async def uploaded(self, name: str) -> str | None:
        return None

    async def create(self, file_id: str, name: str) -> BatchReport:
        return BatchReport(name, BatchState.COMPLETED, output_file=name)

    async def created(self, file_id: str, name: str) -> BatchReport | None:
        return None

    async def look(self, batch_id: str) -> BatchReport:
        return BatchReport(batch_id, BatchState.COMPLETED, output_file=batch_id)

    async def cancel(self, batch_id: str) -> None:
        raise NotImplementedError

    async def lines(self, file_id: str) -> AsyncIterator[str]:
        for line in self.files[file_id].splitlines():
            yield line.decode()

    async def delete(self, file_id: str) -> None:
        self.files.pop(file_id, None)

    async def close(self) -> None:
        pass

    async def known(self, line_ids: Sequence[str]) -> Mapping[str, KnownLine]:
        return {}

    async def plan(self, batch: BatchRecord, line_ids: Sequence[str]) -> None:
        self.lines_of.update(dict.fromkeys(line_ids, batch.name))

    async def note(self, batch: BatchRecord) -> None:
        pass

    async def keep(self, batch: BatchRecord, answers: Mapping[str, str]) -> None:
        self.lines_of.update(answers)

    async def drop(self, name: str) -> None:
        raise NotImplementedError

    async def open(self) -> Sequence[BatchRecord]:
        return []


def answered(content: bytes) -> bytes:
    """The file of answers to a file of lines."""
    message = {"role": "assistant", "content": _ANSWER}
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
    response = {"status_code": 200, "body": body}
    ids = [json.loads(line)["custom_id"] for line in content.splitlines()]
    lines = [json.dumps({"custom_id": one, "response": response}) for one in ids]
    return "\n".join(lines).encode()


def _requests(count: int) -> list[Request]:
    call = StepCall("verdict", "verdict.v1", "0" * 64, "scripted", 0.0)
    text = "0: " + "A sentence of some words is here. " * (WORDS // 7)
    return [
        Request(call, "Be exact.", f"[[1]]\n{text}\nClaim: {number}") for number in range(count)
    ]


async def _ours(requests: Sequence[Request]) -> float:
    memory, spending = _Memory(), Spending()
    rounds = Rounds(memory, spending, BatchOptions(poll=0.001))
    endpoint = rounds.endpoint(memory, "scripted", None, counter("scripted"), None)
    inner = LanguageModel(
        endpoint,
        "scripted",
        patience=BATCH_PATIENCE,
        limiter=Limiter(1_000_000),
        spending=spending,
        warm=Warm.OFF,
    )
    model = rounds.gathered(inner)
    began = time.perf_counter()
    await asyncio.gather(*(model.ask(one, read_verdict, Meter()) for one in requests))
    took = time.perf_counter() - began
    await rounds.close()
    await inner.close()
    return took - SETTLE  # waits, and works not


def _bare(requests: Sequence[Request]) -> float:
    began = time.perf_counter()
    lines = [
        batch_line(f"line-{place}", request_body(one, 8_192)) for place, one in enumerate(requests)
    ]
    for line in answered(b"".join(lines)).splitlines():
        found = json.loads(line)["response"]["body"]
        answer = found["choices"][0]["message"]["content"]
        read_verdict(answer)
        Usage(calls=1, input_tokens=found["usage"]["prompt_tokens"])
    return time.perf_counter() - began


def measure(report: Report) -> None:
    """Our own cost of a line, in a process of its own."""
    found = run_child("benchmarks.batches:compare")
    report.add(
        Line(
            f"own cost of a line in batches, {found['lines']:,.0f} lines",
            found["ours"] / 1e3,
            target=MOST_SECONDS,
            note=f"a bare loop over the same lines: {found['bare']:.3f} ms",
        )
    )


def compare(lines: int = LINES, repeats: int = REPEATS) -> dict[str, float]:
    """Milliseconds a line of ours and of the bare loop, medians of rounds in turn."""
    requests = _requests(lines)
    ours: list[float] = []
    bare: list[float] = []
    for _repeat in range(repeats):
        ours.append(asyncio.run(_ours(requests)))
        bare.append(_bare(requests))
    return {"ours": 1e3 * middle(ours) / lines, "bare": 1e3 * middle(bare) / lines, "lines": lines}
