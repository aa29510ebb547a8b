"""Evidence selection: which prompts are asked, and what their answers select."""

from __future__ import annotations

import asyncio

import pytest
from fakes.asking import ScriptedAsking
from fakes.judging import NOTHING, a_claim, a_node, evidence_step, numbered, selects
from fakes.model_prompts import parse_excerpts

from veritrail_graph.graph.model import EvidenceRole
from veritrail_graph.verifier.excerpts import Unit
from veritrail_graph.verifier.limits import Limits, Samples
from veritrail_graph.verifier.models.port import (
    ContextTooLong,
    InvalidAnswer,
    Meter,
    Request,
)
from veritrail_graph.verifier.ports import JudgeError

FIRST = selects(0)


def select(asking, nodes, claim=None, *, limits=Limits(), samples=Samples(), meter=None):
    step = evidence_step(asking, limits, samples)
    claim = claim or a_claim()
    return asyncio.run(step.select(claim, step.prompts_of(claim, nodes), meter or Meter()))


def read(request: Request):
    """The excerpts of a request, as a strict reader finds them."""
    return parse_excerpts(request.user, request.call.step)


def cited(selection) -> list[list[tuple[str, int, str]]]:
    return [
        [(each.node_id, each.sentence, str(each.role)) for each in found.sentences]
        for found in selection.evidence
    ]


def refusing(longest: int, answer: str = NOTHING):
    """An endpoint that takes a number of characters of a user message."""

    def give(request: Request) -> str:
        if len(request.user) > longest:
            raise ContextTooLong("prompt is too long")
        return answer

    return give


MIXED = [
    a_node("c1", numbered("c1", 3), root=True),
    a_node("c2", numbered("c2", 4), root=True, position=1),
    a_node("s1", numbered("s1", 5), position=2),
    a_node("s2", numbered("s2", 2), position=3),
]


def test_ids_are_those_of_the_whole_prompt_and_map_to_their_sentences():
    asking = ScriptedAsking(lambda _: selects(1, "4-5", context=[3]))
    selection = select(asking, MIXED[2:])
    roles = [EvidenceRole.EVIDENCE, EvidenceRole.CONTEXT, *[EvidenceRole.EVIDENCE] * 2]
    places = [("s1", 1), ("s1", 3), ("s1", 4), ("s2", 0)]
    assert cited(selection) == [
        [(*place, str(role)) for place, role in zip(places, roles, strict=True)]
    ]
    assert selection.evidence[0].text == "A summary."
    shown = read(asking.requests[0]).sentences
    assert shown[5] == selection.evidence[0].sentences[-1].text


def test_roots_and_other_nodes_never_share_a_prompt():
    asking = ScriptedAsking(lambda _: FIRST)
    selection = select(asking, MIXED)
    shown = [
        {text.split(" of ")[1][0] for text in read(request).sentences.values()}
        for request in asking.requests
    ]
    assert sorted(map(sorted, shown)) == [["c"], ["s"]]
    assert cited(selection) == [[("c1", 0, "evidence")], [("s1", 0, "evidence")]]


def test_the_limits_of_roots_and_other_nodes_are_set_apart():
    asking = ScriptedAsking(lambda _: NOTHING)
    select(asking, MIXED, limits=Limits(root_sentences=3, other_sentences=2))
    sizes = [len(read(request).sentences) for request in asking.requests]
    assert sizes == [3, 3, 1, 2, 2, 2, 1]


def test_without_limits_the_context_window_is_filled():
    nodes = [a_node("s", numbered("s", 600))]
    asking = ScriptedAsking(lambda _: NOTHING, context_tokens=8_000)
    select(asking, nodes, limits=Limits(None, None))
    assert len(asking.requests) > 1
    taken = [asking.tokens(r.system) + asking.tokens(r.user) for r in asking.requests]
    assert all(tokens <= 8_000 for tokens in taken)
    assert all(tokens > 5_000 for tokens in taken[:-1])
    asking = ScriptedAsking(lambda _: NOTHING)
    select(asking, nodes, limits=Limits(None, None))
    assert len(asking.requests) == 1


def test_prompts_of_a_frontier_are_asked_side_by_side():
    asking = ScriptedAsking(lambda _: NOTHING)
    select(asking, [a_node("s", numbered("s", 20))], limits=Limits(other_sentences=2))
    assert asking.most_at_once == 10


def test_nothing_found_is_no_evidence():
    asking = ScriptedAsking(lambda _: NOTHING)
    assert select(asking, MIXED).evidence == ()
    assert len(asking.requests) == 2


def test_nodes_without_sentences_are_not_asked_about():
    asking = ScriptedAsking(lambda _: FIRST)
    assert select(asking, [a_node("s", [])]).evidence == ()
    assert asking.requests == []


def test_ids_that_were_not_in_their_prompt_are_dropped_and_counted_over_all_prompts():
    asking = ScriptedAsking(lambda _: selects(0, 7, "9-10"))
    selection = select(asking, MIXED)
    assert selection.dropped_ids == 6
    assert [len(each) for each in cited(selection)] == [1, 1]


def test_sub_claims_are_shown_only_when_there_is_more_than_one():
    for sub_claims, shown in [((), ()), (("One.",), ()), (("One.", "Two."), ("One.", "Two."))]:
        asking = ScriptedAsking(lambda _: NOTHING)
        select(asking, MIXED[:1], a_claim("The claim.", *sub_claims))
        assert read(asking.requests[0]).sub_claims == shown


def test_requests_name_step_prompt_and_temperature_and_say_what_is_shared():
    asking = ScriptedAsking(lambda _: NOTHING)
    select(asking, MIXED[:1], a_claim("The claim."))
    (request,) = asking.requests
    assert request.call[:2] == ("evidence_selection", "evidence_selection.v1")
    assert request.call.temperature == 0
    assert request.user[request.shared :] == "Claim: The claim."
    assert request.schema is None


@pytest.mark.parametrize("limits", [Limits(), Limits(None, None)], ids=["sentences", "window"])
def test_excerpts_are_identical_for_all_claims_over_the_same_frontier(limits):
    asking = ScriptedAsking(lambda _: NOTHING, context_tokens=6_000)
    step = evidence_step(asking, limits)
    nodes = [a_node("c", numbered("c", 150), root=True), *MIXED[2:]]
    seen = set()
    for claim in [a_claim("Short."), a_claim("word " * 150), a_claim("Two.", "One.", "Other.")]:
        asking.requests.clear()
        asyncio.run(step.select(claim, step.prompts_of(claim, nodes), Meter()))
        seen.add(tuple((r.system, r.user[: r.shared]) for r in asking.requests))
    assert len(seen) == 1


def test_two_processes_with_the_same_node_ids_do_not_get_each_others_texts():
    asking = ScriptedAsking(lambda _: FIRST)
    step = evidence_step(asking)
    for text in ["The pier burnt.", "The pier stands."]:
        prompts = step.prompts_of(a_claim(), [a_node("n", [text])])
        selection = asyncio.run(step.select(a_claim(), prompts, Meter()))
        assert selection.evidence[0].sentences[0].text == text


def test_a_prompt_that_is_too_long_for_the_endpoint_is_split_in_two_and_goes_on():
    node = a_node("s", numbered("s", 16))
    whole = sum(map(len, numbered("s", 16)))
    asking = ScriptedAsking(refusing(whole // 2, FIRST))
    selection = select(asking, [node])
    answered = [r for r in asking.requests if len(r.user) <= whole // 2]
    found = [each.as_sentence() for e in selection.evidence for each in e.sentences]
    assert len(found) == len(answered) > 2
    assert [sentence.index for sentence in found] == sorted({s.index for s in found})
    texts = [text for r in answered for text in read(r).sentences.values()]
    assert texts == numbered("s", 16)
    assert len(read(answered[1]).blocks[0].context) == 2


def test_a_single_sentence_that_does_not_fit_fails_and_says_what_and_where():
    texts = ["Short.", "long " * 200 + "end.", "Short too."]
    asking = ScriptedAsking(refusing(600))
    with pytest.raises(JudgeError, match=r"sentence 1 of node 's'.*1,004 characters.*too long"):
        select(asking, [a_node("s", texts)])


def test_an_answer_that_stays_invalid_fails_when_the_others_have_ended():
    def give(request: Request) -> str:
        return "no object" if "of c1" in request.user else NOTHING

    asking = ScriptedAsking(give)
    meter = Meter()
    with pytest.raises(InvalidAnswer):
        select(asking, MIXED, meter=meter)
    assert meter.total.calls == 4  # three attempts, and the other prompt


def test_samples_are_drawn_apart_and_merged_for_each_prompt():
    answers = {0: selects(0, 1), 1: selects(1, 2, summary="Second."), 2: selects(2, 1, 0)}
    asking = ScriptedAsking(lambda request: answers[request.sample])
    selection = select(asking, MIXED[:1], samples=Samples(3, 3))
    assert cited(selection) == [[("c1", 1, "evidence")]]
    assert {request.sample for request in asking.requests} == {0, 1, 2}
    assert {request.call.temperature for request in asking.requests} == {0.2}


def test_selecting_again_keeps_roots_and_others_apart_with_their_own_limits():
    asking = ScriptedAsking(lambda _: NOTHING)
    step = evidence_step(asking, Limits(root_sentences=2, other_sentences=3))
    roots, others = [Unit(MIXED[1].sentences)], [Unit(MIXED[2].sentences)]
    prompts = step.prompts_again(a_claim(), roots, others)
    asyncio.run(step.select(a_claim(), prompts, Meter()))
    assert [len(read(request).sentences) for request in asking.requests] == [2, 2, 3, 2]


def test_selecting_again_shows_only_what_was_selected_and_keeps_the_places():
    asking = ScriptedAsking(lambda _: selects(1))
    node = MIXED[2]
    units = [Unit((node.sentences[1], node.sentences[4]))]
    step = evidence_step(asking)
    prompts = step.prompts_again(a_claim(), [], units)
    selection = asyncio.run(step.select(a_claim(), prompts, Meter()))
    assert cited(selection) == [[("s1", 4, "evidence")]]
    assert len(read(asking.requests[0]).sentences) == 2
