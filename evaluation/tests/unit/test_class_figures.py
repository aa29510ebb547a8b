"""Figures of several classes: equal to scikit-learn, and to the paper's own matrices."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veritrail_eval.figures.classes import NONE, ClassCounts, Outcome

CLASSES = ("ABSTENTION", "CONTRADICTED", "LACKING_EVIDENCE", "OUT_OF_SCOPE", "VERIFIED")
OUTCOMES = st.lists(st.tuples(st.sampled_from(CLASSES), st.sampled_from((*CLASSES, None))))

# VISTA, Tables 12, 15 and 19: rows are the labels of people, columns answers; NONE is the fourth.
MATRICES = {
    "GPT-5": (
        (18, 0, 1, 0, 2, 1), (0, 6, 2, 0, 0, 0), (1, 11, 140, 0, 20, 41),
        (9, 3, 22, 1, 175, 17), (1, 8, 23, 0, 1, 385),
    ),
    "Llama-70B": (
        (2, 0, 0, 0, 2, 18), (0, 5, 0, 0, 0, 3), (0, 26, 57, 0, 28, 102),
        (0, 1, 4, 0, 154, 68), (0, 16, 0, 0, 0, 402),
    ),
    "Mistral-7B": (
        (13, 0, 1, 0, 8, 0), (0, 0, 1, 0, 3, 4), (0, 0, 13, 3, 105, 92),
        (6, 0, 4, 3, 175, 39), (0, 0, 7, 4, 27, 380),
    ),
}  # fmt: skip
# VISTA, Table 3: accuracy and macro F1 of claims, in per cent.
TABLE_3 = {"GPT-5": (81.53, 69.09), "Llama-70B": (69.82, 46.12), "Mistral-7B": (65.43, 43.99)}


@given(OUTCOMES)
def test_figures_are_those_of_scikit_learn(outcomes: list[Outcome]) -> None:
    from sklearn.metrics import accuracy_score, f1_score

    found = ClassCounts.of(CLASSES, outcomes)
    for counts, pairs in (
        (found, outcomes),
        (found.scored, [pair for pair in outcomes if pair[1] is not None]),
    ):
        labels = [label for label, _ in pairs]
        answers = [answer or NONE for _, answer in pairs]
        if not pairs:
            assert counts.accuracy.value is counts.macro_f1.value is None
            continue
        assert counts.accuracy.value == pytest.approx(accuracy_score(labels, answers))
        if len(set(labels)) < 2:
            assert counts.macro_f1 == (None, "one class only")
            continue
        there = sorted({*labels, *answers} - {NONE})
        with warnings.catch_warnings(action="ignore"):
            expected = f1_score(labels, answers, labels=there, average="macro", zero_division=0)
        assert counts.macro_f1.value == pytest.approx(expected)


@given(OUTCOMES.filter(bool))
def test_the_matrix_is_that_of_scikit_learn_and_holds_every_item(outcomes: list[Outcome]) -> None:
    from sklearn.metrics import confusion_matrix

    found = ClassCounts.of(CLASSES, outcomes).as_json()
    order = [*CLASSES, NONE]
    expected = confusion_matrix(
        [label for label, _ in outcomes], [answer or NONE for _, answer in outcomes], labels=order
    )
    matrix = found["confusion"]
    assert [[matrix[row][column] for column in order] for row in CLASSES] == expected[:-1].tolist()
    none = sum(row[NONE] for row in matrix.values())
    assert found["scored"] + none == len(outcomes)


@pytest.mark.parametrize("model", TABLE_3)
def test_an_item_without_an_answer_is_wrong_where_the_paper_counts_so(model: str) -> None:
    columns = ("ABSTENTION", "CONTRADICTED", "LACKING_EVIDENCE", None, "OUT_OF_SCOPE", "VERIFIED")
    counts = {
        (label, answer): times
        for label, row in zip(CLASSES, MATRICES[model], strict=True)
        for answer, times in zip(columns, row, strict=True)
    }
    found = ClassCounts(CLASSES, counts)
    figures = [100 * (one.value or 0) for one in (found.accuracy, found.macro_f1)]
    assert [round(one, 2) for one in figures] == list(TABLE_3[model])
    assert found.items == 888


def test_a_figure_that_cannot_be_had_says_why() -> None:
    found = ClassCounts.of(("a", "b"), [("a", None)])
    assert found.as_json() == {
        "scored": 0,
        "accuracy": None,
        "macro_f1": None,
        "f1": {"a": None, "b": None},
        "with_none": {"accuracy": 0.0, "macro_f1": None},
        "confusion": {"a": {"a": 0, "b": 0, NONE: 1}, "b": {"a": 0, "b": 0, NONE: 0}},
        "reasons": {
            "accuracy": "nothing is scored",
            "macro_f1": "nothing is scored",
            "with_none.macro_f1": "one class only",
        },
    }
    assert found.precision("a").reason == "nothing is called a"
    assert found.recall("b").reason == "nothing has the label b"
