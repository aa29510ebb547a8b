"""Answers of the steps of attribution: what is read, what is dropped, what is invalid."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.judging import SPLITTER

from veritrail_graph.graph.model.attribution import AttributionCategory as C
from veritrail_graph.graph.model.attribution import Faithfulness
from veritrail_graph.verifier.attribution.answers import (
    read_attribution,
    read_correction,
    read_faithfulness,
)
from veritrail_graph.verifier.models.port import InvalidAnswer


def named(*items: tuple[Any, Any]) -> str:
    return json.dumps(
        {"attributions": [{"sentence_id": number, "categories": some} for number, some in items]}
    )


@pytest.mark.parametrize(
    ("answer", "categories", "dropped"),
    [
        (named(), {}, 0),
        ("None", {}, 0),
        ("It says nothing of piers.\n\n**None.**", {}, 0),
        ("[]", {}, 0),
        ('{"attributions": null}', {}, 0),
        ('{"attributions": "None"}', {}, 0),
        (named((0, ["CONTRADICTION"]), (9, ["NEAR_MATCH"])), {0: {C.CONTRADICTION}}, 1),
        (named((2, ["EVIDENCE"])), {2: {C.EVIDENCE}}, 0),
        (named(("2", "near match")), {2: {C.NEAR_MATCH}}, 0),
        (named((0, "Close Paraphrase"), (1, ["CONTEXTUAL_ANCHOR"])),
         {0: {C.NEAR_MATCH}, 1: {C.EXPECTED_SPAN}}, 0),
        (named(("1-2", ["Expected-Span"])), {1: {C.EXPECTED_SPAN}, 2: {C.EXPECTED_SPAN}}, 0),
        (named((0, ["EVIDENCE"]), (0, ["CONTRADICTION"])), {0: {C.EVIDENCE, C.CONTRADICTION}}, 0),
        (named((0, ["EVIDENCE"]), (9, ["EVIDENCE"])), {0: {C.EVIDENCE}}, 1),
        (named(("2-4", ["EVIDENCE"])), {2: {C.EVIDENCE}}, 2),
        (named(("[[1]]:0", ["EVIDENCE"]), (True, ["EVIDENCE"]), (1, ["EVIDENCE"])),
         {1: {C.EVIDENCE}}, 2),
    ],
)  # fmt: skip
def test_an_attribution_is_read(answer: str, categories: dict[int, set[C]], dropped: int) -> None:
    found = read_attribution(answer, 3)
    assert found.categories == categories
    assert found.dropped == dropped


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("I find none of them.", "no JSON object"),
        ("[1]", "each id needs its categories"),
        ("So:\n```\n[1, 2]\n```", "each id needs its categories"),
        (named((0, ["EVIDENCE"]), (77, ["CONTRADICTION"])), "names CONTRADICTION for no id"),
        (named((0, ["EVIDENCE"]), ("x", "Near Match")), "names NEAR_MATCH for no id"),
        (named(("2-4", ["EVIDENCE"]), (9, ["EXPECTED_SPAN"])), "names EXPECTED_SPAN for no id"),
        ('{"sentence_ids": []}', "`attributions`"),
        ('{"attributions": []} I mean ' + named((1, ["EVIDENCE"])), "say different things"),
        ('{"attributions": "4"}', "is not a list of objects"),
        ('{"attributions": [4]}', "each id needs its categories"),
        ('{"attributions": [{"sentence_id": 4}]}', "has no `categories`"),
        (named((1, [])), "has no `categories`"),
        (named((1, ["EVIDENCE", "NONE"])), "'NONE', which is no category"),
        (named((1, [3])), "3, which is no category"),
        (named((7, ["EVIDENCE"])), "names no id of the prompt"),
        (named(("2-1", ["EVIDENCE"])), "names no id of the prompt"),
    ],
)
def test_what_is_no_attribution_is_invalid(answer: str, message: str) -> None:
    with pytest.raises(InvalidAnswer, match=message):
        read_attribution(answer, 3)


def test_a_label_is_read_and_another_word_is_invalid() -> None:
    found = read_faithfulness('Hm. {"label": "faithful", "reason": null}')
    assert (found.label, found.reason) == (Faithfulness.FAITHFUL, "")
    with pytest.raises(InvalidAnswer, match="'yes', which is no label"):
        read_faithfulness('{"label": "yes", "reason": "It is."}')


def test_a_correction_is_read_and_an_empty_one_keeps_nothing() -> None:
    assert read_correction('{"sentence": " It may close. "}') == "It may close."
    assert read_correction('{"sentence": ""}') is None
    assert read_correction('{"sentence": null}') is None


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("It may close. [[1]]", "holds labels of excerpts"),
        ("It may close. It is old.", "is 2 sentences"),
    ],
)
def test_a_correction_is_one_sentence_of_the_text(sentence: str, message: str) -> None:
    answer = json.dumps({"sentence": sentence})
    with pytest.raises(InvalidAnswer, match=message):
        read_correction(answer, "It will close.", SPLITTER.split)
    assert read_correction(answer, "It will. See [[2]].", SPLITTER.split) == sentence
