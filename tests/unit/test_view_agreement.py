"""The agreement page without a browser: who differs from whom, and what is said of figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes.reviewing import FS, INC, NFS, UNCLEAR, a_claim, a_review, reviewed

from veritrail_graph.api.web.views.agreement import (
    AgreementState,
    confusion_of,
    disputed,
    disputes_of,
    figures_of,
    lines_of,
    said_of,
)
from veritrail_graph.api.web.views.review import Reviewer
from veritrail_graph.graph.agreement import Agreement, agreement_report
from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.store.review_queue import JudgedReview, QueuedClaim

YES, NO = Verdict.FULLY_SUPPORTED, Verdict.NOT_FULLY_SUPPORTED
ADA = Reviewer("Ada")
EVERY = [
    QueuedClaim("agreed", YES),
    QueuedClaim("people", YES),
    QueuedClaim("model", NO),
    QueuedClaim("unclear", YES),
    QueuedClaim("bare"),
]
SAID = {
    "agreed": {"Ada": FS, "Bo": FS},
    "people": {"Ada": FS, "Bo": UNCLEAR},
    "model": {"Bo": FS},
    "unclear": {"Ada": UNCLEAR},
    "bare": {"Ada": UNCLEAR},
}


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


def test_ten_thousand_disagreements_come_by_the_page_each_once() -> None:
    every = [QueuedClaim(f"k{number}", YES) for number in range(10_000)]
    said = {one.claim_id: {"Ada": NFS} for one in every}
    seen: list[str] = []
    after = None
    for _ in range(3):
        found = disputed(state(after=after), every, said, "Ada")
        assert (found.first, found.total) == (len(seen), 10_000)
        seen += found.names
        after = found.behind
    assert seen == [f"k{number}" for number in range(60)]
    last = disputed(state(after="k9998"), every, said, "Ada")
    assert (last.names, last.behind) == (("k9999",), None)
    assert disputed(state(after="gone"), every, said, "Ada").first == 0


def test_of_each_reviewer_the_latest_word_is_compared() -> None:
    first = a_review("k", NFS, "Ada")
    later = replace(first, review_id="z", verdict=FS, created_at="2026-02-01T00:00:00.000000Z")
    assert said_of([later, first]) == {"k": {"Ada": FS}}


def test_a_disagreement_stands_side_by_side_own_words_first() -> None:
    claims = {"k": a_claim("k", NFS)}
    reviews = [a_review("k", FS, "Bo"), a_review("k", INC, "Ada", "Look again.")]
    found = disputed(state(), [QueuedClaim("k", NO)], said_of(reviews), "Ada")
    (one,) = disputes_of(state(), found, claims, {"k": reviewed(reviews, NO)}, ADA)
    assert one.mark.kind == "not-supported"
    assert [(side.reviewer, side.mark.kind, side.is_mine) for side in one.sides] == [
        ("Ada", "inconclusive", True), ("Bo", "supported", False),
    ]  # fmt: skip
    assert (one.with_model, one.with_people) == (True, True)
    assert disputes_of(state(), found, {}, {}, ADA) == []


def test_figures_that_are_not_defined_are_said_to_be_so_and_are_never_0() -> None:
    nothing = figures_of("x", Agreement({}))
    assert (nothing.share, nothing.kappa, nothing.interval) == (
        "nothing to compare", "nothing to compare", "",
    )  # fmt: skip
    same = figures_of("x", Agreement({(YES, YES): 5}))
    assert (same.share, same.kappa) == ("100 %", "not defined: one verdict throughout")
    some = figures_of("x", Agreement({(YES, YES): 40, (NO, NO): 40, (YES, NO): 20}))
    assert (some.share, some.kappa, some.is_small) == ("80 %", "0.62", False)
    assert some.interval == "71 % to 87 %"


def test_the_table_has_the_model_down_and_people_across() -> None:
    found = confusion_of(Agreement({(YES, NO): 3, (YES, YES): 2}))
    assert [mark.word for mark in found.heads] == [
        "Fully Supported", "Not Fully Supported", "Inconclusive",
    ]  # fmt: skip
    mark, cells = found.rows[0]
    assert mark.kind == "supported"
    assert [(cell.count, cell.same) for cell in cells] == [(2, True), (3, False), (0, False)]


def test_many_reviewers_have_a_line_each_up_to_a_bound() -> None:
    reviews = [a_review("k", FS, f"R{number:03}") for number in range(150)]
    report = agreement_report([JudgedReview(one, "openai", "judge") for one in reviews])
    parts = {name: (len(lines), more) for name, lines, more in lines_of(report)}
    assert parts["Each reviewer and the model"] == (100, 50)
    assert parts["Reviewers with each other"] == (100, 150 * 149 // 2 - 100)
