"""Sheets of turns: what annotators are given, what comes back, and what they agree on."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from eval_fakes.dataset_files import write_csv, write_json

from veritrail_eval.dialogues.claim_sets import ClaimMatcher
from veritrail_eval.dialogues.consensus import (
    agreed_on,
    annotated_claims,
    read_turn_decisions,
)
from veritrail_eval.dialogues.gold import (
    DialogueGold,
    LabelledTurn,
    LabelledTurnClaim,
    TurnAnnotation,
    read_gold,
    write_gold,
)
from veritrail_eval.dialogues.sheets import (
    CLAIMS_SHEET,
    COLUMNS,
    SPARE,
    is_dialogues,
    read_turns,
    write_dialogue_sheets,
)
from veritrail_eval.dialogues.sheets_back import (
    DialoguesBack,
    read_dialogue_sheets,
    with_annotations,
)
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.dialogue import ClaimCategory, DialogueLabel

openpyxl = pytest.importorskip("openpyxl")
docx = pytest.importorskip("docx")

V, LACKING, OPINION = (
    ClaimCategory.VERIFIED,
    ClaimCategory.LACKING_EVIDENCE,
    ClaimCategory.OUT_OF_SCOPE,
)
UNVERIFIABLE = DialogueLabel.UNVERIFIABLE
DIALOGUE: dict[str, Any] = {
    "format": "veritrail.dialogue/1",
    "dialogue_id": "quay",
    "documents": [{"document_id": "age", "text": "The quay opened in 1901."}],
    "turns": [
        {"turn_id": "t1", "role": "user", "text": "How old is the quay?"},
        {"turn_id": "t2", "role": "assistant", "text": "From 1901. I love it.",
         "documents": ["age"]},
        {"turn_id": "t3", "role": "user", "text": "Thanks"},
        {"turn_id": "t4", "role": "assistant", "text": "Mhm."},
    ],
}  # fmt: skip
PROPOSED = {("quay", "t2"): ["The quay is from 1901.", "=The quay is old."]}


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> DialogueGold:
    path = write_json(tmp_path_factory.mktemp("gold") / "quay.json", DIALOGUE)
    assert is_dialogues(path)
    return read_turns(path)


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory: pytest.TempPathFactory, gold: DialogueGold) -> Path:
    path = tmp_path_factory.mktemp("handed-out") / "sheets"
    write_dialogue_sheets(gold, "quay", path, ["ann", "ben"], proposed=PROPOSED)
    return path


@pytest.fixture
def folder(tmp_path: Path, handed_out: Path) -> Path:
    """Sheets of two annotators."""
    return shutil.copytree(handed_out, tmp_path / "sheets")


def fill(folder: Path, annotator: str, answers: Mapping[int, Sequence[str]]) -> None:
    """Write answers into rows, from column D on."""
    path = folder / annotator / "D01" / "claims.xlsx"
    book = openpyxl.load_workbook(path)
    for row, cells in answers.items():
        for column, text in enumerate(cells, start=4):
            book[CLAIMS_SHEET].cell(row, column).value = text
    book.save(path)


T4 = 2 + 2 + SPARE
"""The first row of the turn t4."""
ANSWERS: dict[int, Sequence[str]] = {
    2: ("keep", "", "Verifiable"),
    3: ("delete",),
    4: ("add", "The assistant loves the quay.", "Out of scope", "an opinion"),
    T4: ("no claims",),
}


def test_annotators_get_the_turns_with_claims_and_without_categories(folder: Path) -> None:
    sheet = openpyxl.load_workbook(folder / "ben" / "D01" / "claims.xlsx")[CLAIMS_SHEET]
    rows = [[cell.value for cell in row][:3] for row in sheet.iter_rows()]
    assert rows[0] == list(COLUMNS[:3])
    assert rows[1:3] == [["t2", "1", "The quay is from 1901."], ["t2", "2", "=The quay is old."]]
    assert [row[0] for row in rows[3:]] == ["t2"] * SPARE + ["t4"] * SPARE
    assert sheet.cell(3, 3).data_type == "s"
    text = "\n".join(
        one.text for one in docx.Document(folder / "ben" / "D01" / "dialogue.docx").paragraphs
    )
    assert "[t2, to be labelled] assistant: From 1901. I love it." in text
    assert "Document age, for t2" in text


def test_claims_come_back_kept_added_and_deleted(folder: Path, gold: DialogueGold) -> None:
    fill(folder, "ann", ANSWERS)
    fill(folder, "ben", {**ANSWERS, 3: ("edit", "The quay is very old.", "lacking evidence")})
    labels = read_dialogue_sheets(gold, folder).labels
    first, second = labels["quay", "t2"]
    assert (first.annotator, first.notes) == ("ann", "an opinion")
    assert [(one.claim, one.category) for one in first.claims or ()] == [
        ("The quay is from 1901.", V),
        ("The assistant loves the quay.", OPINION),
    ]
    assert [(one.claim, one.category) for one in second.claims or ()][1:] == [
        ("The quay is very old.", LACKING),
        ("The assistant loves the quay.", OPINION),
    ]
    assert [one.claims for one in labels["quay", "t4"]] == [(), ()]


def test_what_is_read_is_a_file_of_labelled_turns(
    folder: Path, gold: DialogueGold, tmp_path: Path
) -> None:
    fill(folder, "ann", ANSWERS)
    shutil.copy(folder / "ann/D01/claims.xlsx", folder / "ben/D01/claims.xlsx")
    found = agreed_on(with_annotations(gold, read_dialogue_sheets(gold, folder).labels), {})
    write_gold(found.gold, tmp_path / "labelled.jsonl")
    again = read_gold(tmp_path / "labelled.jsonl")
    assert again == found.gold
    assert [len(turn.claims or ()) for turn in again.turns] == [2, 0]
    with pytest.raises(InputError, match="the claims of all 2 are labelled; --all"):
        write_dialogue_sheets(again, "quay", tmp_path / "more", ["cleo"], proposed={})


@pytest.mark.parametrize(
    ("row", "cells", "place", "message"),
    [
        (2, ("keep",), "row 2, column F (Label)", "is empty; choose a label"),
        (2, ("keep", "", "Perhaps"), "row 2, column F (Label)", "'Perhaps' is none of"),
        (2, ("keep", "Other.", "Verifiable"), "row 2, column E", "holds a text, but 'keep'"),
        (3, ("edit", "", "Verifiable"), "row 3, column E", "'edit' needs the claim"),
        (3, ("add", "x", "Verifiable"), "row 3, column D", "none of keep, edit, delete"),
        (5, ("", "A claim.", "Verifiable"), "row 5, column D", "the row has an answer"),
        (5, ("add", "the quay is from 1901.", "Verifiable"), "row 5, column E", "already"),
        (5, ("no claims",), f"sheet {CLAIMS_SHEET}", "is chosen beside claims"),
        (3, ("",), f"sheet {CLAIMS_SHEET}", "1 claim(s) without an answer"),
        (T4, ("",), f"sheet {CLAIMS_SHEET}", "has no claim; add some"),
    ],
)
def test_each_fault_is_named_with_sheet_row_and_column(
    folder: Path, gold: DialogueGold, row: int, cells: Sequence[str], place: str, message: str
) -> None:
    fill(folder, "ann", {**ANSWERS, row: cells})
    fill(folder, "ben", ANSWERS)
    with pytest.raises(InputError, match="no label was taken") as error:
        read_dialogue_sheets(gold, folder)
    (fault,) = error.value.violations
    assert fault.where.startswith("ann/D01/claims.xlsx, sheet Claims")
    assert place in fault.where
    assert message in fault.message


def test_a_claim_that_was_changed_or_lost_is_a_fault(folder: Path, gold: DialogueGold) -> None:
    fill(folder, "ann", ANSWERS)
    fill(folder, "ben", ANSWERS)
    path = folder / "ben" / "D01" / "claims.xlsx"
    book = openpyxl.load_workbook(path)
    book[CLAIMS_SHEET].cell(2, 3).value = "The quay is from 1910."
    book[CLAIMS_SHEET].delete_rows(3)
    book.save(path)
    with pytest.raises(InputError) as error:
        read_dialogue_sheets(gold, folder)
    assert {one.kind for one in error.value.violations} == {"changed", "missing_row"}


def test_partial_counts_what_is_not_finished(folder: Path, gold: DialogueGold) -> None:
    fill(folder, "ann", {2: ("keep", "", "Verifiable"), T4: ("no claims",)})
    shutil.rmtree(folder / "ben")
    with pytest.raises(InputError):
        read_dialogue_sheets(gold, folder)
    back = read_dialogue_sheets(gold, folder, is_partial=True)
    assert (list(back.labels), back.unfinished) == ([("quay", "t4")], 3)


def test_sheets_of_other_dialogues_are_refused(folder: Path, gold: DialogueGold) -> None:
    with pytest.raises(InputError, match="Name the one that the sheets were made from"):
        read_dialogue_sheets(DialogueGold(gold.dialogues, gold.turns[:1]), folder)


def _said(name: str, **claims: ClaimCategory) -> TurnAnnotation:
    found = [LabelledTurnClaim(claim=text, category=one) for text, one in claims.items()]
    return TurnAnnotation(annotator=name, claims=tuple(found))


def _turns(gold: DialogueGold, *said: TurnAnnotation) -> DialogueGold:
    turn = LabelledTurn(dialogue_id="quay", turn_id="t2", labels=said)
    return DialogueGold(gold.dialogues, (turn,))


def test_claims_that_most_name_count_with_the_label_of_most(gold: DialogueGold) -> None:
    three = (_said("a", old=V, big=V), _said("b", Old=V, red=V), _said("c", old=LACKING, big=V))
    found = agreed_on(_turns(gold, *three), {})
    assert [(one.claim, one.category) for one in found.gold.turns[0].claims or ()] == [
        ("old", V),
        ("big", V),
    ]
    assert (found.dropped, found.unresolved) == (1, ())


def test_a_turn_waits_until_its_open_claims_are_decided(gold: DialogueGold, tmp_path: Path) -> None:
    turns = _turns(gold, _said("a", old=V, big=V), _said("b", old=LACKING, big=V))
    found = agreed_on(turns, {})
    assert found.gold.turns[0].claims is None
    assert [(one.claim, one.counts) for one in found.unresolved] == [("old", {V: 1, LACKING: 1})]
    row = {"dialogue_id": "quay", "turn_id": "t2", "claim": "old", "label": "Lacking evidence"}
    decisions = read_turn_decisions(write_csv(tmp_path / "d.csv", [row]), turns)
    claims = agreed_on(turns, decisions).gold.turns[0].claims or ()
    assert [one.category for one in claims] == [LACKING, V]
    bad = [{**row, "claim": "new"}, {**row, "label": "Perhaps"}, {**row, "turn_id": "t9"}]
    with pytest.raises(InputError) as error:
        read_turn_decisions(write_csv(tmp_path / "bad.csv", bad), turns)
    assert [one.where for one in error.value.violations] == [
        "row 2, column claim",
        "row 3, column label",
        "row 4, column turn_id",
    ]


REWORDED = {
    "a": "It opened in 1900.", "b": "It opened in the year 1900.", "c": "In 1900 it was opened.",
}  # fmt: skip


def _reworded(category: ClaimCategory, *, also: str | None = None) -> list[TurnAnnotation]:
    more = {} if also is None else {also: V}
    return [_said(name, **{text: category}, **more) for name, text in REWORDED.items()]


def test_claims_in_other_words_are_one_where_their_vectors_are_alike(gold: DialogueGold) -> None:
    turns = _turns(gold, *_reworded(LACKING))
    vectors = dict.fromkeys(annotated_claims(turns), (0.6, 0.8))
    found = agreed_on(turns, {}, ClaimMatcher(vectors, "m"))
    (turn,) = found.gold.turns
    assert [(one.claim, one.category) for one in turn.claims or ()] == [(REWORDED["a"], LACKING)]
    assert turn.consensus is UNVERIFIABLE
    assert (found.dropped, found.unresolved) == (0, ())


@pytest.mark.parametrize(
    "said",
    [
        _reworded(LACKING),
        _reworded(LACKING, also="old"),  # agreed: one verified claim
        [_said("a", red=LACKING), _said("b"), _said("c")],
        [_said("a", red=LACKING), _said("b", big=V), _said("c", old=V)],
    ],
)
def test_no_turn_is_verified_because_its_claims_were_left_out(
    gold: DialogueGold, said: list[TurnAnnotation]
) -> None:
    turns = _turns(gold, *said)
    found = agreed_on(turns, {})
    (turn,) = found.gold.turns
    assert (turn.claims, turn.consensus, turn.is_unresolved) == (None, None, True)
    assert found.unresolved_turns == 1
    assert all(one.counts == {LACKING: 1} for one in found.unresolved)
    assert not any(one.is_named_by_most for one in found.unresolved)
    claim = found.unresolved[0].claim
    decided = agreed_on(turns, {(turn.key, claim): LACKING})
    assert decided.gold.turns[0].consensus is UNVERIFIABLE
    every = {(turn.key, one.claim): V for one in found.unresolved}
    assert agreed_on(turns, every).gold.turns[0].consensus is DialogueLabel.VERIFIED


def test_a_claim_that_one_of_three_doubts_waits_for_nobody(gold: DialogueGold) -> None:
    said = [_said("a", old=V, red=LACKING), _said("b", old=V), _said("c", old=V)]
    found = agreed_on(_turns(gold, *said), {})
    assert found.gold.turns[0].consensus is DialogueLabel.VERIFIED
    assert (found.dropped, found.unresolved) == (1, ())


def test_a_new_answer_of_an_annotator_replaces_the_old_one(gold: DialogueGold) -> None:
    turns = _turns(gold, _said("a", old=V), _said("b", old=V))
    back = DialoguesBack({("quay", "t2"): [_said("a", big=V)]})
    (turn,) = with_annotations(turns, back.labels).turns
    assert [(one.annotator, (one.claims or ())[0].claim) for one in turn.labels] == [
        ("b", "old"),
        ("a", "big"),
    ]
