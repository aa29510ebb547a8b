"""The values of a file: one after another over lines, by column, or under another name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from fakes.vendor_spans import TRACE, request, span

from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.registry import find_processes

QUESTION = "How long is the bridge over the Mose?"
ANSWER = "The bridge over the Mose is 210 metres long."
SURVEY = "Survey of 2019: the bridge over the Mose measures 210 metres."


def printed(number: int, kind: str, given: str, made: str) -> dict[str, Any]:
    """A span as the SDK's exporter for the console prints it."""
    return {
        "name": f"step {number}",
        "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{number:016x}"},
        "parent_id": None, "start_time": f"2026-11-01T10:00:0{number}Z",
        "end_time": f"2026-11-01T10:00:0{number}.5Z",
        "attributes": {"openinference.span.kind": kind, "input.value": given,
                       "output.value": made},
    }  # fmt: skip


SPANS = [
    printed(1, "RETRIEVER", QUESTION, json.dumps([{"page_content": SURVEY}])),
    printed(2, "LLM", f"{SURVEY}\n\n{QUESTION}", ANSWER),
]
OBJECTS = [json.dumps(one, indent=4) for one in SPANS]


def texts(path: Path) -> list[str]:
    """The texts of the one process of a file."""
    (found,) = find_processes(path)
    draft = found.open()
    assert isinstance(draft, Draft)
    return [one.text for one in draft.nodes.values()]


@pytest.mark.parametrize("name", ["trace.json", "trace.jsonl", "trace.txt", "trace.log"])
@pytest.mark.parametrize("between", ["\n", "", " \n\n"])
def test_objects_that_an_exporter_printed_one_after_another_are_a_trace(
    tmp_path: Path, name: str, between: str
) -> None:
    path = tmp_path / name
    path.write_text(between.join(OBJECTS))
    assert {SURVEY, ANSWER} <= set(texts(path))


def test_what_a_program_printed_between_spans_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_text("\n".join(["[10:00] starting {1}", OBJECTS[0], "42 cars", OBJECTS[1], "done"]))
    (found,) = find_processes(path)
    draft = found.open()
    assert isinstance(draft, Draft)
    assert {SURVEY, ANSWER} <= {one.text for one in draft.nodes.values()}
    (warning,) = [one for one in draft.header.warnings if "not JSON" in one]
    lines = [1, 2 + OBJECTS[0].count("\n") + 1]
    assert all(f"line {number}: not JSON" in warning for number in lines)
    assert "'42 cars'" in warning
    assert "'done'" in warning


def test_a_bad_line_of_json_lines_is_one_fault_and_a_broken_document_is_no_list(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1,}\n{"a": 2}\n{"a": 3}\n')
    kinds = [type(value).__name__ for _, value in files.values(path)]
    assert kinds == ["InputError", "dict", "dict"]
    path = tmp_path / "cut.json"
    path.write_text(OBJECTS[0][:-20])
    assert files.first_value(path) is None
    assert not files.is_lines(path)


@pytest.mark.parametrize("name", ["trace.csv", "trace.tsv", "trace.parquet", "trace.pb"])
def test_json_is_read_whatever_the_file_is_called(tmp_path: Path, name: str) -> None:
    own = {"input.value": QUESTION, "output.value": ANSWER, "openinference.span.kind": "LLM"}
    path = tmp_path / name
    path.write_text(json.dumps(request(span(1, "ask", own)), indent=1))
    assert ANSWER in texts(path)


def phoenix() -> list[dict[str, Any]]:
    """Rows of a data frame of Phoenix."""
    return [
        {"context.trace_id": "t", "context.span_id": one["context"]["span_id"][2:],
         "name": one["name"], "parent_id": None, "start_time": one["start_time"],
         "end_time": one["end_time"],
         **{f"attributes.{name}": inner for name, inner in one["attributes"].items()}}
        for one in SPANS
    ]  # fmt: skip


def langfuse() -> list[dict[str, Any]]:
    """Rows of a table of observations of Langfuse."""
    kinds = {"RETRIEVER": "RETRIEVER", "LLM": "GENERATION"}
    return [
        {"id": one["name"], "traceId": "t", "name": one["name"], "startTime": one["start_time"],
         "endTime": one["end_time"], "type": kinds[one["attributes"]["openinference.span.kind"]],
         "input": one["attributes"]["input.value"], "output": one["attributes"]["output.value"]}
        for one in SPANS
    ]  # fmt: skip


def langsmith() -> list[dict[str, Any]]:
    """Rows of a table of runs of LangSmith."""
    kinds = {"RETRIEVER": "retriever", "LLM": "llm"}
    return [
        {"id": one["name"], "trace_id": "t", "name": one["name"], "start_time": one["start_time"],
         "end_time": one["end_time"],
         "run_type": kinds[one["attributes"]["openinference.span.kind"]],
         "inputs": one["attributes"]["input.value"], "outputs": one["attributes"]["output.value"]}
        for one in SPANS
    ]  # fmt: skip


def rag() -> list[dict[str, Any]]:
    """Rows of a log of questions, contexts and answers."""
    return [{"question": QUESTION, "contexts": [SURVEY], "answer": ANSWER}]


@pytest.mark.parametrize("rows", [phoenix, langfuse, langsmith, rag])
@pytest.mark.parametrize("orient", ["columns", "split", "by id"])
def test_a_data_frame_is_read_as_its_rows_are(tmp_path: Path, rows: Any, orient: str) -> None:
    table = rows()
    plain = tmp_path / "rows.json"
    plain.write_text(json.dumps(table))
    names = list(table[0])
    keys = [
        str(next(one[name] for name in ("context.span_id", "id", "question") if name in one))
        if orient == "by id"
        else str(number)
        for number, one in enumerate(table)
    ]
    frame: Any = {name: {key: one[name] for key, one in zip(keys, table, strict=True)}
                  for name in names}  # fmt: skip
    if orient == "split":
        data = [[one[name] for name in names] for one in table]
        frame = {"columns": names, "index": list(range(len(table))), "data": data}
    path = tmp_path / "frame.json"
    path.write_text(json.dumps(frame))
    assert texts(path) == texts(plain)
    assert {SURVEY, ANSWER} <= set(texts(path))


def test_a_table_under_its_own_name_stays_a_table(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pa.parquet.write_table(pa.Table.from_pylist(rag()), path)
    assert ANSWER in texts(path)
    path = tmp_path / "rows.csv"
    path.write_text(f'"question",contexts,answer\n"{QUESTION}","[""{SURVEY}""]","{ANSWER}"\n')
    assert ANSWER in texts(path)
