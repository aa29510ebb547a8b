"""Runs: every fault becomes a status, what is finished is kept, and nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from fakes.dag import Dag, DagSource

from veritrail_graph.graph.errors import EngineUnavailable, NotFound
from veritrail_graph.graph.model import Claim, Status, Usage, Verdict, Verification
from veritrail_graph.verifier.driver import Observer, Task
from veritrail_graph.verifier.models.port import (
    EndpointRefused,
    Meter,
    OverBudget,
    StepCall,
)
from veritrail_graph.verifier.ports import Found, JudgeError, Judgement, ReadNode, Selection
from veritrail_graph.verifier.run import Run

ASKED = StepCall("evidence_selection", "evidence_selection.v1", "0" * 64, "m-1", 0.0)


def tasks(source: DagSource, count: int = 3) -> list[Task]:
    node = source.dag.refs["t"]
    return [
        Task(Claim(claim_id=f"k{n}", text=f"Claim {n}.", node_id="t"), node, f"v-{n}")
        for n in range(count)
    ]


class Judge:
    """Answers at once, and does what a test says for single claims."""

    name, model, indicative = "test", "m-1", False

    def __init__(self, faults: dict[str, BaseException] | None = None, hang: str | None = None):
        self.faults, self.hang = faults or {}, hang
        self.hanging = asyncio.Event()

    async def sub_claims(self, claim: Claim, meter: Meter) -> tuple[str, ...]:
        return ("one part", "another part")

    async def select_evidence(
        self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
    ) -> Selection:
        if claim.claim_id == self.hang:
            self.hanging.set()
            await asyncio.sleep(60)
        if claim.claim_id in self.faults:
            raise self.faults[claim.claim_id]
        meter.record(ASKED, Usage(calls=1, input_tokens=10, cost_usd=0.5))
        return Selection()

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        raise AssertionError("nothing was found, so no verdict is asked for")


def run_all(judge: Any, **options: Any) -> tuple[list[Verification], list[Verification], Run]:
    source = DagSource(Dag.of({"r": [], "s": ["r"], "t": ["s"]}))
    written: list[Verification] = []

    async def write(*verifications: Verification) -> None:
        written.extend(verifications)

    async def work() -> tuple[list[Verification], Run]:
        run = Run("p", judge, source, options.pop("write", write), **options)
        return await run.verify(tasks(source)), run

    results, run = asyncio.run(work())
    return results, written, run


def test_every_claim_gets_a_verification_in_the_order_given() -> None:
    results, written, run = run_all(Judge(), q=2)
    assert [v.claim_id for v in results] == ["k0", "k1", "k2"]
    assert {v.verification_id for v in written} == {"v-0", "v-1", "v-2"}
    assert all(v.verdict is Verdict.NOT_FULLY_SUPPORTED for v in results)
    assert not run.write_errors


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (JudgeError("the model said nothing"), "the model said nothing"),
        (EngineUnavailable("the engine is gone"), "the engine is gone"),
        (KeyError("oops"), "internal error (KeyError: 'oops')"),
    ],
)
def test_a_fault_is_a_status_of_its_claim_alone_and_never_a_verdict(
    fault: Exception, told: str
) -> None:
    results, written, _ = run_all(Judge({"k1": fault}))
    assert [v.status for v in results] == [Status.SUCCEEDED, Status.FAILED, Status.SUCCEEDED]
    failed = results[1]
    assert failed.verdict is None
    assert failed.termination is None
    assert told in (failed.error or "")
    assert failed in written


def test_stopping_keeps_what_is_finished_and_cancels_the_rest() -> None:
    source = DagSource(Dag.of({"r": [], "s": ["r"], "t": ["s"]}))
    written: list[Verification] = []

    async def write(*verifications: Verification) -> None:
        written.extend(verifications)

    async def work() -> list[Verification]:
        judge = Judge(hang="k1")
        run = Run("p", judge, source, write, concurrency=1)
        running = asyncio.ensure_future(run.verify(tasks(source)))
        await judge.hanging.wait()
        run.stop()
        return await running

    results = asyncio.run(work())
    assert [v.status for v in results] == [Status.SUCCEEDED, Status.CANCELLED, Status.CANCELLED]
    assert [v.verdict for v in results[1:]] == [None, None]
    assert sorted(v.verification_id for v in written) == ["v-0", "v-1", "v-2"]


def test_stopping_while_a_result_is_written_keeps_that_result() -> None:
    source = DagSource(Dag.of({"r": [], "t": ["r"]}))
    written: list[Verification] = []

    async def work() -> list[Verification]:
        writing = asyncio.Event()

        async def write(*verifications: Verification) -> None:
            writing.set()
            await asyncio.sleep(0.05)
            written.extend(verifications)

        run = Run("p", Judge(), source, write, concurrency=1)
        running = asyncio.ensure_future(run.verify(tasks(source, 1)))
        await writing.wait()
        run.stop()
        return await running

    (result,) = asyncio.run(work())
    assert result.status is Status.SUCCEEDED
    assert written == [result]


def test_a_result_that_cannot_be_written_is_still_given_and_the_fault_is_kept() -> None:
    async def write(*verifications: Verification) -> None:
        if verifications[0].claim_id == "k1":
            raise EngineUnavailable("gone")

    results, _, run = run_all(Judge(), write=write)
    assert [v.status for v in results] == [Status.SUCCEEDED] * 3
    assert [str(error) for error in run.write_errors] == ["gone"]


def test_the_observer_is_told_of_every_claim_and_call() -> None:
    started: list[str] = []
    finished: list[str] = []
    calls: list[int] = []
    observer = Observer(
        claim_started=lambda task: started.append(task.claim.claim_id),
        call_made=lambda usage: calls.append(usage.calls),
        claim_finished=lambda verification: finished.append(verification.claim_id),
    )
    run_all(Judge(), observer=observer)
    assert sorted(started) == sorted(finished) == ["k0", "k1", "k2"]
    assert sum(calls) == 6  # two rounds a claim


def test_a_verdict_on_a_process_that_was_replaced_meanwhile_is_no_verdict() -> None:
    async def write(*verifications: Verification) -> None:
        assert {v.content_hash for v in verifications} == {"h-1"}
        if verifications[0].claim_id == "k1":
            raise NotFound("the process was replaced")

    results, _, run = run_all(Judge(), write=write, content_hash="h-1")
    assert [v.status for v in results] == [Status.SUCCEEDED, Status.FAILED, Status.SUCCEEDED]
    assert results[1].verdict is None
    assert results[1].iterations == ()
    assert results[1].error == "the process was replaced"
    assert len(run.write_errors) == 1


def test_a_claim_that_the_budget_does_not_reach_is_over_budget() -> None:
    judge = Judge(faults={"k1": OverBudget("the budget of $1.00 is used up")})
    results, _, _ = run_all(judge)
    assert [v.status for v in results] == [Status.SUCCEEDED, Status.OVER_BUDGET, Status.SUCCEEDED]
    assert results[1].verdict is None
    assert results[1].error == "the budget of $1.00 is used up"


def test_a_refused_key_stops_the_run_with_one_reason() -> None:
    judge = Judge(faults={"k0": EndpointRefused("the key is not valid")})
    results, written, run = run_all(judge, concurrency=1)
    assert str(run.refusal) == "the key is not valid"
    assert [v.status for v in results] == [Status.FAILED, Status.CANCELLED, Status.CANCELLED]
    assert all("the key is not valid" in (v.error or "") for v in results)
    assert len(written) == 3


def test_what_a_failed_or_a_stopped_claim_cost_is_kept() -> None:
    class FailsLater(Judge):
        async def select_evidence(
            self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
        ) -> Selection:
            if meter.iteration == 2:
                await asyncio.sleep(0.05 if claim.claim_id == "k0" else 60)
                raise EndpointRefused("no more")
            return await super().select_evidence(claim, nodes, meter)

    results, _, _ = run_all(FailsLater(), q=5)
    assert [v.status for v in results] == [Status.FAILED, Status.CANCELLED, Status.CANCELLED]
    assert [v.usage.calls for v in results] == [1, 1, 1]
    assert results[0].steps[0].iteration == 1


def test_a_claim_that_takes_too_long_has_failed() -> None:
    results, _, _ = run_all(Judge(hang="k1"), deadline=0.05)
    assert [v.status for v in results] == [Status.SUCCEEDED, Status.FAILED, Status.SUCCEEDED]
    assert "not finished within" in (results[1].error or "")


def test_every_verification_carries_its_run_and_settings() -> None:
    results, _, run = run_all(Judge(), settings="{}", run_id="r-1")
    assert run.run_id == "r-1"
    assert {(v.run_id, v.settings) for v in results} == {("r-1", "{}")}


def test_sub_claims_are_kept_with_the_verification() -> None:
    (first, *_), _, _ = run_all(Judge())
    assert first.sub_claims == ("one part", "another part")
