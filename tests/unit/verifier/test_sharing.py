"""Claims that share prompts end as claims that are asked about one by one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fakes.batch_ledger import MemoryLedger, batching
from fakes.dag import Dag, DagSource, dags
from fakes.model_prompts import SHARED_STEPS, split_shared
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from unit.verifier.test_batching_walks import SPLITTER, Answering, outcome

from veritrail_graph.graph.model import Claim, Status, Usage, Verification
from veritrail_graph.verifier import shared_prompts
from veritrail_graph.verifier.driver import Observer, Task
from veritrail_graph.verifier.judge import LanguageModelJudge, StepModel, StepModels
from veritrail_graph.verifier.limits import Samples
from veritrail_graph.verifier.models.cache import AnswerCache
from veritrail_graph.verifier.models.language_model import LanguageModel
from veritrail_graph.verifier.models.port import (
    Completion,
    CutOff,
    ModelPort,
    OverBudget,
    Request,
)
from veritrail_graph.verifier.models.prices import Price
from veritrail_graph.verifier.models.retrying import Patience, Spending
from veritrail_graph.verifier.prompts import load_prompts
from veritrail_graph.verifier.run import Run
from veritrail_graph.verifier.sharing import split_usage

PROMPTS = load_prompts()
SHARED, SHARED_VERDICT = "evidence_selection_shared", "verdict_shared"
PRICE = Price(input=1.0, output=4.0, cached_input=0.25)


@dataclass
class SharedAnswering(Answering):
    """Answers about several claims what it answers about each.

    Attributes:
        spoils: One part of so many is left out, one is invalid, one stands twice; 0: none.
        requests: The user messages by step, as they came.
        overlong: Answers about more claims than this are cut off.
    """

    spoils: int = 0
    overlong: int = 1_000
    requests: list[tuple[str, str]] = field(default_factory=list)

    def _text(self, step: str, user: str) -> str:
        self.requests.append((step, user))
        if step not in SHARED_STEPS:
            return super()._text(step, user)
        entries: list[dict[str, Any]] = []
        alone = split_shared(user, step)
        if len(alone) > self.overlong:
            raise CutOff("cut off", Usage(calls=1, input_tokens=100, output_tokens=9))
        for number, one in enumerate(alone, start=1):
            part = json.loads(super()._text(SHARED_STEPS[step], one))
            entry = {"claim": number, **part}
            turn = self._number("spoilt", one) % self.spoils if self.spoils else None
            if turn == 1:
                entry |= {"sentence_ids": [0], "summary": None, "verdict": "PERHAPS"}
            entries += [] if turn == 0 else [entry, entry] if turn == 2 else [entry]
        return "I looked at each.\n" + json.dumps({"claims": entries[::-1]})

    async def send(self, request: Request, max_output_tokens: int | None) -> Completion:
        text = self._text(request.call.step, request.user)
        await asyncio.sleep(0)
        tokens = len(request.system + request.user) // 4
        cost = {"input_tokens": tokens, "output_tokens": len(text) // 4}
        usage = Usage(calls=1, **cost)
        return Completion(text, usage.replace(cost_usd=PRICE.cost(usage)))

    @property
    def steps(self) -> list[str]:
        return [step for step, _ in self.requests]


def judge_of(
    model: ModelPort, share: int, rounds: Any = None, samples: Samples = Samples()
) -> LanguageModelJudge:
    one = StepModel(model)
    return LanguageModelJudge.of(
        "openai", StepModels(one, one, one), PROMPTS, SPLITTER.split,
        sub_claims=False, share=share, rounds=rounds, samples=samples,
    )  # fmt: skip


async def verified(
    dag: Dag, claims: list[Claim], q: int, judge: LanguageModelJudge, observer: Observer
) -> list[Verification]:
    async def keep(*verifications: Verification) -> None:
        del verifications

    observer = judge.sharing.watched(observer) if judge.sharing is not None else observer
    run = Run("p", judge, DagSource(dag), keep, q=q, concurrency=1_000, observer=observer)
    return await run.verify([Task(one, dag.refs[one.node_id]) for one in claims])


async def live(
    dag: Dag,
    claims: list[Claim],
    endpoint: Answering,
    share: int,
    *,
    q: int = 2,
    samples: Samples = Samples(),
    **options: Any,
) -> list[Verification]:
    model = LanguageModel(endpoint, "scripted", patience=Patience(), **options)
    try:
        return await verified(dag, claims, q, judge_of(model, share, None, samples), Observer())
    finally:
        await model.close()


async def in_batches(
    dag: Dag, claims: list[Claim], endpoint: Answering, share: int, q: int, **options: Any
) -> list[Verification]:
    made = batching(endpoint, poll=0.001, **options)
    observer = Observer(
        claim_started=lambda task: made.rounds.walk_begins(task.verification_id),
        claim_finished=lambda one: made.rounds.walk_ends(one.verification_id),
    )
    try:
        return await verified(dag, claims, q, judge_of(made.model, share, made.rounds), observer)
    finally:
        await made.close()


def some_claims(nodes: list[str]) -> list[Claim]:
    return [
        Claim(claim_id=f"k{place}", text=f"Claim {place % 4} holds.", node_id=node)
        for place, node in enumerate(nodes)
    ]


def drawn(data: st.DataObject) -> tuple[Dag, list[Claim], int, int, int]:
    dag, _ = data.draw(dags())
    targets = [name for name, inputs in dag.sources.items() if inputs]
    nodes = data.draw(st.lists(st.sampled_from(targets[-2:]), min_size=1, max_size=6))
    q, seed = data.draw(st.integers(1, 3)), data.draw(st.integers(0, 1 << 30))
    return dag, some_claims(nodes), q, seed, data.draw(st.sampled_from([0, 4]))


@given(st.data())
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_shared_prompts_and_prompts_of_one_claim_give_the_same_trails(data: st.DataObject) -> None:
    dag, claims, q, seed, spoils = drawn(data)
    share = data.draw(st.sampled_from([2, 3, 8]))
    alone = asyncio.run(live(dag, claims, Answering(seed), 1, q=q))
    endpoint = SharedAnswering(seed, spoils=spoils)
    assert outcome(asyncio.run(live(dag, claims, endpoint, share, q=q))) == outcome(alone)
    shared = [split_shared(user, step) for step, user in endpoint.requests if step in SHARED_STEPS]
    assert all(len(one) <= share for one in shared)


@pytest.mark.soak
@given(st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_shared_prompts_in_batches_give_the_same_trails(data: st.DataObject) -> None:
    dag, claims, q, seed, spoils = drawn(data)
    alone = asyncio.run(live(dag, claims, Answering(seed), 1, q=q))
    endpoint = SharedAnswering(seed, spoils=spoils, leaves_out=data.draw(st.sampled_from([0, 3])))
    assert outcome(asyncio.run(in_batches(dag, claims, endpoint, 3, q))) == outcome(alone)


def one_frontier(count: int = 5) -> tuple[Dag, list[Claim]]:
    names = [f"r{number}" for number in range(3)]
    dag = Dag.of({**dict.fromkeys(names, ()), "t": tuple(names)})
    return dag, [
        Claim(claim_id=f"k{place}", text=f"Claim {place} holds.", node_id="t")
        for place in range(count)
    ]


@pytest.mark.parametrize(("share", "prompts"), [(2, [2, 2, 1]), (3, [3, 2]), (8, [5])])
def test_a_prompt_asks_about_no_more_claims_than_it_may(share: int, prompts: list[int]) -> None:
    dag, claims = one_frontier()
    endpoint = SharedAnswering(7)
    asyncio.run(live(dag, claims, endpoint, share))
    found = [len(split_shared(user)) for step, user in endpoint.requests if step == SHARED]
    found += [1 for step in endpoint.steps if step == "evidence_selection"]
    assert sorted(found) == sorted(prompts)


@pytest.mark.parametrize("samples", [Samples(), Samples(3, 2)])
def test_what_a_shared_call_costs_is_charged_to_its_claims_in_whole(samples: Samples) -> None:
    dag, claims = one_frontier()
    spent: list[Usage] = []
    endpoint = SharedAnswering(3)

    async def run() -> list[Verification]:
        spending = Spending()
        model = LanguageModel(
            endpoint, "scripted", patience=Patience(), spending=spending, price=PRICE
        )
        judge = judge_of(model, 3, None, samples)
        try:
            return await verified(dag, claims, 2, judge, Observer(call_made=spent.append))
        finally:
            await model.close()

    found = asyncio.run(run())
    whole, told = sum((one.usage for one in found), Usage()), sum(spent, Usage())
    assert whole.calls == told.calls == len(endpoint.requests)
    assert whole.input_tokens == told.input_tokens
    assert whole.output_tokens == told.output_tokens
    assert whole.cost_usd == pytest.approx(PRICE.cost(whole.replace(cost_usd=None)), rel=1e-12)
    prompts = {step.prompt for one in found for step in one.steps}
    assert {"evidence_selection_shared.v2", "verdict_shared.v2"} <= prompts
    assert all(one.usage.input_tokens for one in found)


def test_verdicts_share_a_prompt_though_each_claim_has_evidence_of_its_own() -> None:
    names = [f"r{number}" for number in range(6)]
    ends = {f"t{number}": (names[2 * number], names[2 * number + 1]) for number in range(3)}
    dag = Dag.of({**dict.fromkeys(names, ()), **ends})
    claims = [
        Claim(claim_id=f"k{place}", text=f"Claim {place} holds.", node_id=name)
        for place, name in enumerate(ends)
    ]
    endpoint = SharedAnswering(7)
    found = asyncio.run(live(dag, claims, endpoint, 8))
    assert outcome(found) == outcome(asyncio.run(live(dag, claims, Answering(7), 1)))
    assert SHARED not in endpoint.steps, "no two claims read the same nodes"
    asked = [split_shared(user, step) for step, user in endpoint.requests if step == SHARED_VERDICT]
    assert [len(one) for one in asked] == [3]
    assert "verdict" not in endpoint.steps
    assert {"verdict_shared"} <= {step.step for one in found for step in one.steps}


def test_verdicts_with_much_evidence_do_not_share_a_prompt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shared_prompts, "MOST_EVIDENCE", 30)
    dag, claims = one_frontier()
    endpoint = SharedAnswering(7)
    found = asyncio.run(live(dag, claims, endpoint, 8))
    assert outcome(found) == outcome(asyncio.run(live(dag, claims, Answering(7), 1)))
    assert SHARED_VERDICT not in endpoint.steps
    assert endpoint.steps.count("verdict") == len(claims)


@pytest.mark.parametrize(
    ("folder", "shares"), [("every_word", False), ("true_false", False), ("brief", True)]
)
def test_verdicts_share_a_prompt_where_there_is_one_of_the_same_version(
    folder: str, shares: bool
) -> None:
    model = LanguageModel(SharedAnswering(7), "scripted")
    one = StepModel(model, structured=True)
    judge = LanguageModelJudge.of(
        "openai", StepModels(one, one, one), load_prompts(Path(folder)), SPLITTER.split, share=8
    )
    assert ("verdict_shared" in judge.settings["steps"]) is shares
    schemas = [step.answer_schema for step in judge.prompted]
    reasons = ["reasoning" in one["properties"] for one in schemas if one is not None]
    assert set(reasons) == {folder != "brief"}


def test_usage_is_split_evenly_and_the_parts_add_up() -> None:
    usage = Usage(
        calls=1, input_tokens=1_001, cached_input_tokens=512, output_tokens=7, cost_usd=0.1,
        reasoning_tokens=2, batch_calls=1,
    )  # fmt: skip
    parts = split_usage(usage, 3)
    assert [one.input_tokens for one in parts] == [334, 334, 333]
    assert [one.calls for one in parts] == [1, 0, 0]
    whole = sum(parts, Usage())
    assert whole.cost_usd == pytest.approx(0.1, abs=1e-15)
    assert whole.replace(cost_usd=0.1) == usage


def test_claims_are_asked_about_alone_where_the_answer_about_several_is_cut_off() -> None:
    dag, claims = one_frontier()
    endpoint = SharedAnswering(7, overlong=2)
    found = asyncio.run(live(dag, claims, endpoint, 8))
    assert outcome(found) == outcome(asyncio.run(live(dag, claims, Answering(7), 1)))
    assert endpoint.steps.count(SHARED) == 1, "it is not asked again as it is"
    assert endpoint.steps.count("evidence_selection") == 5
    assert endpoint.steps.count(SHARED_VERDICT) == endpoint.steps.count("verdict") // 5 > 0


def test_an_over_used_budget_is_no_verdict() -> None:
    dag, claims = one_frontier()

    class Poor(SharedAnswering):
        async def send(self, request: Request, max_output_tokens: int | None) -> Completion:
            if request.call.step == SHARED:
                raise OverBudget("used up")
            return await super().send(request, max_output_tokens)

    found = asyncio.run(live(dag, claims, Poor(1), 8))
    assert [(one.status, one.verdict) for one in found] == [(Status.OVER_BUDGET, None)] * 5


def test_a_fault_behind_a_shared_answer_fails_its_claims_and_no_run_waits_for_ever() -> None:
    dag, claims = one_frontier()

    async def run() -> list[Verification]:
        model = LanguageModel(SharedAnswering(7), "scripted", patience=Patience())

        async def full(*_: object) -> None:
            raise OverBudget("used up")

        model.keep = full  # type: ignore[method-assign]
        try:
            async with asyncio.timeout(10):
                return await verified(dag, claims, 2, judge_of(model, 8), Observer())
        finally:
            await model.close()

    assert {one.status for one in asyncio.run(run())} == {Status.OVER_BUDGET}


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[AnswerCache]:
    found = AnswerCache(tmp_path / "answers.sqlite")
    yield found
    asyncio.run(found.close())


def test_a_part_that_was_paid_is_not_paid_again_whoever_shares_the_next_prompt(
    cache: AnswerCache,
) -> None:
    dag, claims = one_frontier()
    first, second = SharedAnswering(7), SharedAnswering(7)
    before = asyncio.run(live(dag, claims[:4], first, 4, cache=cache))
    found = asyncio.run(live(dag, claims, second, 4, cache=cache))
    assert outcome(found[:4]) == outcome(before)
    assert [one.usage.calls for one in found[:4]] == [0] * 4
    assert SHARED not in second.steps
    assert [claims[4].text in user for _, user in second.requests] == [True] * len(second.requests)


def test_an_answer_to_one_claim_alone_is_no_answer_of_a_shared_prompt(cache: AnswerCache) -> None:
    dag, claims = one_frontier()
    asyncio.run(live(dag, claims, SharedAnswering(7), 1, cache=cache))
    endpoint = SharedAnswering(7)
    asyncio.run(live(dag, claims, endpoint, 8, cache=cache))
    assert endpoint.steps.count(SHARED) == 1


def test_batches_share_prompts_in_few_rounds_and_a_later_process_finds_the_lines() -> None:
    dag, claims = one_frontier()
    endpoint, ledger = SharedAnswering(7), MemoryLedger()
    found = asyncio.run(in_batches(dag, claims, endpoint, 8, 2, ledger=ledger))
    rounds = list(endpoint.asked)
    again = asyncio.run(in_batches(dag, claims, endpoint, 8, 2, ledger=ledger))
    assert outcome(again) == outcome(found)
    assert endpoint.asked == rounds, "nothing is uploaded again"
    assert rounds[0] == 1
    assert all(one.usage.batch_calls == one.usage.calls for one in found)


@pytest.mark.parametrize("after", [0.0, 0.001, 0.01])
def test_a_claim_that_is_stopped_does_not_hold_the_others_up(after: float) -> None:
    dag, claims = one_frontier(3)
    endpoint = SharedAnswering(7)

    async def run() -> list[Verification]:
        model = LanguageModel(endpoint, "scripted", patience=Patience())
        judge = judge_of(model, 8)
        begun: list[asyncio.Task[Any] | None] = []

        def started(_task: Task) -> None:
            begun.append(asyncio.current_task())
            if len(begun) == 1 and begun[0] is not None:
                asyncio.get_running_loop().call_later(after, begun[0].cancel)

        try:
            return await verified(dag, claims, 2, judge, Observer(claim_started=started))
        finally:
            await model.close()

    found = asyncio.run(run())
    assert [one.status for one in found[1:]] == [Status.SUCCEEDED] * 2
    assert found[0].status is Status.CANCELLED
    assert [len(split_shared(user)) for step, user in endpoint.requests if step == SHARED] == [2]
