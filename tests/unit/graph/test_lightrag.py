"""Working folders of LightRAG: one that it wrote itself, what others lack, and hostile ones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.records import EdgeRecord, NodeRecord, ProcessInput
from veritrail_graph.graph.importers.registry import (
    ImportOptions,
    find_processes,
    folder_and_graph,
    open_input,
)
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Origin

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "lightrag"
ANSWER = str(EXAMPLE / "answer.json")
CRANE = "entity/Crane of Solvik"
GRAPH = "graph_chunk_entity_relation.graphml"
CACHE = "kv_store_llm_response_cache.json"
CHUNKS = "kv_store_text_chunks.json"
Change = Callable[[Any], Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE / "working", tmp_path / "working"))


def opened(folder: Path, answer: str | None = ANSWER, **options: Any) -> ProcessInput:
    return open_input(folder, options=ImportOptions(answer=answer, **options))


def nodes_of(process: ProcessInput) -> dict[str, NodeRecord]:
    return {one.node_id: one for one in process.records() if isinstance(one, NodeRecord)}


def inputs_of(process: ProcessInput, name: str) -> dict[str, bool | None]:
    edges = (one for one in process.records() if isinstance(one, EdgeRecord))
    return {one.source: one.cited for one in edges if one.target == name}


def warnings_of(process: ProcessInput) -> str:
    return "\n".join(process.header.warnings)


def change(folder: Path, name: str, changed: Change) -> None:
    path = folder / name
    value = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(changed(value)), encoding="utf-8")


def answered(folder: Path, document: Any) -> str:
    path = folder.parent / "given.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def given() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(ANSWER).read_text(encoding="utf-8"))
    return found


def test_a_folder_becomes_chunks_extracted_and_merged_descriptions_and_an_answer() -> None:
    process = opened(EXAMPLE / "working")
    nodes = nodes_of(process)
    assert not process.header.warnings
    assert process.header.question == "What does the crane of Solvik lift, and who owns it?"
    assert {one.stage for one in nodes.values() if one.origin is Origin.SOURCE} == {1}
    assert [one.node_id for one in nodes.values() if one.stage == 1] == [
        "crane.txt#0", "ferry.txt#0", "board.txt#0", "test.txt#0",
    ]  # fmt: skip
    summary = f"{CRANE}/summary"
    assert inputs_of(process, f"{CRANE}@crane.txt#0") == {"crane.txt#0": None}
    assert set(inputs_of(process, summary)) == {
        f"{CRANE}@crane.txt#0", f"{CRANE}@ferry.txt#0", f"{CRANE}@board.txt#0",
    }  # fmt: skip
    assert set(inputs_of(process, CRANE)) == {summary, f"{CRANE}@test.txt#0"}
    assert nodes[summary].text.startswith("Crane of Solvik\nThe crane of Solvik, built in Hull")
    assert (nodes[CRANE].stage, nodes["entity/Tern"].stage) == (3, 2)
    (answer,) = process.header.terminals or ()
    assert set(inputs_of(process, answer)) == {
        "crane.txt#0", "ferry.txt#0", "board.txt#0", "test.txt#0", CRANE, "entity/Quay",
        "entity/Tern", "entity/Harbour Board", "entity/Inspectors",
        "relationship/Tern ~ Quay", "relationship/Crane of Solvik ~ Harbour Board",
    }  # fmt: skip
    survey(process)


def test_without_the_cache_descriptions_are_joined_to_their_chunks_and_a_warning_says_so(
    folder: Path,
) -> None:
    (folder / CACHE).unlink()
    process = opened(folder)
    chunks = {"crane.txt#0", "ferry.txt#0", "board.txt#0", "test.txt#0"}
    assert set(inputs_of(process, CRANE)) == chunks
    assert inputs_of(process, "entity/Tern") == {"ferry.txt#0": None}
    assert "enable_llm_cache_for_entity_extract" in warnings_of(process)


def test_a_summary_that_the_cache_lost_has_all_that_was_extracted_as_inputs(folder: Path) -> None:
    change(
        folder,
        CACHE,
        lambda cache: {key: one for key, one in cache.items() if one["cache_type"] != "summary"},
    )
    process = opened(folder)
    assert len(inputs_of(process, CRANE)) == 4
    assert f"{CRANE}/summary" not in nodes_of(process)
    assert "how 1 description came about (Crane of Solvik)" in warnings_of(process)


def earlier(cache: dict[str, Any]) -> dict[str, Any]:
    """The layout up to 1.3: by mode and hash; records in brackets, the description first."""
    found: dict[str, dict[str, Any]] = {"default": {}, "mix": {}}
    for key, entry in cache.items():
        mode, kind, digest = key.split(":")
        text, prompt = entry["return"], entry["original_prompt"]
        if kind == "extract":
            records = []
            for line in text.splitlines():
                fields = [f'"{one}"' for one in line.split("<|#|>")]
                if len(fields) == 5:
                    fields = [*fields[:3], fields[4], fields[3], "8"]
                records.append(f"({'<|>'.join(fields)})" if len(fields) > 1 else line)
            text = "##\n".join(records)
        elif kind == "summary":
            lines = [one for one in prompt.splitlines() if one.startswith("{")]
            given = [json.loads(one)["Description"] for one in lines]
            prompt = f"Entities: Crane of Solvik\nDescription List: {given}"
        found[mode][digest] = {"return": text, "original_prompt": prompt, "model": None}
    return found


def test_the_cache_of_earlier_releases_tells_the_same(folder: Path) -> None:
    expected = {one: inputs_of(opened(folder), one) for one in nodes_of(opened(folder))}
    change(folder, CACHE, earlier)
    change(
        folder,
        CHUNKS,
        lambda chunks: {
            key: {**one, "llm_cache_list": None, "file_path": None} for key, one in chunks.items()
        },
    )
    process = opened(folder)
    assert {one: inputs_of(process, one) for one in nodes_of(process)} == expected


def test_extractions_in_json_are_read(folder: Path) -> None:
    entities = [{"name": "Tern", "type": "artifact", "description": "The Tern is a ferry."}]
    ends = {"source": "Quay", "target": "Tern", "keywords": "departure"}
    relation = {**ends, "description": "The Tern leaves from the quay twice a day."}
    text = f"```json\n{json.dumps({'entities': entities, 'relationships': [relation, 7]})}\n```"

    def changed(cache: dict[str, Any]) -> dict[str, Any]:
        for entry in cache.values():
            if "<|#|>Tern<|#|>" in entry["return"]:
                entry["return"] = text
        return cache

    change(folder, CACHE, changed)
    process = opened(folder)
    assert nodes_of(process)["relationship/Tern ~ Quay"].step == "extract_entities"
    assert "Crane of Solvik" in warnings_of(process)  # its extraction from the ferry is gone


def test_what_a_model_saw_in_an_image_is_no_source_text(folder: Path) -> None:
    def changed(chunks: dict[str, Any]) -> dict[str, Any]:
        next(iter(chunks.values()))["sidecar"] = {"type": "drawing", "id": "im-1", "refs": []}
        return chunks

    change(folder, CHUNKS, changed)
    process = opened(folder)
    assert nodes_of(process)["crane.txt#0"].origin is Origin.GENERATED
    assert "no source text" in warnings_of(process)
    survey(process)


def test_a_description_that_was_added_by_hand_is_a_text_without_inputs(folder: Path) -> None:
    path = folder / GRAPH
    ferry = list(json.loads((folder / CHUNKS).read_text(encoding="utf-8")))[1]
    changed = path.read_text(encoding="utf-8").replace(f">{ferry}<", ">manual_creation<")
    path.write_text(changed, encoding="utf-8")
    (folder / "kv_store_entity_chunks.json").unlink()
    process = opened(folder)
    assert not inputs_of(process, "entity/Tern")
    assert "1 description comes from no chunk of the folder (Tern)" in warnings_of(process)
    survey(process)


def test_an_answer_alone_may_come_from_everything_and_a_warning_says_so(folder: Path) -> None:
    text = given()["llm_response"]["content"]
    (folder.parent / "a.txt").write_text(text, encoding="utf-8")
    process = opened(folder, str(folder.parent / "a.txt"))
    (answer,) = process.header.terminals or ()
    assert len(inputs_of(process, answer)) == 4 + 7
    assert process.header.question == given()["question"]  # the cache knows it
    assert "Nothing says which descriptions the answer was given" in warnings_of(process)


def test_the_answers_in_the_cache_are_taken_where_none_is_named(folder: Path) -> None:
    process = opened(folder, None)
    assert process.header.question == given()["question"]
    assert len(process.header.terminals or ()) == 1
    change(folder, CACHE, lambda _: {})
    with pytest.raises(InputError, match="it is given as a file") as caught:
        opened(folder, None)
    assert caught.value.code == "answer_needed"


CONTEXT = """Knowledge Graph Data (Entity):
```json
{"entity": "Tern", "type": "artifact", "description": "The Tern is a ferry."}
```
Document Chunks:
```json
{"reference_id": "1", "content": "CHUNK"}
```"""
FERRY = (
    "The ferry Tern leaves from the quay twice a day. "
    "The crane of Solvik loads her spare engine each winter."
)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (
            {"response": "The Tern is a ferry [1].", "context": CONTEXT.replace("CHUNK", FERRY)},
            {"entity/Tern": None, "ferry.txt#0": True},
        ),
        (
            {
                "answer": "A ferry.",
                "data": {"entities": [{"entity": "Tern"}], "relationships": [], "chunks": []},
            },
            {"entity/Tern": None},
        ),
        (
            {
                "response": "It leaves twice a day.",
                "references": [{"reference_id": "1", "file_path": "in/ferry.txt"}],
                "mode": "naive",
            },
            {"ferry.txt#0": None},
        ),
        (
            {
                "response": "It leaves twice a day.",
                "references": [{"reference_id": "1", "file_path": "x", "content": [FERRY]}],
                "metadata": {"query_mode": "naive"},
            },
            {"ferry.txt#0": None},
        ),
    ],
    ids=["context", "data", "references", "texts of references"],
)
def test_an_answer_is_joined_to_what_its_file_says_it_was_given(
    folder: Path, document: dict[str, Any], expected: dict[str, bool | None]
) -> None:
    process = opened(folder, answered(folder, document), question="What is the Tern?")
    (answer,) = process.header.terminals or ()
    assert inputs_of(process, answer) == expected


def test_what_an_answer_was_given_and_the_folder_lacks_is_named(folder: Path) -> None:
    result = given()
    result["data"]["entities"] += [{"entity_name": "Lighthouse", "description": "White."}]
    result["data"]["entities"][0]["description"] = "It was another text then."
    result["data"]["chunks"] += [{"chunk_id": "gone", "content": "Never."}]
    result["extra"] = 1
    said = warnings_of(opened(folder, answered(folder, result)))
    for words in (
        "does not hold 1 description that the answer was given (Lighthouse)",
        "1 description that the answer was given is another today (Harbour Board)",
        "does not hold 1 chunk that the answer was given (gone)",
        "unknown keys are not read: extra",
    ):
        assert words in said


def test_several_answers_are_final_outputs_of_one_process(folder: Path) -> None:
    other = {**given(), "question": "And the Tern?", "answer_id": "tern"}
    file = answered(folder, [given(), other])
    process = opened(folder, file)
    assert len(process.header.terminals or ()) == 2
    assert process.header.question is None
    assert opened(folder, f"{file}#1").header.terminals == ("answer/tern",)
    with pytest.raises(InputError, match="name one as FILE#N"):
        opened(folder, file, question="Which?")
    with pytest.raises(InputError, match="the same answer as another one"):
        opened(folder, answered(folder, [given(), given()]))


def test_a_workspace_of_the_folder_that_is_named_is_read(folder: Path) -> None:
    process = opened(folder.parent)
    assert f"Read from {folder}" in process.header.warnings[0]
    shutil.copytree(folder, folder.parent / "other")
    with pytest.raises(InputError, match="several processes"):
        opened(folder.parent)


def test_a_summary_that_was_written_from_itself_ends(folder: Path) -> None:
    def changed(cache: dict[str, Any]) -> dict[str, Any]:
        for entry in cache.values():
            if entry["cache_type"] == "summary":
                line = json.dumps({"Description": entry["return"]})
                entry["original_prompt"] = f"Entity Name: Crane of Solvik\n{line}\n{line}"
        return cache

    change(folder, CACHE, changed)
    survey(opened(folder))


DEEP = "[" * 200_000
DOCTYPE = "<!DOCTYPE g [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;'>]><graphml>&b;</graphml>"


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        (CHUNKS, '{"c": {"content": "tor', "Unterminated string"),
        (CHUNKS, "[]", "holds no object"),
        (CHUNKS, "{}", "holds no chunk with a text"),
        (CHUNKS, '{"c": 7}', "a chunk is an object"),
        (CHUNKS, '{"c": {"content": ["no text"]}}', "a chunk is an object"),
        (CHUNKS, DEEP, "nested too deeply"),
        (CACHE, "[1, 2]", "holds no object"),
        ("kv_store_entity_chunks.json", "null", "holds no object"),
        (GRAPH, "<graphml><graph>", "is no GraphML"),
        (GRAPH, "<svg/>", "but no GraphML"),
        (GRAPH, "<a>" * 300, "nested too deeply"),
        (GRAPH, DOCTYPE, "document type"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_what_is_wrong(
    folder: Path, name: str, text: str, says: str
) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        opened(folder)
    assert name in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "entry",
    [7, [], {}, {"return": 7}, {"return": "x", "cache_type": ["extract"]}, {"a": {"return": {}}}],
)
def test_entries_of_the_cache_of_a_wrong_type_are_counted_and_lose_no_others(
    folder: Path, entry: Any
) -> None:
    change(folder, CACHE, lambda cache: {**cache, "default:extract:odd": entry})
    process = opened(folder)
    assert f"{CRANE}/summary" in nodes_of(process)
    survey(process)


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (7, "an answer is a text, or an object"),
        ({"response": ""}, "the text of the answer is needed"),
        ({"llm_response": {"content": None, "is_streaming": True}}, "was streamed"),
        ([], "there is no answer in it"),
        (
            {"response": "x", "data": {"entities": [{"entity": "No"}], "chunks": []}},
            "the folder holds nothing of what this answer was given",
        ),
        ({"response": "x", "answer_id": 7}, "`answer_id` is no text"),
    ],
)
def test_a_file_that_is_no_answer_is_refused(folder: Path, document: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        opened(folder, answered(folder, document))


def test_an_answer_with_something_else_in_a_field_is_read_and_the_field_is_named(
    folder: Path,
) -> None:
    for key in ("data", "context", "references", "question"):
        for value in (7, [7]):
            document = {"response": "The Tern is a ferry.", "metadata": value, key: value}
            process = opened(folder, answered(folder, document))
            survey(process)
            assert f"{key}" in warnings_of(process)


def test_a_folder_of_lightrag_is_in_this_format_alone() -> None:
    (found,) = find_processes(EXAMPLE / "working", options=ImportOptions(answer=ANSWER))
    assert found.open().header.source_format == "lightrag"


def test_the_address_of_a_graph_belongs_to_the_folder_beside_it(tmp_path: Path) -> None:
    address = Path("neo4j://localhost:7687")
    index = EXAMPLE / "working"
    assert folder_and_graph([address, index]) == (index, address)
    assert folder_and_graph([index, index]) is None
    assert folder_and_graph([tmp_path, address]) is None
    assert folder_and_graph([index]) is None


def test_a_graph_that_neo4j_exported_has_the_names_of_its_entities(folder: Path) -> None:
    path = folder / GRAPH
    text = path.read_text(encoding="utf-8")
    for number, name in enumerate(("Crane of Solvik", "Tern", "Quay", "Harbour Board")):
        for attribute in ("id", "source", "target"):
            text = text.replace(f'{attribute}="{name}"', f'{attribute}="n{number}"')
    path.write_text(text, encoding="utf-8")
    process = opened(folder)
    assert nodes_of(process).keys() == nodes_of(opened(EXAMPLE / "working")).keys()


def test_a_working_folder_without_its_chunks_says_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "kv_store_full_docs.json").write_text("{}", encoding="utf-8")
    (found,) = find_processes(tmp_path)
    with pytest.raises(InputError, match=r"lacks kv_store_text_chunks\.json"):
        found.open()
