"""Conversations as products export them: chats of ChatGPT and Claude, logs of coding agents."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.conversations import exported, listed
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Origin

ASKED = "Which year is carved over the door of the mill at Ekeby?"
NOTE = "Survey of mills: the door of the mill at Ekeby bears the year 1784."
ANSWER = "It is 1784."
MORE, LAST = "And who built it?", "The survey does not say."


def of_chatgpt() -> dict[str, Any]:
    def node(place: str, above: str | None, role: str | None, **content: Any) -> dict[str, Any]:
        author = {"role": role, "name": content.pop("name", None)}
        to = content.pop("to", "all")
        kind = content.pop("kind", "text")
        message = {
            "id": place, "author": author, "recipient": to,
            "content": {"content_type": kind, **content}, "metadata": {"model_slug": "gpt-6-luna"},
        }  # fmt: skip
        return {"id": place, "parent": above, "children": [], "message": message if role else None}

    nodes = [
        node("root", None, None),
        node("memory", "root", "user", kind="user_editable_context", user_profile="Be brief."),
        node("asked", "memory", "user", parts=[ASKED]),
        node("wrong", "asked", "assistant", parts=["It is 1748."]),
        node("search", "asked", "assistant", kind="code", text="search('mill Ekeby')", to="web"),
        node("found", "search", "tool", name="web", parts=[NOTE]),
        node("idea", "found", "assistant", kind="thoughts", thoughts=[{"content": "I read it."}]),
        node("answer", "idea", "assistant", parts=[f"{ANSWER}\ue200cite\ue202turn0\ue201"]),
        node("more", "answer", "user", kind="multimodal_text",
             parts=[{"content_type": "image_asset_pointer", "asset_pointer": "file://1"}, MORE]),
        node("last", "more", "assistant", parts=[LAST]),
    ]  # fmt: skip
    mapping = {one["id"]: one for one in nodes}
    return {"title": "Mill", "mapping": mapping, "current_node": "last", "conversation_id": "c-7"}


def of_claude() -> dict[str, Any]:
    def said(name: str, sender: str, above: str, *parts: Any, **more: Any) -> dict[str, Any]:
        listed = [{"type": "text", "text": one} if isinstance(one, str) else one for one in parts]
        return {
            "uuid": name, "sender": sender, "parent_message_uuid": above, "text": "",
            "content": listed, "attachments": [], "files": [], **more,
        }  # fmt: skip

    survey = {"file_name": "survey.txt", "extracted_content": NOTE}
    use = {"type": "tool_use", "id": "u1", "name": "web_search", "input": {"query": "mill"}}
    page = {"type": "knowledge", "title": "Mills", "text": "Ekeby has one mill."}
    found = {"type": "tool_result", "tool_use_id": "u1", "content": [page]}
    return {
        "uuid": "c-8", "name": "Mill", "chat_messages": [
            said("a", "human", "0", ASKED, attachments=[survey], files=[{"file_name": "door.png"}]),
            said("b", "assistant", "a", "It is 1748."),
            said("c", "assistant", "a", {"type": "thinking", "thinking": "I read."}, use, found,
                 ANSWER),
            said("d", "human", "c", MORE),
            said("e", "assistant", "d", LAST),
        ],
    }  # fmt: skip


def of_openhands() -> list[dict[str, Any]]:
    tool = {"function_name": "execute_bash", "tool_call_id": "t1"}
    return [
        {"id": 0, "source": "user", "action": "message", "args": {"content": ASKED}},
        {"id": 1, "source": "agent", "action": "run", "tool_call_metadata": tool,
         "args": {"command": "cat survey.txt", "thought": "I look.", "is_input": False}},
        {"id": 2, "source": "agent", "observation": "run", "tool_call_metadata": tool,
         "content": NOTE, "extras": {"command": "cat survey.txt"}},
        {"id": 3, "source": "environment", "observation": "agent_state_changed", "content": ""},
        {"id": 4, "source": "agent", "action": "finish", "args": {"final_thought": ANSWER}},
    ]  # fmt: skip


def of_openhands_sdk() -> list[dict[str, Any]]:
    def text(words: str) -> list[dict[str, str]]:
        return [{"type": "text", "text": words}]

    return [
        {"kind": "SystemPromptEvent", "source": "agent", "system_prompt": text("Be brief.")[0]},
        {"kind": "MessageEvent", "source": "user",
         "llm_message": {"role": "user", "content": text(ASKED)}},
        {"kind": "ActionEvent", "source": "agent", "thought": text("I look."), "tool_call_id": "t1",
         "tool_name": "terminal", "action": {"kind": "TerminalAction", "command": "cat survey.txt"},
         "tool_call": {"id": "t1", "name": "terminal", "arguments": '{"command": "cat"}'}},
        {"kind": "ObservationEvent", "source": "environment", "tool_name": "terminal",
         "tool_call_id": "t1", "observation": {"content": text(NOTE)}},
        {"kind": "ActionEvent", "source": "agent", "thought": [], "tool_name": "finish",
         "action": {"kind": "FinishAction", "message": ANSWER}},
    ]  # fmt: skip


def of_swe_agent() -> dict[str, Any]:
    def turn(role: str, kind: str, content: str, **more: Any) -> dict[str, Any]:
        return {"role": role, "message_type": kind, "agent": "main", "content": content, **more}

    history = [
        turn("system", "system_prompt", "You have a shell."),
        turn("user", "demonstration", "A task that was done before.", is_demo=True),
        turn("user", "observation", ASKED),
        turn("assistant", "action", "I look.\n```\ncat survey.txt\n```", thought="I look.",
             action="cat survey.txt\n"),
        turn("user", "observation", NOTE),
        turn("assistant", "action", f"{ANSWER}\n```\nsubmit\n```", thought=ANSWER, action="submit"),
    ]  # fmt: skip
    return {"trajectory": [{"action": "cat survey.txt", "observation": NOTE}], "history": history}


def of_mini_swe_agent() -> dict[str, Any]:
    said = [
        ("system", "You have a shell."), ("user", ASKED),
        ("assistant", "THOUGHT: I look.\n\n```bash\ncat survey.txt\n```"), ("user", NOTE),
        ("assistant", ANSWER),
    ]  # fmt: skip
    messages = [{"role": role, "content": content} for role, content in said]
    info = {"exit_status": "Submitted", "submission": "year: 1784"}
    return {"trajectory_format": "mini-swe-agent-1.1", "messages": messages, "info": info}


def of_tau_bench() -> dict[str, Any]:
    function = {"name": "read", "arguments": '{"file": "survey"}'}
    return {"task_id": 3, "reward": 1.0, "trial": 0, "traj": [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "t1", "function": function}]},
        {"role": "tool", "tool_call_id": "t1", "name": "read", "content": NOTE},
        {"role": "assistant", "content": ANSWER},
    ]}  # fmt: skip


def of_deepeval() -> dict[str, Any]:
    turns = [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": ANSWER, "retrievalContext": [NOTE]},
    ]
    test = {"name": "mill", "turns": turns}
    return {"testRunData": {"testCases": [], "conversationalTestCases": [test]}}


PAIRS = [{"user": ASKED, "ai": ANSWER}, {"user": MORE, "ai": LAST}]
EVERY: dict[str, Any] = {
    "chatgpt": [of_chatgpt()], "claude": [of_claude()], "openhands": of_openhands(),
    "openhands record": {"instance_id": "i-1", "history": of_openhands()},
    "openhands sdk": of_openhands_sdk(), "swe-agent": of_swe_agent(),
    "mini-swe-agent": of_mini_swe_agent(),
    "tau-bench": [of_tau_bench()], "tau2": {"tasks": [], "simulations": [
        {"id": "s-1", "messages": of_tau_bench()["traj"]},
    ]}, "deepeval": of_deepeval(), "pairs": PAIRS,
}  # fmt: skip
CHATS = ("chatgpt", "claude", "deepeval", "pairs")


def texts(tmp_path: Path, value: Any) -> tuple[Any, dict[str, Origin | None]]:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    (found,) = find_processes(path)
    process = found.open()
    survey(process)
    nodes = [one for one in process.records() if hasattr(one, "text")]
    return process.header, {one.text: one.origin for one in nodes}


@pytest.mark.parametrize("name", EVERY)
def test_who_said_what_is_told_apart(name: str, tmp_path: Path) -> None:
    header, found = texts(tmp_path, EVERY[name])

    assert header.source_format == ("dialogue" if name in CHATS else "agents")
    assert found[ASKED] is Origin.GIVEN
    assert found[ANSWER] is Origin.GENERATED
    if name != "pairs":
        assert found[NOTE] is Origin.SOURCE


def test_the_branch_of_a_chat_that_was_seen_last_is_the_conversation(tmp_path: Path) -> None:
    for value in (of_chatgpt(), of_claude()):
        header, found = texts(tmp_path, [value])

        assert "It is 1748." not in found
        assert any("1 message of other branches" in one for one in header.warnings)
        assert any("without text, such as a picture" in one for one in header.warnings)
        assert header.process_id in ("c-7", "c-8")
        assert header.name == "Mill"


def test_a_page_that_a_search_of_claude_returned_is_source_text(tmp_path: Path) -> None:
    _, found = texts(tmp_path, [of_claude()])
    assert found["Ekeby has one mill."] is Origin.SOURCE


def test_a_document_that_claude_wrote_is_part_of_its_answer(tmp_path: Path) -> None:
    value = of_claude()
    value["summary"] = "About a mill."
    body = "# The mill\nIts door bears 1784."
    write = {"type": "tool_use", "id": "u2", "name": "artifacts", "input": {"content": body}}
    receipt = {
        "type": "tool_result",
        "tool_use_id": "u2",
        "content": [{"type": "text", "text": "OK"}],
    }
    value["chat_messages"][2]["content"] += [write, receipt]
    header, found = texts(tmp_path, [value])

    assert found[f"{ANSWER}\n{body}"] is Origin.GENERATED
    assert "OK" not in found
    said = "\n".join(header.warnings)
    for what in ("calls of tools (1)", "receipts for documents", "summary of the conversation"):
        assert what in said


def test_what_pages_said_that_an_answer_of_chatgpt_refers_to_is_source_text(tmp_path: Path) -> None:
    value = of_chatgpt()
    page = {"title": "Mills", "snippet": "The mill at Ekeby was built by Per."}
    answer = value["mapping"]["last"]["message"]
    answer["metadata"]["content_references"] = [{"type": "webpage", **page}, {"items": [page]}, 7]
    value["mapping"]["idea"]["message"]["content"] = {
        "content_type": "reasoning_recap", "content": "Thought for 7 seconds",
    }  # fmt: skip
    value["mapping"]["found"]["message"]["content"]["summary"] = "A survey."
    header, found = texts(tmp_path, [value])

    assert found["The mill at Ekeby was built by Per."] is Origin.SOURCE
    assert any("recaps of thoughts (1)" in one for one in header.warnings)
    assert any("summaries of what a tool returned (1)" in one for one in header.warnings)


def test_what_a_coding_agent_says_beside_its_command_is_kept(tmp_path: Path) -> None:
    value = of_swe_agent()
    value["info"] = {"submission": "diff --git"}
    look, submit = value["history"][3], value["history"][5]
    look |= {"content": "I read it.\n```\ncat survey.txt\n```", "thought": "Surveys may know."}
    submit |= {"content": f"{ANSWER}\n```\nsubmit\n```", "thought": None}
    header, found = texts(tmp_path, value)

    assert found["I read it."] is Origin.GENERATED
    assert found["Surveys may know."] is Origin.GENERATED
    assert found[ANSWER] is Origin.GENERATED
    assert any("submission (1)" in one for one in header.warnings)
    header, found = texts(tmp_path, of_mini_swe_agent())
    assert found["THOUGHT: I look."] is Origin.GENERATED
    assert any("submission (1)" in one for one in header.warnings)


def test_what_of_an_agents_log_is_no_message_is_named(tmp_path: Path) -> None:
    header, _ = texts(tmp_path, of_openhands())
    assert any("agent_state_changed (1)" in one for one in header.warnings)
    header, found = texts(tmp_path, of_swe_agent())
    assert any("1 message of demonstrations" in one for one in header.warnings)
    assert "A task that was done before." not in found


@pytest.mark.parametrize(
    "value",
    [
        {"user": "u-17", "ai": "on", "score": 3},
        {"user": "u-17", "model": "gpt-6-luna"},
        {"mapping": {"a": "b"}},
        [{"source": "user", "action": {}}],
        {"turns": [{"role": "user", "content": "Hm?"}]},
    ],
)
def test_what_only_resembles_an_export_is_none(value: Any) -> None:
    assert exported(value) is None


def twisted(value: Any) -> Iterator[Any]:
    """Yield copies of a value, in each of which one part is of another type."""

    def places(inner: Any) -> Iterator[tuple[Any, Any]]:
        for key, below in inner.items() if isinstance(inner, dict) else enumerate(inner):
            yield inner, key
            if isinstance(below, (dict, list)):
                yield from places(below)

    for number in range(sum(1 for _ in places(value))):
        for other in (None, 7, "x", [], {"x": {}}):
            made = copy.deepcopy(value)
            for place, (holder, key) in enumerate(places(made)):
                if place == number:
                    holder[key] = other
                    break
            yield made


@pytest.mark.parametrize("name", EVERY)
def test_an_export_with_a_part_of_another_type_is_read_or_left_to_others(name: str) -> None:
    for value in twisted(EVERY[name]):
        inner = listed(value)
        for one in [inner, *(inner if isinstance(inner, list) else ())]:
            exported(one)  # it raises nothing


def test_a_chat_whose_messages_go_round_ends(tmp_path: Path) -> None:
    value = of_chatgpt()
    value["mapping"]["root"]["parent"] = "last"

    _, found = texts(tmp_path, [value])

    assert found[ANSWER] is Origin.GENERATED


def test_a_torn_conversation_leaves_the_others_alone(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    torn = {**of_chatgpt(), "mapping": 7}
    path.write_text(json.dumps([of_chatgpt(), torn]), encoding="utf-8")

    first, second = find_processes(path)

    assert first.open().header.process_id == "c-7"
    with pytest.raises(InputError, match=r"json#2: no conversation"):
        second.open()


@pytest.mark.parametrize(
    ("name", "row", "what_to_do"),
    [
        ("a.jsonl", {"context.trace_id": "t", "name": "a"}, "reset_index"),
        ("a.json", {"trace_id": "t", "state": "OK"}, "keep the column spans or trace"),
    ],
)
def test_rows_of_traces_that_lack_a_column_are_told_which(
    name: str, row: Any, what_to_do: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(InputError, match=what_to_do):
        list(find_processes(path))


@pytest.mark.parametrize("name", ["chatgpt", "claude"])
def test_chats_in_which_nothing_was_answered_are_left_out_and_counted(
    name: str, tmp_path: Path
) -> None:
    if name == "chatgpt":
        whole, key = of_chatgpt(), "mapping"
        asked = {one: whole[key][one] for one in ("root", "memory", "asked")}
        empty = [{}, {"root": whole[key]["root"]}, asked]
    else:
        whole, key = of_claude(), "chat_messages"
        empty = [[], whole[key][:1]]
    opened = [{**whole, key: one} for one in empty]
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([*opened, whole]), encoding="utf-8")
    (found,) = find_processes(path)
    assert found.where == f"{path}#{len(empty) + 1}"
    left = f"Left out: {len(empty)} chats in which the assistant said nothing."
    assert left in found.open().header.warnings
    path.write_text(json.dumps(opened), encoding="utf-8")
    (none,) = find_processes(path)
    with pytest.raises(InputError, match="the assistant said nothing in any of its"):
        none.open()


def test_a_document_that_chatgpt_wrote_beside_the_chat_is_what_it_said(tmp_path: Path) -> None:
    letter, change = "Dear parish, the mill bears the year 1748.", "the year 1784 stands there"
    chat = of_chatgpt()
    above = "last"

    def add(role: str, to: str, name: str | None, text: str) -> None:
        nonlocal above
        place = f"canvas-{len(chat['mapping'])}"
        kind: dict[str, Any] = {"content_type": "code", "text": text}
        message = {
            "id": place, "author": {"role": role, "name": name}, "recipient": to,
            "content": kind if role == "assistant" else {"content_type": "text", "parts": [text]},
        }  # fmt: skip
        chat["mapping"][place] = {"id": place, "parent": above, "children": [], "message": message}
        above = chat["current_node"] = place

    create, update = "canmore.create_textdoc", "canmore.update_textdoc"
    add("assistant", create, None, json.dumps({"name": "letter", "content": letter}))
    add("tool", "all", create, "Successfully created text document with textdoc_id: 'x1'.")
    add("assistant", update, None, json.dumps({"updates": [{"replacement": change}]}))
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([chat]), encoding="utf-8")
    (one,) = find_processes(path)
    read = survey(one.open())
    assert any("receipts for documents" in words for words in read.header.warnings)
    draft = one.open()
    written = [
        node.text for node in draft.records()
        if getattr(node, "origin", None) is Origin.GENERATED
    ]  # fmt: skip
    assert any(letter in text for text in written)
    assert any(change in text for text in written)
    assert not any("textdoc_id" in getattr(node, "text", "") for node in draft.records())
