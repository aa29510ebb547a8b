"""`RecordedSearch` in real searches of GraphRAG 3 over a real index, with a scripted model.

GraphRAG brings some 150 packages and is not in the lock: without it these tests are skipped.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes.chat_server import chat_server
from recorded_file import checked, edges, nodes

import veritrail_record as vr
from veritrail_graph.graph.importers.registry import ImportOptions, open_input
from veritrail_graph.graph.ingest.check import survey
from veritrail_record.graphrag import RecordedSearch

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else GraphRAG's client looks for prices
pytest.importorskip("graphrag", reason="graphrag is not installed (extra `graphrag`)")

import pandas as pd
from graphrag.api import query as api
from graphrag.config.embeddings import entity_description_embedding
from graphrag.config.models.graph_rag_config import GraphRagConfig
from graphrag.utils.api import get_embedding_store
from graphrag_vectors import VectorStoreDocument

INDEX = (
    Path(__file__).resolve().parents[3] / "shared" / "data" / "graphrag" / "v3.1.2" / "docs_dulce"
)

pytestmark = [
    pytest.mark.skipif(not INDEX.is_dir(), reason=f"the real GraphRAG folder is not at {INDEX}"),
    pytest.mark.filterwarnings("default"),
]
QUESTION = "Who leads the squad?"
POINT = "Alex Mercer leads the squad [Data: Reports (0)]."
ANSWER = "The squad is led by Alex Mercer [Data: Reports (0)]."


def script(body: dict[str, Any]) -> list[dict[str, Any]] | int:
    if '"points"' in body["messages"][0]["content"]:  # the map step of a global search
        return [{"content": json.dumps({"points": [{"description": POINT, "score": 80}]})}]
    return [{"content": ANSWER}]


@pytest.fixture
def config(tmp_path: Path) -> Iterator[GraphRagConfig]:
    with chat_server(script) as url:
        model = {"model_provider": "openai", "api_base": url, "api_key": "none"}
        yield GraphRagConfig(
            root_dir=str(tmp_path),
            completion_models={"default_completion_model": {**model, "model": "gpt-4o"}},
            embedding_models={"default_embedding_model": {**model, "model": "embed-1"}},
            vector_store={"type": "lancedb", "db_uri": str(tmp_path / "lancedb"), "vector_size": 4},
            reporting={"type": "file", "base_dir": str(tmp_path / "logs")},
        )  # fmt: skip


def table(name: str) -> pd.DataFrame:
    return pd.read_parquet(INDEX / f"{name}.parquet")


def ask_globally(config: GraphRagConfig, search: RecordedSearch) -> str:
    response, _ = asyncio.run(
        api.global_search(
            config, table("entities"), table("communities"), table("community_reports"),
            community_level=2, dynamic_community_selection=False,
            response_type="one sentence", query=QUESTION, callbacks=[search],
        )
    )  # fmt: skip
    return str(response)


def ask_locally(config: GraphRagConfig, search: RecordedSearch) -> str:
    store = get_embedding_store(config.vector_store, entity_description_embedding)
    store.create_index()
    ids = table("entities")["id"]
    store.load_documents([VectorStoreDocument(id=one, vector=[1.0, 0.0, 0.0, 0.0]) for one in ids])
    response, _ = asyncio.run(
        api.local_search(
            config, table("entities"), table("communities"), table("community_reports"),
            table("text_units"), table("relationships"), table("covariates"), community_level=2,
            response_type="one sentence", query=QUESTION, callbacks=[search],
        )
    )  # fmt: skip
    return str(response)


@pytest.fixture(scope="module")
def reports() -> set[str]:
    return {f"community_report/{number}" for number in table("community_reports")["community"]}


def test_a_global_search_becomes_the_whole_way_from_text_units_to_the_answer(
    config, tmp_path, reports
):
    file, capture = tmp_path / "run.jsonl", tmp_path / "answer.json"
    with (
        vr.record(path=file, quiet=True),
        RecordedSearch(QUESTION, index=INDEX, path=capture) as search,
    ):
        assert ask_globally(config, search) == ANSWER
    kept = json.loads(capture.read_text(encoding="utf-8"))
    assert (kept["query"], kept["response"]) == (QUESTION, ANSWER)
    points = [point for one in kept["map_responses"] for point in one["response"]]
    assert points == [{"answer": POINT, "score": 80}] * len(kept["map_responses"])
    imported = survey(open_input(INDEX, options=ImportOptions(answer=str(capture))))
    found = checked(file)
    assert found.terminals == imported.terminals
    assert (len(found.roles), len(edges(file))) == (
        len(imported.roles),
        len(imported.topology.edge_sources),
    )
    map_answers = {one for one in nodes(file) if "/map/" in one}
    assert {one for one, to in edges(file) if to in found.terminals} == map_answers
    assert {one for one, to in edges(file) if to in map_answers} <= reports


def test_a_local_search_hangs_on_the_rows_of_its_prompt(config, tmp_path):
    file, capture = tmp_path / "run.jsonl", tmp_path / "answer.json"
    with (
        vr.record(path=file, quiet=True),
        RecordedSearch(QUESTION, index=INDEX, path=capture) as search,
    ):
        assert ask_locally(config, search) == ANSWER
    kept = json.loads(capture.read_text(encoding="utf-8"))["context_data"]
    given = sum(len(rows) for rows in kept.values())
    assert (len(kept["sources"]), len(kept["entities"]), len(kept["reports"])) == (5, 20, 1)
    imported = survey(open_input(INDEX, options=ImportOptions(answer=str(capture))))
    found = checked(file)
    assert found.terminals == imported.terminals
    assert len(edges(file)) == len(imported.topology.edge_sources)
    (terminal,) = found.terminals
    sources = {one for one, to in edges(file) if to == terminal}
    assert {one.partition("/")[0] for one in sources} == {
        "text_unit", "entity", "relationship", "covariate", "community_report",
    }  # fmt: skip
    # What was given, and the report that is cited beside it.
    assert given <= len(sources) <= given + 1


def test_a_search_that_is_streamed_and_left_is_recorded_as_far_as_it_came(config, tmp_path):
    async def main(search: RecordedSearch) -> str:
        stream = api.global_search_streaming(
            config, table("entities"), table("communities"), table("community_reports"),
            community_level=2, dynamic_community_selection=False,
            response_type="one sentence", query=QUESTION, callbacks=[search],
        )  # fmt: skip
        text = ""
        async for piece in stream:
            text += piece
            if len(text) > 20:
                break
        return text

    file = tmp_path / "run.jsonl"
    with vr.record(path=file, quiet=True), RecordedSearch(QUESTION) as search:
        text = asyncio.run(main(search))
    by_id = nodes(file)
    assert by_id["reduce/1"]["text"] == text
    assert {one for one, to in edges(file) if to == "reduce/1"} == {
        one for one in by_id if one.startswith("map/")
    }
    assert checked(file).terminals == ("reduce/1",)
