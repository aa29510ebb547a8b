"""Checkpoints of LangGraph in a database of SQLite."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Origin

ASKED = "When was the weir at Bro built, and how high is it?"
PAGE = "The weir at Bro was built in 1902."
FOUND = "The weir at Bro is four metres high."
ANSWER = "It was built in 1902 and is four metres high."
PYDANTIC = 5


def packed(value: Any) -> bytes:
    return msgspec.msgpack.encode(value)


def made(of_class: str, **fields: Any) -> msgspec.msgpack.Ext:
    """An object as LangGraph packs one of pydantic."""
    return msgspec.msgpack.Ext(PYDANTIC, packed(["langchain_core", of_class, fields, "validate"]))


def history() -> list[dict[str, Any]]:
    """The values of each checkpoint of a thread: a question, a document, a call, its result."""
    asked = made("HumanMessage", content=ASKED, type="human")
    call = {"name": "measure", "args": {"what": "weir"}, "id": "c1", "type": "tool_call"}
    calls = made("AIMessage", content="", type="ai", tool_calls=[call])
    result = made("ToolMessage", content=FOUND, type="tool", tool_call_id="c1", name="measure")
    answer = made("AIMessage", content=ANSWER, type="ai")
    context = [made("Document", page_content=PAGE, type="Document")]
    return [
        {"__start__": {"messages": [asked]}},
        {"messages": [asked], "branch:to:look": None},
        {"messages": [asked], "context": context, "branch:to:agent": None},
        {"messages": [asked, calls], "context": context, "branch:to:tools": None},
        {"messages": [asked, calls, result], "context": context, "branch:to:agent": None},
        {"messages": [asked, calls, result, answer], "context": context},
    ]


def database(path: Path, *, kind: str = "msgpack", inner: int = 0) -> Path:
    """A database with two threads, as the saver makes it."""
    with closing(sqlite3.connect(path)) as made_in:
        made_in.execute(
            "CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, "
            "parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB)"
        )
        rows = [
            (thread, "", f"id-{step}", None, kind, packed({"channel_values": values}),
             json.dumps({"step": step - 1}).encode())
            for thread in ("t-1", "t-2") for step, values in enumerate(history())
        ]  # fmt: skip
        rows += [("t-1", f"sub:{place}", "id-0", None, kind, b"", b"") for place in range(inner)]
        made_in.executemany("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        made_in.commit()
    return path


def test_each_thread_is_a_process_with_its_steps(tmp_path: Path) -> None:
    first, second = find_processes(database(tmp_path / "checkpoints.db", inner=2))
    draft = first.open()

    assert isinstance(draft, Draft)
    survey(draft)
    assert (draft.header.process_id, second.open().header.process_id) == ("t-1", "t-2")
    assert draft.header.question == ASKED
    by_text = {one.text: one for one in draft.nodes.values()}
    assert by_text[PAGE].origin is by_text[FOUND].origin is Origin.SOURCE
    assert draft.header.terminals == (by_text[ANSWER].node_id,)
    joined = {source for source, target in draft.edges if target == by_text[ANSWER].node_id}
    assert {by_text[PAGE].node_id, by_text[FOUND].node_id} <= joined
    assert by_text[ANSWER].step == "agent"
    assert any("2 checkpoints of graphs within" in one for one in draft.header.warnings)


def test_nothing_is_left_beside_a_database_that_is_read(tmp_path: Path) -> None:
    path = database(tmp_path / "checkpoints.db")
    with closing(sqlite3.connect(path)) as made_in:
        made_in.execute("PRAGMA journal_mode = WAL")

    for found in find_processes(path):
        found.open()

    assert [one.name for one in tmp_path.iterdir()] == ["checkpoints.db"]


def test_what_a_tool_wrote_into_the_state_of_an_export_is_source_text(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    steps: list[dict[str, Any]] = [
        {"messages": [{"type": "human", "content": ASKED}]},
        {"messages": [{"type": "human", "content": ASKED}, {"type": "tool", "content": FOUND}]},
    ]
    states = [{"values": values, "next": ["tools"], "metadata": {"step": place}}
              for place, values in enumerate(steps)]  # fmt: skip
    last = [*steps[-1]["messages"], {"type": "ai", "content": ANSWER}]
    states.append({"values": {"messages": last}, "next": [], "metadata": {"step": 2}})
    path.write_text(json.dumps(states), encoding="utf-8")

    (found,) = find_processes(path)

    nodes = [one for one in found.open().records() if hasattr(one, "text")]
    assert {one.text: one.origin for one in nodes}[FOUND] is Origin.SOURCE


def test_an_object_is_its_fields_and_no_class_is_looked_up(tmp_path: Path) -> None:
    from veritrail_graph.graph.importers.traces.checkpoints import _decoded

    harmful = msgspec.msgpack.Ext(0, packed(["os", "system", "touch /tmp/never"]))
    of_array = msgspec.msgpack.Ext(6, b"\x00")
    assert _decoded(packed([harmful, of_array])) == ["touch /tmp/never", None]


@pytest.mark.parametrize("kind", ["pickle", "msgpack+aes", None])
def test_checkpoints_of_another_type_are_refused_with_a_way_out(kind: Any, tmp_path: Path) -> None:
    first, _ = find_processes(database(tmp_path / "checkpoints.db", kind=kind))
    with pytest.raises(InputError, match=r"only msgpack and json are read.*get_state_history"):
        first.open()


@pytest.mark.parametrize(
    "blob",
    [b"", b"\xc1", packed([]), packed({}), packed({"channel_values": 7}), b"\x91" * 5_000],
)
def test_a_damaged_checkpoint_is_named(blob: bytes, tmp_path: Path) -> None:
    path = database(tmp_path / "checkpoints.db")
    with closing(sqlite3.connect(path)) as made_in:
        made_in.execute("UPDATE checkpoints SET checkpoint = ? WHERE thread_id = 't-1'", (blob,))
        made_in.commit()

    first, second = find_processes(path)

    with pytest.raises(InputError, match="#t-1: checkpoint 'id-0': it"):
        first.open()
    assert second.open().header.process_id == "t-2"


def test_another_database_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as made_in:
        made_in.execute("CREATE TABLE items (id TEXT)")
        endless = (
            "WITH RECURSIVE n(thread_id) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT * FROM n"
        )
        made_in.execute(f"CREATE VIEW checkpoints AS {endless}")
        made_in.commit()
    torn = tmp_path / "torn.db"
    torn.write_bytes(path.read_bytes()[:100])

    for one, said in ((path, "no table of checkpoints of LangGraph"), (torn, "no database")):
        with pytest.raises(InputError, match=said):
            find_processes(one)


def test_what_a_graph_without_messages_was_called_with_is_given_in_every_turn(
    tmp_path: Path,
) -> None:
    more, last = "And who built the weir?", "The page does not say who built it."
    text = "Bro lies on the river Lo, which floods each April."
    later = "Weirs on the river Lo are built by the parish that owns the mill."

    def state(step: int, following: list[str], **values: Any) -> dict[str, Any]:
        return {"values": values, "next": following, "metadata": {"step": step}}

    called = {"query_text": ASKED, "context": text, "locale": "en"}
    found = {**called, "docs": [{"page_content": PAGE, "metadata": {}}]}
    again = {**found, "query_text": more, "context": later}
    history = [
        state(-1, ["__start__"]),
        state(0, ["look"], **called),
        state(1, ["write"], **found),
        state(2, [], **found, answer=ANSWER),
        state(3, ["__start__"], **found, answer=ANSWER),
        state(4, ["write"], **again, answer=ANSWER),
        state(5, [], **again, answer=last),
    ]
    path = tmp_path / "history.json"
    path.write_text(json.dumps(history[::-1]), encoding="utf-8")
    (one,) = find_processes(path)
    draft = one.open()
    assert isinstance(draft, Draft)
    survey(draft)
    assert draft.header.question == ASKED
    origins = {node.text: node.origin for node in draft.nodes.values()}
    assert origins.pop("en", Origin.GIVEN) is Origin.GIVEN
    assert origins == {
        ASKED: Origin.GIVEN, text: Origin.SOURCE, PAGE: Origin.SOURCE, ANSWER: Origin.GENERATED,
        more: Origin.GIVEN, later: Origin.SOURCE, last: Origin.GENERATED,
    }  # fmt: skip
