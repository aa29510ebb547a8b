"""Files of received spans: joined without reading spans, and those of earlier versions, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from veritrail_graph.api.app.span_files import SpanFiles
from veritrail_graph.api.auth.access import EVERYTHING, Caller
from veritrail_graph.graph.importers.traces import received
from veritrail_graph.graph.importers.traces.received import TraceSpans, joined, process_of_files

TRACE = "1" * 32
CALLER = Caller("k1", "nightly", EVERYTHING)


def span(number: int, parent: int | None) -> dict[str, Any]:
    return {
        "trace_id": TRACE, "span_id": f"{number:016x}", "name": "s", "start": 1, "end": 2,
        "parent_id": None if parent is None else f"{parent:016x}", "events": [],
        "attributes": {"openinference.span.kind": "LLM", "input.value": "The quay is old.",
                       "output.value": f"Quay {number} is old."},
    }  # fmt: skip


def test_spans_that_were_sent_twice_are_kept_once_and_their_sender_is_known(tmp_path: Path) -> None:
    files = SpanFiles(tmp_path)
    files.add(TRACE, TraceSpans.of([span(2, 1)]), CALLER)
    files.add(TRACE, TraceSpans.of([span(2, 1), span(1, None)]), CALLER)
    (waiting,) = files.waiting()
    shapes = [files.shape(name) for name in waiting.files]
    assert [shape and shape.has_root for shape in shapes] == [False, True]
    sender = files.sender(waiting.files[-1])
    assert sender is not None
    assert (sender.key_id, sender.scopes) == ("k1", EVERYTHING)
    assert files.keep(waiting, "abc") == 2
    assert files.kept_hash(TRACE) == "abc"
    assert (files.waiting(), files.are_there(waiting)) == ([], False)


def test_whether_a_trace_is_whole_is_seen_without_reading_its_spans(tmp_path: Path) -> None:
    file = tmp_path / "spans"
    file.write_bytes(b"{}\n" + received.Shape.of([span(1, None)]).line() + b"no JSON\n")
    assert received.shape_in(file).has_root


def test_files_of_the_earlier_form_are_read(tmp_path: Path) -> None:
    by = {"key_id": "k1", "name": "nightly", "scopes": ["read"], "request_id": None}
    old, kept = tmp_path / "old.json", tmp_path / "kept.jsonl"
    old.write_text(json.dumps({"by": by, "spans": [span(1, None)]}), "utf-8")
    kept.write_text(f'{{"content_hash": "abc"}}\n{json.dumps(span(2, 1))}\n', "utf-8")
    assert received.shape_in(old) == received.Shape.of([span(1, None)])
    assert list(map(json.loads, joined([kept, old]))) == [span(2, 1), span(1, None)]
    texts = {node.text for node in process_of_files(TRACE, [kept, old]).nodes.values()}
    assert texts >= {"Quay 1 is old.", "Quay 2 is old."}
