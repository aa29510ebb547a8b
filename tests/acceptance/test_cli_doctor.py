"""`veritrail doctor`: what is there, what is missing, and what it never does by itself."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import KEY, asking
from fakes.model_server import ModelServer

from veritrail_graph.api.app.doctor import PORT

pytestmark = pytest.mark.engine


def states(answer: dict[str, object]) -> dict[str, str]:
    """State by what was looked at."""
    return {one["about"]: one["state"] for one in answer["findings"]}  # type: ignore[attr-defined]


def test_without_a_model_all_is_fine_but_verdicts_are_indicative(veritrail: Veritrail) -> None:
    found = veritrail("doctor", "--json").json
    assert found["fine"]
    expected = {"versions": "fine", "data folder": "fine", "graph": "fine", "model": "warning"}
    assert {name: state for name, state in states(found).items() if name != "port"} == expected
    shown = veritrail("doctor")
    assert "indicative" in shown.out
    assert "Nothing is missing." in shown.err


def test_a_taken_port_is_told_with_the_next_one(veritrail: Veritrail) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", PORT))
        except OSError:
            pass  # another program has it, which is as good
        else:
            taken.listen()
        found = veritrail("doctor").out
    assert f"--port {PORT + 1}" in found


def test_the_model_is_asked_only_when_that_is_wanted(veritrail: Veritrail) -> None:
    with ModelServer() as server:
        settings = asking(server)
        quiet = veritrail("doctor", "--json", **settings)
        assert server.requests == []
        assert KEY not in quiet.out
        assert veritrail("doctor", "--ask", "--json", **settings).json["fine"]
        assert len(server.requests) == 1
    gone = veritrail("doctor", "--ask", "--json", status=2, **settings)
    assert states(gone.json)["answer"] == "fault"


@pytest.mark.parametrize(
    ("settings", "about", "told"),
    [
        ({"NEO4J_URI": "bolt://127.0.0.1:1"}, "graph (NEO4J_URI)", "cannot be reached"),
        ({"VERITRAIL_HOME": "/proc/nowhere"}, "graph", "VERITRAIL_HOME"),
        ({"VERITRAIL_MODEL": "gpt-6-luna"}, "model", "key"),
        ({"VERITRAIL_ENGINE": "openai"}, "model", "model"),
        ({"VERITRAIL_ENGINE": "unheard"}, "model", "unheard"),
    ],
)
def test_what_is_missing_is_named(
    veritrail: Veritrail, settings: dict[str, str], about: str, told: str
) -> None:
    found = veritrail("doctor", "--json", status=2, **settings).json
    assert not found["fine"]
    (fault,) = (one for one in found["findings"] if one["state"] == "fault")
    assert fault["about"] == about
    assert told in fault["told"]


def test_files_are_looked_at_with_what_to_record_and_without_storing(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    rows = [{"question": "Cars?", "contexts": ["It carries 42 cars."], "answer": "It has 48."}]
    log.write_text("\n".join(map(json.dumps, [*rows, {"answer": "It has 48."}])), "utf-8")
    shown = veritrail("doctor", log, status=2)
    assert "1 of 2, the first in" in shown.out
    assert "Cannot be checked: 1 of 2 processes." in shown.err
    log.write_text(json.dumps(rows[0]), "utf-8")
    assert f"veritrail check {log}" in veritrail("doctor", log).err
    assert veritrail("doctor", log, "--json").json["inputs"][0]["holds"]["texts"]["source"] == 1
    nothing = veritrail("doctor", "--answer", log, status=2)
    assert "Name the file or folder" in nothing.err
    assert "leave out the files" in veritrail("doctor", log, "--ask", status=2).err
    log.write_text(json.dumps({"facts": ["It carries 42 cars."], "said": "It has 48."}), "utf-8")
    veritrail("doctor", log, "--columns", "contexts=facts,answer=said")
    assert "as they were mapped for an earlier table" in veritrail("doctor", log).out
