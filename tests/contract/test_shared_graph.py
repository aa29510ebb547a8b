"""A graph in which another application lives that uses the same names."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import neo4j
import pytest
from fakes.processes import process
from fakes.trails import NFS, a_round, a_trail
from neo4j.exceptions import ConstraintError
from neo4j_server import launcher

from veritrail_graph.graph.embedded import EngineSettings, running_engine
from veritrail_graph.graph.errors import EngineError, NotFound, ReadOnlyGraph
from veritrail_graph.graph.ingest import clean, ingest
from veritrail_graph.graph.model import Claim
from veritrail_graph.graph.reviewing import NewReview
from veritrail_graph.graph.store import DatabaseAddress, Store, open_store

pytestmark = pytest.mark.engine

# Each of our labels and relationship types, as somebody else may use them, without our keys.
THEIRS = """
CREATE (p:Process {status: 'open', owner: 'Ann', title: 'Payroll', tag: $tag}),
       (s:Span {text: 'A bridge', role: 'root', status: 'ready', tag: $tag}),
       (s2:Span {text: 'Another', stage: 1, tag: $tag}),
       (c:Claim {amount: 120, text: 'Water damage', tag: $tag}),
       (n:Sentence {years: 3, tag: $tag}), (e:Evidence {kind: 'photo', tag: $tag}),
       (x:Extraction {position: 1, tag: $tag}), (t:Step {name: 'cut', tag: $tag}),
       (v:Verification {status: 'queued', run_id: 'r', tag: $tag}),
       (i:Iteration {number: 1, tag: $tag}), (r:Review {stars: 5, verdict: 'fine', tag: $tag}),
       (s)-[:INPUT_TO {tag: $tag}]->(s2), (c)-[:EXTRACTED_FROM]->(s), (v)-[:VERIFIES]->(c),
       (v)-[:HAS_ITERATION]->(i), (i)-[:CHECKED]->(s), (i)-[:FOUND]->(e), (e)-[:CITES]->(n),
       (n)-[:SENTENCE_OF]->(s), (s)-[:EVIDENCE_FOR {verification_id: 'v'}]->(s2),
       (y:TrailNode {iteration: 1, tag: $tag}),
       (y)-[:AT]->(s), (y)-[:LEADS_TO]->(v), (y)-[:CITES]->(n),
       (v)-[:ERROR_INTRODUCED_AT]->(s), (v)-[:TOOK]->(t), (x)-[:EXTRACTION_OF]->(s),
       (r)-[:REVIEWS]->(c), (r)-[:CONSIDERS]->(v)
"""
NODES = "MATCH (n) WHERE n.tag = $tag RETURN labels(n) AS labels, properties(n) AS p"
EDGES = "MATCH (n)-[r]->(m) WHERE n.tag = $tag RETURN type(r) AS t, properties(r) AS p, m.tag AS m"
INDEX = "CREATE INDEX theirs FOR (s:Span) ON (s.process_id, s.node_id)"


async def snapshot(store: Store, tag: str) -> list[str]:
    found = []
    for text in (NODES, EDGES):
        rows = (await store.database.run_text(text, {"tag": tag}, 1000)).rows
        found += sorted(repr(row) for row in rows)
    return found


@pytest.fixture
def tag(store: Store, arun: Any, process_id: str) -> Iterator[str]:
    arun(store.database.run_text(THEIRS, {"tag": process_id}, 1, write=True))
    yield process_id
    gone = "MATCH (n) WHERE n.tag = $tag DETACH DELETE n"
    arun(store.database.run_text(gone, {"tag": process_id}, 1, write=True))


def test_nodes_of_another_application_are_neither_read_nor_changed_nor_deleted(
    store: Store, arun: Any, tag: str
) -> None:
    async def work() -> None:
        before = await snapshot(store, tag)
        assert len(before) == 29
        texts = {"c1": "C.", "c2": "C.", "s1": "S.", "t": "T."}
        edges = [("c1", "s1"), ("c2", "s1"), ("s1", "t")]
        given = process(texts, edges, {"k1": "The pier is 80 metres long."}, process_id=tag)
        await ingest(store, given)
        claim = Claim(claim_id="k1", text="The pier is 80 metres long.", node_id="t")
        trail = a_trail(
            f"{tag}/v", a_round(1, NFS, "c1 c2", (("c1", 0),)), process_id=tag, claim=claim
        )
        await store.trails.write(trail)
        await store.trails.write(trail)
        assert (await store.trails.get(f"{tag}/v")).verdict is NFS
        await store.reviews.add(tag, "k1", NewReview("UNCLEAR", "Which pier?", "Ada"))
        assert len(await store.reviews.all(tag)) == 1
        for query in ("reviews", "disagreements", "check_reviews"):
            await store.queries.run(query, {"process_id": tag})
        for query in ("check_orphans", "check_loose_ends"):
            found = (await store.queries.run(query, {"limit": 10_000})).rows
            # Rows of processes that another worker is writing just now are none of ours.
            assert [row for row in found if row[1] is None or tag in str(row[1])] == []
        assert all(state.process_id for state in await store.processes.unfinished())
        await clean(store)
        ids = [one.process_id for one in await store.processes.page(limit=1000)]
        assert tag in ids
        assert all(ids)
        for query, more in (("stage_summary", {}), ("claims", {}), ("impact", {"node_id": "c1"})):
            await store.queries.run(query, {"process_id": tag, **more})
        more_nodes = process({**texts, "n": "N."}, [*edges, ("n", "t")], process_id=tag)
        await ingest(store, more_nodes, replace=True)
        await store.processes.delete(tag)
        with pytest.raises(NotFound):
            await store.processes.get(tag)
        assert await snapshot(store, tag) == before

    arun(work())


@asynccontextmanager
async def new_engine(home: Any) -> AsyncIterator[DatabaseAddress]:
    settings = EngineSettings(home, heap="256m", idle_seconds=1.0)
    async with running_engine(settings) as engine:
        yield engine


async def says_what_is_in_the_way(address: DatabaseAddress) -> None:
    with pytest.raises(EngineError) as caught:
        async with open_store(address):
            pass
    told = str(caught.value)
    assert "another application" in told
    assert "Span" in told
    assert "NEO4J_DATABASE" in told


def run_as_them(address: DatabaseAddress, text: str, **parameters: Any) -> list[Any]:
    login = (address.username or "", address.password or "")
    with neo4j.GraphDatabase.driver(address.uri, auth=login) as driver:
        return driver.execute_query(text, parameters, database_=address.database).records


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.soak
def test_an_index_of_another_application_in_the_way_and_a_graph_set_read_only(
    tmp_path_factory: Any,
) -> None:
    """One server for both: each start of one takes a while."""

    def first(server: launcher.Server) -> None:
        address = DatabaseAddress(server.uri, server.username, server.password, server.database)
        run_as_them(address, INDEX)
        asyncio.run(says_what_is_in_the_way(address))
        run_as_them(address, "DROP INDEX theirs")
        run_as_them(address, THEIRS, tag="x")
        asyncio.run(fill(address))

    async def fill(address: DatabaseAddress) -> None:
        async with open_store(address) as store:
            await ingest(store, process({"a": "A", "t": "T"}, [("a", "t")], process_id="before"))
            assert not any("caption" in row for row in await snapshot(store, "x"))

    async def read_only(address: DatabaseAddress) -> None:
        async with open_store(address, wait_seconds=30) as store:
            assert (await store.processes.get("before")).nodes == 2
            assert (await store.queries.run("stage_summary", {"process_id": "before"})).rows
            with pytest.raises(ReadOnlyGraph, match="default_to_read_only"):
                await ingest(store, process({"a": "A", "t": "T"}, [("a", "t")], process_id="new"))
            with pytest.raises(ReadOnlyGraph):
                await store.processes.delete("before")
            assert (await store.processes.get("before")).nodes == 2
            assert await store.processes.state("new") is None

    try:
        with launcher.restarted(first, {"server.databases.default_to_read_only": "true"}) as server:
            login = (server.username, server.password, server.database)
            asyncio.run(read_only(DatabaseAddress(server.uri, *login)))
    except launcher.Unavailable as missing:
        pytest.skip(f"no real Neo4j: {missing}")


def test_an_index_of_another_application_in_the_embedded_engine(tmp_path_factory: Any) -> None:
    async def work() -> None:
        async with new_engine(tmp_path_factory.mktemp("shared")) as address:
            await asyncio.to_thread(run_as_them, address, INDEX)
            await asyncio.to_thread(run_as_them, address, THEIRS, tag="x")
            async with open_store(address) as store:
                await ingest(store, process({"a": "A", "t": "T"}, [("a", "t")], process_id="p"))
                assert (await store.processes.get("p")).nodes == 2
                assert not any("caption" in row for row in await snapshot(store, "x"))
                double = "CREATE (:Span {process_id: 'p', node_id: 'a'})"
                with pytest.raises(ConstraintError):  # theirs is not in the way of our own
                    await asyncio.to_thread(run_as_them, address, double)

    asyncio.run(work())
