"""Runs of Haystack: the outputs of a pipeline's components, and snapshots of a pipeline.

Outputs are what `Pipeline.run(…, include_outputs_from=…)` returns, by component. A snapshot holds
what each component was given and which component sent it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.importers.traces.calls import Call, CallKind, FoundTrace, Trace
from veritrail_graph.graph.importers.traces.process import TRACE_OPTIONS, processes_of

NAME = "haystack"
_UNREAD = "names no components with documents and replies, and is no snapshot"


class HaystackImporter:
    """Reads runs of Haystack."""

    name = NAME
    description = "Haystack pipelines: outputs by component, and snapshots"
    extra = None
    options = TRACE_OPTIONS

    def detect(self, path: Path) -> str | None:
        """By a snapshot's state, or by components that gave documents and replies."""
        value = files.first_record(path)
        is_run = isinstance(value, dict) and (_state(value) is not None or _is_outputs(value))
        return None if is_run else _UNREAD

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """One a run."""
        return processes_of(self.traces(path), NAME, options)

    def traces(self, path: Path) -> Iterator[FoundTrace]:
        """The runs."""
        for number, value in files.values(path):
            where = f"{path}#{number}"
            yield FoundTrace(where, partial(_trace, value, where))


def _state(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    state = value.get("pipeline_state")
    return state if isinstance(state, dict) and "ordered_component_names" in value else None


def _is_outputs(value: Mapping[str, Any]) -> bool:
    parts = [one for one in value.values() if isinstance(one, dict)]
    names = {name for one in parts for name in one}
    return bool(parts) and len(parts) == len(value) and {"documents", "replies"} <= names


def _trace(value: Any, where: str) -> Trace:
    if isinstance(value, InputError):
        raise value
    state = _state(value) if isinstance(value, dict) else None
    if state is not None:
        return Trace(_of_snapshot(state), name="Haystack")
    if not isinstance(value, dict) or not _is_outputs(value):
        raise InputError(f"{where} {_UNREAD}")
    return Trace(_of_outputs(value), name="Haystack")


def _kind(outputs: Mapping[str, Any]) -> CallKind:
    if "replies" in outputs:
        return CallKind.GENERATION
    return CallKind.RETRIEVER if "documents" in outputs else CallKind.OTHER


def _of_outputs(value: Mapping[str, Mapping[str, Any]]) -> list[Call]:
    """Components in the order of their outputs; a generator was given the last prompt before it."""
    calls: list[Call] = []
    prompt: Any = None
    for place, (name, outputs) in enumerate(value.items()):
        kind = _kind(outputs)
        writes = kind is CallKind.GENERATION
        given = _said(prompt) if writes else None
        made = outputs.get("replies") if writes else outputs.get("documents", outputs)
        calls.append(Call(name, name, kind, None, 2 * place, 2 * place + 1, given, made))
        prompt = outputs.get("prompt", outputs.get("messages", prompt))
    return calls


def _said(prompt: Any) -> Any:
    return [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt


def _of_snapshot(state: Mapping[str, Any]) -> list[Call]:
    """A call a component: what it was given, and what others were given by it."""
    inputs, outputs = _data(state.get("inputs")), _data(state.get("pipeline_outputs"))
    sent: dict[str, dict[str, Any]] = {}
    for given in inputs.values():
        for name, parts in given.items() if isinstance(given, dict) else ():
            for part in parts if isinstance(parts, list) else ():
                if isinstance(part, dict) and isinstance(part.get("sender"), str):
                    sent.setdefault(part["sender"], {})[name] = part.get("value")
    for name, made in outputs.items():
        if isinstance(made, dict):
            sent.setdefault(name, {}).update(made)
    senders = {
        name: {
            part["sender"]
            for parts in given.values() if isinstance(parts, list)
            for part in parts if isinstance(part, dict) and isinstance(part.get("sender"), str)
        }
        for name, given in inputs.items() if isinstance(given, dict)
    }  # fmt: skip
    calls = []
    for place, name in enumerate(_in_order({*inputs, *sent}, senders)):
        given = inputs.get(name)
        values = _values(given) if isinstance(given, dict) else None
        made = sent.get(name, {})
        kind = _kind(made)
        writes = kind is CallKind.GENERATION
        text = values.get("prompt", values.get("messages", values)) if writes and values else values
        calls.append(
            Call(
                name, name, kind, None, 2 * place, 2 * place + 1,
                _said(text) if writes else values, made.get("replies", made.get("documents", made)),
            )
        )  # fmt: skip
    return calls


def _data(part: Any) -> dict[str, Any]:
    found = part.get("serialized_data", part) if isinstance(part, dict) else None
    return found if isinstance(found, dict) else {}


def _values(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: [one.get("value") if isinstance(one, dict) else one for one in parts][-1]
        if isinstance(parts, list) and parts
        else parts
        for name, parts in given.items()
    }


def _in_order(names: set[str], senders: Mapping[str, set[str]]) -> list[str]:
    """Components after those that sent them something; a loop of a pipeline is cut anywhere."""
    ordered: list[str] = []
    left = sorted(names)
    while left:
        ready = [one for one in left if not senders.get(one, set()) & set(left) - {one}] or left[:1]
        ordered += ready
        left = [one for one in left if one not in ready]
    return ordered
