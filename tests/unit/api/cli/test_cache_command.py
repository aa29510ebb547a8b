"""`veritrail cache` where the file or its folder is not what it should be."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from veritrail_graph.api.cli.app import status as status_of_command

Use = Callable[..., tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("VERITRAIL_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    return home


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Use:
    """Run the command: its status, what it prints, what it says besides, on one line."""

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["veritrail", "cache", *arguments])
        status = status_of_command()
        out, err = capsys.readouterr()
        return status, out, " ".join(err.split())

    return command


def damaged(home: Path) -> Path:
    path = home / "cache" / "answers.sqlite"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"This is no database. " * 500)
    return path


def test_a_damaged_file_is_told_with_what_to_do_and_cleared(home: Path, use: Use) -> None:
    path = damaged(home)
    status, _, told = use("stats")
    assert status == 2
    assert "file is not a database" in told
    assert "once the cache is cleared" in told
    status, _, told = use("clear")
    assert status == 0
    assert "was no cache of answers (file is not a database): it was removed" in told
    assert not path.exists()
    status, out, _ = use("stats", "--json")
    assert (status, json.loads(out)["answers"]) == (0, 0)


def test_what_was_wrong_with_a_file_is_in_the_document_too(home: Path, use: Use) -> None:
    path = home / "cache" / "answers.sqlite"
    path.parent.mkdir(parents=True)
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE answers (something TEXT)")
    db.close()
    assert json.loads(use("clear", "--json")[1]) == {
        "removed": 0,
        "malformed": "its table has another shape",
    }
    assert json.loads(use("clear", "--json")[1]) == {"removed": 0}


@pytest.mark.parametrize("command", ["stats", "clear"])
@pytest.mark.parametrize("home", ["/dev/null", "/proc/nope", "file/below"])
def test_a_home_that_can_be_no_folder_is_an_error(
    home: str, command: str, use: Use, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VERITRAIL_HOME", str(tmp_path / home))
    status, out, told = use(command)
    assert status == 2
    assert out == ""
    assert "no answers can be kept in" in told


def test_looking_makes_no_folders(home: Path, use: Use) -> None:
    status, out, _ = use("stats", "--json")
    assert (status, json.loads(out)["answers"]) == (0, 0)
    assert not home.exists()
