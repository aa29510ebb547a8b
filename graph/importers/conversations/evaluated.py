"""Records of evaluations that hold conversations: of DeepEval, RAGAS, and OpenAI's evals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.columns import ANSWER, CONTEXTS, QUESTION, named, spelled
from veritrail_graph.graph.importers.conversations.exported import Exported, inner, left_out, result


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
    """Return the conversation of a test case: what was found or returned for a turn comes first."""
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
        called = by_name.get("tools_called")
        for tool in called if isinstance(called, list) else ():
            if isinstance(tool, dict) and tool.get("output"):
                has_context = True
                messages.append(result(tool["output"], tool.get("name")))
        messages.append({"role": one["role"], "content": one["content"]})
    about = {key: one for key, one in value.items() if key != "turns"}
    about["title"] = value.get("name")
    return Exported(messages, about, is_chat=True) if has_context else None


def is_conversation(question: Any) -> bool:
    """Return whether the question is a list of messages, as RAGAS writes it."""
    return isinstance(question, list) and any(isinstance(one, dict) for one in question)


def of_ragas(value: Any) -> Exported | None:
    """Return a sample of several turns with contexts, which come before the answer, its last."""
    if not isinstance(value, dict):
        return None
    asked, contexts = named(value, QUESTION), named(value, CONTEXTS)
    if asked is None or contexts is None or not is_conversation(value[asked]):
        return None
    messages, found = list(value[asked]), value[contexts]
    answer = named(value, ANSWER)
    if answer is not None:
        messages.append({"role": "assistant", "content": value[answer]})
    given = [
        {"role": "tool", "name": "retriever", "content": text}
        for text in (found if isinstance(found, list) else [found])
    ]
    used = (asked, contexts, answer)
    about = {key: one for key, one in value.items() if key not in used}
    return Exported([*messages[:-1], *given, messages[-1]], about, is_chat=True)


def of_oaieval(value: Any) -> Exported | None:
    """Return what a model sampled, of a log that oaieval recorded; None: it is no such event."""
    data = value.get("data") if isinstance(value, dict) else None
    if not isinstance(data, dict) or value.get("type") != "sampling" or "run_id" not in value:
        return None
    prompt, sampled = data.get("prompt"), data.get("sampled")
    given = prompt if isinstance(prompt, list) else [{"role": "user", "content": prompt}]
    made = sampled if isinstance(sampled, list) else [sampled]
    said = [{"role": "assistant", "content": one} for one in made]
    about = {"id": f"{value.get('sample_id')}/{value.get('event_id')}"}
    return Exported([*given, *said], {**about, "model": data.get("model")}, written=value)


def is_oaieval(value: Any) -> bool:
    """Return whether a line is the first of a log of oaieval."""
    spec = value.get("spec") if isinstance(value, dict) else None
    return isinstance(spec, dict) and "run_id" in spec and "eval_name" in spec


def samples_of_oaieval(values: Iterable[Any]) -> Iterator[Any]:
    """Yield what models sampled, of the lines of a log, and faults.

    The first says what is left out: how samples were judged, and the report.
    """
    counts: Counter[str] = Counter()
    found: list[Any] = []
    for value in values:
        sample = value if isinstance(value, InputError) else of_oaieval(value)
        if sample is not None:
            found.append(sample)
        elif isinstance(value, dict):
            counts[str(value.get("type") or next(iter(value), "entry"))] += 1
    for number, sample in enumerate(found):
        if not number and isinstance(sample, Exported):
            sample.remarks = tuple(left_out(counts))
        yield sample


def of_openai(value: Any) -> Exported | None:
    """Return the sample of an item of an eval run of OpenAI."""
    if not isinstance(value, dict) or value.get("object") != "eval.run.output_item":
        return None
    sample = inner(value, "sample")
    given, made = sample.get("input"), sample.get("output")
    if not isinstance(given, list) or not isinstance(made, list):
        return None
    return Exported([*given, *made], {"id": value.get("id"), "model": sample.get("model")})
