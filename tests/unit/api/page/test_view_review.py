"""The review page without a browser: what is listed, what comes next, and what is hidden."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes.reviewing import FS, INC, NFS, UNCLEAR, a_claim, a_read, a_review, a_trail, reviewed

from veritrail_graph.api.page.views.review import (
    CLOSED,
    JUDGED_BLIND,
    OPENED,
    SHOWN,
    Reviewer,
    levels_of,
    marked_in,
    open_view,
    reading_of,
    row_of,
    saved_view,
)
from veritrail_graph.api.page.views.review_queue import Queue, ReviewState, queue_of, state_of
from veritrail_graph.graph.model import Claim, NodeRef, Role, Verdict
from veritrail_graph.graph.model.listed import QueuedClaim

ADA = Reviewer("Ada")
NAMES = {1: "source", 2: "summary", 3: "answer"}


def state(**parts: Any) -> ReviewState:
    return replace(ReviewState("p"), **parts)


def claims(number: int, verdict: Verdict | None = None) -> list[QueuedClaim]:
    return [QueuedClaim(f"k{place}", verdict) for place in range(number)]


def in_queue(which: ReviewState, number: int = 5, said: Any = None, size: int = 3) -> Queue:
    return queue_of(which, claims(number), said or {}, "Ada", size)


# --- the address


def test_whoever_does_not_say_is_blind() -> None:
    assert state_of("p", {}).blind
    assert state_of("p", {"blind": ""}).blind
    assert not state_of("p", {"blind": "0"}).blind


def test_a_filter_that_tells_the_verdict_is_left_out_in_blind_mode() -> None:
    blind = state_of("p", {"blind": "1", "verdict": "NOT_FULLY_SUPPORTED", "error_stage": "2"})
    assert (blind.verdict, blind.error_stage) == (None, None)
    shown = state_of("p", {"verdict": "NOT_FULLY_SUPPORTED", "error_stage": "2"})
    assert (shown.blind, shown.verdict, shown.error_stage) == (False, "NOT_FULLY_SUPPORTED", 2)
    assert (
        state_of("p", {"verdict": "INCONCLUSIVE", "blind": "0"}).with_blind(blind=True).verdict
        is None
    )


def test_an_address_holds_the_whole_state_and_encodes_ids() -> None:
    whole = ReviewState("a/b", "k&1", blind=False, show="open", verdict="none", error_stage=0)
    assert whole.href == (
        "/processes/a%2Fb/review?claim=k%261&blind=0&show=open&verdict=none&error_stage=0"
    )
    assert whole.saved("k&1", "k2").endswith("?claim=k2&blind=0&show=open&verdict=none"
                                             "&error_stage=0&saved=k%261")  # fmt: skip
    assert "claim=k%261" in whole.saved("k&1", None)


# --- the list


def test_the_first_claim_without_my_word_is_opened() -> None:
    said = {"k0": {"Ada": FS}, "k1": {"Bo": FS}}
    found = in_queue(state(), said=said)
    assert (found.claim, found.previous, found.following) == ("k1", "k0", "k2")
    assert (found.done, found.claims) == (1, 5)


def test_next_and_previous_follow_the_list_over_its_pages() -> None:
    found = in_queue(state(claim="k2"))
    assert (found.listed, found.first, found.total) == (("k0", "k1", "k2"), 0, 5)
    assert (found.previous, found.following) == ("k1", "k3")
    assert (found.before, found.behind) == (None, "k3")
    later = in_queue(state(claim="k3"))
    assert (later.listed, later.first, later.before, later.behind) == (("k3", "k4"), 3, "k0", None)
    assert in_queue(state(claim="k4")).following is None
    assert in_queue(state(claim="k0")).previous is None


@pytest.mark.parametrize(
    ("show", "listed"), [("open", ("k1", "k2")), ("mine", ("k0",)), ("others", ("k0", "k2"))]
)
def test_claims_are_chosen_by_who_reviewed_them(show: str, listed: tuple[str, ...]) -> None:
    said = {"k0": {"Ada": FS, "Bo": FS}, "k2": {"Bo": NFS}}
    assert in_queue(state(show=show), number=3, said=said).listed == listed


def test_claims_are_chosen_by_verdict_and_error_stage() -> None:
    every = [
        QueuedClaim("k0", Verdict.FULLY_SUPPORTED),
        QueuedClaim("k1", Verdict.NOT_FULLY_SUPPORTED, (2,)),
        QueuedClaim("k2"),
    ]
    for wanted, listed in (({"verdict": "none"}, ("k2",)), ({"error_stage": 2}, ("k1",))):
        assert queue_of(state(blind=False, **wanted), every, {}, "Ada").listed == listed


# --- what is shown, and what is hidden


def test_blind_nothing_of_the_model_is_told_until_i_have_judged() -> None:
    read = a_read(a_claim("k0", NFS, stages=(2,)), others=[a_review("k0", FS, "Bo")], trail=True)
    queue = queue_of(state(), claims(1), {}, "Ada")
    found = open_view(read, state(), queue, ADA)
    assert found is not None
    assert found.hidden
    told = (found.mark, found.reasoning, found.error_stages, found.said, found.claim_href)
    assert told == (None, None, (), (), None)
    row = found.row
    assert (row.mark, row.mine, row.others, row.disputed) == (None, None, 1, False)
    for secret in ("NOT_FULLY", "not-supported", "Because", "missing", "summary of", "Bo"):
        assert secret not in repr(found).replace("'summary'", "").replace("missing=()", "")


def test_once_i_have_judged_model_and_people_stand_side_by_side() -> None:
    mine = a_review("k0", FS, "Ada", "I counted.")
    read = a_read(a_claim("k0", NFS, stages=(2,)), others=[mine, a_review("k0", NFS, "Bo")],
                  trail=True)  # fmt: skip
    queue = queue_of(state(), claims(1), {"k0": {"Ada": FS}}, "Ada")
    found = open_view(read, state(), queue, ADA)
    assert found is not None
    assert found.mark is not None
    assert (found.hidden, found.mark.kind, found.error_stages) == (False, "not-supported", (2,))
    assert found.reasoning == "Because nothing says so."
    assert [(one.reviewer, one.is_mine, one.differs) for one in found.said] == [
        ("Ada", True, True), ("Bo", False, False),
    ]  # fmt: skip
    assert found.claim_href == "/processes/p/claims/k0"
    assert found.row.disputed


def test_the_word_of_somebody_else_opens_nothing_for_me() -> None:
    read = a_read(a_claim("k0", NFS), others=[a_review("k0", NFS, "Ada ")])
    assert row_of(read, state(), "k0", ADA).mark is None
    assert row_of(read, state(), "k0", Reviewer(None)).mark is None
    assert row_of(read, state(blind=False), "k0", Reviewer(None)).mark is not None


def test_whoever_differs_without_a_reason_is_asked_for_one_afterwards() -> None:
    silent = a_read(a_claim("k0", NFS), others=[a_review("k0", FS, "Ada", JUDGED_BLIND)])
    found = saved_view(silent, state(), "k0", ADA)
    assert found is not None
    assert found.lacks_reason
    same = a_read(a_claim("k0", NFS), others=[a_review("k0", NFS, "Ada", JUDGED_BLIND)])
    again = saved_view(same, state(), "k0", ADA)
    assert again is not None
    assert not again.lacks_reason
    assert saved_view(a_read(a_claim("k0", NFS)), state(), "k0", ADA) is None
    assert saved_view(silent, state(), "elsewhere", ADA) is None


def test_an_unclear_claim_differs_from_any_verdict() -> None:
    read = a_read(a_claim("k0", INC), others=[a_review("k0", UNCLEAR, "Ada", "Which?")])
    row = row_of(read, state(), "k0", ADA)
    assert row.mine is not None
    assert (row.mine.mark.word, row.mine.differs) == ("Unclear", True)
    assert reviewed([a_review("k0", UNCLEAR, "Ada", "Which?")]).reviewed_verdict is None


# --- levels and the answer


def test_blind_every_stage_stands_there_whatever_was_reached() -> None:
    deep, none = a_trail(levels=(2, 1)), a_trail(levels=())
    for trail in (deep, none, None):
        found = levels_of(trail, [1, 2, 3], NAMES, top=3, every=True)
        assert [one.level.stage for one in found] == [1, 2]
    assert [one.level.stage for one in levels_of(none, [1, 2, 3], NAMES, top=3)] == []
    assert [one.is_sources for one in levels_of(deep, [1, 2, 3], NAMES, top=3)] == [True, False]


def test_a_level_shows_little_until_it_is_opened() -> None:
    trail = a_trail(levels=(1,), nodes=60, sentences=50)
    (found,) = levels_of(trail, [1, 2], NAMES)
    assert (len(found.nodes), found.sentences, found.longest, found.is_cut) == (*CLOSED, True)
    assert (len(found.level.nodes), len(found.nodes[0].cited)) == (60, 50)
    (whole,) = levels_of(trail, [1, 2], NAMES, opened=1)
    assert (len(whole.nodes), whole.is_open, whole.is_cut) == (OPENED[0], True, False)


def test_a_sentence_found_twice_is_shown_once_and_a_long_one_is_cut() -> None:
    trail = a_trail(levels=(1,), text="x" * 5_000, rounds=3)
    (found,) = levels_of(trail, [1, 2], NAMES)
    assert (len(found.nodes[0].cited), found.is_cut) == (1, True)


# --- a node read in place


def test_a_node_is_read_in_place_around_what_was_picked() -> None:
    text = f"{'a ' * 5_000}Here it is.{' b' * 5_000}"
    start = text.index("Here")
    node = NodeRef("n/1", 1, 0, Role.ROOT)
    found = reading_of(state(claim="k0"), node, text, "source", ([], 0), [(start, start + 11)])
    assert [one.text for one in found.pieces if one.picked] == ["Here it is."]
    assert sum(len(one.text) for one in found.pieces) == SHOWN
    assert (found.cut_before, found.cut_after, found.length) == (True, True, len(text))
    assert found.closed == "/processes/p/review?claim=k0&blind=1"


def test_places_outside_the_text_or_over_one_another_break_nothing() -> None:
    node = NodeRef("t", 3, 0, Role.TERMINAL)
    marked = [(0, 4), (2, 6), (6, 6), (-1, 2), (5, 99)]
    found = reading_of(state(), node, "0123456789", "", ([], 0), marked)
    assert [(one.text, one.picked) for one in found.pieces] == [
        ("0123", True), ("45", True), ("6789", False),
    ]  # fmt: skip


def test_in_its_own_node_the_claim_is_marked_and_elsewhere_the_evidence() -> None:
    claim = Claim(claim_id="k0", text="Claim.", node_id="t", start=3, end=9)
    trail = a_trail(levels=(2,), text="It says so.")
    assert marked_in("t", claim, trail) == {(3, 9)}
    assert marked_in("n2-0", claim, trail) == {(0, 11)}
    assert marked_in("elsewhere", None, None) == set()
