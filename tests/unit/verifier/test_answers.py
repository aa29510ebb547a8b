"""Answers of models: the object at the end counts, whatever stands before; the rest is invalid."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veritrail_graph.graph.model import Verdict
from veritrail_graph.verifier.answers import (
    final_object,
    read_claims,
    read_outcome,
    read_selection,
    read_true_false,
    read_verdict,
)
from veritrail_graph.verifier.models.port import InvalidAnswer

SURROGATE = "\ud800"


def selection(sentence_ids=(), context_ids=(), summary="What they say.", missing=None) -> str:
    """An answer as text; values that JSON does not know stay as Python writes them."""
    answer = {
        "sentence_ids": list(sentence_ids),
        "context_ids": list(context_ids),
        "summary": summary,
        "missing": missing,
    }
    return json.dumps(answer)


def ids(*values, sentences=100):
    """What these values select, and how many ids were dropped."""
    read = read_selection(selection(values), sentences)
    return read.evidence, read.dropped


NUMBERS = '{"n": 1}'


@pytest.mark.parametrize(
    ("text", "last"),
    [
        (NUMBERS, {"n": 1}),
        (f"I thought about it.\n\n{NUMBERS}", {"n": 1}),
        (f"```json\n{NUMBERS}\n```", {"n": 1}),
        (f"```\n{NUMBERS}\n```  \n\n", {"n": 1}),
        (f'Other keys: {{"m": 0}}. So: {NUMBERS}', {"n": 1}),
        (f"As I said, {NUMBERS}: that is, {NUMBERS}", {"n": 1}),
        (f"The set {{a, b}} and {{}} and {{x: 1}} mean nothing. {NUMBERS}", {"n": 1}),
        (f'He said {{"so and so}} and left. {NUMBERS}', {"n": 1}),
        ('{"n": {"m": {"k": 1}}}', {"n": {"m": {"k": 1}}}),
        ('{"n": "a brace } and {\\"m\\": 2}"}', {"n": 'a brace } and {"m": 2}'}),
        ('{\n  "n"\n :\t1\r\n}', {"n": 1}),
        ('\ufeff {"n": "ü 🚢"}', {"n": "ü 🚢"}),
        ('{"n": 1}{"m": 2}', {"m": 2}),
        ("That is what I give: {}", {}),
    ],
)
def test_the_object_at_the_end_of_a_text_counts(text, last):
    assert final_object(text) == last


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no object at all",
        "[1, 2, 3]",
        "{a: 1}",
        "{'n': 1}",
        '"{"',
        '{"n": 1',
        '{"n": "cut off in the mid',
        '{"n": "cut off behind {} and {}',
        '{"n": 1, "m": {"k": 2}',
        '{"n": 1, "inner": {"sentence_ids": [], "context_ids": []}, "summary":',
        '{"n": 1} but then {"n": 1, "m',
        '{"n": 1} but then {"m": "he said "no" to it"}',
        '{"n": ' + "9" * 5_000 + "}",
        '{"n": 1,}',
        '{"n": 1} is what I give',
        '{"n": 1}\n```\nThat is my answer.',
        '{"n": 1}\nThe set {a, b} has nothing to do with it. } {',
        'A draft: {"n": 0}. Better: {"n": 1}',
        'The text says {"n": 0, "m": 1}. I say {"n": 1}',
    ],
)
def test_a_text_without_one_object_at_its_end_or_with_one_cut_off_is_invalid(text):
    with pytest.raises(InvalidAnswer):
        final_object(text)


@given(
    st.text(),
    st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.text())),
    st.text(alphabet=" \n\t`"),
)
def test_an_object_is_found_behind_any_words_and_before_nothing_but_a_fence(before, value, after):
    text = before.replace("{", "(") + json.dumps(value) + after
    if after.strip() in ("", *("`" * fence for fence in range(3, len(after) + 1))):
        assert final_object(text) == value
    else:
        with pytest.raises(InvalidAnswer):
            final_object(text)


@settings(max_examples=10)
@given(
    st.dictionaries(
        st.text(),
        st.recursive(st.integers() | st.text(), lambda inner: st.lists(inner)),
        min_size=1,
    ),
    st.data(),
)
def test_an_object_cut_off_anywhere_is_invalid(value, data):
    whole = json.dumps(value)
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(InvalidAnswer):
        final_object(whole[:cut])


@pytest.mark.parametrize(
    "text",
    [
        '{"n": ' * 200_000,
        '{"n": ' * 200_000 + "1" + "}" * 200_000,
        '{"n": [' + "[" * 200_000,
        '{"' * 200_000,
        '{"n": 1} ' * 50_000 + '{"m": ',
        "{" * 500_000,
        '{"' + "a" * 1_000_000,
        '{"n": ' * 450 + "[" + "1, " * 200_000,
    ],
    ids=["open", "closed", "lists", "quotes", "many", "braces", "string", "long"],
)
def test_nesting_and_size_neither_crash_nor_take_long(text):
    begun = time.process_time()
    with pytest.raises(InvalidAnswer):
        final_object(text)
    assert time.process_time() - begun < 10, "with the square it would be minutes"


@pytest.mark.parametrize(
    ("values", "found", "dropped"),
    [
        ([3, 1, 2, 1], (1, 2, 3), 0),
        (["7-9"], (7, 8, 9), 0),
        (["7\u20139", " 12 - 13 ", "18\u201119"], (7, 8, 9, 12, 13, 18, 19), 0),
        (["5", " 6 ", 7.0], (5, 6, 7), 0),
        (["4-4"], (4,), 0),
        ([99, 100, 101], (99,), 2),
        (["98-101"], (98, 99), 2),
        (["100-103"], (), 4),
        (["9-7"], (), 1),
        ([-1, "-1", "-3-2"], (), 3),
        ([True, False, None], (), 3),
        ([1.5, "1.5", "one", "", "[[1]]:5", "1, 2"], (), 6),
        ([[1], {"id": 2}], (), 2),
        ([10**30, 1e300], (), 2),
        ([1, 1, 200, 200], (1,), 2),
    ],
)  # fmt: skip
def test_ranges_and_strings_are_read_and_what_is_no_id_of_the_prompt_is_dropped_and_counted(
    values, found, dropped
):
    assert ids(0, *values) == ((0, *found), dropped)
    alone = read_selection(selection(values), 100)
    assert (alone.evidence, alone.dropped) == (found, dropped)


def test_a_huge_range_is_quick_and_counted():
    begun = time.perf_counter()
    assert ids("90-999999999999") == (tuple(range(90, 100)), 999_999_999_900)
    assert time.perf_counter() - begun < 0.5


@given(st.lists(st.integers(0, 60) | st.tuples(st.integers(0, 60), st.integers(0, 60))))
def test_every_id_is_selected_or_counted(values):
    expected, dropped = set(), 0
    for value in values:
        first, last = value if isinstance(value, tuple) else (value, value)
        span = range(first, last + 1)
        expected.update(n for n in span if n < 40)
        dropped += sum(n >= 40 for n in span) if span else 1
    sent = [f"{v[0]}-{v[1]}" if isinstance(v, tuple) else v for v in values]
    assert ids(*sent, sentences=40) == (tuple(sorted(expected)), dropped)


def test_an_id_named_as_both_is_evidence():
    read = read_selection(selection([1, 2], ["2-3"]), 10)
    assert (read.evidence, read.context) == ((1, 2), (3,))


@pytest.mark.parametrize("summary", [None, "", " \n\t"])
def test_selected_sentences_without_a_summary_are_invalid(summary):
    with pytest.raises(InvalidAnswer, match="summary"):
        read_selection(selection([1], [], summary), 10)
    assert read_selection(selection([], [], summary), 10).evidence == ()


def test_summary_and_missing_are_kept_without_outer_whitespace():
    read = read_selection(selection([1], summary=" S.\n", missing="\tM. "), 10)
    assert (read.summary, read.missing) == ("S.", "M.")


@pytest.mark.parametrize("key", ["sentence_ids", "context_ids", "summary", "missing"])
def test_a_missing_key_is_invalid_and_named(key):
    answer = json.loads(selection([1]))
    del answer[key]
    with pytest.raises(InvalidAnswer, match=key):
        read_selection(json.dumps(answer), 10)


@pytest.mark.parametrize("value", [7, True, ["a"], {"a": 1}, 1.5])
@pytest.mark.parametrize("key", ["summary", "missing"])
def test_words_of_another_type_are_invalid(key, value):
    with pytest.raises(InvalidAnswer, match=key):
        read_selection(selection([1], **{key: value}), 10)


@pytest.mark.parametrize("verdict", list(Verdict))
@pytest.mark.parametrize("spelling", [str, str.lower, lambda name: f" {name.replace('_', ' ')} "])
def test_verdicts_are_read_in_any_case_and_with_blanks(verdict, spelling):
    text = json.dumps({"verdict": spelling(str(verdict)), "reason": " Because. "})
    read = read_verdict(text)
    assert read.verdict is verdict
    assert read.reason == "Because."


@pytest.mark.parametrize(
    "answer",
    [
        {"verdict": "SUPPORTED", "reason": "r"},
        {"verdict": "", "reason": "r"},
        {"verdict": None, "reason": "r"},
        {"verdict": 1, "reason": "r"},
        {"verdict": ["FULLY_SUPPORTED"], "reason": "r"},
        {"verdict": "FULLY_SUPPORTED NOT_FULLY_SUPPORTED", "reason": "r"},
        {"verdict": SURROGATE, "reason": "r"},
        {"verdict": "FULLY_SUPPORTED"},
        {"reason": "FULLY_SUPPORTED"},
        {"verdict": "FULLY_SUPPORTED", "reason": ["r"]},
        {},
    ],
)
def test_an_unknown_verdict_another_type_or_a_missing_key_is_invalid(answer):
    with pytest.raises(InvalidAnswer):
        read_verdict(json.dumps(answer))


def test_words_in_the_reasoning_do_not_count_and_a_second_verdict_makes_it_invalid():
    last = '{"verdict": "INCONCLUSIVE", "reason": "after all"}'
    assert read_verdict(f"FULLY_SUPPORTED is too much.\n{last}").verdict is Verdict.INCONCLUSIVE
    draft = '{"verdict": "FULLY_SUPPORTED", "reason": "a draft"}'
    with pytest.raises(InvalidAnswer, match="say different things"):
        read_verdict(f"{draft}\nNo: that is too much.\n{last}")


def test_a_verdict_whose_final_object_is_cut_off_is_not_taken_from_a_draft_before_it():
    draft = '{"verdict": "FULLY_SUPPORTED", "reason": "a draft"}'
    with pytest.raises(InvalidAnswer):
        read_verdict(f'{draft}\nAfter all: {{"verdict": "INCONCLUSIVE", "reason": "it is')


@pytest.mark.parametrize(
    "read",
    [
        lambda: read_selection(selection([1], summary=f"a {SURROGATE} b"), 10),
        lambda: read_selection(selection([1], missing=SURROGATE), 10),
        lambda: read_verdict(json.dumps({"verdict": "INCONCLUSIVE", "reason": SURROGATE})),
        lambda: read_claims(json.dumps({"claims": ["fine", f"x{SURROGATE}"]})),
        lambda: read_outcome(
            json.dumps({"outcome": "clear", "sentence": SURROGATE}), frozenset({"clear"})
        ),
    ],
    ids=["summary", "missing", "reason", "claims", "sentence"],
)
def test_a_lone_surrogate_is_invalid_and_its_message_can_be_written(read):
    with pytest.raises(InvalidAnswer) as caught:
        read()
    str(caught.value).encode()


def test_claims_are_read_once_each_in_order_without_blank_ones():
    text = json.dumps({"claims": ["b", " a ", "", "  ", "b", "a"]})
    assert read_claims(text) == ("b", "a")
    assert read_claims('{"claims": []}') == ()


@pytest.mark.parametrize("outcome", ["other", "", None, 1, ["clear"]])
def test_an_unknown_outcome_is_invalid(outcome):
    with pytest.raises(InvalidAnswer, match="outcome"):
        read_outcome(
            json.dumps({"outcome": outcome, "sentence": None}), frozenset({"clear", "not"})
        )


@given(st.text())
def test_any_text_is_read_or_invalid(text):
    for read in (lambda t: read_selection(t, 5), read_verdict, read_claims):
        with pytest.raises(InvalidAnswer):
            read(text)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("True", Verdict.FULLY_SUPPORTED),
        ("**False.**", Verdict.NOT_FULLY_SUPPORTED),
        ("Answer: true, since the quay opened in 1901.", Verdict.FULLY_SUPPORTED),
        ("False. It would be true had it opened later.", Verdict.NOT_FULLY_SUPPORTED),
        ("By the excerpts, the statement is false.", Verdict.NOT_FULLY_SUPPORTED),
        ('Answer: "True."', Verdict.FULLY_SUPPORTED),
        ("Sentence 4 says “true”, and the claim is false.", Verdict.NOT_FULLY_SUPPORTED),
    ],
)
def test_true_and_false_are_read_as_verdicts(text: str, verdict: Verdict) -> None:
    read = read_true_false(text)
    assert (read.verdict, read.reason) == (verdict, text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("It is true, not false.", "both True and False"),
        ("True is what sentence 4 demands, and false is the claim.", "both True and False"),
        ("Untrue, I think.", "neither"),
        ('"True" is what sentence 4 demands.', "neither"),
    ],
)
def test_an_answer_with_both_words_or_none_is_invalid(text: str, said: str) -> None:
    with pytest.raises(InvalidAnswer, match=said):
        read_true_false(text)
