"""Records of tools of evaluation as rows of question, contexts and answer.

Read are results of Promptfoo, items of OpenAI's evals, and records of TruLens: their answer stands
elsewhere than in a column, and so do the contexts of TruLens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from veritrail_graph.graph.importers.traces.texts import unfold

_ITEM = "eval.run.output_item"
_RETRIEVED = re.compile(r"retriev|search|lookup|get_context", re.IGNORECASE)
_FEEDBACK = (" calls", "_calls")
_CONTEXTS = ("context", "source", "contexts", "statement")
_PROMPT = re.compile(r"\[[^\]]+\] .+", re.DOTALL)
_RESULT = re.compile(r"\[(PASS|FAIL|ERROR)\]\s*")


class RecordRow(dict[str, Any]):
    """A row that was made of a record.

    Attributes:
        record: The record, as the tool wrote it.
    """

    def __init__(self, row: Mapping[str, Any], record: Mapping[str, Any]) -> None:
        super().__init__(row)
        self.record = record


def results_of(value: Mapping[str, Any]) -> list[Any] | None:
    """Return the results of an evaluation of Promptfoo; None: it is none."""
    held = value.get("results")
    inner = held.get("results") if isinstance(held, dict) else held
    first = inner[0] if isinstance(inner, list) and inner else None
    return inner if isinstance(first, dict) and "vars" in first and "prompt" in first else None


def as_row(record: Any) -> Any:
    """Return the row that a record of a known tool says; else the record itself."""
    if not isinstance(record, dict):
        return record
    if "vars" in record and "prompt" in record and "response" in record:
        return RecordRow(_of_promptfoo(record), record)
    if record.get("object") == _ITEM:
        return RecordRow(_of_openai(record), record)
    if "record_id" in record and ("record_json" in record or "app_id" in record):
        return RecordRow(_of_trulens(record), record)
    return record


def _of_promptfoo(record: Mapping[str, Any]) -> dict[str, Any]:
    own, response = record["vars"], record["response"]
    made = response.get("output") if isinstance(response, dict) else None
    prompt = record["prompt"]
    provider, grading = record.get("provider"), record.get("gradingResult")
    return {
        **(own if isinstance(own, dict) else {}),
        "answer": made if isinstance(made, str) or made is None else _json(made),
        "prompt": prompt.get("raw") if isinstance(prompt, dict) else prompt,
        "provider": provider.get("id") if isinstance(provider, dict) else provider,
        "success": record.get("success"),
        "reason": grading.get("reason") if isinstance(grading, dict) else None,
        "promptfoo_id": record.get("id"),
    }


def _of_openai(record: Mapping[str, Any]) -> dict[str, Any]:
    own, sample = record.get("datasource_item"), record.get("sample")
    own = own if isinstance(own, dict) else {}
    made = sample.get("output") if isinstance(sample, dict) else None
    listed = made if isinstance(made, list) else []
    texts = [one.get("content") for one in listed if isinstance(one, dict)]
    said = "\n".join(text for text in texts if isinstance(text, str))
    model = sample.get("model") if isinstance(sample, dict) else None
    about = {"item_id": record.get("id"), "status": record.get("status"), "answered_by": model}
    return {**own, **about, "answer": said or None}


def _of_trulens(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with what its retrievers returned, or what its feedback was given."""
    whole = record.get("record_json")
    whole = unfold(whole) if isinstance(whole, str) else whole
    found = list(_returned(whole))
    if not found:
        found = list(_judged(record))
    left = {key: one for key, one in record.items() if key != "record_json"}
    return {**left, "contexts": list(dict.fromkeys(found)) or None}


def _returned(whole: Any) -> Iterator[str]:
    calls = whole.get("calls") if isinstance(whole, dict) else None
    for one in calls if isinstance(calls, list) else ():
        stack = one.get("stack") if isinstance(one, dict) else None
        last = stack[-1] if isinstance(stack, list) and stack else None
        method = last.get("method") if isinstance(last, dict) else None
        name = method.get("name") if isinstance(method, dict) else None
        if isinstance(name, str) and _RETRIEVED.search(name):
            yield from _texts(one.get("rets"))


def _judged(record: Mapping[str, Any]) -> Iterator[str]:
    for name, calls in record.items():
        if not name.endswith(_FEEDBACK) or "context" not in name.lower():
            continue
        calls = unfold(calls) if isinstance(calls, str) else calls
        for one in calls if isinstance(calls, list) else ():
            args = one.get("args") if isinstance(one, dict) else None
            for key in _CONTEXTS:
                if isinstance(args, dict) and args.get(key) is not None:
                    yield from _texts(args[key])
                    break


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value.strip():
        yield value
    elif isinstance(value, list):
        for one in value:
            text = one
            if isinstance(one, dict):
                text = next(
                    (one[key] for key in ("page_content", "text", "content") if key in one), None
                )
            if isinstance(text, str) and text.strip():
                yield text


def answers_in(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a line of Promptfoo's table, one for each prompt; none: it is none.

    The heading of a column names provider and prompt, its cells begin with the result of a test.
    """
    rows = []
    results = {
        name: found
        for name, text in row.items()
        if _PROMPT.fullmatch(name) and isinstance(text, str) and (found := _RESULT.match(text))
    }
    for name, found in results.items():
        own = {key: one for key, one in row.items() if key not in results}
        said = row[name][found.end() :].removeprefix("---\n")
        rows.append({**own, "answer": said, "prompt": name, "result": found[1]})
    return rows


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
