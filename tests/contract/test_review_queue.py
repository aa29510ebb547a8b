"""Going through claims as a reviewer does, on both engines: all in order, and nothing twice."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from contract.query_cases import store_harbour

from veritrail_graph.graph.agreement import agreement_of
from veritrail_graph.graph.errors import NotFound, ReviewOutdated
from veritrail_graph.graph.model import ReviewVerdict, Status, Verdict
from veritrail_graph.graph.reviewing import NewReview, Seen, review_id_of, words_of
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine

FS, NFS, INC = (
    ReviewVerdict.FULLY_SUPPORTED,
    ReviewVerdict.NOT_FULLY_SUPPORTED,
    ReviewVerdict.INCONCLUSIVE,
)
SHIPS = "The harbour handled 320 ships in 2024."


@pytest.fixture
def harbour(store: Store, arun: Any, process_id: str) -> str:
    arun(store_harbour(store, process_id))
    return process_id


def given(verdict: str = FS, reviewer: str = "Ada", **rest: Any) -> NewReview:
    return NewReview(verdict, **{"reason": "I read it.", "reviewer": reviewer, **rest})


def test_the_queue_holds_every_claim_in_the_order_of_the_input(
    store: Store, arun: Any, harbour: str
) -> None:
    found = arun(store.reviews.queue(harbour))
    claims = arun(store.claims.all(harbour))
    assert [one.claim_id for one in found] == [claim.claim_id for claim in claims]
    judged = {one.claim_id: (one.verdict, one.error_stages) for one in found}
    assert judged["k1"] == (Verdict.FULLY_SUPPORTED, ())
    verdict, stages = judged["k2"]
    assert verdict is Verdict.NOT_FULLY_SUPPORTED
    assert stages
    assert judged["k4"] == (None, ())


def test_without_verdicts_the_queue_tells_nothing_of_them(
    store: Store, arun: Any, harbour: str
) -> None:
    found = arun(store.reviews.queue(harbour, judged=False))
    assert len(found) == len(arun(store.claims.all(harbour)))
    assert {(one.verdict, one.error_stages) for one in found} == {(None, ())}


def test_a_process_that_is_not_there_has_no_queue(store: Store, arun: Any, process_id: str) -> None:
    assert arun(store.reviews.queue(process_id)) == []
    assert arun(store.reviews.reviewers(process_id)) == {}
    assert arun(store.reviews.judged(process_id)) == []
    assert arun(store.claims.judged(process_id, ["k1"])) == {}


def test_who_has_reviewed_which_claims_is_told_once_each(
    store: Store, arun: Any, harbour: str
) -> None:
    for verdict, reviewer in ((FS, "Ada"), (NFS, "Bo"), (NFS, "Ada")):
        arun(store.reviews.add(harbour, "k2", given(verdict, reviewer)))
    arun(store.reviews.add(harbour, "k1", given(FS, "Bo")))
    assert arun(store.reviews.reviewers(harbour)) == {"k2": {"Ada", "Bo"}, "k1": {"Bo"}}


def test_all_reviews_at_once_give_the_figures_that_reading_them_by_the_page_gives(
    store: Store, arun: Any, harbour: str
) -> None:
    for claim_id, verdict, reviewer in (
        ("k2", FS, "Ada"), ("k2", NFS, "Bo"), ("k1", FS, "Bo"), ("k2", INC, "Ada"),
        ("k4", ReviewVerdict.UNCLEAR, "Ada"),
    ):  # fmt: skip
        arun(store.reviews.add(harbour, claim_id, given(verdict, reviewer)))
    whole = arun(store.reviews.all(harbour))
    packed = sorted(arun(store.reviews.judged(harbour)), key=lambda one: one.review.order)
    assert [(one.review.review_id, one.engine, one.model) for one in packed] == [
        (one.review.review_id, one.engine, one.model) for one in reversed(whole)
    ]
    assert agreement_of(harbour, packed) == agreement_of(harbour, whole)


def test_a_decision_counts_before_all_other_reviews_whatever_comes_later(
    store: Store, arun: Any, harbour: str
) -> None:
    for verdict, reviewer, decides in (
        (FS, "Ann", None), (NFS, "Bob", None), (NFS, "Chief", True), (FS, "Ann", None),
        (INC, "Chief", None),
    ):  # fmt: skip
        review = given(verdict, reviewer, adjudicates=decides)
        arun(store.reviews.add(harbour, "k2", review))

    def rows(query: str) -> list[dict[str, Any]]:
        found = arun(store.queries.run(query, {"process_id": harbour}))
        return [dict(zip(found.columns, row, strict=True)) for row in found.rows]

    state = arun(store.reviews.states(harbour))["k2"]
    agreement = agreement_of(harbour, arun(store.reviews.judged(harbour)))
    assert (state.disputed, agreement.disputed, agreement.claims) == (False, 0, 1)
    assert state.reviewed_verdict is state.verdict is Verdict.NOT_FULLY_SUPPORTED
    assert (agreement.overall.pairs, agreement.overall.agreed) == (1, 1)
    assert rows("disagreements") == []
    (claim,) = [one for one in rows("verifications") if one["review"] is not None]
    assert claim["review"] == "confirmed"
    counting = {(one["reviewer"], one["reviewed_verdict"]) for one in rows("reviews")
                if one["counts"]}  # fmt: skip
    assert counting == {("Ann", FS), ("Bob", NFS), ("Chief", NFS), ("Chief", INC)}


def test_a_claim_comes_with_its_verdict_whatever_a_later_verification_came_to(
    store: Store, arun: Any, harbour: str
) -> None:
    found = arun(store.claims.judged(harbour, ["k2", "k4", "missing"]))
    assert set(found) == {"k2", "k4"}
    assert found["k2"].text == SHIPS
    assert found["k2"].verification_id == f"{harbour}/v2"
    assert found["k2"].verdict is Verdict.NOT_FULLY_SUPPORTED
    assert (found["k2"].status, found["k2"].error) == (Status.SUCCEEDED, None)
    assert (found["k4"].verdict, found["k4"].verification_id) == (None, None)


def test_what_is_sent_twice_in_one_form_is_stored_once(
    store: Store, arun: Any, harbour: str
) -> None:
    said = given()
    name = review_id_of("form-1", harbour, "k2", said)

    async def both() -> list[str]:
        adding = [store.reviews.add(harbour, "k2", said, review_id=name) for _ in range(3)]
        return [one.review_id for one in await asyncio.gather(*adding)]

    assert arun(both()) == [name] * 3
    assert arun(store.reviews.count(harbour)) == 1
    first = arun(store.reviews.all(harbour, "k2"))[0].review
    assert arun(store.reviews.add(harbour, "k2", said, review_id=name)) == first


def test_other_words_in_the_same_form_are_another_review(
    store: Store, arun: Any, harbour: str
) -> None:
    for said in (given(FS), given(NFS), given(FS, reason="Look again.")):
        name = review_id_of("form-1", harbour, "k2", said)
        arun(store.reviews.add(harbour, "k2", said, review_id=name))
    assert arun(store.reviews.count(harbour)) == 3


def test_a_review_of_what_changed_meanwhile_is_not_stored(
    store: Store, arun: Any, harbour: str
) -> None:
    seen = Seen(words_of(SHIPS), f"{harbour}/v2")
    later = arun(store.trails.get(f"{harbour}/v2")).replace(
        verification_id=f"{harbour}/v2-new",
        created_at="2030-02-01T00:00:00.000000Z",
    )
    arun(store.trails.write(later))
    with pytest.raises(ReviewOutdated, match="verified anew"):
        arun(store.reviews.add(harbour, "k2", given(), seen=seen))
    now = Seen(words_of("Another text."), f"{harbour}/v2-new")
    with pytest.raises(ReviewOutdated, match="text of claim 'k2' was changed"):
        arun(store.reviews.add(harbour, "k2", given(), seen=now))
    with pytest.raises(NotFound):
        arun(store.reviews.add(harbour, "missing", given(), seen=now))
    assert arun(store.reviews.count(harbour)) == 0
    right = Seen(words_of(SHIPS), f"{harbour}/v2-new")
    made = arun(store.reviews.add(harbour, "k2", given(), seen=right))
    assert made.overrides == f"{harbour}/v2-new"
