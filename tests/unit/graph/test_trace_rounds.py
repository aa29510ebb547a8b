"""Runs that were recorded as one call: a model, what tools gave it, and the model again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from unit.graph.test_trace_sources import (
    ANSWER,
    ASKED,
    LEDGER,
    WRONG,
    at,
    final,
    into,
    origins,
    read,
    run,
)
from unit.graph.test_traces import LLM, TOOL, said, user

from veritrail_graph.graph.importers.traces.calls import CallKind
from veritrail_graph.graph.model import Origin

AGENT = CallKind.AGENT
LOOKED = 'look({"ort":"Bach"})'
GIVEN = {"ort": "Bach"}


def by_model(*parts: Any) -> Any:
    """The process in which a model was asked, and gave these parts in one answer."""
    made = [{"role": "assistant", "parts": list(parts)}]
    return read(at("m", LLM, 1, 2, [user(ASKED)], made, None))


SAID = {"type": "text", "content": ANSWER}


@pytest.mark.parametrize(
    "parts",
    [
        [{"type": "server_tool_call", "id": "c", "name": "look", "server_tool_call": GIVEN},
         {"type": "server_tool_call_response", "id": "c", "server_tool_call_response": LEDGER}],
        [{"type": "server_tool_use", "id": "c", "name": "look", "input": GIVEN},
         {"type": "archive_search_tool_result", "tool_use_id": "c", "content": LEDGER}],
        [{"type": "mcp_call", "id": "c", "name": "look", "arguments": json.dumps(GIVEN),
          "output": LEDGER}],
        [{"type": "look_call", "id": "c", "ort": "Bach", "results": LEDGER}],
        [{"toolUse": {"toolUseId": "c", "name": "look", "input": GIVEN}},
         {"toolResult": {"toolUseId": "c", "content": [{"text": LEDGER}]}}],
    ],
)  # fmt: skip
def test_what_the_vendors_tools_returned_is_no_part_of_the_answer(parts: Any) -> None:
    draft = by_model(*parts, SAID)
    assert origins(draft) == {
        ASKED: Origin.GIVEN, LOOKED: Origin.GENERATED, LEDGER: Origin.SOURCE,
        ANSWER: Origin.GENERATED,
    }  # fmt: skip
    assert final(draft) == ANSWER
    assert into(draft, LEDGER) == set()
    assert into(draft, LOOKED) == {ASKED}
    assert into(draft, ANSWER) == {ASKED, LOOKED, LEDGER}


def test_a_result_of_the_vendors_tools_in_the_history_is_source_text() -> None:
    before = {"role": "assistant", "parts": [
        {"type": "server_tool_call_response", "id": "c", "server_tool_call_response": LEDGER},
        {"type": "text", "content": WRONG},
    ]}  # fmt: skip
    draft = read(at("m", LLM, 1, 2, [user(ASKED), before, user("Und?")], said(ANSWER), None))
    assert origins(draft)[LEDGER] is Origin.SOURCE
    assert origins(draft)[WRONG] is Origin.GENERATED


def test_a_summary_of_earlier_messages_is_generated_and_no_part_of_the_answer() -> None:
    draft = by_model({"type": "compaction", "content": WRONG}, SAID)
    assert origins(draft)[WRONG] is Origin.GENERATED
    assert final(draft) == ANSWER
    assert WRONG in into(draft, ANSWER)


def test_a_part_of_an_unknown_kind_is_named_and_no_part_of_the_answer() -> None:
    draft = by_model({"type": "hologram", "payload": {"caption": WRONG}}, SAID)
    assert {one.text for one in draft.nodes.values()} == {ASKED, ANSWER}
    assert any(
        "kind that is not known" in one and "hologram" in one for one in draft.header.warnings
    )


def test_a_refusal_is_the_answer() -> None:
    draft = read(at("m", LLM, 1, 2, [user(ASKED)], [
        {"role": "assistant", "content": None, "refusal": ANSWER}
    ], None))  # fmt: skip
    assert final(draft) == ANSWER


HISTORY = [
    {"role": "assistant", "tool_calls": [{"id": "c", "name": "look", "arguments": GIVEN}]},
    {"role": "tool", "tool_call_id": "c", "content": LEDGER},
    {"role": "assistant", "content": ANSWER},
]


@pytest.mark.parametrize("inside", [[], [at("m", LLM, 1, 2, None, None)]])
@pytest.mark.parametrize(
    "made", [HISTORY, json.dumps(HISTORY), {"messages": [user(ASKED), *HISTORY]}]
)
def test_the_messages_of_an_agent_without_recorded_models_are_its_rounds(
    made: Any, inside: list[Any]
) -> None:
    draft = read(at("run", AGENT, 0, 100, [user(ASKED)], made, None), *inside)
    assert origins(draft) == {
        ASKED: Origin.GIVEN, LOOKED: Origin.GENERATED, LEDGER: Origin.SOURCE,
        ANSWER: Origin.GENERATED,
    }  # fmt: skip
    assert final(draft) == ANSWER
    assert into(draft, ANSWER) == {ASKED, LOOKED, LEDGER}
    assert {one.metadata.get("call") for one in draft.nodes.values()} <= {None, "run"}


def test_the_messages_of_an_agent_whose_models_are_recorded_are_those_that_are_recorded() -> None:
    draft = read(
        at("run", AGENT, 0, 100, [user(ASKED)], HISTORY, None),
        at("m1", LLM, 1, 2, [user(ASKED)], HISTORY[0]),
        at("look", TOOL, 3, 4, GIVEN, LEDGER, link="c"),
        at("m2", LLM, 5, 6, [user(ASKED), *HISTORY[:2]], HISTORY[2]),
    )
    assert len(draft.nodes) == 4
    assert draft.header.warnings == ()


def test_a_result_among_an_agents_messages_that_no_step_was_given_is_named() -> None:
    draft = read(
        run(ANSWER),
        at("agent", AGENT, 1, 50, [user(ASKED)], HISTORY, "run"),
        at("m1", LLM, 1, 2, [user(ASKED)], said(ANSWER), "agent"),
    )
    assert any("agent/agent" in one and "left out" in one for one in draft.header.warnings)


@pytest.mark.parametrize("wrap", [
    lambda content, found: {"content": content, "grounding_metadata": {"grounding_chunks": found}},
    lambda content, found: {
        "candidates": [{"content": content, "groundingMetadata": {"groundingChunks": found}}]
    },
])  # fmt: skip
def test_passages_that_the_vendor_looked_up_for_an_answer_are_source_text(wrap: Any) -> None:
    found = [{"retrieved_context": {"title": "Buch", "text": LEDGER}}, {"web": {"uri": "u"}}]
    made = wrap({"role": "model", "parts": [{"text": ANSWER}]}, found)
    draft = read(at("m", LLM, 1, 2, [user(ASKED)], made, None))
    assert origins(draft)[LEDGER] is Origin.SOURCE
    assert into(draft, ANSWER) == {ASKED, LEDGER}
    assert final(draft) == ANSWER
