"""A graph that another application wrote becomes a process; theirs is left as it was."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import source_graphs
from fakes.trails import NFS, a_round, a_trail

from veritrail_graph.api.app import Application
from veritrail_graph.api.app.ingesting import IngestOptions
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import EngineUnavailable, InputError
from veritrail_graph.graph.importers.records import EdgeRecord, NodeRecord, ProcessInput
from veritrail_graph.graph.importers.registry import ImportOptions, find_processes
from veritrail_graph.graph.ingest import clean, ingest
from veritrail_graph.graph.ingest.write import link_copies
from veritrail_graph.graph.model import Claim, NodeRef, Role
from veritrail_graph.graph.store import DatabaseAddress, Store

pytestmark = pytest.mark.engine

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ANSWER = str(EXAMPLES / "neo4j-sandholm.json")
LINKS = (
    "MATCH (s:Span {process_id: $p})-[:COPIED_FROM]->(n) RETURN s.node_id, n.id ORDER BY s.node_id"
)


@pytest.fixture
def theirs(address: DatabaseAddress) -> Iterator[DatabaseAddress]:
    """The engine under test, for a graph of another application, which is removed at the end."""
    source_graphs.remove(address)
    yield address
    source_graphs.remove(address)


def opened(address: DatabaseAddress, **options: Any) -> ProcessInput:
    chosen = ImportOptions(**options, graph=address)
    (found,) = find_processes(Path(address.uri), options=chosen)
    return found.open()


def nodes_of(source: ProcessInput) -> dict[str, NodeRecord]:
    return {one.node_id: one for one in source.records() if isinstance(one, NodeRecord)}


def edges_of(source: ProcessInput) -> set[tuple[str, str]]:
    return {(one.source, one.target) for one in source.records() if isinstance(one, EdgeRecord)}


def answered(folder: Path, document: Any) -> str:
    path = folder / "answer.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def test_a_graph_of_llm_graph_builder_with_its_communities_and_an_answer(
    theirs: DatabaseAddress,
) -> None:
    source_graphs.run(theirs, source_graphs.GRAPH_BUILDER)
    source = opened(theirs, answer=ANSWER)
    nodes = nodes_of(source)
    answer = next(iter(source.header.terminals or ()))
    assert [(name, one.stage, one.kind) for name, one in nodes.items()] == [
        ("council-minutes.txt#1", 1, "chunk"),
        ("harbour-log.txt#1", 1, "chunk"),
        ("harbour-log.txt#2", 1, "chunk"),
        ("entity:Ida Brand", 2, "Person"),
        ("entity:Lighthouse of Sandholm", 2, "Building"),
        ("entity:School for sailors", 2, "Organization"),
        ("community:0-1", 4, "community"),
        ("community:0-2", 4, "community"),
        ("community:1-0", 5, "community"),
        ("relationship:Ida Brand KEPT Lighthouse of Sandholm", 3, "KEPT"),
        (answer, 6, "answer"),
    ]
    assert nodes["harbour-log.txt#2"].metadata == {
        "id": "c-2", "document": "harbour-log.txt", "place": 2
    }  # fmt: skip
    assert nodes[answer].question == source.header.question
    log1, log2, minutes = "harbour-log.txt#1", "harbour-log.txt#2", "council-minutes.txt#1"
    light, school = "entity:Lighthouse of Sandholm", "entity:School for sailors"
    assert edges_of(source) == {
        (log1, "entity:Ida Brand"), (log1, light), (log2, light), (log2, school), (minutes, school),
        (log1, "relationship:Ida Brand KEPT Lighthouse of Sandholm"),
        ("entity:Ida Brand", "community:0-1"), (light, "community:0-1"),
        # The council has no description: the chunk it was found in takes its place.
        (school, "community:0-2"), (minutes, "community:0-2"),
        ("community:0-1", "community:1-0"), ("community:0-2", "community:1-0"),
        (school, answer), ("community:0-2", answer), ("community:1-0", answer),
    }  # fmt: skip
    first, second = source.header.warnings
    assert "1 of 4 entities hold no description" in first
    assert "Council of Sandholm" in first
    assert "which chunk the description of an entity" in second


def test_a_graph_of_neo4j_graphrag(theirs: DatabaseAddress, tmp_path: Path) -> None:
    source_graphs.run(theirs, source_graphs.GRAPHRAG)
    ((quay,),) = source_graphs.run(theirs, "MATCH (c:Chunk {index: 0}) RETURN elementId(c)")
    items = [{"content": "<Node …>", "metadata": {"score": 0.9, "id": quay}}]
    result = {"answer": "The board owns the quay.", "retriever_result": {"items": items}}
    source = opened(theirs, answer=answered(tmp_path, result), question="Who owns the quay?")
    (answer,) = source.header.terminals or ()
    assert list(nodes_of(source)) == [
        "quay.txt#0", "quay.txt#1", "entity:Quay", "entity:Warehouse",
        "relationship:Harbour board OWNS Quay", answer,
    ]  # fmt: skip
    assert edges_of(source) == {
        ("quay.txt#0", "entity:Quay"), ("quay.txt#1", "entity:Warehouse"),
        ("quay.txt#0", "relationship:Harbour board OWNS Quay"), ("quay.txt#0", answer),
    }  # fmt: skip
    assert source.header.name == "Neo4j: Who owns the quay?"
    assert len(source.header.warnings) == 1


def test_their_graph_is_the_same_after_ingest_verification_replacement_and_deletion(
    store: Store, theirs: DatabaseAddress, arun: Any, process_id: str
) -> None:
    source_graphs.run(theirs, source_graphs.GRAPH_BUILDER)
    before = source_graphs.dump(theirs)
    assert len(before) == 32
    settings = Settings(
        NEO4J_URI=theirs.uri,
        NEO4J_USERNAME=theirs.username,
        NEO4J_PASSWORD=theirs.password,
        NEO4J_DATABASE=theirs.database,
    )
    app = Application.over(store, settings)

    def stored(answer: str | None, **options: Any) -> str:
        async def work() -> Any:
            importing = ImportOptions(answer)
            chosen = IngestOptions(process_id=process_id, importing=importing, **options)
            paths = [Path(theirs.uri)]
            return [became async for _, became in app.processes.ingest_each(paths, chosen)]

        (became,) = arun(work())
        assert not isinstance(became, Exception), became
        return str(became.status)

    def links() -> list[Any]:
        return arun(store.database.run_text(LINKS, {"p": process_id}, 100)).rows

    copied = [
        ("community:0-1", "0-1"), ("community:0-2", "0-2"), ("community:1-0", "1-0"),
        ("council-minutes.txt#1", "c-3"), ("entity:Ida Brand", "Ida Brand"),
        ("entity:Lighthouse of Sandholm", "Lighthouse of Sandholm"),
        ("entity:School for sailors", "School for sailors"),
        ("harbour-log.txt#1", "c-1"), ("harbour-log.txt#2", "c-2"),
    ]  # fmt: skip
    assert stored(ANSWER) == "created"
    assert links() == copied
    assert stored(ANSWER) == "unchanged"
    assert links() == copied
    assert source_graphs.dump(theirs) == before
    claim = Claim(claim_id="k1", text="It closed.", node_id="community:0-2")
    arun(store.claims.add(process_id, [claim]))
    a_look = a_round(1, NFS, [NodeRef("council-minutes.txt#1", 1, 0, Role.ROOT)])
    trail = a_trail(f"{process_id}/v", a_look, process_id=process_id, claim=claim)
    arun(store.trails.write(trail))
    assert source_graphs.dump(theirs) == before
    # Without the answer it is another content.
    assert stored(None, replace=True) == "replaced"
    assert links() == copied
    assert source_graphs.dump(theirs) == before
    for query in ("check_orphans", "check_loose_ends"):
        found = arun(store.queries.run(query, {"limit": 10_000})).rows
        assert [row for row in found if process_id in str(row)] == []
    arun(clean(store))
    arun(store.processes.delete(process_id))
    assert links() == []
    assert source_graphs.dump(theirs) == before


def test_a_graph_elsewhere_is_read_and_not_linked(
    store: Store, theirs: DatabaseAddress, embedded_address: DatabaseAddress, arun: Any,
    process_id: str,
) -> None:  # fmt: skip
    if theirs == embedded_address:
        pytest.skip("both would be one graph")
    source_graphs.remove(embedded_address)
    try:
        source_graphs.run(embedded_address, source_graphs.GRAPH_BUILDER)
        source: Any = opened(embedded_address, answer=ANSWER)
        assert arun(ingest(store, source, process_id=process_id)).status == "created"
        assert arun(link_copies(store, process_id, source)) == 0
    finally:
        source_graphs.remove(embedded_address)


def test_of_what_an_answer_used_each_id_is_found_by_any_of_its_names(
    theirs: DatabaseAddress, tmp_path: Path
) -> None:
    source_graphs.run(theirs, source_graphs.GRAPH_BUILDER)
    ((ida,),) = source_graphs.run(theirs, "MATCH (p:Person) RETURN elementId(p)")
    reply = {
        "message": "Ida Brand kept the light.",
        "info": {
            "sources": ["harbour-log.txt"],
            "nodedetails": {"chunkdetails": [{"id": "c-1", "score": 0.9}], "communitydetails": []},
            "entities": {"entityids": [ida], "relationshipids": ["5:none:1"]},
        },
    }
    own = {
        "answer": "The school was closed.",
        "chunks": ["council-minutes.txt#1", {"id": "c-2"}],
        "entities": ["Council of Sandholm"],
        "relationships": ["Ida Brand KEPT Lighthouse of Sandholm"],
        "answer_id": "school",
    }
    source = opened(theirs, answer=answered(tmp_path, [{"status": "Success", "data": reply}, own]))
    first, second = source.header.terminals or ()
    edges = edges_of(source)
    assert {one for one, to in edges if to == first} == {"harbour-log.txt#1", "entity:Ida Brand"}
    assert second == "answer:school"
    assert {one for one, to in edges if to == second} == {
        "council-minutes.txt#1", "harbour-log.txt#2",
        "relationship:Ida Brand KEPT Lighthouse of Sandholm",
    }  # fmt: skip
    told = [one for one in source.header.warnings if "holds no text" in one]
    assert ["5:none:1" in told[0], "Council of Sandholm" in told[1]] == [True, True]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"chunks": ["c-1", "c-9", "c-8"]}, r"2 of 3 ids .*'c-9' \(chunk\), 'c-8' \(chunk\)"),
        ({"entities": ["c-1"]}, r"1 of 1 ids .*'c-1' \(entity\)"),
        ({"communities": []}, "names no text of the graph"),
        ({"entities": ["Twin"]}, "'Twin' is the name of several"),
    ],
)
def test_an_answer_that_names_what_is_not_there_is_refused(
    theirs: DatabaseAddress, tmp_path: Path, entry: dict[str, Any], problem: str
) -> None:
    source_graphs.run(theirs, source_graphs.GRAPH_BUILDER)
    twins = "CREATE (:__Entity__:Person {id: 'Twin'}), (:__Entity__:Place {id: 'Twin'})"
    source_graphs.run(theirs, twins)
    with pytest.raises(InputError, match=problem):
        opened(theirs, answer=answered(tmp_path, {"answer": "So it is.", **entry}))


def test_documents_of_one_name_chunks_without_text_and_chats_are_named(
    theirs: DatabaseAddress, tmp_path: Path
) -> None:
    source_graphs.run(
        theirs,
        """
        CREATE (d:Document {path: 'document.txt'}), (e:Document {path: 'document.txt'}),
               (a:Chunk {index: 0, text: 'One.'}), (b:Chunk {index: 0, text: 'Two.'}),
               (x:Chunk {index: 1}), (y:Chunk {index: 2, text: ' '}),
               (n:Chunk {text: 'Behind.'}), (m:Chunk {text: 'Before.'}), (m)-[:NEXT_CHUNK]->(n),
               (a)-[:FROM_DOCUMENT]->(d), (b)-[:FROM_DOCUMENT]->(e), (x)-[:FROM_DOCUMENT]->(d),
               (a2:Chunk {index: 0, text: 'One more.'}), (a2)-[:FROM_DOCUMENT]->(d),
               (:Session {id: 's'})-[:LAST_MESSAGE]->(:Message {role: 'user', content: 'Hello?'}),
               (whole:Document {id: 'whole', text: 'A document in one piece.'}),
               (p:Person {id: 'Pat', description: 'A person.'}), (whole)-[:MENTIONS]->(p)
        """,
    )
    source = opened(theirs)
    nodes = nodes_of(source)
    texts = {name: one.text for name, one in nodes.items() if not name.startswith("chunk:")}
    # Nodes of one name and place stand in the order of the engine's ids, and an engine may give
    # those of deleted nodes to new ones in any order.
    first, second = "document.txt", "document.txt~2"
    if texts[f"{first}#0"] == "Two.":
        first, second = second, first
    assert {texts.pop(f"{first}#0"), texts.pop(f"{first}#0~2")} == {"One.", "One more."}
    assert texts == {
        f"{second}#0": "Two.",
        "document:whole": "A document in one piece.",
        "entity:Pat": "A person.",
    }
    loose = [one.text for name, one in nodes.items() if name.startswith("chunk:")]
    assert loose == ["Before.", "Behind."]
    assert edges_of(source) == {("document:whole", "entity:Pat")}
    twice, empty, chats = source.header.warnings
    assert twice.startswith("1 document has the name of another")
    assert empty.startswith("2 of 7 chunks hold no text")
    assert chats.startswith("The graph keeps 1 conversation.")


def test_levels_of_communities_have_the_lowest_summaries_below_them_as_inputs(
    theirs: DatabaseAddress,
) -> None:
    source_graphs.run(
        theirs,
        """
        CREATE (c:Chunk {id: 'c', text: 'A.'}), (e:__Entity__ {id: 'E', description: 'e'}),
               (c)-[:HAS_ENTITY]->(e), (e)-[:IN_COMMUNITY]->(a:__Community__ {id: '0-0', level: 0,
                 summary: 'Low.'}), (b:__Community__ {id: '0-1', level: 0}),
               (m:__Community__ {id: '1-0', level: 1, summary: 'Middle.'}),
               (t:__Community__ {id: '2-0', level: 2, summary: 'Top.'}),
               (a)-[:PARENT_COMMUNITY]->(m), (b)-[:PARENT_COMMUNITY]->(m),
               (m)-[:PARENT_COMMUNITY]->(t)
        """,
    )
    source = opened(theirs)
    assert edges_of(source) == {
        ("chunk:c", "entity:E"), ("entity:E", "community:0-0"),
        ("community:0-0", "community:1-0"), ("community:0-0", "community:2-0"),
    }  # fmt: skip
    assert "1 of 4 communities hold no summary and are no nodes (0-1)" in source.header.warnings[-1]


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        ("", "it holds no chunks"),
        ("CREATE (:Chunk {index: 1}), (:Chunk {text: 7})", "none of its chunks holds text"),
        ("CREATE (:Chunk {text: 'Alone.'})", "no text that was written from them"),
    ],
)
def test_a_graph_without_what_is_needed_is_refused(
    theirs: DatabaseAddress, made: str, problem: str
) -> None:
    if made:
        source_graphs.run(theirs, made)
    with pytest.raises(InputError, match=problem):
        opened(theirs)


def test_a_server_that_refuses_the_login_or_has_no_such_database_says_which_setting_to_check(
    theirs: DatabaseAddress,
) -> None:
    mine = replace(theirs, settings="VERITRAIL_IMPORT_")
    with pytest.raises(EngineUnavailable, match="VERITRAIL_IMPORT_PASSWORD"):
        opened(replace(mine, password="wrong-password"))
    with pytest.raises(EngineUnavailable, match="VERITRAIL_IMPORT_DATABASE"):
        opened(replace(mine, database="nowhere"))
    with pytest.raises(EngineUnavailable, match="cannot be reached"):
        opened(DatabaseAddress("bolt://127.0.0.1:1"))


def test_many_chunks_are_read_in_pages_and_in_order(theirs: DatabaseAddress) -> None:
    # More than four pages of the importer.
    source_graphs.run(
        theirs,
        "CREATE (e:__Entity__ {id: 'E', description: 'Described.'}) WITH e "
        "UNWIND range(2100, 1, -1) AS i CREATE (:Chunk {id: 'c' + toString(i), position: i, "
        "fileName: 'long.txt', text: 'Sentence ' + toString(i) + '.'})-[:HAS_ENTITY]->(e)",
    )
    records = list(opened(theirs).records())
    nodes = [one for one in records if isinstance(one, NodeRecord)]
    wanted = [(f"long.txt#{n}", f"Sentence {n}.") for n in range(1, 2_101)]
    assert [(one.node_id, one.text) for one in nodes] == [*wanted, ("entity:E", "Described.")]
    assert len(records) == 4_201


LIGHTRAG = EXAMPLES / "lightrag"
GRAPHML = "graph_chunk_entity_relation.graphml"


def test_a_graph_of_lightrag_is_read_beside_the_folder_with_its_chunks(
    store: Store, theirs: DatabaseAddress, arun: Any, process_id: str, tmp_path: Path
) -> None:
    answer = str(LIGHTRAG / "answer.json")
    (found,) = find_processes(LIGHTRAG / "working", options=ImportOptions(answer))
    expected = found.open()
    source_graphs.store_graphml(theirs, LIGHTRAG / "working" / GRAPHML, "base")
    source_graphs.run(theirs, "CREATE (:elsewhere {entity_id: 'Tern', description: 'Of others.'})")
    folder = Path(shutil.copytree(LIGHTRAG / "working", tmp_path / "working"))
    (folder / GRAPHML).unlink()
    settings = Settings(
        NEO4J_URI=theirs.uri,
        NEO4J_USERNAME=theirs.username,
        NEO4J_PASSWORD=theirs.password,
        NEO4J_DATABASE=theirs.database,
    )
    app = Application.over(store, settings)

    async def work() -> Any:
        chosen = IngestOptions(process_id=process_id, importing=ImportOptions(answer))
        paths = [Path(theirs.uri), folder]
        return [became async for _, became in app.processes.ingest_each(paths, chosen)]

    (became,) = arun(work())
    assert not isinstance(became, Exception), became
    arun(store.processes.delete(process_id))
    (found,) = find_processes(folder, options=ImportOptions(answer, graph=theirs))
    process = found.open()
    texts = {name: one.text for name, one in nodes_of(process).items()}
    assert texts == {name: one.text for name, one in nodes_of(expected).items()}
    assert edges_of(process) == edges_of(expected)
    assert not process.header.warnings
    chunks = folder / "kv_store_text_chunks.json"
    chunks.write_text('{"other": {"content": "Of another index."}}', encoding="utf-8")
    with pytest.raises(InputError, match="they are of another index"):
        found.open()
    source_graphs.run(theirs, "MATCH (n:base) DETACH DELETE n")
    source_graphs.run(theirs, "CREATE (:Person {entity_id: 'A', description: 'Of a third.'})")
    with pytest.raises(InputError, match="several workspaces"):
        found.open()
