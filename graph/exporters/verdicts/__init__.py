"""Verdicts in the forms of the tools that a process was traced with, for people who look there.

`judged` reads the claims of a process with the ids of the original trace and of its calls. One
module a tool writes them: `langfuse`, `opentelemetry`, `phoenix`, `mlflow`.

A claim without a verdict is never written as unsupported, and a verdict that no model gave is
marked as indicative.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from veritrail_graph.graph.exporters.process_file import Write
    from veritrail_graph.graph.store import Store
    from veritrail_graph.graph.store.export import StoredProcess


class _Form(NamedTuple):
    """A format: the module and function that write it, and the input format that has ids for it."""

    module: str
    function: str
    source_format: str


_FORMS = {
    "langfuse-scores": _Form("langfuse", "write_scores", "langfuse"),
    "otel-events": _Form("opentelemetry", "write_span_events", "otlp"),
    "otel-logs": _Form("opentelemetry", "write_log_records", "otlp"),
    "phoenix-annotations": _Form("phoenix", "write_annotations", "otlp"),
    "mlflow-assessments": _Form("mlflow", "write_assessments", "mlflow"),
}
FORMATS = tuple(_FORMS)


async def write_verdicts(
    name: str, store: Store, stored: StoredProcess, write: Write
) -> dict[str, int]:
    """Write the verdicts of a process in one of `FORMATS`; give how many things were written.

    Raises:
        InputError: The process was not made from a trace of that tool.
    """
    from veritrail_graph.graph.exporters.verdicts.judged import JudgedClaims

    form = _FORMS[name]
    claims = await JudgedClaims.open(store, stored, name, form.source_format)
    module = import_module(f"{__name__}.{form.module}")
    counts: dict[str, int] = await getattr(module, form.function)(claims, write)
    return {**counts, **claims.left_out}
