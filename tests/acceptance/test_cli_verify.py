"""`veritrail verify`: which claims, which engine, and the shape of what comes back."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail, process_file

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def pier(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A process of two stages and two terminals, with stored claims."""
    folder = tmp_path_factory.mktemp("pier")
    nodes = [
        {"node_id": "source", "text": "The pier is 80 metres long. It was built in 1901."},
        {"node_id": "long", "text": "The pier is 80 metres long."},
        {"node_id": "old", "text": "The pier was built in 1951."},
    ]
    claims = [
        {"claim_id": "length", "text": "The pier is 80 metres long.", "node_id": "long"},
        {"claim_id": "year", "text": "The pier was built in 1951.", "node_id": "old"},
    ]
    edges = [{"source": "source", "target": target} for target in ("long", "old")]
    path = process_file(folder / "pier.json", nodes=nodes, edges=edges, claims=claims)
    veritrail("ingest", path)
    return "pier"


@pytest.fixture
def endpoint() -> Iterator[tuple[str, list[str]]]:
    """A model endpoint that only writes down who called."""
    called: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            called.append(self.path)
            self.send_error(500)

        def log_message(self, *_arguments: Any) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1", called
    server.shutdown()
    thread.join()
    server.server_close()


def run_of(veritrail: Veritrail, *arguments: str, **settings: str) -> dict[str, Any]:
    run: dict[str, Any] = veritrail("verify", *arguments, "--json", **settings).json
    return run


def claims_of(run: dict[str, Any]) -> list[str]:
    return [verification["claim"] for verification in run["verifications"]]


def test_claims_come_from_options_and_files_each_once(
    veritrail: Veritrail, pier: str, tmp_path: Path
) -> None:
    first, second, third = "The pier is 80 metres long.", "The pier is old.", "It is [new]."
    of = (pier, "--node", "long")
    twice = run_of(veritrail, *of, "--claim", first, "--claim", second, "--claim", first)
    assert claims_of(twice) == [first, second]
    files = {
        "texts.json": json.dumps([first, third]),
        "objects.json": json.dumps([{"text": first}, {"claim_id": "third", "text": third}]),
        "lines.txt": f"\ufeff{first}\r\n\n  {third}  \n{first}",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert claims_of(run_of(veritrail, *of, "--claims", name)) == [first, third]
    run = run_of(
        veritrail, pier, "--claim-id", "third", "--claim-id", "year", "--claim-id", "third"
    )
    assert [v["claim_id"] for v in run["verifications"]] == ["third", "year"]
    assert [v["node_id"] for v in run["verifications"]] == ["long", "old"]
    about = run_of(veritrail, pier, "--node", "old")
    assert [v["claim_id"] for v in about["verifications"]] == ["year"]


def test_nothing_of_a_refused_call_is_stored(veritrail: Veritrail, pier: str) -> None:
    before = veritrail("list", pier, "--json").json
    veritrail("verify", pier, "--node", "long", "--claim", "Good.", "--claim", " ", status=2)
    assert veritrail("list", pier, "--json").json == before


def test_no_model_is_called_unless_it_is_named(
    veritrail: Veritrail, pier: str, endpoint: tuple[str, list[str]]
) -> None:
    address, called = endpoint
    key = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": address}
    assert run_of(veritrail, pier, "--claim-id", "year", **key)["engine"] == "lexical"
    told = veritrail("verify", pier, status=2, VERITRAIL_ENGINE="openai", **key)
    assert "needs a model" in told.err
    assert "sk-test" not in told.err
    settings = {"VERITRAIL_ENGINE": "lexical", "VERITRAIL_MODEL": "some-model", **key}
    assert run_of(veritrail, pier, "--claim-id", "year", **settings)["engine"] == "lexical"
    assert called == []


def test_a_home_that_cannot_be_written_costs_no_more_than_the_resume(
    beside: Veritrail, tmp_path: Path
) -> None:
    beside("ingest", process_file(tmp_path / "no-home.json"))
    (tmp_path / "a-file").write_text("", encoding="utf-8")
    (tmp_path / "read-only" / "service.sqlite3").mkdir(parents=True)  # no file, also for root
    engine = beside("db", "start", "--json").json
    server = {
        "NEO4J_URI": engine["uri"],
        "NEO4J_USERNAME": engine["username"],
        "NEO4J_PASSWORD": Path(engine["password_file"]).read_text("utf-8").strip(),
        "NEO4J_DATABASE": engine["database"],
    }
    claim = "The harbour opened in 1901."
    for home in ("/proc/none/home", "a-file/home", "read-only"):
        elsewhere = {**server, "VERITRAIL_HOME": str(tmp_path / home)}
        run = ("verify", "no-home", "--claim", claim, "--again", "--json")
        ended = beside(*run, **elsewhere)
        assert ended.err.count("cannot be written, so this run cannot be resumed") == 1, home
        assert [one["status"] for one in ended.json["verifications"]] == ["succeeded"], home
        shown = beside("show", ended.json["verifications"][0]["verification_id"], "--json").json
        assert shown == ended.json["verifications"][0]
        told = beside("verify", "--resume", ended.json["run_id"], "--json", status=3, **elsewhere)
        assert "The database of the service" in told.message, home


def test_the_walk_in_cypher_is_an_option_and_finds_the_same(
    veritrail: Veritrail, pier: str
) -> None:
    named = (pier, "--claim-id", "length", "--again")
    found = [
        [(one["claim_id"], one["verdict"], one["paths"]) for one in run["verifications"]]
        for run in (
            run_of(veritrail, *named),
            run_of(veritrail, *named, "--walk", "cypher"),
            run_of(veritrail, *named, VERITRAIL_WALK="Cypher"),
        )
    ]
    assert [one[:2] for one in found[0]] == [("length", "FULLY_SUPPORTED")]
    assert found[0] == found[1] == found[2]
    refused = veritrail("verify", pier, VERITRAIL_WALK="up", status=2)
    assert "VERITRAIL_WALK='up': must be shared or cypher" in refused.err
