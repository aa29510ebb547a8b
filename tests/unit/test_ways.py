"""What the same claims cost in each way to ask."""

from __future__ import annotations

import pytest

from veritrail_graph.graph.model import Iteration, NodeRef, Role, StepRecord, Usage, Verification
from veritrail_graph.verifier.models.prices import Price
from veritrail_graph.verifier.ways import Prompt, WayCosts, ways, ways_of_calls

PRICE = Price(1.0, 0.1, 4.0).with_batch(None)
STRONG = Price(10.0, 1.0, 40.0).with_batch(None)


def costs(prompt: Prompt, **more: float | Price | None) -> dict[str, Usage]:
    counted = WayCosts(ways(caches=True, share=8, escalates=True))
    counted.add(prompt, PRICE, **more)  # type: ignore[arg-type]
    return counted.usages()


def test_evidence_prompts_of_sixteen_claims_are_two_where_they_are_shared() -> None:
    found = costs(Prompt(16, 2_000, 2_400, 1_000, 20, 10, 200, True, True))
    live = found["live"]
    assert (live.calls, live.input_tokens, live.output_tokens) == (16, 16 * 3_030, 16 * 200)
    assert live.cost_usd == pytest.approx((16 * 3_030 + 4 * 3_200) / 1e6)
    assert found["cached_prefixes"].cached_input_tokens == 15 * 3_000
    assert found["batch"].cost_usd == pytest.approx((live.cost_usd or 0) / 2)
    shared = found["shared"]
    assert (shared.calls, shared.output_tokens) == (2, 16 * 200)
    assert shared.input_tokens == 2 * (2_400 + 1_000 + 8 * 20 + 10)
    assert found["shared_batch"].batch_calls == 2


def test_verdicts_of_sixteen_claims_share_instructions_and_each_shows_its_evidence() -> None:
    found = costs(Prompt(16, 2_000, 2_400, 0, 300, 10, 200, False, False, judges=True))
    shared = found["shared"]
    assert (shared.calls, shared.output_tokens) == (2, 16 * 200)
    assert shared.input_tokens == 2 * (2_400 + 8 * 300 + 10)
    much = costs(Prompt(16, 2_000, 2_400, 0, 3_000, 10, 200, False, False, judges=True))
    assert much["shared"].calls == 8, "a prompt shows 8,000 tokens of evidence at most"
    too_much = costs(Prompt(16, 2_000, 2_400, 0, 5_000, 10, 200, False, False, judges=True))
    assert too_much["shared"] == too_much["live"]


def test_claims_that_read_other_texts_share_nothing() -> None:
    found = costs(Prompt(16, 2_000, 2_400, 1_000, 20, 10, 200, False, True))
    assert found["shared"] == found["live"]


def test_a_cascade_asks_the_strong_judge_for_a_part_of_the_verdicts() -> None:
    prompt = Prompt(12, 1_000, 0, 0, 500, 0, 100, False, False)
    found = costs(prompt, second=STRONG, escalated=0.25)
    assert found["cascade"].calls == 12 + 3
    assert found["live"].calls == 12, "without a cascade the strong one gives all"
    one = (1_500 + 400) / 1e6
    assert found["live"].cost_usd == pytest.approx(12 * 10 * one)
    assert found["cascade"].cost_usd == pytest.approx(12 * one + 3 * 10 * one)


def test_an_unknown_price_is_no_cost() -> None:
    counted = WayCosts(ways(caches=False))
    counted.add(Prompt(2, 10, 10, 10, 10, 0, 10, True, True), None)
    assert {one.cost_usd for one in counted.usages().values()} == {None}


def test_a_part_of_a_call_without_a_price_makes_the_cost_unknown() -> None:
    prompt = Prompt(1, 1_000, 0, 0, 500, 0, 100, False, False)
    found = costs(prompt, second=None, escalated=1 / 3)["cascade"]
    assert (found.cost_usd, found.unpriced_calls) == (None, 1)


def test_calls_that_were_made_are_priced_in_other_ways() -> None:
    root = NodeRef("r", 1, 0, Role.ROOT)
    usage = Usage(calls=1, input_tokens=3_000, cached_input_tokens=2_000, output_tokens=100)
    step = StepRecord(
        iteration=1, step="evidence_selection", prompt="p", prompt_hash="h", model="m", usage=usage
    )
    made = [
        Verification(
            verification_id=f"v{n}", process_id="p", claim_id=f"k{n}", claim="c", node_id="t",
            q=1, engine="openai", model="m", indicative=False, status="failed",
            created_at="2025-01-01T00:00:00Z", steps=(step,),
            iterations=(Iteration(number=1, reasoning="", checked=(root,)),),
        )
        for n in range(16)
    ]  # fmt: skip
    found = {name: usage for name, _, usage in ways_of_calls(made, {"m": PRICE})}
    assert found["live"].cost_usd == pytest.approx(16 * (3_000 + 400) / 1e6)
    assert found["cached_prefixes"].cost_usd == pytest.approx(16 * (1_000 + 200 + 400) / 1e6)
    assert found["batch"].cost_usd == pytest.approx(16 * (3_000 + 400) / 2e6)
    assert found["shared"].calls == 2
    assert found["shared"].output_tokens == 1_600


def test_what_was_escalated_is_priced_with_the_second_judge_alone_and_as_it_was() -> None:
    def step(name: str, model: str) -> StepRecord:
        return StepRecord(
            iteration=1, step=name, prompt="p", prompt_hash="h", model=model,
            usage=Usage(calls=1, input_tokens=1_000, output_tokens=100),
        )  # fmt: skip

    def made(number: int, *models: str) -> Verification:
        more = {"judged_by": models[-1]}
        if len(models) == 2:
            more |= {"first_verdict": "NOT_FULLY_SUPPORTED", "first_reasoning": "No."}
        return Verification(
            verification_id=f"v{number}", process_id="p", claim_id=f"k{number}", claim="c",
            node_id="t", q=1, engine="openai", model="m + s", indicative=False, status="failed",
            created_at="2025-01-01T00:00:00Z", steps=tuple(step("verdict", one) for one in models),
            iterations=(Iteration(number=1, reasoning="", checked=(), **more),),
        )  # fmt: skip

    made_both = [made(1, "m"), made(2, "m", "s")]
    priced = {"m": PRICE, "s": STRONG}
    found = {name: usage for name, _, usage in ways_of_calls(made_both, priced)}
    one = (1_000 + 400) / 1e6
    assert found["live"].calls == 2
    assert found["live"].cost_usd == pytest.approx(2 * 10 * one)
    assert found["cascade"].calls == 3
    assert found["cascade"].cost_usd == pytest.approx(2 * one + 10 * one)
    alone = {name for name, _, _ in ways_of_calls(made_both[:1], priced)}
    assert "cascade" not in alone, "whom it would be escalated to is not known"
