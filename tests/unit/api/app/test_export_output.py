"""Where exports go: whole or not at all, and never over something by accident."""

from __future__ import annotations

import gzip
import os
import threading
import zipfile
from pathlib import Path

import pytest

from veritrail_graph.api.app.exporting import format_of
from veritrail_graph.graph.errors import EngineError, InputError
from veritrail_graph.graph.exporters.cypher_script import literal
from veritrail_graph.graph.exporters.output import folder, one_file
from veritrail_graph.graph.exporters.process_file import json_text


def test_a_file_is_there_when_it_is_whole_and_not_before(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    with one_file(path) as file:
        file.write(b"half")
        assert not path.exists()
    assert path.read_bytes() == b"half"


@pytest.mark.parametrize("name", ["p.jsonl", "p.jsonl.gz"])
def test_a_fault_leaves_what_was_there(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("mine")

    def fail() -> None:
        with one_file(path, force=True) as file:
            file.write(b"half")
            raise EngineError("gone")

    with pytest.raises(EngineError):
        fail()
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_export_packed_twice_is_the_same(tmp_path: Path) -> None:
    packed = []
    for name in ("a.gz", "b.gz"):
        with one_file(tmp_path / name) as file:
            file.write(b"content")
        packed.append((tmp_path / name).read_bytes())
    assert packed[0] == packed[1]
    assert gzip.decompress(packed[0]) == b"content"


def test_an_ending_in_capitals_packs_as_well(tmp_path: Path) -> None:
    with one_file(tmp_path / "P.JSONL.GZ") as file:
        file.write(b"content")
    assert gzip.decompress((tmp_path / "P.JSONL.GZ").read_bytes()) == b"content"
    with folder(tmp_path / "T.ZIP") as place:
        (place / "a.csv").write_text("a")
    with zipfile.ZipFile(tmp_path / "T.ZIP") as archive:
        assert archive.namelist() == ["a.csv"]


def test_what_a_link_points_to_is_replaced_and_not_the_link(tmp_path: Path) -> None:
    place, link = tmp_path / "place", tmp_path / "link"
    place.write_text("old")
    link.symlink_to(place)
    with pytest.raises(InputError, match="is there already"), one_file(link):
        pass
    with one_file(link, force=True) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert place.read_text() == "new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    with one_file(pipe) as file:
        file.write(b"through")
    reader.join(10)
    assert got == [b"through"]


@pytest.mark.parametrize("name", ["tables", "tables.zip"])
def test_a_folder_is_there_when_it_is_whole_and_not_before(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with folder(path) as place:
        (place / "a.csv").write_text("a")
        assert not path.exists()
    if name.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            assert archive.namelist() == ["a.csv"]
    else:
        assert (path / "a.csv").read_text() == "a"
    assert list(tmp_path.iterdir()) == [path]


def test_a_fault_leaves_a_folder_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "tables"
    path.mkdir()
    (path / "a.csv").write_text("old")

    def fail() -> None:
        with folder(path, force=True) as place:
            (place / "a.csv").write_text("half")
            raise EngineError("gone")

    with pytest.raises(EngineError):
        fail()
    assert (path / "a.csv").read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_where_a_file_should_be_is_told(tmp_path: Path) -> None:
    path = tmp_path / "tables"
    path.mkdir()
    with pytest.raises(InputError, match="is a folder"), one_file(path):
        pass
    with pytest.raises(InputError, match="is a folder"), one_file(path, force=True):
        pass
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(InputError, match="is a file"), folder(file, force=True):
        pass
    assert file.read_text() == "mine"


def test_what_hides_in_a_text_is_written_as_an_escape() -> None:
    assert json_text("a\u202eb\x9bc\u2028") == r'"a\u202eb\u009bc\u2028"'
    assert json_text("\U000e0041") == r'"\udb40\udc41"'
    assert json_text("é 😀") == '"é 😀"'
    assert literal("a'\\\u202e\x00\n") == r"'a\'\\\u202e\u0000\n'"
    assert literal({"a": [1, None, True, 0.5, "x"]}) == "{a:[1,null,true,0.5,'x']}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("p.json", "process"),
        ("p.jsonl.gz", "process"),
        ("p.prov.json", "prov"),
        ("P.PROV.JSON.GZ", "prov"),
        ("p.openlineage.jsonl", "openlineage"),
        ("prov.json", "process"),
        ("p.cypher", "cypher"),
        ("p", "process"),
    ],
)
def test_an_ending_names_a_format(name: str, expected: str) -> None:
    assert format_of(Path(name)) == expected


def test_an_unknown_ending_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(
        InputError, match=r"\.openlineage\.jsonl, .*\.mlflow-assessments\.json, each also"
    ):
        format_of(Path("p.prov"))
