"""An ingest that meets a fault keeps what is stored, and one that lost its process lets it be."""

from __future__ import annotations

import asyncio
import random
import threading
from dataclasses import replace
from typing import Any

import pytest
from fakes.graph_dump import dump
from fakes.processes import MemoryInput, process

from veritrail_graph.graph.errors import EngineError, InputError, ProcessConflict, QueryTimeout
from veritrail_graph.graph.ingest import ingest, read_and_check
from veritrail_graph.graph.ingest.write import Loading
from veritrail_graph.graph.store import DatabaseAddress, Store, faults
from veritrail_graph.graph.store.database import Transaction

pytestmark = pytest.mark.engine

OTHER = "elsewhere/1/0"


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veritrail_graph.graph.ingest.write.BATCH_ROWS", 50)
    monkeypatch.setattr("veritrail_graph.graph.ingest.write.EDGE_BATCH", 60)


def with_hub(process_id: str, nodes: int = 400) -> MemoryInput:
    """Edges here and there, and one node that all others feed."""
    chance = random.Random(nodes)  # the same each time
    names = [f"n{number}" for number in range(nodes)]
    edges = {(chance.choice(names[:at]), names[at]) for at in range(1, nodes) for _ in range(3)}
    return process(
        {**{name: f"Text of {name}." for name in names}, "t": "All."},
        [*sorted(edges), *((name, "t") for name in names)],
        {"k": "All there."}, process_id=process_id,
    )  # fmt: skip


def failing(monkeypatch: pytest.MonkeyPatch, after: int, fault: BaseException) -> list[str]:
    """Let batches of edges fail after some were sent; the statements that were run."""
    run, ran, lock = Transaction.run, list[str](), threading.Lock()

    def cut(self: Transaction, name: str, /, **parameters: Any) -> Any:
        with lock:
            ran.append(name)
            sent = sum(one.startswith("ingest/edges") for one in ran)
        if sent > after and name.startswith("ingest/edges"):
            raise fault
        return run(self, name, **parameters)

    monkeypatch.setattr(Transaction, "run", cut)
    return ran


def test_a_fault_of_the_engine_keeps_what_is_stored_and_the_same_program_can_go_on(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(ingest(store, with_hub(process_id)))
    whole = arun(dump(store, process_id, "created_at"))
    arun(store.processes.delete(process_id))
    with pytest.MonkeyPatch.context() as patch:
        failing(patch, 9, QueryTimeout("The engine is tired."))
        with pytest.raises(QueryTimeout, match=r"tired.*is kept.*continues") as told:
            arun(ingest(store, with_hub(process_id)))
        assert told.value.code == "left_unfinished"
    state = arun(store.processes.state(process_id))
    assert (state.status, state.owner) == ("loading", None)
    report = arun(ingest(store, with_hub(process_id)))
    assert (report.status, report.resumed) == ("created", True)
    assert arun(dump(store, process_id, "created_at")) == whole


def test_who_is_stopped_keeps_what_is_stored_and_sends_nothing_later(
    store: Store, arun: Any, process_id: str
) -> None:
    counting = "MATCH (s:Span {process_id: $p}) WHERE s.node_id >= '' RETURN count(s)"

    async def stopped() -> tuple[Any, Any]:
        def told(what: str, _done: int, _total: int) -> None:
            if what == "nodes":
                work.cancel()

        work = asyncio.ensure_future(ingest(store, with_hub(process_id), progress=told))
        with pytest.raises(asyncio.CancelledError):
            await work
        found = (await store.database.run_text(counting, {"p": process_id}, 5)).rows
        await asyncio.sleep(0.3)
        return found, (await store.database.run_text(counting, {"p": process_id}, 5)).rows

    found, later = arun(stopped())
    assert found == later
    assert 0 < found[0][0] < 401
    report = arun(ingest(store, with_hub(process_id)))
    assert (report.status, report.resumed) == ("created", True)
    assert arun(store.processes.get(process_id)).nodes == 401


def test_a_fault_of_the_input_takes_back_what_was_stored(
    store: Store, arun: Any, process_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, 5, InputError("the input changed while it was being read"))
    with pytest.raises(InputError, match="changed"):
        arun(ingest(store, with_hub(process_id)))
    assert arun(store.processes.state(process_id)) is None
    assert arun(dump(store, process_id)) == []


def test_what_may_be_stored_is_sent_alone_so_that_nobody_waits_in_a_ring(
    store: Store, arun: Any, process_id: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        failing(patch, 7, EngineError("cut"))
        with pytest.raises(EngineError, match="cut"):
            arun(ingest(store, with_hub(process_id)))
    run, lock = Transaction.run, threading.Lock()
    under_way, beside, alone, others = 0, list[int](), list[int](), 0

    def watched(self: Transaction, name: str, /, **parameters: Any) -> Any:
        nonlocal under_way, others
        if not name.startswith("ingest/edges"):
            return run(self, name, **parameters)
        with lock:
            under_way += 1
            if name == "ingest/edges_again":
                alone.append(self.attempt)
            else:
                others += 1
        try:
            return run(self, name, **parameters)
        finally:
            with lock:
                if name == "ingest/edges_again":
                    beside.append(under_way)
                under_way -= 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Transaction, "run", watched)
        assert arun(ingest(store, with_hub(process_id))).resumed
    assert beside == [1] * (store.database.writers + 1)
    # What is sent alone never starts again. Of the rest, which share a node, one may: a writer that
    # is slow holds its lock until another has come around.
    assert alone == [1] * len(beside)
    assert others > 0


def statements_of_edges(patch: pytest.MonkeyPatch) -> set[str]:
    """The names of the statements that store edges, from now on."""
    run, ran = Transaction.run, set[str]()

    def noted(self: Transaction, name: str, /, **parameters: Any) -> Any:
        if name.startswith("ingest/edges"):
            ran.add(name.removeprefix("ingest/"))
        return run(self, name, **parameters)

    patch.setattr(Transaction, "run", noted)
    return ran


def test_ends_of_edges_are_found_by_element_or_by_key_and_the_graph_is_the_same(
    store: Store, arun: Any, process_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        ran = statements_of_edges(patch)
        arun(ingest(store, with_hub(process_id)))
        assert ran == {"edges_by_element"}
    whole = arun(dump(store, process_id, "created_at"))
    arun(store.processes.delete(process_id))
    with pytest.MonkeyPatch.context() as patch:  # nothing is known of the first nodes
        failing(patch, 3, EngineError("cut"))
        with pytest.raises(EngineError, match="cut"):
            arun(ingest(store, with_hub(process_id)))
    with pytest.MonkeyPatch.context() as patch:
        ran = statements_of_edges(patch)
        assert arun(ingest(store, with_hub(process_id))).resumed
        assert ran == {"edges", "edges_again"}
    assert arun(dump(store, process_id, "created_at")) == whole
    arun(store.processes.delete(process_id))
    monkeypatch.setattr(Transaction, "in_doubt", property(lambda _: True, lambda *_: None), False)
    with pytest.MonkeyPatch.context() as patch:  # a connection that was lost while it stored
        ran = statements_of_edges(patch)
        arun(ingest(store, with_hub(process_id)))
        assert ran == {"edges_again"}
    assert arun(dump(store, process_id, "created_at")) == whole


def test_what_is_known_of_an_edge_is_stored_with_it(
    store: Store, arun: Any, process_id: str
) -> None:
    source = with_hub(process_id, 20)
    first, *others = source.edges
    source.edges[:] = [replace(first, cited=True), *others]
    with pytest.MonkeyPatch.context() as patch:
        ran = statements_of_edges(patch)
        arun(ingest(store, source))
        assert ran == {"edges"}
    counting = "MATCH (:Span {process_id: $p})-[r:INPUT_TO]->() RETURN count(r), count(r.cited)"
    found = arun(store.database.run_text(counting, {"p": process_id}, 5)).rows
    assert found == [(len(source.edges), 1)]


def taken_over(store: Store, arun: Any, process_id: str, owner: str = OTHER) -> None:
    statement = "MATCH (p:Process {process_id: $p}) SET p.owner = $owner, p.beat = 'then'"
    arun(store.database.run_text(statement, {"p": process_id, "owner": owner}, 1, write=True))


def test_who_was_taken_for_dead_shows_and_removes_nothing_and_gives_no_sign_of_life(
    store: Store, arun: Any, process_id: str
) -> None:
    found = arun(read_and_check(with_hub(process_id, 10)))
    arun(store.processes.begin(found))
    taken_over(store, arun, process_id)
    before = arun(dump(store, process_id))
    with pytest.raises(ProcessConflict, match="taken over"):
        arun(store.processes.finish(process_id, found.hash))
    with pytest.raises(ProcessConflict, match="taken over"):
        arun(store.processes.delete_own(process_id))
    arun(store.processes.beat(process_id))
    arun(store.processes.release(process_id))
    loading = Loading(store, process_id, with_hub(process_id, 10), found, lambda *_: None)
    with pytest.raises(ProcessConflict, match="taken over"):
        arun(loading._send_claims())
    assert arun(dump(store, process_id)) == before


def test_who_was_taken_for_dead_puts_nothing_in_the_place_of_another_process(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(ingest(store, with_hub(process_id, 10)))
    found = arun(read_and_check(with_hub(process_id, 20)))
    staged = store.processes.staged_id(process_id)
    arun(store.processes.begin(found, stored_id=staged))
    taken_over(store, arun, staged)
    before = arun(dump(store, process_id))
    with pytest.raises(ProcessConflict, match="taken over"):
        arun(store.processes.promote(staged, process_id))
    assert arun(dump(store, process_id)) == before
    assert arun(store.processes.get(process_id)).nodes == 11


def test_of_two_who_go_on_with_the_same_one_does(store: Store, arun: Any, process_id: str) -> None:
    arun(store.processes.begin(arun(read_and_check(with_hub(process_id, 10))), plan="p"))
    arun(store.processes.release(process_id))
    state = arun(store.processes.state(process_id))
    assert state.can_go_on("p")
    arun(store.processes.take_over(state))
    with pytest.raises(ProcessConflict, match="taken up"):
        arun(store.processes.take_over(state))


def test_finishing_again_after_a_lost_answer_is_no_fault(
    store: Store, arun: Any, process_id: str
) -> None:
    content_hash = arun(ingest(store, with_hub(process_id, 10))).survey.hash
    before = arun(dump(store, process_id))
    arun(store.processes.finish(process_id, content_hash))
    with pytest.raises(ProcessConflict):
        arun(store.processes.finish(process_id, "another"))
    assert arun(dump(store, process_id)) == before


def test_writers_that_wait_for_each_other_are_told_in_our_words(neo4j_server: Any) -> None:
    import neo4j

    server = neo4j_server
    address = DatabaseAddress(server.uri, server.username, server.password, server.database)
    told: list[str] = []

    def work(first: str, second: str, both: threading.Barrier) -> None:
        with driver.session(database=address.database) as session:
            tx = session.begin_transaction()
            try:
                tx.run("MERGE (x:Test {name: $n}) SET x.at = 1", n=first).consume()
                both.wait(20)
                tx.run("MATCH (x:Test {name: $n}) SET x.at = 2", n=second).consume()
                tx.rollback()
            except neo4j.exceptions.Neo4jError as error:
                told.append(str(faults.named(error, address)))

    names = ["ring.a", "ring.b"]
    with neo4j.GraphDatabase.driver(address.uri, auth=(server.username, server.password)) as driver:
        driver.execute_query("UNWIND $names AS n CREATE (:Test {name: n})", names=names)
        both = threading.Barrier(2)
        pair = [threading.Thread(target=work, args=(*order, both))
                for order in (names, names[::-1])]  # fmt: skip
        for one in pair:
            one.start()
        for one in pair:
            one.join(60)
        driver.execute_query("MATCH (x:Test) WHERE x.name IN $names DELETE x", names=names)
    assert len(told) == 1
    assert "Other writers held" in told[0]
    assert "run the command again" in told[0]
    assert "ForsetiClient" not in told[0]
