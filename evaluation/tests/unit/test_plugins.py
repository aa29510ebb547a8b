"""Loaders and methods of other packages that cannot be used are named, and left out."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from veritrail_eval.datasets import loading
from veritrail_eval.datasets.model import Dataset
from veritrail_eval.dialogues import loading as dialogue_loading
from veritrail_eval.methods import registry as methods
from veritrail_graph.graph.errors import InputError

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/harbour-summary.json"


class FailingLoader:
    """Cannot look at any file, and cannot read any."""

    name = "failing"
    description = layout = source = "nothing"

    def detect(self, path: Path) -> str | None:
        raise KeyError("boom")

    def load(self, path: Path, *, skip_bad: bool = False) -> Dataset:
        raise KeyError("boom")


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def points(group: str, name: str | None = None) -> list[EntryPoint]:
        named = {
            "missing": "no_such_package.part:THING",
            "nothing": "builtins:object",
            "failing": f"{__name__}:FailingLoader",
        }
        return [EntryPoint(n, v, group) for n, v in named.items() if name in (None, n)]

    monkeypatch.setattr(loading, "entry_points", points)
    monkeypatch.setattr(dialogue_loading, "entry_points", points)
    monkeypatch.setattr(methods, "entry_points", points)
    _forget()
    yield
    _forget()


def _forget() -> None:
    for module in (loading, dialogue_loading):
        module.loaders.cache_clear()
        module.of_others.cache_clear()
    methods.method_kinds.cache_clear()
    methods.of_others.cache_clear()


@pytest.mark.usefixtures("broken")
def test_a_loader_that_fails_leaves_the_others_alone(caplog: pytest.LogCaptureFixture) -> None:
    assert loading.find_loader(EXAMPLE).name == "processes"
    assert [one.name for one in loading.of_others()[1]] == ["missing", "nothing"]
    assert len(caplog.messages) == 3
    assert "'missing' of the package no_such_package.part is not usable" in caplog.messages[0]
    with pytest.raises(InputError, match=r"loader 'failing' of the package .* failed: KeyError"):
        loading.load_dataset(EXAMPLE, format_name="failing")


@pytest.mark.usefixtures("broken")
def test_a_loader_of_dialogues_that_fails_leaves_the_others_alone(tmp_path: Path) -> None:
    assert dialogue_loading.loader_of(tmp_path) is None
    assert [one.name for one in dialogue_loading.of_others()[1]] == ["missing", "nothing"]
    found = dialogue_loading.loader_of(tmp_path, "failing")
    assert found is not None
    with pytest.raises(InputError, match=r"loader 'failing' of the package .* failed: KeyError"):
        found.load(tmp_path)


@pytest.mark.usefixtures("broken")
def test_a_method_that_cannot_be_loaded_leaves_the_others_alone() -> None:
    assert methods.method_kind("rag").name == "rag"
    assert "missing" not in methods.method_kinds()
    with pytest.raises(InputError, match=r"Unknown method 'missing'.* not usable: ModuleNotFound"):
        methods.method_kind("missing")
    with pytest.raises(InputError, match="it names a type, and no MethodKind"):
        methods.method_kind("nothing")
