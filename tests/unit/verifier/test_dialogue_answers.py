"""Answers of the steps of dialogues: what is read, what is dropped, what is asked again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from veritrail_graph.graph.model.dialogue import ClaimCategory, DialogueLabel
from veritrail_graph.verifier.dialogue.answers import (
    read_category,
    read_label,
    read_turn_check,
)
from veritrail_graph.verifier.models.port import InvalidAnswer


def category(given: Any, ids: Any = (), *, lines: int = 5, has_reference: bool = True) -> Any:
    answer = {"category": given, "reason": "r", "background_ids": list(ids)}
    return read_category(f"So: {json.dumps(answer)}", lines, has_reference=has_reference)


@pytest.mark.parametrize("given", ["VERIFIED", "verified", " Verified "])
def test_a_label_is_read_however_it_is_written(given: str) -> None:
    answer = read_label(json.dumps({"label": given, "reason": " It says so. "}))
    assert (answer.label, answer.reason) == (DialogueLabel.VERIFIED, "It says so.")


@pytest.mark.parametrize("given", ["OUT_OF_SCOPE", "out-of-scope", "Out of Scope"])
def test_a_category_is_read_however_it_is_written(given: str) -> None:
    assert category(given).category is ClaimCategory.OUT_OF_SCOPE


def test_ids_of_the_background_count_only_for_contradictions_and_only_where_they_exist() -> None:
    found = category("CONTRADICTED", [3, "0-1", 9, -1, True, 3, "x"])
    assert found.background == (0, 1, 3)
    assert category("LACKING_EVIDENCE", [1]).background == ()
    assert category("CONTRADICTED", [9]).background == ()  # the reference may contradict


@pytest.mark.parametrize(
    "answer",
    [
        "no object",
        '{"category": "VERIFIED", "reason": "r", "background_ids": []}',
        '{"category": "WRONG", "reason": "r", "background_ids": []}',
        '{"category": null, "reason": "r", "background_ids": []}',
        '{"category": "ABSTENTION", "reason": "r"}',
        '{"category": "ABSTENTION", "reason": "r", "background_ids": 3}',
    ],
)
def test_what_is_no_category_is_asked_again(answer: str) -> None:
    with pytest.raises(InvalidAnswer):
        read_category(answer, 5, has_reference=True)


def test_a_contradiction_to_nothing_that_was_shown_is_asked_again() -> None:
    with pytest.raises(InvalidAnswer, match="nothing that was shown contradicts"):
        category("CONTRADICTED", [7], lines=3, has_reference=False)
    assert category("CONTRADICTED", [2], lines=3, has_reference=False).background == (2,)


@pytest.mark.parametrize(
    "answer", ["{}", '{"label": "MAYBE", "reason": ""}', '{"label": "VERIFIED"}']
)
def test_what_is_no_label_is_asked_again(answer: str) -> None:
    with pytest.raises(InvalidAnswer):
        read_label(answer)


def test_a_turn_check_needs_two_quotes_of_a_contradiction_and_no_reason() -> None:
    found = read_turn_check('{"contradiction": true, "quotes": [" a ", "b", "c"]}')
    assert (found.contradiction, found.quotes, found.reason) == (True, ("a", "b"), None)
    none = read_turn_check('{"contradiction": false, "quotes": ["a"], "reason": "r"}')
    assert (none.contradiction, none.quotes, none.reason) == (False, None, "r")
    for wrong in (
        '{"contradiction": "yes", "quotes": []}',
        '{"contradiction": true, "quotes": ["a"]}',
        '{"contradiction": true, "quotes": ["a", " "]}',
        '{"contradiction": true, "quotes": ["a", 3]}',
        '{"contradiction": true, "quotes": "a, b"}',
        '{"contradiction": true}',
    ):
        with pytest.raises(InvalidAnswer):
            read_turn_check(wrong)
