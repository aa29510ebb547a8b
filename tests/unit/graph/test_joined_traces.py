"""Spans and log records of one trace in several files of a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.registry import ImportOptions, find_processes, find_together
from veritrail_graph.graph.importers.traces import joined
from veritrail_graph.graph.importers.traces.calls import Trace

QUESTION, ANSWER = "How many cars?", "The ferry Tern carries 42 cars."
TRACE, OTHER = "a1" * 16, "c3" * 16


def value(given: Any) -> Any:
    if isinstance(given, dict):
        pairs = [{"key": key, "value": value(one)} for key, one in given.items()]
        return {"kvlistValue": {"values": pairs}}
    return {"stringValue": given}


def span(span_id: str, trace: str = TRACE, start: int = 1, **about: str) -> dict[str, Any]:
    return {
        "traceId": trace, "spanId": span_id * 8, "name": "chat", "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 5),
        "attributes": [{"key": key.replace("__", "."), "value": value(one)}
                       for key, one in {"gen_ai__operation__name": "chat", **about}.items()],
    }  # fmt: skip


def spans(*given: Any) -> Any:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(given)}]}]}


def record(name: str, said: Any, span_id: str, time: int, trace: str = TRACE) -> dict[str, Any]:
    return {
        "timeUnixNano": str(time), "traceId": trace, "spanId": span_id * 8, "eventName": name,
        "body": value(said),
    }  # fmt: skip


def records(*given: Any) -> Any:
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": list(given)}]}]}


EXCHANGE = records(
    record("gen_ai.user.message", {"content": QUESTION}, "b2", 2),
    record("gen_ai.choice", {"message": {"role": "assistant", "content": ANSWER}}, "b2", 3),
    record("gen_ai.user.message", {"content": "And when?"}, "d4", 2, OTHER),
    record("gen_ai.choice", {"message": {"content": "Since May 2024, daily."}}, "d4", 3, OTHER),
)


def read(folder: Path, files: dict[str, Any]) -> list[Draft]:
    folder.mkdir(exist_ok=True)
    for name, requests in files.items():
        lines = requests if isinstance(requests, list) else [requests]
        (folder / name).write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    drafts = [one.open() for one in find_processes(folder)]
    assert all(isinstance(one, Draft) for one in drafts)
    return [one for one in drafts if isinstance(one, Draft)]


def told(drafts: list[Draft]) -> list[Any]:
    """What drafts hold, but for the place that they were read from."""
    return sorted(
        (
            draft.header.process_id,
            [(name, node.text, node.origin, node.stage) for name, node in draft.nodes.items()],
            sorted((edge.source, edge.target) for edge in draft.edges.values()),
            draft.header.warnings,
        )
        for draft in drafts
    )


@pytest.mark.parametrize(
    ("first", "second"), [("traces.json", "logs.json"), ("z.json", "a.json")], ids=["as", "turned"]
)
def test_text_of_log_records_goes_to_spans_of_another_file(
    tmp_path: Path, first: str, second: str
) -> None:
    made = spans(span("b2"), span("d4", OTHER))
    one_file = read(tmp_path / "one", {"all.jsonl": [made, EXCHANGE]})

    joined = read(tmp_path / "two", {first: made, second: EXCHANGE})

    assert told(joined) == told(one_file)
    assert [node.text for node in joined[0].nodes.values()] == [QUESTION, ANSWER]


def test_a_trace_goes_on_in_the_next_file_of_a_collector(tmp_path: Path) -> None:
    asked = span("b2", gen_ai__prompt=QUESTION, gen_ai__completion=ANSWER)
    later = span("e5", start=9, gen_ai__prompt=ANSWER, gen_ai__completion="It carries 42 cars.")
    alone = span("d4", OTHER, gen_ai__prompt=QUESTION, gen_ai__completion=ANSWER)
    files = {"traces.json": spans(later), "traces-2026.json": spans(asked, alone)}

    drafts = read(tmp_path / "folder", files)

    assert told(drafts) == told(read(tmp_path / "one", {"all.json": spans(asked, later, alone)}))
    assert len(drafts) == 2


def test_files_that_are_named_one_by_one_are_joined_as_those_of_a_folder(tmp_path: Path) -> None:
    made = spans(span("b2"), span("d4", OTHER))
    expected = read(tmp_path / "folder", {"traces.json": made, "logs.json": EXCHANGE})
    gone = tmp_path / "gone.json"
    paths = [tmp_path / "folder" / "traces.json", gone, tmp_path / "folder" / "logs.json"]

    drafts, faults = [], []
    for one in find_together([(path, ImportOptions()) for path in paths], alone=True):
        try:
            drafts.append(one.open())
        except InputError as error:
            faults.append(str(error))

    assert told([one for one in drafts if isinstance(one, Draft)]) == told(expected)
    assert faults == [f"{gone}: no such file or folder"]


@pytest.mark.parametrize(("kept", "times"), [(0, 2), (joined.KEPT_BYTES, 1)])
def test_files_that_fit_into_memory_together_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int, times: int
) -> None:
    monkeypatch.setattr(joined, "KEPT_BYTES", kept)
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path in paths:
        path.write_text("{}")
    reads: list[Path] = []

    def items(path: Path) -> Iterator[tuple[str, Any]]:
        reads.append(path)
        yield str(path), {"trace_id": TRACE, "span_id": path.name, "attributes": {}}
        raise InputError(f"{path} is damaged")

    reading = joined.TraceReading(items, lambda *_: Trace([]))
    faults = []
    for one in joined.traces(paths, reading):
        try:
            one.read()
        except InputError as error:
            faults.append(str(error))
    assert sorted(reads) == sorted(paths * times)
    assert faults == [f"{path} is damaged" for path in paths]


def test_a_copy_of_a_file_in_its_folder_changes_nothing(tmp_path: Path) -> None:
    made = spans(span("b2", gen_ai__prompt=QUESTION, gen_ai__completion=ANSWER))
    (alone,) = read(tmp_path / "one", {"a.json": made})
    (draft,) = read(tmp_path / "two", {"a.json": made, "a (1).json": made})
    assert told([draft]) == told([alone])


def test_records_that_note_nothing_and_broken_files_are_named_beside_what_is_joined(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "b.jsonl").write_text(f"{json.dumps(spans(span('f6', 'ee' * 16)))}\n{{bro")
    noise = records(record("gc", "freed 3 MB", "b2", 1))
    logs = f"{json.dumps(noise)}\n{json.dumps(EXCHANGE)}\n"
    (folder / "logs.json").write_text(logs)
    (folder / "traces.json").write_text(json.dumps(spans(span("b2"), span("d4", OTHER))))
    drafts, faults = [], []
    for one in find_processes(folder):
        try:
            drafts.append(one.open())
        except InputError as error:
            faults.append(str(error))
    assert any("b.jsonl, line 2" in one for one in faults), faults
    joined, _ = [one for one in drafts if isinstance(one, Draft) and one.nodes]
    assert [node.text for node in joined.nodes.values()] == [QUESTION, ANSWER]
    assert any("1 log record(s)" in one for one in joined.header.warnings)
