"""Tables in which products keep traces: a row is a span, or a trace."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from veritrail_graph.graph.errors import InputError, InvalidProcess
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Origin

ASKED = "How deep is the dock of Aasvik?"
PAGE = "The dock of Aasvik is nine metres deep and was dug in 1911."
ANSWER = "It is nine metres deep."
TRACE = "3c191d03fa8be0653c191d03fa8be065"
BEGAN = datetime(2026, 7, 20, 6, tzinfo=UTC)


def after(seconds: int) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


def times(begin: int, end: int) -> dict[str, datetime]:
    return {"start_time": after(begin), "end_time": after(end)}


def prompt() -> list[dict[str, str]]:
    return [{"role": "user", "content": f"{PAGE}\n{ASKED}"}]


def of_langfuse() -> list[dict[str, Any]]:
    """Enriched observations, as the export to blob storage names their columns."""

    def row(
        name: str, kind: str, above: str | None, given: Any, made: Any, at: int, end: int
    ) -> Any:
        return {
            "id": name, "trace_id": TRACE, "project_id": "p", "parent_observation_id": above,
            "type": kind, "name": name, **times(at, end), "trace_name": "ask",
            "session_id": "evening", "input": json.dumps(given), "output": json.dumps(made),
            "provided_model_name": "gpt-5.4" if kind == "GENERATION" else None,
            "metadata": {"team": "dock"}, "level": "DEFAULT",
        }  # fmt: skip

    return [
        row("ask", "SPAN", None, {"question": ASKED}, ANSWER, 0, 9),
        row("look", "RETRIEVER", "ask", ASKED, [{"page_content": PAGE}], 1, 2),
        row("write", "GENERATION", "ask", prompt(), {"role": "assistant", "content": ANSWER}, 3, 4),
    ]


def of_langsmith() -> list[dict[str, Any]]:
    """Runs, as the bulk export names their columns: inputs and outputs are JSON."""

    def row(
        name: str, kind: str, above: str | None, given: Any, made: Any, at: int, end: int
    ) -> Any:
        return {
            "id": name, "tenant_id": "t", "session_id": "project", "is_root": above is None,
            "trace_id": TRACE, "parent_run_id": above, "run_type": kind, "name": name,
            **times(at, end), "inputs": json.dumps(given), "outputs": json.dumps(made),
            "extra": json.dumps({"metadata": {"ls_model_name": "gpt-5.4"}}), "status": "success",
        }  # fmt: skip

    return [
        row("ask", "chain", None, {"question": ASKED}, {"output": ANSWER}, 0, 9),
        row("look", "retriever", "ask", {"query": ASKED},
            {"documents": [{"page_content": PAGE, "type": "Document"}]}, 1, 2),
        row("write", "llm", "ask", {"messages": [prompt()]},
            {"generations": [[{"text": ANSWER}]]}, 3, 4),
    ]  # fmt: skip


def of_phoenix() -> list[dict[str, Any]]:
    """Spans of a data frame."""

    def row(name: str, kind: str, above: str | None, at: int, end: int, **own: Any) -> Any:
        every = dict.fromkeys(
            ("input.value", "output.value", "llm.input_messages", "llm.output_messages",
             "retrieval.documents")
        )  # fmt: skip
        attributes = {f"attributes.{key}": value for key, value in {**every, **own}.items()}
        return {
            "context.span_id": name, "context.trace_id": TRACE, "parent_id": above, "name": name,
            "span_kind": kind, **times(at, end), "status_code": "OK", **attributes,
        }  # fmt: skip

    return [
        row("ask", "CHAIN", None, 0, 9, **{"input.value": ASKED, "output.value": ANSWER}),
        row("look", "RETRIEVER", "ask", 1, 2,
            **{"input.value": ASKED, "retrieval.documents": [{"document.content": PAGE}]}),
        row("write", "LLM", "ask", 3, 4, **{
            "llm.input_messages": [{"message.role": "user", "message.content": f"{PAGE}\n{ASKED}"}],
            "llm.output_messages": [{"message.role": "assistant", "message.content": ANSWER}],
        }),
    ]  # fmt: skip


def of_mlflow() -> list[dict[str, Any]]:
    """The one row of a search: the spans of a trace."""

    def span(name: str, kind: str, above: str | None, given: Any, made: Any, at: int) -> Any:
        return {
            "trace_id": TRACE, "span_id": name, "parent_span_id": above, "name": name,
            "start_time_unix_nano": at * 1000, "end_time_unix_nano": at * 1000 + 900,
            "attributes": {
                "mlflow.spanType": json.dumps(kind), "mlflow.spanInputs": json.dumps(given),
                "mlflow.spanOutputs": json.dumps(made),
            },
        }  # fmt: skip

    spans = [
        span("ask", "CHAIN", None, {"question": ASKED}, ANSWER, 1),
        span("look", "RETRIEVER", "ask", {"query": ASKED}, [{"page_content": PAGE}], 2),
        span("write", "CHAT_MODEL", "ask", {"messages": prompt()}, {"content": ANSWER}, 3),
    ]
    about = {"mlflow.trace.session": "evening"}
    row = {"trace_id": f"tr-{TRACE}", "state": "OK", "request": ASKED, "response": ANSWER}
    return [{**row, "trace_metadata": about, "spans": spans, "assessments": []}]


def as_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def as_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write them as pandas does: what is no text as Python prints it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


WRITERS = {"parquet": as_parquet, "csv": as_csv}
EXPORTS = {
    "langfuse": of_langfuse, "langchain": of_langsmith, "otlp": of_phoenix, "mlflow": of_mlflow,
}  # fmt: skip


def the_one(path: Path) -> Draft:
    (found,) = find_processes(path)
    draft = found.open()
    assert isinstance(draft, Draft)
    survey(draft)
    return draft


@pytest.mark.parametrize("written", WRITERS)
@pytest.mark.parametrize("exported", EXPORTS)
def test_a_table_of_spans_is_the_trace_that_its_product_writes_as_json(
    exported: str, written: str, tmp_path: Path
) -> None:
    rows = EXPORTS[exported]()
    draft = the_one(WRITERS[written](tmp_path / f"export.{written}", rows))

    assert draft.header.source_format == exported
    assert draft.header.question == ASKED
    by_text = {one.text: one for one in draft.nodes.values()}
    assert by_text[PAGE].origin is Origin.SOURCE
    assert [by_text[ANSWER].node_id] == list(draft.header.terminals)
    joined = set(draft.edges)
    assert (by_text[PAGE].node_id, by_text[ANSWER].node_id) in joined


def test_a_row_of_mlflow_that_holds_its_trace_as_json_is_that_trace(tmp_path: Path) -> None:
    (row,) = of_mlflow()
    info = {"trace_id": f"tr-{TRACE}", "trace_metadata": row["trace_metadata"]}
    trace = json.dumps({"info": info, "data": {"spans": row.pop("spans")}})

    draft = the_one(as_csv(tmp_path / "search.csv", [{**row, "trace": trace, "spans": "[<Span>]"}]))

    assert draft.header.process_id == f"tr-{TRACE}"
    assert PAGE in {one.text for one in draft.nodes.values()}


def test_traces_of_langfuse_as_a_table_are_turns_of_their_session(tmp_path: Path) -> None:
    rows = [
        {"id": f"t{place}", "timestamp": after(place), "name": "ask", "session_id": "evening",
         "input": json.dumps({"question": asked}), "output": json.dumps(said)}
        for place, (asked, said) in enumerate([(ASKED, ANSWER), ("Since when?", "Since 1911.")])
    ]  # fmt: skip

    draft = the_one(as_parquet(tmp_path / "traces.parquet", rows))

    assert [one.text for one in draft.nodes.values()] == [
        ASKED,
        ANSWER,
        "Since when?",
        "Since 1911.",
    ]


def test_ids_maps_and_times_of_parquet_are_read_as_json_writes_them(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from veritrail_graph.graph.importers.tables import records

    name = UUID("12345678123456781234567812345678")
    table = pa.table({
        "id": pa.array([name.bytes], pa.binary(16)),
        "metadata": pa.array([[("team", "dock")]], pa.map_(pa.string(), pa.string())),
        "at": pa.array([BEGAN], pa.timestamp("ms", "UTC")),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "row.parquet")

    assert list(records(tmp_path / "row.parquet")) == [
        (1, {"id": str(name), "metadata": {"team": "dock"}, "at": "2026-07-20T06:00:00+00:00"})
    ]


def test_a_row_that_was_cut_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    path = as_csv(tmp_path / "cut.csv", of_langfuse())
    path.write_text(path.read_text() + "torn,row\n", encoding="utf-8")

    found = list(find_processes(path))

    texts = [one for one in found if one.where.endswith("#4")]
    with pytest.raises((InputError, InvalidProcess), match="not as many columns"):
        texts[0].open()


def test_a_parquet_file_that_is_cut_short_is_refused_in_a_line(tmp_path: Path) -> None:
    path = as_parquet(tmp_path / "spans.parquet", of_langfuse())
    path.write_bytes(path.read_bytes()[:-40])

    with pytest.raises(InputError, match="no parquet file that can be read"):
        list(find_processes(path))
