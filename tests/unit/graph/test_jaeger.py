"""Traces that Jaeger hands out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Origin

TRACE = "c3" * 16
ASKED, PAGE = "How long is the tunnel of Norheim?", "The tunnel of Norheim is 812 metres long."
ANSWER = "It is 812 metres long."


def span(number: int, above: int | None, at: int, **tags: str) -> dict[str, Any]:
    parent = {"refType": "CHILD_OF", "traceID": TRACE, "spanID": f"{above:016x}"} if above else None
    return {
        "traceID": TRACE, "spanID": f"{number:016x}", "operationName": f"step {number}",
        "references": [parent] if parent else [], "processID": "p1",
        "startTime": 1_784_000_000_000_000 + at * 1_000_000, "duration": 500_000, "logs": [],
        "tags": [{"key": key.replace("__", "."), "type": "string", "value": value}
                 for key, value in tags.items()],
    }  # fmt: skip


def exported() -> dict[str, Any]:
    spans = [
        span(1, None, 0, openinference__span__kind="CHAIN", input__value=ASKED),
        span(2, 1, 1, openinference__span__kind="RETRIEVER", input__value=ASKED,
             retrieval__documents__0__document__content=PAGE),
        span(3, 1, 2, openinference__span__kind="LLM",
             llm__input_messages__0__message__role="user",
             llm__input_messages__0__message__content=f"{PAGE}\n{ASKED}",
             llm__output_messages__0__message__role="assistant",
             llm__output_messages__0__message__content=ANSWER),
    ]  # fmt: skip
    processes = {"p1": {"serviceName": "rag", "tags": []}}
    return {"data": [{"traceID": TRACE, "spans": spans, "processes": processes}], "errors": None}


def written(tmp_path: Path, value: Any) -> Path:
    path = tmp_path / "jaeger.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


@pytest.mark.parametrize("is_single", [False, True])
def test_the_spans_of_a_trace_are_its_process(is_single: bool, tmp_path: Path) -> None:
    value = exported()["data"][0] if is_single else exported()

    (found,) = find_processes(written(tmp_path, value))
    draft = found.open()

    assert isinstance(draft, Draft)
    survey(draft)
    assert draft.header.process_id == TRACE
    assert draft.header.question == ASKED
    by_text = {one.text: one for one in draft.nodes.values()}
    assert by_text[PAGE].origin is Origin.SOURCE
    assert (by_text[PAGE].node_id, by_text[ANSWER].node_id) in set(draft.edges)


def test_a_message_in_the_logs_of_a_span_is_an_event(tmp_path: Path) -> None:
    value = exported()
    last = value["data"][0]["spans"][2]
    last["tags"] = [{"key": "gen_ai.operation.name", "value": "chat"}]
    fields = {"event": "gen_ai.choice", "message": json.dumps({"content": ANSWER})}
    last["logs"] = [{"fields": [{"key": key, "value": one} for key, one in fields.items()]}]

    (found,) = find_processes(written(tmp_path, value))

    assert ANSWER in {one.text for one in found.open().records() if hasattr(one, "text")}


@pytest.mark.parametrize(
    ("key", "other"),
    [("startTime", "noon"), ("startTime", None), ("spanID", None), ("spanID", 7), ("traceID", [])],
)
def test_a_span_that_cannot_be_read_is_named(key: str, other: Any, tmp_path: Path) -> None:
    value = exported()
    value["data"][0]["spans"] = [{**value["data"][0]["spans"][2], key: other}]

    (found,) = find_processes(written(tmp_path, value))

    with pytest.raises(InputError, match="step 3"):
        found.open()


@pytest.mark.parametrize("key", ["tags", "logs", "references", "duration"])
@pytest.mark.parametrize("other", [None, 7, "x", [7], [{}], {"x": 1}])
def test_a_part_of_another_type_loses_that_part_alone(key: str, other: Any, tmp_path: Path) -> None:
    value = exported()
    value["data"][0]["spans"][0][key] = other

    (found,) = find_processes(written(tmp_path, value))

    assert ANSWER in {one.text for one in found.open().records() if hasattr(one, "text")}
