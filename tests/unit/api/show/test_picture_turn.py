"""The picture of a claim of a dialogue's turn."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.shown_fields import WRITERS, fields_of, left_out

from veritrail_graph.api.show.dialogue_run import OF_CLAIM_NOT_SHOWN, turn_claim_shown
from veritrail_graph.api.show.drawing import Tone
from veritrail_graph.api.show.notebook import page
from veritrail_graph.api.show.picture_svg import svg
from veritrail_graph.api.show.picture_turn import finding_picture, turn_picture
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.dialogue import ClaimCategory, TurnClaim
from veritrail_graph.graph.model.finding import CheckedClaim, Finding, FindingNode, FindingQuote
from veritrail_graph.graph.model.turn_claim import TurnClaimFound

CLAIM = "The museum opens at eleven."
TURN = {"node_id": "turn/t8", "name": "turn/t8", "stage": 8}


def finding(category: ClaimCategory, source: FindingQuote | None = None, **more: Any) -> Finding:
    return Finding(
        process_id="d",
        claim_id="c-1",
        claim=CLAIM,
        verdict=None,
        category=category,
        verification_id="v-1",
        source=source,
        wrote=FindingQuote(**TURN, text=CLAIM, marked=((20, 26),) if source else ()),
        **more,
    )


def found(category: ClaimCategory | None, status: Status = Status.SUCCEEDED) -> TurnClaimFound:
    return TurnClaimFound(
        dialogue_id="d",
        run_id="r-1",
        engine="openai",
        indicative=False,
        turn_id="t8",
        turn=FindingNode(**TURN),
        claim=TurnClaim(claim_id="c-1", claim=CLAIM, category=category),
        result=CheckedClaim(
            process_id="d", claim_id="c-1", claim=CLAIM, verdict=None, category=category,
            status=status, reason=None if category else "Cannot tell without a model.",
        ),
    )  # fmt: skip


def test_a_contradicted_claim_stands_beside_what_was_said_before_and_what_differs() -> None:
    said = "The museum opens at ten."
    source = FindingQuote(node_id="turn/t4", name="turn/t4", stage=4, text=said, marked=((20, 23),))
    drawn = finding_picture(finding(ClaimCategory.CONTRADICTED, source))
    (before, turn), (joint,) = drawn.columns, drawn.joints
    assert (before.boxes[0].text, before.boxes[0].tone) == (said, Tone.RIGHT)
    assert (turn.boxes[0].node_id, turn.boxes[0].tone) == ("turn/t8", Tone.WRONG)
    assert (joint.is_broken, joint.difference) == (True, "ten → eleven")
    assert (drawn.verdict, drawn.news) == ("Contradicted", "contradicts what turn/t4 says")
    assert ">ten<" in svg(drawn)


def test_what_no_document_says_has_no_source_and_what_documents_deny_no_broken_line() -> None:
    lacks = finding_picture(finding(ClaimCategory.LACKING_EVIDENCE))
    assert lacks.columns[0].boxes[0].tone is Tone.OPEN
    assert lacks.joints[0].difference == "no source"
    denied = finding_picture(finding(ClaimCategory.CONTRADICTED))
    assert not denied.joints[0].is_broken
    assert denied.columns[0].boxes[0].text == "The documents of its turn say something else"


@pytest.mark.parametrize(
    ("category", "status", "tone"),
    [
        (ClaimCategory.VERIFIED, Status.SUCCEEDED, Tone.RIGHT),
        (ClaimCategory.ABSTENTION, Status.SUCCEEDED, Tone.OPEN),
        (None, Status.UNDECIDED, Tone.OPEN),
        (None, Status.FAILED, Tone.OPEN),
    ],
)
def test_nothing_is_red_in_a_claim_that_is_not_wrong(
    category: ClaimCategory | None, status: Status, tone: Tone
) -> None:
    drawn = turn_picture(found(category, status))
    assert [box.tone for column in drawn.columns for box in column.boxes] == [tone, tone]
    assert drawn.news == ("" if category else "Cannot tell without a model.")
    assert drawn.verdict != ""


def test_a_finding_of_a_verification_is_not_drawn_as_one_of_a_turn() -> None:
    with pytest.raises(ValueError, match="its trail"):
        finding_picture(finding(ClaimCategory.CONTRADICTED).model_copy(update={"category": None}))


@pytest.mark.parametrize("writer", WRITERS)
def test_every_field_of_a_claim_of_a_turn_stands_in_what_a_writer_makes(writer: str) -> None:
    one = found(ClaimCategory.CONTRADICTED).replace(model="a-model", indicative=True)
    names = [f"TurnClaimFound.{name}" for name in type(one).model_fields]
    inner = fields_of([one]) - {*names}
    words = {"TurnClaimFound.indicative": "indicative only"}
    left = left_out(writer, [one], [turn_claim_shown(one)], words, {*OF_CLAIM_NOT_SHOWN, *inner})
    assert left == {}


def test_a_page_of_a_claim_has_its_text_as_text_and_loads_nothing() -> None:
    evil = found(ClaimCategory.CONTRADICTED)
    evil = evil.replace(claim=evil.claim.replace(claim="<script>x</script>", reason="<b>so</b>"))
    made = page(turn_claim_shown(evil))
    assert made.startswith("<!doctype html><meta charset='utf-8'><title>&lt;script&gt;")
    assert "<script>x" not in made
    assert "Reason</strong>: &lt;b&gt;so" in made
    assert "<svg" in made
    assert "src=" not in made
