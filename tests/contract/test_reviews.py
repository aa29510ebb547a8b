"""Reviews on both engines: appended, never changed, beside the verdicts of the model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from contract.query_cases import store_harbour
from fakes.exporting import NASTY

from veritrail_graph.graph.errors import InputError, NotFound
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import Review, ReviewKind, ReviewVerdict, Verdict
from veritrail_graph.graph.reviewing import MAX_REASON, MAX_REVIEWER, NewReview
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reviews.md").read_text("utf-8")

FS, NFS, INC = "FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED", "INCONCLUSIVE"
UNCLEAR = "UNCLEAR"


@pytest.fixture
def harbour(store: Store, arun: Any, process_id: str) -> str:
    arun(store_harbour(store, process_id))
    return process_id


@pytest.fixture
def second_id(store: Store, arun: Any, process_id: str) -> Iterator[str]:
    name = f"{process_id}-2"
    yield name
    if arun(store.processes.state(name)) is not None:
        arun(store.processes.delete(name))


def add(
    store: Store, arun: Any, process_id: str, claim_id: str, verdict: str | None, **rest: Any
) -> Any:
    given = {"reason": "I read it.", "reviewer": "Ada", **rest}
    return arun(store.reviews.add(process_id, claim_id, NewReview(verdict, **given)))


def run(store: Store, arun: Any, text: str, **parameters: Any) -> list[tuple[Any, ...]]:
    return list(arun(store.database.run_text(text, parameters, 1_000, write=True)).rows)


def reviews(store: Store, arun: Any, process_id: str, claim_id: str | None = None) -> list[Review]:
    return [one.review for one in arun(store.reviews.all(process_id, claim_id))]


def test_a_review_is_kept_beside_the_verdict_with_who_and_when(
    store: Store, arun: Any, harbour: str
) -> None:
    before = arun(store.trails.get(f"{harbour}/v2"))
    made = add(store, arun, harbour, "k2", FS, reason=" It counts\nboats. ", recorded_by="desk")
    assert made.kind is ReviewKind.OVERRIDDEN
    assert (made.overrides, made.model_verdict) == (f"{harbour}/v2", Verdict(NFS))
    assert (made.reason, made.reviewer, made.recorded_by) == ("It counts\nboats.", "Ada", "desk")
    assert made.claim == "The harbour handled 320 ships in 2024."
    assert made.created_at > "2026"
    assert arun(store.trails.get(f"{harbour}/v2")) == before
    (found,) = arun(store.reviews.all(harbour, "k2"))
    assert found.review == made
    assert (found.engine, found.model) == ("openai", "judge-1")
    links = """
    MATCH (r:Review {process_id: $p})-[link]->(x)
    RETURN type(link), labels(x)[0], r.caption, r.kind ORDER BY type(link)
    """
    words = ("Overridden: Fully Supported", "overridden")
    assert run(store, arun, links, p=harbour) == [
        ("CONSIDERS", "Verification", *words),
        ("REVIEWS", "Claim", *words),
    ]


def test_the_same_verdict_confirms_and_needs_no_reason(
    store: Store, arun: Any, harbour: str
) -> None:
    made = add(store, arun, harbour, "k1", FS, reason="")
    assert made.kind is ReviewKind.CONFIRMED
    again = add(store, arun, harbour, "k5", None)
    assert (again.kind, again.verdict.value) == (ReviewKind.CONFIRMED, NFS)
    with pytest.raises(InputError, match="no verdict to review"):
        add(store, arun, harbour, "k4", None)
    older = add(store, arun, harbour, "k2", FS, reason="", overrides=f"{harbour}/v2-old")
    assert (older.kind, older.model_verdict) == (ReviewKind.CONFIRMED, Verdict(FS))


def test_many_reviews_are_stored_together_and_not_twice(
    store: Store, arun: Any, harbour: str
) -> None:
    given = [
        (f"{harbour}-{place}", "k2", NewReview(FS if place % 2 else INC, "I read it.", "Ada"))
        for place in range(600)
    ]
    made = arun(store.reviews.add_all(harbour, given))
    assert len({one.created_at for one in made}) == 600
    assert {(one.kind, one.model_verdict) for one in made} == {
        (ReviewKind.OVERRIDDEN, Verdict(NFS))
    }
    assert arun(store.reviews.add_all(harbour, given)) == made
    state = arun(store.reviews.of_claims(harbour, ["k2"]))["k2"]
    assert (state.latest.review_id, len(state.counting)) == (f"{harbour}-599", 1)
    assert arun(store.queries.run("check_reviews", {"process_id": harbour})).rows == []
    unknown = [("x-1", "k1", given[1][2]), ("x-2", "none", given[0][2])]
    with pytest.raises(NotFound, match="none"):
        arun(store.reviews.add_all(harbour, unknown))
    assert reviews(store, arun, harbour, "k1") == []


def test_a_claim_may_be_unclear_with_or_without_a_verdict(
    store: Store, arun: Any, harbour: str
) -> None:
    made = add(store, arun, harbour, "k3", UNCLEAR, reason="What is old?")
    assert (made.kind, made.overrides) == (ReviewKind.UNCLEAR, f"{harbour}/v3")
    bare = add(store, arun, harbour, "k4", UNCLEAR, reason="Which ships?")
    assert (bare.kind, bare.overrides, bare.model_verdict) == (ReviewKind.UNCLEAR, None, None)
    assert arun(store.queries.run("check_reviews", {"process_id": harbour})).rows == []


def test_reviews_are_appended_and_the_latest_of_each_reviewer_counts(
    store: Store, arun: Any, harbour: str
) -> None:
    for verdict, reviewer in ((FS, "Ada"), (INC, "Bo"), (NFS, "Ada"), (UNCLEAR, "Cy"), (FS, "Bo")):
        add(store, arun, harbour, "k2", verdict, reviewer=reviewer)
    every = reviews(store, arun, harbour, "k2")
    assert [(one.reviewer, one.verdict.value) for one in every] == [
        ("Bo", FS), ("Cy", UNCLEAR), ("Ada", NFS), ("Bo", INC), ("Ada", FS),
    ]  # fmt: skip
    state = arun(store.reviews.of_claims(harbour, ["k1", "k2"]))["k2"]
    assert [(one.reviewer, one.verdict.value) for one in state.counting] == [
        ("Bo", FS), ("Cy", UNCLEAR), ("Ada", NFS),
    ]  # fmt: skip
    assert (state.reviewed_verdict, state.verdict) == (Verdict(FS), Verdict(NFS))
    assert (state.kind, state.disputed, state.reviews) == (ReviewKind.OVERRIDDEN, True, 5)
    assert set(arun(store.reviews.of_claims(harbour, ["k1", "k2"]))) == {"k2"}
    assert arun(store.reviews.states(harbour)) == {"k2": state}


def test_a_later_verification_changes_what_a_review_is_to_the_verdict(
    store: Store, arun: Any, harbour: str
) -> None:
    made = add(store, arun, harbour, "k2", FS)
    later = arun(store.trails.get(f"{harbour}/v2-old")).replace(
        verification_id=f"{harbour}/v2-new",
        created_at="2026-02-01T00:00:00.000000Z",
        engine="openai",
        indicative=False,
    )
    arun(store.trails.write(later))
    state = arun(store.reviews.of_claims(harbour, ["k2"]))["k2"]
    assert (made.kind, state.kind) == (ReviewKind.OVERRIDDEN, ReviewKind.CONFIRMED)
    assert state.latest == made


def test_pages_hold_every_review_once_newest_first(store: Store, arun: Any, harbour: str) -> None:
    made = [add(store, arun, harbour, f"k{n % 3 + 1}", UNCLEAR).review_id for n in range(7)]
    found, cursor = arun(store.reviews.page(harbour, limit=3))
    seen = [one.review.review_id for one in found]
    while cursor is not None:
        found, cursor = arun(store.reviews.page(harbour, before=cursor, limit=3))
        seen += [one.review.review_id for one in found]
    assert seen == made[::-1]
    assert arun(store.reviews.count(harbour)) == 7
    assert arun(store.reviews.count(harbour, ["k1", "k2"])) == 5
    assert len(reviews(store, arun, harbour, "k1")) == 3


@pytest.mark.parametrize(
    ("claim_id", "verdict", "overrides", "error", "words"),
    [
        ("zz", FS, None, NotFound, "has no claim 'zz'"),
        ("k4", FS, None, InputError, "no verdict to review.*Verify it first"),
        ("k2", FS, "{p}/v2-failed", InputError, "no verdict to review.*status is failed"),
        ("k2", UNCLEAR, "{p}/v2-failed", InputError, "no verdict to review"),
        ("k1", FS, "{p}/v2", NotFound, "is not about claim 'k1'.*about claim 'k2'"),
        ("k1", FS, "{p}/gone", NotFound, "is stored; was it removed"),
        ("k1", FS, "'}) DETACH DELETE n //", NotFound, "is stored"),
    ],
)
def test_what_cannot_be_reviewed_is_told_and_nothing_is_stored(
    store: Store, arun: Any, harbour: str, claim_id: str, verdict: str, overrides: str | None,
    error: type[Exception], words: str,
) -> None:  # fmt: skip
    name = overrides and overrides.replace("{p}", harbour)
    with pytest.raises(error, match=words):
        add(store, arun, harbour, claim_id, verdict, overrides=name)
    assert arun(store.reviews.count(harbour)) == 0


def test_a_verification_of_another_process_is_not_reviewed_here(
    store: Store, arun: Any, harbour: str, second_id: str
) -> None:
    arun(store_harbour(store, second_id))
    with pytest.raises(NotFound, match=f"of process '{second_id}'"):
        add(store, arun, harbour, "k1", NFS, overrides=f"{second_id}/v1")
    with pytest.raises(NotFound, match="No process 'nobody'"):
        add(store, arun, "nobody", "k1", NFS)


@pytest.mark.parametrize(
    ("given", "kinds"),
    [
        ({"verdict": "fully_supported"}, ["unknown_verdict"]),
        ({"verdict": ""}, ["unknown_verdict"]),
        ({"verdict": UNCLEAR, "reason": " \n"}, ["missing_reason"]),
        ({"verdict": NFS, "reason": ""}, ["missing_reason"]),
        ({"verdict": NFS, "reviewer": "  "}, ["missing_reviewer"]),
        ({"verdict": NFS, "reviewer": "A\nB"}, ["wrong_value"]),
        ({"verdict": NFS, "reviewer": "A\u2028B"}, ["wrong_value"]),
        ({"verdict": NFS, "reason": "x" * (MAX_REASON + 1)}, ["too_long"]),
        ({"verdict": NFS, "reviewer": "x" * (MAX_REVIEWER + 1)}, ["too_long"]),
        ({"verdict": NFS, "reason": "\ud800"}, ["lone_surrogate"]),
        ({"verdict": NFS, "overrides": "v-\ud800"}, ["lone_surrogate"]),
        ({"verdict": NFS, "reviewer": "A\0"}, ["wrong_value"]),
        ({"verdict": "?", "reason": "\ud800", "reviewer": ""},
         ["unknown_verdict", "lone_surrogate", "missing_reviewer"]),
    ],
)  # fmt: skip
def test_a_review_that_breaks_rules_is_told_what_is_wrong(
    store: Store, arun: Any, harbour: str, given: dict[str, str], kinds: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        add(store, arun, harbour, "k1", **given)
    assert [violation.kind for violation in caught.value.violations] == kinds
    assert arun(store.reviews.count(harbour)) == 0


def test_whatever_the_texts_hold_comes_back_as_it_was(
    store: Store, arun: Any, harbour: str
) -> None:
    texts = (
        NASTY.strip(), "a\0b", "$limit", "'}) DETACH DELETE r //", "😀" * 5_000, "\u202e x", "null",
    )  # fmt: skip
    names = ('Zoë "O\'Hara" 😀', "$claim_id", "\u202eoiR", "x" * MAX_REVIEWER, "`", "\\", "null")
    made = [
        add(store, arun, harbour, "k1", NFS, reason=text, reviewer=name, recorded_by=name)
        for text, name in zip(texts, names, strict=True)
    ]
    assert reviews(store, arun, harbour, "k1") == made[::-1]
    assert [one.reason for one in made] == list(texts)
    rows = arun(store.queries.run("reviews", {"process_id": harbour, "reviewer": "$claim_id"})).rows
    assert [row[6] for row in rows] == ["a\0b"]


def test_many_at_once_are_all_kept(store: Store, arun: Any, harbour: str) -> None:
    async def all_at_once() -> list[Review]:
        given = [NewReview(NFS, "no", f"R{number}") for number in range(20)]
        return await asyncio.gather(*(store.reviews.add(harbour, "k1", one) for one in given))

    made = arun(all_at_once())
    assert {one.review_id for one in reviews(store, arun, harbour)} == {
        one.review_id for one in made
    }
    state = arun(store.reviews.of_claims(harbour, ["k1"]))["k1"]
    assert (len(state.counting), state.disputed) == (20, False)


def test_reviews_go_with_their_process(store: Store, arun: Any, harbour: str) -> None:
    add(store, arun, harbour, "k1", NFS)
    add(store, arun, harbour, "k4", UNCLEAR)
    arun(store.processes.delete(harbour))
    assert run(store, arun, "MATCH (r:Review {process_id: $p}) RETURN r", p=harbour) == []
    with pytest.raises(NotFound, match="is stored"):
        add(store, arun, harbour, "k1", NFS)


def test_claims_with_reviews_go_only_when_it_is_asked_for(
    store: Store, arun: Any, harbour: str
) -> None:
    add(store, arun, harbour, "k4", UNCLEAR)
    add(store, arun, harbour, "k1", NFS)
    remove = store.claims.remove
    with pytest.raises(InputError, match=r"1 review\(s\)"):
        arun(remove(harbour, ["k4"]))
    with pytest.raises(InputError, match=r"1 verification\(s\) and 1 review\(s\)"):
        arun(remove(harbour, ["k1"]))
    assert arun(store.reviews.count(harbour)) == 2
    gone = arun(remove(harbour, ["k1", "k4"], force=True))
    assert (gone.claims, gone.verifications, gone.reviews) == (2, 1, 2)
    assert arun(store.reviews.count(harbour)) == 0
    left = "MATCH (c:Claim {process_id: $p}) RETURN c.claim_id, keys(c) ORDER BY c.claim_id"
    claims = run(store, arun, left, p=harbour)
    assert [name for name, _ in claims] == ["k2", "k3", "k5"]
    assert all("asked" not in keys for _, keys in claims)


def test_a_claim_that_is_removed_while_it_is_reviewed_leaves_nothing_behind(
    store: Store, arun: Any, harbour: str
) -> None:
    async def both() -> list[Any]:
        given = [NewReview(NFS, "no", f"R{number}") for number in range(12)]
        adding = [store.reviews.add(harbour, "k1", one) for one in given]
        removing = store.claims.remove(harbour, ["k1"], force=True)
        return await asyncio.gather(*adding[:6], removing, *adding[6:], return_exceptions=True)

    for done in arun(both()):
        if isinstance(done, Exception):
            # Its claim was removed, or the verification, which is removed first.
            assert isinstance(done, InputError), repr(done)
    if arun(store.claims.by_id(harbour, ["k1"])):  # reviews came in again and again
        arun(store.claims.remove(harbour, ["k1"], force=True))
    assert arun(store.reviews.count(harbour)) == 0
    loose = "MATCH (r:Review {process_id: $p}) RETURN count(r)"
    assert run(store, arun, loose, p=harbour) == [(0,)]
    assert arun(store.queries.run("check_claims", {"process_id": harbour})).rows == []


def test_a_replaced_process_has_no_reviews_and_says_how_many_went(
    store: Store, arun: Any, harbour: str
) -> None:
    from fakes.processes import process

    add(store, arun, harbour, "k1", NFS)
    other = process({"a": "A", "b": "B"}, [("a", "b")], process_id=harbour)
    report = arun(ingest(store, other, replace=True))
    assert (report.removed_verifications, report.removed_reviews) == (6, 1)
    assert arun(store.reviews.count(harbour)) == 0


def test_a_claim_that_was_edited_keeps_what_was_said_of_its_former_text(
    store: Store, arun: Any, harbour: str
) -> None:
    made = add(store, arun, harbour, "k1", NFS)
    arun(store.claims.edit(harbour, "k1", "Another.", force=True))
    assert reviews(store, arun, harbour, "k1") == [made]
    assert made.claim != "Another."
    assert made.verdict is ReviewVerdict.NOT_FULLY_SUPPORTED


def test_the_statement_of_the_page_says_something(store: Store, arun: Any, harbour: str) -> None:
    (text,) = re.findall(r"```cypher\n(.*?)```", PAGE, re.DOTALL)
    add(store, arun, harbour, "k2", FS)
    found = run(store, arun, text.replace("'library'", "$p"), p=harbour)
    assert [row[1:4] for row in found] == [(NFS, FS, "Ada")]
