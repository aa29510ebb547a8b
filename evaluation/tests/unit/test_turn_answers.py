"""What an annotator answers about a turn on the page, and what is wrong with it."""

from __future__ import annotations

import pytest

from veritrail_eval.dialogues.sheets import Action
from veritrail_eval.dialogues.turn_answers import (
    MOST_CLAIM,
    MOST_NOTES,
    MOST_ROWS,
    ClaimAnswer,
    TurnAnswer,
    annotation_of,
    given_answers,
    hash_of,
)
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.dialogue import ClaimCategory

VERIFIED, ABSTENTION = ClaimCategory.VERIFIED, ClaimCategory.ABSTENTION
KEPT = ClaimAnswer(proposed="It is open.", action=Action.KEEP, category=VERIFIED)
BLANK = ClaimAnswer(action=Action.ADD)


def answer(*claims: ClaimAnswer, **more: object) -> TurnAnswer:
    known = {"turn_id": "t2", "number": 2, "said": hash_of("It is open."), "annotator": "Ada"}
    return TurnAnswer.model_validate({**known, "claims": claims, **more})


def test_claims_are_kept_edited_deleted_and_added() -> None:
    found = annotation_of(
        answer(
            KEPT,
            ClaimAnswer(
                proposed="It opens.", action=Action.EDIT, text="It opens\n at ten.",
                category=ClaimCategory.LACKING_EVIDENCE,
            ),
            ClaimAnswer(proposed="It is closed.", action=Action.DELETE, category=VERIFIED),
            ClaimAnswer(action=Action.ADD, text=" I do not know. ", category=ABSTENTION),
            BLANK,
            notes=" Hard. ",
        )
    )  # fmt: skip
    assert [(one.claim, one.category) for one in found.claims or ()] == [
        ("It is open.", VERIFIED),
        ("It opens at ten.", ClaimCategory.LACKING_EVIDENCE),
        ("I do not know.", ABSTENTION),
    ]
    assert (found.annotator, found.label, found.notes) == ("Ada", None, "Hard.")


@pytest.mark.parametrize(
    "given",
    [
        answer(is_empty=True),
        answer(KEPT.replace(action=Action.DELETE)),
        answer(BLANK, is_empty=True),
    ],
)
def test_a_turn_may_make_no_claim(given: TurnAnswer) -> None:
    assert annotation_of(given).claims == ()


@pytest.mark.parametrize(
    ("given", "faults"),
    [
        (answer(), [("missing", "the turn")]),
        (answer(BLANK), [("missing", "the turn")]),
        (answer(KEPT, is_empty=True), [("contradictory", "the turn")]),
        (answer(KEPT, BLANK, KEPT.replace(action=None)), [("missing", "claim 2")]),
        (answer(KEPT.replace(category=None)), [("missing_label", "claim 1")]),
        (
            answer(KEPT.replace(action=Action.EDIT, category=None)),
            [("missing", "claim 1"), ("missing_label", "claim 1")],
        ),
        (answer(BLANK, BLANK.replace(category=VERIFIED)), [("missing", "new claim 2")]),
        (answer(BLANK.replace(text="So.")), [("missing_label", "new claim 1")]),
        (
            answer(KEPT, BLANK.replace(text="IT  is open", category=ABSTENTION)),
            [("duplicate", "new claim 1")],
        ),
        (
            answer(BLANK.replace(text="a" * (MOST_CLAIM + 1), category=VERIFIED)),
            [("too_long", "new claim 1")],
        ),
        (answer(KEPT, notes="a" * (MOST_NOTES + 1)), [("too_long", "the notes")]),
    ],
)
def test_every_fault_names_its_claim(given: TurnAnswer, faults: list[tuple[str, str]]) -> None:
    with pytest.raises(InputError) as refused:
        annotation_of(given)
    assert [(one.kind, one.where) for one in refused.value.violations] == faults


def test_a_form_is_read_as_far_as_it_makes_sense() -> None:
    fields = {
        "claim-1": "It is open.", "do-1": "keep", "text-1": "It is open.", "label-1": "VERIFIED",
        "claim-2": "So.", "do-2": "add", "label-2": "MAYBE",
        "new-1": "No.", "new-label-1": "ABSTENTION",
    }  # fmt: skip
    assert given_answers(fields, 2, 2) == (
        KEPT.replace(text="It is open."),
        ClaimAnswer(proposed="So."),
        ClaimAnswer(action=Action.ADD, text="No.", category=ABSTENTION),
        BLANK,
    )
    assert len(given_answers({}, 10**9, 10**9)) == 2 * MOST_ROWS
