"""An ingest of many small processes that is killed: each is stored whole, once, or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.homes import a_home

pytestmark = [pytest.mark.engine, pytest.mark.timeout(1_800)]

LAST = 8
"""Processes about a kill whose texts are compared; of all others their parts are counted."""
OF_EACH = ("nodes", "edges", "claims")


@pytest.fixture
def killed(request: pytest.FixtureRequest) -> Iterator[tuple[Veritrail, str]]:
    """A home, and what is killed in it: the command, or in a home of its own the engine."""
    is_engine = request.param == "engine"
    shared = nullcontext(None if is_engine else request.getfixturevalue("veritrail"))
    with a_home() if is_engine else shared as home:
        assert home is not None
        yield home, request.param


def files(folder: Path, count: int) -> dict[str, dict[str, Any]]:
    """Write a file for each process; their contents by id."""
    written = {}
    for number in range(count):
        name = f"{folder.name}-{number}"
        texts = [f"Gauge {number} read {tide} at noon. " * 4 for tide in range(3)]
        written[name] = document = {
            "format": "veritrail.process/1",
            "process_id": name,
            "nodes": [{"node_id": f"n{place}", "text": text} for place, text in enumerate(texts)],
            "edges": [{"source": f"n{place}", "target": "n2"} for place in (0, 1)],
            "claims": [{"claim_id": "k", "text": texts[2], "node_id": "n2"}],
        }
        (folder / f"{number:04}.json").write_text(json.dumps(document), encoding="utf-8")
    return written


@pytest.mark.parametrize(
    ("killed", "count", "moments"),
    [
        ("command", 300, (20,)),
        pytest.param("command", 2_000, (1, 99, 350, 1_200), marks=pytest.mark.soak),
        pytest.param("engine", 2_000, (1, 99, 350, 1_200), marks=pytest.mark.soak),
    ],
    indirect=["killed"],
)
def test_many_processes_killed_at_any_moment_are_whole_or_absent_and_go_on(
    killed: tuple[Veritrail, str], tmp_path: Path, count: int, moments: tuple[int, ...]
) -> None:
    home, what = killed
    given = files(tmp_path, count)
    before: list[str] = []
    for moment in moments:
        running = home.start("ingest", str(tmp_path))
        running.until_said(rf"{tmp_path.name}-{moment} \((created|unchanged)")
        if what == "engine":
            home.kill_engine()
        else:
            running.child.kill()
        running.child.communicate()
        stored = those_of(home, given)
        assert stored[: len(before)] == before
        assert moment < len(stored) < count
        for name in stored[len(before) :][-LAST:]:
            assert_whole(home, name, given[name])
        before = stored
    done = home("ingest", str(tmp_path), "--json").json
    assert (done["created"], done["unchanged"]) == (count - len(before), len(before))
    assert those_of(home, given) == list(given)
    for name in list(given)[len(before) :][:LAST]:
        assert_whole(home, name, given[name])


def those_of(home: Veritrail, given: dict[str, Any]) -> list[str]:
    """The processes that are stored, in the order of the files; none is without its parts."""
    listed = [one for one in home("list", "--json").json["processes"] if one["process_id"] in given]
    assert {(one["nodes"], one["edges"], one["claims"]) for one in listed} <= {(3, 2, 1)}
    stored = {one["process_id"] for one in listed}
    assert len(stored) == len(listed)
    return [name for name in given if name in stored]


def assert_whole(home: Veritrail, name: str, given: dict[str, Any]) -> None:
    _, *lines = map(json.loads, home("export", name).out.splitlines())
    found = {kind: [one[kind[:-1]] for one in lines if kind[:-1] in one] for kind in OF_EACH}
    for kind in OF_EACH:
        expected = given[kind]
        assert [{key: one[key] for key in expected[0]} for one in found[kind]] == expected
