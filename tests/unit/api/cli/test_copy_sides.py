"""Which graphs `veritrail copy` speaks to, and with which login."""

from __future__ import annotations

from pathlib import Path

import pytest

from veritrail_graph.api.cli.export import is_same_graph, side
from veritrail_graph.graph.errors import InputError

USUAL = {
    "NEO4J_URI": "bolt://usual:7687",
    "NEO4J_USERNAME": "me",
    "NEO4J_PASSWORD": " secret ",
    "NEO4J_DATABASE": "mine",
}


@pytest.fixture(autouse=True)
def usual(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in USUAL.items():
        monkeypatch.setenv(name, value)


def test_the_usual_server_is_reached_with_the_usual_login() -> None:
    found = side("from", "bolt://usual:7687")
    assert (found.neo4j_uri, found.neo4j_username) == ("bolt://usual:7687", "me")
    assert (found.neo4j_password, found.neo4j_database) == (" secret ", "mine")


def test_another_server_never_gets_the_usual_login() -> None:
    found = side("to", "bolt://other:7687")
    assert (found.neo4j_uri, found.neo4j_username) == ("bolt://other:7687", None)
    assert (found.neo4j_password, found.neo4j_database) == (None, None)


def test_each_side_has_a_login_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERITRAIL_TO_USERNAME", "you")
    monkeypatch.setenv("VERITRAIL_TO_PASSWORD", "other")
    there = side("to", "neo4j://other:7687")
    assert (there.neo4j_username, there.neo4j_password) == ("you", "other")
    here = side("from", "bolt://usual:7687")
    assert (here.neo4j_username, here.neo4j_password) == ("me", " secret ")


def test_part_of_a_login_leaves_the_rest_of_the_usual_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VERITRAIL_TO_DATABASE", "second")
    found = side("to", "bolt://usual:7687")
    assert (found.neo4j_username, found.neo4j_database) == ("me", "second")


def test_a_login_may_stand_in_the_file_of_settings() -> None:
    Path(".env").write_text("VERITRAIL_FROM_USERNAME=filed\nVERITRAIL_FROM_PASSWORD=away\n")
    found = side("from", "bolt://other:7687")
    assert (found.neo4j_username, found.neo4j_password) == ("filed", "away")


def test_embedded_is_the_engine_of_the_home_or_of_a_folder(tmp_path: Path) -> None:
    usual_home = side("from", "embedded")
    other_home = side("to", f"embedded:{tmp_path}")
    assert usual_home.neo4j_uri is other_home.neo4j_uri is None
    assert other_home.home == tmp_path
    assert usual_home.home != tmp_path


@pytest.mark.parametrize(
    "address", ["", "nonsense", "http://x:7474", "bolt://", "bolt://u:hidden@x:1", "embedded:"]
)
def test_what_is_no_graph_is_told_by_its_option(address: str) -> None:
    with pytest.raises(InputError, match="--to") as told:
        side("to", address)
    assert "hidden" not in str(told.value)
    assert "NEO4J_URI" not in str(told.value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bolt://localhost:7687", "bolt://127.0.0.1:7687"),
        ("bolt://127.0.0.1", "neo4j://127.0.0.1:7687"),
        ("bolt+s://Graph.example:7687", "bolt://graph.example"),
    ],
)
def test_two_addresses_of_one_server_are_one_graph(one: str, other: str) -> None:
    assert is_same_graph(side("from", one), side("to", other))


@pytest.mark.parametrize("other", ["bolt://127.0.0.1:7688", "bolt://127.0.0.2:7687", "embedded"])
def test_other_ports_hosts_and_engines_are_other_graphs(other: str) -> None:
    assert not is_same_graph(side("from", "bolt://127.0.0.1:7687"), side("to", other))


def test_two_databases_of_one_server_are_two_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "bolt://127.0.0.1"
    monkeypatch.setenv("VERITRAIL_TO_DATABASE", "neo4j")
    assert is_same_graph(side("from", address), side("to", address))
    monkeypatch.setenv("VERITRAIL_TO_DATABASE", "second")
    assert not is_same_graph(side("from", address), side("to", address))


def test_a_folder_by_another_path_is_the_same_graph(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    one = side("from", f"embedded:{tmp_path / 'link'}")
    assert is_same_graph(one, side("to", f"embedded:{tmp_path}/./real"))
    assert not is_same_graph(one, side("to", f"embedded:{tmp_path / 'other'}"))
