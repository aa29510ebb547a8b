"""The guide for Neo4j Browser and other clients: its statements, and the way in that it shows."""

from __future__ import annotations

import ast
import base64
import os
import re
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import neo4j
import pytest
from acceptance.command import Veritrail
from fakes import warm

from veritrail_graph.api.cli.shell import Splitter

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "browser.md").read_text("utf-8")
SAMPLE = str(ROOT / "examples" / "harbour-summary.json")
PICTURES, TABLES = {3, 6, 8, 9}, {2, 4, 5, 7, 10}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^ *```{language}\n(.*?)^ *```", GUIDE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module", params=["embedded", pytest.param("neo4j", marks=pytest.mark.soak)])
def filled(request: pytest.FixtureRequest, veritrail: Veritrail) -> Veritrail:
    """The command on each engine, with the sample ingested and verified as the guide says."""
    place = veritrail
    if request.param == "neo4j":
        place = veritrail.on(request.getfixturevalue("neo4j_server"))
    place("ingest", SAMPLE)
    place("verify", "harbour-summary")
    return place


def way_in(place: Veritrail) -> tuple[str, tuple[str, str], str]:
    """Address, login and database, from what `db status --json` says."""
    status = place("db", "status", "--json").json
    if status["server"] is not None:
        server = status["server"]
        assert server["answers"]
        password = place.settings[server["password_from"]]
        return server["uri"], (server["username"], password), server["database"]
    password = Path(status["password_file"]).read_text("utf-8").strip()
    return status["uri"], (status["username"], password), status["database"]


def test_the_ten_statements_of_the_guide_say_something(filled: Veritrail) -> None:
    texts = blocks("cypher")
    assert len(texts) == 10
    parameters: dict[str, Any] = {}
    for line in texts[0].splitlines():
        name, value = line.strip().removeprefix(":param").rstrip(";").split("=>")
        parameters[name.strip()] = ast.literal_eval(value.strip())
    uri, login, database = way_in(filled)
    with neo4j.GraphDatabase.driver(uri, auth=login) as driver:
        for number, text in enumerate(texts[1:], start=2):
            splitter = Splitter()
            (piece,) = [piece for line in text.splitlines() for piece in splitter.feed(line)]
            found = driver.execute_query(piece.text, parameters, database_=database)
            assert found.records, text
            graph = [v for record in found.records for v in record.values() if is_path(v)]
            assert bool(graph) == (number in PICTURES)
            assert (number in TABLES) == (not graph)


def is_path(value: Any) -> bool:
    return isinstance(value, neo4j.graph.Path)


def test_the_statements_can_be_pasted_into_the_shell(filled: Veritrail) -> None:
    told = filled("db", "shell", "--own", typed="".join(blocks("cypher")))
    assert "harbour-summary" in told.out
    assert "-[:LEADS_TO {" in told.out


def test_the_program_of_the_guide_finds_the_process(veritrail: Veritrail, harbour: str) -> None:
    (program,) = blocks("python")
    path = f"{warm.on_the_path()}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    child = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False,
        env=veritrail.environment({"PATH": path}),
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    assert harbour in child.stdout


def test_the_embedded_engine_takes_bolt_in_a_web_socket(veritrail: Veritrail, harbour: str) -> None:
    place = urlsplit(way_in(veritrail)[0])
    assert harbour
    with socket.create_connection((str(place.hostname), place.port or 0), 10) as connection:
        key = base64.b64encode(os.urandom(16)).decode()
        connection.sendall(
            f"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        assert connection.recv(4096).startswith(b"HTTP/1.1 101")
        hello = bytes.fromhex("6060b017") + struct.pack(">4I", 0x0405, 0x0404, 0, 0)
        connection.sendall(bytes([0x82, 0x80 | len(hello)]) + bytes(4) + hello)  # mask of zeros
        answer = b""
        while len(answer) < 6:  # header and content of the frame may come apart
            more = connection.recv(4096)
            assert more, answer
            answer += more
    assert answer[0] == 0x82  # a binary frame
    assert answer[2:] in {struct.pack(">I", 0x0405), struct.pack(">I", 0x0404)}
