"""A full disk: told as such at every place that writes, without paths over REST."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from veritrail_graph.api.app.text_index import IndexFull, IndexUnusable, TextIndex
from veritrail_graph.api.auth.database import DatabaseFull, ServiceDatabase
from veritrail_graph.api.service.http.problems import answer_of
from veritrail_graph.graph.errors import DiskFull, InputError, NotWritten, VeriTrailError
from veritrail_graph.graph.exporters.output import folder, one_file


def told(error: VeriTrailError, home: Path) -> tuple[int, str]:
    """The status over REST, and what is said."""
    answer = answer_of(error, home=home)
    document = json.loads(bytes(answer.body))
    assert str(home) not in str(document)
    return answer.status_code, document["detail"]


@pytest.mark.parametrize(
    ("code", "kind", "status"),
    [(errno.ENOSPC, DiskFull, 507), (errno.EDQUOT, DiskFull, 507), (errno.EROFS, NotWritten, 500)],
)
@pytest.mark.parametrize("place", [one_file, folder])
def test_an_export_names_the_path_on_this_machine_and_never_over_rest(
    tmp_path: Path, place: Any, code: int, kind: type[NotWritten], status: int
) -> None:
    path = tmp_path / "export.json"
    with pytest.raises(kind, match=str(path)) as caught, place(path):
        raise OSError(code, os.strerror(code))
    assert type(caught.value) is kind
    assert told(caught.value, tmp_path)[0] == status
    assert list(tmp_path.iterdir()) == []


def test_a_full_index_of_texts_is_not_taken_for_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(sqlite3.Connection):
        def __init__(self, *given: Any, **more: Any) -> None:
            super().__init__(*given, **more)
            self.execute("PRAGMA max_page_count = 2")

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Full))
    with pytest.raises(IndexFull) as caught:
        TextIndex(tmp_path).stamps()
    assert told(caught.value, tmp_path) == (507, "There is no room left for the index of texts.")


def test_an_index_that_cannot_be_read_is_not_taken_for_the_engine(tmp_path: Path) -> None:
    (tmp_path / "search.sqlite3").write_bytes(b"no database" * 100)
    with pytest.raises(IndexUnusable) as caught:
        TextIndex(tmp_path).stamps()
    status, words = told(caught.value, tmp_path)
    assert (status, words[:19]) == (503, "The index of texts ")


def test_a_full_database_of_the_service_is_told(tmp_path: Path) -> None:
    database = ServiceDatabase(f"sqlite:///{tmp_path / 'service.sqlite3'}")
    small = "PRAGMA max_page_count = 2"
    sa.event.listen(database._engine, "connect", lambda one, _: one.execute(small))
    try:
        with pytest.raises(DatabaseFull) as caught:
            database.create()
    finally:
        database.close()
    assert told(caught.value, tmp_path)[0] == 507


def test_of_files_in_the_home_folder_only_names_are_told(tmp_path: Path) -> None:
    words = f"{tmp_path}/uploads/a1/body.csv: line 3 of '{tmp_path}/x.json' is no text ({tmp_path})"
    assert told(InputError(words), tmp_path) == (
        422,
        "body.csv: line 3 of 'x.json' is no text (VERITRAIL_HOME)",
    )
