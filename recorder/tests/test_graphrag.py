"""`veritrail_record.graphrag`, called as GraphRAG 3.3 calls it; GraphRAG is not needed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest
from fakes.graphrag_folder import base_tables, report, write
from recorded_file import checked, edges, nodes

import veritrail_record as vr
from veritrail_graph.graph.importers.graphrag import GraphRagImporter
from veritrail_graph.graph.importers.records import EdgeRecord, NodeRecord
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_record.graphrag import RecordedIndexing, RecordedSearch

QUESTION = "When did the quay open?"
ANSWER = "The quay opened in 1901 [Data: Reports (1)]."
REPORTS = pd.DataFrame(
    {"id": ["1", "2"], "title": ["Quay", "Crane"], "content": ["# Quay", "# Crane"]}
)
SOURCES = pd.DataFrame({"id": ["0", "1"], "text": ["The quay opened in 1901.", "A crane."]})
ENTITIES = pd.DataFrame(
    {"id": ["5"], "entity": ["QUAY"], "description": ["Built in 1901."], "in_context": [True]}
)
BATCH = "-----Reports-----\nid|title|content\n1|Quay|# Quay\n"


@dataclass
class SearchResult:
    """The fields of GraphRAG's results that are read."""

    response: Any
    context_data: Any = None
    map_responses: Any = None


def points(*given: tuple[str, int]) -> list[dict[str, Any]]:
    return [{"answer": text, "score": score} for text, score in given]


def locally(search: RecordedSearch) -> None:
    context = {"reports": REPORTS, "entities": ENTITIES, "sources": SOURCES, "claims": None}
    search.on_context(context)
    for token in (ANSWER[:10], "", ANSWER[10:]):
        search.on_llm_new_token(token)


def globally(search: RecordedSearch) -> None:
    search.on_map_response_start([BATCH])
    found = [
        SearchResult(points(("It opened in 1901 [Data: Reports (1)].", 80), ("No.", 0)), BATCH),
        SearchResult(points(("", 0)), BATCH),
    ]
    search.on_map_response_end(found)
    search.on_context({"reports": REPORTS})
    for token in (ANSWER[:10], ANSWER[10:]):
        search.on_llm_new_token(token)


def test_without_a_recording_or_a_file_nothing_happens(tmp_path, caplog):
    with RecordedSearch(QUESTION) as search:
        locally(search)
    RecordedIndexing(tmp_path).pipeline_end([])
    assert not list(tmp_path.iterdir())
    assert not caplog.records


def test_the_file_holds_what_the_importer_reads(tmp_path):
    path = tmp_path / "answer.json"
    with RecordedSearch(QUESTION, path=path, index="output") as search:
        globally(search)
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "query": QUESTION,
        "index": "output",
        "response": ANSWER,
        "context_data": {"reports": REPORTS.to_dict(orient="records")},
        "map_responses": [
            {"response": points(("It opened in 1901 [Data: Reports (1)].", 80), ("No.", 0)),
             "context_data": BATCH},
            {"response": points(("", 0)), "context_data": BATCH},
        ],
    }  # fmt: skip
    assert [one.name for one in tmp_path.iterdir()] == ["answer.json"]


def test_a_local_search_is_recorded_with_the_rows_it_was_given(file):
    with vr.record(path=file, quiet=True):
        for _ in range(2):  # the same rows are the same nodes
            with RecordedSearch(QUESTION) as search:
                locally(search)
    found = [(one["node_id"], one["kind"], one["origin"]) for one in nodes(file).values()]
    assert found == [
        ("create_community_reports/1", "community_report", "generated"),
        ("create_community_reports/2", "community_report", "generated"),
        ("extract_graph/1", "entity", "generated"),
        ("chunk/1", "text_unit", "source"),
        ("chunk/2", "text_unit", "source"),
        ("search/1", "answer", "generated"),
        ("search/2", "answer", "generated"),
    ]
    given = [one for one, _, _ in found[:5]]
    assert edges(file) == {(one, to) for one in given for to in ("search/1", "search/2")}
    assert nodes(file)["extract_graph/1"]["text"] == "QUAY\nBuilt in 1901."
    assert nodes(file)["search/1"]["question"] == QUESTION
    process = checked(file)
    assert (process.terminals, process.unsourced) == (("search/1", "search/2"), 3)


def test_map_answers_hang_on_the_reports_of_their_batch(file):
    with vr.record(path=file, quiet=True), RecordedSearch(QUESTION) as search:
        globally(search)
    assert edges(file) == {
        ("create_community_reports/1", "map/1"), ("create_community_reports/1", "map/2"),
        ("map/1", "reduce/1"),  # the other point has the score 0
    }  # fmt: skip
    assert nodes(file)["map/1"]["metadata"] == {"score": 80}
    assert checked(file).terminals == ("reduce/1",)


@pytest.mark.parametrize("builds", [False, True])
def test_with_the_index_the_way_is_the_one_that_the_importer_reads(tmp_path, file, builds):
    tables = base_tables()
    # A report that cites one of a deeper level, which is read after it.
    tables["community_reports"][0] = report(0, 0, "Whole [Data: Reports (1)].")
    index, path = write(tmp_path / "output", tables), tmp_path / "answer.json"
    with vr.record(path=file, quiet=True) as run:
        if builds:
            indexing = RecordedIndexing(index)
            indexing.pipeline_start(["create_community_reports"])
            indexing.workflow_start("create_community_reports", None)
            indexing.progress(None)
            indexing.workflow_end("create_community_reports", None)
            indexing.pipeline_end([SearchResult(None)])
        built = len(run)
        with RecordedSearch(QUESTION, index=index, path=path) as search:
            globally(search)
        assert len(run) == built + (3 if builds else len(run) - built)
    read = GraphRagImporter().open(index, ImportOptions(answer=str(path)))
    records = list(read.records())
    found = {one.node_id: one for one in records if isinstance(one, NodeRecord)}
    made = nodes(file)
    assert {one: (node["text"], node["stage"], node["origin"]) for one, node in made.items()} == {
        one: (node.text, node.stage, node.origin) for one, node in found.items()
    }
    ends = {(one.source, one.target) for one in records if isinstance(one, EdgeRecord)}
    assert edges(file) == ends
    assert ("community_report/1", "community_report/0") in ends
    process = checked(file)
    assert process.terminals == read.header.terminals
    assert process.unsourced == 0


def test_a_drift_search_ends_with_its_reduced_answer(tmp_path):
    path = tmp_path / "answer.json"
    with RecordedSearch(QUESTION, path=path) as search:
        search.on_llm_new_token("of a step")
        search.on_context({"sources": SOURCES[:1]})
        search.on_context({"sources": SOURCES})
        search.on_reduce_response_start({"nodes": []})
        search.on_llm_new_token(ANSWER)
        search.on_reduce_response_end(ANSWER)
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert kept["response"] == ANSWER
    assert kept["context_data"] == {"sources": SOURCES.to_dict(orient="records")}


def test_an_answer_can_be_handed_over(tmp_path):
    path = tmp_path / "answer.json"
    with RecordedSearch(QUESTION, path=path) as search:
        search.on_context({"sources": SOURCES})
        search.answer("I do not know.")
    assert json.loads(path.read_text(encoding="utf-8"))["response"] == "I do not know."
    with RecordedSearch(QUESTION, path=path) as search:
        search.on_context({"sources": SOURCES})
        search.answer(SearchResult(ANSWER, {"Who?": {"reports": REPORTS[:1]}}))
    kept = json.loads(path.read_text(encoding="utf-8"))
    rows = REPORTS[:1].to_dict(orient="records")
    assert (kept["response"], kept["context_data"]) == (ANSWER, {"Who?": {"reports": rows}})


def test_what_is_no_number_is_null_in_the_file(tmp_path):
    path = tmp_path / "answer.json"
    with RecordedSearch(path=path) as search:
        search.on_context({"entities": pd.DataFrame({"id": ["1"], "rank": [float("nan")]})})
        search.answer(ANSWER)
    rows = json.loads(path.read_text(encoding="utf-8"))["context_data"]["entities"]
    assert rows == [{"id": "1", "rank": None}]


@pytest.mark.parametrize("place", ["missing/answer.json", "."])
def test_a_file_that_cannot_be_written_does_not_end_the_program(tmp_path, file, place, caplog):
    with vr.record(path=file, quiet=True) as run:
        with RecordedSearch(QUESTION, path=tmp_path / place) as search:
            locally(search)
        assert len(run) == 6
    assert [one.levelname for one in caplog.records] == ["WARNING"]


def test_faults_are_logged_and_leave_what_is_there(tmp_path, file, caplog):
    with vr.record(path=file, quiet=True):
        with RecordedSearch(QUESTION) as search:  # it never got an answer
            search.on_context({"sources": 3})
            search.on_map_response_end(3)  # type: ignore[arg-type]
        with RecordedSearch(QUESTION, index=tmp_path) as search:  # no index
            search.on_context({"sources": SOURCES[:1]})
            search.answer(ANSWER)
        failing = RecordedIndexing(tmp_path)
        failing.pipeline_error(ValueError("no"))
        failing.pipeline_end([])
    assert edges(file) == {("chunk/1", "search/1")}
    told = "\n".join(one.getMessage() for one in caplog.records)
    assert "it has no answer" in told
    assert "recorded without the index" in told
    assert "a workflow of GraphRAG failed" in told
