"""Temporary folders: made when they are needed, removed at the end, and a clear error without."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.temporary import late_folder, temporary_folder


def test_a_folder_is_made_when_it_is_asked_for_and_removed_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with late_folder() as folder:
        assert list(tmp_path.iterdir()) == []
        (folder() / "a.txt").write_text("a", encoding="utf-8")
        assert [folder()] == list(tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []


def test_where_none_can_be_made_it_is_said_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with late_folder() as folder:
        pass  # what needs none goes on
    with (
        pytest.raises(InputError, match="No temporary folder can be made"),
        late_folder() as folder,
    ):
        folder()
    with pytest.raises(InputError, match="Set TMPDIR"), temporary_folder():
        pass
