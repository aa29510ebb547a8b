"""The command line and a server that is slow, starting or cut off: the messages."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from acceptance.command import Veritrail, process_file
from acceptance.homes import a_home
from fakes.ports import free_port
from fakes.tcp_proxy import Cut, TcpProxy, tcp_proxy

pytestmark = [pytest.mark.engine, pytest.mark.slow]


@pytest.fixture(scope="module")
def served(veritrail: Veritrail) -> Iterator[tuple[Veritrail, TcpProxy]]:
    """The command with a server behind a proxy, as if it were on another machine."""
    started = veritrail("db", "start", "--json").json
    password = Path(started["password_file"]).read_text("utf-8").strip()
    with tcp_proxy(started["uri"]) as proxy:
        login = {
            "NEO4J_URI": proxy.uri,
            "NEO4J_USERNAME": started["username"],
            "NEO4J_PASSWORD": password,
            "NEO4J_DATABASE": started["database"],
        }
        yield Veritrail(veritrail.home, login), proxy


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("NEO4J_URI", "http://graph.example:7474/browser/", "bolt://graph.example:7687"),
        ("NEO4J_URI", "https://graph.example", "speaks Bolt"),
        ("NEO4J_URI", "graph.example:7687", "write it as bolt://host:7687"),
        ("VERITRAIL_QUERY_SECONDS", "0", "number of seconds"),
        ("VERITRAIL_QUERY_SECONDS", "a minute", "number of seconds"),
        ("VERITRAIL_CONNECT_SECONDS", "-1", "number of seconds"),
    ],
)
def test_a_setting_of_the_connection_that_cannot_be(
    bare: Veritrail, name: str, value: str, words: str
) -> None:
    told = bare("list", "--json", status=2, **{name: value})
    assert name in told.message
    assert value in told.message
    assert words in told.message


def test_a_server_that_does_not_come_is_waited_for_and_told(bare: Veritrail) -> None:
    uri = f"bolt://127.0.0.1:{free_port()}"
    began = time.monotonic()
    told = bare("list", "--json", status=3, NEO4J_URI=uri, VERITRAIL_CONNECT_SECONDS="3")
    assert time.monotonic() - began > 3
    assert f"Waiting for the graph engine at {uri}" in told.err
    assert "Is it running?" in told.message
    quick = bare("list", "--json", status=3, NEO4J_URI=uri, VERITRAIL_CONNECT_SECONDS="0")
    assert "Waiting" not in quick.err


def test_a_query_that_takes_too_long_is_given_up_with_words(
    served: tuple[Veritrail, TcpProxy], tmp_path: Path
) -> None:
    veritrail, proxy = served
    veritrail("ingest", process_file(tmp_path / "slow.json"))
    query = ("query", "stage_summary", "--param", "process_id=slow", "--json")
    try:
        proxy.delay = 0.4
        # In a process of its own: the line that it gives up is closed with it.
        told = veritrail.child(*query, status=3, VERITRAIL_QUERY_SECONDS="0.3")
        assert "longer than 0.3 seconds" in told.message
        assert "VERITRAIL_QUERY_SECONDS" in told.message
    finally:
        proxy.heal()
    assert veritrail(*query).json["rows"]


def test_a_line_that_is_cut_for_good_ends_an_ingest_and_the_next_one_stores_it_once(
    served: tuple[Veritrail, TcpProxy], tmp_path: Path
) -> None:
    veritrail, proxy = served
    veritrail("list")  # the schema is made
    names = [f"n{number}" for number in range(300)]
    path = process_file(
        tmp_path / "long.json",
        nodes=[{"node_id": name, "text": f"Text of {name}."} for name in [*names, "t"]],
        edges=[{"source": name, "target": "t"} for name in names],
        claims=[{"claim_id": "k", "text": "A claim."}],
    )
    whole = (301, 300, 1)
    for number in range(1, 60):
        proxy.plan(Cut(number=number, is_answered=True, times=1_000))
        ended = veritrail.start("ingest", path, "--json")
        out, err = ended.child.communicate(timeout=120)
        proxy.heal()
        listed = veritrail("list", "--json").json["processes"]
        found = [one for one in listed if one["process_id"] == "long"]
        if ended.child.returncode == 0:
            assert number > 1
            break
        assert ended.child.returncode == 3, err.decode()
        assert "graph engine" in json.loads(out)["error"]["message"]
        assert "Traceback" not in err.decode()
        assert not found or (found[0]["nodes"], found[0]["edges"], found[0]["claims"]) == whole
        veritrail("ingest", path)
        stored = veritrail("list", "--json").json["processes"]
        [again] = [one for one in stored if one["process_id"] == "long"]
        assert (again["nodes"], again["edges"], again["claims"]) == whole
        counted = veritrail(
            "query", "source_nodes", "-p", "process_id=long", "-p", "node_id=t", "--json",
            "-p", "limit=1000",
        ).json["rows"]  # fmt: skip
        assert len(counted) == 300
        veritrail("delete", "long", "--yes")
    else:
        raise AssertionError("it never got through")


@pytest.mark.soak
def test_a_copy_of_the_folder_of_a_stopped_engine_is_a_back_up(
    bare: Veritrail, tmp_path: Path
) -> None:
    bare("ingest", process_file(tmp_path / "kept.json"))
    before = bare("list", "--json").json
    bare("db", "stop")
    with a_home() as other:
        other.home.mkdir(mode=0o700)
        shutil.copytree(bare.home / "engine" / "databases", other.home / "engine" / "databases")
        assert other("list", "--json").json == before
