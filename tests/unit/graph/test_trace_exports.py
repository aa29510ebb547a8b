"""Traces as the products' pages and programming interfaces hand them out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.graph.errors import InputError, InvalidProcess
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.importers.traces.otlp import OtlpImporter
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Origin

ASKED = "In which year was the lock at Ormsund built?"
PAGE = "The lock at Ormsund was built in 1874 and widened in 1931."
ANSWER = "It was built in 1874."
TRACE = "0af7651916cd43dd8448eb211c80319c"


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def write(tmp_path: Path, content: Any, name: str = "export.json") -> Path:
    path = tmp_path / name
    lines = name.endswith(".jsonl")
    text = "\n".join(map(json.dumps, content)) if lines else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def drafts(path: Path) -> list[Draft]:
    found = [one.open() for one in find_processes(path)]
    assert all(isinstance(one, Draft) for one in found)
    return [one for one in found if isinstance(one, Draft)]


def texts(draft: Draft) -> dict[str, Origin | None]:
    survey(draft)
    return {one.text: one.origin for one in draft.nodes.values()}


# Langfuse.


def observation(observation_id: str, trace: str = "lock-1", **more: Any) -> dict[str, Any]:
    return {
        "id": observation_id, "traceId": trace, "type": "GENERATION", "name": "write",
        "startTime": "2026-01-05T08:00:03Z", "endTime": "2026-01-05T08:00:04Z",
        "input": [user(f"{PAGE} {ASKED}")], "output": {"role": "assistant", "content": ANSWER},
        **more,
    }  # fmt: skip


def looked_up(trace: str = "lock-1") -> dict[str, Any]:
    return observation(
        f"look-{trace}", trace, type="RETRIEVER", name="look", startTime="2026-01-05T08:00:01Z",
        endTime="2026-01-05T08:00:02Z", input=ASKED,
        output=[{"page_content": PAGE, "metadata": {}}],
    )  # fmt: skip


WHOLE = {"id": "lock-1", "name": "lock", "observations": [looked_up(), observation("w")]}
SNAKE = {
    "startTime": "start_time", "endTime": "end_time", "traceId": "trace_id",
    "parentObservationId": "parent_observation_id",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("page.json", {"data": [WHOLE], "meta": {"page": 1}}),
        ("observations.json", {"data": [looked_up(), observation("w")], "meta": {"cursor": None}}),
        ("list.json", [looked_up(), observation("w")]),
        ("lines.jsonl", [looked_up(), observation("w")]),
        (
            "storage.jsonl",
            [
                {SNAKE.get(key, key): value for key, value in one.items()}
                for one in (looked_up(), observation("w"))
            ],
        ),
    ],
)
def test_what_the_api_of_langfuse_exports_is_read(tmp_path: Path, name: str, content: Any) -> None:
    (draft,) = drafts(write(tmp_path, content, name))
    assert (draft.header.source_format, draft.header.process_id) == ("langfuse", "lock-1")
    found = texts(draft)
    assert (found[PAGE], found[ANSWER]) == (Origin.SOURCE, Origin.GENERATED)
    assert ("look/look-lock-1", "write/w") in draft.edges


def test_observations_are_put_together_by_their_trace(tmp_path: Path) -> None:
    mixed = [observation("a"), observation("b", "lock-2"), looked_up(), looked_up("lock-2")]
    one, other = drafts(write(tmp_path, mixed, "mixed.jsonl"))
    assert (one.header.process_id, other.header.process_id) == ("lock-1", "lock-2")
    assert ("look/look-lock-2", "write/b") in other.edges


def test_a_page_of_traces_with_ids_alone_says_what_to_fetch(tmp_path: Path) -> None:
    page = {"data": [WHOLE, {"id": "lock-2", "observations": ["o-1", "o-2"]}], "meta": {}}
    good, bad = find_processes(write(tmp_path, page))
    assert good.open().header.process_id == "lock-1"
    with pytest.raises(InputError, match=r"lists ids alone.*api/public/traces/ID"):
        bad.open()


# LangGraph.


def history_of_one(**more: Any) -> list[dict[str, Any]]:
    call = {"name": "look", "args": {"q": "lock"}, "id": "c-1", "type": "tool_call"}
    messages = [
        {"type": "human", "content": ASKED, "id": "m-1"},
        {"type": "ai", "content": "", "tool_calls": [call], "id": "m-2"},
        {"type": "tool", "content": PAGE, "tool_call_id": "c-1", "name": "look", "id": "m-3"},
        {"type": "ai", "content": ANSWER, "tool_calls": [], "id": "m-4"},
    ]
    return [{"values": {"messages": messages, **more}, "next": [], "metadata": {"step": 3}}]


def test_the_messages_of_a_single_state_are_read(tmp_path: Path) -> None:
    (draft,) = drafts(write(tmp_path, history_of_one()))
    assert texts(draft) == {
        ASKED: Origin.GIVEN,
        'look({"q":"lock"})': Origin.GENERATED,
        PAGE: Origin.SOURCE,
        ANSWER: Origin.GENERATED,
    }
    assert {source for source, target in draft.edges if target == "model/3"} == {
        "question", "model/1", "look/2",
    }  # fmt: skip
    assert draft.header.terminals == ("model/3",)
    assert draft.header.warnings == ()


def test_other_values_of_a_single_state_are_no_source_text(tmp_path: Path) -> None:
    (draft,) = drafts(write(tmp_path, history_of_one(notes="The lock has two gates of oak.")))
    assert "The lock has two gates of oak." not in texts(draft)
    assert "left out: 'notes'" in draft.header.warnings[0]


def test_a_single_state_without_messages_says_what_to_export(tmp_path: Path) -> None:
    state = [{"values": {"answer": ANSWER}, "next": [], "metadata": {"step": 3}}]
    with pytest.raises(InvalidProcess) as refused:
        survey(drafts(write(tmp_path, state))[0])
    assert "of a LangGraph history all states" in refused.value.violations[0].message


# OpenTelemetry.


def value(text: str) -> dict[str, str]:
    return {"stringValue": text}


def span(name: str, number: int, **attributes: str) -> dict[str, Any]:
    listed = [
        {"key": key.replace("__", "."), "value": value(one)} for key, one in attributes.items()
    ]
    return {
        "traceId": TRACE, "spanId": f"{number:016x}", "name": name,
        "startTimeUnixNano": str(number * 10), "endTimeUnixNano": str(number * 10 + 5),
        "attributes": listed,
    }  # fmt: skip


def request(*spans: Any) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


_MESSAGES = {
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": f"{PAGE} {ASKED}",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": ANSWER,
}
_TIMES = {"start_time": "2026-01-05T08:00:03Z", "end_time": "2026-01-05T08:00:04Z"}
_IDS = {"trace_id": TRACE, "span_id": "00000000000000a2"}
_EVENTS = [
    {"event.name": "gen_ai.user.message", "role": "user", "content": f"{PAGE} {ASKED}"},
    {
        "event.name": "gen_ai.choice",
        "index": 0,
        "message": {"role": "assistant", "content": ANSWER},
    },
]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "phoenix.json",
            {"data": [{"name": "llm", "span_kind": "LLM", "parent_id": None, "context": _IDS,
                       "attributes": _MESSAGES, **_TIMES}], "next_cursor": None},
        ),
        (
            "phoenix-frame.jsonl",
            [{"name": "llm", "span_kind": "LLM", "parent_id": None,
              "context.trace_id": TRACE, "context.span_id": "00000000000000a2",
              "attributes.llm.input_messages": [
                  {"message.role": "user", "message.content": f"{PAGE} {ASKED}"}],
              "attributes.llm.output_messages": [
                  {"message.role": "assistant", "message.content": ANSWER}],
              "attributes.retrieval.documents": None,
              "start_time": 1_767_600_003_000, "end_time": 1_767_600_004_000}],
        ),
        (
            "logfire.json",
            {"columns": [], "rows": [
                {**_IDS, "parent_span_id": None, "span_name": "chat",
                 "start_timestamp": "2026-01-05T08:00:03Z", "end_timestamp": "2026-01-05T08:00:04Z",
                 "attributes": {"gen_ai.operation.name": "chat", "events": _EVENTS}}]},
        ),
        (
            "logfire-otlp.json",
            request(span("chat", 7, gen_ai__operation__name="chat", events=json.dumps(_EVENTS))),
        ),
        (
            "vercel.json",
            request(span(
                "ai.generateText.doGenerate", 7, ai__operationId="ai.generateText.doGenerate",
                ai__prompt__messages=json.dumps([user(f"{PAGE} {ASKED}")]),
                ai__response__text=ANSWER,
            )),
        ),
        (
            "vercel-outer.json",
            request(span(
                "ai.generateText", 7, operation__name="ai.generateText lock",
                ai__prompt=json.dumps({"system": "Be brief.", "prompt": f"{PAGE} {ASKED}"}),
                ai__response__text=ANSWER,
            )),
        ),
    ],
)  # fmt: skip
def test_spans_of_other_products_are_read(tmp_path: Path, name: str, content: Any) -> None:
    (draft,) = drafts(write(tmp_path, content, name))
    assert texts(draft) == {f"{PAGE} {ASKED}": Origin.GIVEN, ANSWER: Origin.GENERATED}
    assert (draft.header.source_format, draft.header.process_id) == ("otlp", TRACE)


@pytest.mark.parametrize("wrap", ["batches", "trace"])
def test_traces_of_tempo_are_export_requests(tmp_path: Path, wrap: str) -> None:
    whole = request(GOOD)
    content = {"trace": whole} if wrap == "trace" else {"batches": whole["resourceSpans"]}
    (draft,) = drafts(write(tmp_path, content))
    assert ANSWER in texts(draft)


def test_a_tool_of_vercels_kit_gives_source_text(tmp_path: Path) -> None:
    calls = [{"toolCallId": "c-1", "toolName": "look", "args": '{"q":"lock"}'}]
    asks = span(
        "ai.generateText.doGenerate", 1, ai__operationId="ai.generateText.doGenerate",
        ai__prompt__messages=json.dumps([user(ASKED)]), ai__response__toolCalls=json.dumps(calls),
    )  # fmt: skip
    tool = span(
        "ai.toolCall", 2, ai__operationId="ai.toolCall", ai__toolCall__args='{"q":"lock"}',
        ai__toolCall__result=PAGE,
    )  # fmt: skip
    says = span(
        "ai.generateText.doGenerate", 3, ai__operationId="ai.generateText.doGenerate",
        ai__prompt__messages=json.dumps([user(f"{ASKED} {PAGE}")]), ai__response__text=ANSWER,
    )  # fmt: skip
    (draft,) = drafts(write(tmp_path, request(asks, tool, says)))
    found = texts(draft)
    assert (found[PAGE], found['look({"q":"lock"})']) == (Origin.SOURCE, Origin.GENERATED)
    assert (f"ai.toolCall/{2:016x}", f"ai.generateText.doGenerate/{3:016x}") in draft.edges


# What cannot be read.

GOOD = span("chat", 7, gen_ai__operation__name="chat", input=f"{PAGE} {ASKED}", output=ANSWER)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({**GOOD, "startTimeUnixNano": "abc"}, r"span 2 \('chat'\): startTimeUnixNano is 'abc'"),
        ({**GOOD, "endTimeUnixNano": -5}, "endTimeUnixNano is '-5'; it must be nanoseconds"),
        ({**GOOD, "startTimeUnixNano": "9" * 5_000}, "must be nanoseconds"),
        ({**GOOD, "attributes": "x"}, "`attributes` must be a list of objects"),
        ({**GOOD, "traceId": 5}, "an id must be a text"),
        ({**GOOD, "events": 5}, "`events` must be a list"),
        (7, "it is no object"),
    ],
)
def test_a_bad_span_is_left_out_and_named(tmp_path: Path, bad: Any, words: str) -> None:
    (draft,) = drafts(write(tmp_path, request(GOOD, bad)))
    assert ANSWER in texts(draft)
    (warning,) = [one for one in draft.header.warnings if "cannot be read are left out" in one]
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(warning)
    failing = list(find_processes(write(tmp_path, request(bad, bad), "bad.json")))
    with pytest.raises(InputError, match=words.replace("span 2", "span 1")):
        failing[0].open()


def _bad_observation(**wrong: Any) -> dict[str, Any]:
    return {**WHOLE, "observations": [*WHOLE["observations"], {**observation("bad"), **wrong}]}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (_bad_observation(startTime=None), "'bad', startTime: no time is given"),
        (_bad_observation(endTime="noon"), "'bad', endTime: 'noon' is no time"),
        (_bad_observation(id=None), "observation 3 has no id"),
        (
            [{"id": "r-1", "trace_id": "t", "run_type": "llm", "start_time": "2026-01-05T08:00:00Z",
              "inputs": {"prompt": ASKED}, "outputs": {"text": ANSWER}},
             {"id": "r-2", "trace_id": "t", "run_type": "llm", "start_time": [5], "inputs": {}}],
            "run 'r-2', start_time: '[5]' is no time",
        ),
        (
            {"data": {"spans": [
                {"span_id": "s-1", "attributes": {"mlflow.spanType": '"LLM"',
                                                  "mlflow.spanInputs": json.dumps(ASKED),
                                                  "mlflow.spanOutputs": json.dumps(ANSWER)}},
                {"span_id": "s-2", "attributes": "x"}]}},
            "span 's-2': `attributes` must be an object",
        ),
    ],
)  # fmt: skip
def test_a_bad_call_of_other_tracers_is_left_out_and_named(
    tmp_path: Path, content: Any, words: str
) -> None:
    (draft,) = drafts(write(tmp_path, content))
    assert ANSWER in texts(draft)
    assert any(words in one for one in draft.header.warnings)


def flat(name: str, number: int, **attributes: Any) -> dict[str, Any]:
    """A span in the form that agent runtimes export: attributes as an object."""
    return {
        "trace_id": TRACE, "span_id": f"{number:016x}", "parent_span_id": None, "name": name,
        "start_time": number * 10, "end_time": number * 10 + 5,
        "attributes": {key.replace("__", "."): one for key, one in attributes.items()},
    }  # fmt: skip


_SNAKE = {
    "traceId": "trace_id", "spanId": "span_id", "startTimeUnixNano": "start_time_unix_nano",
    "endTimeUnixNano": "end_time_unix_nano", "stringValue": "string_value",
    "resourceSpans": "resource_spans", "scopeSpans": "scope_spans",
}  # fmt: skip


def snake(one: Any) -> Any:
    if isinstance(one, dict):
        return {_SNAKE.get(key, key): snake(inner) for key, inner in one.items()}
    return [snake(inner) for inner in one] if isinstance(one, list) else one


_ASKS = json.dumps([user(f"{PAGE} {ASKED}")])


@pytest.mark.parametrize(
    "content",
    [
        snake(request(GOOD)),
        {"session_id": "s", "spans": [
            flat("chat", 1, openinference__span__kind="LLM", input__value=_ASKS,
                 output__value=ANSWER)]},
        request(span("call_llm", 1, gcp__vertex__agent__llm_request=json.dumps(
            {"contents": [{"role": "user", "parts": [{"text": f"{PAGE} {ASKED}"}]}]}),
            gcp__vertex__agent__llm_response=json.dumps(
                {"content": {"role": "model", "parts": [{"text": ANSWER}]}}))),
        request(span("model", 1, langsmith__span__kind="llm", gen_ai__prompt=_ASKS,
                     gen_ai__completion=json.dumps({"generations": [[{"text": ANSWER}]]}))),
        request(span("model", 1, **{"mlflow.spanType": '"CHAT_MODEL"', "mlflow.spanInputs": _ASKS,
                                    "mlflow.spanOutputs": json.dumps(ANSWER)})),
        request(span("model", 1, **{"langfuse.observation.type": "generation",
                                    "langfuse.observation.input": _ASKS,
                                    "langfuse.observation.output": ANSWER})),
    ],
)  # fmt: skip
def test_what_products_write_into_spans_is_read(tmp_path: Path, content: Any) -> None:
    (draft,) = drafts(write(tmp_path, content))
    assert draft.header.source_format == "otlp"
    assert texts(draft) == {f"{PAGE} {ASKED}": Origin.GIVEN, ANSWER: Origin.GENERATED}


def test_events_of_a_tool_hold_its_result_and_no_answer(tmp_path: Path) -> None:
    def event(name: str, message: Any) -> dict[str, Any]:
        key = "message" if name.endswith("choice") else "content"
        return {"name": name, "attributes": [{"key": key, "value": value(json.dumps(message))}]}

    ask = {"toolUse": {"toolUseId": "u1", "name": "look", "input": {"q": "lock"}}}
    result = {"toolResult": {"toolUseId": "u1", "content": [{"text": PAGE}]}}
    asks = span("chat", 1, gen_ai__operation__name="chat")
    asks["events"] = [event("gen_ai.user.message", [{"text": ASKED}]),
                      event("gen_ai.choice", [ask])]  # fmt: skip
    tool = span("execute_tool look", 2, gen_ai__operation__name="execute_tool",
                gen_ai__tool__call__id="u1")  # fmt: skip
    tool["events"] = [event("gen_ai.tool.message", {"q": "lock"}),
                      event("gen_ai.choice", [{"text": PAGE}])]  # fmt: skip
    says = span("chat", 3, gen_ai__operation__name="chat")
    says["events"] = [
        event("gen_ai.user.message", [{"text": ASKED}]), event("gen_ai.assistant.message", [ask]),
        event("gen_ai.tool.message", [result]), event("gen_ai.choice", [{"text": ANSWER}]),
    ]  # fmt: skip
    (draft,) = drafts(write(tmp_path, request(asks, tool, says)))
    assert texts(draft) == {
        ASKED: Origin.GIVEN, 'look({"q":"lock"})': Origin.GENERATED, PAGE: Origin.SOURCE,
        ANSWER: Origin.GENERATED,
    }  # fmt: skip
    assert draft.edges[f"execute_tool look/{2:016x}", f"chat/{3:016x}"].inferred is None


NO_NUMBERS = ("\u00b2", "9" * 5_000)


@pytest.mark.parametrize("place", NO_NUMBERS)
def test_a_place_that_is_no_number_leaves_a_span_readable(tmp_path: Path, place: str) -> None:
    about = {
        "openinference.span.kind": "LLM",
        "output.value": "The lock is new.",
        f"llm.input_messages.{place}.message.content": "The lock was renewed.",
    }
    (draft,) = drafts(write(tmp_path, request(span("model", 1, **about))))
    assert "The lock is new." in texts(draft)


@pytest.mark.parametrize("time", NO_NUMBERS)
@pytest.mark.parametrize("deep", ["[" * 5_000, '{"a":' * 5_000])
def test_what_mlflow_never_writes_is_taken_as_text(tmp_path: Path, time: str, deep: str) -> None:
    about = {"mlflow.spanType": '"LLM"', "mlflow.spanInputs": deep,
             "mlflow.spanOutputs": json.dumps("The lock is new.")}  # fmt: skip
    one = {"span_id": "s-1", "name": "model", "attributes": about, "start_time_unix_nano": time}
    (draft,) = drafts(write(tmp_path, {"info": {"request_id": "t"}, "data": {"spans": [one]}}))
    assert "The lock is new." in texts(draft)


@pytest.mark.parametrize(
    ("about", "model"),
    [
        ({"gen_ai.request.model": "m-1"}, "m-1"),
        ({"url.full": "https://models.example/v1/chat/completions?x=1"}, "chat/completions"),
        ({"http.target": "/v1/messages"}, "v1/messages"),
        ({"url.full": "https://models.example/v1/embeddings"}, None),
        ({"gen_ai.request.model": "m-1", "gen_ai.operation.name": "embeddings"}, None),
        ({"gen_ai.request.model": "text-embedding-4"}, None),
        ({"url.full": "https://shop.example/completions-of-orders"}, None),
    ],
)
def test_the_model_that_a_span_asked_is_known_by_its_name_or_its_address(
    tmp_path: Path, about: dict[str, str], model: str | None
) -> None:
    path = write(tmp_path, request(span("POST", 1, **about)))
    (found,) = OtlpImporter().traces(path)
    assert found.read().calls[0].model == model
