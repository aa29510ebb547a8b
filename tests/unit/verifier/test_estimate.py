"""An estimate is a real walk with assumed answers: what it counts is what a run would send."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from fakes.dag import Dag, DagSource

from veritrail_graph.graph.model import Claim, NodeRef, Sentence
from veritrail_graph.verifier.driver import Task
from veritrail_graph.verifier.estimate import (
    HIGH,
    LIKELY,
    NOTHING,
    AssumedModel,
    AssumedWalk,
    Estimates,
    Estimator,
)
from veritrail_graph.verifier.judge import LanguageModelJudge, StepModel, StepModels
from veritrail_graph.verifier.limits import Limits, Samples
from veritrail_graph.verifier.models.prices import Price
from veritrail_graph.verifier.ports import JudgeError, ReadNode
from veritrail_graph.verifier.prompts import PAPER, SECOND, load_prompts

PRICE = Price(input=2.0, cached_input=0.5, output=8.0)
TEXT = "A sentence of the report says a little about the harbour and its two long piers."
ROOTS = 40


def layered() -> Dag:
    """40 roots under 20 nodes under 10 nodes under the final answer."""
    sources = {f"b{n}": (f"r{2 * n}", f"r{2 * n + 1}") for n in range(ROOTS // 2)}
    sources |= {f"c{n}": (f"b{2 * n}", f"b{2 * n + 1}") for n in range(ROOTS // 4)}
    whole = {"t": tuple(f"c{n}" for n in range(ROOTS // 4)), **sources}
    texts = {f"{s}{n}": [f"{s}{n} {TEXT}"] * 10 for s in "rbc" for n in range(ROOTS)}
    return Dag.of(whole, texts=texts)


def chain() -> Dag:
    """A root under two steps under the final answer."""
    return Dag.of({"t": ["b"], "b": ["a"], "a": ["r"]}, texts={name: [TEXT] for name in "abr"})


def words(text: str) -> int:
    return len(text.split())


def one_sentence(node_id: str, text: str) -> tuple[Sentence, ...]:
    return (Sentence(node_id, 0, 0, len(text), text),)


def estimator(
    dag: Dag,
    *,
    q: int = 3,
    price: Price | None = None,
    caches: bool = False,
    samples: int = 1,
    sub_claims: bool = True,
    is_exact: bool = True,
    source: DagSource | None = None,
    wording: str = PAPER,
) -> Estimator:
    assumed_walk = AssumedWalk()
    model = AssumedModel("some-model", 100_000, words, is_exact, price, caches, assumed_walk)
    step = StepModel(model)
    judge = LanguageModelJudge.of(
        "openai",
        StepModels(step, step, step),
        load_prompts(wording),
        one_sentence,
        limits=Limits(),
        samples=Samples(samples, samples // 2 + 1),
        sub_claims=sub_claims,
    )
    return Estimator("p", judge, assumed_walk, source or DagSource(dag), q)


def claims(dag: Dag, count: int = 1, node: str = "t", **more: Any) -> list[Task]:
    return [
        Task(
            Claim(claim_id=f"k{n}", text=f"The harbour has {n:04} piers.", node_id=node, **more),
            dag.refs[node],
        )
        for n in range(count)
    ]


def estimate(dag: Dag, tasks: Sequence[Task], **how: Any) -> Estimates:
    return asyncio.run(estimator(dag, **how).estimate(tasks))


def test_low_is_a_claim_that_is_given_up_after_q_rounds_without_evidence() -> None:
    found = estimate(layered(), claims(layered()), q=1)
    # One decomposition; 10 nodes of 10 sentences are three prompts of 40; no verdict is asked.
    assert found.low.usage.calls == 1 + 3
    assert found.low.visited == {f"c{n}" for n in range(10)}
    assert found.low.usage.output_tokens == NOTHING.decomposed + 3 * NOTHING.nothing_found


def test_likely_follows_one_node_in_five() -> None:
    found = estimate(layered(), claims(layered()))
    # c0 and c5, so four nodes of b; the first of those, so two roots.
    assert found.likely.visited == {*(f"c{n}" for n in range(10)), "b0", "b1", "b10", "b11"} | {
        "r0",
        "r1",
    }
    assert found.likely.usage.calls == LIKELY.decompositions + (3 + 1) + (1 + 1) + (1 + 1)


def test_high_reads_everything_down_to_the_roots() -> None:
    dag = layered()
    found = estimate(dag, claims(dag))
    assert found.high.visited == dag.refs.keys() - {"t"}
    rounds = (3 + 1) + (5 + 1) + (10 + 1)
    assert found.high.usage.calls == HIGH.decompositions + rounds


def test_what_selections_by_part_settle_is_not_asked_for() -> None:
    dag = chain()
    four = claims(dag, 4)
    paper, ours = (estimate(dag, four, wording=wording) for wording in (PAPER, SECOND))
    # A claim takes three prompts of evidence and three of verdicts; two of four leave theirs open.
    assert paper.likely.usage.calls == 4 * (LIKELY.decompositions + 3 + 3)
    assert ours.likely.usage.calls == 4 * (1 + 3) + 2 * 3
    assert ours.high.usage.calls == 4 * (1 + 3 + 3)
    assert ours.likely.visited == paper.likely.visited
    soft = estimate(dag, four, samples=3, wording=SECOND)
    assert soft.likely.usage.calls == 4 * (1 + 3 * (3 + 3))


def test_a_verdict_on_what_several_prompts_found_is_asked_for() -> None:
    dag = layered()
    found = estimate(dag, claims(dag, 3), wording=SECOND)
    # In all three rounds several nodes yield evidence: of c, two prompts do, of b and of r one.
    assert found.likely.usage.calls == 3 * (1 + 3 + 1 + 1) + (1 + 1 + 1) + 2 * 1


@pytest.mark.parametrize("wording", [PAPER, SECOND])
def test_the_scenarios_stand_in_their_order(wording: str) -> None:
    dag = layered()
    found = estimate(dag, claims(dag, 7), price=PRICE, wording=wording)
    for name in ("calls", "input_tokens", "output_tokens", "cost_usd"):
        low, likely, high = (
            getattr(one.usage, name) for one in (found.low, found.likely, found.high)
        )
        assert low < likely < high, name
    assert found.low.weight < found.likely.weight < found.high.weight


def test_claims_about_one_node_are_walked_once() -> None:
    dag = layered()
    source = DagSource(dag)
    single = estimate(dag, claims(dag), source=source)
    walked = len(source.reads)
    source.reads.clear()
    many = estimate(dag, claims(dag, 5_000), source=source)
    assert len(source.reads) == walked
    assert many.likely.usage.calls == 5_000 * single.likely.usage.calls
    assert many.likely.visited == single.likely.visited


def test_every_sample_is_a_call_but_a_claim_is_taken_apart_once() -> None:
    dag = layered()
    one = estimate(dag, claims(dag))
    three = estimate(dag, claims(dag), samples=3)
    apart = LIKELY.decompositions
    assert three.likely.usage.calls - apart == 3 * (one.likely.usage.calls - apart)
    assert three.likely.visited == one.likely.visited


def test_money_is_tokens_times_price() -> None:
    dag = layered()
    usage = estimate(dag, claims(dag, 3), price=PRICE).high.usage
    assert usage.cost_usd == pytest.approx(
        (usage.input_tokens * 2.0 + usage.output_tokens * 8.0) / 1_000_000
    )


def test_without_a_price_the_cost_is_unknown_and_never_zero() -> None:
    dag = layered()
    found = estimate(dag, claims(dag, 3))
    for one in (found.low, found.likely, found.high):
        assert one.usage.cost_usd is None
        assert one.usage.unpriced_calls == one.usage.calls


def test_claims_that_share_a_frontier_read_its_prompts_from_the_endpoints_cache() -> None:
    dag = layered()
    alone = estimate(dag, claims(dag), price=PRICE, caches=True).likely.usage
    assert alone.cached_input_tokens == 0  # there was no earlier one
    two = estimate(dag, claims(dag, 2), price=PRICE, caches=True).likely.usage
    assert 0 < two.cached_input_tokens < alone.input_tokens == two.input_tokens / 2
    elsewhere = estimate(dag, claims(dag, 2), price=PRICE).likely.usage
    assert elsewhere.cached_input_tokens == 0
    assert elsewhere.input_tokens == two.input_tokens
    assert elsewhere.cost_usd is not None
    saved = two.cached_input_tokens * (PRICE.input - PRICE.cached_input) / 1_000_000
    assert two.cost_usd == pytest.approx(elsewhere.cost_usd - saved)


def test_tokens_that_are_only_estimated_are_taken_with_their_known_excess() -> None:
    dag = layered()
    exact = estimate(dag, claims(dag))
    safe = estimate(dag, claims(dag), is_exact=False)
    assert safe.likely.usage.calls == exact.likely.usage.calls  # prompts are packed alike
    assert safe.likely.usage.input_tokens < 0.75 * exact.likely.usage.input_tokens
    assert safe.high.usage.input_tokens == exact.high.usage.input_tokens


def test_a_node_that_is_cut_across_prompts_is_one_node() -> None:
    long = {"t": ("a", "b"), "a": ("r",), "b": ("s",)}
    dag = Dag.of(long, texts={"a": [f"{n} {TEXT}" for n in range(100)], "b": [TEXT] * 10})
    found = estimate(dag, claims(dag))
    # Three prompts hold a and b; only a yields evidence, so only r is read, not s.
    assert found.likely.visited == {"a", "b", "r"}


def test_text_that_looks_like_the_prompt_changes_nothing() -> None:
    dag = layered()
    odd = ["[[7]]", "Claim: no", "(context) x", '{"sentence_ids": [1]}', "3: three", "\n[[1]]"]
    strange = Dag(dag.sources, dag.refs, {name: [*odd, name] for name in dag.refs})
    found = estimate(strange, claims(strange))
    assert found.high.visited == dag.refs.keys() - {"t"}


def test_a_node_that_cannot_be_read_is_named() -> None:
    class Gone(DagSource):
        async def read(self, nodes: Sequence[NodeRef]) -> tuple[ReadNode, ...]:
            raise JudgeError(f"{nodes[0].node_id} is gone")

    dag = layered()
    with pytest.raises(JudgeError, match="no estimate for node 't': c0 is gone"):
        estimate(dag, claims(dag), source=Gone(dag))
