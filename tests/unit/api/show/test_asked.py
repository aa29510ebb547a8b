"""Questions: whether a text says what was asked, and that nobody is blamed where that is open."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.trails import FS, LEXICAL, NFS, NODES, a_round, a_trail

from veritrail_graph.api.client.page import trail_shown
from veritrail_graph.api.show.notebook import html
from veritrail_graph.api.show.trail_view import trail_view
from veritrail_graph.api.show.words import SAYING_OPEN, UNSAID
from veritrail_graph.graph.model import Claim, ClaimOrigin, NodeRef, Role, Verification
from veritrail_graph.verifier.asked import is_said

ANSWER = NodeRef("t", 3, 4, Role.TERMINAL)
TEXT = """# The mission

Agent Alex Mercer keeps to the rules while the mission is under way. The quay reopened in 2021.
So it was! The budget was 130,000 euros in all.
"""


@pytest.mark.parametrize(
    ("claim", "is_there"),
    [
        ("The quay reopened in 2021.", True),
        ("the quay  reopened in 2021", True),
        ("So it was.", True),
        ("Agent Alex Mercer leads the mission.", None),
        ("The quay did not reopen in 2021.", None),
        ("The budget was 310,000 euros in all.", None),
        ("Penguins built the lighthouse.", False),
        ("It is.", False),
    ],
)
def test_a_text_says_what_it_has_in_the_same_words(claim: str, is_there: bool | None) -> None:
    assert is_said(ANSWER, TEXT, claim) is is_there


def asked(said: bool | None, **other: Any) -> Verification:
    """A question whose walk found a step that supports it, and no source that does."""
    claim = Claim(
        claim_id="q1", text="It snowed.", node_id="t", origin=ClaimOrigin.ASKED, said=said
    )
    return a_trail(
        "v-1",
        a_round(1, FS, "s1", (("s1", 0),)),
        a_round(2, NFS, "c1", (("c1", 0),)),
        claim=claim,
        error_nodes=(NODES["s1"],),
        propagated_nodes=(ANSWER,),
        **other,
    )


@pytest.mark.parametrize(("said", "words"), [(False, UNSAID), (None, SAYING_OPEN)])
def test_a_question_that_the_answer_is_not_known_to_say_is_blamed_on_nobody(
    said: bool | None, words: str
) -> None:
    found = asked(said, **LEXICAL)
    assert (found.error_nodes, found.error_stages, found.propagated_nodes) == ((), (), ())
    assert (found.json_object()["error_nodes"], found.json_object()["error_stages"]) == ([], [])
    view = trail_view(found)
    assert (view.unsaid, view.introduced, view.inherited) == (words, (), ())
    assert not any(node.introduced for node in view.nodes)
    assert words in html(trail_shown(found))


def test_what_the_answer_says_or_a_model_judged_is_located() -> None:
    said, judged = asked(True, **LEXICAL), asked(None)
    assert said.error_stages == judged.error_stages == (2,)
    assert (trail_view(said).unsaid, trail_view(judged).unsaid) == (None, None)
