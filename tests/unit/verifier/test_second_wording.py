"""The second wording: one split, sentences in place of summaries, parts, and a second look."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from fakes.asking import ScriptedAsking
from fakes.dag import Dag
from fakes.judging import SPLITTER, a_claim, a_node, found_in
from fakes.model_prompts import parse_excerpts
from fakes.scripted_judge import FS, INC, NFS
from fakes.walking import DagSource

from veritrail_graph.graph.model import CitedSentence, Verification
from veritrail_graph.verifier.answers import VerdictAnswer
from veritrail_graph.verifier.claims.steps import decompose
from veritrail_graph.verifier.driver import Task, verify_claim
from veritrail_graph.verifier.judge import LanguageModelJudge, SplitJudge, StepModel, StepModels
from veritrail_graph.verifier.limits import Samples
from veritrail_graph.verifier.models.port import Meter, Request, Step
from veritrail_graph.verifier.part_answers import PART_SCHEMAS
from veritrail_graph.verifier.ports import Found, Judgement
from veritrail_graph.verifier.prompted import PromptedStep
from veritrail_graph.verifier.prompts import PAPER, load_prompts

V2 = load_prompts()
NOTHING = {"evidence": [], "context_ids": [], "summary": None, "missing": None}
PARTS = ("The bell is old.", "The bell weighs two tonnes.")


def judge_of(asking: ScriptedAsking, **how: Any) -> LanguageModelJudge:
    model = StepModel(asking)
    models = StepModels(model, model, model)
    return LanguageModelJudge.of("openai", models, V2, SPLITTER.split, **how)


def selects(*entries: tuple[int, int, str], **more: Any) -> dict[str, Any]:
    evidence = [{"id": number, "part": part, "says": says} for number, part, says in entries]
    return {**NOTHING, "evidence": evidence, "summary": "A summary.", **more}


def parts_of(*verdicts: str) -> list[dict[str, Any]]:
    return [
        {"part": number, "verdict": verdict, "reason": f"Reason {number}."}
        for number, verdict in enumerate(verdicts, start=1)
    ]


def judged(*verdicts: str) -> dict[str, Any]:
    return {"parts": parts_of(*verdicts), "reason": "A reason."}


def by_step(**answers: Any) -> ScriptedAsking:
    """A model whose answers to each step come in order, the last one for all beyond."""
    left = {
        step: list(some) if isinstance(some, list) else [some] for step, some in answers.items()
    }

    def answer(request: Request) -> str:
        some = left[request.call.step]
        return json.dumps(some.pop(0) if len(some) > 1 else some[0])

    return ScriptedAsking(answer)


def asked(asking: ScriptedAsking, step: str) -> list[Request]:
    return [request for request in asking.requests if request.call.step == step]


# Splitting


def split(claim: str, *parts: str) -> tuple[tuple[str, ...], int]:
    asking = ScriptedAsking(lambda _: json.dumps({"claims": parts}))
    step = PromptedStep(V2[Step.SUB_CLAIM_DECOMPOSITION], asking)
    return asyncio.run(decompose(claim, step, Meter())), len(asking.requests)


def test_a_claim_is_taken_apart_at_once_and_its_parts_are_not_asked_about():
    assert split("A and B", "A", "B") == (("A", "B"), 1)


def test_no_part_is_the_claim_and_a_single_part_is_none():
    assert split("A and B.", "A", "a and b", "B", "A") == (("A", "B"), 1)
    assert split("A and B", "A and B", "A") == (("A and B",), 1)
    assert split("A", "A alone") == (("A",), 1)
    assert split("A") == (("A",), 1)


# What a verdict prompt shows


def verdict_prompt(found: Found, *sub_claims: str) -> Any:
    asking = by_step(verdict=judged(*["supported"] * max(len(sub_claims), 1)))
    judge = judge_of(asking)
    asyncio.run(judge.judge(a_claim("The bell.", *sub_claims), found, Meter()))
    return parse_excerpts(asking.requests[0].user, "verdict")


def test_a_verdict_sees_the_named_sentences_of_steps_and_the_whole_text_of_sources_each_marked():
    root = a_node("r", ["R0.", "R1."], root=True)
    first, second = (a_node(name, [f"{name}{n}." for n in range(4)]) for name in "ab")
    together = found_in(first, 0, 3, summary="A summary of both.")
    together = together.replace(
        sentences=(*together.sentences, CitedSentence.of(second.sentences[1]))
    )
    shown = verdict_prompt(Found((together, found_in(root, 1)), (root,)), *PARTS)
    assert [(block.mark, list(block.sentences.values())) for block in shown.blocks] == [
        ("source", ["R0.", "R1."]),
        ("step", ["a0.", "a3."]),
        ("step", ["b1."]),
    ]
    assert shown.sub_claims == PARTS


def test_a_claim_of_one_part_has_no_list_of_parts():
    assert verdict_prompt(Found((found_in(a_node("a", ["A."]), 0),)), "The bell.").sub_claims == ()


def test_the_verdict_follows_from_the_parts_and_keeps_them():
    asking = by_step(verdict=judged("contested", "supported"))
    found = Found((found_in(a_node("a", ["A."]), 0),))
    judgement = asyncio.run(judge_of(asking).judge(a_claim("C.", *PARTS), found, Meter()))
    assert (judgement.verdict, judgement.reasoning) == (INC, "A reason.")
    assert [(one.part, one.verdict, one.reason) for one in judgement.parts] == [
        (1, "contested", "Reason 1."),
        (2, "supported", "Reason 2."),
    ]


def test_of_samples_the_parts_are_those_of_the_first_that_gave_the_verdict():
    asking = by_step(verdict=[judged("supported"), judged("contradicted"), judged("not_addressed")])
    found = Found((found_in(a_node("a", ["A."]), 0),))
    judge = judge_of(asking, samples=Samples(3, 2))
    judgement = asyncio.run(judge.judge(a_claim("C."), found, Meter()))
    assert (judgement.verdict, judgement.score) == (NFS, 1 / 3)
    assert [one.verdict for one in judgement.parts] == ["contradicted"]


def test_an_endpoint_that_takes_a_shape_gets_that_of_the_second_wording():
    for step, schema in PART_SCHEMAS.items():
        asking = ScriptedAsking(lambda _: "")
        assert PromptedStep(V2[step], asking, structured=True).answer_schema is schema
        first = PromptedStep(load_prompts(PAPER)[step], asking, structured=True).answer_schema
        assert first is not schema


# Whole walks: the source r was made into s, and s into the answer t.

DAG = Dag.of(
    {"t": ("s",), "s": ("r",)},
    texts={"r": ["R0.", "R1."], "s": ["S0.", "S1."], "t": ["T."]},
)


def verified(asking: ScriptedAsking, *sub_claims: str, dag: Dag = DAG, **how: Any) -> Verification:
    claim = a_claim("The bell is heavy.", *(sub_claims or ("The bell is heavy.",)))
    task = Task(claim, dag.refs["t"])
    judge = judge_of(asking, **how)
    return asyncio.run(verify_claim(task, "p", judge, DagSource(dag)))


FINE = selects((0, 1, "for"), parts=parts_of("supported"))


def test_a_selection_that_leaves_nothing_open_takes_no_second_call():
    asking = by_step(evidence_selection=FINE)
    found = verified(asking)
    assert [request.call.step for request in asking.requests] == ["evidence_selection"] * 2
    assert [one.verdict for one in found.iterations] == [FS, FS]
    assert (found.verdict, found.reasoning) == (FS, "Reason 1.")
    assert [one.verdict for one in found.parts] == ["supported"]
    cited = found.iterations[0].evidence[0]
    assert (cited.part, cited.says, cited.sides) == (1, "for", ())


@pytest.mark.parametrize(
    "selection",
    [
        selects((0, 1, "against"), parts=parts_of("contradicted")),
        selects((0, 1, "for"), parts=parts_of("contested")),
        selects((0, 1, "for")),
        {"sentence_ids": [0], "context_ids": [], "summary": "S.", "missing": None},
    ],
)
def test_what_a_selection_leaves_open_is_judged_by_a_prompt_of_its_own(selection):
    asking = by_step(evidence_selection=selection, verdict=judged("contradicted"))
    found = verified(asking)
    assert len(asked(asking, "verdict")) == 2
    assert found.verdict is NFS
    assert [one.verdict for one in found.parts] == ["contradicted"]


def test_samples_and_another_model_for_verdicts_are_always_asked():
    asking = by_step(evidence_selection=FINE, verdict=judged("supported"))
    verified(asking, samples=Samples(2, 1))
    assert len(asked(asking, "verdict")) == 4
    found = Found(
        (found_in(DAG.read([DAG.refs["s"]])[0], 0),),
        settled=VerdictAnswer(FS, "Settled."),
    )
    strong = by_step(verdict=judged("supported"))
    strong.model = "strong"
    model = StepModel(asking)
    models = StepModels(model, model, StepModel(strong))
    judge = LanguageModelJudge.of("openai", models, V2, SPLITTER.split)
    asyncio.run(judge.judge(a_claim(), found, Meter()))
    assert len(strong.requests) == 1


def test_a_sentence_about_several_parts_says_what_of_which():
    selection = selects((0, 1, "for"), (0, 2, "against"), (1, 2, "against"))
    asking = by_step(evidence_selection=selection, verdict=judged("supported", "contradicted"))
    first, second = verified(asking, *PARTS).iterations[0].evidence
    assert (first.part, first.says) == (2, "both")
    assert [(one.part, one.says) for one in first.sides] == [(1, "for"), (2, "against")]
    assert (second.part, second.says, second.sides) == (2, "against", ())


# Where nothing is found

STEP_SAYS = selects((0, 1, "for"), (1, 2, "for"), parts=parts_of("supported", "supported"))
WHOLE = ("The bell is heavy.",)


@pytest.mark.parametrize(("parts", "count"), [(PARTS, 2), (WHOLE, 1)])
def test_where_nothing_is_found_no_part_is_addressed(parts, count):
    asking = by_step(evidence_selection=NOTHING)
    found = verified(asking, *parts)
    assert (found.verdict, asked(asking, "verdict")) == (NFS, [])
    every = [(number, "not_addressed", "") for number in range(1, count + 1)]
    for judged_parts in (found.parts, found.iterations[0].parts):
        assert [(one.part, one.verdict, one.reason) for one in judged_parts] == every


def test_what_a_step_alone_says_is_not_addressed_by_the_sources():
    found = verified(by_step(evidence_selection=[STEP_SAYS, NOTHING]), *PARTS)
    assert ([one.verdict for one in found.iterations], found.verdict) == ([FS, NFS], NFS)
    assert [one.verdict for one in found.parts] == ["not_addressed", "not_addressed"]


def test_what_was_judged_on_evidence_stays_behind_a_verdict_where_nothing_more_is_found():
    selections = [selects((0, 1, "against")), NOTHING]
    asking = by_step(evidence_selection=selections, verdict=judged("contradicted", "supported"))
    found = verified(asking, *PARTS)
    assert [one.verdict for one in found.iterations] == [NFS, NFS]
    assert [one.verdict for one in found.parts] == ["contradicted", "supported"]


def test_a_judge_without_parts_says_nothing_of_them_where_nothing_is_found():
    first = {"sentence_ids": [], "context_ids": [], "summary": None, "missing": None}
    model = StepModel(by_step(evidence_selection=first))
    paper = LanguageModelJudge.of(
        "openai", StepModels(model, model, model), load_prompts(PAPER), SPLITTER.split
    )
    by_part = judge_of(by_step(evidence_selection=NOTHING))
    for judge in (paper, SplitJudge(by_part, paper)):
        task = Task(a_claim("The bell.", *PARTS), DAG.refs["t"])
        found = asyncio.run(verify_claim(task, "p", judge, DagSource(DAG)))
        assert (found.verdict, found.parts, found.iterations[0].parts) == (NFS, (), ())


def test_samples_that_differ_on_all_evidence_leave_the_parts_open():
    selections = [selects((0, 1, "for")), selects((1, 1, "for"))]
    found = verified(by_step(evidence_selection=selections), samples=Samples(2, 2))
    assert (found.verdict, found.parts) == (None, ())


# The second look

MISSING = "how much the bell weighs"


def looked_again(
    again: Any, *verdicts: Any, first: Any = None
) -> tuple[Verification, ScriptedAsking]:
    """A walk whose first selection lacks the weight of the bell."""
    first = first or selects((0, 1, "for"), missing=MISSING)
    nothing = [NOTHING] * 3
    asking = by_step(evidence_selection=[first, again, *nothing], verdict=list(verdicts))
    return verified(asking, *PARTS), asking


def test_what_is_missing_is_looked_for_once_more_in_the_same_nodes_before_it_is_told():
    again = selects((1, 1, "for"), summary="It weighs two tonnes.")
    found, asking = looked_again(
        again, judged("supported", "not_addressed"), judged("supported", "supported")
    )
    first, second = (parse_excerpts(one.user) for one in asked(asking, "evidence_selection")[:2])
    assert first.sentences == second.sentences == {0: "S0.", 1: "S1."}
    assert second.claim == f"{PARTS[1]} Still missing: {MISSING}"
    iteration = found.iterations[0]
    assert (iteration.verdict, iteration.looked_for) == (FS, MISSING)
    assert [(one.sentence, one.part, one.says) for one in iteration.evidence] == [
        (0, 1, "for"),
        (1, 2, "for"),
    ]
    shown = parse_excerpts(asked(asking, "verdict")[1].user, "verdict")
    assert list(shown.sentences.values()) == ["S0.", "S1."]


def test_a_second_look_that_finds_nothing_new_leaves_the_verdict_as_it_is():
    again = selects((0, 1, "for"))
    found, asking = looked_again(again, judged("supported", "not_addressed"))
    iteration = found.iterations[0]
    assert (iteration.verdict, iteration.looked_for) == (NFS, MISSING)
    assert len(asked(asking, "verdict")) == 1


@pytest.mark.parametrize(
    ("first", "verdict"),
    [
        (selects((0, 1, "for")), judged("supported", "not_addressed")),
        (selects((0, 1, "for"), missing=MISSING), judged("contradicted", "not_addressed")),
        (selects((0, 1, "for"), missing=MISSING), judged("supported", "contested")),
    ],
)
def test_there_is_no_second_look_where_it_would_change_nothing(first, verdict):
    found, asking = looked_again(NOTHING, verdict, first=first)
    assert found.iterations[0].looked_for is None
    assert len({request.user for request in asked(asking, "evidence_selection")}) == 2


def test_a_second_look_reads_the_roots_that_are_carried_as_well():
    dag = Dag.of(
        {"t": ("s", "r1"), "s": ("r2",)},
        texts={"r1": ["The bell is old."], "r2": ["It was cast in Graz."], "s": ["S0."]},
    )

    def answer(request: Request) -> str:
        if request.call.step == "verdict":
            return json.dumps(judged("supported", "not_addressed"))
        shown = parse_excerpts(request.user)
        if "Still missing" in shown.claim and "The bell is old." in shown.sentences.values():
            return json.dumps(NOTHING)
        return json.dumps(selects((0, 1, "for"), missing=MISSING))

    asking = ScriptedAsking(answer)
    found = verified(asking, *PARTS, dag=dag)
    last = found.iterations[-1]
    assert [ref.node_id for ref in last.carried_roots] == ["r1"]
    looks = [parse_excerpts(one.user) for one in asked(asking, "evidence_selection")]
    again = [one for one in looks if "Still missing" in one.claim][-1]
    assert set(again.sentences.values()) == {"The bell is old.", "It was cast in Graz."}


def test_a_verdict_of_another_judge_without_parts_asks_for_no_second_look():
    asking = by_step(
        evidence_selection=selects((0, 1, "for"), missing=MISSING),
        verdict={"verdict": "NOT_FULLY_SUPPORTED", "reason": "R."},
    )
    found = verified(asking)
    assert len(asked(asking, "evidence_selection")) == 2
    assert found.parts == ()
    assert Judgement(NFS, "").parts == ()


def test_a_mix_of_inconclusive_and_not_supported_has_a_place_by_sides_and_no_error_stage():
    asking = by_step(
        evidence_selection=[selects((0, 1, "both")), selects((0, 1, "against"))],
        verdict=[judged("contested"), judged("contradicted")],
    )
    found = verified(asking)
    assert [one.verdict for one in found.iterations] == [INC, NFS]
    assert ([ref.node_id for ref in found.error_nodes], found.located_by) == (["s"], "sides")
    assert found.error_stages == ()
    again = Verification.model_validate_json(found.model_dump_json())
    assert (again.error_stages, again.located_by) == ((), "sides")
    assert again.model_dump_json() == found.model_dump_json()
