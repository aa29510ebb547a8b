"""Propositions: how a sentence is split, what each part rests on, and what that implies."""

from __future__ import annotations

import asyncio
import json
import re
from itertools import pairwise
from typing import Any

import pytest
from fakes.asking import ScriptedAsking
from fakes.judging import SPLITTER
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.graph.model import NodeRef, Sentence, Status
from veritrail_graph.graph.model.attribution import (
    AttributionCategory,
    Faithfulness,
    NodeAttribution,
    SentenceAttribution,
)
from veritrail_graph.verifier.attribution.prompted import PromptedAttributor
from veritrail_graph.verifier.attribution.propositions import read_propositions, split_sentence
from veritrail_graph.verifier.attribution.run import Attributing, AttributionSteps
from veritrail_graph.verifier.models.port import InvalidAnswer, Meter, Request, Step
from veritrail_graph.verifier.ports import ReadNode, SplitNode
from veritrail_graph.verifier.prompted import PromptedStep
from veritrail_graph.verifier.prompts import load_prompts

SENTENCE = "The port closed in May, and the mayor sold its two old cranes."


def said(*propositions: Any) -> str:
    return json.dumps({"propositions": list(propositions)})


def words(sentence: str, *propositions: Any) -> list[list[str]]:
    found = read_propositions(said(*propositions), sentence)
    return [[sentence[start:end] for start, end in one] for one in found]


@pytest.mark.parametrize(
    ("propositions", "found"),
    [
        ([[SENTENCE]], [[SENTENCE]]),
        ([SENTENCE], [[SENTENCE]]),
        (
            [["the mayor", "sold its two old cranes"], ["The port closed in May"]],
            [["The port closed in May"], ["the mayor sold its two old cranes"]],
        ),
        (
            [["The port closed in May"], ["The mayor … cranes."], ["sold its two old"]],
            [["The port closed in May"], ["the mayor", "cranes."], ["sold its two old"]],
        ),
        (
            [["The port closed in May."], ["the  mayor\nsold its two old cranes"]] * 2,
            [["The port closed in May"], ["the mayor sold its two old cranes"]],
        ),
    ],
)
def test_the_words_of_propositions_are_found(propositions: Any, found: list[list[str]]) -> None:
    assert words(SENTENCE, *propositions) == found


def test_whole_words_are_found_before_parts_of_words() -> None:
    assert read_propositions(said(["He sat", "a cat"]), "He sat with a cat.") == (
        ((0, 6), (12, 17)),
    )
    assert words("昨天港口关闭了、市长卖了船。", ["港口关闭了"], ["昨天", "市长卖了船"]) == [
        ["昨天", "市长卖了船"], ["港口关闭了"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("None", "no JSON object"),
        ('{"claims": []}', "`propositions`"),
        (said(), "is not a list of propositions"),
        (said(["The port closed in May"], []), "not a list of pieces"),
        (said(["The port closed in May", " … "]), "not a list of pieces"),
        (said(["The port closed in May", 3]), "not a list of pieces"),
        (said(["The port opened"]), "'The port opened', which is not in the sentence"),
        (said(["the mayor sold", "The port"]), "'The port', which is not in the sentence "
         "behind its other pieces"),
        (said(["the mayor", "the mayor sold"]), "behind its other pieces"),  # they would overlap
        (said(["The port closed in May"]), "leaves out ', and the mayor sold its two old cranes.'"),
        (said(*[["The port"]] * 41), "more than 40 entries"),
    ],
)  # fmt: skip
def test_what_is_no_splitting_is_asked_for_again(answer: str, message: str) -> None:
    with pytest.raises(InvalidAnswer, match=re.escape(message)):
        read_propositions(answer, SENTENCE)


@given(st.lists(st.sampled_from(["a", "bb", "Quay", "1702", "…", "the"]), min_size=1, max_size=9),
       st.data())  # fmt: skip
def test_stretches_are_in_order_apart_and_hold_words(names: list[str], data: Any) -> None:
    sentence = " ".join(names)
    pieces = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=4))
    try:
        found = read_propositions(said(pieces, [sentence]), sentence)
    except InvalidAnswer:
        return
    for spans in found:
        ends = [0, *(place for span in spans for place in span)]
        assert ends == sorted(ends)
        assert all(sentence[start:end].strip() for start, end in spans)
        assert all(first[1] < second[0] for first, second in pairwise(spans))


def a_node(name: str, text: str) -> ReadNode:
    return SplitNode(NodeRef.named(name), text, SPLITTER.split(name, text))


NODE = a_node("t", f"It is so. {SENTENCE}")
SOURCES = (
    a_node("s2", "The mayor kept the cranes. The port closed in May."),
    a_node("s1", "The port closed in May, they say."),
)


def attributed(answers: dict[str, Any], sources: tuple[ReadNode, ...] = SOURCES) -> tuple[
    SentenceAttribution, ScriptedAsking
]:  # fmt: skip
    """The second sentence of the node; answers by step, or by the text that is attributed."""

    def answer(request: Request) -> str:
        if request.call.step == Step.PROPOSITIONS:
            return json.dumps(answers["propositions"])
        return json.dumps({"attributions": answers[request.user.rpartition("Sentence: ")[2]]})

    asking = ScriptedAsking(answer)
    prompts = load_prompts()
    steps = AttributionSteps(
        PromptedAttributor("openai", PromptedStep(prompts[Step.ATTRIBUTION], asking)),
        propositions=PromptedStep(prompts[Step.PROPOSITIONS], asking),
    )
    found: NodeAttribution = asyncio.run(Attributing(steps, Meter()).node(NODE, sources, {1}))
    return found.sentences[0], asking


def named(*items: tuple[int, str]) -> list[dict[str, Any]]:
    return [{"sentence_id": number, "categories": [name]} for number, name in items]


SPLIT = {"propositions": [["The port closed in May"], ["the mayor", "its two old cranes"],
                          ["the mayor sold"]]}  # fmt: skip


def test_each_proposition_is_attributed_and_the_sentence_rests_on_all_of_it() -> None:
    one, _ = attributed(
        {
            "propositions": SPLIT,
            "The port closed in May": named((1, "EVIDENCE"), (2, "EVIDENCE")),
            "the mayor … its two old cranes": named((0, "EVIDENCE")),
            "the mayor sold": named((0, "CONTRADICTION")),
        }
    )
    places = [[(each.node_id, each.sentence) for each in part.attributed]
              for part in one.propositions]  # fmt: skip
    assert places == [[("s2", 1), ("s1", 0)], [("s2", 0)], [("s2", 0)]]
    assert [part.implied_label.value for part in one.propositions] == [
        "FAITHFUL", "UNFAITHFUL", "FAITHFUL",
    ]  # fmt: skip
    text = NODE.text
    assert [[text[start:end] for start, end in part.spans] for part in one.propositions] == [
        ["The port closed in May"], ["the mayor sold"], ["the mayor", "its two old cranes"],
    ]  # fmt: skip
    both = (AttributionCategory.EVIDENCE, AttributionCategory.CONTRADICTION)
    assert [(each.node_id, each.sentence, each.categories) for each in one.attributed] == [
        ("s2", 0, both), ("s2", 1, both[:1]), ("s1", 0, both[:1]),
    ]  # fmt: skip
    assert one.implied_label is Faithfulness.UNFAITHFUL
    assert one.contradictory == ()  # each category is of another proposition
    assert one.replace(propositions=()).contradictory == one.attributed[:1]


def test_a_proposition_that_rests_on_nothing_makes_the_sentence_unfaithful() -> None:
    one, _ = attributed({
        "propositions": {"propositions": [["The port closed in May"],
                                          ["the mayor sold its two old cranes"]]},
        "The port closed in May": named((1, "EVIDENCE")),
        "the mayor sold its two old cranes": [],
    })  # fmt: skip
    assert {each for source in one.attributed for each in source.categories} == {"EVIDENCE"}
    assert one.implied_label is Faithfulness.UNFAITHFUL


def test_a_sentence_of_one_proposition_is_asked_about_as_a_whole() -> None:
    one, asking = attributed({"propositions": {"propositions": [[SENTENCE.rstrip(".")]]},
                              SENTENCE: named((1, "EVIDENCE"))})  # fmt: skip
    assert len(asking.requests) == 2
    assert [part.text for part in one.propositions] == [SENTENCE.rstrip(".")]
    assert one.implied_label is Faithfulness.FAITHFUL


def test_a_sentence_without_words_is_one_proposition_and_no_model_is_asked() -> None:
    asking = ScriptedAsking(lambda _request: "none of this is asked for")
    step = PromptedStep(load_prompts()[Step.PROPOSITIONS], asking)
    bare = Sentence("t", 0, 3, 8, "* * *")
    assert asyncio.run(split_sentence(bare, step, Meter())) == (((0, 5),),)
    assert not asking.requests


def test_a_sentence_that_cannot_be_split_is_failed() -> None:
    one, _ = attributed({"propositions": {"propositions": [["The bridge"]]}})
    assert (one.status, one.implied_label) == (Status.FAILED, None)
    assert "is not in the sentence" in (one.error or "")


def test_without_source_text_nothing_is_asked() -> None:
    one, asking = attributed({}, (a_node("e", " \n"),))
    assert (one.status, one.attributed, asking.requests) == (Status.SUCCEEDED, (), [])
    assert "propositions" not in one.json_object()
