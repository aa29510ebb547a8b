"""`veritrail_record.opentelemetry` on the installed SDK: what an ingest of its exports makes."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import context as contexts
from opentelemetry import trace as api
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from recorded_file import checked, edges, nodes
from with_opentelemetry import ANSWER, PAGE, generate, generate_with_events, retrieve, run

from veritrail_graph.graph.importers.registry import ImportOptions, find_processes
from veritrail_graph.graph.ingest.check import survey
from veritrail_record import opentelemetry as module
from veritrail_record.opentelemetry import RecordingSpanProcessor

NOTE = "Boats steer by the lamp of Varnholm when they come from the north."


@contextmanager
def recorded(folder: Path, **options: Any) -> Iterator[tuple[Any, InMemorySpanExporter]]:
    """A tracer whose spans are recorded, and exported too."""
    provider, exporter = TracerProvider(shutdown_on_exit=False), InMemorySpanExporter()
    processor = RecordingSpanProcessor(folder, quiet=True, **options)
    provider.add_span_processor(processor)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    try:
        yield provider.get_tracer("test"), exporter
    finally:
        provider.shutdown()


def wait_for(files: Any, count: int) -> list[Path]:
    end = time.monotonic() + 10
    while len(found := sorted(files())) < count and time.monotonic() < end:
        time.sleep(0.01)
    return found


def as_exported(folder: Path, exporter: InMemorySpanExporter) -> dict[str, Any]:
    """The processes of the spans that were exported to a file."""
    path = folder.with_suffix(".json")
    path.write_text("\n".join(one.to_json(None) for one in exporter.get_finished_spans()))
    found = [one.open() for one in find_processes(path, options=ImportOptions())]
    return {str(one.header.process_id): one for one in found}


@pytest.mark.parametrize("write", [generate, generate_with_events])
def test_a_trace_is_the_process_that_an_ingest_of_its_export_makes(tmp_path, write):
    folder = tmp_path / "traces"
    with recorded(folder) as (tracer, exporter):
        run(tracer, write)
        run(tracer, write, made=NOTE)
        assert len(wait_for(lambda: folder.glob("*.jsonl"), 2)) == 2  # before anybody asks
    files = sorted(folder.iterdir())
    exported = as_exported(folder, exporter)
    assert sorted(exported) == [one.stem for one in files]
    for file in files:
        mine, theirs = checked(file), survey(exported[file.stem])
        assert (mine.hash, mine.terminals, mine.warnings, mine.header.name) == (
            theirs.hash, theirs.terminals, theirs.warnings, theirs.header.name,
        )  # fmt: skip
    first = next(nodes(one) for one in files if ANSWER in one.read_text())
    assert {one["origin"]: one["text"] for one in first.values()} == {
        "source": PAGE, "generated": ANSWER,
    }  # fmt: skip
    assert all(len(edges(one)) == 1 for one in files)


def test_threads_and_tasks(tmp_path):
    folder = tmp_path / "traces"

    async def tasks(tracer: Any) -> None:
        async def one(number: int) -> None:
            with tracer.start_as_current_span("task"):
                retrieve(tracer)
                await asyncio.sleep(0.01)
                generate(tracer, made=f"{ANSWER} {number}")

        await asyncio.gather(*(one(number) for number in range(5)))

    with recorded(folder) as (tracer, _):
        threads = [threading.Thread(target=run, args=(tracer,)) for _ in range(5)]
        for one in threads:
            one.start()
        asyncio.run(tasks(tracer))
        for one in threads:
            one.join()
    files = list(folder.iterdir())
    assert len(files) == 10
    assert {len(edges(one)) for one in files} == {1}


def test_late_spans_are_added_to_their_process(tmp_path):
    folder = tmp_path / "traces"
    with recorded(folder) as (tracer, _):
        with tracer.start_as_current_span("assistant") as root:
            retrieve(tracer)
            generate(tracer)
        (file,) = wait_for(lambda: folder.glob("*.jsonl"), 1)
        assert len(nodes(file)) == 2
        token = contexts.attach(api.set_span_in_context(root))
        generate(tracer, ANSWER, NOTE)
        contexts.detach(token)
    assert list(folder.iterdir()) == [file]
    assert [one["text"] for one in nodes(file).values()] == [PAGE, ANSWER, NOTE]
    checked(file)


def test_spans_of_a_trace_that_is_forgotten_become_a_process_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_SPANS", 0)
    folder = tmp_path / "traces"
    with recorded(folder) as (tracer, _):
        with tracer.start_as_current_span("assistant") as root:
            generate(tracer)
        (file,) = wait_for(lambda: folder.glob("*.jsonl"), 1)
        before = file.read_bytes()
        time.sleep(0.05)
        token = contexts.attach(api.set_span_in_context(root))
        generate(tracer, ANSWER, NOTE)
        contexts.detach(token)
    assert file.read_bytes() == before
    assert [one.stem[:33] for one in folder.iterdir() if one != file] == [f"{file.stem}-"]


def test_a_trace_whose_root_does_not_end_is_written_when_asked_or_quiet(tmp_path, monkeypatch):
    folder = tmp_path / "traces"
    provider, processor = TracerProvider(), RecordingSpanProcessor(folder, quiet=True)
    provider.add_span_processor(processor)
    tracer = provider.get_tracer("test")
    with tracer.start_as_current_span("assistant"):
        generate(tracer)
        time.sleep(0.05)
        assert not folder.exists()
        assert provider.force_flush()
        assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.05)
    with tracer.start_as_current_span("assistant"):
        generate(tracer)
        assert len(wait_for(folder.iterdir, 2)) == 2
    provider.shutdown()
    with tracer.start_as_current_span("assistant"):  # after the end
        generate(tracer)
    assert len(list(folder.iterdir())) == 2


def test_traces_without_a_model_and_unsampled_ones_leave_nothing(tmp_path):
    folder = tmp_path / "traces"
    with recorded(folder) as (tracer, _), tracer.start_as_current_span("request"):
        pass
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    provider.add_span_processor(RecordingSpanProcessor(folder))
    run(provider.get_tracer("test"))
    provider.shutdown()
    assert not folder.exists()


def test_a_folder_that_cannot_be_written_is_logged_once(tmp_path, caplog):
    folder = tmp_path / "traces"
    folder.write_text("a file")
    with recorded(folder) as (tracer, _):
        run(tracer)
        run(tracer)
    assert caplog.text.count("a trace was not written") == 1


PROGRAM = """
import os, sys
sys.path[:0] = [{tests!r}]
from opentelemetry.sdk.trace import TracerProvider
from with_opentelemetry import run
from veritrail_record.opentelemetry import RecordingSpanProcessor
provider = TracerProvider()
provider.add_span_processor(RecordingSpanProcessor({folder!r}))
tracer = provider.get_tracer("test")
run(tracer)
provider.force_flush()
if os.fork() == 0:
    run(tracer, made="The child wrote that the lamp was lit in 1884.")
    sys.exit()
os.wait()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_the_end_of_a_program_writes_what_is_left_also_of_a_forked_one(tmp_path):
    # A child process: the SDK shuts down when an interpreter ends.
    folder = tmp_path / "traces"
    tests = str(Path(__file__).resolve().parent)
    program = PROGRAM.format(tests=tests, folder=str(folder))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60
    )
    assert len(list(folder.iterdir())) == 2, done.stderr
    assert done.stderr.count("veritrail: recorded 1 trace; to check them") == 2
    assert "Traceback" not in done.stderr
