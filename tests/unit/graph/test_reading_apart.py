"""Files are read by a child with limits: what exhausts them ends the child, and nothing else."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import pickle
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import pytest

from veritrail_graph.api.app.application import Application
from veritrail_graph.api.app.checking import Checking
from veritrail_graph.api.requests.check import CheckBody
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError, InvalidProcess, NotFound, Violation
from veritrail_graph.graph.importers import apart, apart_child, plain
from veritrail_graph.graph.importers.apart_child import Serving
from veritrail_graph.graph.importers.registry import ImportOptions, find_processes
from veritrail_graph.graph.importers.traces.received import TraceSpans
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model.job import JobKind

EXAMPLES = Path(__file__).parents[3] / "examples"
T = TypeVar("T")
limited = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")


def apart_from_here(use: Callable[[apart.Reader], T], size: int = 1_000) -> T:
    async def used() -> T:
        async with apart.reader_for(size) as reader:
            return await asyncio.to_thread(use, reader)

    return asyncio.run(used())


@pytest.mark.parametrize(
    "name",
    ["harbour-summary.json", "rag.jsonl", "agents.jsonl", "lindholm-dialogue.json", "prov.json"],
)
def test_what_a_child_reads_is_what_is_read_here(name: str) -> None:
    path = EXAMPLES / name

    def both(reader: apart.Reader) -> None:
        found = list(find_processes(path))
        other = list(reader.processes([(path, ImportOptions())]))
        assert [one.where for one in other] == [one.where for one in found]
        for here, there in zip(found, other, strict=True):
            first, second = here.open(), there.open()
            assert second.header == first.header
            assert list(second.records()) == list(first.records())
            assert survey(second).hash == survey(first).hash

    apart_from_here(both)


def test_a_child_cuts_large_texts_of_an_answer_as_they_are_cut_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = CheckBody(answer="The ferry is blue.", sources=["It is red. " * 50, "It carries cars."])
    checking = Checking(Application(Settings()))
    here = asyncio.run(checking.answer_over(body))
    monkeypatch.setattr(apart, "SMALL", 100)
    monkeypatch.setattr(plain, "answer_over", None)  # it is not called in this process
    there = asyncio.run(checking.answer_over(body))
    assert there.header == here.header
    assert list(there.records()) == list(here.records())


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a child waits without an end")
def test_a_child_waits_for_who_stores_for_long_what_it_got(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart_child, "IDLE_SECONDS", 0.01)
    serving = Serving(lambda _sent: None)
    finding = serving.find(str(Path.cwd()), [(EXAMPLES / "rag.jsonl", ImportOptions())], None, True)
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stdin, os.fdopen(writing, "wb") as asking:
        asked = pickle.dumps(("drop", finding))

        def ask() -> None:
            asking.write(apart_child.LENGTH.pack(len(asked)) + asked)
            asking.flush()

        threading.Timer(0.1, ask).start()
        waited = apart_child.messages(stdin, serving)
        assert next(waited) == ("drop", finding)
        serving.drop(finding)
        assert next(waited, None) is None  # nobody asks, and it holds nothing


def test_faults_come_back_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"format": "veritrail.process/1"}\n' + "{}\n" * 1_500, "utf-8")

    def read(reader: apart.Reader) -> None:
        with pytest.raises(InvalidProcess) as error:
            survey(next(reader.processes([(path, ImportOptions())])).open())
        with pytest.raises(InvalidProcess) as expected:
            survey(next(find_processes(path)).open())
        assert error.value.violations == expected.value.violations
        with pytest.raises(InputError, match="no such file"):
            next(reader.processes([(tmp_path / "gone", ImportOptions())]))

    apart_from_here(read)


def test_a_child_hands_few_errors_over_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "traces.json"
    path.write_text("[" + "{}," * 1_000 + "{}]", "utf-8")
    sent: list[tuple[str, str, object]] = []
    child = Serving(sent.append)
    finding = child.find(str(tmp_path), [(path, ImportOptions())], "langfuse", alone=True)
    handed = [0]
    while child.some(finding):
        handed.append(len(sent))
    assert {kind for _, kind, _ in sent} == {"error"}
    assert len(sent) == 1_001
    assert max(after - before for before, after in pairwise(handed)) <= 100


@limited
def test_a_file_that_takes_too_much_memory_ends_the_child_and_the_next_is_read(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.json"
    node = {"node_id": "a", "text": "b"}
    path.write_text(json.dumps({"nodes": [node] * 300_000, "edges": []}), "utf-8")

    def read(reader: apart.Reader) -> None:
        reader.ask("limit", 30_000_000, 60)
        with pytest.raises(InputError, match="took more memory than a file of this size"):
            next(reader.processes([(path, ImportOptions())])).open()
        assert not reader.is_alive

    apart_from_here(read)
    test_what_a_child_reads_is_what_is_read_here("harbour-summary.json")


@limited
def test_a_trace_that_takes_too_long_ends_the_child(tmp_path: Path) -> None:
    spans = [
        {
            "trace_id": "1" * 32, "span_id": f"{number:016x}", "parent_id": None, "name": "s",
            "start": number, "end": number, "events": [],
            "attributes": {"openinference.span.kind": "LLM", "output.value": "a" * 60 * number,
                           "input.value": "a" * 50 * number},
        }
        for number in range(1, 900)
    ]  # fmt: skip

    file = tmp_path / "spans.json"
    file.write_bytes(b"{}\n" + TraceSpans.of(spans).content)

    def read(reader: apart.Reader) -> None:
        reader.ask("limit", 500_000_000, 1)
        with pytest.raises(InputError, match="took more than 60 seconds"):
            reader.ask("trace", "1" * 32, [file])

    apart_from_here(read)


def test_what_is_small_and_plain_is_read_here(tmp_path: Path) -> None:
    small, large = tmp_path / "small.json", tmp_path / "large.json"
    small.write_bytes(b" " * 256_000)
    large.write_bytes(b" " * 256_001)
    tiny, packed = tmp_path / "tiny.json.gz", tmp_path / "packed.json.gz"
    tiny.write_bytes(gzip.compress(b"{}"))
    packed.write_bytes(gzip.compress(os.urandom(2_000)))
    table = tmp_path / "table.parquet"
    table.write_bytes(b"PAR1")
    assert [apart.size_of(one) for one in (small, tiny)] == [None, None]
    assert apart.size_of(large) == 256_001
    assert all(apart.size_of(one) is not None for one in (packed, table, tmp_path))
    assert apart.size_of(Path("neo4j://host:7687")) is None


class _Call:
    def __reduce__(self) -> Any:
        return os.system, ("true",)


class _Named:
    """Written as Python 3.11.2 writes a member of an enumeration."""

    def __init__(self, kind: type, name: str) -> None:
        self._named = (kind, name)

    def __reduce__(self) -> Any:
        return getattr, self._named


def test_a_child_cannot_make_its_parent_call_anything() -> None:
    import io

    from veritrail_graph.graph.private import write_private

    for bad in (_Call(), write_private):
        with pytest.raises(pickle.UnpicklingError):
            apart._OurValues(io.BytesIO(pickle.dumps(bad))).load()
    faults = [Violation("a", "b", "c", {"d": 1})]
    for kind, name in ((JobKind, "mro"), (JobKind, "__class__"), (NotFound, "mro")):
        with pytest.raises(pickle.UnpicklingError):
            apart._OurValues(io.BytesIO(pickle.dumps(_Named(kind, name)))).load()
    member = apart._OurValues(io.BytesIO(pickle.dumps(_Named(JobKind, "DIALOGUE")))).load()
    assert member is JobKind.DIALOGUE, "as Python 3.11.2 writes it"
    error = apart._OurValues(io.BytesIO(pickle.dumps(NotFound("x", faults, code="y")))).load()
    assert (str(error), error.code, error.violations) == ("x", "y", tuple(faults))


def test_a_child_is_given_no_secrets_and_the_processor_after_its_parent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    reader = apart.Reader()
    try:
        reader.ask("limit", 500_000_000, 60)
        if sys.platform == "linux":
            environment = Path(f"/proc/{reader._process.pid}/environ").read_bytes()
            assert b"sk-secret" not in environment
            own = os.getpriority(os.PRIO_PROCESS, 0)
            assert own == 19 or os.getpriority(os.PRIO_PROCESS, reader._process.pid) > own
    finally:
        reader.end()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "trace.json"
    os.mkfifo(pipe)
    sizes: list[int | None] = []
    looking = threading.Thread(target=lambda: sizes.append(apart.size_of(pipe)), daemon=True)
    looking.start()
    looking.join(10)
    with suppress(OSError):  # a reader that waits goes on
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    assert sizes == [None]
    with pytest.raises(InputError, match="neither a file nor a folder"):
        find_processes(pipe)


def test_a_child_that_is_ready_after_its_caller_has_gone_serves_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ready, gone = apart._ready, threading.Event()

    def late(size: int) -> apart.Reader:
        gone.wait(10)
        return ready(size)

    async def leave() -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(0.05), apart.reader_for(1_000):
                pass
        gone.set()  # the end of the loop waits for its threads

    monkeypatch.setattr(apart, "_ready", late)
    asyncio.run(leave())
    (kept,) = apart._waiting[-1:]
    assert kept.is_alive
