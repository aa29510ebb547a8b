"""On a terminal: colours, progress, a question before a deletion; hostile texts do nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail, process_file

pytest.importorskip("termios", reason="no terminals to open here")
pytestmark = pytest.mark.engine

COLOUR = re.compile(r"\x1b\[(?:\d+;)*3[0-7](?:;\d+)*m")
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ATTACKS = {
    "title": "\x1b]0;pwned\x07",
    "colour": "\x1b[31mred\x1b[0m",
    "one byte": "\x9b31mred",
    "bell": "\x07",
    "backspace": "safe\x08\x08\x08\x08evil",
    "bidi": "\u202egnp.exe\u202c",
    "isolate": "\u2066x\u2069",
    "line": "one\u2028two",
    "delete": "\x7f",
    "return": "good\rfake",
}
HARMLESS = "[red]kept[/red] [link=http://example.invalid]kept[/link] :bomb: 👩\u200d🚀"
ALL = " ".join(ATTACKS.values())


@pytest.fixture(scope="module")
def hostile(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A verified process that holds what could drive a terminal in every text."""
    folder = tmp_path_factory.mktemp("hostile")
    source = f"node {ALL} {HARMLESS}"
    nodes = [
        {"node_id": source, "text": f"The barge carries 24 crates {ALL} {HARMLESS}."},
        {"node_id": "t", "text": "A summary."},
    ]
    path = process_file(
        folder / "hostile.json",
        process_id="x:bomb:y",
        name=f"name {ALL} {HARMLESS}",
        stages={"1": f"stage {ALL}"},
        nodes=nodes,
        edges=[{"source": source, "target": "t"}],
        claims=[
            {"claim_id": "k", "text": f"The barge carries 24 crates {ALL} {HARMLESS}."},
            *({"claim_id": f"k{n}", "text": f"{n} {ALL} {HARMLESS}"} for n in range(3)),
        ],
    )
    shown = veritrail.on_terminal("ingest", path)
    run: dict[str, Any] = veritrail("verify", "x:bomb:y", "--json").json
    return {"ingest": shown, "verification_id": run["verifications"][0]["verification_id"]}


def assert_inert(shown: str) -> None:
    """Only the escapes of our own colours and progress reached the terminal."""
    plain = ANSI.sub("", shown).replace("\r\n", "\n")
    wild = {char for char in plain if not char.isprintable() and char not in "\n\r\u200d"}
    assert not wild
    assert "good\rfake" not in plain
    assert "\x1b]" not in shown
    assert "\x1b[31mred" not in shown


def test_hostile_texts_are_shown_and_do_nothing(
    veritrail: Veritrail, hostile: dict[str, Any]
) -> None:
    assert_inert(hostile["ingest"])
    tree = veritrail.on_terminal("show", hostile["verification_id"])
    assert_inert(tree)
    plain = ANSI.sub("", tree)
    assert "[red]kept[/red]" in plain
    assert ":bomb:" in plain
    assert "\\x1b[31mred" in plain
    assert "\\u202e" in plain
    for arguments in (
        ["list", "x:bomb:y"],
        ["query", "claims", "-p", "process_id=x:bomb:y"],
    ):
        shown = veritrail.on_terminal(*arguments)
        assert_inert(shown)
        assert "💣" not in shown
    assert_inert(veritrail.on_terminal("verify", "p", f"--{ALL}", status=2))


def test_json_on_a_terminal_is_inert_and_says_the_same(
    veritrail: Veritrail, hostile: dict[str, Any]
) -> None:
    shown = veritrail.on_terminal("show", hostile["verification_id"], "--json")
    assert_inert(shown)
    assert ANSI.search(shown) is None
    assert json.loads(shown)["claim"] == f"The barge carries 24 crates {ALL} {HARMLESS}."


def test_nothing_hostile_passes_through_a_pipe(
    veritrail: Veritrail, hostile: dict[str, Any], tmp_path: Path
) -> None:
    for arguments in (
        ["show", hostile["verification_id"]],
        ["list", "x:bomb:y"],
        ["report", "x:bomb:y"],
    ):
        told = veritrail(*arguments)  # checks for escapes
        assert "\u202e" not in told.out
        assert "\x9b" not in told.out
        assert "\x07" not in told.out


def test_colours_are_for_terminals_and_not_under_no_color(
    veritrail: Veritrail, hostile: dict[str, Any]
) -> None:
    coloured = veritrail.on_terminal("verify", "x:bomb:y", "--claim-id", "k", is_new=True)
    assert COLOUR.search(coloured)
    assert "indicative only" in coloured
    plain = veritrail.on_terminal("verify", "x:bomb:y", "--claim-id", "k", NO_COLOR="1")
    assert not COLOUR.search(plain)
    assert "indicative only" in plain
    told = veritrail("verify", "x:bomb:y", "--claim-id", "k")
    assert "indicative only" in told.out


def test_a_deletion_asks_and_no_means_no(veritrail: Veritrail, tmp_path: Path) -> None:
    veritrail("ingest", process_file(tmp_path / "asked.json"))
    shown = veritrail.on_terminal("delete", "asked", typed="n\n", status=1)
    assert "Delete asked" in shown
    assert "Nothing was deleted" in shown
    assert "asked" in veritrail.stored()
    veritrail.on_terminal("delete", "asked", typed="y\n")
    assert "asked" not in veritrail.stored()
