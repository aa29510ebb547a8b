"""Traces that become processes: when they are whole, quiet, late; and what hangs on them."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes.exported_spans import (
    ANSWER,
    NOTE,
    SOURCE,
    exported,
    generation,
    request,
    retrieval,
    root,
    trace,
)

from veritrail_graph.api.app import Application
from veritrail_graph.api.app.ingesting import IngestOptions
from veritrail_graph.api.auth.access import EVERYTHING, Caller
from veritrail_graph.api.auth.audit import Filters
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import EngineUnavailable, InputError, NotFound, StoreFull
from veritrail_graph.graph.importers.records import ClaimRecord
from veritrail_graph.graph.importers.registry import open_input
from veritrail_graph.graph.importers.traces.received import sorted_by_trace
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine

FAR = 3_000.0
"""Seconds of quiet that do not pass in a test."""


@pytest.fixture
def trace_id(store: Store, arun: Any) -> Iterator[str]:
    name = uuid.uuid4().hex
    yield name
    if arun(store.processes.state(name)) is not None:
        arun(store.processes.delete(name))


def receiver(store: Store, home: Path, **settings: Any) -> Application:
    return Application.over(store, Settings(home=home, **{"otlp_quiet": FAR, **settings}))


def age(home: Path, seconds: float) -> None:
    """Let what waits have come so long ago."""
    for path in (home / "otlp" / "waiting").glob("*.json"):
        trace, at, rest = path.name.split(".", 2)
        path.rename(path.with_name(f"{trace}.{int(at) - int(seconds * 1e9):020d}.{rest}"))


def texts(app: Application, arun: Any, process_id: str) -> set[str]:
    out = app.settings.home / f"{uuid.uuid4().hex}.json"
    arun(app.processes.export(process_id, path=out))
    return {one["text"] for one in json.loads(out.read_text(encoding="utf-8"))["nodes"]}


def test_a_trace_waits_for_its_root_and_is_a_process_then(
    store: Store, arun: Any, tmp_path: Path, trace_id: str
) -> None:
    app = receiver(store, tmp_path)
    *inner, last = trace(trace_id)
    taken = arun(app.traces.receive(exported(*inner)))
    assert (taken.spans, taken.traces, taken.rejected, taken.message) == (2, 1, 0, "")
    assert arun(app.traces.store_due()) == 0
    with pytest.raises(NotFound):
        arun(app.processes.get(trace_id))
    arun(app.traces.receive(exported(last)))
    assert arun(app.traces.store_due()) == 1
    assert arun(app.processes.get(trace_id)).nodes == 2
    assert app.traces.figures.stored == {"created": 1}
    assert arun(app.traces.store_due()) == 0
    arun(app.close())


def test_the_process_is_the_one_that_an_import_of_the_same_spans_makes(
    store: Store, arun: Any, tmp_path: Path, trace_id: str
) -> None:
    app = receiver(store, tmp_path)
    for one in trace(trace_id):
        arun(app.traces.receive(exported(one)))
    arun(app.traces.store_due())
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(request(*trace(trace_id))), encoding="utf-8")
    assert open_input(file).header.process_id == trace_id
    assert arun(app.processes.ingest(file)).status == "unchanged"
    arun(app.close())


def test_a_trace_whose_root_is_there_waits_for_a_parent_that_is_not(
    store: Store, arun: Any, tmp_path: Path, trace_id: str
) -> None:
    app = receiver(store, tmp_path)
    arun(app.traces.receive(exported(root(trace_id), generation(trace_id, parent=9))))
    assert arun(app.traces.store_due()) == 0
    age(tmp_path, FAR)
    assert arun(app.traces.store_due()) == 1
    arun(app.close())


def test_a_trace_without_a_root_is_taken_when_it_was_quiet(
    store: Store, arun: Any, tmp_path: Path, trace_id: str
) -> None:
    app = receiver(store, tmp_path)
    arun(app.traces.receive(exported(retrieval(trace_id), generation(trace_id))))
    age(tmp_path, FAR - 60)
    assert arun(app.traces.store_due()) == 0
    age(tmp_path, 60)
    assert arun(app.traces.store_due()) == 1
    assert arun(app.processes.get(trace_id)).nodes == 2
    arun(app.close())


def late(app: Application, arun: Any, *spans: dict[str, Any]) -> None:
    arun(app.traces.receive(exported(*spans)))
    assert arun(app.traces.store_due()) == 0  # others of them may be under way
    age(app.settings.home, FAR)
    assert arun(app.traces.store_due()) == 1


def note(trace_id: str) -> dict[str, Any]:
    """A step that comes late: it reads the answer's source, too."""
    return generation(trace_id, 4, made=NOTE, at=2)


def test_late_spans_are_joined_to_those_that_are_kept(
    store: Store, arun: Any, tmp_path: Path, trace_id: str
) -> None:
    app = receiver(store, tmp_path)
    arun(app.traces.receive(exported(*trace(trace_id))))
    arun(app.traces.store_due())
    late(app, arun, note(trace_id))
    assert app.traces.figures.stored == {"created": 1, "replaced": 1}
    assert texts(app, arun, trace_id) >= {NOTE, ANSWER}
    late(app, arun, note(trace_id))  # sent twice
    assert app.traces.figures.stored["unchanged"] == 1
    kept = (tmp_path / "otlp" / "kept" / f"{trace_id}.jsonl").read_text(encoding="utf-8")
    assert len(kept.splitlines()) == 1 + 4
    arun(app.close())


def claim(app: Application, arun: Any, process_id: str) -> None:
    """Something that hangs on a process."""
    node = arun(app.processes.get(process_id)).terminals[0]
    record = ClaimRecord("The lighthouse was lit in 1884.", "claim 1")
    arun(app.claims.add(process_id, [record], node))


def test_late_spans_are_appended_where_something_hangs_on_the_process(
    store: Store, arun: Any, tmp_path: Path, trace_id: str
) -> None:
    app = receiver(store, tmp_path)
    arun(app.traces.receive(exported(*trace(trace_id))))
    arun(app.traces.store_due())
    claim(app, arun, trace_id)
    late(app, arun, note(trace_id))
    assert app.traces.figures.stored == {"created": 1, "appended": 1}
    assert NOTE in texts(app, arun, trace_id)
    assert arun(app.processes.get(trace_id)).claims == 1
    arun(app.close())


def test_late_spans_that_tell_what_a_text_was_are_appended_beside_it(
    store: Store, arun: Any, tmp_path: Path, trace_id: str
) -> None:
    app = receiver(store, tmp_path)
    asked = f"When was it lit?\n\n{SOURCE}"
    arun(app.traces.receive(exported(generation(trace_id, given=asked))))
    age(tmp_path, FAR)
    arun(app.traces.store_due())  # all that is known: the whole prompt was the question
    claim(app, arun, trace_id)
    late(app, arun, retrieval(trace_id), root(trace_id))
    assert app.traces.figures.stored == {"created": 1, "appended": 1}
    assert SOURCE in texts(app, arun, trace_id)
    late(app, arun, retrieval(trace_id))  # and again: nothing grows
    assert app.traces.figures.stored["unchanged"] + app.traces.figures.stored["appended"] == 2
    assert len(texts(app, arun, trace_id)) == arun(app.processes.get(trace_id)).nodes
    arun(app.close())


def test_what_was_stored_otherwise_is_not_replaced_by_a_part_of_its_trace(
    store: Store, arun: Any, tmp_path: Path, trace_id: str
) -> None:
    app = receiver(store, tmp_path)
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(request(*trace(trace_id))), encoding="utf-8")
    arun(app.processes.ingest(file))
    arun(app.traces.receive(exported(note(trace_id))))
    age(tmp_path, FAR)
    arun(app.traces.store_due())
    assert app.traces.figures.stored == {"appended": 1}
    assert texts(app, arun, trace_id) >= {NOTE, ANSWER}
    arun(app.close())


def test_spans_of_a_deleted_process_are_not_kept(
    store: Store, arun: Any, tmp_path: Path, trace_id: str
) -> None:
    app = receiver(store, tmp_path)
    arun(app.traces.receive(exported(*trace(trace_id))))
    arun(app.traces.store_due())
    arun(app.traces.receive(exported(note(trace_id))))
    arun(app.processes.delete(trace_id))
    left = [path for path in (tmp_path / "otlp").rglob("*") if trace_id in path.name]
    assert left == []
    arun(app.close())


def test_several_traces_of_one_request_are_processes_of_their_own(
    store: Store, arun: Any, tmp_path: Path
) -> None:
    app = receiver(store, tmp_path)
    names = [uuid.uuid4().hex for _ in range(6)]
    spans = [one for each in zip(*map(trace, names), strict=True) for one in each]
    assert arun(app.traces.receive(exported(*spans))).traces == 6
    assert arun(app.traces.store_due()) == 6
    assert [arun(app.processes.get(name)).nodes for name in names] == [2] * 6
    for name in names:
        arun(app.processes.delete(name))
    arun(app.close())


def test_a_trace_without_a_written_text_is_no_process(
    store: Store, arun: Any, tmp_path: Path, trace_id: str, caplog: pytest.LogCaptureFixture
) -> None:
    app = receiver(store, tmp_path)
    plain = {**root(trace_id), "attributes": []}
    with caplog.at_level(logging.WARNING, "veritrail"):
        arun(app.traces.receive(exported(plain)))
        assert arun(app.traces.store_due()) == 1
    assert app.traces.figures.stored == {"empty": 1}
    assert caplog.records == []
    with pytest.raises(NotFound):
        arun(app.processes.get(trace_id))
    arun(app.close())


def test_a_trace_that_cannot_be_stored_keeps_no_other_waiting_and_shows_no_text(
    store: Store, arun: Any, tmp_path: Path, trace_id: str, caplog: pytest.LogCaptureFixture
) -> None:
    app = receiver(store, tmp_path, max_node_text=200)
    bad = uuid.uuid4().hex
    long = "The lighthouse keeper wrote this. " * 20
    arun(app.traces.receive(exported(generation(bad, parent=None, made=long), *trace(trace_id))))
    with caplog.at_level(logging.INFO, "veritrail"):
        assert arun(app.traces.store_due()) == 2
        assert arun(app.traces.store_due()) == 0
    assert app.traces.figures.stored == {"refused": 1, "created": 1}
    said = " ".join(f"{one.getMessage()} {getattr(one, 'fields', '')}" for one in caplog.records)
    assert bad in said
    assert "lighthouse" not in said
    arun(app.close())


def test_an_engine_that_is_down_loses_nothing(
    store: Store, arun: Any, tmp_path: Path, trace_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = receiver(store, tmp_path)
    arun(app.traces.receive(exported(*trace(trace_id))))

    async def down(*_: Any, **__: Any) -> None:
        raise EngineUnavailable("It does not answer.")

    with monkeypatch.context() as patch:
        patch.setattr(app.processes, "ingest_source", down)
        assert arun(app.traces.store_due()) == 1
        assert arun(app.traces.store_due()) == 0  # not again at once
    assert app.traces.figures.stored == {}
    time.sleep(1.1)
    assert arun(app.traces.store_due()) == 1
    assert app.traces.figures.stored == {"created": 1}
    arun(app.close())


def test_another_start_takes_up_what_waits(
    store: Store, arun: Any, tmp_path: Path, trace_id: str
) -> None:
    first = receiver(store, tmp_path)
    arun(first.traces.receive(exported(*trace(trace_id)), Caller("k1", "nightly", EVERYTHING)))
    arun(first.close())

    async def later() -> None:
        second = receiver(store, tmp_path)
        second.traces.start()
        async with asyncio.timeout(60):
            while not second.traces.figures.stored:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        (entry,) = await second.audit.entries(Filters())
        assert (entry.action, entry.target, entry.name) == ("process.ingest", trace_id, "nightly")
        await second.close()

    arun(later())


def test_of_two_services_of_a_home_one_stores(
    store: Store, arun: Any, tmp_path: Path, trace_id: str
) -> None:
    one, other = receiver(store, tmp_path), receiver(store, tmp_path)
    *inner, last = trace(trace_id)
    arun(one.traces.receive(exported(*inner)))
    arun(other.traces.receive(exported(last)))
    assert (arun(other.traces.store_due()), arun(one.traces.store_due())) == (1, 0)
    other_id = uuid.uuid4().hex
    arun(one.traces.receive(exported(*trace(other_id))))
    assert arun(one.traces.store_due()) == 0
    arun(other.close())
    assert arun(one.traces.store_due()) == 1
    arun(one.processes.delete(other_id))
    arun(one.close())


def test_more_than_may_wait_is_refused_and_nothing_is_lost(
    store: Store, arun: Any, tmp_path: Path, trace_id: str
) -> None:
    app = receiver(store, tmp_path, otlp_traces=2)
    *inner, last = trace(trace_id)
    arun(app.traces.receive(exported(*inner, generation(uuid.uuid4().hex))))
    with pytest.raises(StoreFull):
        arun(app.traces.receive(exported(generation(uuid.uuid4().hex))))
    arun(app.traces.receive(exported(last)))  # of a trace that waits already
    arun(app.traces.store_due())
    assert arun(app.processes.get(trace_id)).nodes == 2
    arun(app.close())
    small = receiver(store, tmp_path, otlp_bytes=100)
    arun(small.traces.store_due())  # sees what waits
    with pytest.raises(StoreFull):
        arun(small.traces.receive(exported(last)))
    arun(small.close())


def test_the_oldest_kept_spans_are_dropped_with_a_line_in_the_log(
    store: Store, arun: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = receiver(store, tmp_path, otlp_traces=2)
    names = [uuid.uuid4().hex for _ in range(4)]
    for number, name in enumerate(names[:2]):
        arun(app.traces.receive(exported(*trace(name))))
        arun(app.traces.store_due())
        os.utime(tmp_path / "otlp" / "kept" / f"{name}.jsonl", (number, time.time() - 9 + number))
    arun(app.traces.receive(exported(*trace(names[2]), *trace(names[3]))))
    app.traces._tidied = 0.0
    with caplog.at_level(logging.WARNING, "veritrail"):
        arun(app.traces.store_due())
    kept = {path.stem for path in (tmp_path / "otlp" / "kept").glob("*.jsonl")}
    assert kept == set(names[2:])
    assert any("dropped" in one.getMessage() for one in caplog.records)
    for name in names:
        arun(app.processes.delete(name))
    arun(app.close())


def test_spans_that_are_none_are_counted_and_the_others_taken(
    store: Store, arun: Any, tmp_path: Path, trace_id: str
) -> None:
    app = receiver(store, tmp_path)
    good = trace(trace_id)
    bad = [
        None,
        7,
        {},
        {**root(trace_id), "traceId": "../../../../../../../etc/passwd0"},
        {**root(trace_id), "traceId": "0" * 32},
        {**root(trace_id), "spanId": "x"},
        {**root(trace_id), "startTimeUnixNano": "soon"},
        {**root(trace_id), "attributes": [{"value": {}}]},
        {**root(trace_id), "attributes": 5},
    ]
    found = arun(app.traces.receive(exported(*bad[:3], *good, *bad[3:])))
    assert (found.spans, found.rejected) == (3, len(bad))
    assert "passwd" not in found.message
    assert len(list(tmp_path.rglob("*.json"))) == 1
    for wrong in ([], {"resourceSpans": 5}, {"resourceSpans": [None]}, {"somethingNew": 1}):
        with pytest.raises(InputError):
            arun(app.traces.receive(sorted_by_trace(wrong)))
    assert arun(app.traces.receive(sorted_by_trace({}))).spans == 0
    arun(app.close())


def test_only_its_owner_reads_received_spans_and_no_resource_is_kept(
    store: Store, arun: Any, tmp_path: Path, trace_id: str
) -> None:
    app = receiver(store, tmp_path)
    arun(app.traces.receive(exported(retrieval(trace_id))))
    folder = tmp_path / "otlp"
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert {path.stat().st_mode & 0o777 for path in (folder, folder / "waiting")} == {0o700}
    assert all("SECRET-HOST" not in path.read_text(encoding="utf-8") for path in files)
    arun(app.close())


def test_a_late_span_while_the_process_is_replaced_by_hand_is_appended(
    store: Store, arun: Any, tmp_path: Path, trace_id: str
) -> None:
    app = receiver(store, tmp_path)
    arun(app.traces.receive(exported(*trace(trace_id))))
    arun(app.traces.store_due())
    other = tmp_path / "other.json"
    document = {
        "format": "veritrail.process/1",
        "process_id": trace_id,
        "nodes": [
            {"node_id": "a", "text": "The quay opened in 1901."},
            {"node_id": "t", "text": "The quay is old."},
        ],
        "edges": [{"source": "a", "target": "t"}],
    }
    other.write_text(json.dumps(document), encoding="utf-8")
    arun(app.processes.ingest(other, IngestOptions(replace=True)))
    late(app, arun, note(trace_id))
    assert texts(app, arun, trace_id) >= {"The quay is old.", NOTE}
    arun(app.close())
