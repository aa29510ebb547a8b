"""Bad input to `veritrail ingest`: all violations are reported, nothing is stored."""

from __future__ import annotations

from pathlib import Path

import pytest
from acceptance.command import Veritrail, process_file

pytestmark = pytest.mark.engine


def test_a_path_that_cannot_be_read_says_why_and_starts_nothing(
    bare: Veritrail, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("Dear diary", encoding="utf-8")
    for path, told in (("folder", "graphrag"), ("notes.txt", "is a plain text")):
        assert told in bare("ingest", path, "--json", status=2).message
    good = process_file(tmp_path / "good.json")
    for arguments, words in (
        (["missing.json"], "missing.json"),
        ([good, "--format", "nope"], "graphrag"),
        ([good, "--format", "graphrag"], "good.json"),
        ([good, "--answer-id", "zz"], "does not take answer_id (it is for graphrag"),
        ([good, "--community-level", "2"], "does not take community_level"),
        (["folder", "--format", "process"], "folder"),
        (["notes.txt", "--format", "process"], "notes.txt"),
    ):
        assert words in bare("ingest", *arguments, "--json", status=2).message
    assert bare("db", "status", "--json").json["running"] is False
    assert not bare.home.exists()
