"""What the same claims cost in each way to ask."""

from __future__ import annotations

import pytest

from veritrail_graph.graph.model import Iteration, NodeRef, Role, StepRecord, Usage, Verification
from veritrail_graph.verifier.call_modes import ModeCosts, PromptTokens, call_modes, costs_by_mode
from veritrail_graph.verifier.models.prices import Price

PRICE = Price(1.0, 0.1, 4.0).with_batch(None)
STRONG = Price(10.0, 1.0, 40.0).with_batch(None)


def costs(prompt: PromptTokens, **more: float | Price | None) -> dict[str, Usage]:
    counted = ModeCosts(call_modes(caches=True, share=8, escalates=True))
    counted.add(prompt, PRICE, **more)  # type: ignore[arg-type]
    return counted.usages()


def test_evidence_prompts_of_sixteen_claims_are_two_where_they_are_shared() -> None:
    found = costs(PromptTokens(16, 2_000, 2_400, 1_000, 20, 10, 200, True, True))
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
    found = costs(PromptTokens(16, 2_000, 2_400, 0, 300, 10, 200, False, False, judges=True))
    shared = found["shared"]
    assert (shared.calls, shared.output_tokens) == (2, 16 * 200)
    assert shared.input_tokens == 2 * (2_400 + 8 * 300 + 10)
    much = costs(PromptTokens(16, 2_000, 2_400, 0, 3_000, 10, 200, False, False, judges=True))
    assert much["shared"].calls == 8, "a prompt shows 8,000 tokens of evidence at most"
    too_much = costs(PromptTokens(16, 2_000, 2_400, 0, 5_000, 10, 200, False, False, judges=True))
    assert too_much["shared"] == too_much["live"]


def test_claims_that_read_other_texts_share_nothing() -> None:
    found = costs(PromptTokens(16, 2_000, 2_400, 1_000, 20, 10, 200, False, True))
    assert found["shared"] == found["live"]


def test_a_cascade_asks_the_strong_judge_for_a_part_of_the_verdicts() -> None:
    prompt = PromptTokens(12, 1_000, 0, 0, 500, 0, 100, False, False)
    found = costs(prompt, second=STRONG, escalated=0.25)
    assert found["cascade"].calls == 12 + 3
    assert found["live"].calls == 12, "without a cascade the strong one gives all"
    one = (1_500 + 400) / 1e6
    assert found["live"].cost_usd == pytest.approx(12 * 10 * one)
    assert found["cascade"].cost_usd == pytest.approx(12 * one + 3 * 10 * one)


def test_an_unknown_price_is_no_cost() -> None:
    counted = ModeCosts(call_modes(caches=False))
    counted.add(PromptTokens(2, 10, 10, 10, 10, 0, 10, True, True), None)
    assert {one.cost_usd for one in counted.usages().values()} == {None}


def test_a_part_of_a_call_without_a_price_makes_the_cost_unknown() -> None:
    prompt = PromptTokens(1, 1_000, 0, 0, 500, 0, 100, False, False)
    found = costs(prompt, second=None, escalated=1 / 3)["cascade"]
    assert (found.cost_usd, found.unpriced_calls) == (None, 1)


def test_calls_that_were_made_are_priced_in_other_ways() -> None:
    root = NodeRef("r", 1, 0, Role.ROOT)
    usage = Usage(calls=1, input_tokens=3_000, cached_input_tokens=2_000, output_tokens=100)
    steps = tuple(
        StepRecord(iteration=1, step=step, prompt="p", prompt_hash="h", model="m", usage=usage)
        for step in ("evidence_selection", "verdict")
    )
    made = [
        Verification(
            verification_id=f"v{n}", process_id="p", claim_id=f"k{n}", claim="c", node_id="t",
            q=1, engine="openai", model="m", indicative=False, status="failed",
            created_at="2025-01-01T00:00:00Z", steps=steps,
            iterations=(Iteration(number=1, reasoning="", checked=(root,)),),
        )
        for n in range(16)
    ]  # fmt: skip
    # An evidence prompt has 2,500 tokens of excerpts, a verdict prompt 400 of evidence.
    instructions = {
        "evidence_selection": 500, "evidence_selection_shared": 600,
        "verdict": 2_600, "verdict_shared": 2_800,
    }  # fmt: skip
    found = {name: usage for name, _, usage in costs_by_mode(made, {"m": PRICE}, instructions)}
    answers = 32 * 100 * 4
    assert found["live"].cost_usd == pytest.approx((32 * 3_000 + answers) / 1e6)
    assert found["cached_prefixes"].cost_usd == pytest.approx((32 * 1_200 + answers) / 1e6)
    assert found["batch"].cost_usd == pytest.approx((32 * 3_000 + answers) / 2e6)
    fresh = 2 * (600 + 2_500) + 2 * (2_800 + 8 * 400)
    assert found["shared_batch"].cost_usd == pytest.approx((fresh + answers) / 2e6, rel=1e-3)
    assert found["shared"].calls == found["shared_batch"].calls == 4
    assert found["shared"].output_tokens == 3_200
    alone = {name: usage for name, _, usage in costs_by_mode(made[:1], {"m": PRICE}, instructions)}
    assert alone["shared"] == alone["cached_prefixes"], "nobody is there to share with"
    del instructions["verdict_shared"]
    found = {name: usage for name, _, usage in costs_by_mode(made, {"m": PRICE}, instructions)}
    assert found["shared"].calls == 2 + 16, "a verdict prompt of one's own is not shared"


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
    found = {name: usage for name, _, usage in costs_by_mode(made_both, priced, {})}
    one = (1_000 + 400) / 1e6
    assert found["live"].calls == 2
    assert found["live"].cost_usd == pytest.approx(2 * 10 * one)
    assert found["cascade"].calls == 3
    assert found["cascade"].cost_usd == pytest.approx(2 * one + 10 * one)
    alone = {name for name, _, _ in costs_by_mode(made_both[:1], priced, {})}
    assert "cascade" not in alone, "whom it would be escalated to is not known"


def test_calls_that_claims_shared_are_priced_as_if_each_had_been_asked_alone() -> None:
    root = NodeRef("r", 1, 0, Role.ROOT)

    def made(number: int) -> Verification:
        def part(step: str, input_tokens: int, output_tokens: int) -> StepRecord:
            usage = Usage(
                calls=int(number % 4 == 0), batch_calls=int(number % 4 == 0),
                input_tokens=input_tokens, output_tokens=output_tokens,
            )  # fmt: skip
            return StepRecord(
                iteration=1, step=step, prompt="p", prompt_hash="h", model="m", usage=usage
            )

        return Verification(
            verification_id=f"v{number}", process_id="p", claim_id=f"k{number}", claim="c",
            node_id="t", q=1, engine="openai+shared", model="m", indicative=False, status="failed",
            created_at="2025-01-01T00:00:00Z", share=4,
            # 600 tokens of instructions and 2,000 of excerpts; 600 and 4 x 150 of evidence.
            steps=(part("evidence_selection_shared", 650, 50), part("verdict_shared", 300, 100)),
            iterations=(Iteration(number=1, reasoning="", checked=(root,)),),
        )  # fmt: skip

    instructions = {
        "evidence_selection": 500, "evidence_selection_shared": 600,
        "verdict": 400, "verdict_shared": 600,
    }  # fmt: skip
    found = costs_by_mode([made(number) for number in range(8)], {"m": PRICE}, instructions)
    shares = {name: share for name, share, _ in found}
    usages = {name: usage for name, _, usage in found}
    assert shares == {"live": 1, "cached_prefixes": 1, "batch": 1, "shared": 4, "shared_batch": 4}
    alone = 8 * (500 + 2_000 + 400 + 150 + 4 * 150) / 1e6
    together = 2 * (600 + 2_000 + 600 + 4 * 150 + 4 * 4 * 150) / 1e6
    assert usages["live"].calls == usages["batch"].calls == 16
    assert usages["live"].cost_usd == pytest.approx(alone)
    assert usages["batch"].cost_usd == pytest.approx(alone / 2)
    assert usages["shared"].calls == usages["shared_batch"].calls == 4
    assert usages["shared"].cost_usd == pytest.approx(together)
    assert usages["shared_batch"].cost_usd == pytest.approx(together / 2)
