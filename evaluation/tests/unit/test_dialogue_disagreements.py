"""Kinds of disagreement about turns and claims, as the paper's Table 7 counts them."""

from __future__ import annotations

import pytest

from veritrail_eval.dialogues.claim_sets import ClaimMatcher
from veritrail_eval.dialogues.disagreements import (
    ClaimKind,
    TurnKind,
    between_annotators,
    turn_kind,
    with_data_set,
    with_method,
)
from veritrail_eval.dialogues.gold import (
    DialogueGold,
    LabelledTurn,
    LabelledTurnClaim,
    TurnAnnotation,
)
from veritrail_eval.dialogues.predicted import PredictedTurns
from veritrail_graph.graph.model.dialogue import (
    ClaimCategory,
    DialogueLabel,
    TurnClaim,
    TurnVerification,
)

V, OPINION, FALSE, LACKING, NO = (
    ClaimCategory.VERIFIED,
    ClaimCategory.OUT_OF_SCOPE,
    ClaimCategory.CONTRADICTED,
    ClaimCategory.LACKING_EVIDENCE,
    ClaimCategory.ABSTENTION,
)
OK, BAD = DialogueLabel.VERIFIED, DialogueLabel.UNVERIFIABLE


def claims(**categories: ClaimCategory) -> tuple[LabelledTurnClaim, ...]:
    return tuple(LabelledTurnClaim(claim=text, category=one) for text, one in categories.items())


@pytest.mark.parametrize(
    ("label", "categories", "kind"),
    [
        (OK, [V, V], TurnKind.VERIFIED),
        (OK, [], TurnKind.VERIFIED),
        (BAD, [V, OPINION], TurnKind.UNVERIFIABLE),
        (OK, [V, LACKING, OPINION], TurnKind.MISSED_HALLUCINATION),
        (OK, [FALSE], TurnKind.MISSED_HALLUCINATION),
        (OK, [V, OPINION, NO], TurnKind.MISHANDLED_OPINION_OR_ABSTENTION),
        (BAD, [V], TurnKind.VERIFIABLE_AFTER_ALL),
    ],
)
def test_a_label_and_the_claims_of_people_differ_in_a_kind(
    label: DialogueLabel, categories: list[ClaimCategory], kind: TurnKind
) -> None:
    said = claims(**{f"c{number}": one for number, one in enumerate(categories)})
    assert turn_kind(label, said) is kind


def _turn(number: int, **facts: object) -> LabelledTurn:
    return LabelledTurn.model_validate({"dialogue_id": "d", "turn_id": f"t{number}", **facts})


def test_turns_without_label_or_claims_do_not_count_against_the_data_set() -> None:
    turns = [
        _turn(1, label=OK, claims=claims(a=V)),
        _turn(2, label=OK, claims=claims(a=NO)),
        _turn(3, label=BAD),
        _turn(4, claims=claims(a=V)),
        _turn(5, label=BAD, claims=claims(a=V)),
        _turn(6, label=BAD, claims=claims(a=V), disfluent=True),
    ]
    found = with_data_set(DialogueGold({}, turns)).json_object()
    assert (found["turns"], found["differing"], found["claims"]) == (4, 3, 0)
    assert found["kinds"] == {
        "verified_by_both": 1,
        "unverifiable_for_both": 0,
        "missed_hallucination": 0,
        "mishandled_opinion_or_abstention": 1,
        "verifiable_after_all": 1,
        "disfluent": 1,
    }


def test_two_annotators_are_compared_both_ways_claim_by_claim() -> None:
    labels = (
        TurnAnnotation(annotator="ann", claims=claims(a=V, b=V, c=LACKING, d=FALSE, only=V)),
        TurnAnnotation(annotator="ben", claims=claims(A=LACKING, b=OPINION, c=V, d=LACKING)),
        TurnAnnotation(annotator="cleo", label=OK),
    )
    found = between_annotators(DialogueGold({}, [_turn(1, labels=labels)]), ClaimMatcher())
    assert list(found) == [("ann", "ben"), ("ben", "ann")]
    assert found["ann", "ben"].claims == {
        ClaimKind.MISSED_HALLUCINATION: 1,
        ClaimKind.MISHANDLED_OPINION_OR_ABSTENTION: 1,
        ClaimKind.VERIFIABLE_AFTER_ALL: 1,
        ClaimKind.OTHER_REASON: 1,
        ClaimKind.FIRST_ALONE: 1,
        ClaimKind.SECOND_ALONE: 0,
    }
    assert found["ben", "ann"].claims[ClaimKind.VERIFIABLE_AFTER_ALL] == 2
    assert found["ben", "ann"].claims[ClaimKind.SECOND_ALONE] == 1


def test_a_method_is_compared_with_the_claims_of_people() -> None:
    def judged(number: int, **categories: ClaimCategory | None) -> TurnVerification:
        return TurnVerification.of_claims(
            f"t{number}",
            [
                TurnClaim(
                    claim_id=text, claim=text, category=one, label=OK if one is V else BAD
                )
                for text, one in categories.items()
            ],
        )  # fmt: skip

    gold = DialogueGold(
        {},
        [
            _turn(1, claims=claims(a=LACKING)),
            _turn(2, claims=claims(a=V)),
            _turn(3, claims=claims(a=V)),
        ],
    )
    turns = {("d", "t1"): judged(1, a=V), ("d", "t2"): judged(2, a=FALSE, b=V)}
    found = with_method(PredictedTurns("vista", turns), gold, ClaimMatcher())
    assert dict(found.turns) == {
        TurnKind.MISSED_HALLUCINATION: 1,
        TurnKind.VERIFIABLE_AFTER_ALL: 1,
    }
    assert found.claims[ClaimKind.MISSED_HALLUCINATION] == 1
    assert found.claims[ClaimKind.FIRST_ALONE] == 1
    alone = with_method(PredictedTurns("judge", turns, names_claims=False), gold, ClaimMatcher())
    assert (alone.turns, sum(alone.claims.values())) == (found.turns, 0)
