"""Real output folders of three schema generations, with counts found by other means.

The numbers were counted from the parquet files without any code of this project.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.graphrag import GraphRagImporter
from veritrail_graph.graph.importers.records import EdgeRecord, NodeRecord
from veritrail_graph.graph.importers.registry import ImportOptions

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "graphrag"
ANSWERS = DATA / "query_answers.json"

pytestmark = pytest.mark.skipif(
    not ANSWERS.is_file(), reason=f"the real GraphRAG folders are not at {DATA}"
)

GENERATIONS = ["v1.1.2", "v2.1.0", "v3.1.2"]
NODES = {
    "v1.1.2": {1: 38, 2: 316 + 698 + 178, 3: 57 + 114, 4: 72, 6: 1},
    "v2.1.0": {1: 5, 2: 12 + 43 + 17, 3: 6 + 11, 4: 2, 6: 1},
    "v3.1.2": {1: 5, 2: 31 + 97 + 41, 3: 8 + 10, 4: 10, 6: 1},
}
EDGES = {
    "v1.1.2": (1866, 2689, 1132, 72),
    "v2.1.0": (122, 72, 30, 3),
    "v3.1.2": (219, 174, 97, 10),
}
"""Edges from text units, edges to reports, those of them that are cited, edges to the answer."""


@pytest.fixture
def answers(tmp_path):
    plain = tmp_path / "answer.txt"
    plain.write_text("Dulce [Data: Reports (1); Entities (5)].", encoding="utf-8")
    return {"v1.1.2": f"{ANSWERS}#1", "v2.1.0": str(plain), "v3.1.2": f"{ANSWERS}#0"}


def opened(generation, **options):
    return GraphRagImporter().open(
        DATA / generation / "docs_dulce", ImportOptions(answer_id="a", **options)
    )


def graph_of(process):
    records = list(process.records())
    nodes = {r.node_id: r for r in records if isinstance(r, NodeRecord)}
    edges = [r for r in records if isinstance(r, EdgeRecord)]
    assert len(nodes) + len(edges) == len(records)
    return nodes, edges


@pytest.mark.parametrize("generation", GENERATIONS)
def test_nodes_by_stage(generation, answers):
    nodes, _ = graph_of(opened(generation, answer=answers[generation]))
    assert Counter(node.stage for node in nodes.values()) == NODES[generation]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_edges_by_step(generation, answers):
    nodes, edges = graph_of(opened(generation, answer=answers[generation]))
    upstream = [e for e in edges if nodes[e.target].stage < 4]
    to_reports = [e for e in edges if nodes[e.target].stage == 4]
    to_answer = [e for e in edges if e.target == "answer/a"]
    cited = [e for e in to_reports if e.cited]
    assert tuple(map(len, (upstream, to_reports, cited, to_answer))) == EDGES[generation]
    assert {e.cited for e in upstream} == {None}
    assert {e.cited for e in to_reports} == {True, False}


@pytest.mark.parametrize("generation", GENERATIONS)
def test_the_rules_of_a_process_hold(generation, answers):
    process = opened(generation, answer=answers[generation])
    nodes, edges = graph_of(process)
    assert {e.source for e in edges} | {e.target for e in edges} <= set(nodes)
    assert all(nodes[e.source].stage <= nodes[e.target].stage for e in edges)
    assert len({(e.source, e.target) for e in edges}) == len(edges)
    sources = {name: set() for name in nodes}
    for edge in edges:
        sources[edge.target].add(edge.source)
    assert len(list(TopologicalSorter(sources).static_order())) == len(nodes)
    assert {nodes[name].stage for name, given in sources.items() if not given} == {1}
    assert process.header.terminals == ("answer/a",)
    assert set(process.header.stage_names) >= {node.stage for node in nodes.values()}


@pytest.mark.parametrize(("number", "generation"), [(0, "v3.1.2"), (1, "v1.1.2")])
def test_cited_edges_of_the_answer_are_the_cited_of_the_entry(number, generation):
    entry = json.loads(ANSWERS.read_text(encoding="utf-8"))[number]
    process = opened(generation, answer=f"{ANSWERS}#{number}")
    _, edges = graph_of(process)
    cited = {e.source for e in edges if e.target == "answer/a" and e.cited}
    assert cited == {f"community_report/{n}" for n in entry["cited"]["Reports"]}
    assert process.header.question == entry["query"]
    assert process.header.name == f"GraphRAG: {entry['query']}"
    assert not any("asked of" in warning for warning in process.header.warnings)


def test_a_cited_report_is_the_one_that_says_it():
    nodes, _ = graph_of(opened("v1.1.2", answer=f"{ANSWERS}#1"))
    assert "Cosmic Vocalization" in nodes["community_report/65"].text


def test_sources_cited_narrows_to_what_is_cited():
    process = opened("v3.1.2", answer=f"{ANSWERS}#0", sources="cited")
    _, edges = graph_of(process)
    given = {e.source: e.cited for e in edges if e.target == "answer/a"}
    assert given == {f"community_report/{n}": True for n in (0, 1, 3, 4, 5, 7, 8, 9)}
    assert any("nothing else" in warning for warning in process.header.warnings)


def test_community_level_bounds_the_reports_but_never_a_cited_one():
    process = opened("v3.1.2", answer=f"{ANSWERS}#0", community_level=0)
    _, edges = graph_of(process)
    given = {e.source: e.cited for e in edges if e.target == "answer/a"}
    # Reports 0 to 6 are of level 0; of 7 to 9, of level 1, the answer cites all.
    assert given == {f"community_report/{n}": n not in (2, 6) for n in range(10)}
    level_0 = opened("v1.1.2", answer=f"{ANSWERS}#1", community_level=0)
    _, edges = graph_of(level_0)
    assert sum(e.target == "answer/a" for e in edges) == 10 + 1


@pytest.mark.parametrize("generation", GENERATIONS)
def test_what_the_folder_lacks_is_said(generation, answers):
    warnings = "\n".join(opened(generation, answer=answers[generation]).header.warnings)
    assert "snapshots.raw_graph" in warnings
    assert "Map answers (stage 5)" in warnings
    assert "level <= 2" in warnings
    assert "does not keep their prompts" in warnings
    assert ("GraphRAG up to 1.x" in warnings) == (generation == "v1.1.2")


def test_how_many_reports_graphrag_1_itself_would_read():
    # Counted from create_final_nodes.parquet, as read_indexer_reports of 1.1.2 does.
    warnings = "\n".join(opened("v1.1.2", answer=f"{ANSWERS}#1").header.warnings)
    assert "all 72 of level <= 2" in warnings
    assert "highest number of each entity: 56 here" in warnings


def test_more_is_said_and_kept():
    process = opened("v3.1.2", answer=f"{ANSWERS}#0")
    nodes, _ = graph_of(process)
    assert nodes["answer/a"].metadata["cites_more"] == ["Reports"]
    assert any("`+more` in 1 (answer/a: Reports)" in w for w in process.header.warnings)


def test_sources_are_cited_by_their_place_in_the_table(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("Local [Data: Sources (0); Claims (1); Relationships (2)].", encoding="utf-8")
    nodes, edges = graph_of(opened("v2.1.0", answer=str(path)))
    cited = {e.source for e in edges if e.target == "answer/a" and e.cited}
    assert cited == {"text_unit/0", "covariate/1", "relationship/2"}
    assert nodes["text_unit/0"].metadata["human_readable_id"] == 1
    assert nodes["text_unit/0"].text.startswith("# Operation: Dulce")


def test_texts_hold_names_and_descriptions():
    nodes, _ = graph_of(opened("v3.1.2", answer=f"{ANSWERS}#0"))
    entity = nodes["entity/0"]
    assert entity.text.startswith("ALEX MERCER\nAgent Alex Mercer is")
    assert (entity.kind, entity.step, entity.stage) == ("entity", "summarize_descriptions", 3)
    assert nodes["relationship/0"].text.startswith(
        "ALEX MERCER -> PARANORMAL MILITARY SQUAD\nAlex Mercer is"
    )
    claim = nodes["covariate/0"].text
    assert claim.startswith("Paranormal Military Squad's elite convened")
    assert "\nSubject: PARANORMAL MILITARY SQUAD\n" in claim
    assert nodes["text_unit/0"].metadata["documents"] == ["dulce.txt"]
    json.dumps([dict(node.metadata) for node in nodes.values()], allow_nan=False)


def test_a_project_root_is_read_from_its_output(tmp_path):
    shutil.copytree(DATA / "v3.1.2" / "docs_dulce", tmp_path / "output")
    importer = GraphRagImporter()
    assert importer.detect(tmp_path) is None
    process = importer.open(tmp_path, ImportOptions(answer=f"{ANSWERS}#0", question="Mine?"))
    warnings = process.header.warnings
    assert warnings[0].startswith(f"Read from {tmp_path / 'output'}")
    assert any("names its index 'graphrag/v3.1.2/docs_dulce'" in warning for warning in warnings)
    assert process.header.question == "Mine?"


@pytest.mark.parametrize("keep", [0.5, 0.999, 0.0])
@pytest.mark.parametrize("table", ["entities", "community_reports"])
def test_a_parquet_file_that_was_cut_short_is_named(tmp_path, table, keep):
    folder = tmp_path / "docs"
    shutil.copytree(DATA / "v3.1.2" / "docs_dulce", folder)
    path = folder / f"{table}.parquet"
    whole = path.read_bytes()
    path.unlink()
    path.write_bytes(whole[: int(len(whole) * keep)])
    with pytest.raises(InputError) as caught:
        GraphRagImporter().open(folder, ImportOptions(answer=f"{ANSWERS}#0"))
    (violation,) = caught.value.violations
    assert (violation.kind, violation.where) == ("unreadable_file", str(path))
    assert ("cut short" if keep else "not a Parquet file") in violation.message
    assert "Arrow" not in violation.message
