"""The message about a name that is neither a process file nor a stored process."""

from __future__ import annotations

from pathlib import Path

import pytest

from veritrail_graph.api.show.reports.sources import check_process_id, file_meant
from veritrail_graph.graph.errors import InputError, NotFound

UNKNOWN = "No process of this name is stored."


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none.json", f"There is no file none.json. {UNKNOWN}"),
        ("notes.md", "notes.md is no process file, whose name ends with .json,"),
        ("folder", f"folder is a folder, and no process file. {UNKNOWN}"),
        ("answers", UNKNOWN),
        ("x" * 300 + ".json", UNKNOWN),
    ],
)
def test_where_a_file_may_be_meant_it_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.md").write_text("no process", encoding="utf-8")
    Path("folder").mkdir()
    check_process_id(name)
    with pytest.raises(NotFound) as told, file_meant(name):
        raise NotFound(UNKNOWN)
    assert said in str(told.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("build/none.json", "There is no file build/none.json."),
        ("./folder", "./folder is a folder"),
    ],
)
def test_a_name_with_a_slash_is_no_process_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    with pytest.raises(InputError, match="has no slash") as told:
        check_process_id(name)
    assert str(told.value).startswith(said)
