"""`veritrail doctor WHAT`: what a file holds, what can be checked with it, and what it lacks."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from fakes.tool_server import LangfuseServer

from veritrail_graph.api.app.doctor import State
from veritrail_graph.api.app.doctor_inputs import ADVICE, InputExamined, examine_inputs
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.apart import AT_ONCE, size_of
from veritrail_graph.graph.importers.registry import ImportOptions, find_processes, importers

EXAMPLES = Path(__file__).resolve().parents[4] / "examples"
SOURCE = {"node_id": "minutes", "text": "The ferry carries 42 cars."}
NOTE = {"node_id": "note", "text": "It carries 48 cars.", "metadata": {"model": "m"}}


def examined(path: Path, content: Any) -> list[InputExamined]:
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")

    async def look() -> list[InputExamined]:
        return [one async for one in examine_inputs([path], ImportOptions())]

    return asyncio.run(look())


def test_the_newest_traces_of_an_address_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    page = json.loads((EXAMPLES / "tasks" / "langfuse.json").read_text("utf-8"))
    traces = {
        "solvik-crane": {"observations": page["data"]},
        "broken": {"observations": [{**page["data"][0], "startTime": "soon"}]},
    }

    async def look() -> list[InputExamined]:
        path = Path("langfuse://shop")
        return [one async for one in examine_inputs([path], ImportOptions())]

    with LangfuseServer(traces) as server:
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        fine, broken = asyncio.run(look())
    assert (fine.source, fine.can_be_checked) == ("langfuse://shop#solvik-crane", True)
    assert (broken.source, broken.can_be_checked) == ("langfuse://shop#broken", False)


def test_packed_files_wait_for_one_child_and_not_for_each_other(tmp_path: Path) -> None:
    row = json.dumps({"contexts": [SOURCE["text"]], "answer": "It carries 48.\n" * 200})
    paths = [tmp_path / f"{number}.json.gz" for number in range(AT_ONCE + 1)]
    for path in paths:
        path.write_bytes(gzip.compress(row.encode(), 0))

    async def look() -> list[InputExamined]:
        async with asyncio.timeout(60):
            return [one async for one in examine_inputs(paths, ImportOptions())]

    assert all(size_of(path) is not None for path in paths)
    assert [one.can_be_checked for one in asyncio.run(look())] == [True] * len(paths)


def process(*nodes: dict[str, Any], edges: tuple[tuple[str, str], ...] = (), **more: Any) -> Any:
    ends = [{"source": source, "target": target} for source, target in edges]
    return {"format": "veritrail.process/1", "nodes": nodes, "edges": ends, **more}


def said(one: InputExamined, state: State) -> dict[str, str]:
    return {finding.about: finding.told for finding in one.findings if finding.state is state}


def test_a_process_says_what_is_checked_against_what(tmp_path: Path) -> None:
    given = process(SOURCE, NOTE, edges=(("minutes", "note"),), question="How many cars?")
    (found,) = examined(tmp_path / "p.json", given)
    assert found.can_be_checked
    assert not said(found, State.WARNING)
    fine = said(found, State.FINE)
    assert fine["source text"] == "1 text, 26 characters"
    assert fine["can be checked"].startswith("what the answer states against 1 source text")
    assert found.holds["texts"] == {"source": 1, "generated": 1, "given": 0}


def test_text_of_a_model_alone_cannot_be_checked_and_the_fault_says_what_to_record(
    tmp_path: Path,
) -> None:
    given = process(NOTE, {**NOTE, "node_id": "last"}, edges=(("note", "last"),))
    (found,) = examined(tmp_path / "p.json", given)
    assert not found.can_be_checked
    assert "Add the source texts" in said(found, State.FAULT)["source text"]
    warned = said(found, State.WARNING)
    assert warned["inputs"].startswith("1 text that a model wrote without a recorded input")
    assert "Set `question`" in warned["question"]


def test_every_row_of_a_log_is_examined_and_a_bad_one_leaves_the_others_alone(
    tmp_path: Path,
) -> None:
    rows = [
        {"question": "Cars?", "contexts": [SOURCE["text"]], "answer": "It carries 48."},
        {"question": "Cars?", "answer": "It carries 48."},
        {"question": "Cars?", "contexts": [SOURCE["text"]], "answer": "It carries 42."},
    ]
    found = examined(tmp_path / "log.jsonl", "\n".join(map(json.dumps, rows)))
    assert [one.can_be_checked for one in found] == [True, False, True]
    assert found[1].source.endswith("log.jsonl#2")
    assert "contexts" in said(found[1], State.FAULT)["input"]


def test_a_conversation_is_checked_turn_by_turn(tmp_path: Path) -> None:
    dialogue = {
        "format": "veritrail.dialogue/1",
        "dialogue_id": "d",
        "documents": [{"document_id": "fees", "text": "The fee is 4 euros."}],
        "turns": [
            {"turn_id": "1", "role": "user", "text": "What is the fee?"},
            {"turn_id": "2", "role": "assistant", "text": "It is 4 euros."},
        ],
    }
    (found,) = examined(tmp_path / "d.json", dialogue)
    fine = said(found, State.FINE)
    assert fine["answer"] == "1 turn of the assistant"
    assert fine["can be checked"].startswith("what the assistant said, turn by turn")


def test_the_password_of_an_address_is_not_repeated_where_files_are_read() -> None:
    path = Path("bolt://ada:sk-not-told@graph.example:7687")

    async def look() -> list[InputExamined]:
        return [one async for one in examine_inputs([path], ImportOptions())]

    with pytest.raises(InputError, match=r"^bolt://…@graph\.example:7687: ") as refused:
        asyncio.run(look())
    with pytest.raises(InputError, match=r"^bolt://…@graph\.example:7687: ") as of_format:
        find_processes(path, format_name="process")
    assert "sk-not-told" not in f"{refused.value} {of_format.value}"


def test_a_broken_process_is_a_fault_with_its_violations(tmp_path: Path) -> None:
    given = process(SOURCE, NOTE, edges=(("minutes", "none"),))
    (found,) = examined(tmp_path / "p.json", given)
    assert "none" in said(found, State.FAULT)["input"]
    assert found.holds == {}


@pytest.mark.parametrize("name", [one.name for one in importers()])
def test_each_format_has_advice_on_source_text(name: str) -> None:
    assert "source text" in ADVICE[name]


def test_messages_that_are_recorded_are_not_asked_for() -> None:
    sample = Path(__file__).resolve().parents[4] / "examples" / "tasks" / "langfuse.json"

    async def looked_at() -> list[InputExamined]:
        return [one async for one in examine_inputs([sample], ImportOptions())]

    (found,) = asyncio.run(looked_at())
    (edges,) = [one.told for one in found.findings if one.about == "edges"]
    assert "3 edges are not recorded" in edges
    assert "Record" not in edges
