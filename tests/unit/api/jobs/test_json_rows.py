"""The engine of jobs reads no pickle, wherever one stands in its tables."""

from __future__ import annotations

import base64
import os
import pickle
import re
from pathlib import Path
from typing import Any

import dbos
import pytest
from dbos import DBOSPortableJSONSerializer, _serialization

from veritrail_graph.api.jobs.storage.json_rows import NotJson, refuse_pickles

PACKAGE = Path(dbos.__file__).parent
READERS = (
    _serialization.deserialize_args,  # of workflows
    _serialization.deserialize_value,  # results, events, messages, steps, streams
    _serialization.deserialize_exception,
)


class _Folder:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self._path),)


@pytest.mark.parametrize("reader", READERS)
def test_a_pickle_is_refused_and_never_loaded(reader: Any, tmp_path: Path) -> None:
    refuse_pickles()
    row = base64.b64encode(pickle.dumps(_Folder(tmp_path / "ran"))).decode()
    with pytest.raises(NotJson, match="pickles are never read"):
        reader(row, "py_pickle", DBOSPortableJSONSerializer())
    assert not (tmp_path / "ran").exists()


def test_the_engine_loads_pickles_and_runs_texts_in_no_other_place() -> None:
    runs_code = re.compile(
        r"\b(?:pickle|marshal|dill|cloudpickle|shelve|jsonpickle)\b(?:\.|\s*$)"
        r"|\b(?:eval|exec|__import__)\(|yaml\.(?:unsafe_)?load\("
    )
    places = {
        (path.relative_to(PACKAGE).as_posix(), line.strip())
        for path in PACKAGE.rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if runs_code.search(line.partition("#")[0])
    }
    assert places == {
        ("_serialization.py", "import pickle"),
        ("_serialization.py", "pickled_data: bytes = pickle.dumps(data)"),
        ("_serialization.py", "return pickle.loads(pickled_data)"),
    }
