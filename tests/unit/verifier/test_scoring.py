"""Verdicts from a scorer in the prompt's place: any callable, whose faults are failures."""

from __future__ import annotations

import asyncio
import math
import threading
from fractions import Fraction

import pytest
from fakes.asking import ScriptedAsking
from fakes.dag import Dag, DagSource
from fakes.judging import PROMPTS, SPLITTER, a_claim, a_node, found_in, numbered, selects
from fakes.scripted_judge import FS, INC, NFS

from veritrail_graph.graph.model import Status
from veritrail_graph.verifier.driver import Task, verify_claim
from veritrail_graph.verifier.judge import LanguageModelJudge, StepModel, StepModels
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import Found, JudgeError
from veritrail_graph.verifier.verdict import ScoredVerdict

ROOT = a_node("r", numbered("r", 3), root=True)
OTHER = a_node("s", numbered("s", 2))
FOUND = Found((found_in(ROOT), found_in(OTHER, summary="Of s.")), (ROOT,))


def judged(score, found=FOUND, threshold=0.5):
    verdicts = ScoredVerdict(score, "checker", threshold)
    return asyncio.run(verdicts.judge(a_claim(), found, Meter()))


def by_text(table, otherwise=0.0):
    """Scores by a part of the evidence."""

    def score(_claim, evidence):
        return next(
            (given for part, given in table.items() if part in evidence), {"entailment": otherwise}
        )

    return score


@pytest.mark.parametrize(
    ("entailment", "contradiction", "verdict"),
    [(0.9, 0.1, FS), (0.5, 0.0, FS), (0.4, 0.9, NFS), (0.1, 0.1, NFS), (0.8, 0.7, INC)],
)
def test_the_strongest_piece_decides(entailment, contradiction, verdict):
    scores = {"r": {"entailment": entailment, "contradiction": contradiction}}
    judgement = judged(by_text({"of r": scores["r"]}))
    assert judgement.verdict is verdict
    assert judgement.score == entailment


def test_one_piece_that_entails_and_another_that_contradicts_are_inconclusive():
    table = {
        "of r": {"entailment": 0.9, "contradiction": 0.0},
        "Of s.": {"entailment": 0.0, "contradiction": 0.9},
    }
    judgement = judged(by_text(table))
    assert (judgement.verdict, judgement.score) == (INC, 0.9)


def test_a_scorer_is_given_the_claim_and_each_piece_roots_whole_and_first():
    asked = []

    def score(claim, evidence):
        asked.append((claim, evidence))
        return {"entailment": 0.2}

    judged(score)
    assert asked == [("The ferry sailed.", ROOT.text), ("The ferry sailed.", "Of s.")]


def test_a_synchronous_scorer_does_not_stop_the_event_loop():
    there = threading.current_thread()
    seen = []

    def score(_claim, _evidence):
        seen.append(threading.current_thread() is there)
        return {"entailment": 1}

    assert judged(score).verdict is FS
    assert seen == [False, False]


def test_an_asynchronous_scorer_is_awaited_on_the_event_loop():
    async def score(_claim, _evidence):
        await asyncio.sleep(0)
        return {"entailment": 1.0}

    class Scorer:
        async def __call__(self, claim, evidence):
            return await score(claim, evidence)

    assert judged(score).verdict is FS
    assert judged(Scorer()).verdict is FS
    assert judged(lambda claim, evidence: score(claim, evidence)).verdict is FS


def test_any_kind_of_real_number_is_a_probability():
    assert judged(lambda *_: {"entailment": Fraction(3, 4)}).score == 0.75


@pytest.mark.parametrize(
    "given",
    [
        None,
        0.9,
        [0.9],
        {},
        {"contradiction": 0.2},
        {"entailment": "0.9"},
        {"entailment": True},
        {"entailment": None},
        {"entailment": 1.01},
        {"entailment": -0.1},
        {"entailment": math.nan},
        {"entailment": math.inf},
        {"entailment": 0.5, "contradiction": 2},
        {"entailment": 0.5, "contradiction": None},
    ],
)
def test_what_is_no_probability_is_a_failure(given):
    with pytest.raises(JudgeError, match="checker gave no probability"):
        judged(lambda *_: given)


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), StopIteration(), TimeoutError()])
@pytest.mark.parametrize("is_async", [False, True])
def test_every_exception_of_a_scorer_is_a_failure(error, is_async):
    def score(_claim, _evidence):
        raise error

    async def score_later(_claim, _evidence):
        raise error

    with pytest.raises(JudgeError, match="checker failed"):
        asyncio.run(
            asyncio.wait_for(
                ScoredVerdict(score_later if is_async else score, "checker").judge(
                    a_claim(), FOUND, Meter()
                ),
                timeout=10,
            )
        )


def verified(score):
    dag = Dag.of({"t": ["r"]}, texts={"r": ["The ferry sailed at noon."]})
    asking = ScriptedAsking(lambda _: selects(0))
    models = StepModels(*[StepModel(asking)] * 3)
    verdicts = ScoredVerdict(score, "checker", 0.6)
    judge = LanguageModelJudge.of("openai", models, PROMPTS, SPLITTER.split, verdicts=verdicts)
    task = Task(a_claim("The ferry sailed.", "The ferry.", "Sailed."), dag.refs["t"])
    return judge, asyncio.run(verify_claim(task, "p", judge, DagSource(dag))), asking


def test_a_scorer_takes_the_place_of_the_verdict_prompt_in_a_whole_verification():
    judge, found, asking = verified(lambda claim, evidence: {"entailment": 0.8})
    assert (found.status, found.verdict, found.score) == (Status.SUCCEEDED, FS, 0.8)
    assert "checker" in found.reasoning
    assert {request.call.step for request in asking.requests} == {"evidence_selection"}
    assert judge.settings["steps"]["verdict"] == {"scorer": "checker", "threshold": 0.6}
    assert judge.model == "scripted + checker"


def test_a_scorer_that_fails_is_a_failed_verification_and_never_a_verdict():
    def score(_claim, _evidence):
        raise RuntimeError("out of memory")

    _, found, _ = verified(score)
    assert (found.status, found.verdict) == (Status.FAILED, None)
    assert found.error == "checker failed: RuntimeError: out of memory"
