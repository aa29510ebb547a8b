"""Which processes stand first in the list, and what is said of them."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from typing import Any

import pytest
from fakes.rendered import rendered
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.api.app import summaries as standings
from veritrail_graph.api.app.summaries import Ranked, Summaries, place_of
from veritrail_graph.api.app.teamwork import WaitingClaims
from veritrail_graph.api.page.views.process import counts_of, item_of, unready_words, wanted
from veritrail_graph.graph.model import Usage
from veritrail_graph.graph.model.listed import Named, OutcomeSummary, UnreadyProcess

LONG_AGO = "2020-01-01T00:00:00.000000Z"


def ranked(name: str, changed: str = LONG_AGO, **outcomes: int) -> Ranked:
    named = Named(name, f"Report {name}", 3, LONG_AGO)
    standing = OutcomeSummary(outcomes, changed_at=changed)
    return Ranked(named, standing, place_of(named, standing))


def test_what_needs_attention_stands_first() -> None:
    in_order = [
        ranked("a-many-not-supported", NOT_FULLY_SUPPORTED=5, FULLY_SUPPORTED=50),
        ranked("b-one-not-supported", NOT_FULLY_SUPPORTED=1, failed=9),
        ranked("c-failed", failed=2, INCONCLUSIVE=9),
        ranked("d-over-budget", over_budget=1),
        ranked("e-inconclusive", INCONCLUSIVE=1, none=9),
        ranked("f-not-verified", none=1, FULLY_SUPPORTED=9),
        ranked("g-no-claims"),
        ranked("h-all-well", FULLY_SUPPORTED=3),
    ]
    for one, next_one in itertools.pairwise(in_order):
        assert one.place < next_one.place, (one.named.process_id, next_one.named.process_id)


def test_of_those_alike_the_newest_day_stands_first_and_of_a_day_the_worst() -> None:
    in_order = [
        ranked("worst-of-today", "2026-03-02T08:00:00Z", NOT_FULLY_SUPPORTED=2),
        ranked("today", "2026-03-02T09:00:00Z", NOT_FULLY_SUPPORTED=1),
        ranked("yesterday", "2026-03-01T23:00:00Z", NOT_FULLY_SUPPORTED=9),
        ranked("all-well-today", "2026-03-02T10:00:00Z", FULLY_SUPPORTED=9),
    ]
    assert in_order == sorted(in_order, key=lambda one: one.place)


def test_claims_that_wait_for_a_reviewer_are_counted_with_links_to_them() -> None:
    told = page(to_review=[WaitingClaims("p", 3), WaitingClaims("q", 5)])
    assert "<strong>8 claims wait for you</strong>" in told
    assert 'href="/processes/q/review?show=assigned"' in told
    assert "1 claim waits for you" in page(to_review=[WaitingClaims("p", 1)])


@given(
    st.dictionaries(
        st.sampled_from(
            ["FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED", "INCONCLUSIVE", "failed", "over_budget",
             "cancelled", "queued", "running", "none"]
        ),
        st.integers(1, 10_000),
    )
)  # fmt: skip
def test_no_claim_is_lost_in_the_counts(outcomes: dict[str, int]) -> None:
    counts = counts_of(outcomes)
    assert sum(number for _, number in counts) == sum(outcomes.values())
    kinds = [mark.kind for mark, _ in counts]
    assert len(kinds) == len(set(kinds))
    failed = sum(outcomes.get(one, 0) for one in ("failed", "over_budget", "cancelled"))
    assert {mark.kind: n for mark, n in counts}.get("failed", 0) == failed


@pytest.mark.parametrize("search", ["REPORT b", "b", "rep b", " b  report "])
def test_a_search_finds_words_in_name_and_id_in_any_order(search: str) -> None:
    found = wanted([ranked("alpha"), ranked("b")], search, None)
    assert [one.named.process_id for one in found] == ["b"]


def test_processes_that_are_not_ready_are_named_as_people_know_them() -> None:
    busy = UnreadyProcess("p", "loading", is_left=False)
    assert unready_words(busy) == "is being stored"
    assert "upload it again" in unready_words(replace(busy, is_left=True))


def page(**known: Any) -> str:
    """The list without any process in it."""
    found: dict[str, Any] = {
        "items": [],
        "unready": [],
        "is_known": True,
        "total": 0,
        "matching": None,
        "waiting": 0,
        "q": "",
        "first": None,
        "next": None,
        "to_review": [],
    }
    return rendered("processes.html", **{**found, **known})


NOTHING = "Nothing is stored yet"


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({}, NOTHING),
        ({"is_known": False}, "Not known yet"),
        ({"is_known": False, "q": "x", "matching": 0}, "Not known yet"),
        ({"first": "/"}, "The list ends here"),
        ({"first": "/", "total": 30}, "The list ends here"),
        ({"first": "/?q=x", "total": 30, "q": "x", "matching": 3}, "The list ends here"),
        ({"total": 30}, "The list ends here"),
        ({"total": 30, "waiting": 9, "q": "x", "matching": 0}, "Nothing found yet"),
        ({"total": 30, "q": "x", "matching": 0}, "Nothing has that in its name"),
    ],
)
def test_a_list_without_a_process_says_why(known: dict[str, Any], words: str) -> None:
    told = page(**known)
    assert f"<h2>{words}</h2>" in told
    assert told.count("<h2>") == 1
    assert (NOTHING in told) is (words == NOTHING)


@pytest.mark.parametrize(
    ("standing", "words", "others"),
    [
        (OutcomeSummary(), "Not verified yet", ("Only questions", "Indicative", "Cost")),
        (
            OutcomeSummary(changed_at=LONG_AGO),
            "Only questions were asked",
            ("Not verified yet", "Indicative", "Cost"),
        ),
        (
            OutcomeSummary({"FULLY_SUPPORTED": 1}, changed_at=LONG_AGO, verified=1),
            "Indicative: no model asked",
            ("Not verified yet", "Only questions", "Cost"),
        ),
    ],
)
def test_questions_alone_make_no_process_a_verified_one(
    standing: OutcomeSummary, words: str, others: tuple[str, ...]
) -> None:
    named = Named("p", "Report", 3, LONG_AGO)
    told = page(
        items=[item_of(Ranked(named, standing, place_of(named, standing)), standing)], total=1
    )
    assert words in told
    assert not [other for other in others if other in told]


def test_what_questions_cost_is_shown() -> None:
    named, paid = Named("p", "Report", 3, LONG_AGO), Usage(calls=2, cost_usd=0.5)
    standing = OutcomeSummary(usage=paid, changed_at=LONG_AGO, modelled=1)
    told = page(
        items=[item_of(Ranked(named, standing, place_of(named, standing)), standing)], total=1
    )
    assert "Cost" in told
    assert "Only questions were asked" in told


class Slow:
    """A connection to a graph that takes its time."""

    async def store(self) -> Any:
        await asyncio.Event().wait()


def test_before_anybody_has_looked_it_is_not_known_which_processes_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(standings, "PATIENCE_SECONDS", 0.01)
    order = asyncio.run(Summaries(Slow()).order())  # type: ignore[arg-type]
    assert not order.is_known
