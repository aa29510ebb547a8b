"""Importers of other packages that break their contract store nothing, and are named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import registry
from veritrail_graph.graph.importers.records import (
    ClaimRecord,
    EdgeRecord,
    Header,
    NodeRecord,
    Remark,
)
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.ingest.check import Survey, survey

USUAL: tuple[Any, ...] = (
    NodeRecord("r", "Text.", "line 1"),
    NodeRecord("t", "Said.", "line 2"),
    EdgeRecord("r", "t", "line 3"),
    ClaimRecord("Said.", "line 4"),
)


class Mine:
    """Reads `.mine` files as a test says."""

    name, description, extra = "mine", "a test's", None
    header: Any = Header("mine", name="Mine")
    given: Any = USUAL
    detected: Callable[[], Any] = staticmethod(lambda: None)
    opened: Callable[[], Any] | None = None
    found: Callable[[Path], Any] | None = None

    def detect(self, path: Path) -> Any:
        return self.detected() if path.suffix == ".mine" else "no .mine"

    def processes(self, path: Path, options: ImportOptions) -> Any:
        print("chatter")
        if self.found is not None:
            return self.found(path)
        return iter([Found(str(path), self.opened or (lambda: self))])

    def records(self) -> Iterator[Any]:
        yield from self.given() if callable(self.given) else self.given


@pytest.fixture
def bring(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., type[Mine]]]:
    def brought(*kinds: type[Mine], **values: Any) -> type[Mine]:
        kinds = kinds or (type("Brought", (Mine,), values),)
        points = []
        for number, kind in enumerate(kinds):
            monkeypatch.setitem(globals(), f"BROUGHT_{number}", kind)
            name = f"mine{number or ''}"
            points.append(EntryPoint(name, f"{__name__}:BROUGHT_{number}", registry.GROUP))
        monkeypatch.setattr(registry, "entry_points", lambda group: points)
        _forget()
        return kinds[0]

    yield brought
    _forget()


def _forget() -> None:
    registry.importers.cache_clear()
    registry.of_others.cache_clear()


def read(tmp_path: Path) -> Survey:
    path = tmp_path / "a.mine"
    path.write_text("x", encoding="utf-8")
    return survey(registry.open_input(path))


def leave(*_: Any) -> Any:
    raise SystemExit(0)


def half(*_: Any) -> Iterator[Any]:
    yield USUAL[0]
    raise SystemExit(3)


def node(**values: Any) -> dict[str, Any]:
    return {"given": (NodeRecord(**{"node_id": "r", "text": "T.", "where": "line 1", **values}),)}


def with_(record: Any) -> dict[str, Any]:
    return {"given": (*USUAL, record)}


LIES: dict[str, dict[str, Any]] = {
    "detect leaves": {"detected": staticmethod(leave)},
    "detect gives a bool": {"detected": staticmethod(lambda: False)},
    "processes leaves": {"found": leave},
    "processes gives None": {"found": lambda *_: None},
    "processes gives texts": {"found": lambda *_: ["a"]},
    "open leaves": {"opened": staticmethod(leave)},
    "open gives None": {"opened": staticmethod(lambda: None)},
    "no header": {"header": {}},
    "a process_id that is a path": {"header": Header("mine", process_id="../../etc")},
    "a process_id that is a number": {"header": Header("mine", process_id=7)},  # type: ignore[arg-type]
    "a name that is bytes": {"header": Header("mine", name=b"n")},  # type: ignore[arg-type]
    "warnings that are None": {"header": Header("mine", warnings=None)},  # type: ignore[arg-type]
    "a stage name for no stage": {"header": Header("mine", stage_names={-1: "x"})},
    "half a character in the name": {"header": Header("mine", name="\ud800")},
    "an explained share of 7": {"header": Header("mine", explained=7.0)},
    "records leaves": {"given": leave},
    "records leaves in the middle": {"given": half},
    "records gives None": {"given": lambda *_: None},
    "records that are tuples": with_(("a", "b")),
    "a record without a place": with_(NodeRecord("x", "y", None)),  # type: ignore[arg-type]
    "a node_id that is a number": node(node_id=5),
    "an empty node_id": node(node_id=""),
    "a node_id of a million characters": node(node_id="n" * 1_000_000),
    "a text that is bytes": node(text=b"T."),
    "half a character in a text": node(text="\ud800"),
    "a negative stage": node(stage=-1),
    "a stage that is a text": node(stage="1"),
    "an origin outside the enum": node(origin="heaven"),
    "metadata that is a list": node(metadata=[1]),
    "metadata with NaN": node(metadata={"a": float("nan")}),
    "metadata with an object": node(metadata={"a": object()}),
    "an edge to a number": with_(EdgeRecord("r", 5, "line 9")),  # type: ignore[arg-type]
    "an edge with a score of infinity": with_(EdgeRecord("r", "t", "line 9", score=float("inf"))),
    "an edge to another's node": with_(EdgeRecord("r", "elsewhere", "line 9")),
    "a claim that is a number": with_(ClaimRecord(5, "line 9")),  # type: ignore[arg-type]
    "a claim with a negative place": with_(ClaimRecord("Said.", "line 9", start=-1, end=2)),
    "a claim with a path for an id": with_(ClaimRecord("Said.", "line 9", claim_id="../k")),
    "a remark that is a number": with_(Remark(5)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("lie", LIES)
def test_what_breaks_the_contract_is_a_clear_error(
    lie: str, bring: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bring(**LIES[lie])
    with pytest.raises(InputError) as error:
        read(tmp_path)
    told = str(error.value) + "".join(map(str, error.value.violations))
    assert "mine" in told or "line " in told
    assert capsys.readouterr().out == ""


def test_an_importer_that_keeps_it_is_read(
    bring: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bring(header=Header("mine", name="Mine", explained=0.5))
    found = read(tmp_path)
    assert (len(found.lengths), len(found.claims), found.header.name) == (2, 1, "Mine")
    out, err = capsys.readouterr()
    assert (out, "chatter" in err) == ("", True)


@pytest.mark.parametrize(
    "values",
    [
        {"name": 5},
        {"description": None},
        {"options": "answer"},
        {"suffixes": ".toy"},
        {"options": (1, 2)},
        {"__init__": leave},
    ],
)
def test_an_importer_of_a_wrong_form_is_left_out(
    bring: Callable[..., Any], values: dict[str, Any]
) -> None:
    bring(**values)
    assert [one.name for one in registry.of_others()[1]] == ["mine"]
    assert "mine" not in {one.name for one in registry.importers()}


def test_of_two_importers_of_one_format_the_second_is_left_out(bring: Callable[..., Any]) -> None:
    bring(Mine, Mine)
    assert [one.name for one in registry.of_others()[1]] == ["mine1"]
