"""Claims as they are listed, on both engines: the latest verdict, filters, pages, reviews."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.processes import process
from fakes.trails import FS, LEXICAL, NFS, a_trail

from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import (
    Claim,
    NodeRef,
    Role,
    Status,
    Termination,
    Verdict,
    Verification,
)
from veritrail_graph.graph.model.listed import ClaimFilter, JudgedClaim
from veritrail_graph.graph.reviewing import NewReview
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store import claims as claims_module

pytestmark = pytest.mark.engine

S, T = NodeRef("s", 2, 1, Role.INTERMEDIATE), NodeRef("t", 3, 2, Role.TERMINAL)
CLAIMS = {f"k{number}": f"Claim {number}." for number in range(1, 7)}


@pytest.fixture
def stored(store: Store, arun: Any, process_id: str) -> str:
    """k1 supported, k2 not (stages 2, 3), k3 not, then supported, k4 failed, k6 undecided."""
    texts = {"a": "A.", "s": "S.", "t": "T."}
    arun(ingest(store, process(texts, [("a", "s"), ("s", "t")], CLAIMS, process_id=process_id)))
    both = (S, T)
    made = [
        verification(process_id, "k1", 1, FS),
        verification(process_id, "k2", 1, NFS, both),
        verification(process_id, "k3", 1, NFS, both),
        verification(process_id, "k3", 2, FS),
        verification(process_id, "k3", 3, None),
        verification(process_id, "k4", 1, None),
        verification(process_id, "k6", 1, None).replace(
            status=Status.UNDECIDED, termination=Termination.NO_AGREEMENT
        ),
    ]
    arun(store.trails.write(*made))
    return process_id


def verification(
    name: str,
    claim_id: str,
    day: int,
    verdict: Verdict | None,
    introduced: tuple[NodeRef, ...] = (),
) -> Verification:
    return a_trail(
        f"{name}/{claim_id}-{day}",
        process_id=name,
        claim=Claim(claim_id=claim_id, text=CLAIMS[claim_id], node_id="t"),
        created_at=f"2026-01-0{day}T00:00:00.000000Z",
        status=Status.SUCCEEDED if verdict else Status.FAILED,
        verdict=verdict,
        error_nodes=introduced,
        error=None if verdict else "no answer",
        **LEXICAL,
    )


def listed(store: Store, arun: Any, name: str, **wanted: Any) -> list[str]:
    found, _ = arun(store.claims.page(name, ClaimFilter(**wanted)))
    return [one.claim_id for one in found]


def test_a_claim_shows_its_latest_verification_that_succeeded(
    store: Store, arun: Any, stored: str
) -> None:
    found, last = arun(store.claims.page(stored, ClaimFilter()))
    assert [(one.claim_id, one.text, one.node_id) for one in found] == [
        (name, text, "t") for name, text in CLAIMS.items()
    ]
    assert last is None
    told = {one.claim_id: one for one in found}
    assert [
        (told[name].verdict, told[name].verification_id, told[name].verifications)
        for name in ("k1", "k2", "k3", "k4", "k5")
    ] == [
        (FS, f"{stored}/k1-1", 1),
        (NFS, f"{stored}/k2-1", 1),
        (FS, f"{stored}/k3-2", 3),
        (None, None, 1),
        (None, None, 0),
    ]
    assert (told["k2"].error_stages, told["k2"].indicative) == ((2, 3), True)
    assert (told["k4"].status, told["k4"].error) == (Status.FAILED, "no answer")
    assert (told["k5"].status, told["k5"].error) == (None, None)
    assert arun(store.claims.get(stored, "k3")) == told["k3"]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({"verdict": "FULLY_SUPPORTED"}, ["k1", "k3"]),
        ({"verdict": "NOT_FULLY_SUPPORTED"}, ["k2"]),
        ({"verdict": "INCONCLUSIVE"}, []),
        ({"verdict": "none"}, ["k4", "k5", "k6"]),
        ({"verdict": "failed"}, ["k4"]),
        ({"verdict": "unchecked"}, ["k5"]),
        ({"verdict": "undecided"}, ["k6"]),
        ({"error_stage": 3}, ["k2"]),
        ({"error_stage": 1}, []),
        ({"error_stage": 2, "verdict": "FULLY_SUPPORTED"}, []),
        ({"node_id": "t"}, list(CLAIMS)),
        ({"node_id": "s"}, []),
        ({"review": "none"}, list(CLAIMS)),
        ({"review": "any"}, []),
    ],
)
def test_filters_look_at_the_latest_verdict(
    store: Store, arun: Any, stored: str, wanted: dict[str, Any], names: list[str]
) -> None:
    assert listed(store, arun, stored, **wanted) == names


def test_filters_look_at_what_the_latest_review_is_to_the_verdict(
    store: Store, arun: Any, stored: str
) -> None:
    def say(claim_id: str, verdict: str) -> None:
        arun(store.reviews.add(stored, claim_id, NewReview(verdict, "Because.", "Ada")))

    say("k1", "FULLY_SUPPORTED")
    say("k2", "NOT_FULLY_SUPPORTED")
    say("k2", "FULLY_SUPPORTED")
    say("k3", "UNCLEAR")
    say("k5", "UNCLEAR")
    kinds = ("any", "none", "confirmed", "overridden", "unclear")
    assert {kind: listed(store, arun, stored, review=kind) for kind in kinds} == {
        "any": ["k1", "k2", "k3", "k5"],
        "none": ["k4", "k6"],
        "confirmed": ["k1"],
        "overridden": ["k2"],
        "unclear": ["k3", "k5"],
    }
    found: JudgedClaim = arun(store.claims.get(stored, "k2"))
    assert found.reviewed is not None
    assert (found.verdict, found.reviewed.reviewed_verdict, found.reviewed.reviews) == (NFS, FS, 2)


@pytest.mark.parametrize("window", [1, 2, 4, 1_000])
def test_pages_put_together_are_the_whole_list(
    store: Store, arun: Any, stored: str, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims_module, "WINDOW", window)
    for wanted in (ClaimFilter(), ClaimFilter("none"), ClaimFilter("FULLY_SUPPORTED")):
        whole, _ = arun(store.claims.page(stored, wanted))
        for limit in (1, 2, 5):
            seen: list[JudgedClaim] = []
            after: tuple[int, str] | None = (-1, "")
            while after is not None:
                page, after = arun(store.claims.page(stored, wanted, after, limit))
                assert 0 < len(page) <= limit
                seen += page
            assert seen == whole


def test_unknown_claims_and_processes_are_errors(store: Store, arun: Any, stored: str) -> None:
    with pytest.raises(NotFound, match="no claim 'k9'"):
        arun(store.claims.get(stored, "k9"))
    with pytest.raises(NotFound, match="No process"):
        arun(store.claims.get("no-such", "k1"))


def test_a_process_that_is_being_written_shows_no_claims(
    store: Store, arun: Any, stored: str
) -> None:
    arun(store.processes.mark(stored, "loading"))
    assert arun(store.claims.page(stored, ClaimFilter())) == ([], None)
    with pytest.raises(NotFound, match="loading"):
        arun(store.claims.get(stored, "k1"))


def test_an_overview_counts_claims_by_verdict(store: Store, arun: Any, stored: str) -> None:
    found = arun(store.processes.overview(stored))
    assert found.verdicts == {"FULLY_SUPPORTED": 2, "NOT_FULLY_SUPPORTED": 1, "undecided": 1}
    assert (found.verifications, found.claims) == (7, 6)
    states = arun(store.claims.tally(stored)).states
    assert (states["undecided"], states["failed"], states["unchecked"]) == (1, 1, 1)
    with pytest.raises(NotFound, match="no-such"):
        arun(store.processes.overview("no-such"))


RANKS = {
    "NOT_FULLY_SUPPORTED": 0,
    "undecided": 1,
    "failed": 2,
    "unchecked": 3,
    "FULLY_SUPPORTED": 4,
}


def test_claims_that_need_attention_come_first_page_by_page(
    store: Store, arun: Any, stored: str
) -> None:
    found: list[str] = []
    after: tuple[int, int, str] | None = (-1, -1, "")
    while after is not None:
        page, after = arun(store.claims.by_attention(stored, RANKS, after, 2))
        assert len(page) == 2
        found += [one.claim_id for one in page]
    assert found == ["k2", "k6", "k4", "k5", "k1", "k3"]
    page, _ = arun(store.claims.by_attention(stored, RANKS))
    assert (
        sorted(page, key=lambda one: one.position)
        == arun(store.claims.page(stored, ClaimFilter()))[0]
    )


def test_the_tally_says_who_gave_the_verdicts_and_when(
    store: Store, arun: Any, stored: str
) -> None:
    (lexical,) = arun(store.claims.tally(stored)).in_force
    assert (lexical.engine, lexical.model, lexical.q, lexical.claims) == ("lexical", None, 3, 3)
    assert lexical.latest_at == "2026-01-02T00:00:00.000000Z"


def test_a_claim_knows_the_unsupported_ones_before_and_behind_it(
    store: Store, arun: Any, stored: str
) -> None:
    told = [arun(store.claims.neighbours(stored, name)) for name in ("k1", "k2", "k3")]
    assert [(one.previous_unsupported, one.next_unsupported) for one in told] == [
        (None, "k2"),
        (None, None),
        ("k2", None),
    ]
