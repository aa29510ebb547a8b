"""Soft prediction: one answer from several samples, by the threshold of appendix E.3."""

from __future__ import annotations

import asyncio
import json

import pytest
from fakes.asking import ScriptedAsking
from fakes.dag import Dag, DagSource
from fakes.judging import NOTHING, PROMPTS, SPLITTER, a_claim, by_step, says, selects
from fakes.scripted_judge import FS, INC, NFS
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.graph.model import Status, Termination
from veritrail_graph.verifier.answers import (
    Agreement,
    SelectionAnswer,
    VerdictAnswer,
    merge_selections,
    merge_verdicts,
)
from veritrail_graph.verifier.driver import Observer, Task, verify_claim
from veritrail_graph.verifier.judge import LanguageModelJudge, StepModel, StepModels
from veritrail_graph.verifier.limits import Samples
from veritrail_graph.verifier.walk import NO_AGREEMENT


def sample(evidence=(), context=(), summary="S.", missing=None, dropped=0):
    if not evidence:
        return SelectionAnswer(dropped=dropped)
    return SelectionAnswer(tuple(evidence), tuple(context), summary, missing, dropped)


def verdicts(*given):
    return [VerdictAnswer(verdict, f"{verdict} {place}") for place, verdict in enumerate(given)]


def test_a_single_answer_stays_as_it_is():
    answer = sample([1, 2], [3], "One.", "Two.", 4)
    assert merge_selections([answer], 1) == Agreement((answer,), 4)
    assert merge_selections([sample(dropped=2)], 1) == Agreement((), 2)


@pytest.mark.parametrize(("threshold", "evidence"), [(1, (1, 2, 3)), (2, (1, 2)), (3, (1,))])
def test_a_sentence_is_evidence_when_enough_samples_selected_it(threshold, evidence):
    answers = [sample([1, 2]), sample([1, 2]), sample([1, 3])]
    assert merge_selections(answers, threshold).evidence == evidence


def test_both_roles_count_as_selected_and_evidence_is_what_any_of_them_called_so():
    answers = [sample([1, 5], [2]), sample([1], [2, 5]), sample([1], [2, 5])]
    merged = merge_selections(answers, 3)
    assert (merged.evidence, merged.context) == ((1, 5), (2,))


@pytest.mark.parametrize(
    ("drawn", "threshold", "summaries"),
    [
        ([[1, 9], [1, 2, 3], [2, 3, 1, 7]], 2, ["b"]),  # one covers all, with fewest others
        ([[1], [2], []], 1, ["a", "b"]),
        ([[1, 2], [1, 3], [2, 3]], 2, ["a", "b"]),
        ([[4], [1, 2], [1, 2, 3], [4]], 1, ["c", "a"]),  # the largest cover first
    ],
)
def test_the_summaries_are_those_of_few_samples_that_cover_all_agreed_sentences(
    drawn, threshold, summaries
):
    answers = [sample(ids, summary=name) for ids, name in zip(drawn, "abcd", strict=False)]
    merged = merge_selections(answers, threshold)
    assert [part.summary for part in merged.parts] == summaries
    for part in merged.parts:  # each with the agreed sentences that it selected
        (drawn_as,) = [answer for answer in answers if answer.summary == part.summary]
        assert set(part.evidence) == set(drawn_as.evidence) & set(merged.evidence)


ids = st.sets(st.integers(0, 6))


@given(st.lists(st.tuples(ids, ids), min_size=2, max_size=5), st.data())
def test_a_higher_threshold_never_selects_more_and_a_result_always_has_a_summary(drawn, data):
    answers = [
        sample(sorted(evidence), sorted(context - evidence), f"S{place}")
        for place, (evidence, context) in enumerate(drawn)
    ]
    threshold = data.draw(st.integers(1, len(answers)))
    merged = merge_selections(answers, threshold)
    chosen = {*merged.evidence, *merged.context}
    for number in range(7):
        votes = sum(number in {*answer.evidence, *answer.context} for answer in answers)
        assert number not in chosen or votes >= threshold
        assert votes < threshold or number in chosen or not merged.evidence
    assert bool(merged.evidence) is bool(merged.parts)
    assert all(part.summary for part in merged.parts)
    assert merged.is_missed is (not merged.parts and any(evidence for evidence, _ in drawn))
    if threshold > 1:
        fewer = merge_selections(answers, threshold - 1)
        assert chosen <= {*fewer.evidence, *fewer.context}


@pytest.mark.parametrize(
    ("given_verdicts", "threshold", "verdict", "score"),
    [
        ([FS, FS, FS], 3, FS, 1),
        ([FS, FS, NFS], 1, FS, 2 / 3),
        ([FS, FS, NFS], 2, FS, 2 / 3),
        ([FS, FS, NFS], 3, INC, 2 / 3),
        ([NFS, NFS, INC], 2, NFS, 0),
        ([INC, INC, FS], 2, INC, 1 / 3),
        ([FS, NFS, INC], 1, INC, 1 / 3),
        ([FS, NFS, INC], 2, INC, 1 / 3),
        ([FS, FS, NFS, NFS], 2, INC, 1 / 2),
        ([FS, FS, NFS, NFS, NFS], 2, NFS, 2 / 5),
        ([INC, INC, NFS, NFS, FS], 2, INC, 1 / 5),
    ],
)
def test_the_most_frequent_verdict_that_passes_wins_and_else_it_is_inconclusive(
    given_verdicts, threshold, verdict, score
):
    merged, share = merge_verdicts(verdicts(*given_verdicts), threshold)
    assert merged.verdict is verdict
    assert share == pytest.approx(score)


def test_the_reason_is_that_of_the_first_sample_with_the_verdict_and_tells_the_votes():
    merged, _ = merge_verdicts(verdicts(NFS, FS, FS), 2)
    assert merged.reason.startswith("FULLY_SUPPORTED 1")
    assert "2 x FULLY_SUPPORTED, 1 x NOT_FULLY_SUPPORTED" in merged.reason


@pytest.mark.parametrize(("count", "threshold"), [(3, 0), (3, 4), (1, 2), (0, 0)])
def test_a_threshold_that_no_or_every_answer_meets_is_refused(count, threshold):
    with pytest.raises(ValueError, match="threshold"):
        Samples(count, threshold)


CHAIN = Dag.of({"t": ["s"], "s": ["r"]}, texts={"s": ["In s."], "r": ["In r."]})


def verified(asking, samples, dag=CHAIN, *, status=Status.SUCCEEDED, told=()):
    models = StepModels(*[StepModel(asking)] * 3)
    judge = LanguageModelJudge.of("openai", models, PROMPTS, SPLITTER.split, samples=samples)
    task = Task(a_claim(), dag.refs["t"])
    observer = Observer(iteration_finished=lambda _task, *one: told.append(one)) if told else None
    found = asyncio.run(verify_claim(task, "p", judge, DagSource(dag), observer=observer))
    assert found.status is status, found.error
    return found


def alone(request):
    claim = request.user.removeprefix("Claim: ")
    return json.dumps({"claims": [claim]})


def answers(selection, verdict):
    """Selection and verdict as given; every claim is its own only sub-claim."""
    asked = by_step(selection, verdict)
    return lambda request: (
        alone(request) if "decomposition" in request.call.step else asked(request)
    )


def test_the_score_is_the_share_of_fully_supported_in_the_last_iteration():
    def verdict(request):
        is_last = "In r." in request.user
        return says(FS if request.sample < (2 if is_last else 3) else NFS)

    asking = ScriptedAsking(answers(lambda _: selects(0), verdict))
    found = verified(asking, Samples(3, 2))
    assert (found.verdict, found.score) == (FS, pytest.approx(2 / 3))
    assert [step.usage.calls for step in found.steps] == [1, 3, 3, 3, 3]


def only_in_s(request):
    return selects(0) if "In s." in request.user and request.sample < 2 else NOTHING


def test_the_score_is_0_where_no_root_bore_evidence_and_each_iteration_has_its_own():
    found = verified(ScriptedAsking(answers(only_in_s, lambda _: says(FS))), Samples(3, 2))
    assert [(it.verdict, it.score) for it in found.iterations] == [(FS, 1), (NFS, None)]
    assert (found.verdict, found.score, found.termination) == (NFS, 0, Termination.NO_CANDIDATES)
    nothing = ScriptedAsking(answers(lambda _: NOTHING, lambda _: says(FS)))
    assert verified(nothing, Samples(3, 2)).score == 0
    hard = verified(ScriptedAsking(answers(only_in_s, lambda _: says(FS))), Samples())
    assert (hard.verdict, hard.score) == (NFS, None)


def test_a_claim_is_undecided_when_no_evidence_was_selected_by_as_many_samples_as_must_agree():
    asking = ScriptedAsking(answers(only_in_s, lambda _: says(FS)))
    told = [()]
    found = verified(asking, Samples(3, 3), status=Status.UNDECIDED, told=told)
    assert (found.verdict, found.score, found.reasoning) == (None, None, NO_AGREEMENT)
    assert (found.termination, found.error) == (Termination.NO_AGREEMENT, NO_AGREEMENT)
    (only,) = found.iterations
    assert (only.verdict, [ref.node_id for ref in only.checked]) == (None, ["s"])
    assert [verdict for verdict, _ in told[1:]] == [None]
    assert not any(request.call.step == "verdict" for request in asking.requests)


def test_a_claim_is_undecided_where_no_sample_selects_anything_if_so_asked():
    def selection(request):
        return selects(0) if "In s." in request.user else NOTHING

    asked = answers(selection, lambda _: says(FS))
    found = verified(ScriptedAsking(asked), Samples(3, 2, must_find=True), status=Status.UNDECIDED)
    assert (found.verdict, found.score, found.termination) == (None, None, Termination.NO_AGREEMENT)
    assert [(it.verdict, it.score) for it in found.iterations] == [(FS, 1), (None, None)]
    # The text of a root that was found before is still there to be judged.
    dag = Dag.of({"t": ["r", "s"], "s": ["q"]}, texts={"r": ["In r."], "s": ["In s."]})
    in_root = answers(
        lambda request: selects(0) if "In r." in request.user else NOTHING, lambda _: says(NFS)
    )
    assert verified(ScriptedAsking(in_root), Samples(3, 2, must_find=True), dag).verdict is NFS


def test_a_carried_root_is_judged_although_samples_agree_on_nothing_else():
    dag = Dag.of({"t": ["r", "s"], "s": ["q"]}, texts={"r": ["In r."], "s": ["In s."]})

    def selection(request):
        return selects(0) if "In r." in request.user or request.sample == 0 else NOTHING

    asking = ScriptedAsking(answers(selection, lambda _: says(NFS)))
    found = verified(asking, Samples(3, 3), dag)
    assert [it.verdict for it in found.iterations] == [NFS, NFS]
    assert found.iterations[1].carried_roots


def test_hard_prediction_has_no_score():
    asking = ScriptedAsking(answers(lambda _: selects(0), lambda _: says(FS)))
    found = verified(asking, Samples())
    assert (found.verdict, found.score) == (FS, None)
