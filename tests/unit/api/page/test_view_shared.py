"""What a person who comes with a link is told."""

from __future__ import annotations

import pytest

from veritrail_graph.api.auth.access import LOCAL, Caller
from veritrail_graph.api.auth.shares import ShareLink
from veritrail_graph.api.page.views.shared import shared_words
from veritrail_graph.graph.model.listed import InForce, Tally

LINK = ShareLink("s", "p", "", "Ada", 0.0, 86_400.0, None, "k-1", 3_600.0)
AT = "2026-01-31T09:30:00Z"
WORDS = InForce("lexical", None, 3, 2, AT)
MODEL = InForce("openai", "a-model", 3, 1, AT)


def told(*in_force: InForce, of: Caller = LINK.guest, indicative: int = 0, **states: int) -> str:
    return " ".join(shared_words(of, Tally(states, {}, 0, indicative, in_force)))


def test_a_guest_is_told_who_shared_it_and_until_when() -> None:
    assert told(WORDS, indicative=2, FULLY_SUPPORTED=2, unchecked=1) == (
        "Ada shared it with you, to read and to download. "
        "The link works until 1970-01-01 01:00 UTC. "
        "2 of its 3 claims have a verdict, given by comparing words, without a language model, "
        "which is indicative only."
    )
    own = ShareLink("s", "p", "", "local", 0.0, 86_400.0, None)
    assert told(of=own.guest).startswith("The operator of this service shared it")
    assert told(of=LOCAL, FULLY_SUPPORTED=1) == ""


@pytest.mark.parametrize(
    ("judges", "indicative", "states", "words"),
    [
        ((MODEL,), 0, {"FULLY_SUPPORTED": 1}, "1 of its 1 claim has a verdict, given by a-model"),
        ((WORDS, MODEL), 2, {"FULLY_SUPPORTED": 3}, "and by a-model; 2 of them are ind"),
        ((), 0, {"unchecked": 2}, "None of its 2 claims has a verdict yet."),
        ((), 0, {"undecided": 2}, "has a verdict; of 2 the check could not tell whether"),
        ((MODEL,), 0, {"FULLY_SUPPORTED": 1, "undecided": 2}, "by a-model; of 2 the check could"),
        ((), 0, {}, "No claims of it were checked."),
    ],
)
def test_a_guest_is_told_how_the_claims_were_checked(
    judges: tuple[InForce, ...], indicative: int, states: dict[str, int], words: str
) -> None:
    assert words in told(*judges, indicative=indicative, **states)


def test_a_guest_is_told_of_claims_that_were_checked_turn_by_turn() -> None:
    words = shared_words(LINK.guest, Tally({"unchecked": 6}, {}, 0, 0, of_turns=6))
    assert words[-1] == (
        "None of its 6 claims has a verdict; 6 were checked turn by turn, which the conversation "
        "shows."
    )
