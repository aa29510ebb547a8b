"""The judge that asks models: what it is made of, what it costs, and what its settings say."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from fakes.asking import ScriptedAsking
from fakes.dag import Dag, DagSource
from fakes.judging import NOTHING, PROMPTS, SPLITTER, a_claim, by_step, says, selects
from fakes.model_prompts import parse_excerpts
from fakes.scripted_judge import FS, INC, NFS

from veritrail_graph.graph.model import Status, Usage
from veritrail_graph.verifier.driver import Task, verify_claim
from veritrail_graph.verifier.judge import LanguageModelJudge, StepModel, StepModels
from veritrail_graph.verifier.limits import Limits, Samples
from veritrail_graph.verifier.models.port import OverBudget, Step, TransportFault
from veritrail_graph.verifier.verdict import ScoredVerdict

CHAIN = Dag.of({"t": ["s"], "s": ["r"]}, texts={"s": ["In s."], "r": ["In r."]})
PARTS = ("It sailed.", "It was the ferry.")


def answer(request):
    if request.call.step != Step.SUB_CLAIM_DECOMPOSITION:
        return by_step(lambda _: selects(0), lambda _: says(FS))(request)
    claim = request.user.removeprefix("Claim: ")
    return json.dumps({"claims": [claim] if claim in PARTS else PARTS})


def models(asking=None, **steps) -> StepModels:
    one = StepModel(asking or ScriptedAsking(answer))
    return StepModels(**{"claims": one, "selection": one, "verdict": one, **steps})


def judge_of(of: StepModels, prompts=PROMPTS, **options) -> LanguageModelJudge:
    return LanguageModelJudge.of("openai", of, prompts, SPLITTER.split, **options)


def verified(judge, claim=None, q=3):
    task = Task(claim or a_claim(), CHAIN.refs["t"])
    return asyncio.run(verify_claim(task, "p", judge, DagSource(CHAIN), q=q))


def test_a_claim_is_verified_down_to_the_root_with_all_three_steps():
    found = verified(judge_of(models()))
    assert (found.status, found.verdict) == (Status.SUCCEEDED, FS)
    assert (found.engine, found.model, found.indicative) == ("openai", "scripted", False)
    assert found.sub_claims == PARTS
    assert [it.node_ids_with_evidence for it in found.iterations] == [("s",), ("r",)]


@pytest.mark.parametrize(
    ("given", "rounds"),
    [(FS, 2), (INC, 2), (NFS, 2)],
)
def test_each_verdict_of_the_model_becomes_the_verdict_on_the_claim(given, rounds):
    """Evidence in the summary and in the root; the verdict on the root is final."""
    asking = ScriptedAsking(by_step(lambda _: selects(0), lambda _: says(given, "As it says.")))
    found = verified(judge_of(models(asking), sub_claims=False))
    assert (found.status, found.verdict) == (Status.SUCCEEDED, given)
    assert found.reasoning == "As it says."
    assert [one.verdict for one in found.iterations] == [given] * rounds
    shown = [parse_excerpts(one.user, one.call.step) for one in asking.requests]
    assert [list(one.sentences.values()) for one in shown] == [
        ["In s."], ["A summary."], ["In r."], ["In r."],
    ]  # fmt: skip


def test_sub_claims_are_shown_to_evidence_selection_and_get_no_verdict_of_their_own():
    asking = ScriptedAsking(answer)
    verified(judge_of(models(asking)))
    shown = [
        (one.call.step, parse_excerpts(one.user, one.call.step))
        for one in asking.requests
        if one.call.step != Step.SUB_CLAIM_DECOMPOSITION
    ]
    assert {one.claim for _, one in shown} == {"The ferry sailed."}
    assert {(step, tuple(one.sub_claims)) for step, one in shown} == {
        (Step.EVIDENCE_SELECTION, PARTS),
        (Step.VERDICT, ()),
    }


def test_the_steps_of_a_trail_say_round_prompt_hash_model_and_calls():
    found = verified(judge_of(models()))
    assert [(one.iteration, one.step, one.usage.calls) for one in found.steps] == [
        (0, "sub_claim_decomposition", 3),
        (1, "evidence_selection", 1),
        (1, "verdict", 1),
        (2, "evidence_selection", 1),
        (2, "verdict", 1),
    ]
    for one in found.steps:
        prompt = PROMPTS[Step(one.step)]
        assert (one.prompt, one.prompt_hash) == (prompt.name, prompt.hash)
        assert (one.model, one.temperature) == ("scripted", 0.0)
    assert sum(one.usage.input_tokens for one in found.steps) == found.usage.input_tokens > 0


def test_sub_claims_that_a_claim_brings_are_kept_without_a_call():
    found = verified(judge_of(models()), a_claim("The ferry sailed.", "One.", "Two."))
    assert found.sub_claims == ("One.", "Two.")
    assert {one.step for one in found.steps} == {"evidence_selection", "verdict"}


def test_each_step_asks_its_own_model_in_its_own_way():
    asking = {name: ScriptedAsking(answer, model=name) for name in ("c", "s", "v")}
    judge = judge_of(
        models(
            claims=StepModel(asking["c"], temperature=0.3),
            selection=StepModel(asking["s"], structured=True),
            verdict=StepModel(asking["v"], temperature=None),
        )
    )
    found = verified(judge)
    asked = {(one.step, one.model, one.temperature) for one in found.steps}
    assert asked == {
        ("sub_claim_decomposition", "c", 0.3),
        ("evidence_selection", "s", 0.0),
        ("verdict", "v", None),
    }
    assert found.model == "s + v"
    for name, is_structured in [("c", False), ("s", True), ("v", False)]:
        assert all((r.schema is not None) is is_structured for r in asking[name].requests)


def test_the_schema_of_a_structured_answer_asks_for_reasoning_first():
    asking = ScriptedAsking(answer)
    of = StepModel(asking, structured=True)
    verified(judge_of(StepModels(of, of, of)))
    for request in asking.requests:
        assert request.schema is not None
        assert request.schema["required"][0] == "reasoning"
        assert request.schema["required"] == list(request.schema["properties"])
        assert request.schema["additionalProperties"] is False
        read = json.loads(answer(request).removeprefix("Reasons.\n"))
        assert set(read) == set(request.schema["required"]) - {"reasoning"}


def test_samples_are_drawn_for_selection_and_verdict_but_not_for_sub_claims():
    asking = ScriptedAsking(answer)
    found = verified(judge_of(models(asking), samples=Samples(3, 2, 0.4)))
    assert [(one.usage.calls, one.temperature) for one in found.steps] == [
        (3, 0.0), (3, 0.4), (3, 0.4), (3, 0.4), (3, 0.4),
    ]  # fmt: skip


def other_prompt(step: Step):
    return {**PROMPTS, step: replace(PROMPTS[step], text="Other words.", hash="1" * 64)}


BASE = judge_of(models()).settings
ONE = StepModel(ScriptedAsking(answer))
CHANGES = {
    "claims model": judge_of(models(claims=StepModel(ScriptedAsking(answer, model="m")))),
    "selection model": judge_of(models(selection=StepModel(ScriptedAsking(answer, model="m")))),
    "verdict model": judge_of(models(verdict=StepModel(ScriptedAsking(answer, model="m")))),
    "endpoint": judge_of(models(verdict=StepModel(ScriptedAsking(answer, address="there")))),
    "temperature": judge_of(models(verdict=replace(ONE, temperature=0.7))),
    "no temperature": judge_of(models(selection=replace(ONE, temperature=None))),
    "structured": judge_of(models(selection=replace(ONE, structured=True))),
    "selection prompt": judge_of(models(), other_prompt(Step.EVIDENCE_SELECTION)),
    "verdict prompt": judge_of(models(), other_prompt(Step.VERDICT)),
    "sub-claim prompt": judge_of(models(), other_prompt(Step.SUB_CLAIM_DECOMPOSITION)),
    "root limit": judge_of(models(), limits=Limits(root_sentences=20)),
    "no limit": judge_of(models(), limits=Limits(other_sentences=None)),
    "verdict limit": judge_of(models(), limits=Limits(verdict_sentences=100)),
    "reruns": judge_of(models(), limits=Limits(max_reruns=0)),
    "samples": judge_of(models(), samples=Samples(3, 1)),
    "threshold": judge_of(models(), samples=Samples(3, 2)),
    "temperature of samples": judge_of(models(), samples=Samples(3, 2, 0.9)),
    "scorer": judge_of(models(), verdicts=ScoredVerdict(lambda *_: {}, "a")),
    "scorer's name": judge_of(models(), verdicts=ScoredVerdict(lambda *_: {}, "b")),
    "scorer's threshold": judge_of(models(), verdicts=ScoredVerdict(lambda *_: {}, "b", 0.6)),
}


def test_settings_differ_when_anything_that_decides_an_answer_does():
    texts = {name: json.dumps(judge.settings, sort_keys=True) for name, judge in CHANGES.items()}
    texts["base"] = json.dumps(BASE, sort_keys=True)
    assert len(set(texts.values())) == len(texts)


@pytest.mark.parametrize(
    "limit",
    ["root_sentences", "other_sentences", "verdict_sentences", "verdict_root_sentences"],
)
def test_a_limit_below_one_sentence_is_refused(limit):
    with pytest.raises(ValueError, match="at least 1"):
        Limits(**{limit: 0})


@pytest.mark.parametrize(
    ("step", "iteration"),
    [("sub_claim_decomposition", 0), ("evidence_selection", 1), ("verdict", 1)],
)
@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (TransportFault("no answer within 120 s"), Status.FAILED),
        (OverBudget("the budget is used up"), Status.OVER_BUDGET),
    ],
)
def test_a_fault_of_any_step_is_a_status_and_never_a_verdict(step, iteration, fault, status):
    def failing(request):
        if request.call.step == step:
            raise fault
        return answer(request)

    found = verified(judge_of(models(ScriptedAsking(failing))))
    assert (found.status, found.verdict, found.error) == (status, None, str(fault))
    assert max((one.iteration for one in found.steps), default=0) <= iteration


def test_answers_that_stay_invalid_are_a_failure_that_is_paid_for():
    def silent(request):
        return "I would rather not." if request.call.step == "verdict" else answer(request)

    found = verified(judge_of(models(ScriptedAsking(silent, retries=5))))
    assert (found.status, found.verdict) == (Status.FAILED, None)
    assert "no JSON object" in (found.error or "")
    assert next(one for one in found.steps if one.step == "verdict").usage.calls == 6


def test_an_invalid_answer_that_is_followed_by_a_valid_one_changes_nothing():
    tried = set()

    def stumbling(request):
        if request not in tried:
            tried.add(request)
            return '{"sentence_ids": [0], "context_ids": [], "summary": "cut'
        return answer(request)

    plain, faulty = (
        verified(judge_of(models(ScriptedAsking(given)))) for given in (answer, stumbling)
    )
    free = [one.replace(usage=Usage()) for one in faulty.iterations]
    assert [one.replace(usage=Usage()) for one in plain.iterations] == free
    assert faulty.usage.calls == 2 * plain.usage.calls


def test_nothing_found_asks_for_no_verdict():
    def nothing(request):
        return NOTHING if request.call.step == "evidence_selection" else answer(request)

    asking = ScriptedAsking(nothing)
    found = verified(judge_of(models(asking)), q=1)
    assert (found.verdict, len(found.iterations)) == (NFS, 1)
    assert not any(request.call.step == "verdict" for request in asking.requests)


def test_dropped_ids_reruns_and_what_is_left_out_stand_in_the_trail():
    long = " ".join(f"Sentence {n} goes on about it." for n in range(9))
    asked = by_step(lambda _: selects(0, 5, summary=long), lambda _: says(NFS))
    claim = a_claim("The ferry sailed.", "One.", "Two.")
    limits = Limits(verdict_sentences=4, max_reruns=1)
    found = verified(judge_of(models(ScriptedAsking(asked)), limits=limits), claim)
    first = found.iterations[0]
    assert (first.dropped_ids, first.reruns, first.left_out) == (1, 1, 5)
    assert found.iterations[1].left_out == 0
