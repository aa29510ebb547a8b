"""Whether what a tool returns is source text, by the steps that are recorded inside of it."""

from __future__ import annotations

from typing import Any

import pytest
from unit.graph.test_trace_sources import (
    AGENT,
    ASKED,
    LEDGER,
    LLM,
    OTHER,
    TOOL,
    WRONG,
    at,
    origins,
    read,
    run,
    said,
    user,
)  # fmt: skip

from veritrail_graph.graph.importers.traces.calls import Call
from veritrail_graph.graph.model import Origin

EARLIER = "Laut Kirchenbuch wurde die Mühle am Bach 1687 erbaut."
TURNED = "Laut Kirchenbuch wurde die Mühle am Bach 1702 erbaut."


def tool_with(*inner: Call, result: str = TURNED, name: str = "look") -> Origin | None:
    """The origin of what a tool returned, inside of which calls are recorded."""
    draft = read(
        run(WRONG),
        *inner,
        at(name, TOOL, 1, 9, {"q": "Mühle"}, result),
        at("m", LLM, 10, 11, [user(f"{ASKED} {result}")], said(WRONG)),
    )
    return origins(draft)[result]


@pytest.mark.parametrize("result", [TURNED, "Gefunden: 1702 also, im zweiten Band."])
@pytest.mark.parametrize(
    "inner",
    [
        at("step", OTHER, 2, 3, EARLIER, TURNED, "look", model="m-1"),
        at("POST", OTHER, 2, 3, None, None, "look", model="v1/chat/completions"),
        at("helper", AGENT, 2, 3, {"q": "Mühle"}, TURNED, "look"),
        at("shorten", OTHER, 2, 3, EARLIER, TURNED, "look"),
        at("shorten", OTHER, 2, 3, {"page": f"{LEDGER} {EARLIER}"}, {"text": TURNED}, "look"),
    ],
)
def test_what_a_tool_returns_is_no_source_where_a_step_inside_may_have_written_it(
    inner: Call, result: str
) -> None:
    assert tool_with(inner, result=result) is Origin.GENERATED


@pytest.mark.parametrize(
    "inner",
    [
        at("read", OTHER, 2, 3, {"q": "Mühle"}, TURNED, "look"),
        at("clean", OTHER, 2, 3, f"<p>{TURNED}</p> Mehr dazu.", TURNED, "look"),
        at("sql", OTHER, 2, 3, "SELECT text FROM books WHERE name = 'x' LIMIT 1", TURNED, "look"),
    ],
)
def test_what_a_tool_looked_up_stays_source_text_where_steps_are_recorded_inside(
    inner: Call,
) -> None:
    assert tool_with(inner) is Origin.SOURCE


@pytest.mark.parametrize(
    ("name", "handed", "origin"),
    [
        ("archive_agent", {"q": "Mühle"}, Origin.GENERATED),
        ("archive_agent", {"tool": "call", "arguments": {"q": "Mühle"}}, Origin.GENERATED),
        ("ask_user", {"q": "Mühle"}, Origin.GIVEN),
        ("archive_agent", {"sql": "SELECT 1"}, Origin.SOURCE),
        ("archive", {"q": "Mühle"}, Origin.SOURCE),
    ],
)
def test_a_call_that_only_hands_on_another_one_is_that_of_its_tool(
    name: str, handed: Any, origin: Origin
) -> None:
    assert tool_with(at("send", TOOL, 2, 3, handed, TURNED, name), name=name) is origin


@pytest.mark.parametrize(
    ("tool", "is_asked"),
    [
        ("ask_user", True), ("AskUserQuestion", True), ("ask_human", True), ("human", True),
        ("HumanInputRun", True), ("human_input", True), ("get_user_input", True),
        ("request_user_input", True), ("wait_for_user_reply", True), ("human_assistance", True),
        ("ask_followup_question", True), ("get_user", False), ("get_user_profile", False),
        ("query_customer_orders", False), ("human_resources", False), ("user_manual", False),
        ("ask_archive", False), ("request_user_data", False), ("search", False),
    ],
)  # fmt: skip
def test_what_a_person_says_whom_a_tool_asks_is_no_source_text(tool: str, is_asked: bool) -> None:
    assert tool_with(name=tool) is (Origin.GIVEN if is_asked else Origin.SOURCE)


def test_what_a_person_said_is_no_source_where_another_tool_repeats_it() -> None:
    draft = read(
        run(WRONG),
        at("ask_user", TOOL, 1, 2, {"q": "Jahr?"}, TURNED),
        at("recall", TOOL, 3, 4, {"key": 1}, f"Notiz 1: {TURNED}"),
        at("m", LLM, 10, 11, [user(f"{ASKED} Notiz 1: {TURNED}")], said(WRONG)),
    )
    assert draft.nodes["recall/recall"].origin is Origin.GENERATED
