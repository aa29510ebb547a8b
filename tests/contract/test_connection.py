"""What a store makes of its connection: bookmarks, lost answers, slow lines and time limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import psutil
import pytest
from fakes.processes import process
from fakes.tcp_proxy import Cut, TcpProxy, tcp_proxy
from neo4j import READ_ACCESS
from neo4j.exceptions import Neo4jError

from veritrail_graph.graph.embedded import EngineSettings, engine_status, running_engine
from veritrail_graph.graph.errors import EngineError, EngineUnavailable, QueryTimeout
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.store import Database, DatabaseAddress, NodeReader, Store
from veritrail_graph.graph.store.database import Transaction, is_repeatable

pytestmark = pytest.mark.engine

HEAVY = (
    "UNWIND range(1, 3000) AS x WITH x, range(1, 60000) AS l ORDER BY x % 7, l[5] RETURN count(x)"
)
RUNAWAY = "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN count(a * b % 7) AS c"
GATHERED = "UNWIND $nodes AS n MATCH (s:Span {process_id: $p, node_id: n}) RETURN s.text AS text"


def counting(store: Store, seconds: int) -> str:
    """A statement that takes about so long, and ends, so that no later test waits for it."""
    is_embedded = store.database.writers == 1
    rows = (1_500 if is_embedded else 4_000) * seconds
    return f"UNWIND range(1, {rows}) AS a UNWIND range(1, 1000) AS b WITH count(a * b % 7) AS c "


@pytest.fixture
def proxy(address: DatabaseAddress) -> Iterator[TcpProxy]:
    with tcp_proxy(address.uri) as proxy:
        yield proxy


@asynccontextmanager
async def connected(address: DatabaseAddress, uri: str, **options: Any) -> AsyncIterator[Database]:
    database = Database(replace(address, uri=uri), **{"retry_seconds": 5, **options})
    await database.connect()
    try:
        yield database
    finally:
        await database.close()


@pytest.fixture
def stored(store: Store, arun: Any, process_id: str) -> str:
    texts = {f"n{number}": f"Text {number}. " + "word " * 50 for number in range(200)}
    edges = [(name, "t") for name in texts]
    arun(ingest(store, process({**texts, "t": "The end."}, edges, process_id=process_id)))
    return process_id


def test_a_routing_address_reads_what_it_has_just_written(
    address: DatabaseAddress, arun: Any, process_id: str
) -> None:
    async def work() -> None:
        uri = address.uri.replace("bolt://", "neo4j://")
        async with connected(address, uri) as database:
            properties = {"process_id": process_id, "status": "loading", "owner": "o", "beat": "b"}
            await database.write("process/begin", properties=properties)
            for status in ("deleting", "loading", "replacing"):
                mark = {"process_id": process_id, "status": status, "owner": "o", "beat": "b"}
                await database.write("process/mark", **mark)
                rows = await database.read("process/state", process_ids=[process_id])
                assert rows[0][1] == status
            await database.write("process/mark", **{**mark, "status": "deleting"})
            await database.write("process/remove", process_id=process_id, limit=1)

    arun(work())


def test_the_bookmark_of_a_write_goes_with_the_next_read_in_another_thread(
    address: DatabaseAddress, arun: Any, proxy: TcpProxy, process_id: str
) -> None:
    async def work() -> None:
        async with connected(address, proxy.uri) as database:
            given: list[str] = []

            def write(tx: Transaction) -> None:
                tx.run("process/beat", process_id=process_id, owner="o", beat="b")

            await database.write_with(write)
            given += database.bookmarks
            assert len(given) == 1
            proxy.keep = True
            await asyncio.gather(
                *(database.read("process/state", process_ids=[process_id]) for _ in range(3))
            )
            asked = bytes(proxy.sent)
            assert asked.count(b"bookmarks") == 3  # each of them waits for something
            assert given[0].encode() in asked

    arun(work())


@pytest.mark.parametrize("is_answered", [False, True], ids=["asked", "answer-lost"])
def test_a_read_and_a_query_whose_connection_is_lost_are_asked_again(
    address: DatabaseAddress, arun: Any, proxy: TcpProxy, stored: str, is_answered: bool
) -> None:
    async def work() -> None:
        nodes = [f"n{number}" for number in range(200)]
        async with connected(address, proxy.uri) as database:
            proxy.plan(Cut(stored.encode(), is_answered=is_answered, times=2))
            rows = await database.read("process/state", process_ids=[stored])
            assert proxy.cuts == 2
            assert rows[0][1] == "ready"
            proxy.plan(Cut(b"n199", is_answered=is_answered, times=2))
            found = await database.run_text(GATHERED, {"nodes": nodes, "p": stored}, 500)
            assert proxy.cuts == 2
            assert len(found.rows) == 200
            proxy.plan(Cut(is_answered=is_answered))  # several statements are committed, one is not
            rows = await database.read("process/state", process_ids=[stored])
            assert proxy.cuts == 0
            again = await database.read_with(
                lambda tx: tx.run("process/state", process_ids=[stored])
            )
            assert proxy.cuts == 1
            assert again == rows

    arun(work())


def test_a_write_that_is_not_to_be_repeated_says_so_when_its_answer_is_lost(
    address: DatabaseAddress, arun: Any, proxy: TcpProxy, stored: str
) -> None:
    from veritrail_graph.graph.errors import CommitInDoubt

    seen: list[tuple[int, bool]] = []

    def work(tx: Transaction) -> None:
        seen.append((tx.attempt, tx.in_doubt))
        tx.run("process/beat", process_id=stored, owner="o", beat="b")

    async def lost() -> None:
        async with connected(address, proxy.uri) as database:
            proxy.plan(Cut(is_answered=True))
            with pytest.raises(CommitInDoubt, match="Run the command again"):
                await database.write_with(work)
            proxy.plan(Cut(is_answered=True))
            await database.write_with(work, repeatable=True)
            proxy.plan(Cut(b"beat", is_answered=False))
            await database.write_with(work)

    arun(lost())
    # A commit in doubt is only run again where the caller allows it, and is reported; a transaction
    # that was certainly rolled back is run again in any case.
    assert seen == [(1, False), (1, False), (2, True), (1, False), (2, False)]


def test_a_line_that_trickles_and_delays_gives_the_same_answers(
    store: Store, address: DatabaseAddress, arun: Any, proxy: TcpProxy, stored: str
) -> None:
    async def work() -> None:
        nodes = [f"n{number}" for number in range(30)]
        right = await store.reading.texts(stored, nodes)
        async with connected(address, proxy.uri) as database:
            proxy.piece, proxy.delay = 97, 0.005
            found = await NodeReader(database).texts(stored, nodes)
        assert found == right
        assert len(found) == 30

    arun(work())


def test_a_fault_is_told_though_another_thread_has_the_connection_already(
    address: DatabaseAddress, arun: Any
) -> None:
    async def work() -> None:
        async with connected(address, address.uri) as database:
            with ExitStack() as stack:

                def read(tx: Transaction) -> list[Any]:
                    try:
                        return tx.run_text("UNWIND [1, 0] AS x RETURN 1 / x", {}).fetch(2)
                    except Neo4jError:
                        # The driver has let go of the connection; it rolls back on it all the same.
                        session = stack.enter_context(database.session(READ_ACCESS))
                        stack.enter_context(session.begin_transaction()).run("RETURN 1")
                        raise

                with pytest.raises(EngineError, match="zero"):
                    await database.read_with(read)

    arun(work())


def test_an_engine_that_falls_silent_is_given_up(
    address: DatabaseAddress, arun: Any, proxy: TcpProxy, stored: str
) -> None:
    async def work() -> None:
        async with connected(address, proxy.uri, answer_seconds=1.0) as database:
            proxy.is_silent = True
            began = time.monotonic()
            with pytest.raises(EngineUnavailable, match="has not answered for 1 seconds"):
                await database.read("process/state", process_ids=[stored])
            assert time.monotonic() - began < 5
        assert time.monotonic() - began < 10  # closing does not wait

    arun(work())


def test_a_store_that_is_closed_tells_whoever_still_waits(
    address: DatabaseAddress, arun: Any, proxy: TcpProxy, stored: str
) -> None:
    async def work() -> None:
        async with connected(
            address, proxy.uri, connect_timeout=1.0, retry_seconds=0.5
        ) as database:
            proxy.is_silent = True
            waiting = asyncio.ensure_future(database.read("process/state", process_ids=[stored]))
            await asyncio.sleep(0.5)
        with pytest.raises(EngineUnavailable, match="was closed"):
            await waiting

    arun(work())


def test_a_runaway_query_is_given_up_in_time_and_hurts_nobody(
    store: Store, address: DatabaseAddress, arun: Any, stored: str
) -> None:
    async def work() -> None:
        async with connected(address, address.uri, query_seconds=1.0) as database:
            began = time.monotonic()
            running = asyncio.ensure_future(
                database.run_text(f"{counting(store, 4)}RETURN c", {}, 1)
            )
            await asyncio.sleep(0.3)
            rows = await store.database.read("process/state", process_ids=[stored])
            assert rows[0][1] == "ready"  # others go on meanwhile
            with pytest.raises(QueryTimeout, match="VERITRAIL_QUERY_SECONDS"):
                await running
            assert time.monotonic() - began < 15
            assert len((await database.run_text("RETURN 1 AS one", {}, 1)).rows) == 1
        assert time.monotonic() - began < 30

    arun(work())


@pytest.mark.parametrize("is_stopped", [False, True], ids=["too-long", "stopped"])
def test_a_write_that_nobody_waits_for_any_more_is_not_stored(
    store: Store, address: DatabaseAddress, arun: Any, process_id: str, is_stopped: bool
) -> None:
    count = counting(store, 1)
    slow = f"{count}CREATE (:Process {{process_id: $p, status: 'ready', c: c}}) RETURN c"

    async def work() -> None:
        seconds = 60.0 if is_stopped else 0.2
        async with connected(address, address.uri, query_seconds=seconds) as database:
            statement = database.run_text(slow, {"p": process_id}, 1, write=True)
            running = asyncio.ensure_future(statement)
            if is_stopped:
                await asyncio.sleep(0.2)
                running.cancel()
            with pytest.raises(asyncio.CancelledError if is_stopped else QueryTimeout):
                await running
            # The same, without storing anything: when this has ended, so has what was stopped.
            await store.database.run_text(f"{count}RETURN c", {}, 1)
            await asyncio.sleep(0.5)
            assert await store.processes.state(process_id) is None

    arun(work())


@pytest.mark.parametrize(
    ("names", "is_safe"),
    [
        (["process/begin"], False),
        (["process/mark", "ingest/spans"], False),
        (["process/mark", "process/finish"], True),
        (["ingest/claims"], True),  # MERGE … ON CREATE SET
        (["schema/span_key"], True),
    ],
)
def test_what_would_double_something_is_not_run_again_unasked(
    names: list[str], is_safe: bool
) -> None:
    assert is_repeatable([(name, {}) for name in names]) is is_safe


def test_a_query_that_needs_too_much_of_the_embedded_engine_is_told_in_words(
    tmp_path_factory: Any,
) -> None:
    settings = EngineSettings(home=tmp_path_factory.mktemp("heavy"), heap="256m", idle_seconds=1.0)

    async def work() -> None:
        async with (
            running_engine(settings) as address,
            connected(address, address.uri, query_seconds=60.0) as database,
        ):
            with pytest.raises(EngineError, match="no memory for so much at once"):
                await database.run_text(HEAVY, {}, 1)

    asyncio.run(work())


@pytest.mark.soak
def test_the_embedded_engine_ends_a_statement_by_itself(tmp_path_factory: Any) -> None:
    home = tmp_path_factory.mktemp("runaway")
    settings = EngineSettings(home=home, heap="256m", statement_seconds=3.0, idle_seconds=1.0)

    async def work() -> None:
        async with running_engine(settings) as address:
            async with connected(address, address.uri, query_seconds=60.0) as database:
                with pytest.raises(QueryTimeout, match="limit of the engine's own"):
                    await database.run_text(RUNAWAY, {}, 1)
            async with connected(address, address.uri, query_seconds=0.5) as database:
                with pytest.raises(QueryTimeout, match="given up"):
                    await database.run_text(RUNAWAY, {}, 1)
            pid = (await engine_status(settings)).pid
            assert pid is not None
            engine = psutil.Process(pid)
            deadline = time.monotonic() + 30
            while await asyncio.to_thread(engine.cpu_percent, 1.0) > 40:
                assert time.monotonic() < deadline, "the statement goes on"

    asyncio.run(work())
