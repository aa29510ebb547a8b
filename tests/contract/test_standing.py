"""How processes stand, on both engines: the latest outcome of every claim, and what was spent."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.processes import process
from fakes.trails import FS, NFS, a_trail

from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import Claim, Status, Usage, Verdict, Verification
from veritrail_graph.graph.model.listed import OutcomeSummary
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine

CLAIMS = {f"k{number}": f"Claim {number}." for number in range(1, 7)}
PAID, UNPRICED = Usage(calls=2, cost_usd=0.5), Usage(calls=3, unpriced_calls=3)


def made(
    name: str,
    claim_id: str,
    day: int,
    verdict: Verdict | None,
    usage: Usage = PAID,
    status: Status = Status.FAILED,
) -> Verification:
    return a_trail(
        f"{name}/{claim_id}-{day}",
        process_id=name,
        claim=Claim(claim_id=claim_id, text=CLAIMS[claim_id], node_id="t"),
        created_at=f"2026-01-0{day}T00:00:00.000000Z",
        status=Status.SUCCEEDED if verdict else status,
        verdict=verdict,
        usage=usage,
    )


@pytest.fixture
def stored(store: Store, arun: Any, process_id: str) -> str:
    texts = {"a": "A.", "t": "T."}
    arun(ingest(store, process(texts, [("a", "t")], CLAIMS, process_id=process_id)))
    return process_id


def test_the_latest_verdict_of_a_claim_counts_and_else_its_latest_status(
    store: Store, arun: Any, stored: str
) -> None:
    arun(
        store.trails.write(
            made(stored, "k1", 1, NFS),
            made(stored, "k1", 2, FS),
            made(stored, "k2", 2, NFS),
            made(stored, "k2", 3, None),  # a failure later takes no verdict away
            made(stored, "k3", 1, None),
            made(stored, "k4", 1, None),
            made(stored, "k4", 2, None, status=Status.OVER_BUDGET),
            made(stored, "k5", 4, None, Usage(), Status.RUNNING),
        )
    )
    standing = store.processes
    found = arun(standing.outcomes([stored, "not-there"]))
    assert list(found) == [stored]
    assert found[stored].outcomes == {
        "FULLY_SUPPORTED": 1,
        "NOT_FULLY_SUPPORTED": 1,
        "failed": 1,
        "over_budget": 1,
        "running": 1,
        "none": 1,
    }
    assert found[stored].changed_at == "2026-01-04T00:00:00.000000Z"
    assert found[stored].usage.cost_usd == pytest.approx(3.5)
    assert found[stored].usage.calls == 14
    ids = [f"{stored}/k1-1", f"{stored}/k1-2", f"{stored}/k3-1", "nowhere"]
    told = arun(store.trails.outcomes(ids))
    assert told == {"NOT_FULLY_SUPPORTED": 1, "FULLY_SUPPORTED": 1, "failed": 1}


def test_a_price_that_is_not_known_makes_the_sum_unknown(
    store: Store, arun: Any, stored: str
) -> None:
    arun(store.trails.write(made(stored, "k1", 1, FS), made(stored, "k2", 1, FS, UNPRICED)))
    usage = arun(store.processes.outcomes([stored]))[stored].usage
    assert usage.cost_usd is None
    assert usage.unpriced_calls == 3


def test_a_process_without_claims_or_verifications_stands_empty(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(ingest(store, process({"t": "T."}, [], {}, process_id=process_id)))
    standing = store.processes
    assert arun(standing.outcomes([process_id])) == {process_id: OutcomeSummary()}
    assert arun(standing.outcomes([])) == {}
    assert arun(store.trails.outcomes([])) == {}
    named = arun(standing.names("", 10_000))
    assert [one for one in named if one.process_id == process_id]
    assert [one.process_id for one in named] == sorted(one.process_id for one in named)


def test_names_are_read_by_the_page(store: Store, arun: Any, stored: str) -> None:
    standing = store.processes
    first = arun(standing.names("", 1))
    assert len(first) == 1
    assert arun(standing.names(first[0].process_id, 1)) != first
