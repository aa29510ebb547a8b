"""Parts of a claim in words: which failed and how, and what sentences say of them."""

from __future__ import annotations

import pytest
from fakes.trails import a_trail, cited

from veritrail_graph.api.show import plain
from veritrail_graph.api.show.located import BY_SIDES
from veritrail_graph.api.show.parts import failed_words, part_views, side_words
from veritrail_graph.api.show.picture import picture_of
from veritrail_graph.api.show.trail import shown
from veritrail_graph.api.show.trail_view import trail_view
from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    JudgedPart,
    LocatedBy,
    NodeRef,
    PartVerdict,
    Role,
    Says,
    Side,
    Verdict,
    Verification,
)

SENTENCE = cited("s", 0, 0, "The bell is old.").as_sentence()


def judged(*verdicts: str, parts: tuple[str, ...] = ()) -> Verification:
    claim = Claim(claim_id="k", text="The bell.", node_id="t", sub_claims=parts)
    given = [
        JudgedPart(part=number, verdict=PartVerdict(one)) for number, one in enumerate(verdicts, 1)
    ]
    return a_trail("v", claim=claim, verdict=Verdict.NOT_FULLY_SUPPORTED, parts=given)


def test_a_claim_says_which_parts_failed_and_whether_they_are_denied_or_not_mentioned() -> None:
    found = judged("supported", "contradicted", "not_addressed", parts=("A.", "B.", "C."))
    assert failed_words(found) == "contradicted: B.; not addressed: C."
    assert [one.words for one in part_views(found)] == [
        "supported",
        "contradicted",
        "not addressed",
    ]
    assert failed_words(judged("not_addressed")) == "not addressed"
    assert failed_words(judged("contested", "supported", parts=("A.", "B."))) is None
    assert failed_words(judged()) is None


def test_the_picture_says_it_beside_the_place() -> None:
    assert picture_of(trail_view(judged("not_addressed"))).news.endswith("; not addressed")


def test_a_place_by_sides_has_its_stage_for_people_and_says_how_it_was_found() -> None:
    step = NodeRef("s", 2, 0, Role.INTERMEDIATE)
    found = judged("contradicted").replace(error_nodes=(step,), located_by=LocatedBy.SIDES)
    assert found.error_stages == ()
    view = trail_view(found)
    assert view.error_stages == ("stage 2",)
    assert f"introduced at stage 2, {BY_SIDES}" in plain.text(shown(view))
    assert BY_SIDES in picture_of(view).news


@pytest.mark.parametrize(
    ("sides", "parts", "words"),
    [
        ((), 2, ""),
        (((1, "for"),), 1, "for"),
        (((2, "against"),), 2, "against part 2"),
        (((1, "for"), (2, "both")), 2, "for part 1, for and against part 2"),
    ],
)
def test_a_sentence_says_which_side_it_takes_on_which_part(sides, parts, words) -> None:
    of = tuple(Side(part=part, says=Says(says)) for part, says in sides)
    assert side_words(CitedSentence.of(SENTENCE, sides=of), parts) == words
