"""Answers by part: what is read, what follows from it, and what is asked for again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.graph.model import JudgedPart, PartVerdict, Says, Side, Verdict, verdict_on
from veritrail_graph.verifier.models.port import InvalidAnswer
from veritrail_graph.verifier.part_answers import (
    read_part_verdict,
    read_sided_selection,
    settled,
)

SAYS = st.sampled_from([str(one) for one in Says])
JUDGED = st.sampled_from([str(one) for one in PartVerdict])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 30) | st.text(max_size=6) | SAYS | JUDGED,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


def selection(*evidence: Any, **more: Any) -> str:
    answer = {"evidence": list(evidence), "context_ids": [], "summary": "S.", "missing": None}
    return f"Reasons.\n{json.dumps({**answer, **more})}"


def about(number: Any, part: Any = 1, says: str = "for") -> dict[str, Any]:
    return {"id": number, "part": part, "says": says}


def part(number: Any, verdict: str, reason: str = "") -> dict[str, Any]:
    return {"part": number, "verdict": verdict, "reason": reason}


def verdict(*parts: Any, reason: str = "R.") -> str:
    return json.dumps({"parts": parts, "reason": reason})


def test_each_sentence_has_its_sides_and_a_range_gives_them_to_all_of_it():
    found = read_sided_selection(
        selection(about(5, 2), about("7-8", 1, "against"), about(7, 2), context_ids=[4, 5]), 10, 2
    )
    assert found.evidence == (5, 7, 8)
    assert found.context == (4,)
    assert {
        number: [(one.part, one.says) for one in said] for number, said in found.sides.items()
    } == {
        5: [(2, "for")],
        7: [(1, "against"), (2, "for")],
        8: [(1, "against")],
    }


def test_two_opposite_entries_about_one_part_say_both():
    found = read_sided_selection(selection(about(1), about(1, 1, "against")), 3, 1)
    assert found.sides[1] == (Side(part=1, says=Says.BOTH),)


def test_a_claim_with_one_part_has_no_other_that_could_be_meant():
    for named in (0, 2, None, "1"):
        found = read_sided_selection(selection(about(0, named)), 3, 1)
        assert found.sides[0] == (Side(part=1, says=Says.FOR),)
    assert read_part_verdict(verdict(part(7, "supported")), 1).verdict is Verdict.FULLY_SUPPORTED


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (about(1, 3), "`part` is 3, not one of 1 to 2"),
        (about(1, 0), "`part` is 0"),
        (about(1, "1-2"), "`part` is '1-2'"),
        (about(1, 1, "perhaps"), "`says` is 'perhaps'"),
        ("1", "something else than objects"),
    ],
)
def test_a_side_or_a_part_that_there_is_not_makes_a_selection_invalid(entry, message):
    with pytest.raises(InvalidAnswer, match=message):
        read_sided_selection(selection(entry), 3, 2)


def test_ids_outside_of_the_prompt_are_dropped_and_counted():
    found = read_sided_selection(selection(about(1), about(9), about("2-4"), about("x")), 3, 1)
    assert found.evidence == (1, 2)
    assert found.dropped == 4


def test_sentences_without_a_summary_are_invalid_and_context_alone_selects_nothing():
    with pytest.raises(InvalidAnswer, match="`summary` is empty"):
        read_sided_selection(selection(about(1), summary=None), 3, 1)
    assert not read_sided_selection(selection(context_ids=[1], summary=None), 3, 1).context


def test_answers_of_the_first_wording_are_read_without_sides_and_parts():
    first = '{"sentence_ids": [1, "2-3"], "context_ids": [0], "summary": "S.", "missing": null}'
    found = read_sided_selection(first, 4, 2)
    assert (found.evidence, found.context, found.sides) == ((1, 2, 3), (0,), {})
    judged = read_part_verdict('{"verdict": "INCONCLUSIVE", "reason": "R."}', 2)
    assert (judged.verdict, judged.parts) == (Verdict.INCONCLUSIVE, ())


def test_an_answer_of_both_kinds_is_none_because_one_may_be_words_of_a_source():
    quoted = '{"verdict": "FULLY_SUPPORTED", "reason": "says the text"}'
    with pytest.raises(InvalidAnswer, match="`parts` and others with `verdict`"):
        read_part_verdict(f"It says {quoted}.\n{verdict(part(1, 'contradicted'))}", 1)
    noted = json.dumps(part(1, "contradicted", "as noted"))
    found = read_part_verdict(f"Part 1: {noted}\n{verdict(part(1, 'supported'))}", 1)
    assert found.verdict is Verdict.FULLY_SUPPORTED


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["supported", "supported"], Verdict.FULLY_SUPPORTED),
        (["supported", "contested"], Verdict.INCONCLUSIVE),
        (["contested", "not_addressed"], Verdict.NOT_FULLY_SUPPORTED),
        (["contradicted", "contested"], Verdict.NOT_FULLY_SUPPORTED),
        (["Not Addressed", "SUPPORTED"], Verdict.NOT_FULLY_SUPPORTED),
    ],
)
def test_the_word_follows_from_the_parts(verdicts, expected):
    parts = [part(number, word) for number, word in enumerate(verdicts, start=1)]
    assert read_part_verdict(verdict(*reversed(parts)), 2).verdict is expected


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([part(1, "supported")], "no verdict on part 2"),
        ([part(1, "supported"), part(1, "contested"), part(2, "supported")], "two verdicts"),
        ([part(1, "supported"), part(2, "fine")], "`verdict` is 'fine'"),
        ([part(1, "supported"), part(3, "supported")], "`part` is 3"),
    ],
)
def test_verdicts_on_parts_that_do_not_fit_are_asked_for_again(parts, message):
    with pytest.raises(InvalidAnswer, match=message):
        read_part_verdict(verdict(*parts), 2)


def test_without_a_reason_for_the_whole_the_reasons_for_the_parts_stand_for_it():
    found = read_part_verdict(
        verdict(part(1, "supported", "One."), part(2, "contested", "Two."), reason=""), 2
    )
    assert found.reason == "One. Two."


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([part("x", "maybe")], "`part` is 'x'"),
        ([part(1, "maybe")], "`verdict` is 'maybe', not one of"),
        ([part(1, "supported"), part(1, "contested")], "two verdicts on part 1"),
        (["supported"], "something else than objects"),
        ("fine", "`parts` is not a list"),
    ],
)
@pytest.mark.parametrize("evidence", [[about(0, 1)], []])
def test_parts_that_there_are_not_make_a_selection_invalid(evidence, parts, message):
    with pytest.raises(InvalidAnswer, match=message):
        read_sided_selection(selection(*evidence, parts=parts), 3, 2)


FINE = [part(1, "supported", "Both say it."), part(2, "supported", "Both say it.")]


@pytest.mark.parametrize(
    ("evidence", "parts", "is_settled"),
    [
        ([about(0, 1), about(0, 2)], FINE, True),
        ([about(0, 1)], FINE, False),  # nothing speaks for part 2
        ([about(0, 1), about(0, 2), about(1, 1, "against")], FINE, False),
        ([about(0, 1), about(0, 2, "both")], FINE, False),
        ([about(0, 1), about(0, 2)], [FINE[0], part(2, "contested")], False),
        ([about(0, 1), about(0, 2)], [FINE[0]], False),  # parts that are not whole are none
        ([], FINE, False),
    ],
)
def test_a_selection_settles_a_verdict_only_where_all_is_supported_and_nothing_against_it(
    evidence, parts, is_settled
):
    found = settled(read_sided_selection(selection(*evidence, parts=parts), 3, 2), 2)
    assert (found is not None) is is_settled
    if found is not None:
        assert found.verdict is Verdict.FULLY_SUPPORTED
        assert found.reason == "Both say it."
        assert [one.part for one in found.parts] == [1, 2]


@given(JSON, JSON, JSON, st.integers(1, 5), st.integers(1, 4))
def test_whatever_an_answer_holds_it_is_read_whole_or_is_invalid(evidence, context, parts, n, of):
    text = selection(evidence, context_ids=context, parts=parts)
    try:
        found = read_sided_selection(text, n, of)
    except InvalidAnswer:
        return
    assert set(found.sides) == set(found.evidence) <= set(range(n))
    assert all(1 <= side.part <= of for said in found.sides.values() for side in said)
    assert set(found.context) <= set(range(n)) - set(found.evidence)
    assert len(found.parts) in (0, of)


@given(st.lists(st.builds(part, st.integers(-1, 4), JUDGED) | JSON, max_size=5), st.integers(1, 3))
def test_a_verdict_is_on_every_part_or_is_invalid(parts, of):
    try:
        found = read_part_verdict(verdict(*parts), of)
    except InvalidAnswer:
        return
    assert [one.part for one in found.parts] == list(range(1, of + 1))
    assert found.verdict is verdict_on(found.parts)


@given(st.lists(st.sampled_from(PartVerdict), min_size=1, max_size=5))
def test_a_claim_is_supported_only_where_all_of_its_parts_are(verdicts):
    parts = [JudgedPart(part=n, verdict=one) for n, one in enumerate(verdicts, start=1)]
    is_supported = verdict_on(parts) is Verdict.FULLY_SUPPORTED
    assert is_supported is all(one is PartVerdict.SUPPORTED for one in verdicts)
