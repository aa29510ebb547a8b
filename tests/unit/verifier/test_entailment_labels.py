"""Names of outputs, probabilities from logits, and windows over long texts."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.nli.labels import Outputs, outputs_of, probability
from veritrail_graph.verifier.nli.port import Entailment
from veritrail_graph.verifier.nli.windows import (
    over_hypothesis,
    over_premise,
    slices,
    windows,
    words,
)
from veritrail_graph.verifier.ports import JudgeError

E, N, C, O = "entailment", "neutral", "contradiction", "-"  # noqa: E741


def roles(*names: str, given: str | None = None) -> tuple[str, ...]:
    return outputs_of(dict(enumerate(names)), "config.json", given).roles


@pytest.mark.parametrize(
    ("names", "meaning"),
    [
        (("entailment", "neutral", "contradiction"), (E, N, C)),
        (("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), (C, N, E)),
        (("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"), (E, C, N)),
        (("ALIGNED", "CONTRADICT", "NEUTRAL"), (E, C, N)),
        (("entailment", "not_entailment"), (E, O)),
        (("hallucinated", "consistent"), (O, E)),
        (("LABEL_0", "LABEL_1"), (O, E)),
        (("0", "1"), (O, E)),
        (("contradiction", "entailment"), (C, E)),
        (("score",), (E,)),
    ],
)
def test_names_of_labels_tell_their_meaning(names, meaning):
    assert roles(*names) == meaning


@pytest.mark.parametrize(
    "names",
    [
        ("LABEL_0", "LABEL_1", "LABEL_2"),
        ("positive", "negative"),
        ("entailment", "neutral", "sarcasm"),
        ("entails", "supports", "neutral"),
    ],
)
def test_labels_that_say_nothing_are_refused_and_can_be_named(names):
    with pytest.raises(InputError, match="which of them means entailment is not known") as error:
        roles(*names)
    assert error.value.code == "entailment_labels_unknown"
    meaning = ", ".join(["Entailment", *["-"] * (len(names) - 1)])
    assert roles(*names, given=meaning)[0] == E


@pytest.mark.parametrize("text", ["neutral,contradiction", "entailment,maybe", "", f"{E},{E}"])
def test_meanings_that_a_person_gives_are_checked(text):
    with pytest.raises(InputError, match="write the meaning of each output in order"):
        roles("a", "b", given=text)


def test_labels_are_numbered_from_0():
    with pytest.raises(InputError, match="not numbered from 0"):
        outputs_of({1: "entailment", 2: "neutral"}, "config.json")


finite = st.floats(-1e4, 1e4)


@given(finite, finite, finite)
def test_logits_become_probabilities_by_meaning_whatever_their_order(a, b, c):
    one = Outputs((E, N, C)).read([a, b, c])
    assert math.isclose(sum(one), 1.0)
    assert Outputs((C, E, N)).read([c, a, b]) == pytest.approx(one)
    two = Outputs((O, E)).read([b, a])
    assert two.neutral is two.contradiction is None
    assert math.isclose(two.entailment, Outputs((E,)).read([a - b]).entailment, abs_tol=1e-12)


@pytest.mark.parametrize("row", [[math.nan, 0.0, 0.0], [0.0, math.inf, 0.0], [0.0, 0.0], []])
def test_outputs_that_are_none_are_a_fault_of_the_judge(row):
    with pytest.raises(JudgeError):
        Outputs((E, N, C)).read(row)


@pytest.mark.parametrize("value", [math.nan, -0.1, 1.1, True, "0.5", None])
def test_a_probability_lies_between_0_and_1(value):
    with pytest.raises(ValueError, match="no probability"):
        probability(value)


@given(st.integers(0, 200), st.integers(1, 50), st.integers(0, 60))
def test_windows_cover_everything_and_overlap(count, size, overlap):
    found = windows(count, size, overlap)
    assert {unit for start, stop in found for unit in range(start, stop)} == set(range(count))
    assert all(stop - start <= size for start, stop in found)
    if count > size:
        assert all(stop - start == size for start, stop in found)
        shared = [a[1] - b[0] for a, b in pairwise(found)]
        assert min(shared) >= min(overlap, size - 1)


@given(st.text("ab \n", max_size=80), st.integers(1, 9))
def test_every_word_of_a_text_is_in_a_window(text, size):
    found = slices(text, words(text), size, size // 3)
    assert {word for part in found for word in part.split()} == set(text.split())


def test_a_run_without_blanks_is_cut():
    assert [stop - start for start, stop in words("x" * 450)] == [200, 200, 50]


def test_a_premise_says_what_a_window_says_and_a_hypothesis_needs_all_parts():
    one, other = Entailment(0.9, 0.1, 0.0), Entailment(0.2, 0.5, 0.3)
    assert over_premise([one, other]) == Entailment(0.9, 0.1, 0.3)
    assert over_hypothesis([one, other]) == Entailment(0.2, 0.5, 0.3)
    assert over_premise([Entailment(0.4), Entailment(0.6)]) == Entailment(0.6)
    assert (one.strength, Entailment(0.2, 0.1, 0.7).strength, Entailment(0.4).strength) == (
        0.9, 0.7, 0.4,
    )  # fmt: skip
    assert (one.silence, Entailment(0.4).silence) == (0.1, 0.6)
