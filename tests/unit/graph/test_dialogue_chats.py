"""Chats of other programs as dialogues: what is a turn, what a document, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fakes.conversations import Graph

from veritrail_graph.graph.errors import InputError, InvalidProcess
from veritrail_graph.graph.importers.records import NodeRecord
from veritrail_graph.graph.importers.registry import Found, find_processes
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Origin

HOURS = "The museum opens at ten. On Mondays it is closed."


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


def look_up(name: str = "look_up", number: str = "c1") -> dict[str, Any]:
    function = {"name": name, "arguments": '{"what": "hours"}'}
    return said(None, tool_calls=[{"id": number, "type": "function", "function": function}])


def returned(text: Any = HOURS, number: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": number, "content": text}


def visit() -> list[dict[str, Any]]:
    return [
        {"role": "developer", "content": "You are the guide."},
        user("When do you open?"),
        look_up(),
        returned(),
        said("At ten."),
        user("And on Mondays?"),
        said("On Mondays we are closed."),
    ]


def stored(folder: Path, *values: Any, name: str = "chat", format_name: str | None = None) -> Any:
    """The processes of a value, written as a file of JSON, or of JSON Lines for several."""
    path = folder / f"{name}.json{'l' if len(values) > 1 else ''}"
    lines = (one if isinstance(one, str) else json.dumps(one) for one in values)
    path.write_text("\n".join(lines), encoding="utf-8")
    return list(find_processes(path, format_name=format_name))


def graph(found: Found) -> Graph:
    process = found.open()
    assert process.header.source_format == "dialogue"
    return Graph(process)


def turns(read: Graph) -> list[tuple[str, str]]:
    """Who says what, in the order of the turns."""
    kinds = [(one.kind or "", one.text) for name, one in read.nodes.items() if "turn/" in name]
    return [(kind.removesuffix(" turn"), text) for kind, text in kinds]


def kinds(found: Found) -> list[tuple[str, str]]:
    with pytest.raises(InvalidProcess) as caught:
        found.open()
    return [(one.kind, one.where) for one in caught.value.violations]


def test_what_a_tool_returned_is_a_document_of_the_turn_that_used_it(tmp_path: Path) -> None:
    (one,) = stored(tmp_path, {"id": "visit-1", "title": "A visit", "messages": visit()})
    read = graph(one)
    assert (read.header.process_id, read.header.name) == ("visit-1", "A visit")
    assert turns(read) == [
        ("system", "You are the guide."),
        ("user", "When do you open?"),
        ("assistant", "At ten."),
        ("user", "And on Mondays?"),
        ("assistant", "On Mondays we are closed."),
    ]
    assert read.nodes["document/m3"].text == HOURS
    assert read.origin("document/m3") is Origin.SOURCE
    assert dict(read.nodes["document/m3"].metadata) == {"tool": "look_up", "tool_call_id": "c1"}
    assert sorted(read.inputs["turn/m4"]) == ["document/m3", "turn/m0", "turn/m1"]
    assert read.inputs["turn/m6"] == ["turn/m4", "turn/m5"]
    assert read.header.terminals == ("turn/m6",)
    assert read.said("One message only calls a tool")


def test_a_text_that_a_tool_returns_again_is_one_document(tmp_path: Path) -> None:
    log = [*visit(), user("Sure?"), look_up(number="c2"), returned(number="c2"), said("Yes.")]
    read = graph(*stored(tmp_path, log))
    assert [name for name in read.nodes if "document/" in name] == ["document/m3"]
    assert "document/m3" in read.inputs["turn/m10"]


def test_each_line_is_a_conversation_and_a_broken_one_leaves_the_others_alone(
    tmp_path: Path,
) -> None:
    chat = {"messages": [user("Open?"), said("Yes.")]}
    first, broken, alone, last = stored(
        tmp_path, chat, '{"messages": [', {"messages": [user("Hello?")]}, {**chat, "id": "b"}
    )
    assert turns(graph(first)) == [("user", "Open?"), ("assistant", "Yes.")]
    with pytest.raises(InputError, match="line 2"):
        broken.open()
    assert kinds(alone) == [("no_assistant_turn", "turns")]
    assert graph(last).header.process_id == "b"


def test_a_message_a_line_is_one_conversation(tmp_path: Path) -> None:
    (one,) = stored(tmp_path, *visit())
    assert len(turns(graph(one))) == 5


def test_parts_and_refusals_are_texts_and_pictures_are_not(tmp_path: Path) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:"}}
    leaflet = {"type": "document", "title": "Leaflet", "source": {"type": "text", "data": HOURS}}
    log = [
        user([{"type": "text", "text": "What is it?"}, picture, leaflet]),
        said([{"type": "text", "text": "A tram"}, {"type": "text", "text": "of 1901."}]),
        user([picture]),
        said(None, refusal="I cannot tell who that is."),
    ]
    read = graph(*stored(tmp_path, log))
    assert turns(read) == [
        ("user", "What is it?"),
        ("assistant", "A tram\nof 1901."),
        ("assistant", "I cannot tell who that is."),
    ]
    assert read.nodes["document/m0.1"].metadata["title"] == "Leaflet"
    assert read.inputs["turn/m1"] == ["document/m0.1", "turn/m0"]
    assert read.said("2 parts without text, such as pictures, were left out")


def test_functions_of_the_older_interface_are_tools(tmp_path: Path) -> None:
    log = [
        user("Open?"),
        said(None, function_call={"name": "look_up", "arguments": "{}"}),
        {"role": "function", "name": "look_up", "content": HOURS},
        said("From ten."),
        user("Thanks."),
        said("You are welcome."),
    ]
    read = graph(*stored(tmp_path, log))
    assert "document/m2" in read.inputs["turn/m3"]
    assert read.nodes["document/m2"].metadata["tool"] == "look_up"


@pytest.mark.parametrize(
    ("tool", "warning"),
    [
        ("archive_agent", "What another agent returned through a tool is no source text"),
        ("ask_user", "What a person said whom a tool asked is no source text"),
    ],
)
def test_what_somebody_says_through_a_tool_is_no_source_text(
    tmp_path: Path, tool: str, warning: str
) -> None:
    log = visit()
    log[2] = look_up(tool)
    read = graph(*stored(tmp_path, log))
    assert not [name for name in read.nodes if "document/" in name]
    assert read.said(warning)


def test_what_a_tool_returned_after_the_last_turn_is_left_out(tmp_path: Path) -> None:
    read = graph(*stored(tmp_path, [*visit(), look_up(number="c9"), returned("Late.", "c9")]))
    assert not [one for one in read.nodes.values() if one.text == "Late."]
    assert read.said("comes after the assistant's last turn")


def test_messages_of_the_openai_client_are_read(tmp_path: Path) -> None:
    chat = pytest.importorskip("openai.types.chat")
    answer = chat.ChatCompletionMessage(role="assistant", content=None, refusal="I must not.")
    calling = chat.ChatCompletionMessage.model_validate(look_up())
    log = [
        user("Open?"), calling.model_dump(), returned(), said("From ten."),
        user("Who is the director?"), answer.model_dump(),
    ]  # fmt: skip
    read = graph(*stored(tmp_path, {"messages": log}))
    assert [text for _, text in turns(read)][-1] == "I must not."
    assert "document/m2" in read.inputs["turn/m3"]


@pytest.mark.filterwarnings("ignore:The class `InMemoryChatMessageHistory`")
@pytest.mark.parametrize("layout", ["to_dict", "dumped", "history", "store", "chunk"])
def test_messages_of_langchain_are_read(tmp_path: Path, layout: str) -> None:
    messages = pytest.importorskip("langchain_core.messages")
    from langchain_core.chat_history import InMemoryChatMessageHistory
    from langchain_core.load import dumpd

    call = {"name": "look_up", "args": {"what": "hours"}, "id": "c1"}
    ai = messages.AIMessageChunk if layout == "chunk" else messages.AIMessage
    spoken = [
        messages.SystemMessage("You are the guide."),
        messages.HumanMessage("When do you open?"),
        ai("", tool_calls=[call]) if layout != "chunk" else ai(""),
        messages.ToolMessage(HOURS, tool_call_id="c1"),
        ai("At ten.", id="run-1"),
        messages.HumanMessage([{"type": "text", "text": "And on Mondays?"}]),
        ai("", additional_kwargs={"refusal": "I must not say."}),
    ]
    if layout == "chunk":
        del spoken[2]
    history = InMemoryChatMessageHistory(messages=spoken)
    value: Any = {
        "to_dict": lambda: messages.messages_to_dict(spoken),
        "chunk": lambda: messages.messages_to_dict(spoken),
        "dumped": lambda: [dumpd(one) for one in spoken],
        "history": lambda: json.loads(history.model_dump_json()),
        # What a program keeps for RunnableWithMessageHistory, by session.
        "store": lambda: {"visit-7": json.loads(history.model_dump_json())},
    }[layout]()
    read = graph(*stored(tmp_path, value))
    assert turns(read) == [
        ("system", "You are the guide."),
        ("user", "When do you open?"),
        ("assistant", "At ten."),
        ("user", "And on Mondays?"),
        ("assistant", "I must not say."),
    ]
    answer = next(one for one in read.nodes.values() if one.text == "At ten.")
    assert answer.metadata["message_id"] == "run-1"
    assert any("document/" in name for name in read.inputs[answer.node_id])
    assert read.header.process_id == ("visit-7" if layout == "store" else None)


def test_sharegpt_with_tools_is_read(tmp_path: Path) -> None:
    chat = {
        "id": "identity_0",
        "system": "You are the guide.",
        "tools": "[]",
        "conversations": [
            {"from": "human", "value": "When do you open?"},
            {"from": "function_call", "value": '{"name": "look_up", "arguments": {}}'},
            {"from": "observation", "value": HOURS},
            {"from": "gpt", "value": "At ten."},
            {"from": "human", "value": "Thanks."},
            {"from": "gpt", "value": "You are welcome."},
        ],
    }
    one, two = stored(tmp_path, [chat, {**chat, "id": "identity_1"}])
    read = graph(one)
    assert [role for role, _ in turns(read)] == [
        "system", "user", "assistant", "user", "assistant",
    ]  # fmt: skip
    assert "document/m2" in read.inputs["turn/m3"]
    assert graph(two).header.process_id == "identity_1"


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ([user("a"), said(" ")], [("empty_turn", "turns[1] 'm1'")]),
        ([user(""), said("b")], [("empty_turn", "turns[0] 'm0'")]),
        (
            [*([user("a"), said("b")] * 101), {"role": "robot", "content": "e"}],
            [("unknown_role", "turns[202] 'm202'")],
        ),
        (
            [{**user("a"), "id": "x"}, said("b", id="x")],
            [("duplicate_message_id", "message 1")],
        ),
        ([user("a"), said("\ud800")], [("lone_surrogate", "turns[1] 'm1'")]),
        ([user("a"), said(3)], [("unreadable_message", "message 1")]),
        ([user("a"), said("b"), *([user("c")] * 20), "text"], [("no_message", "message 22")]),
        ({"messages": []}, [("no_turns", "turns")]),
        ([user("a"), user("b")], [("no_assistant_turn", "turns")]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(
    tmp_path: Path, log: Any, expected: list[tuple[str, str]]
) -> None:
    (one,) = stored(tmp_path, log, format_name="dialogue")
    assert [(kind, where[: len(place)]) for (kind, where), (_, place) in zip(
        kinds(one), expected, strict=True
    )] == expected  # fmt: skip


def test_a_lone_surrogate_in_what_is_known_of_a_turn_is_refused(tmp_path: Path) -> None:
    (one,) = stored(tmp_path, [user("a"), said("b", model="\ud800")])
    with pytest.raises(InvalidProcess) as caught:
        survey(one.open())
    assert [each.kind for each in caught.value.violations] == ["lone_surrogate"]


def test_what_is_no_conversation_and_logs_of_groups_are_refused(tmp_path: Path) -> None:
    (one,) = stored(tmp_path, {"messages": "none"}, format_name="dialogue")
    with pytest.raises(InputError, match="no conversation") as caught:
        one.open()
    assert caught.value.code == "no_conversation"
    group = [said("Add it up.", name="Planner"), {**user("1295"), "name": "Counter"}]
    (one,) = stored(tmp_path, group, format_name="dialogue")
    with pytest.raises(InputError, match=r"'Planner', 'Counter'.*the format agents") as caught:
        one.open()
    assert caught.value.code == "several_assistants"


def test_a_thousand_turns_are_read_with_as_many_edges(tmp_path: Path) -> None:
    log = [user(f"Question {n}?") if n % 2 == 0 else said(f"Answer {n}.") for n in range(1_000)]
    (one,) = stored(tmp_path, log)
    found = survey(one.open())
    assert sum(found.topology.in_degrees()) == 999


def test_the_same_chat_has_the_same_content_wherever_it_stands(tmp_path: Path) -> None:
    (one,) = stored(tmp_path, visit(), name="one")
    (two,) = stored(tmp_path, {"messages": visit()}, name="two")
    assert survey(one.open()).hash == survey(two.open()).hash


ANSWERED = [user("Open?"), said("Yes.")]
SHAREGPT = [{"from": "human", "value": "Open?"}, {"from": "gpt", "value": "Yes."}]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (ANSWERED, "dialogue"),
        ({"messages": visit()}, "dialogue"),
        ({"conversations": SHAREGPT}, "dialogue"),
        # The tools of the only question: what an agent did to find its answer.
        (visit()[:5], "agents"),
        ([said("Add it up.", name="Planner"), {**user("1295"), "name": "Counter"}], "agents"),
        ({"history": ANSWERED, "mistake_step": 1}, "agents"),
        ({"user_input": ANSWERED, "reference": "Yes."}, "agents"),
        ({"user_input": "Open?", "retrieved_contexts": [HOURS], "response": "Yes."}, "rag"),
    ],
)  # fmt: skip
def test_chats_are_detected_and_logs_of_agents_are_not_taken(
    tmp_path: Path, value: Any, expected: str
) -> None:
    (one,) = stored(tmp_path, value)
    assert one.open().header.source_format == expected


@pytest.mark.parametrize(
    "value",
    [
        [*ANSWERED, {"role": "narrator", "content": "A pause."}],
        {"conversations": [*SHAREGPT, {"from": "narrator", "value": "A pause."}]},
    ],
)
def test_a_role_that_is_not_known_is_refused_and_is_no_name_of_an_agent(
    tmp_path: Path, value: Any
) -> None:
    (one,) = stored(tmp_path, value)
    with pytest.raises(InvalidProcess) as caught:
        one.open()
    (violation,) = caught.value.violations
    is_named_from = isinstance(value, dict)  # a list has the layout of OpenAI
    place = "message 2" if is_named_from else "turns[2] 'm2'"
    assert (violation.kind, violation.where) == ("unknown_role", place)
    assert violation.message.startswith("from is 'narrator'" if is_named_from else "role must be")


def test_nodes_of_a_chat_keep_the_rules_of_a_process(tmp_path: Path) -> None:
    (one,) = stored(tmp_path, visit())
    nodes = [record for record in one.open().records() if isinstance(record, NodeRecord)]
    assert {node.origin for node in nodes} == {Origin.SOURCE, Origin.GIVEN, Origin.GENERATED}
