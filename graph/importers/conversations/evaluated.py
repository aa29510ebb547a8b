"""Records of evaluations that hold conversations: DeepEval's test runs, OpenAI's evals."""

from __future__ import annotations

from typing import Any

from veritrail_graph.graph.importers.columns import spelled
from veritrail_graph.graph.importers.conversations.exported import Exported, inner


def conversations_of(value: dict[str, Any]) -> list[Any] | None:
    """Return the conversations of a test run of DeepEval; None: it has none."""
    names = {spelled(name): one for name, one in value.items()}
    run = names.get("test_run_data", value)
    if not isinstance(run, dict):
        return None
    names = {spelled(name): one for name, one in run.items()}
    tests = names.get("conversational_test_cases")
    return tests if isinstance(tests, list) and tests and not names.get("test_cases") else None


def of_deepeval(value: Any) -> Exported | None:
    """Return the conversation of a test case: what was retrieved for a turn comes before it."""
    turns = value.get("turns") if isinstance(value, dict) else None
    if not isinstance(turns, list) or not turns:
        return None
    messages: list[dict[str, Any]] = []
    has_context = False
    for one in turns:
        if not isinstance(one, dict) or "role" not in one or "content" not in one:
            return None
        by_name = {spelled(name): said for name, said in one.items()}
        found = by_name.get("retrieval_context")
        for text in found if isinstance(found, list) else ():
            has_context = True
            messages.append({"role": "tool", "name": "retriever", "content": text})
        messages.append({"role": one["role"], "content": one["content"]})
    return Exported(messages, {"title": value.get("name")}, is_chat=True) if has_context else None


def of_openai(value: Any) -> Exported | None:
    """Return the sample of an item of an eval run of OpenAI."""
    if not isinstance(value, dict) or value.get("object") != "eval.run.output_item":
        return None
    sample = inner(value, "sample")
    given, made = sample.get("input"), sample.get("output")
    if not isinstance(given, list) or not isinstance(made, list):
        return None
    return Exported([*given, *made], {"id": value.get("id"), "model": sample.get("model")})
