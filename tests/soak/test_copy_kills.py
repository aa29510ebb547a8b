"""`copy` and the index of search killed again and again: whole or not there, and soon right."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.homes import a_home
from neo4j_server.launcher import Server

pytestmark = [pytest.mark.engine, pytest.mark.soak, pytest.mark.timeout(3_600)]

ROUNDS = int(os.environ.get("VERITRAIL_SOAK_ROUNDS", "30"))
NODES = 2_000
CLAIMS = 12


def write_process(path: Path, name: str, word: str) -> str:
    """A process whose every node and claim holds a word of its own."""
    nodes = [
        {"node_id": f"n{number}", "text": f"Gauge {number} read {number * 3} {word}. " * 4}
        for number in range(NODES)
    ]
    document = {
        "format": "veritrail.process/1",
        "process_id": name,
        "nodes": [*nodes, {"node_id": "t", "text": f"All gauges were read {word}."}],
        "edges": [{"source": node["node_id"], "target": "t"} for node in nodes],
        "claims": [
            {"claim_id": f"k{number}", "text": f"Gauge {number} read {number * 3} {word}."}
            for number in range(CLAIMS)
        ],
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


class Side:
    """One graph of a copy: how `copy` names it, and what it holds."""

    def __init__(self, name: str, veritrail: Veritrail, login: dict[str, str]) -> None:
        self.name = name
        self.veritrail = veritrail
        self.login = login

    def stored(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.veritrail("list", "--json").json["processes"]
        return listed

    def whole(self, process: str) -> list[str]:
        """Its process file, line by line, in an order of its own."""
        return sorted(self.veritrail("export", process, "--format", "process").out.splitlines())


@pytest.fixture
def sides(neo4j_server: Server) -> Iterator[tuple[Side, Side]]:
    with ExitStack() as stack:
        home, other = stack.enter_context(a_home()), stack.enter_context(a_home())
        on_server = other.on(neo4j_server)
        login = {
            f"VERITRAIL_{side}_{key}": on_server.settings[f"NEO4J_{key}"]
            for side in ("FROM", "TO")
            for key in ("USERNAME", "PASSWORD", "DATABASE")
        }
        yield (
            Side(f"embedded:{home.home}", home, {}),
            Side(neo4j_server.uri, on_server, login),
        )


@pytest.mark.parametrize("is_back", [False, True], ids=["to-neo4j", "to-embedded"])
def test_a_copy_killed_anywhere_leaves_all_or_nothing(
    sides: tuple[Side, Side], is_back: bool, tmp_path: Path
) -> None:
    source, target = reversed(sides) if is_back else sides
    name = f"copied-{'back' if is_back else 'there'}"
    source.veritrail("ingest", write_process(tmp_path / "a.json", name, "at noon"))
    source.veritrail("verify", name, "--engine", "lexical")
    sent = source.whole(name)
    assert len(sent) > 2 * NODES
    command = ("copy", name, "--from", source.name, "--to", target.name, "--replace", "--json")
    source.veritrail(*command, **target.login, **source.login)  # both engines run now
    target.veritrail("delete", name, "--yes")
    began = time.monotonic()
    source.veritrail.child(*command, **target.login, **source.login)
    usual = time.monotonic() - began
    chance = random.Random(7)  # a repeatable loop, no secret
    killed = left = 0
    for number in range(ROUNDS):
        if number % 3 == 0:
            target.veritrail("delete", name, "--yes")
        elif number % 3 == 1:  # another content, which the copy replaces
            path = write_process(tmp_path / "b.json", name, f"at night {number}")
            target.veritrail("ingest", path, "--replace")
        child = source.veritrail.start(*command, **target.login, **source.login).child
        began = time.monotonic()
        with suppress(subprocess.TimeoutExpired):
            child.wait(chance.uniform(0.2, 0.9 * usual))
            usual = min(usual, time.monotonic() - began)
        child.kill()
        out, err = child.communicate()
        assert b"Traceback" not in out + err
        killed += child.returncode == -signal.SIGKILL
        if is_back and number % 5 == 4 and (pid := target.veritrail.engine_pid()) is not None:
            os.kill(pid, signal.SIGKILL)
        found = [one["nodes"] for one in target.stored() if one["process_id"] == name]
        assert found in ([], [NODES + 1]), "half of it is visible"
        left += bool(found)
        if found:
            assert len(target.whole(name)) >= 2 * NODES, "it is listed and cannot be read"
        kept = [one["nodes"] for one in source.stored() if one["process_id"] == name]
        assert kept == [NODES + 1], "the source is not what it was"
        if number % 3 == 2:
            source.veritrail(*command, **target.login, **source.login)
            assert target.whole(name) == sent
    source.veritrail(*command, **target.login, **source.login)
    assert target.whole(name) == sent == source.whole(name)
    assert target.veritrail("db", "clean", "--json").json == {"cleaned": []}
    print(f"{name}: {ROUNDS} rounds, {killed} kills, there after {left} of them, {usual:.1f} s")
    assert killed > ROUNDS / 3


SOON = 5.0
"""Seconds within which a search after a kill is right."""


def test_a_search_killed_anywhere_is_right_soon(tmp_path: Path) -> None:
    chance = random.Random(8)
    killed, longest = 0, 0.0
    with a_home() as home:
        home("db", "start")
        for number in range(ROUNDS):
            word = f"zephyr{number}"
            path = write_process(tmp_path / "s.json", "searched", word)
            home("ingest", path, "--replace")
            child = home.start("search", word, "--json").child
            time.sleep(chance.uniform(0.2, 2.5))
            child.kill()
            out, err = child.communicate()
            assert b"Traceback" not in out + err
            killed += child.returncode == -signal.SIGKILL
            began = time.monotonic()
            while True:
                found = home("search", word, "--limit", "1000", "--json").json
                kinds = [one["kind"] for one in found["results"]]
                if found["waiting"] == 0:
                    break
                assert time.monotonic() - began < 60, "it stays behind"
            longest = max(longest, time.monotonic() - began)
            # The last node and the claims, and as many of the nodes as a page holds.
            assert len(kinds) == 1_000
            asked = home("search", word, "--kind", "claim", "--limit", "1000", "--json").json
            assert len(asked["results"]) == CLAIMS
            assert len({one["claim_id"] for one in asked["results"]}) == CLAIMS
            if number:
                earlier = home("search", f"zephyr{number - 1}", "--json").json
                exact = [
                    one for one in earlier["results"] if f"zephyr{number - 1}." in one["excerpt"]
                ]
                assert exact == [], "what was replaced is still found"
    print(f"search: {ROUNDS} rounds, {killed} kills, right after {longest:.1f} s at most")
    assert killed > ROUNDS / 3
