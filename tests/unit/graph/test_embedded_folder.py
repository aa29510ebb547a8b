"""The engine's folder: private files, the password, the state file."""

import pytest

from veritrail_graph.graph.embedded.folder import (
    BoundedLog,
    EngineFolder,
    SupervisorState,
    useful_lines,
)
from veritrail_graph.graph.errors import EngineUnavailable
from veritrail_graph.graph.private import write_private


@pytest.fixture
def folder(tmp_path):
    folder = EngineFolder(tmp_path / "home")
    folder.prepare()
    return folder


def mode(path):
    return path.stat().st_mode & 0o777


def test_what_others_could_read_is_closed(folder):
    open_file = folder.databases / "old.bucket"
    open_file.write_text("text", "utf-8")
    open_file.chmod(0o664)
    folder.root.chmod(0o755)
    folder.logs.chmod(0o777)
    folder.prepare()
    assert [mode(open_file), mode(folder.root), mode(folder.logs)] == [0o600, 0o700, 0o700]


def test_a_home_of_our_own_is_private_and_one_that_was_there_keeps_its_rights(folder, tmp_path):
    assert mode(folder.home) == 0o700
    known = EngineFolder(tmp_path / "known")
    known.home.mkdir()
    known.home.chmod(0o755)
    beside = known.home / "notes"
    beside.write_text("", "utf-8")
    beside.chmod(0o644)
    known.prepare()
    assert [mode(known.home), mode(beside), mode(known.root)] == [0o755, 0o644, 0o700]


@pytest.mark.parametrize("home", ["file", "file/home"])
def test_a_file_in_the_way_of_the_home_is_named(tmp_path, home):
    (tmp_path / "file").write_text("", "utf-8")
    for use in (EngineFolder.prepare, EngineFolder.read_state):
        with pytest.raises(EngineUnavailable, match=f": {tmp_path}/file is a file, not a folder"):
            use(EngineFolder(tmp_path / home))


def test_a_file_that_was_open_is_closed_before_it_is_written(folder):
    path = folder.root / "secret"
    path.write_text("", "utf-8")
    path.chmod(0o644)
    write_private(path, "text")
    assert mode(path) == 0o600


def test_the_password_is_long_random_private_and_kept(folder):
    folder.ensure_password()
    first = folder.read_password()
    folder.ensure_password()
    assert folder.read_password() == first
    assert len(first) >= 16
    assert mode(folder.password_file) == 0o600
    folder.password_file.write_text("short", "utf-8")
    folder.ensure_password()
    assert len(folder.read_password()) >= 16


def test_no_user_but_that_of_the_password_file_survives_a_start(folder):
    users = folder.config / "server-users.jsonl"
    users.write_text('{"name":"root","password":"x"}\n{"name":"ada"}\n', "utf-8")
    for _ in range(2):
        folder.ensure_password()
        assert not users.exists()


def test_a_missing_password_file_is_named(folder):
    with pytest.raises(EngineUnavailable, match="password"):
        folder.read_password()


def test_the_state_is_read_back_and_private(folder):
    state = SupervisorState(1, 2, "token", 3, 4.5)
    folder.write_state(state)
    assert folder.read_state() == state
    assert mode(folder.state_file) == 0o600
    assert "token'" not in repr(state)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', '{"other": 1}'])
def test_a_spoiled_state_file_counts_as_none(folder, text):
    folder.state_file.write_text(text, "utf-8")
    assert folder.read_state() is None


def test_the_log_is_bounded_and_holds_no_password(folder, monkeypatch):
    monkeypatch.setattr("veritrail_graph.graph.embedded.folder._LARGEST_FILE", 1000)
    log = BoundedLog(folder, "open-sesame")
    for number in range(200):
        log.write(f"{number} login with open-sesame")
    files = sorted(path.name for path in folder.logs.iterdir())
    assert files == ["engine.log", "engine.log.1"]
    assert all(path.stat().st_size < 1100 for path in folder.logs.iterdir())
    assert "sesame" not in folder.engine_log.read_text("utf-8") + log.excerpt()


def test_an_excerpt_prefers_trouble_and_leaves_stack_traces_out():
    lines = ["INFO starting", "SEVERE no room", "\tat com.arcadedb.X.y(X.java:1)", "INFO bye", ""]
    assert useful_lines(lines) == "  SEVERE no room"
    assert useful_lines(["INFO a", "INFO b"]) == "  INFO a\n  INFO b"
