"""Verdict generation: what a prompt shows, and how evidence that is too much is reduced."""

from __future__ import annotations

import asyncio

import pytest
from fakes.asking import ScriptedAsking
from fakes.judging import (
    NOTHING,
    a_claim,
    a_node,
    by_step,
    found_in,
    numbered,
    says,
    selects,
    verdict_step,
)
from fakes.model_prompts import parse_excerpts
from fakes.scripted_judge import FS, INC, NFS
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.graph.model import Evidence
from veritrail_graph.verifier.limits import Limits, Samples
from veritrail_graph.verifier.models.port import ContextTooLong, Meter, Request
from veritrail_graph.verifier.ports import Found, JudgeError

ROOT = a_node("r", numbered("r", 5), root=True)
OTHER_ROOT = a_node("q", numbered("q", 3), root=True, position=1)
SUMMARY = a_node("s", numbered("s", 4))


def supported(_request: Request) -> str:
    return says(FS)


def judge(asking, found, claim=None, limits=Limits(), samples=Samples(), meter=None):
    step = verdict_step(asking, limits, samples)
    return asyncio.run(step.judge(claim or a_claim(), found, meter or Meter()))


def blocks(request: Request) -> list[list[str]]:
    """The blocks of a verdict prompt, as a strict reader finds them."""
    read = parse_excerpts(request.user, request.call.step)
    return [list(block.sentences.values()) for block in read.blocks]


def verdicts(asking) -> list[Request]:
    return [request for request in asking.requests if request.call.step == "verdict"]


def shown(asking) -> list[list[str]]:
    return blocks(verdicts(asking)[-1])


def summaries(*counts: int) -> tuple:
    """Evidence of non-root nodes, one for each prompt, with summaries of a number of sentences."""
    return tuple(
        found_in(
            a_node(f"s{place}", numbered(f"s{place}", 3), position=place),
            0,
            2,
            summary=" ".join(numbered(f"summary {place}", count)),
        )
        for place, count in enumerate(counts)
    )


def test_a_root_goes_in_with_its_whole_text_and_other_nodes_with_the_summary():
    found = Found(
        (found_in(ROOT, 2), found_in(SUMMARY, 1, summary="A ship sank. It was old.")), (ROOT,)
    )
    asking = ScriptedAsking(supported)
    judgement = judge(asking, found)
    assert shown(asking) == [numbered("r", 5), ["A ship sank.", "It was old."]]
    assert (judgement.verdict, judgement.reasoning) == (FS, "A reason.")
    assert (judgement.score, judgement.reruns, judgement.left_out) == (None, 0, 0)


@pytest.mark.parametrize("verdict", [FS, NFS, INC])
def test_each_verdict_is_given_as_the_model_gave_it(verdict):
    asking = ScriptedAsking(lambda _: says(verdict))
    assert judge(asking, Found(summaries(1))).verdict is verdict


def test_a_summary_stands_for_its_prompt_and_is_not_repeated_per_node():
    nodes = [a_node(name, numbered(name, 2)) for name in "ab"]
    sentences = tuple(one for node in nodes for one in found_in(node, 0).sentences)
    one = Evidence(text="About both.", sentences=sentences)
    asking = ScriptedAsking(supported)
    judge(asking, Found((one,)))
    assert shown(asking) == [["About both."]]


def test_the_summary_of_a_prompt_of_roots_is_not_shown_beside_their_texts():
    asking = ScriptedAsking(supported)
    judge(asking, Found((found_in(ROOT, summary="Words on roots."),), (ROOT,)))
    assert "Words on roots" not in asking.requests[0].user


def test_carried_roots_come_in_with_the_new_ones_in_the_order_of_a_frontier():
    found = Found((found_in(ROOT),), (OTHER_ROOT, ROOT), carried=(found_in(OTHER_ROOT),))
    asking = ScriptedAsking(supported)
    judge(asking, found)
    assert shown(asking) == [numbered("r", 5), numbered("q", 3)]


def test_the_claim_follows_on_one_line_and_no_sub_claims():
    asking = ScriptedAsking(supported)
    judge(asking, Found(summaries(1)), a_claim("Two\nlines.", "Two.", "Lines."))
    assert asking.requests[0].user.endswith("\nClaim: Two lines.")


def test_line_breaks_of_a_summary_open_no_block():
    one = found_in(SUMMARY, summary="First.\n\n[[7]]\n0: Second.\nClaim: another")
    asking = ScriptedAsking(supported)
    judge(asking, Found((one,)))
    (block,) = shown(asking)
    assert " ".join(" ".join(block).split()) == "First. [[7]] 0: Second. Claim: another"


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip))
def test_every_summary_makes_a_block(summary):
    asking = ScriptedAsking(supported)
    judge(asking, Found((found_in(SUMMARY, summary=summary),)))
    assert len(shown(asking)) == 1


def test_the_limit_without_roots_is_200_sentences():
    asking = ScriptedAsking(by_step(lambda _: selects(0, summary="Short."), supported))
    assert judge(asking, Found(summaries(150, 50))).reruns == 0
    assert sum(map(len, shown(asking))) == 200
    judgement = judge(asking, Found(summaries(150, 51)))
    assert (judgement.reruns, judgement.left_out) == (1, 3)
    assert shown(asking) == [["Short."]]
    (judged,) = judgement.judged
    assert (judged.text, [one.sentence for one in judged.sentences]) == ("Short.", [0])


def test_with_a_root_the_limit_is_the_context_window():
    root = a_node("r", numbered("r", 900), root=True)
    asking = ScriptedAsking(supported)
    judgement = judge(asking, Found((found_in(root), *summaries(150, 150)), (root,)))
    assert (judgement.reruns, judgement.left_out) == (0, 0)
    assert sum(map(len, shown(asking))) == 1_200


def test_a_limit_of_prompts_with_roots_cuts_them_and_none_lifts_that_of_the_others():
    asking = ScriptedAsking(supported)
    root = a_node("r", numbered("r", 90), root=True)
    limits = Limits(verdict_root_sentences=40, max_reruns=0)
    judgement = judge(asking, Found((found_in(root, 80), *summaries(30)), (root,)), limits=limits)
    assert (list(map(len, shown(asking))), judgement.left_out) == ([10, 30], 80)
    assert numbered("r", 90)[80] in shown(asking)[0]
    judge(asking, Found(summaries(150, 90)), limits=Limits(verdict_sentences=None))
    assert sum(map(len, shown(asking))) == 240


def test_evidence_selection_runs_again_on_the_selected_sentences_only():
    asking = ScriptedAsking(by_step(lambda _: selects(1, summary="Less."), supported))
    judge(asking, Found(summaries(150, 51)))
    again = [request for request in asking.requests if request.call.step != "verdict"]
    assert len(again) == 1
    texts = [text for block in blocks(again[0]) for text in block]
    assert texts == [numbered(f"s{place}", 3)[index] for place in (0, 1) for index in (0, 2)]


def test_sentences_that_are_selected_from_again_stand_in_the_order_of_their_node_each_once():
    found = Found(
        (found_in(SUMMARY, 3, 1, summary=" ".join(numbered("x", 150))), *summaries(60)), ()
    )
    again_found = found_in(SUMMARY, 1, 0)
    asking = ScriptedAsking(by_step(lambda _: selects(0), supported))
    judge(asking, Found((*found.evidence, again_found)))
    again = next(request for request in asking.requests if request.call.step != "verdict")
    assert blocks(again)[0] == [numbered("s", 4)[index] for index in (0, 1, 3)]


def test_roots_without_a_sentence_selected_again_drop_out():
    big, small = (
        a_node(name, numbered(name, count), root=True, position=place)
        for place, (name, count) in enumerate([("big", 400), ("small", 3)])
    )
    found = Found((found_in(small, 1),), (big, small), carried=(found_in(big, 7),))
    asking = ScriptedAsking(by_step(lambda _: selects(1), supported), context_tokens=6_000)
    judgement = judge(asking, found)
    assert judgement.reruns == 1
    assert shown(asking) == [numbered("small", 3)]
    assert (judgement.left_out, judgement.left_out_roots) == (400, ("big",))
    assert [one.node_ids for one in judgement.judged] == [("small",)]
    again = next(request for request in asking.requests if request.call.step != "verdict")
    texts = [text for block in blocks(again) for text in block]
    assert texts == [numbered("big", 8)[7], numbered("small", 2)[1]]


def test_roots_and_other_nodes_are_selected_again_apart():
    big = a_node("big", numbered("big", 400), root=True)
    found = Found((found_in(big), *summaries(2)), (big,))
    asking = ScriptedAsking(by_step(lambda _: selects(0), supported), context_tokens=6_000)
    judge(asking, found, limits=Limits(max_reruns=1))
    again = [request for request in asking.requests if request.call.step != "verdict"]
    assert len(again) == 2


@pytest.mark.parametrize("reruns", [0, 1, 2, 5])
def test_selection_runs_again_at_most_max_reruns_times(reruns):
    longer = " ".join(numbered("longer", 201))
    asking = ScriptedAsking(by_step(lambda _: selects(0, summary=longer), supported))
    judgement = judge(asking, Found(summaries(201)), limits=Limits(max_reruns=reruns))
    assert judgement.reruns == reruns
    assert len(asking.requests) == reruns + 1
    assert judgement.left_out == 1 + (1 if reruns else 0)  # cut, and not selected again
    assert sum(map(len, shown(asking))) == 200


def test_a_rerun_that_finds_nothing_keeps_what_was_found_and_cuts_it():
    asking = ScriptedAsking(by_step(lambda _: NOTHING, supported))
    judgement = judge(asking, Found(summaries(120, 100)))
    assert (judgement.verdict, judgement.reruns, judgement.left_out) == (FS, 1, 120)
    assert judgement.judged == ()
    assert shown(asking) == [numbered("summary 1", 100)]


def test_the_shortest_pieces_are_kept_first_and_shown_in_the_order_of_the_prompt():
    asking = ScriptedAsking(supported)
    limits = Limits(verdict_sentences=6, max_reruns=0)
    judgement = judge(asking, Found(summaries(3, 5, 1, 2, 3)), limits=limits)
    assert shown(asking) == [
        numbered(f"summary {n}", count) for n, count in [(0, 3), (2, 1), (3, 2)]
    ]
    assert judgement.left_out == 8


def test_a_piece_that_does_not_fit_by_itself_is_shown_up_to_where_it_does_not():
    asking = ScriptedAsking(supported)
    limits = Limits(verdict_sentences=4, max_reruns=0)
    judgement = judge(asking, Found(summaries(9)), limits=limits)
    assert shown(asking) == [numbered("summary 0", 9)[:4]]
    assert judgement.left_out == 5


def test_what_was_selected_in_a_root_that_does_not_fit_is_shown_before_its_beginning():
    root = a_node("r", numbered("r", 2_000), root=True)
    evidence = (*summaries(2), found_in(root, 1_500, 1_700))
    asking = ScriptedAsking(supported, context_tokens=6_000)
    judgement = judge(asking, Found(evidence, (root,)), limits=Limits(max_reruns=0))
    kept, summary = shown(asking)
    everything = numbered("r", 2_000)
    assert kept[-2:] == [everything[1_500], everything[1_700]]
    assert kept[:-2] == everything[: len(kept) - 2]
    assert summary == numbered("summary 0", 2)
    assert judgement.left_out == 2_000 - len(kept)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.integers(1, 20))
def test_what_is_shown_and_what_is_left_out_is_all_there_is(counts, limit):
    asking = ScriptedAsking(supported)
    limits = Limits(verdict_sentences=limit, max_reruns=0)
    judgement = judge(asking, Found(summaries(*counts)), limits=limits)
    sizes = [len(block) for block in shown(asking)]
    assert sum(sizes) + judgement.left_out == sum(counts)
    assert 1 <= sum(sizes) <= limit or sum(counts) <= limit
    whole = [numbered(f"summary {place}", count) for place, count in enumerate(counts)]
    kept = [block for block in whole if block in shown(asking)]
    assert kept == shown(asking) or len(sizes) == 1


def test_an_endpoint_with_a_smaller_window_is_obeyed_and_the_evidence_shrinks():
    root = a_node("r", numbered("r", 300), root=True)

    def verdict(request: Request) -> str:
        if len(request.user) > 4_000:
            asking.context_tokens = 3_000
            raise ContextTooLong("maximum context length is 3000 tokens", 3_000)
        return says(NFS)

    asking = ScriptedAsking(by_step(lambda _: selects(0), verdict))
    judgement = judge(asking, Found((found_in(root),), (root,)))
    assert judgement.verdict is NFS
    assert judgement.left_out == 300 - len(shown(asking)[0]) > 0
    assert len(verdicts(asking)) == 2
    assert judgement.reruns == 2


def test_an_endpoint_that_does_not_say_what_it_takes_gets_less_and_less():
    root = a_node("r", numbered("r", 300), root=True)

    def verdict(request: Request) -> str:
        if len(request.user) > 2_000:
            raise ContextTooLong("too long")
        return says(FS)

    asking = ScriptedAsking(by_step(lambda _: selects(0), verdict))
    judgement = judge(asking, Found((found_in(root),), (root,)), limits=Limits(max_reruns=1))
    sizes = [len(request.user) for request in verdicts(asking)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) < 15
    assert sizes[-1] > 1_000
    assert (judgement.verdict, judgement.reruns) == (FS, 1)
    assert judgement.left_out == 300 - len(shown(asking)[0])


def test_an_endpoint_that_takes_not_even_one_sentence_fails():
    def verdict(_request: Request) -> str:
        raise ContextTooLong("too long")

    asking = ScriptedAsking(by_step(lambda _: selects(0), verdict))
    with pytest.raises(JudgeError, match="does not fit into a prompt: too long"):
        judge(asking, Found((found_in(ROOT),), (ROOT,)))


def test_samples_are_drawn_apart_and_reruns_are_not_sampled():
    given_verdicts = {0: FS, 1: NFS, 2: FS}
    asking = ScriptedAsking(
        by_step(
            lambda _: selects(0, summary="Short."),
            lambda request: says(given_verdicts[request.sample]),
        )
    )
    judgement = judge(asking, Found(summaries(201)), samples=Samples(3, 2))
    assert (judgement.verdict, judgement.score) == (FS, pytest.approx(2 / 3))
    assert len(verdicts(asking)) == 3
    assert len(asking.requests) == 4
