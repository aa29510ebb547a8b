"""A field that no reader knows, anywhere in a file: its text is kept, or its name is said."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from unit.graph import test_evaluation_rows as records
from unit.graph import test_exported_conversations as conversations

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.records import NodeRecord
from veritrail_graph.graph.importers.registry import find_processes

ASKED, FOUND, SAID = records.ASKED, records.FOUND, records.SAID
ROW = {"question": ASKED, "contexts": [{"text": FOUND}, SAID + " So it is written."],
       "answer": SAID}  # fmt: skip
CALL = {"id": "c", "function": {"name": "look", "arguments": '{"where": "Vik"}'}}
MESSAGES = [
    {"role": "system", "content": "You are brief."},
    {"role": "user", "content": [{"type": "text", "text": ASKED}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": FOUND},
    {"role": "assistant", "content": [{"type": "text", "text": SAID}]},
]
SAMPLED = {"run_id": "r", "event_id": 1, "sample_id": "s", "type": "sampling",
           "data": {"prompt": MESSAGES[1:4], "sampled": [SAID]}}  # fmt: skip
AUTOGEN = [
    {"type": "TextMessage", "source": "user", "content": ASKED},
    {"type": "ToolCallExecutionEvent", "source": "clerk",
     "content": [{"call_id": "c", "content": FOUND, "name": "look"}]},
    {"type": "TextMessage", "source": "clerk", "content": SAID},
]  # fmt: skip
ITEMS = [
    {"role": "user", "content": ASKED},
    {"type": "file_search_call", "results": [{"text": FOUND, "filename": "a"}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAID}]},
]
NODE = {"node": {"id_": "n", "text": FOUND, "metadata": {}}, "score": 0.5}
CHAIN = {"query": ASKED, "workers": [{"chunk": FOUND, "message": "The Dahls."}], "manager": SAID}
EVERY: dict[str, Any] = {
    **{name: one for name, one in conversations.EVERY.items() if name != "pairs"},
    "a row": ROW,
    "rows": {"data": [ROW, {**ROW, "question": "Whose is it?"}]},
    "promptfoo": records.of_promptfoo(),
    "openai's evals": records.of_openai(),
    "trulens": records.of_trulens(),
    "deepeval's rows": {"testRunData": {"testCases": [
        {"input": ASKED, "actualOutput": SAID, "retrievalContext": [FOUND]}]}},
    "oaieval": [{"spec": {"run_id": "r", "eval_name": "e"}}, SAMPLED],
    "ragas": [{"user_input": MESSAGES[1:2], "retrieved_contexts": [FOUND], "response": SAID}],
    "llamaindex": {"query": ASKED, "response": SAID, "source_nodes": [NODE]},
    "a log": {"messages": MESSAGES},
    "logs": [{"messages": MESSAGES}],
    "a request": {"request": {"messages": MESSAGES[:4]},
                  "response": {"choices": [{"message": MESSAGES[4]}]}},
    "a chat": {"messages": [*MESSAGES, {"role": "user", "content": "Sure?"},
                            {"role": "assistant", "content": "Quite sure."}]},
    "autogen": AUTOGEN,
    "responses": {"input": ITEMS[:1], "output": ITEMS[1:]},
    "chain-of-agents": CHAIN,
    "summary": {"chunks": [FOUND, "The bakery is in Vik."], "summary": SAID},
}  # fmt: skip
BY_LINES = ("oaieval", "trulens", "openai's evals")


def objects(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object in a value whose fields have names, with the path to it."""
    has_names = isinstance(value, dict) and not path.endswith("mapping")  # its keys are ids
    if has_names and "spec" not in value:  # the first line of a log of oaieval, which is counted
        yield path, value
    named = value.items() if isinstance(value, dict) else enumerate(value)
    for name, one in named:
        if isinstance(one, (dict, list)) and name not in ("system_prompt", "spec"):
            yield from objects(one, f"{path}.{name}".strip(".") if has_names else path)


def said_of(path: Path) -> str | None:
    """All that is kept or said of a file; None: it is refused."""
    said: list[Any] = []
    try:
        for found in find_processes(path):
            process = found.open()
            said += [process.header.question, *process.header.warnings]
            for one in process.records():
                if isinstance(one, NodeRecord):
                    said += [one.text, one.metadata]
    except InputError:
        return None
    return json.dumps(said, ensure_ascii=False)


@pytest.mark.parametrize("name", EVERY)
def test_a_field_that_nobody_knows_is_kept_or_named_wherever_it_stands(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / ("file.jsonl" if name in BY_LINES else "file.json")
    random = Random(name)
    lost = []
    read = 0
    for place in range(len(list(objects(EVERY[name])))):
        value = copy.deepcopy(EVERY[name])
        where, held = list(objects(value))[place]
        field = "x" + "".join(random.choices("abcdefgh", k=9))
        note = f"The note {place} of {field[::-1]} was never copied."
        held[field] = random.choice([note, [note], {"text": note}, [{"content": {"note": note}}]])
        lines = value if name == "oaieval" else [value]
        path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        said = said_of(path)
        if said is None:
            continue
        read += 1
        parts = where.split(".")
        above = [".".join(parts[: end + 1]) for end in range(len(parts))]
        if not any(one in said for one in (field, note, *(f"'{one}'" for one in above))):
            lost.append({where: {**held, field: "…"}})
    assert not lost
    assert read


PATCH = "Replaces the year that was carved."
BESIDE: dict[str, tuple[Any, str]] = {
    "what a run of OpenHands left": (
        {**conversations.EVERY["openhands record"], "test_result": {"git_patch": PATCH}},
        "One field beside the messages is left out: 'test_result'.",
    ),
    "the task of a simulation of tau2": (
        {**conversations.EVERY["tau2"], "tasks": [{"description": PATCH}]},
        "One field beside the conversations is left out: 'tasks.description'.",
    ),
    "what a grader of OpenAI's evals wrote": (
        {**records.of_openai(), "results": [{"sample": {"output": [{"content": PATCH}]}}]},
        "One field beside question, contexts and answer is left out: "
        "'results.sample.output.content'.",
    ),
    "what Promptfoo tested for": (
        {**records.of_promptfoo(), "config": {"tests": [{"assert": [{"value": PATCH}]}]}},
        "One field beside the rows is left out: 'config.tests.assert.value'.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BESIDE)
def test_texts_beside_what_is_read_are_named_by_their_path(name: str, tmp_path: Path) -> None:
    value, said = BESIDE[name]
    path = tmp_path / "file.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    (found,) = find_processes(path)
    warnings = found.open().header.warnings
    assert [one for one in warnings if "beside" in one and "history.extras" not in one] == [said]


def test_metadata_of_a_run_of_langsmith_is_named_where_it_is_written_as_text(
    tmp_path: Path,
) -> None:
    run = {"id": "r", "trace_id": "r", "run_type": "llm", "name": "ask",
           "start_time": "2026-11-01T10:00:00", "end_time": "2026-11-01T10:00:09",
           "inputs": {"question": ASKED}, "outputs": {"output": SAID},
           "extra": json.dumps({"metadata": {"note": PATCH}})}  # fmt: skip
    path = tmp_path / "file.jsonl"
    path.write_text(json.dumps(run), encoding="utf-8")
    (found,) = find_processes(path)
    assert any("'metadata'" in one for one in found.open().header.warnings)
