"""Traces of assistants as dialogues: exchanges, sessions, and what each turn was made from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fakes.conversations import Graph

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.registry import Found, find_processes

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "traces"
EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "traces"
HOURS = "The museum opens at ten. On Mondays it is closed."
FARE = "A ticket costs four crowns, and children ride free of charge."


def found(folder: Path, value: Any, format_name: str | None = "dialogue") -> list[Found]:
    lines = value if isinstance(value, list) else [value]
    path = folder / ("t.jsonl" if isinstance(value, list) else "t.json")
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return list(find_processes(path, format_name=format_name))


def turns(read: Graph) -> list[tuple[str, str]]:
    kinds = [(one.kind or "", one.text) for name, one in read.nodes.items() if "turn/" in name]
    return [(kind.removesuffix(" turn"), text) for kind, text in kinds]


def documents(read: Graph, turn: str) -> list[str]:
    names = [name for name in read.inputs[turn] if name.startswith("document/")]
    return [read.nodes[name].text for name in names]


def message(role: str, text: str) -> dict[str, str]:
    return {"role": role, "content": text}


def exchange(
    number: int, asked: str, answer: str, source: str, history: Any = (), **about: Any
) -> dict[str, Any]:
    """A trace of Langfuse: a retriever, and a model that is given what it found."""
    at = f"2026-03-04T10:{number:02}:"
    prompt = [*history, message("user", f"{source}\n\nQuestion: {asked}")]
    observations = [
        {
            "id": f"r{number}", "type": "RETRIEVER", "name": "look up", "input": asked,
            "output": [{"page_content": source}], "startTime": f"{at}01Z", "endTime": f"{at}02Z",
        },
        {
            "id": f"g{number}", "type": "GENERATION", "name": "answer", "input": prompt,
            "output": message("assistant", answer), "model": "m", "startTime": f"{at}03Z",
            "endTime": f"{at}04Z",
        },
    ]  # fmt: skip
    trace = {"id": f"trace-{number}", "name": "guide", "input": [*history, message("user", asked)],
             "output": message("assistant", answer), **about}  # fmt: skip
    return {"trace": trace, "observations": observations}


FIRST = exchange(1, "When do you open?", "At ten.", HOURS, sessionId="visit-7")
HISTORY = [message("user", "When do you open?"), message("assistant", "At ten.")]
SECOND = exchange(2, "What is the fare?", "Four crowns.", FARE, HISTORY, sessionId="visit-7")
SPOKEN = [
    ("user", "When do you open?"), ("assistant", "At ten."),
    ("user", "What is the fare?"), ("assistant", "Four crowns."),
]  # fmt: skip


def test_traces_of_a_session_are_one_dialogue_in_the_order_of_time(tmp_path: Path) -> None:
    (one,) = found(tmp_path, [SECOND, FIRST])
    assert one.where.endswith("#visit-7")
    read = Graph(one.open())
    assert (read.header.process_id, read.header.source_format) == ("visit-7", "dialogue")
    assert turns(read) == SPOKEN
    assert documents(read, "turn/t2") == [HOURS]
    assert documents(read, "turn/t4") == [FARE]
    about = dict(read.nodes["turn/t4"].metadata)
    assert about == {"trace": "trace-2", "call": "g2", "model": "m"}


def test_a_history_that_was_rewritten_adds_only_the_last_question(tmp_path: Path) -> None:
    shorter = [message("user", "The user asked about hours.")]
    second = exchange(2, "What is the fare?", "Four crowns.", FARE, shorter, sessionId="visit-7")
    (one,) = found(tmp_path, [FIRST, second])
    assert turns(Graph(one.open())) == SPOKEN


def test_a_question_that_is_asked_again_is_a_turn_again(tmp_path: Path) -> None:
    again = exchange(2, "When do you open?", "At ten.", HOURS, sessionId="visit-7")
    (one,) = found(tmp_path, [FIRST, again])
    read = Graph(one.open())
    assert turns(read) == [*SPOKEN[:2], *SPOKEN[:2]]
    assert [name for name in read.nodes if "document/" in name] == ["document/d1"]


def test_traces_without_a_session_are_dialogues_of_their_own(tmp_path: Path) -> None:
    plain = [exchange(n, "When do you open?", "At ten.", HOURS) for n in (1, 2)]
    ids = [one.open().header.process_id for one in found(tmp_path, plain)]
    assert ids == ["trace-1-dialogue", "trace-2-dialogue"]


def test_without_the_name_of_the_format_traces_stay_traces(tmp_path: Path) -> None:
    sources = [one.open().header.source_format for one in found(tmp_path, [FIRST, SECOND], None)]
    assert sources == ["langfuse", "langfuse"]


def test_a_trace_that_cannot_be_read_leaves_the_others_alone(tmp_path: Path) -> None:
    broken = {"trace": {"id": "x", "sessionId": "visit-7"}, "observations": [{"startTime": 3}]}
    empty = {**FIRST, "observations": [], "trace": {"id": "y", "sessionId": "visit-8"}}
    bad, session, silent = found(tmp_path, [FIRST, broken, SECOND, empty])
    with pytest.raises(InputError, match="has no id"):
        bad.open()
    assert turns(Graph(session.open())) == SPOKEN
    with pytest.raises(InputError, match="no text that an assistant answered with"):
        silent.open()


@pytest.mark.parametrize("wrap", ["traces", "data", "lines"])
def test_a_session_of_the_api_holds_no_observations(tmp_path: Path, wrap: str) -> None:
    listed = [
        {**one["trace"], "timestamp": f"2026-03-04T10:0{number}:00Z", "observations": ["o"]}
        for number, one in enumerate((FIRST, SECOND))
    ]
    value: Any = {
        "traces": {"id": "visit-7", "createdAt": "2026-03-04T10:00:00Z", "traces": listed},
        "data": {"data": listed, "meta": {"page": 1}},
        "lines": listed,
    }[wrap]
    for name in (None, "dialogue"):
        (one,) = found(tmp_path, value, name)
        read = Graph(one.open())
        assert (read.header.process_id, turns(read)) == ("visit-7", SPOKEN)


def run(number: int, inputs: Any, outputs: Any, **more: Any) -> dict[str, Any]:
    at = f"2026-03-04T10:{number:02}:00"
    return {
        "id": f"run-{number}", "trace_id": f"run-{number}", "name": "chat", "run_type": "chain",
        "inputs": inputs, "outputs": outputs, "start_time": at, "end_time": at, **more,
    }  # fmt: skip


def test_runs_of_a_thread_of_langsmith_are_one_dialogue(tmp_path: Path) -> None:
    def human(text: str) -> dict[str, Any]:
        return {"type": "human", "content": text}

    def ai(text: str) -> dict[str, Any]:
        return {"type": "ai", "content": text}

    thread = {"extra": {"metadata": {"thread_id": "visit-7"}}}
    # As RunnableWithMessageHistory is traced: the question first, the history beside it.
    history = [human("When do you open?"), ai("At ten.")]
    runs = [
        run(2, {"input": "What is the fare?", "history": history},
            {"output": ai("Four crowns.")}, **thread),
        run(1, {"input": "When do you open?", "history": []}, {"output": ai("At ten.")}, **thread),
    ]  # fmt: skip
    calls = [
        {**run(9 + place, {"messages": [[human("x")]]}, {"generations": [[{"text": text}]]}),
         "id": f"llm-{place}", "trace_id": one["id"], "parent_run_id": one["id"],
         "run_type": "llm", "start_time": one["start_time"], "end_time": one["end_time"]}
        for place, (one, text) in enumerate(zip(runs, ("Four crowns.", "At ten."), strict=True))
    ]  # fmt: skip
    (one,) = found(tmp_path, [*runs, *calls])
    assert turns(Graph(one.open())) == SPOKEN


def test_a_question_under_any_key_is_what_the_user_said(tmp_path: Path) -> None:
    asked, answer = "Fährt die Fähre im Mai?", "Ja, sie fährt täglich."
    value = run(1, {"anliegen": asked, "session": "abc"}, {"output": answer})
    (one,) = found(tmp_path, [value])
    read = Graph(one.open())
    assert turns(read) == [("user", asked), ("assistant", answer)]


def test_examples_of_langsmith_are_conversations(tmp_path: Path) -> None:
    example = {
        "id": "example-1",
        "inputs": {"messages": [*HISTORY, message("user", "What is the fare?")]},
        "outputs": {"message": message("assistant", "Four crowns.")},
    }
    (one,) = found(tmp_path, example)
    assert turns(Graph(one.open())) == SPOKEN


def test_the_messages_of_a_langgraph_thread_are_its_turns(tmp_path: Path) -> None:
    messages = [
        {"type": "human", "content": "When do you open?"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "look_up", "args": {}, "id": "c"}]},
        {"type": "tool", "content": HOURS, "tool_call_id": "c"},
        {"type": "ai", "content": "At ten."},
        {"type": "human", "content": "What is the fare?"},
        {"type": "ai", "content": "Four crowns."},
    ]
    states = [
        {"values": {"messages": messages[:count]}, "next": [], "metadata": {"step": count}}
        for count in range(7)
    ]
    (one,) = found(tmp_path, states)
    read = Graph(one.open())
    assert turns(read) == SPOKEN
    assert documents(read, "turn/t2") == [HOURS]
    assert documents(read, "turn/t4") == []


def test_spans_name_their_session(tmp_path: Path) -> None:
    def span(number: int, asked: str, answer: str) -> dict[str, Any]:
        about = {
            "session.id": "visit-7", "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": asked,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": answer,
        }  # fmt: skip
        at = f"2026-03-04T10:0{number}:00Z"
        return {
            "name": "chat", "context": {"trace_id": f"{number:032x}", "span_id": f"{number:016x}"},
            "parent_id": None, "start_time": at, "end_time": at, "attributes": about, "events": [],
        }  # fmt: skip

    (one,) = found(
        tmp_path,
        [span(2, "What is the fare?", "Four crowns."), span(1, "When do you open?", "At ten.")],
    )
    assert turns(Graph(one.open())) == SPOKEN


@pytest.mark.parametrize(
    "name", ["otlp.json", "langfuse.json", "mlflow.json", "langchain.json"]
)  # fmt: skip
def test_the_example_of_each_tracer_is_one_exchange_with_its_documents(name: str) -> None:
    (one,) = find_processes(EXAMPLES / name, format_name="dialogue")
    read = Graph(one.open())
    (asked, answered) = turns(read)
    assert asked == ("user", "What happened while the ferry Tern was refitted?")
    assert answered[0] == "assistant"
    assert [text.split()[0] for text in documents(read, "turn/t2")] == ["The", "While"]


@pytest.mark.skipif(not REAL.is_dir(), reason="the real traces are not on this machine")
@pytest.mark.parametrize(
    ("name", "asked", "sources"),
    [
        ("langfuse/langgraph-python-2025-08-22.trace.json", "Search the web", 1),
        ("langfuse/openai-agents-2025-09-30.trace.json", "What's the weather in Tokyo?", 1),
        ("langchain_runtree_flat.json", "What did the council do about carp?", 2),
        ("openinference_langgraph_otlp.json", "What did the council do about carp?", 2),
        ("mlflow_trace.json", "What did the council do about carp?", 2),
    ],
)
def test_traces_that_real_libraries_wrote_are_dialogues(
    name: str, asked: str, sources: int
) -> None:
    (one,) = find_processes(REAL / name, format_name="dialogue")
    read = Graph(one.open())
    assert [role for role, _ in turns(read)] == ["user", "assistant"]
    assert turns(read)[0][1].startswith(asked)
    assert len(documents(read, "turn/t2")) == sources
