"""Log records of models' calls: joined to their spans, alone, without a trace, and bad ones."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.importers.traces.received import sorted_by_trace
from veritrail_graph.graph.model import Origin

LIBRARIES = Path(__file__).parent / "traces_of_libraries"
ANSWER = "The ferry Tern carries 42 cars, the harbour register says."
TRACE, SPAN = "a1" * 16, "b2" * 8


def typed(value: Any) -> Any:
    if isinstance(value, dict):
        listed = [{"key": key, "value": typed(one)} for key, one in value.items()]
        return {"kvlistValue": {"values": listed}}
    return {"stringValue": value}


def record(name: str, body: Any, time: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "timeUnixNano": str(time), "traceId": TRACE, "spanId": SPAN, "eventName": name,
        "body": typed(body), **more,
    }  # fmt: skip


def exported(*records: Any) -> Any:
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": list(records)}]}]}


def read(path: Path, *requests: Any) -> list[Draft]:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in requests))
    found = [one.open() for one in find_processes(path)]
    assert all(isinstance(one, Draft) for one in found)
    return [one for one in found if isinstance(one, Draft)]


def told(draft: Draft) -> list[tuple[str, Origin | None]]:
    return [(node.text, node.origin) for node in draft.nodes.values()]


EXCHANGE = (
    record("gen_ai.user.message", {"content": "How many cars?"}, 1),
    record("gen_ai.choice", {"message": {"role": "assistant", "content": ANSWER}}, 2),
)


@pytest.mark.parametrize("name", ["semantic-kernel", "traceloop", "google-adk"])
def test_records_without_their_spans_are_calls_of_models(tmp_path: Path, name: str) -> None:
    lines = gzip.decompress((LIBRARIES / f"{name}-logs.jsonl.gz").read_bytes()).splitlines()
    (draft,) = read(tmp_path / "logs.jsonl", *(json.loads(one) for one in lines[1:]))
    (terminal,) = draft.header.terminals or ()
    assert draft.nodes[terminal].text == ANSWER
    assert {node.kind for node in draft.nodes.values()} == {
        "user", "tool_call", "tool_result", "generation",
    }  # fmt: skip


def test_records_in_protobuf_are_told_from_spans(tmp_path: Path) -> None:
    made = copy.deepcopy(exported(*EXCHANGE))
    for one in made["resourceLogs"][0]["scopeLogs"][0]["logRecords"]:
        one |= {"traceId": "oaGh" * 5 + "oQ==", "spanId": "srKysrKysrI="}
        del one["timeUnixNano"]
        one["attributes"] = [{"key": "gen_ai.system", "value": {"stringValue": "desk"}}]
    path = tmp_path / "logs.pb"
    path.write_bytes(ParseDict(made, ExportLogsServiceRequest()).SerializeToString())
    (found,) = find_processes(path)
    draft = found.open()
    assert isinstance(draft, Draft)
    assert [one for one, _ in told(draft)] == ["How many cars?", ANSWER]


def test_calls_noted_in_a_span_that_is_no_call_of_a_model_are_calls_of_their_own(
    tmp_path: Path,
) -> None:
    span = {"traceId": TRACE, "spanId": SPAN, "name": "desk", "startTimeUnixNano": "0",
            "endTimeUnixNano": "9"}  # fmt: skip
    spans = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    again = (
        record("gen_ai.user.message", {"content": "Is it red?"}, 3),
        record("gen_ai.choice", {"message": {"content": "It is red today."}}, 4),
    )
    (draft,) = read(tmp_path / "trace.jsonl", exported(*EXCHANGE, *again), spans)
    written = [node for node in draft.nodes.values() if node.kind == "generation"]
    assert [one.node_id for one in written] == [f"chat/{SPAN}/log", f"chat/{SPAN}/log2"]


def test_records_that_name_no_trace_are_a_process_for_each_call(tmp_path: Path) -> None:
    free = [{**one, "traceId": "", "spanId": ""} for one in EXCHANGE]
    later = [{**one, "timeUnixNano": str(9 + n)} for n, one in enumerate(free)]
    drafts = read(tmp_path / "logs.jsonl", exported(*free, *later))
    assert [[one for one, _ in told(draft)] for draft in drafts] == [["How many cars?", ANSWER]] * 2


def test_records_that_are_printed_are_read(tmp_path: Path) -> None:
    lines = [
        {"body": one["body"]["kvlistValue"]["values"] and body, "severity_number": 9,
         "attributes": {"event.name": one["eventName"]}, "timestamp": "2026-11-01T10:00:00Z",
         "trace_id": f"0x{TRACE}", "span_id": f"0x{SPAN}"}
        for one, body in zip(
            EXCHANGE, ({"content": "How many cars?"}, {"message": {"content": ANSWER}}), strict=True
        )
    ]  # fmt: skip
    (draft,) = read(tmp_path / "logs.jsonl", *lines)
    assert [one for one, _ in told(draft)] == ["How many cars?", ANSWER]


def test_records_of_other_things_are_named(tmp_path: Path) -> None:
    path = tmp_path / "logs.jsonl"
    other = record("", "The desk opened at nine.")
    (draft,) = read(path, exported(*EXCHANGE, other))
    assert any("1 log record(s)" in one and "desk opened" in one for one in draft.header.warnings)
    path.write_text(json.dumps(exported(other)))
    with pytest.raises(InputError, match=r"holds no trace: 1 log record.*The desk opened at nine"):
        list(find_processes(path))


def test_words_of_a_record_in_no_known_layout_are_named(tmp_path: Path) -> None:
    odd = record("gen_ai.desk.note", {"acme": "A note that somebody took down here."}, 1)
    (draft,) = read(tmp_path / "logs.jsonl", exported(*EXCHANGE, odd))
    assert any("gen_ai.desk.note" in one for one in draft.header.warnings)


BAD = (
    {"timeUnixNano": "x" * 9, "traceId": TRACE, "eventName": "gen_ai.choice"},
    {"timeUnixNano": "1", "traceId": 7, "eventName": "gen_ai.choice"},
    {"timeUnixNano": "9" * 99, "traceId": TRACE},
    {"traceId": "zz", "eventName": "gen_ai.choice"},
    {"traceId": TRACE, "attributes": {"a": 1}, "body": {"kvlistValue": 3}},
    {"traceId": TRACE, "attributes": "none"},
    "no record",
)


def test_bad_records_are_left_out_and_named(tmp_path: Path) -> None:
    (draft,) = read(tmp_path / "logs.jsonl", exported(*EXCHANGE, *BAD))
    assert [one for one, _ in told(draft)] == ["How many cars?", ANSWER]
    assert any("cannot be read are left out" in one for one in draft.header.warnings)
    for held in ({"resourceLogs": 7}, {"resourceLogs": [{"scopeLogs": [{"logRecords": 7}]}]}):
        path = tmp_path / "wrong.json"
        path.write_text(json.dumps(held))
        with pytest.raises(InputError):
            assert [one.open() for one in find_processes(path)]


def test_what_is_received_of_logs_is_counted_once() -> None:
    ordinary = record("", "The desk opened at nine.")
    free = {**EXCHANGE[0], "traceId": ""}
    found = sorted_by_trace(exported(*EXCHANGE, ordinary, free, *BAD[:1]))
    assert (found.traces[TRACE].count, found.traces[TRACE].has_root) == (2, False)
    assert found.rejected == 2
    assert "a log record of a model's call names no trace" in found.reasons
