"""Conversations as processes: what becomes a node, and what each message could be made of."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from fakes import conversations
from fakes.conversations import Graph

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.agents import AgentsImporter
from veritrail_graph.graph.importers.agents.process import MOST_INPUTS
from veritrail_graph.graph.importers.records import EdgeRecord
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.model import Origin

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "agents.jsonl"
LONG = "The ferry carried 412 cars in the second week of May."


@pytest.fixture
def found(tmp_path):
    return partial(conversations.found, tmp_path)


@pytest.fixture
def graph(found):
    def read(value, **options):
        (one,) = found(value, **options)
        return Graph(one.open())

    return read


def call(name, arguments, call_id):
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


def with_tool():
    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How many cars did the ferry carry?"},
        {"role": "assistant", "content": None, "tool_calls": [call("read", {"file": "f"}, "c1")]},
        {"role": "tool", "tool_call_id": "c1", "content": LONG},
        {"role": "assistant", "content": "It carried 412 cars."},
    ]


def test_tools_are_source_text_and_the_user_is_not(graph):
    read = graph(with_tool())
    assert list(read.nodes) == ["message/1", "message/2", "message/3", "message/4"]
    assert [read.origin(name) for name in read.nodes] == [
        Origin.GIVEN,
        Origin.GENERATED,
        Origin.SOURCE,
        Origin.GENERATED,
    ]
    assert [one.kind for one in read.nodes.values()] == [
        "user",
        "tool_call",
        "tool_result",
        "message",
    ]
    assert read.inputs == {
        "message/1": [],
        "message/2": ["message/1"],
        "message/3": [],
        "message/4": ["message/1", "message/2", "message/3"],
    }
    assert read.nodes["message/2"].text == 'read({"file": "f"})'
    assert read.nodes["message/3"].metadata == {
        "index": 3,
        "tool": "read",
        "tool_call_id": "c1",
    }
    assert read.header.terminals == ("message/4",)
    assert read.header.question == "How many cars did the ferry carry?"
    assert read.header.explained is None
    assert read.said("One instruction (system prompt) was left out")
    assert read.nodes["message/4"].metadata["prompt"] == "Be brief."


def test_a_long_instruction_is_not_kept(graph):
    log = with_tool()
    log[0]["content"] = "Never guess. " * 100
    assert "prompt" not in graph(log).nodes["message/4"].metadata


def test_what_a_sample_holds_beside_its_messages_is_known_of_the_answer_or_named(graph):
    rubrics = {"score1_description": "Names no figure at all."}
    beside = {"reference": "It carried 42 cars.", "rubrics": rubrics, "comment": "Asked by phone."}
    read = graph({"messages": with_tool(), **beside})
    about = read.nodes["message/4"].metadata
    assert (about["reference"], about["rubrics"]) == ("It carried 42 cars.", rubrics)
    assert read.said("One field beside the messages is left out: 'comment'.")


def test_definitions_of_tools_are_counted(graph):
    read = graph({"messages": with_tool(), "tools": [{"name": "read"}, {"name": "write"}]})
    assert read.said("The definitions of 2 tools were left out")


def test_content_beside_calls_is_a_node_of_its_own(graph):
    log = with_tool()
    log[2]["content"] = "I look it up."
    log[2]["tool_calls"].append(call("read", {"file": "g"}, "c2"))
    read = graph(log)
    assert read.nodes["message/2"].text == "I look it up."
    # Calls that were asked for at once are no inputs of each other.
    assert read.inputs["message/2/call/2"] == ["message/1", "message/2"]


@pytest.mark.parametrize("tool", ["ask_archivist", "archivist", "research_agent", "Task"])
def test_what_another_agent_returns_is_generated_from_the_call(graph, tool):
    log = with_tool()
    log[2]["tool_calls"] = [call(tool, {"question": "cars?"}, "c1")]
    log.insert(2, {"role": "assistant", "name": "archivist", "content": "I keep the papers."})
    read = graph(log)
    assert read.origin("message/4") is Origin.GENERATED
    assert read.inputs["message/4"] == ["message/3"]
    assert read.said("there is no source text")


def test_what_a_person_says_whom_a_tool_asks_is_given(graph):
    log = with_tool()
    log[2]["tool_calls"] = [call("ask_user", {"question": "cars?"}, "c1")]
    assert graph(log).origin("message/3") is Origin.GIVEN


def test_parts_of_many_kinds(graph):
    log = [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What does the table say?"},
                {"type": "image_url", "image_url": {"url": "data:"}},
                {
                    "type": "document",
                    "title": "cars.txt",
                    "source": {"type": "text", "data": LONG},
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I must read the table."},
                {"type": "text", "text": "I read it."},
                {"type": "tool_use", "id": "t1", "name": "read", "input": {"file": "f"}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "412 cars"}],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "412 cars, it says."}]},
    ]
    read = graph(log)
    assert {name: (one.origin, one.kind) for name, one in read.nodes.items()} == {
        "message/0": (Origin.GIVEN, "user"),
        "message/0/file/1": (Origin.SOURCE, "file"),
        "message/1/thought": (Origin.GENERATED, "thought"),
        "message/1": (Origin.GENERATED, "message"),
        "message/1/call/1": (Origin.GENERATED, "tool_call"),
        "message/2": (Origin.SOURCE, "tool_result"),
        "message/3": (Origin.GENERATED, "message"),
    }
    assert read.inputs["message/1"] == ["message/0", "message/0/file/1", "message/1/thought"]
    assert read.said("One part without text, such as a picture, was left out")


@pytest.mark.parametrize(
    "content",
    [
        {"text": "412 cars", "score": 1},
        [{"type": "ferry", "cars": 412}],
        [["May", 412]],
        412,
        True,
    ],
)
def test_a_tool_may_return_any_data(graph, content):
    log = with_tool()
    log[3]["content"] = content
    assert json.loads(graph(log).nodes["message/3"].text) == content


def test_items_of_the_responses_api(graph):
    read = graph(
        {
            "instructions": "Use the files.",
            "input": "How many cars?",
            "output": [
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Search."}]},
                {
                    "type": "file_search_call",
                    "id": "f",
                    "queries": ["cars"],
                    "results": [{"filename": "cars.txt", "text": LONG}],
                },
                {"type": "function_call", "call_id": "c", "name": "count", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": "412"},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "412 cars."}],
                },
            ],
        }
    )
    kinds = {name: one.kind for name, one in read.nodes.items()}
    assert kinds == {
        "message/0": "user",
        "message/1/thought": "thought",
        "message/2": "file",
        "message/3": "tool_call",
        "message/4": "tool_result",
        "message/5": "message",
    }
    assert read.nodes["message/2"].metadata["title"] == "cars.txt"
    assert read.nodes["message/4"].metadata["tool"] == "count"
    assert read.inputs["message/5"] == list(kinds)[:-1]


def test_messages_of_autogen_04(graph):
    read = graph(
        {
            "messages": [
                {"type": "TextMessage", "source": "user", "content": "How many cars?"},
                {
                    "type": "ToolCallRequestEvent",
                    "source": "clerk",
                    "content": [{"id": "c1", "name": "read", "arguments": "{}"}],
                },
                {
                    "type": "ToolCallExecutionEvent",
                    "source": "clerk",
                    "content": [{"call_id": "c1", "name": "read", "content": LONG}],
                },
                {"type": "ToolCallSummaryMessage", "source": "clerk", "content": LONG},
                {"type": "UserInputRequestedEvent", "source": "user", "content": ""},
                {"type": "TextMessage", "source": "writer", "content": "There were 412 cars."},
                {"type": "StopMessage", "source": "writer", "content": "TERMINATE"},
            ],
            "stop_reason": "said so",
        }
    )
    # The summary repeats the result, so it is the same node.
    assert list(read.nodes) == ["message/0", "message/1", "message/2", "message/5"]
    assert read.origin("message/2") is Origin.SOURCE
    assert read.inputs["message/5"] == ["message/0", "message/1", "message/2"]
    assert read.nodes["message/5"].step == "writer"
    assert read.header.terminals == ("message/5",)
    assert read.said("One event without a text")


@pytest.mark.parametrize(
    "log",
    [
        [{"from": "human", "value": "Hello?"}, {"from": "gpt", "value": "Yes."}],
        [{"type": "human", "content": "Hello?"}, {"type": "ai", "content": "Yes."}],
        [
            {"type": "human", "data": {"content": "Hello?"}},
            {"type": "ai", "data": {"content": "Yes."}},
        ],
        [
            {"role": "user", "parts": [{"text": "Hello?"}]},
            {"role": "model", "parts": [{"text": "Yes."}]},
        ],
    ],
    ids=["from-value", "type", "type-data", "parts"],
)
def test_other_layouts_of_chats(graph, log):
    read = graph(log)
    assert [one.text for one in read.nodes.values()] == ["Hello?", "Yes."]
    assert [one.origin for one in read.nodes.values()] == [Origin.GIVEN, Origin.GENERATED]


def test_a_request_with_its_response(graph):
    log = with_tool()
    answer = log.pop()
    read = graph({"body": {"messages": log}, "response": {"choices": [{"message": answer}]}})
    assert read.header.terminals == ("message/4",)


def test_a_repeated_message_is_the_same_node(graph):
    log = with_tool()
    log.insert(4, {"role": "assistant", "content": f"I read: {LONG}"})
    log.insert(5, {"role": "assistant", "content": f"I read: {LONG}"})
    log.insert(6, {"role": "assistant", "content": LONG})
    read = graph(log)
    assert "message/5" not in read.nodes
    assert "message/6" not in read.nodes
    assert sorted(read.inputs["message/7"]) == [f"message/{number}" for number in (1, 2, 3, 4)]


def test_a_short_text_is_another_statement_each_time(graph):
    log = [
        {"role": "user", "content": "Is it blue?"},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "Is it round?"},
        {"role": "assistant", "content": "Yes."},
    ]
    assert graph(log).inputs["message/3"] == ["message/0", "message/1", "message/2"]


def test_an_answer_that_repeats_a_message_has_it_as_its_only_input(graph):
    log = with_tool()
    log[4]["content"] = f"I read: {LONG}"
    log.append({"role": "user", "content": "Are you sure?"})
    log.append({"role": "assistant", "content": f"I read: {LONG}"})
    read = graph(log)
    assert read.inputs["message/6"] == ["message/4"]
    assert read.header.terminals == ("message/6",)


def test_what_comes_after_the_answer_is_not_made_of_it(graph):
    log = with_tool()
    log.append({"role": "assistant", "content": None, "tool_calls": [call("save", {}, "c9")]})
    log.append({"role": "tool", "tool_call_id": "c9", "content": "saved"})
    read = graph(log)
    assert read.header.terminals == ("message/4",)
    assert "message/4" not in read.inputs["message/5"]
    assert read.said("The log goes on after message/4")


def test_an_answer_may_be_a_call(graph):
    log = with_tool()
    log[4] = {"role": "assistant", "tool_calls": [call("final_answer", {"answer": "412"}, "c9")]}
    read = graph(log)
    assert read.header.terminals == ("message/4",)
    assert not read.said("without an answer")


def test_a_message_has_the_latest_inputs_only(graph):
    log = [{"role": "user", "content": "Count."}]
    log += [{"role": "assistant", "content": f"number {n}"} for n in range(MOST_INPUTS + 5)]
    read = graph(log)
    last = read.inputs[f"message/{MOST_INPUTS + 5}"]
    assert last == [f"message/{number}" for number in range(5, MOST_INPUTS + 5)]
    assert read.said("Of 5 messages, only the latest 200 inputs are kept")


def test_a_log_of_a_thousand_messages_is_read_with_bounded_edges(found):
    log = [{"role": "user", "content": "Count."}]
    log += [{"role": "assistant", "content": f"number {n}"} for n in range(999)]
    (one,) = found(log)
    edges = sum(isinstance(record, EdgeRecord) for record in one.open().records())
    assert edges == MOST_INPUTS * (999 - MOST_INPUTS) + MOST_INPUTS * (MOST_INPUTS + 1) // 2


def test_lines_are_conversations_or_messages(found):
    several = found(with_tool(), {"messages": with_tool()}, name="several")
    assert [one.where.rpartition("#")[2] for one in several] == ["1", "2"]
    assert all(len(Graph(one.open()).nodes) == 4 for one in several)
    (single,) = found(*with_tool(), name="single")
    assert len(Graph(single.open()).nodes) == 4
    listed = found([{"messages": with_tool()}, {"messages": with_tool()}])
    assert len(listed) == 2


def test_one_bad_conversation_leaves_the_others_alone(found):
    one, two, three = found(with_tool(), {"messages": "none"}, with_tool())
    assert Graph(one.open()).nodes
    assert Graph(three.open()).nodes
    with pytest.raises(InputError, match=r"#2: no conversation. It must be a list of messages"):
        two.open()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({25: "text"}, "message 25: no message. It must be an object with a role"),
        ({25: {"role": "user"}}, "message 25: no message"),
        ({1: {"role": "user", "content": 12}}, "message 1: the content must be a text"),
        ({1: {"role": "user", "content": [3]}}, "message 1: a part must be a text or an object"),
        ({1: {"role": "user", "content": [{"type": "text"}]}}, "part of the type text must have"),
        ({2: {"role": "assistant", "tool_calls": [{"id": "c"}]}}, "with the name of the tool"),
    ],
)
def test_bad_messages(graph, change, said):
    log = with_tool() + [{"role": "user", "content": f"And {n}?"} for n in range(30)]
    for place, value in change.items():
        log[place] = value
    with pytest.raises(InputError, match=said):
        graph(log)


def test_a_log_without_a_message_of_a_model(graph):
    with pytest.raises(InputError, match="no message of a model or an agent"):
        graph([{"role": "user", "content": "Is anybody there?"}])


@pytest.mark.parametrize(
    "value",
    [
        {"format": "veritrail.process/1", "nodes": [], "edges": []},
        {"question": "q", "contexts": ["c"], "answer": "a"},
        [{"question": "q", "contexts": ["c"], "answer": "a"}],
        [{"name": "Ada", "role": "admin", "text": "a table of people"}],
        {"observations": [], "messages": with_tool()},
        [{"type": "web", "source": "page", "content": "a document"}],
        {"messages": []},
        [],
        ["text"],
    ],
)
def test_files_of_others_are_not_taken(tmp_path, value):
    path = tmp_path / "other.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    assert AgentsImporter().detect(path)


def test_a_folder_and_text_are_not_taken(tmp_path):
    assert AgentsImporter().detect(tmp_path) == "not a file"
    path = tmp_path / "a.json"
    path.write_text("hello", encoding="utf-8")
    assert AgentsImporter().detect(path) == "no JSON in it"


def chained():
    return {
        "question": "How many cars?",
        "rounds": [
            {"chunk": "In May 400 cars.", "message": "400 cars in May."},
            {"chunk": "Nothing here.", "message": "400 cars in May."},
            {"chunk": "In June 12 cars.", "message": "400 in May, 12 in June."},
        ],
        "manager": {"answer": "412 cars."},
    }


def test_each_worker_has_its_chunk_and_the_message_before(graph):
    read = graph(chained())
    assert read.inputs == {
        "message/0": ["chunk/0"],
        "chunk/0": [],
        "message/2": ["chunk/2", "message/0"],
        "chunk/2": [],
        "manager": ["message/2"],
    }
    assert read.origin("chunk/2") is Origin.SOURCE
    assert read.header.terminals == ("manager",)
    assert read.header.question == "How many cars?"
    assert read.said("1 worker passed on the message")


def test_without_a_manager_the_last_message_is_the_answer(graph):
    log = chained()
    del log["manager"]
    read = graph(log)
    assert read.header.terminals == ("message/2",)
    assert read.said("no answer of a manager")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"manager": 3}, "the manager's answer is empty or no text"),
        ({"rounds": [{"chunk": "a", "message": "b"}, {"message": "c"}]}, "worker 1: its chunk is"),
        ({"rounds": [{"chunk": "a", "message": " "}]}, "no worker has a message"),
    ],
)
def test_bad_rounds(graph, change, said):
    with pytest.raises(InputError, match=said):
        graph({**chained(), **change})


def test_the_question_can_be_given(graph):
    assert graph(with_tool(), question="Cars?").header.question == "Cars?"


def test_the_example_is_found_and_keeps_all_rules():
    for one in find_processes(EXAMPLE):
        process = one.open()
        assert process.header.source_format == "agents"
        assert Graph(process).nodes


@pytest.mark.parametrize("layout", ["message", "items", "parts"])
def test_calls_that_were_asked_for_at_once_are_no_inputs_of_each_other(graph, layout):
    asks = [("a", "read", {"file": "f"}), ("b", "list", {"at": "pier"})]
    if layout == "message":
        said = [{"role": "assistant", "content": "", "tool_calls": [
            call(name, given, link) for link, name, given in asks]}]  # fmt: skip
    elif layout == "items":
        said = [
            {"type": "function_call", "call_id": link, "name": name, "arguments": json.dumps(given)}
            for link, name, given in asks
        ]
    else:
        said = [{"role": "assistant", "content": [
            {"type": "tool_use", "id": link, "name": name, "input": given}
            for link, name, given in asks]}]  # fmt: skip
    log = [
        with_tool()[1],
        *said,
        {"role": "tool", "tool_call_id": "b", "content": "Two piers are there, A and B."},
        {"role": "tool", "tool_call_id": "a", "content": LONG},
        {"role": "assistant", "content": "It carried 412 cars."},
    ]
    read = graph(log)
    calls = [name for name, one in read.nodes.items() if one.kind == "tool_call"]
    assert [read.inputs[one] for one in calls] == [["message/0"]] * 2
    (last,) = read.header.terminals
    assert set(calls) < set(read.inputs[last])


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "redacted_thinking", "data": "AbC9" * 30},
         {"type": "thinking", "thinking": "It may be 500.", "signature": "AbC9" * 30}],
        [{"reasoningContent": {"reasoningText": {"text": "It may be 500."}}}],
        [{"thought": True, "text": "It may be 500."}],
        "<think>It may be 500.</think>",
    ],
)  # fmt: skip
def test_thoughts_are_never_the_final_output(graph, content):
    answer = "It carried 412 cars."
    last = content + answer if isinstance(content, str) else [*content, {"text": answer}]
    read = graph([*with_tool()[:-1], {"role": "assistant", "content": last}])
    (terminal,) = read.header.terminals
    thoughts = [one.text for one in read.nodes.values() if one.kind == "thought"]
    assert (read.nodes[terminal].text, thoughts) == (answer, ["It may be 500."])


def test_a_tool_that_returns_what_it_was_handed_is_no_source_text(graph):
    wrong = "The ferry carried 900 cars in the second week of May."
    log = with_tool()
    log[4:4] = [
        {"role": "assistant", "content": "", "tool_calls": [call("note", {"text": wrong}, "c2")]},
        {"role": "tool", "tool_call_id": "c2", "content": json.dumps({"saved": wrong})},
    ]
    read = graph(log)
    assert read.origin("message/5") is Origin.GENERATED
    assert read.inputs["message/5"] == ["message/4"]
    assert read.origin("message/3") is Origin.SOURCE
