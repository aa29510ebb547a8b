"""The agreement page without a browser: who differs from whom, and what is said of figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes.reviewing import FS, INC, NFS, UNCLEAR, a_claim, a_review, reviewed

from veritrail_graph.api.page.views.agreement import (
    AgreementState,
    disputed,
    disputes_of,
    line_of,
)
from veritrail_graph.api.page.views.review import Reviewer
from veritrail_graph.graph.agreement import figures
from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.model.agreement import AgreementFigures
from veritrail_graph.graph.model.listed import QueuedClaim
from veritrail_graph.graph.model.review import reviewed_claims

YES, NO = Verdict.FULLY_SUPPORTED, Verdict.NOT_FULLY_SUPPORTED
ADA = Reviewer("Ada")
EVERY = [
    QueuedClaim("agreed", YES),
    QueuedClaim("people", YES),
    QueuedClaim("model", NO),
    QueuedClaim("unclear", YES),
    QueuedClaim("bare"),
]
SAID = reviewed_claims(
    a_review(claim_id, verdict, reviewer)
    for claim_id, words in {
        "agreed": {"Ada": FS, "Bo": FS},
        "people": {"Ada": FS, "Bo": UNCLEAR},
        "model": {"Bo": FS},
        "unclear": {"Ada": UNCLEAR},
        "bare": {"Ada": UNCLEAR},
    }.items()
    for reviewer, verdict in words.items()
)


def state(**parts: Any) -> AgreementState:
    return replace(AgreementState("p"), **parts)


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        ({}, ("people", "model")),
        ({"whom": "model"}, ("model",)),
        ({"whom": "people"}, ("people",)),
        ({"reviewer": "Ada"}, ("people",)),
        ({"reviewer": "Nobody"}, ()),
    ],
)
def test_disagreements_are_told_by_whom_they_are_with(
    parts: dict[str, str], names: tuple[str, ...]
) -> None:
    assert disputed(state(**parts), EVERY, SAID, "Ada").names == names


def test_blind_the_claims_that_the_reader_has_not_judged_are_left_out_and_counted() -> None:
    found = disputed(state(blind=True), EVERY, SAID, "Ada")
    assert (found.names, found.hidden, found.total) == (("people",), 1, 1)
    nobody = disputed(state(blind=True), EVERY, SAID, None)
    assert (nobody.names, nobody.hidden) == ((), 2)


def test_a_disagreement_stands_side_by_side_own_words_first() -> None:
    claims = {"k": a_claim("k", NFS)}
    reviews = [a_review("k", FS, "Bo"), a_review("k", INC, "Ada", "Look again.")]
    found = disputed(state(), [QueuedClaim("k", NO)], reviewed_claims(reviews), "Ada")
    (one,) = disputes_of(state(), found, claims, {"k": reviewed(reviews, NO)}, ADA)
    assert one.mark.kind == "not-supported"
    assert [(side.reviewer, side.mark.kind, side.is_mine) for side in one.sides] == [
        ("Ada", "inconclusive", True), ("Bo", "supported", False),
    ]  # fmt: skip
    assert (one.with_model, one.with_people) == (True, True)
    assert disputes_of(state(), found, {}, {}, ADA) == []


def test_of_a_claim_that_was_decided_the_decision_alone_disagrees() -> None:
    chief = a_review("k", NFS, "Chief").replace(adjudicates=True)
    said = reviewed_claims([a_review("k", FS, "Ada"), a_review("k", NFS, "Bo"), chief])
    assert disputed(state(), [QueuedClaim("k", NO)], said, "Ada").names == ()
    assert disputed(state(), [QueuedClaim("k", YES)], said, "Ada").names == ("k",)
    assert disputed(state(whom="people"), [QueuedClaim("k", YES)], said, "Ada").names == ()


def pairs(*counts: tuple[Verdict, Verdict, int]) -> AgreementFigures:
    found = [(one, other) for one, other, count in counts for _ in range(count)]
    return AgreementFigures(**figures(found))


def test_figures_that_are_not_defined_are_said_to_be_so_and_are_never_0() -> None:
    nothing = line_of("x", pairs())
    assert (nothing.share, nothing.kappa, nothing.interval) == (
        "nothing to compare", "nothing to compare", "",
    )  # fmt: skip
    same = line_of("x", pairs((YES, YES, 5)))
    assert (same.share, same.kappa) == ("100 %", "not defined: one verdict throughout")
    some = line_of("x", pairs((YES, YES, 40), (NO, NO, 40), (YES, NO, 20)))
    assert (some.share, some.kappa, some.figures.small) == ("80 %", "0.62", False)
    assert some.interval == "71 % to 87 %"
