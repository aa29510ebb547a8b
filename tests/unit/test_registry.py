"""Formats are found by content, paths hold many processes, and other packages add formats."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import registry
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.records import Header
from veritrail_graph.graph.importers.registry import Found, ImportOptions, find_processes
from veritrail_graph.graph.model import Origin

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


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
    registry.importers.cache_clear()
    yield
    registry.importers.cache_clear()


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
    # The process file takes every JSON object, to say what is wrong with it.
    assert fits[0] == expected
    assert set(fits) <= {expected, "process"}


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


def test_an_empty_folder_is_in_no_format(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="in no format that can be read here"):
        find_processes(tmp_path)


def test_one_process_is_needed_where_one_is_asked_for() -> None:
    with pytest.raises(InputError, match="several processes"):
        registry.open_input(EXAMPLES / "rag.jsonl")
