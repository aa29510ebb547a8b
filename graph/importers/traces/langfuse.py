"""Traces of Langfuse, as its page and its API export them: `{trace, observations}`.

Pages of the API (`{data, meta}`) and observations alone are read, too, also with the names that
exports to blob storage use, and as the tables that these are: Parquet and CSV.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.importers.traces.calls import (
    Call,
    CallKind,
    FoundTrace,
    Trace,
    writing_model,
)
from veritrail_graph.graph.importers.traces.process import TRACE_OPTIONS, processes_of
from veritrail_graph.graph.importers.traces.reading import calls_of
from veritrail_graph.graph.importers.traces.values import beside, nanoseconds, text_or_none

NAME = "langfuse"
_KINDS = {
    "GENERATION": CallKind.GENERATION,
    "AGENT": CallKind.AGENT,
    "TOOL": CallKind.TOOL,
    "RETRIEVER": CallKind.RETRIEVER,
    "EVALUATOR": CallKind.JUDGE,
    "GUARDRAIL": CallKind.JUDGE,
    "EVENT": CallKind.EVENT,
}


_TYPES = frozenset((
    *_KINDS, "SPAN", "AGENT", "CHAIN", "EVALUATOR", "EMBEDDING", "GUARDRAIL",
))  # fmt: skip
_TRACE, _START = ("traceId", "trace_id"), ("startTime", "start_time")
_MODEL = ("model", "providedModelName", "provided_model_name")
_STATUS_MESSAGE = ("statusMessage", "status_message")
_BESIDE = ("metadata", "promptName", "prompt_name", "comments")
_BESIDE_TRACE = ("metadata", "tags", "scores", "comments")
"""Fields with words beside what an observation, or a trace, was given and gave."""
_SESSION, _NAME = ("sessionId", "session_id"), ("traceName", "trace_name")


class LangfuseImporter:
    """Reads traces of Langfuse."""

    name = NAME
    description = (
        "Langfuse traces with their observations, as its page, its API (v2, v3) or its storage "
        "export (Parquet, CSV, JSON) writes them"
    )
    extra = None
    options = TRACE_OPTIONS

    def detect(self, path: Path) -> str | None:
        """By the observations."""
        for value in _entries(files.first_record(path)):
            if _observations(value) is not None or _is_observation(value):
                return None
            break
        return "no trace with observations, and no observations with a traceId"

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """One a trace."""
        return processes_of(self.traces(path), NAME, options)

    def traces(self, path: Path) -> Iterator[FoundTrace]:
        """The traces; observations that stand alone are put together by their trace."""
        alone: dict[str, list[Any]] = {}
        for number, value in files.values(path):
            entries = _entries(value)
            for place, one in enumerate(entries, start=1):
                where = f"{path}#{number}" + (f".{place}" if len(entries) > 1 else "")
                if _is_observation(one):
                    trace_id = str(files.first_of(one, _TRACE))
                    alone.setdefault(trace_id, []).append(one)
                else:
                    yield FoundTrace(where, partial(_trace, one, where))
        for trace_id, observations in alone.items():
            where = f"{path}#{trace_id}"
            first = observations[0]
            session = files.first_of(first, _SESSION)
            about = {"id": trace_id, "name": files.first_of(first, _NAME), "sessionId": session}
            value = {"trace": about, "observations": observations}
            yield FoundTrace(where, partial(_trace, value, where))


def _entries(value: Any) -> list[Any]:
    """Return what a page of the API holds, or the value itself."""
    data = value.get("data") if isinstance(value, dict) else None
    return data if isinstance(data, list) and _observations(value) is None else [value]


def _is_observation(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and files.first_of(value, _TRACE) is not None
        and files.first_of(value, _START) is not None
        and str(value.get("type")) in _TYPES
    )


def _observations(value: Any) -> list[Any] | None:
    if not isinstance(value, dict):
        return None
    trace = value.get("trace", value)
    found = value.get("observations")
    if found is None and isinstance(trace, dict):
        found = trace.get("observations")
    if not isinstance(found, list):
        return None
    first = found[0] if found else {"startTime": None}
    if not isinstance(first, dict) or not any(name in first for name in _START):
        return None
    return found


def is_session(value: Any) -> bool:
    """Return whether it is a session, or a page of traces of sessions, as the API gives them.

    Their traces hold what the whole was given and gave, and ids of observations or none.
    """
    traces = _of_session(value)
    return any(isinstance(one, dict) and any(name in one for name in _SESSION) for one in traces)


def session_traces(value: Any, where: str) -> Iterator[FoundTrace]:
    """The traces of a session, or of a page of traces."""
    for place, one in enumerate(_of_session(value), start=1):
        yield FoundTrace(f"{where}.{place}", partial(_bare, one, f"{where}.{place}"))


def _of_session(value: Any) -> list[Any]:
    if isinstance(value, dict):
        listed = value.get("traces", value.get("data"))
        value = listed if isinstance(listed, list) else [value]
    value = value if isinstance(value, list) else []
    first = value[0] if value else None
    is_trace = isinstance(first, dict) and {"timestamp", "input", "output"} <= first.keys()
    return value if is_trace and not _is_observation(first) else []


def _bare(value: Any, where: str) -> Trace:
    """A trace of a session; of one without observations, what the whole was given and gave."""
    if not isinstance(value, dict):
        raise InputError(f"{where}: a trace must be an object")
    if _observations(value):
        return _trace(value, where)
    at = nanoseconds(value.get("timestamp"), f"{where}, timestamp")
    return Trace(
        [],
        trace_id=text_or_none(value.get("id")),
        name=text_or_none(value.get("name")),
        given=value.get("input"),
        made=value.get("output"),
        session=text_or_none(files.first_of(value, _SESSION)),
        began=at,
    )


def _trace(value: Any, where: str) -> Trace:
    if isinstance(value, InputError):
        raise value
    found = _observations(value)
    if found is None:
        only_ids = isinstance(value, dict) and isinstance(value.get("observations"), list)
        how = "it lists ids alone. " if only_ids and value["observations"] else ""
        raise InputError(
            f"{where}: a trace must hold the list `observations`, each with a `startTime`; {how}"
            "Export the trace with its observations (GET /api/public/traces/ID), or its "
            "observations (GET /api/public/v2/observations?fields=core,basic,io)."
        )
    about = value.get("trace", value)
    about = about if isinstance(about, dict) else {}
    calls, warnings = calls_of(enumerate(found, start=1), partial(_call, where=where), where)
    return Trace(
        calls,
        trace_id=text_or_none(about.get("id")),
        name=text_or_none(about.get("name")),
        given=about.get("input"),
        made=about.get("output"),
        warnings=warnings,
        session=text_or_none(files.first_of(about, _SESSION)),
        beside=beside(about, _BESIDE_TRACE),
    )


def _call(numbered: tuple[int, Any], where: str) -> Call:
    number, one = numbered
    if not isinstance(one, dict):
        raise InputError(f"{where}: observation {number} is no object")
    name = text_or_none(one.get("id"))
    if name is None:
        raise InputError(f"{where}: observation {number} has no id")
    where = f"{where}: observation {shown(name)}"
    start = nanoseconds(files.first_of(one, _START), f"{where}, startTime")
    ended = files.first_of(one, ("endTime", "end_time"))
    said = text_or_none(files.first_of(one, _STATUS_MESSAGE))
    return Call(
        name,
        text_or_none(one.get("name")) or str(one.get("type") or "call").lower(),
        _KINDS.get(str(one.get("type")), CallKind.OTHER),
        text_or_none(files.first_of(one, ("parentObservationId", "parent_observation_id"))),
        start,
        nanoseconds(ended, f"{where}, endTime") if ended else start,
        one.get("input"),
        one.get("output"),
        writing_model(files.first_of(one, _MODEL), one.get("type"), one.get("name")),
        error=said if one.get("level") == "ERROR" else None,
        beside=beside(
            one, _BESIDE if one.get("level") == "ERROR" else (*_BESIDE, *_STATUS_MESSAGE)
        ),
    )
