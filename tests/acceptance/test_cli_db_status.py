"""`veritrail db status`: which graph is in use, and how any Bolt client gets in."""

from __future__ import annotations

from pathlib import Path

import neo4j
import pytest
from acceptance.command import Veritrail
from neo4j_server import launcher

from veritrail_graph.graph.store.schema import SCHEMA_VERSION

pytestmark = pytest.mark.engine


def test_an_engine_that_does_not_run_is_not_started(bare: Veritrail) -> None:
    status = bare("db", "status", "--json").json
    assert not status["running"]
    assert status["uri"] is status["schema_version"] is status["server"] is None
    assert not (bare.home / "engine" / "password").exists()
    assert "uri" not in bare("db", "status").out


def test_a_driver_gets_in_with_what_is_printed(veritrail: Veritrail, harbour: str) -> None:
    status = veritrail("db", "status", "--json").json
    assert status["running"]
    assert status["schema_version"] == SCHEMA_VERSION
    password = Path(status["password_file"]).read_text("utf-8").strip()
    login = (status["username"], password)
    with neo4j.GraphDatabase.driver(status["uri"], auth=login) as driver:
        found, _, _ = driver.execute_query(
            "MATCH (p:Process {process_id: $process_id}) RETURN p.status AS status",
            process_id=harbour,
            database_=status["database"],
        )
    assert [record["status"] for record in found] == ["ready"]


def test_the_password_is_printed_only_when_it_is_asked_for(
    veritrail: Veritrail, harbour: str, neo4j_server: launcher.Server
) -> None:
    file = Path(veritrail("db", "status", "--json").json["password_file"])
    secret = file.read_text("utf-8").strip()
    assert harbour
    for place in (veritrail, veritrail.on(neo4j_server)):
        for options in ([], ["--json"]):
            told = place("db", "status", *options)
            assert secret not in told.out + told.err
            assert neo4j_server.password not in told.out + told.err
            assert str(file) in told.out
            assert secret in place("db", "status", "--show-password", *options).out
    shown = veritrail.on(neo4j_server)("db", "status", "--show-password", "--json").json
    assert shown["server"]["password"] == neo4j_server.password


def test_a_server_in_use_is_told_with_its_version(
    veritrail: Veritrail, neo4j_server: launcher.Server
) -> None:
    place = veritrail.on(neo4j_server)
    place("list")  # makes the schema
    server = place("db", "status", "--json").json["server"]
    assert server["answers"]
    assert server["agent"].startswith("Neo4j/5.")
    assert server["edition"] in {"community", "enterprise"}
    assert server["schema_version"] == SCHEMA_VERSION
    assert server["password_from"] == "NEO4J_PASSWORD"
    told = place("db", "status")
    assert server["agent"] in told.out
    assert "NEO4J_URI is set" in told.err


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"NEO4J_PASSWORD": "wrong-password"}, "does not accept"),
        ({"NEO4J_URI": "bolt://127.0.0.1:1"}, "cannot be reached"),
        ({"NEO4J_DATABASE": "nowhere"}, "nowhere"),
    ],
)
def test_a_server_that_does_not_let_us_in_is_told_with_the_reason(
    veritrail: Veritrail, neo4j_server: launcher.Server, wrong: dict[str, str], says: str
) -> None:
    place = veritrail.on(neo4j_server, **wrong)
    server = place("db", "status", "--json").json["server"]
    assert not server["answers"]
    assert says in server["error"]
    assert "wrong-password" not in place("db", "status").out
