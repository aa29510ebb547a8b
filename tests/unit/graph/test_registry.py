"""Formats are found by content, paths hold many processes, and other packages add formats."""

from __future__ import annotations

import gzip
import json
import os
import re
import tracemalloc
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.graph.errors import InputError, InvalidProcess
from veritrail_graph.graph.importers import registry
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.records import Header
from veritrail_graph.graph.importers.registry import Found, ImportOptions, find_processes
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Origin

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


class ToyImporter:
    """Reads files whose first line says `toy`: each further line is a process."""

    name = "toy"
    description = "a toy"
    extra = None

    def detect(self, path: Path) -> str | None:
        is_toy = path.is_file() and path.read_bytes().startswith(b"toy\n")
        return None if is_toy else "no toy"

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        for number, line in enumerate(path.read_text("utf-8").splitlines()[1:], start=1):
            draft = Draft(Header(self.name))
            draft.node("a", line, f"line {number}", origin=Origin.SOURCE)
            yield Found(f"{path}#{number}", lambda made=draft: made)  # type: ignore[misc]


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    entry = EntryPoint("toy", f"{__name__}:ToyImporter", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry])
    _forget()
    yield
    _forget()


def _forget() -> None:
    registry.importers.cache_clear()
    registry.of_others.cache_clear()


@pytest.mark.usefixtures("toy")
def test_another_package_adds_a_format_through_an_entry_point(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("toy\none\ntwo\n", encoding="utf-8")
    assert [one.open().header.source_format for one in find_processes(path)] == ["toy", "toy"]
    assert next(iter(registry.importers())).name == "toy"


FORMATS = {
    "agents.jsonl": "agents",
    "graphrag-energy.json": "process",
    "harbour-summary.json": "process",
    "llamaindex.json": "llamaindex",
    "prov.json": "prov",
    "rag.jsonl": "rag",
    "summaries.json": "summaries",
    "traces/haystack.json": "haystack",
    "traces/langchain.json": "langchain",
    "traces/langfuse.json": "langfuse",
    "traces/mlflow.json": "mlflow",
    "traces/otlp.json": "otlp",
}


@pytest.mark.parametrize(("name", "expected"), FORMATS.items())
def test_each_example_is_in_one_format_alone(name: str, expected: str) -> None:
    fits = [one.name for one in registry.importers() if one.detect(EXAMPLES / name) is None]
    assert fits == [expected]


def test_a_folder_is_read_file_by_file_in_the_order_of_numbers(tmp_path: Path) -> None:
    row = {"contexts": ["One."], "answer": "Two."}
    for name in ("10.json", "9.json", "sub/1.json", ".hidden/1.json", "notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(row), encoding="utf-8")
    (tmp_path / "11.json").write_text("{", encoding="utf-8")
    found = list(find_processes(tmp_path))
    names = [Path(one.where.partition("#")[0]).relative_to(tmp_path).as_posix() for one in found]
    assert names == ["9.json", "10.json", "11.json", "sub/1.json"]
    assert found[0].open()
    with pytest.raises(InputError, match=r"11\.json"):
        found[2].open()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_and_a_device_are_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.jsonl")
    (tmp_path / "endless.jsonl").symlink_to("/dev/zero")
    for name in ("p.jsonl", "endless.jsonl"):
        with pytest.raises(InputError, match="neither a file nor a folder"):
            find_processes(tmp_path / name)
    with pytest.raises(InputError, match="in no format that can be read here"):
        find_processes(tmp_path)


def test_an_empty_folder_is_in_no_format(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="in no format that can be read here"):
        find_processes(tmp_path)


def test_one_process_is_needed_where_one_is_asked_for() -> None:
    with pytest.raises(InputError, match="several processes"):
        registry.open_input(EXAMPLES / "rag.jsonl")


class FailingDetection(ToyImporter):
    """Cannot look at any file."""

    name = "failing"

    def detect(self, path: Path) -> str | None:
        raise KeyError("boom")


class FailingReading(ToyImporter):
    """Finds one process, which cannot be opened, and fails then."""

    name = "half"

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        yield Found(f"{path}#1", lambda: 1 / 0)  # type: ignore[arg-type,return-value]
        raise KeyError("boom")


class Taken(ToyImporter):
    """Has the name of one of ours."""

    name = "rag"


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    named = {
        "missing": "no_such_package.importer:Mine", "gone": f"{__name__}:NoSuchClass",
        "nothing": "builtins:object", "taken": f"{__name__}:Taken",
        "rag": f"{__name__}:ToyImporter",
        "failing": f"{__name__}:FailingDetection", "half": f"{__name__}:FailingReading",
    }  # fmt: skip
    entries = [EntryPoint(name, value, registry.GROUP) for name, value in named.items()]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    _forget()
    yield
    _forget()


@pytest.mark.usefixtures("others")
def test_what_other_packages_break_is_named_and_left_out(caplog: pytest.LogCaptureFixture) -> None:
    (found, *_) = find_processes(EXAMPLES / "rag.jsonl")
    assert found.open().header.source_format == "rag"
    unusable = {one.name: one.reason for one in registry.of_others()[1]}
    assert unusable["missing"] == "ModuleNotFoundError: No module named 'no_such_package'"
    assert "NoSuchClass" in unusable["gone"]
    assert unusable["nothing"].startswith("TypeError: object has no name")
    assert "of one of ours" in unusable["taken"]
    assert "of one of ours" in unusable["rag"]
    lines = caplog.messages
    assert len(lines) == len(unusable) + 1, "one line for each"
    assert "'missing' of the package no_such_package.importer is not usable" in lines[0]
    assert "the importer 'failing' of the package" in lines[-1]
    caplog.clear()
    assert list(find_processes(EXAMPLES / "rag.jsonl"))
    assert not caplog.messages, "said once"


@pytest.mark.usefixtures("others")
def test_an_importer_that_fails_while_it_reads_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("toy\n", encoding="utf-8")
    found = find_processes(path)
    with pytest.raises(InputError, match=r"importer 'half' of the package .* failed: ZeroDivision"):
        next(found).open()
    with pytest.raises(InputError, match=r"importer 'half' of the package .* failed: KeyError"):
        next(found)


class Folders(ToyImporter):
    """Reads folders with a marker."""

    name = "folders"
    suffixes = (".toy",)

    def detect(self, path: Path) -> str | None:
        return None if (path / "marker").exists() else "no marker"

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        yield Found(str(path), lambda: Draft(Header(self.name)))


def test_a_folder_in_a_folder_and_files_with_other_endings_are_read(tmp_path: Path) -> None:
    for name in ("a/deep/index/marker", "a/deep/index/row.json", "b.toy", ".hidden/marker"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("toy\none", encoding="utf-8")
    known = [Folders(), ToyImporter()]
    found = [one.where for one in find_processes(tmp_path, known=known)]
    index = str(tmp_path / "a/deep/index")
    assert found == [index, f"{tmp_path / 'b.toy'}#1"]
    answered = ImportOptions(answer=f"{tmp_path / 'b.toy'}#1")
    assert [one.where for one in find_processes(tmp_path, known=known, options=answered)] == [index]
    named = find_processes(tmp_path, format_name="folders", known=known)
    assert next(named).where == index


@pytest.mark.parametrize(
    ("name", "content", "begin"),
    [
        ("a.csv", "question\nq\n".encode("utf-16"), ": it is not UTF-8 but UTF-16"),
        ("a.csv", b"question,contexts,answer\nq,caf\xe9 au lait,a\n", ": it is not UTF-8: "),
        ("a.csv", b"question,reply\na,b\n", ": it is a table with the columns 'quest"),
        ("a.xlsx", b"\0\1", ": it is a zip archive or the workbook of a spreadsheet. Unpack"),
        ("a.csv", b"PK\x03\x04x", ": it is a zip archive or the workbook of a spreadsheet. "),
        ("a.json", b'{"a": ', ": not JSON: Expecting value at line 1"),
        ("a.json", b"", ": it is empty"),
        ("a.json", b'{"a":\0}', ": it holds bytes of value 0"),
        ("a.json", b'{"messages": []}', ": it is an object with the key 'messages'. Tried:\n  ag"),
        ("a.jsonl", b'{"question": 1, "z": 2}\n', ": it is an object with the keys 'question', "),
        ("a.json", b'[{"observations": 1}]', ": its first entry has the key 'observations'. "),
        ("a.json", b'{"nodes": []}', ": it is an object with the key 'nodes'. Tried:\n  process"),
        ("a.jsonl.gz", gzip.compress(b'{"a": 1}', mtime=0)[:-9], ": the gzip stream is damaged"),
    ],
)  # fmt: skip
def test_the_likely_reason_comes_first(
    tmp_path: Path, name: str, content: bytes, begin: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        find_processes(path)
    said = str(caught.value)
    assert said.startswith(f"{path} is in no format that can be read here{begin}")
    assert len(said.splitlines()) <= 5


@pytest.mark.parametrize(
    "content",
    [{"format": "veritrail.process/1"}, {"nodes": [], "edges": []}, {"format": "veritrail.other"}],
)
def test_what_names_our_format_or_has_nodes_and_edges_is_a_process_file(
    tmp_path: Path, content: dict[str, object]
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    (found,) = find_processes(path)
    with pytest.raises(InvalidProcess):
        survey(found.open())


@pytest.mark.parametrize(
    ("chosen", "text"), [(None, b" "), (None, b"[[1],"), ("process", b" "), ("rag", b"[[1],")]
)
def test_a_packed_file_of_nothing_is_refused_before_it_is_unpacked(
    tmp_path: Path, chosen: str | None, text: bytes
) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(text * (30_000_000 // len(text))))
    tracemalloc.start()
    with pytest.raises(InputError):
        _ = [one.open() for one in find_processes(path, format_name=chosen)]
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 45_000_000, "as a whole it takes 90"


def test_the_importer_of_the_page_about_formats_works(tmp_path: Path) -> None:
    page = (EXAMPLES.parent / "docs/formats/README.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.toy").write_text("One. => Two.\nThree.\n", encoding="utf-8")
    first, second = find_processes(tmp_path, known=[names["ToyImporter"](), *registry.importers()])
    draft = first.open()
    assert (draft.header.source_format, draft.header.terminals) == ("toy", ("output",))
    assert survey(draft).unsourced == 0
    with pytest.raises(InputError, match=r"a\.toy#2: there is no"):
        second.open()


def test_a_folder_that_may_not_be_looked_into_is_named_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "locked").mkdir()
    (tmp_path / "a.jsonl").write_text('{"contexts": ["A pier."], "answer": "A pier."}\n')
    monkeypatch.setattr("os.access", lambda path, _mode: Path(path).name != "locked")

    first, second = find_processes(tmp_path)

    assert first.where.endswith("a.jsonl#1")
    with pytest.raises(InputError, match="locked cannot be read: you may not look into"):
        second.open()
