"""Runs in the graph: verifications in order, what a run has come to, what is not made again."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.processes import process
from fakes.trails import a_step, a_trail

from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import Claim, Status, Usage, Verdict, Verification
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine

SETTINGS = '{"engine": "openai", "limits": {"roots": 40}, "q": 3}'
CLAIMS = 1_100
MANY = [f"k{number}" for number in range(CLAIMS)]


def load(store: Store, arun: Any, process_id: str, claims: list[str]) -> str:
    texts = {name: f"Claim {name}." for name in claims}
    source = process({"a": "One.", "t": "T."}, [("a", "t")], texts, process_id=process_id)
    arun(ingest(store, source))
    return process_id


@pytest.fixture
def stored(store: Store, arun: Any, process_id: str) -> str:
    return load(store, arun, process_id, ["k1", "k2", "k3"])


def claim(name: str, *sub_claims: str) -> Claim:
    return Claim(claim_id=name, text=f"Claim {name}.", node_id="t", sub_claims=sub_claims)


def queued(process_id: str, name: str, run: str = "r1", **other: Any) -> Verification:
    facts: dict[str, Any] = {
        "process_id": process_id,
        "claim": claim(name),
        "created_at": "2026-01-01T00:00:00.000000Z",
        "status": Status.QUEUED,
        "verdict": None,
        "run_id": f"{process_id}-{run}",
        "settings": SETTINGS,
    }
    return a_trail(f"{process_id}/{run}/{name}", **facts).replace(**other)


def finished(process_id: str, name: str, run: str = "r1", **other: Any) -> Verification:
    ended = {"status": Status.SUCCEEDED, "verdict": Verdict.FULLY_SUPPORTED, **other}
    return queued(process_id, name, run, **ended)


def hash_of(store: Store, arun: Any, process_id: str) -> str:
    found: str = arun(store.processes.get(process_id)).content_hash
    return found


def cancelled(process_id: str, name: str, run: str = "r1", **other: Any) -> Verification:
    ended = {"status": Status.CANCELLED, "error": "The job was cancelled.", **other}
    return queued(process_id, name, run, **ended)


def placed(*verifications: Verification) -> list[Verification]:
    return [one.replace(place=place) for place, one in enumerate(verifications)]


def test_a_run_comes_back_in_the_order_of_its_places(store: Store, arun: Any, stored: str) -> None:
    done = finished(stored, "k3", created_at="2026-01-02T00:00:00.000000Z")
    run = placed(done, cancelled(stored, "k1"), cancelled(stored, "k2"))
    arun(store.trails.write_ends(run[1:]))
    arun(store.trails.write(run[0]))
    arun(store.trails.write(run[0]))
    assert arun(store.trails.of_run(f"{stored}-r1")) == run
    assert arun(store.trails.of_run(f"{stored}-r1", stored)) == run
    assert arun(store.trails.of_run(f"{stored}-r1", "elsewhere")) == []
    assert arun(store.trails.of_run("r-unknown")) == []


def test_a_verdict_stays_where_an_end_without_one_comes_late(
    store: Store, arun: Any, stored: str
) -> None:
    run = placed(finished(stored, "k1"), queued(stored, "k2", status=Status.FAILED, error="Why."))
    arun(store.trails.write(*run))
    late = placed(cancelled(stored, "k1"), cancelled(stored, "k2"))
    arun(store.trails.write_ends(late))
    assert arun(store.trails.of_run(f"{stored}-r1")) == [run[0], late[1]]
    links = "MATCH (v:Verification {process_id: $p})-[x:VERIFIES]->(:Claim) RETURN count(x)"
    assert arun(store.database.run_text(links, {"p": stored}, 1)).rows == [(2,)]


def test_the_ends_of_many_claims_are_few_statements(
    store: Store, arun: Any, process_id: str
) -> None:
    load(store, arun, process_id, MANY)
    before = store.database.calls
    arun(store.trails.write_ends(placed(*(cancelled(process_id, name) for name in MANY))))
    assert store.database.calls - before <= 2 * 2  # a collision may cost a second attempt
    names = [one.claim_id for one in arun(store.trails.of_run(f"{process_id}-r1"))]
    assert names == MANY


def test_the_end_of_what_is_not_stored_any_more_is_left_out(
    store: Store, arun: Any, stored: str
) -> None:
    arun(store.trails.write_ends([cancelled(stored, "k1"), cancelled(stored, "k9")]))
    arun(store.trails.write_ends([cancelled(stored, "k2", content_hash="0" * 64)]))
    assert arun(store.trails.of_run(f"{stored}-r1")) == [cancelled(stored, "k1")]
    arun(store.processes.mark(stored, "deleting"))
    arun(store.trails.write_ends([cancelled(stored, "k2")]))
    assert arun(store.trails.of_run(f"{stored}-r1")) == []


def test_runs_are_listed_newest_first_with_what_they_came_to(
    store: Store, arun: Any, stored: str
) -> None:
    later = "2026-03-01T00:00:00.000000Z"
    arun(store.trails.write_ends([cancelled(stored, "k3")]))
    arun(store.trails.write(finished(stored, "k1", created_at=later)))
    arun(store.trails.write(queued(stored, "k2", status=Status.FAILED, error="no answer")))
    second = queued(stored, "k1", "r2", created_at=later, engine="lexical", model=None)
    arun(store.trails.write(second))
    arun(store.trails.write(finished(stored, "k1", "alone", run_id=None)))
    new, old = arun(store.trails.runs(stored))
    assert (new.run_id, new.engine, new.model) == (f"{stored}-r2", "lexical", None)
    assert new.counts == {Status.QUEUED: 1}
    assert (old.run_id, old.engine, old.model) == (f"{stored}-r1", "openai", "a-model")
    assert old.created_at == "2026-01-01T00:00:00.000000Z"
    assert old.counts == {Status.SUCCEEDED: 1, Status.FAILED: 1, Status.CANCELLED: 1}
    assert old.verifications == 3


def same(store: Store, arun: Any, process_id: str, *claims: Claim, settings: str = SETTINGS) -> Any:
    content = hash_of(store, arun, process_id)
    return arun(store.trails.same(process_id, claims, settings, content))


def test_the_latest_verification_with_the_same_settings_is_found(
    store: Store, arun: Any, stored: str
) -> None:
    content = hash_of(store, arun, stored)
    old = finished(stored, "k1", content_hash=content)
    new = finished(
        stored, "k1", "r2", content_hash=content, created_at="2026-02-01T00:00:00.000000Z"
    )
    failed = queued(stored, "k2", content_hash=content, status=Status.FAILED)
    unknown = finished(stored, "k3")  # of unknown content
    arun(store.trails.write(new, old, failed, unknown))
    arun(store.trails.write(queued(stored, "k1", "r3", content_hash=content)))
    claims = [claim("k1"), claim("k2"), claim("k3")]
    assert same(store, arun, stored, *claims) == {"k1": new.verification_id}
    assert same(store, arun, stored, *claims, settings=SETTINGS.replace("40", "41")) == {}
    assert arun(store.trails.same(stored, claims, SETTINGS, "other")) == {}


def test_a_claim_that_was_changed_is_verified_again(store: Store, arun: Any, stored: str) -> None:
    content = hash_of(store, arun, stored)
    arun(store.trails.write(finished(stored, "k1", content_hash=content, sub_claims=("a",))))
    assert list(same(store, arun, stored, claim("k1", "a"))) == ["k1"]
    assert same(store, arun, stored, claim("k1", "b")) == {}
    assert same(store, arun, stored, claim("k1")) == {}
    assert same(store, arun, stored, claim("k1", "a").replace(text="Another text.")) == {}
    assert same(store, arun, stored, claim("k1", "a").replace(node_id="other")) == {}


def test_sub_claims_that_a_model_found_do_not_change_a_claim(
    store: Store, arun: Any, stored: str
) -> None:
    asked = a_step(0, "sub_claim_decomposition", Usage(calls=1))
    facts = {"content_hash": hash_of(store, arun, stored), "steps": (asked,)}
    one = finished(stored, "k1", sub_claims=("a", "b"), **facts)
    arun(store.trails.write(one))
    assert same(store, arun, stored, claim("k1")) == {"k1": one.verification_id}
    assert same(store, arun, stored, claim("k1", "c")) == {}


def test_a_queued_verification_hides_no_verdict(store: Store, arun: Any, stored: str) -> None:
    done = finished(stored, "k1")
    arun(store.trails.write(done))
    later = "2026-05-01T00:00:00.000000Z"
    arun(store.trails.write(queued(stored, "k1", "r2", created_at=later)))
    running = queued(stored, "k2", "r2", created_at=later, status=Status.RUNNING)
    arun(store.trails.write(running))
    summary = next(s for s in arun(store.processes.page()) if s.process_id == stored)
    assert summary.verdicts == {"FULLY_SUPPORTED": 1}
    parameters = {"process_id": stored, "asked": False, "limit": 10}
    rows = arun(store.database.read("queries/claims", **parameters))
    assert [(row[0], row[3], row[8]) for row in rows][:2] == [
        ("k1", "FULLY_SUPPORTED", done.verification_id),
        ("k2", None, None),
    ]


def test_runs_have_their_verdicts_and_costs_and_are_compared_by_run_or_judge(
    store: Store, arun: Any, stored: str
) -> None:
    cost = Usage(calls=2, cost_usd=0.5)
    first = [finished(stored, name, usage=cost) for name in ("k1", "k2")]
    later = {"created_at": "2026-02-01T00:00:00.000000Z", "model": "another"}
    against = Verdict.NOT_FULLY_SUPPORTED
    second = [
        finished(stored, "k1", "r2", verdict=against, **later),
        cancelled(stored, "k2", "r2", **later),
    ]
    for one in [*first, *second]:
        arun(store.trails.write(one))
    newest, oldest = arun(store.trails.runs(stored))
    assert (newest.verdicts[against.value], newest.model) == (1, "another")
    assert (oldest.verdicts, oldest.spent.cost_usd, oldest.spent.calls, oldest.q) == (
        {**dict.fromkeys(Verdict, 0), Verdict.FULLY_SUPPORTED: 2},
        1.0,
        4,
        first[0].q,
    )
    of_run = arun(store.trails.compared(stored, f"{stored}-r2", None))
    assert {one.claim_id: one.verdict for one in of_run} == {"k1": against.value, "k2": None}
    of_judge = arun(store.trails.compared(stored, None, "another"))
    assert of_judge == of_run
    assert arun(store.trails.compared(stored, "nothing", None)) == []
    # One with a verdict counts before a later one that was cancelled.
    every = arun(store.trails.compared(stored, None, None))
    assert {one.claim_id: one.verdict for one in every}["k2"] == "FULLY_SUPPORTED"
