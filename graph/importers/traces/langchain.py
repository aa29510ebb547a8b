"""Runs of LangChain and LangSmith: lists of runs, or trees of them, as `RunTree` writes them.

State histories of LangGraph (`get_state_history`, or the checkpoints of a thread in SQLite or a
dump of PostgreSQL) are read, too: each step's writes are outputs. Of a single state its messages
are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.importers.traces import checkpoint_dumps, checkpoints
from veritrail_graph.graph.importers.traces.asked import of_run
from veritrail_graph.graph.importers.traces.calls import Call, CallKind, FoundTrace, Trace
from veritrail_graph.graph.importers.traces.process import TRACE_OPTIONS, processes_of
from veritrail_graph.graph.importers.traces.reading import calls_of
from veritrail_graph.graph.importers.traces.texts import pieces, unfold
from veritrail_graph.graph.importers.traces.values import beside, nanoseconds, text_or_none

NAME = "langchain"
_START = "__start__"
"""The step of LangGraph that writes what a graph was called with into its state."""
_States = tuple[list[dict[str, Any]], list[str]]
_KINDS = {
    "llm": CallKind.GENERATION,
    "chat_model": CallKind.GENERATION,
    "tool": CallKind.TOOL,
    "retriever": CallKind.RETRIEVER,
}


_BESIDE = ("tags", "feedback", "feedback_stats", "reference_example", "events")


class LangChainImporter:
    """Reads runs of LangChain."""

    name = NAME
    description = (
        "LangSmith runs and LangChain run trees, state histories and checkpoints of LangGraph"
    )
    extra = None
    options = TRACE_OPTIONS

    def detect(self, path: Path) -> str | None:
        """By the keys of a run or of a state, or the table of checkpoints."""
        if checkpoints.is_database(path):
            return checkpoints.fault_of(path)
        if checkpoint_dumps.is_dump(path):
            return None
        value = files.first_record(path)
        value = value.get("runs", value) if isinstance(value, dict) else value
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, dict) and (_is_run(value) or _is_state(value)):
            return None
        return "no runs (run_type, inputs) and no states (values, next)"

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """One a trace, in the order of their first runs; a state history is one."""
        return processes_of(self.traces(path), NAME, options)

    def traces(self, path: Path) -> Iterator[FoundTrace]:
        """The traces, in the order of their first runs; a state history is one."""
        if checkpoints.is_database(path):
            for thread in checkpoints.threads_of(path):
                yield FoundTrace(f"{path}#{thread}", partial(
                    _of_thread, f"{path}#{thread}", thread,
                    partial(checkpoints.states_of, path, thread),
                ))  # fmt: skip
            return
        if checkpoint_dumps.is_dump(path):
            for thread, rows in checkpoint_dumps.threads_in(path).items():
                where = f"{path}#{thread}"
                states_of = partial(checkpoint_dumps.states_in, rows, where)
                yield FoundTrace(where, partial(_of_thread, where, thread, states_of))
            return
        runs: dict[str, list[Mapping[str, Any]]] = {}
        states: list[Mapping[str, Any]] = []
        for number, value in files.values(path):
            where = f"{path}#{number}"
            if isinstance(value, InputError):
                yield FoundTrace.failing(where, value)
                continue
            listed = value.get("runs") if isinstance(value, dict) else value
            for one in listed if isinstance(listed, list) else [value]:
                if isinstance(one, dict) and _is_run(one):
                    for run in _flat(one):
                        trace = run.get("trace_id") or one.get("id")
                        runs.setdefault(str(trace), []).append(run)
                elif isinstance(one, dict) and _is_state(one):
                    states.append(one)
                else:
                    error = InputError(f"{where}: neither a run nor a state of LangGraph")
                    yield FoundTrace.failing(where, error)
        for trace_id, some in runs.items():
            yield FoundTrace(f"{path}#{trace_id}", partial(_trace, trace_id, some, str(path)))
        if states:
            yield FoundTrace(str(path), partial(_history, states))


def _is_run(value: Mapping[str, Any]) -> bool:
    return "run_type" in value and ("inputs" in value or "outputs" in value)


def _is_state(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("values"), dict) and "next" in value and "metadata" in value


def _flat(run: Mapping[str, Any], above: str | None = None) -> Iterator[Mapping[str, Any]]:
    """A run and those below it."""
    waiting: list[tuple[Mapping[str, Any], str | None]] = [(run, above)]
    while waiting:
        one, parent = waiting.pop()
        yield {**one, "parent_run_id": one.get("parent_run_id") or parent}
        below = one.get("child_runs")
        waiting += [
            (child, one.get("id"))
            for child in reversed(below if isinstance(below, list) else [])
            if isinstance(child, dict)
        ]


def _trace(trace_id: str, runs: list[Mapping[str, Any]], where: str) -> Trace:
    calls, warnings = calls_of(enumerate(runs, start=1), partial(_call, where=where), where)
    session = next(filter(None, map(_thread, runs)), None)
    return Trace(calls, trace_id, warnings=warnings, session=session)


def _thread(run: Mapping[str, Any]) -> str | None:
    """The thread of a run. Source: LangSmith, "Configure threads"."""
    about = _about(run)
    return text_or_none(files.first_of(about, ("thread_id", "session_id", "conversation_id")))


def _about(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """The metadata of a run."""
    extra = run.get("extra")
    extra = unfold(extra) if isinstance(extra, str) else extra
    about = extra.get("metadata") if isinstance(extra, dict) else None
    about = run.get("metadata") if about is None else about
    return about if isinstance(about, dict) else {}


def _call(numbered: tuple[int, Mapping[str, Any]], where: str) -> Call:
    number, run = numbered
    name = text_or_none(run.get("id"))
    if name is None:
        raise InputError(f"{where}: run {number} of a trace has no id")
    where = f"{where}: run {shown(name)}"
    start = nanoseconds(run.get("start_time"), f"{where}, start_time")
    ended = run.get("end_time")
    kind = _KINDS.get(str(run.get("run_type")), CallKind.OTHER)
    made = run.get("outputs")
    if kind is CallKind.TOOL and isinstance(made, dict) and set(made) == {"output"}:
        made = made["output"]  # LangSmith puts any value that is no object below this name
    return Call(
        name,
        text_or_none(run.get("name")) or str(run.get("run_type")),
        kind,
        text_or_none(run.get("parent_run_id")),
        start,
        nanoseconds(ended, f"{where}, end_time") if ended else start,
        run.get("inputs"),
        made,
        _model(run),
        error=text_or_none(run.get("error")),
        beside=[("metadata", _about(run)), *beside(run, _BESIDE)],
    )


def _model(run: Mapping[str, Any]) -> str | None:
    return text_or_none(_about(run).get("ls_model_name"))


def _of_thread(where: str, thread: str, read: Callable[[], _States]) -> Trace:
    """The history of a thread whose checkpoints a database or a dump holds."""
    states, warnings = read()
    if not states:
        raise InputError(f"{where}: it has checkpoints of inner graphs alone")
    found = _history(states)
    return replace(found, trace_id=thread, session=thread, warnings=[*found.warnings, *warnings])


def _history(states: Sequence[Mapping[str, Any]]) -> Trace:
    """A call a step: it was given the values before, and gave what is new in those after it."""
    if len(states) == 1:
        return _of_one_state(states[0]["values"])
    ordered = sorted(states, key=lambda one: _step(one))
    calls, before, asked = [], dict[str, Any](), dict[str, tuple[str, Any]]()
    first = ordered[0]["values"]
    for number, state in enumerate(ordered):
        values = state["values"]
        made = {}
        for key, value in values.items():
            old = before.get(key)
            if value == old:
                continue
            grown = isinstance(value, list) and isinstance(old, list) and value[: len(old)] == old
            made[key] = value[len(old) :] if grown and old is not None else value
        if number:
            writes = state["metadata"].get("writes")
            wrote = list(writes) if isinstance(writes, dict) else []
            nodes = wrote or _next(ordered[number - 1])
            name = "+".join(map(str, nodes)) or f"step {number}"
            if nodes == [_START]:
                first = first or made
                asked |= _called_with(made)
                made = _as_said(made, asked)
            kind = _kind_of(made)
            # Nothing says what a tool was handed.
            given = None if kind is CallKind.TOOL else _as_said(before, asked)
            calls.append(
                Call(str(number), name, kind, None, 2 * number, 2 * number + 1, given, made)
            )
        before = values
    last = calls[-1].made if calls else None
    said = before.get("messages")
    return Trace(calls, None, "LangGraph", given=first, made=last, said=said)


def _called_with(values: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """Return the texts, by their keys, that a graph was called with, and what says whose they are.

    LangGraph keeps what a graph was called with as what its first step, `__start__`, wrote.
    """
    documents = {one.piece.key for one in of_run(values) if one.is_document}
    return {
        key: (
            one,
            {"page_content": one} if key in documents else {"role": "user", "content": one},
        )
        for key, one in values.items()
        if isinstance(one, str) and one
    }


def _as_said(values: Mapping[str, Any], said: Mapping[str, tuple[str, Any]]) -> dict[str, Any]:
    """Return values in which it stands of a text that a graph was called with whose it is."""
    return {
        key: said[key][1] if key in said and said[key][0] == one else one
        for key, one in values.items()
    }


def _of_one_state(values: Mapping[str, Any]) -> Trace:
    """A call a message that a model or a tool wrote: it was given the messages before it.

    Other values of the state are left out: nothing says which of them was there first.
    """
    calls: list[Call] = []
    asked: list[Any] = []
    messages = values.get("messages")
    messages = messages if isinstance(messages, list) else []
    for number, message in enumerate(messages):
        roles = {one.role for one in pieces(message)}
        if roles & {"assistant", "call"}:
            kind, given = CallKind.GENERATION, messages[:number]
        elif "tool" in roles:
            kind, given = CallKind.TOOL, None
        else:
            asked += [message] if not calls else []
            continue
        about = message.get("name") if isinstance(message, dict) else None
        name = text_or_none(about) or ("model" if kind is CallKind.GENERATION else "tool")
        at = 2 * number
        calls.append(Call(str(number), name, kind, None, at, at + 1, given, message))
    others = [key for key in values if key != "messages"]
    warnings = []
    if messages and others:
        warnings.append(
            "A single state was exported, of which only `messages` is read; left out: "
            f"{', '.join(map(shown, others[:5]))}. Export the whole history "
            "(get_state_history) to see which step wrote them."
        )
    last = calls[-1].made if calls else None
    return Trace(calls, None, "LangGraph", given=asked, made=last, warnings=warnings, said=messages)


def _step(state: Mapping[str, Any]) -> int:
    step = state["metadata"].get("step") if isinstance(state["metadata"], dict) else None
    return step if isinstance(step, int) else 0


def _next(state: Mapping[str, Any]) -> list[Any]:
    following = state.get("next")
    return list(following) if isinstance(following, (list, tuple)) else []


def _kind_of(made: Any) -> CallKind:
    """Return what made the new values of a state: a model, tools, or something else."""
    roles = {one.role for one in pieces(made)}
    if roles & {"assistant", "call"}:
        return CallKind.GENERATION
    return CallKind.TOOL if "tool" in roles else CallKind.OTHER
