"""Files of other formats over HTTP: one process is answered like a process file, several 207."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes.process_files import as_json, document
from fakes.service_process import ServiceProcess

pytestmark = pytest.mark.engine

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
TRACE = (EXAMPLES / "traces" / "langfuse.json").read_bytes()


@pytest.fixture
def store(shared_service: ServiceProcess) -> Iterator[Any]:
    """Send a body; what it stored goes after the test."""
    made: set[str] = set()

    def send(content: bytes, headers: dict[str, str] | None = None, **params: Any) -> Any:
        answer = shared_service.post(
            "/v1/processes", content=content, params=params, headers=headers or {}
        )
        body = answer.json()
        ids = [one.get("process_id") for one in body.get("processes", [body])]
        made.update(one for one in ids if one)
        return answer

    yield send
    for one in made:
        shared_service.delete(f"/v1/processes/{one}")


@pytest.mark.parametrize(
    ("name", "pack"), [("langfuse", gzip.compress), ("detect", bytes)], ids=["named", "detected"]
)
def test_one_trace_is_answered_like_a_process_file(store: Any, name: str, pack: Any) -> None:
    first = store(pack(TRACE), format=name, process_id="rest-trace")
    assert first.status_code == 201, first.text
    assert first.headers["location"] == "/v1/processes/rest-trace"
    found = first.json()
    assert (found["format"], found["nodes"], found["unsourced"]) == ("langfuse", 6, 1)
    assert found["inferred_edges"]["exact"] > 0
    again = store(pack(TRACE), format=name, process_id="rest-trace")
    assert (again.status_code, again.json()["status"]) == (200, "unchanged")


def test_edges_that_are_inferred_are_left_out_where_that_is_asked(store: Any) -> None:
    answer = store(TRACE, format="langfuse", process_id="rest-named", only_explicit="true")
    assert answer.status_code == 201, answer.text
    found = answer.json()  # all edges of this trace are inferred
    assert (found["nodes"], found["edges"], found["unsourced"]) == (6, 0, 4)
    assert any("5 inferred edge(s) are left out" in one for one in found["warnings"])


def test_a_trace_without_text_is_told_what_to_switch_on(store: Any) -> None:
    observation = {
        "id": "o-1", "traceId": "rest-mute", "type": "GENERATION", "name": "write",
        "startTime": "2026-01-05T08:00:00Z", "input": None, "output": None,
    }  # fmt: skip
    answer = store(json.dumps({"data": [observation], "meta": {}}).encode(), format="detect")
    assert answer.status_code == 422
    (violation,) = answer.json()["violations"]
    assert violation["kind"] == "no_nodes"
    assert "Spans without output text: 'write'" in violation["message"]
    assert "capture_output" in violation["message"]


def _two(second: dict[str, Any]) -> bytes:
    trace = json.loads(TRACE)
    trace["trace"]["id"] = "rest-first"
    return b"\n".join(json.dumps(one).encode() for one in (trace, second))


def test_several_processes_are_answered_one_by_one(store: Any, shared_service: Any) -> None:
    body = _two({"trace": {"id": "rest-broken"}, "observations": "none"})
    headers = {"Content-Type": "application/x-ndjson"}
    one = store(body, headers, format="langfuse", only_one="true")
    assert one.status_code == 422
    assert "several processes" in one.json()["detail"]
    assert shared_service.get("/v1/processes/rest-first").status_code == 404

    answer = store(body, headers, format="langfuse", filename="log.jsonl")
    assert answer.status_code == 207, answer.text
    found = answer.json()
    assert (found["created"], found["failed"]) == (1, 1)
    stored, refused = found["processes"]
    assert (stored["process_id"], refused["source"]) == ("rest-first", "log.jsonl#2")
    assert "observations" in refused["error"]["message"]
    again = store(body, headers, format="langfuse").json()
    assert (again["unchanged"], again["failed"]) == (1, 1)
    wanted = store(body, headers, format="langfuse", process_id="one-for-two")
    assert wanted.status_code == 422


def test_a_table_is_known_by_its_type_or_its_name(store: Any) -> None:
    table = b"question,contexts,answer\nWhen?,\"['It opened in 1901.']\",In 1901.\n"
    for headers, params in (
        ({"Content-Type": "text/csv"}, {}),
        ({"Content-Type": "application/octet-stream"}, {"filename": "../../etc/rag.csv"}),
    ):
        answer = store(table, headers, format="rag", **params)
        assert answer.status_code in (200, 201), answer.text
        assert answer.json()["format"] == "rag"


@pytest.mark.parametrize(
    ("content", "headers", "params", "status", "words"),
    [
        (TRACE, {}, {}, 422, "?format=detect"),
        (b"a,b", {"Content-Type": "text/plain"}, {}, 415, "?format=detect"),
        (TRACE, {}, {"format": "neo4j"}, 422, "`veritrail ingest ADDRESS` on the command line"),
        (TRACE, {}, {"format": "langfuse", "question": "Who?"}, 422, "question"),
        (TRACE, {}, {"format": "mlflow"}, 422, "MLflow"),
        (TRACE, {}, {"format": "no-such"}, 422, "langfuse"),
        (b"", {}, {"format": "detect"}, 422, "empty"),
        (b"hello", {"Content-Type": "text/plain"}, {"format": "detect"}, 422, "?filename="),
        (TRACE, {"Content-Encoding": "br"}, {"format": "detect"}, 415, "gzip"),
        (TRACE, {"Content-Encoding": "gzip"}, {"format": "detect"}, 400, "gzip"),
        (TRACE, {"Content-Type": "multipart/form-data; boundary=x"}, {"format": "otlp"}, 415, ""),
        (TRACE, {}, {"format": "langfuse", "infer": "guess"}, 422, ""),
    ],
    ids=[
        "no format", "no format, no JSON", "address", "question", "another format",
        "unknown", "empty", "text", "brotli", "not gzip", "form",
        "infer",
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_a_problem(
    store: Any,
    shared_service: ServiceProcess,
    content: bytes,
    headers: dict[str, str],
    params: dict[str, str],
    status: int,
    words: str,
) -> None:
    answer = store(content, headers, **params)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert words in answer.text
    assert "uploads" not in answer.text
    assert str(shared_service.home) not in answer.text


def test_without_a_format_a_body_is_a_process_file_as_before(store: Any) -> None:
    made = document(process_id="rest-plain")
    assert store(as_json(made)).status_code == 201
    assert store(as_json(made), format="process").status_code == 200
    assert store(as_json(made), format="detect").status_code == 200


_ROWS = [
    {"question": "When?", "contexts": ["It opened in 1901."], "answer": "In 1901."},
    {"question": "Where?", "contexts": ["It stands in Orre."], "answer": "In Orre."},
]


def _parquet() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(_ROWS), out)
    return out.getvalue()


_LINES = b"\n".join(json.dumps(one).encode() for one in _ROWS)
_BAD_LINES = _LINES.replace(b"\n", b"\n{no JSON\n")
_CSV = b"question,contexts,answer\nWhen?,\"['It opened in 1901.']\",In 1901.\n"


@pytest.mark.parametrize(
    ("name", "content", "counts"),
    [
        ("detect", _parquet(), (2, 0)), ("detect", _LINES, (2, 0)), ("detect", _BAD_LINES, (2, 1)),
        ("detect", gzip.compress(_BAD_LINES), (2, 1)), ("detect", _CSV, (1, 0)),
        ("detect", gzip.compress(_CSV), (1, 0)), ("detect", _CSV.replace(b",", b"\t"), (1, 0)),
        ("rag", _parquet(), (2, 0)), ("rag", gzip.compress(_BAD_LINES), (2, 1)),
        ("rag", _CSV.replace(b",", b"\t"), (1, 0)),
    ],
    ids=[
        "parquet", "lines", "bad line", "bad line, gzip", "csv", "csv, gzip", "tsv",
        "named, parquet", "named, bad line, gzip", "named, tsv",
    ],
)  # fmt: skip
def test_a_body_without_a_name_is_known_by_its_content(
    store: Any, name: str, content: bytes, counts: tuple[int, int]
) -> None:
    answer = store(content, {"Content-Type": "application/octet-stream"}, format=name)
    assert answer.status_code in (200, 201, 207), answer.text
    found = answer.json()
    each = found.get("processes", [found])
    assert {one["format"] for one in each if "format" in one} == {"rag"}
    assert (sum("error" not in one for one in each), found.get("failed", 0)) == counts


def test_a_question_is_taken_by_the_formats_that_hold_none(store: Any) -> None:
    content = (EXAMPLES / "prov.json").read_bytes()
    answer = store(content, format="prov", question="What did the scan say?", process_id="rest-q")
    assert answer.status_code == 201, answer.text


def test_several_processes_of_which_none_can_be_read_are_answered_one_by_one(store: Any) -> None:
    answer = store(b"{no JSON\n{neither\n", format="rag", filename="log.jsonl")
    assert (answer.status_code, answer.json()["failed"]) == (207, 2)


CHAT = [
    {"role": "user", "content": "When do you open?"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c", "content": "The museum opens at ten."},
    {"role": "assistant", "content": "At ten."},
    {"role": "user", "content": "Thank you."},
    {"role": "assistant", "content": "You are welcome."},
]  # fmt: skip


def test_chats_are_stored_as_dialogues_and_bad_ones_fail_alone(
    store: Any, shared_service: ServiceProcess
) -> None:
    lines = [
        json.dumps({"id": "rest-chat", "messages": CHAT}),
        '{"messages": [',
        json.dumps({"messages": [*CHAT[:2], {"role": "user", "content": ""}]}),
    ]
    answers = [store("\n".join(lines).encode(), format=name) for name in ("dialogue", "detect")]
    assert [one.status_code for one in answers] == [207, 207]
    good, broken, alone = answers[0].json()["processes"]
    assert (good["process_id"], good["format"], good["nodes"]) == ("rest-chat", "dialogue", 5)
    assert "line 2" in broken["error"]["message"]
    kinds = {one["kind"] for one in alone["error"]["violations"]}
    assert kinds == {"empty_turn", "no_assistant_turn"}
    assert answers[1].json()["unchanged"] == 1
    told = shared_service.get("/v1/processes/rest-chat/dialogue/turns").json()["turns"]
    assert [(one["turn_id"], one["documents"]) for one in told if one["role"] == "assistant"] == [
        ("m3", ["m2"]), ("m5", []),
    ]  # fmt: skip


def test_a_trace_is_stored_as_a_dialogue_where_the_format_is_named(store: Any) -> None:
    answer = store(TRACE, format="dialogue")
    assert answer.status_code == 201, answer.text
    found = answer.json()
    assert (found["process_id"], found["format"]) == ("tern-refit-dialogue", "dialogue")
    assert (found["nodes"], found["unsourced"]) == (4, 1)


def test_a_body_of_very_many_processes_that_cannot_be_read_is_answered_for_a_thousand(
    store: Any,
) -> None:
    answer = store(b"{no JSON\n" * 1_500, format="rag", filename="log.jsonl")
    errors = [one["error"] for one in answer.json()["processes"]]
    assert (answer.status_code, len(errors)) == (207, 1_001), answer.text[:1_000]
    assert "1,000 processes in a row could not be read" in str(errors[-1])
