"""Appending to a stored process, on both engines: one graph that grows, and never half of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fakes.graph_dump import dump
from fakes.processes import MemoryInput, process
from fakes.trails import a_trail

from veritrail_graph.graph.errors import (
    EngineError,
    InputError,
    InvalidProcess,
    NotFound,
    ProcessConflict,
)
from veritrail_graph.graph.importers.records import EdgeRecord, NodeRecord
from veritrail_graph.graph.ingest import append, ingest
from veritrail_graph.graph.model import Claim, Verdict, Verification
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine


def index(process_id: str) -> MemoryInput:
    made = process(
        {"a": "A one. A two.", "b": "B.", "s": "A and B.", "t": "Both."},
        [("a", "s"), ("b", "s"), ("s", "t")],
        {"k1": "A is there."},
        process_id=process_id,
        name="Index",
        stage_names={1: "source"},
    )
    made.nodes[2] = NodeRecord(
        "s", "A and B.", "s", kind="summary", step="sum",
        metadata={"model": "m", "prompt": "p", "page": [1.5, {"x": None}], "n": 10**30},
    )  # fmt: skip
    made.edges.append(EdgeRecord("b", "t", "e", cited=True))
    return made


def question(number: int = 1) -> MemoryInput:
    """A later question: an answer of its own over the shared index."""
    return process(
        {f"m{number}": "On B.", f"u{number}": "Else."},
        [("s", f"m{number}"), ("b", f"m{number}"), (f"m{number}", f"u{number}")],
        {f"q{number}": "B is else."},
    )


def both(process_id: str) -> MemoryInput:
    whole, more = index(process_id), question()
    whole.nodes += more.nodes
    whole.edges += more.edges
    whole.claims[0] = process({}, [], {"k1": "A is there."}).claims[0]
    whole.header = whole.header.__class__(
        "memory", process_id=process_id, name="Index", stage_names={1: "source"},
        terminals=("t", "u1"),
    )  # fmt: skip
    whole.claims = [
        claim.__class__(claim.text, claim.where, claim_id=claim.claim_id, node_id=node)
        for claim, node in zip((*whole.claims, *more.claims), ("t", "u1"), strict=True)
    ]
    return whole


def a_verification(process_id: str, name: str) -> Verification:
    claim = Claim(claim_id="k1", text="A is there.", node_id="t")
    return a_trail(name, process_id=process_id, claim=claim, verdict=Verdict.INCONCLUSIVE)


def test_what_is_appended_stands_as_if_it_had_come_at_once(
    store: Store, arun: Any, process_id: str
) -> None:
    at_once = arun(ingest(store, both(process_id)))
    whole = arun(dump(store, process_id, "created_at"))
    arun(store.processes.delete(process_id))
    arun(ingest(store, index(process_id)))
    report = arun(append(store, question(), process_id=process_id))
    assert (report.status, report.nodes_added, report.edges_added) == ("appended", 2, 3)
    assert (report.claims, report.claims_added) == (2, 1)
    assert report.survey.hash == at_once.survey.hash
    assert arun(dump(store, process_id, "created_at")) == whole
    found = arun(store.processes.get(process_id))
    assert (found.nodes, found.edges, found.terminals) == (6, 7, ("t", "u1"))
    assert found.stages == {1: 2, 2: 1, 3: 2, 4: 1}
    assert arun(ingest(store, both(process_id))).status == "unchanged"


def test_the_same_appended_again_is_unchanged(store: Store, arun: Any, process_id: str) -> None:
    arun(ingest(store, index(process_id)))
    arun(append(store, question(), process_id=process_id))
    before = arun(dump(store, process_id))
    report = arun(append(store, question(), process_id=process_id))
    assert (report.status, report.nodes_added, report.edges_added) == ("unchanged", 0, 0)
    assert arun(append(store, both(process_id))).status == "unchanged"
    assert arun(dump(store, process_id)) == before


def test_claims_alone_can_be_appended(store: Store, arun: Any, process_id: str) -> None:
    arun(ingest(store, index(process_id)))
    report = arun(append(store, process({}, [], {"k2": "B too."}), process_id=process_id))
    assert (report.status, report.claims, report.claims_added) == ("unchanged", 2, 1)
    state = arun(store.processes.state(process_id))
    assert (state.status, state.owner) == ("ready", None)


def test_what_changes_of_stored_nodes_and_edges_is_written(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(ingest(store, index(process_id)))
    more = process({"z": "Z."}, [("z", "a")])
    more.edges.append(EdgeRecord("a", "s", "e", cited=True))
    report = arun(append(store, more, process_id=process_id))
    assert any("did not see" in warning for warning in report.survey.warnings)
    node, _ = arun(store.reading.node(process_id, "a"))
    assert (node.stage, node.role.value, node.position) == (2, "intermediate", 0)
    rows = arun(
        store.database.run_text(
            "MATCH (:Span {process_id: $p, node_id: 'a'})-[r:INPUT_TO]->() RETURN r.cited",
            {"p": process_id}, 5,
        )
    ).rows  # fmt: skip
    assert rows == [(True,)]


def test_an_append_that_breaks_rules_stores_nothing(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(ingest(store, index(process_id)))
    before = arun(dump(store, process_id))
    bad = process({"a": "Other.", "x": "X."}, [("t", "x"), ("x", "gone")])
    with pytest.raises(InvalidProcess) as told:
        arun(append(store, bad, process_id=process_id))
    assert {violation.kind for violation in told.value.violations} == {
        "duplicate_node_id", "terminal_with_outgoing_edge", "unknown_node",
    }  # fmt: skip
    clash = question()
    clash.claims = process({}, [], {"k1": "Another text."}).claims
    with pytest.raises(ProcessConflict, match="claim_ids"):
        arun(append(store, clash, process_id=process_id))
    assert arun(dump(store, process_id)) == before


def test_an_unknown_process_and_one_that_is_not_named_are_told(
    store: Store, arun: Any, process_id: str
) -> None:
    with pytest.raises(NotFound, match=process_id):
        arun(append(store, question(), process_id=process_id))
    with pytest.raises(InputError, match="does not say which process"):
        arun(append(store, question()))


def test_too_much_for_one_transaction_is_told_before_it_is_sent(
    store: Store, arun: Any, process_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arun(ingest(store, index(process_id)))
    monkeypatch.setattr("veritrail_graph.graph.ingest.appending.MOST_APPENDED", 4)
    with pytest.raises(InputError, match="2 nodes and 3 edges"):
        arun(append(store, question(), process_id=process_id))


@pytest.mark.parametrize(
    "statement", ["process/lock", "ingest/spans", "ingest/edges", "process/grow"]
)
def test_cut_short_anywhere_it_leaves_the_process_as_it_was(
    store: Store, arun: Any, process_id: str, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    from veritrail_graph.graph.store.database import Transaction

    arun(ingest(store, index(process_id)))
    before = arun(dump(store, process_id))
    run = Transaction.run

    def cut(self: Transaction, name: str, /, **parameters: Any) -> Any:
        done = run(self, name, **parameters)
        if name == statement:
            raise EngineError("cut")
        return done

    with monkeypatch.context() as patch:
        patch.setattr(Transaction, "run", cut)
        with pytest.raises(EngineError, match="cut"):
            arun(append(store, question(), process_id=process_id))
    assert arun(dump(store, process_id)) == before
    assert arun(append(store, question(), process_id=process_id)).status == "appended"


def test_old_verifications_stay_and_one_that_runs_meanwhile_is_told(
    store: Store, arun: Any, process_id: str
) -> None:
    old = arun(ingest(store, index(process_id))).survey.hash
    first = a_verification(process_id, f"{process_id}-v1").replace(content_hash=old)
    arun(store.trails.write(first))
    arun(append(store, question(), process_id=process_id))
    assert arun(store.trails.get(first.verification_id)) == first
    late = a_verification(process_id, f"{process_id}-v2").replace(content_hash=old)
    with pytest.raises(NotFound):
        arun(store.trails.write(late))


def test_of_several_appends_at_once_each_is_stored(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(ingest(store, index(process_id)))

    async def at_once() -> list[Any]:
        return await asyncio.gather(
            *(append(store, question(n), process_id=process_id) for n in range(3))
        )

    assert [report.status for report in arun(at_once())] == ["appended"] * 3
    found = arun(store.processes.get(process_id))
    assert (found.nodes, found.edges) == (10, 13)
    assert set(found.terminals) == {"t", "u0", "u1", "u2"}


def test_an_append_that_others_always_come_before_is_told_and_stores_nothing(
    store: Store, arun: Any, process_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arun(ingest(store, index(process_id)))
    monkeypatch.setattr("veritrail_graph.graph.ingest._PAUSES", (0.0, 0.0))
    times = 0

    def come_before(what: str, done: int, _total: int) -> None:
        nonlocal times
        if what == "appending" and done == 0:
            times += 1
            store.database._driver.execute_query(
                "MATCH (p:Process {process_id: $p}) SET p.content_hash = $hash",
                p=process_id, hash=f"other {times}",
                database_=store.database.address.database,
            )  # fmt: skip

    with pytest.raises(ProcessConflict) as told:
        arun(append(store, question(), process_id=process_id, progress=come_before))
    assert "was changed by another command meanwhile; nothing was appended" in str(told.value)
    assert times == 3
    assert arun(store.processes.get(process_id)).nodes == 4


@pytest.mark.parametrize("statement", ["ingest/spans", "ingest/edges", "ingest/edges_again"])
def test_an_engine_that_stores_less_than_it_was_given_stores_nothing(
    store: Store, arun: Any, process_id: str, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    from veritrail_graph.graph.store.database import Transaction

    arun(ingest(store, index(process_id)))
    before = arun(dump(store, process_id))
    run = Transaction.run

    def less(self: Transaction, name: str, /, **parameters: Any) -> Any:
        if name == statement:
            parameters["rows"] = parameters["rows"][1:]
        return run(self, name, **parameters)

    more = question()
    more.edges.append(EdgeRecord("a", "s", "e", cited=True))
    with monkeypatch.context() as patch:
        patch.setattr(Transaction, "run", less)
        with pytest.raises(EngineError, match="stored"):
            arun(append(store, more, process_id=process_id))
    assert arun(dump(store, process_id)) == before
    assert arun(append(store, more, process_id=process_id)).status == "appended"


def test_readers_see_the_process_before_or_after_and_never_half(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(ingest(store, index(process_id)))
    seen: set[tuple[int, int]] = set()
    counting = "MATCH (s:Span {process_id: $p}) WHERE s.node_id >= '' RETURN count(s)"

    async def look(done: asyncio.Event) -> None:
        while not done.is_set():
            before = await store.processes.get(process_id)
            rows = (await store.database.run_text(counting, {"p": process_id}, 5)).rows
            if await store.processes.get(process_id) == before:  # nothing was stored in between
                seen.add((before.nodes, rows[0][0]))

    async def both_at_once() -> None:
        done = asyncio.Event()
        looking = asyncio.create_task(look(done))
        for number in range(5):
            await append(store, question(number), process_id=process_id)
        done.set()
        await looking

    arun(both_at_once())
    assert seen
    assert seen <= {(4 + 2 * n, 4 + 2 * n) for n in range(6)}
