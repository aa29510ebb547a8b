"""Traces of Langfuse, as its page and its API export them: `{trace, observations}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.records import ProcessInput
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.importers.traces.calls import Call, CallKind, Trace
from veritrail_graph.graph.importers.traces.process import TRACE_OPTIONS, process_of
from veritrail_graph.graph.importers.traces.values import nanoseconds, text_or_none

NAME = "langfuse"
_KINDS = {
    "GENERATION": CallKind.GENERATION,
    "TOOL": CallKind.TOOL,
    "RETRIEVER": CallKind.RETRIEVER,
    "EVENT": CallKind.EVENT,
}


class LangfuseImporter:
    """Reads traces of Langfuse."""

    name = NAME
    description = (
        "Langfuse traces with their observations, as its page or its API (v2, v3) export them"
    )
    extra = None
    options = TRACE_OPTIONS

    def detect(self, path: Path) -> str | None:
        """By the observations."""
        value = files.first_record(path)
        return None if _observations(value) is not None else "no trace with observations"

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """One a trace."""
        for number, value in files.values(path):
            where = f"{path}#{number}"
            yield Found(where, partial(_process, value, where, options))


def _observations(value: Any) -> list[Any] | None:
    if not isinstance(value, dict):
        return None
    trace = value.get("trace", value)
    found = value.get("observations")
    if found is None and isinstance(trace, dict):
        found = trace.get("observations")
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        return None
    return found if all("startTime" in one for one in found[:1]) else None


def _process(value: Any, where: str, options: ImportOptions) -> ProcessInput:
    if isinstance(value, InputError):
        raise value
    found = _observations(value)
    if found is None:
        raise InputError(
            f"{where}: a trace must hold the list `observations`, each with a `startTime`. Export "
            "the trace with its observations."
        )
    about = value.get("trace", value)
    trace = Trace(
        [_call(one, where) for one in found],
        trace_id=text_or_none(about.get("id")),
        name=text_or_none(about.get("name")),
        given=about.get("input"),
        made=about.get("output"),
    )
    return process_of(trace, NAME, options)


def _call(one: Mapping[str, Any], where: str) -> Call:
    name = text_or_none(one.get("id"))
    if name is None:
        raise InputError(f"{where}: an observation has no id")
    start = nanoseconds(one.get("startTime"), where)
    end = nanoseconds(one.get("endTime"), where) if one.get("endTime") else start
    return Call(
        name,
        text_or_none(one.get("name")) or str(one.get("type") or "call").lower(),
        _KINDS.get(str(one.get("type")), CallKind.OTHER),
        text_or_none(one.get("parentObservationId")),
        start,
        end,
        one.get("input"),
        one.get("output"),
        text_or_none(one.get("model")),
    )
