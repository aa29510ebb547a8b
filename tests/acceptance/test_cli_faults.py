"""Ctrl-C and dead engines: what is finished is kept and shown, and the next command works."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Started, Veritrail, process_file
from acceptance.homes import home_beside
from fakes.waiting import until
from neo4j import GraphDatabase

pytestmark = [pytest.mark.engine, pytest.mark.slow]

CLAIMS = 80
CRANES = 40
ROWS = 10_000


@pytest.fixture(scope="module")
def frail(other_home: Veritrail) -> Iterator[Veritrail]:
    """The command with an engine that these tests may kill."""
    with home_beside(other_home) as own:
        yield own


@pytest.fixture(scope="module")
def cranes(frail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A process with as many claims as it takes a while to verify them."""
    nodes = [
        {
            "node_id": f"c{crane}",
            "text": " ".join(
                f"Crane {crane} lifted {crane * 100 + day} crates from the barge Ada on day {day}."
                for day in range(6)
            ),
        }
        for crane in range(CRANES)
    ]
    claims = [
        {
            "claim_id": f"k{n}",
            "text": f"Crane {n % CRANES} lifted {n % CRANES * 100 + n % 6} crates from the barge "
            f"Ada on day {n % 6}.",
        }
        for n in range(CLAIMS)
    ]
    path = process_file(
        tmp_path_factory.mktemp("cranes") / "cranes.json",
        nodes=[*nodes, {"node_id": "t", "text": "The cranes were busy."}],
        edges=[{"source": node["node_id"], "target": "t"} for node in nodes],
        claims=claims,
    )
    frail("ingest", path)
    return "cranes"


def stored(veritrail: Veritrail, process: str) -> dict[str, dict[str, Any]]:
    """Stored verifications by id."""
    found = veritrail("list", process, "--json").json["verifications"]
    return {verification["verification_id"]: verification for verification in found}


def begin(veritrail: Veritrail, process: str) -> Started:
    """A run over all claims, of which some are finished and most are not."""

    def finished() -> int:
        return len(by_status(list(stored(veritrail, process).values()), "succeeded"))

    before = finished()
    run = veritrail.start("verify", process, "--json", "--again")
    until(lambda: finished() > before)
    return run


def by_status(verifications: list[dict[str, Any]], status: str) -> list[dict[str, Any]]:
    return [verification for verification in verifications if verification["status"] == status]


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(frail: Veritrail, cranes: str) -> None:
    run = begin(frail, cranes)
    run.interrupt()
    time.sleep(0.05)
    run.interrupt()  # the same key press, passed on once more by a wrapper
    ended = run.end(130)
    assert "veritrail verify --resume" in ended.err
    verifications = ended.json["verifications"]
    assert len(verifications) == CLAIMS
    finished = by_status(verifications, "succeeded")
    cancelled = by_status(verifications, "cancelled")
    assert finished
    assert len(finished) + len(cancelled) == CLAIMS
    assert f"{len(cancelled)} claim(s) are cancelled" in ended.err
    assert all(v["verdict"] is None and v["error"] for v in cancelled)

    kept = stored(frail, cranes)
    for verification in verifications:
        assert kept[verification["verification_id"]]["status"] == verification["status"]
    assert frail("show", finished[0]["verification_id"], "--json").json == finished[0]

    chosen = [found["claim_id"] for found in (finished[0], cancelled[0], cancelled[1])]
    options = [word for claim_id in chosen for word in ("--claim-id", claim_id)]
    rest = frail("verify", cranes, "--unfinished", *options, "--json").json["verifications"]
    assert [v["claim_id"] for v in rest] == chosen[1:]
    assert all(v["status"] == "succeeded" for v in rest)


def test_a_second_ctrl_c_leaves(frail: Veritrail, cranes: str) -> None:
    run = begin(frail, cranes)
    run.interrupt()
    for _ in range(40):  # whichever comes first, the end in order or the second key press
        if run.child.poll() is not None:
            break
        time.sleep(0.1)
        run.interrupt()
    run.as_json_is_whole = False
    run.end(130)
    assert stored(frail, cranes)


def test_an_engine_that_dies_during_a_run_ends_it_with_what_was_found(
    frail: Veritrail, cranes: str
) -> None:
    run = begin(frail, cranes)
    frail.kill_engine()
    began = time.monotonic()
    ended = run.end(1)
    assert time.monotonic() - began < 60
    assert "could not be stored" in ended.err
    assert "could not be stored" in ended.json["error"]["message"]
    verifications = ended.json["verifications"]
    assert len(verifications) == CLAIMS
    assert by_status(verifications, "succeeded")
    assert len(by_status(verifications, "succeeded")) < CLAIMS

    again = frail("verify", cranes, "--claim-id", "k1", "--json").json["verifications"]
    assert [v["status"] for v in again] == ["succeeded"]


@pytest.mark.soak
def test_an_engine_that_was_killed_between_commands_is_started_again(
    frail: Veritrail, cranes: str
) -> None:
    before = frail("list", "--json").json
    frail.kill_engine()
    assert frail("list", "--json").json == before


@pytest.mark.soak
def test_ctrl_c_during_an_ingest_leaves_nothing_to_see(
    frail: Veritrail, cranes: str, tmp_path: Path
) -> None:
    path = tmp_path / "many.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.write('{"format": "veritrail.process/1", "process_id": "many"}\n')
        for n in range(ROWS):
            file.write(
                json.dumps({"node": {"node_id": f"n{n}", "text": f"Line {n}. " * 60}}) + "\n"
            )
        file.write('{"edge": {"source": "n0", "target": "n1"}}\n')
        file.writelines(
            f'{{"edge": {{"source": "n{n}", "target": "n1"}}}}\n' for n in range(2, ROWS)
        )
    facts = frail("db", "status", "--json").json
    login = (facts["username"], Path(facts["password_file"]).read_text(encoding="utf-8").strip())
    first = "MATCH (s:Span {process_id: 'many'}) RETURN s.node_id LIMIT 1"
    with GraphDatabase.driver(facts["uri"], auth=login) as driver:
        ingest = frail.start("ingest", str(path), "--json")
        until(lambda: bool(driver.execute_query(first, database_=facts["database"]).records))
        ingest.interrupt()
    ingest.end(130)
    assert "many" not in frail.stored()
    assert (
        frail("ingest", process_file(tmp_path / "many.json"), "--json").json["status"] == "created"
    )
    frail("delete", "many", "--yes")


@pytest.mark.soak
def test_the_engine_is_started_pinned_shared_and_stopped(bare: Veritrail) -> None:
    assert bare("db", "status", "--json").json["running"] is False
    assert bare("db", "stop", "--json").json == {"stopped": False}
    started = bare("db", "start", "--json").json
    assert started["running"] is True
    assert started["pinned"] is True
    assert bare("list", "--json").json == {"processes": []}
    assert bare("db", "clean", "--json").json == {"cleaned": []}
    assert bare("db", "start", "--json").json["pid"] == started["pid"]
    password = Path(started["password_file"]).read_text("utf-8").strip()
    assert password not in bare("db", "status").out
    server = {"NEO4J_URI": started["uri"], "NEO4J_USERNAME": started["username"]}
    served = bare("db", "status", **server)
    assert started["uri"] in served.out

    wrong = bare("list", "--json", status=3, **server, NEO4J_PASSWORD="wrong-one")
    assert "NEO4J_PASSWORD" in wrong.message
    assert "wrong-one" not in wrong.out + wrong.err
    right = {**server, "NEO4J_PASSWORD": password, "NEO4J_DATABASE": started["database"]}
    assert bare("list", "--json", **right).json == {"processes": []}
    assert bare("db", "stop", "--json").json == {"stopped": True}
    assert bare("db", "status", "--json").json["pid"] is None
    told = bare("list", "--json", status=3, **right)
    assert started["uri"] in told.message
