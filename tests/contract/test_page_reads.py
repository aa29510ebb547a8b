"""What the pages of processes and claims read, on both engines."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.processes import MemoryInput
from fakes.trails import FS, LEXICAL, NFS, a_round, a_step, a_trail, cited, found, path

from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.importers.records import ClaimRecord, EdgeRecord, Header, NodeRecord
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import (
    Claim,
    Evidence,
    Iteration,
    NodeRef,
    Role,
    Status,
    Usage,
    Verification,
)
from veritrail_graph.graph.model.listed import Cost, OutcomeSummary
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine

REFS = {
    "a": NodeRef("a", 1, 0, Role.ROOT),
    "b": NodeRef("b", 1, 1, Role.ROOT),
    "s": NodeRef("s", 2, 2, Role.INTERMEDIATE),
    "t": NodeRef("t", 3, 3, Role.TERMINAL),
}
TEXT = "It is so. And so. " * 3
PLACES: dict[str, tuple[int, int] | None] = {
    "k1": (0, 9),
    "k2": (10, 17),
    "k3": None,
    "k4": (40, 44),
    "k5": (0, 9),
}


@pytest.fixture
def stored(store: Store, arun: Any, process_id: str) -> str:
    """k1 supported, k2 not (stage 2), k3 failed, k4 queued, k5 never looked at."""
    nodes = [NodeRecord(name, "Text.", "n") for name in "abs"] + [NodeRecord("t", TEXT, "n")]
    edges = [EdgeRecord(*pair, "e") for pair in (("a", "s"), ("b", "s"), ("s", "t"))]
    claims = [
        ClaimRecord(
            _claimed(name),
            "c",
            claim_id=name,
            node_id="s" if name == "k5" else "t",
            start=place[0] if place else None,
            end=place[1] if place else None,
        )
        for name, place in PLACES.items()
        if name != "k5"
    ]
    claims.append(ClaimRecord(_claimed("k5"), "c", claim_id="k5", node_id="s"))
    header = Header("memory", process_id=process_id)
    arun(ingest(store, MemoryInput(nodes, edges, claims, header)))
    made = [
        trail(process_id),
        trail(process_id).replace( verification_id=f"{process_id}/2", created_at=_day(2)),
        verification(
            process_id, "k2", verdict=NFS, error_nodes=(REFS["s"],), propagated_nodes=(REFS["t"],),
            usage=Usage(calls=2, input_tokens=10, output_tokens=3, cost_usd=0.25),
        ),
        verification(process_id, "k3", status=Status.FAILED, error="no answer"),
    ]  # fmt: skip
    arun(store.trails.write(*made))
    arun(store.trails.write(verification(process_id, "k4", status=Status.QUEUED)))
    return process_id


def _claimed(claim_id: str) -> str:
    return claim_id if claim_id == "k5" else f"{claim_id} says so. " * 99 + f"{claim_id} says so."


def _day(number: int) -> str:
    return f"2026-01-0{number}T00:00:00.000000Z"


def verification(name: str, claim_id: str, *rounds: Iteration, **other: Any) -> Verification:
    return a_trail(
        f"{name}/{claim_id}",
        *rounds,
        process_id=name,
        claim=Claim(claim_id=claim_id, text=_claimed(claim_id), node_id="t"),
        created_at=_day(1),
        **{"verdict": None, **LEXICAL, **other},
    )


def trail(name: str) -> Verification:
    def of(node: str, *indexes: int) -> Evidence:
        return found(f"Of {node}.", *(cited(node, n, n * 5, f"S{n}.".ljust(5)) for n in indexes))

    return verification(
        name,
        "k1",
        a_round(1, FS, [REFS["s"]], [of("s", 0, 1)]),
        a_round(2, FS, [REFS["a"], REFS["b"]], [of("b", 2)]),
        verdict=FS,
        paths=(path("s", "t", 1), path("b", "s", 2)),
        steps=(a_step(1, "verdict", Usage(calls=1)),),
    )


def test_an_outline_holds_the_evidence_and_counts_the_rest(
    store: Store, arun: Any, stored: str
) -> None:
    (outline,) = arun(store.trails.outlines([f"{stored}/k1", "no-such"]))
    whole = arun(store.trails.get(f"{stored}/k1"))
    first, second = outline.verification.iterations
    assert [ref.node_id for ref in (*first.checked, *second.checked)] == ["s", "b"]
    assert [outline.checked.get(one.number, len(one.checked)) for one in (first, second)] == [1, 2]
    again = outline.verification.replace(iterations=whole.iterations)
    assert again == whole
    assert [one.summaries for one in (first, second)] == [one.summaries for one in whole.iterations]


def test_an_outline_counts_the_sources_where_none_of_them_has_evidence(
    store: Store, arun: Any, stored: str
) -> None:
    unfound = verification(
        stored,
        "k2",
        a_round(1, NFS, [REFS["s"]], [found("", cited("s", 0, 0, "S0."))]),
        a_round(2, NFS, [REFS["a"], REFS["b"]]),
        verdict=NFS,
    )
    arun(store.trails.write(unfound))
    first, second = arun(store.trails.outlines([f"{stored}/k1", f"{stored}/k2"]))
    assert (first.sources, second.sources) == (None, 2)


def test_the_verifications_of_a_claim_are_newest_first(
    store: Store, arun: Any, stored: str
) -> None:
    found = arun(store.trails.of_claim(stored, "k1", 10))
    assert [one.verification_id for one in found] == [f"{stored}/2", f"{stored}/k1"]
    assert len(arun(store.trails.of_claim(stored, "k1", 1))) == 1
    (queued,) = arun(store.trails.of_claim(stored, "k4", 10))
    assert queued.status is Status.QUEUED
    assert arun(store.trails.of_claim(stored, "k5", 10)) == []


def test_claims_know_their_neighbours(store: Store, arun: Any, stored: str) -> None:
    told = [arun(store.claims.neighbours(stored, name)) for name in ("k1", "k3", "k5")]
    assert [(one.previous, one.next, one.number, one.total) for one in told] == [
        (None, "k2", 1, 5),
        ("k2", "k4", 3, 5),
        ("k4", None, 5, 5),
    ]
    with pytest.raises(NotFound):
        arun(store.claims.neighbours(stored, "k9"))


def test_claims_of_a_part_of_a_text_come_with_those_without_a_place(
    store: Store, arun: Any, stored: str
) -> None:
    found, every = arun(store.claims.in_text(stored, "t", 0, 12))
    told = {one.claim_id: one for one in found}
    assert (list(told), every) == (["k1", "k2", "k3"], True)
    assert (told["k1"].verdict, told["k1"].indicative, told["k1"].position) == (FS, True, 0)
    assert told["k2"].error_stages == (2,)
    assert (told["k3"].status, told["k3"].error) == (Status.FAILED, "no answer")
    assert len(told["k1"].text) == 300
    assert len(told["k3"].text) > 300
    later, _ = arun(store.claims.in_text(stored, "t", 17, 100))
    assert [one.claim_id for one in later] == ["k3", "k4"]


def test_a_place_where_a_claim_is_made_again_counts(store: Store, arun: Any, stored: str) -> None:
    again = Claim(claim_id="k6", text="Again.", node_id="t", start=0, end=9, also=((45, 50),))
    arun(store.claims.add(stored, [again]))
    found, _ = arun(store.claims.in_text(stored, "t", 45, 60))
    assert [(one.claim_id, one.also) for one in found] == [("k3", ()), ("k6", ((45, 50),))]


def test_a_tally_keeps_all_states_apart(store: Store, arun: Any, stored: str) -> None:
    found = arun(store.claims.tally(stored))
    assert found.states == {
        "FULLY_SUPPORTED": 1,
        "NOT_FULLY_SUPPORTED": 1,
        "failed": 1,
        "unchecked": 2,
    }
    assert (found.stages, found.without_stage, found.indicative) == ({2: 1}, 0, 2)
    assert arun(store.claims.nodes(stored, 10)) == [("t", 4), ("s", 1)]


def test_what_a_process_cost_is_unknown_where_a_price_is(
    store: Store, arun: Any, stored: str
) -> None:
    outlay = arun(store.trails.cost(stored))
    usage = outlay.usage
    assert (outlay.verifications, usage.calls, usage.input_tokens) == (5, 2, 10)
    assert usage.cost_usd == 0.25
    unpriced = verification(stored, "k5", usage=Usage(calls=1, unpriced_calls=1), verdict=FS)
    arun(store.trails.write(unpriced))
    usage = arun(store.trails.cost(stored)).usage
    assert (usage.calls, usage.unpriced_calls, usage.cost_usd) == (3, 1, None)
    assert arun(store.trails.cost("no-such")) == Cost(0, Usage())


def test_verdicts_of_models_that_tell_no_figures_are_counted(
    store: Store, arun: Any, stored: str
) -> None:
    for process in (arun(store.trails.cost(stored)), _standing(store, arun, stored)):
        assert (process.modelled, process.unmetered) == (0, 0)
    silent = verification(stored, "k5", verdict=FS).replace(indicative=False)
    asked = verification(stored, "k3", status=Status.FAILED).replace(indicative=False)
    paid = verification(stored, "k1", verdict=FS).replace(indicative=False, usage=Usage(calls=1))
    arun(store.trails.write(silent, asked, paid))
    for process in (arun(store.trails.cost(stored)), _standing(store, arun, stored)):
        assert (process.modelled, process.unmetered) == (3, 1)


def _standing(store: Store, arun: Any, process_id: str) -> OutcomeSummary:
    found: dict[str, OutcomeSummary] = arun(store.processes.outcomes([process_id]))
    return found[process_id]


@pytest.mark.soak
def test_what_rests_on_a_node_is_told_of_very_many_claims(
    store: Store, arun: Any, process_id: str
) -> None:
    """Rows that are stored or sorted hold of a claim, a node and a list only what is needed."""
    text = "All of it is so. " * 30_000
    nodes = [NodeRecord("r", "Text.", "n"), NodeRecord("t", text, "n")]
    claims = [
        ClaimRecord(f"Valve {n} was replaced. " * 10, "c", claim_id=f"k{n:05}", node_id="t")
        for n in range(2_500)
    ]
    edges = [EdgeRecord("r", "t", "e")]
    header = Header("memory", process_id=process_id)
    arun(ingest(store, MemoryInput(nodes, edges, claims, header)))
    asked = {"process_id": process_id, "node_id": "r", "limit": 3}
    found = arun(store.queries.run("impact", asked))
    assert [row[1] for row in found.rows] == ["k00000", "k00001", "k00002"]
    assert found.truncated
    assert arun(store.claims.tally(process_id)).states == {"unchecked": 2_500}
