"""Traces of MLflow: `{info, data: {spans}}`, the `traces.json` of the artifacts, rows of a search.

Traces of its REST API are `{trace_info, spans}`, with spans in the JSON of OTLP. Rows of
`search_traces` hold the trace as a whole, its spans, or both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from veritrail_graph.graph.importers.traces.texts import unfold
from veritrail_graph.graph.importers.traces.values import (
    beside,
    listed_attributes,
    status_of,
    text_or_none,
)

NAME = "mlflow"
_INFO = ("info", "trace_info")
_LONGEST_TIME = 20
"""Digits of a time in nanoseconds."""
_KINDS = {
    "LLM": CallKind.GENERATION,
    "AGENT": CallKind.AGENT,
    "CHAT_MODEL": CallKind.GENERATION,
    "TOOL": CallKind.TOOL,
    "RETRIEVER": CallKind.RETRIEVER,
    "RERANKER": CallKind.RETRIEVER,
    "EVALUATOR": CallKind.JUDGE,
    "GUARDRAIL": CallKind.JUDGE,
}


_READ = ("mlflow.spanInputs", "mlflow.spanOutputs", "mlflow.spanType", "mlflow.traceRequestId")
_BESIDE = (
    "assessments", "tags", "request", "response", "request_preview", "response_preview",
    "trace_metadata", "request_metadata", "expectations",
)  # fmt: skip
"""Fields with words that tell of a trace."""


class MlflowImporter:
    """Reads traces of MLflow."""

    name = NAME
    description = (
        "MLflow traces, as the artifact traces.json, Trace.to_json, search_traces or its REST API "
        "writes them"
    )
    extra = None
    options = TRACE_OPTIONS

    def detect(self, path: Path) -> str | None:
        """By the attributes of its spans."""
        value = files.first_record(path)
        spans = _spans(value)
        if spans and isinstance(spans[0], dict) and "span_id" in _with_context(spans[0]):
            return None if _is_own(value, spans) else "its spans hold no attributes of MLflow"
        if isinstance(value, dict) and "trace_id" in value and value.keys() & _OF_ROWS:
            return "rows of search_traces without their spans: keep the column spans or trace"
        return "no spans of MLflow"

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """One a trace."""
        return processes_of(self.traces(path), NAME, options)

    def traces(self, path: Path) -> Iterator[FoundTrace]:
        """The traces."""
        for number, value in files.values(path):
            where = f"{path}#{number}"
            yield FoundTrace(where, partial(_trace, value, where))


_OF_ROWS = {"trace_metadata", "execution_duration", "request_time", "assessments", "state"}
"""Columns of `search_traces` beside the spans."""


def _spans(value: Any) -> list[Any] | None:
    if not isinstance(value, dict):
        return None
    value = _whole(value)
    data = unfold(value["data"]) if isinstance(value.get("data"), str) else value.get("data", value)
    spans = data.get("spans") if isinstance(data, dict) else None
    return spans if isinstance(spans, list) else None


def _whole(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the trace that a row of `search_traces` holds, or the value itself."""
    trace = value.get("trace")
    trace = unfold(trace) if isinstance(trace, str) else trace
    return trace if isinstance(trace, dict) and ("data" in trace or "spans" in trace) else value


def _is_own(value: Any, spans: list[Any]) -> bool:
    """Return whether spans are MLflow's: tracers of all kinds have a list of that name."""
    if isinstance(value, dict) and "trace_info" in value:
        return True
    attributes = [one.get("attributes") for one in spans if isinstance(one, dict)]
    own = any(
        isinstance(some, dict) and any(str(name).startswith("mlflow.") for name in some)
        for some in attributes
    )
    others = any(isinstance(some, dict) and some for some in attributes)
    return own or not others or (isinstance(value, dict) and "info" in value)


def _with_context(span: Mapping[str, Any]) -> Mapping[str, Any]:
    """A span with its ids beside the rest, also of the second version of the format."""
    context = span.get("context")
    if isinstance(context, dict):
        return {**span, **context, "parent_span_id": span.get("parent_id")}
    return span


def _trace(value: Any, where: str) -> Trace:
    if isinstance(value, InputError):
        raise value
    spans = _spans(value)
    if spans is None:
        raise InputError(
            f"{where}: a trace of MLflow must hold the list `spans`: keep the column spans or trace"
        )
    whole = _whole(value)
    info = next((whole[one] for one in _INFO if isinstance(whole.get(one), dict)), value)
    calls, warnings = calls_of(enumerate(spans, start=1), partial(_call, where=where), where)
    trace_id = text_or_none(info.get("trace_id") or info.get("request_id"))
    if trace_id is None and spans and isinstance(spans[0], dict):
        about = spans[0].get("attributes")
        about = about if isinstance(about, dict) else {}
        trace_id = text_or_none(_value(about.get("mlflow.traceRequestId")))
    told = [*beside(info, _BESIDE), *(beside(value, _BESIDE) if info is not value else ())]
    return Trace(calls, trace_id, warnings=warnings, session=_session(info), beside=told)


def _session(info: Mapping[str, Any]) -> str | None:
    about = info.get("trace_metadata", info.get("request_metadata"))
    return text_or_none(about.get("mlflow.trace.session")) if isinstance(about, dict) else None


def _call(numbered: tuple[int, Any], where: str) -> Call:
    number, span = numbered
    if not isinstance(span, dict):
        raise InputError(f"{where}: span {number} is no object")
    span = _with_context(span)
    name = text_or_none(span.get("span_id"))
    if name is None:
        raise InputError(f"{where}: span {number} has no span_id")
    about = span.get("attributes") or {}
    if isinstance(about, list):
        about = _of_otlp(about, f"{where}: span {shown(name)}")
    if not isinstance(about, dict):
        raise InputError(f"{where}: span {shown(name)}: `attributes` must be an object")
    start = _time(span, "start_time")
    end = _time(span, "end_time") or start
    model = _value(about.get("mlflow.llm.model")) or _value(about.get("mlflow.chat.model"))
    return Call(
        name,
        text_or_none(span.get("name")) or "span",
        _KINDS.get(str(_value(about.get("mlflow.spanType"))), CallKind.OTHER),
        text_or_none(span.get("parent_span_id")),
        start,
        end,
        _value(about.get("mlflow.spanInputs")),
        _value(about.get("mlflow.spanOutputs")),
        writing_model(model, _value(about.get("mlflow.spanType")), span.get("name")),
        error=status_of(span),
        beside=[(key, _value(one)) for key, one in about.items() if key not in _READ],
    )


def _of_otlp(listed: list[Any], where: str) -> dict[str, Any]:
    """Attributes in the JSON of OTLP, as MLflow keeps them: texts are JSON."""
    import json

    found = listed_attributes(listed, where)
    return {key: json.dumps(one) if isinstance(one, str) else one for key, one in found.items()}


def _time(span: Mapping[str, Any], name: str) -> int:
    value = span.get(f"{name}_unix_nano", span.get(name)) or 0
    digits = str(value) if isinstance(value, (int, float, str)) else ""
    is_time = digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_TIME
    return int(digits) if is_time else 0


def _value(text: Any) -> Any:
    """An attribute, which MLflow keeps as JSON."""
    import json

    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
