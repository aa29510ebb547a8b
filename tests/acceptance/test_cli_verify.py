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

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
VERDICTS = {"FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED", "INCONCLUSIVE"}
RUN_KEYS = [
    "run_id",
    "process_id",
    "engine",
    "model",
    "indicative",
    "verifications",
    "usage",
    "cost",
    "reused",
]
KEYS = [
    "verification_id",
    "process_id",
    "claim_id",
    "claim",
    "node_id",
    "q",
    "sub_claims",
    "engine",
    "model",
    "indicative",
    "created_at",
    "status",
    "verdict",
    "reasoning",
    "score",
    "termination",
    "error_stages",
    "error_nodes",
    "iterations",
    "usage",
    "error",
    "run_id",
    "settings",
    "steps",
]
ITERATION_KEYS = [
    "number",
    "verdict",
    "reasoning",
    "checked",
    "carried_roots",
    "evidence",
    "summaries",
    "dropped_ids",
    "reruns",
    "left_out",
    "usage",
]
NO_USAGE = {
    "calls": 0,
    "cached_calls": 0,
    "input_tokens": 0,
    "cached_input_tokens": 0,
    "output_tokens": 0,
    "cost_usd": None,
    "reasoning_tokens": 0,
    "unpriced_calls": 0,
}
TERMINATIONS = {
    "no_candidates",
    "only_roots_with_evidence_left",
    "max_consecutive_not_fully_supported",
}


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


def test_stored_claims_are_verified_and_answered_in_the_shape_of_the_contract(
    veritrail: Veritrail, harbour: str
) -> None:
    document = json.loads((EXAMPLES / "harbour-summary.json").read_text("utf-8"))
    texts = {node["node_id"]: node["text"] for node in document["nodes"]}
    run = run_of(veritrail, harbour)
    assert list(run) == RUN_KEYS
    assert (run["engine"], run["model"], run["indicative"]) == ("lexical", None, True)
    assert run["usage"] == NO_USAGE
    of_file = [claim["claim_id"] for claim in document["claims"]]
    # Behind them may stand what other tests asked of the same process.
    assert [v["claim_id"] for v in run["verifications"]][: len(of_file)] == of_file
    for verification in run["verifications"]:
        check_verification(verification, texts)
    errors = [v for v in run["verifications"] if v["error_stages"]]
    assert errors
    assert all(v["verdict"] == "NOT_FULLY_SUPPORTED" and v["error_nodes"] for v in errors)


def check_verification(found: dict[str, Any], texts: dict[str, str]) -> None:
    assert list(found) == KEYS
    assert found["status"] == "succeeded"
    assert found["verdict"] in VERDICTS
    assert found["termination"] in TERMINATIONS
    assert found["indicative"] is True
    assert (found["q"], found["score"], found["error"], found["model"]) == (3, None, None, None)
    assert found["usage"] == NO_USAGE
    assert isinstance(found["reasoning"], str)
    assert isinstance(found["error_stages"], list)
    assert set(found["error_nodes"]) <= set(texts)
    checked: list[str] = []
    for number, iteration in enumerate(found["iterations"], start=1):
        assert list(iteration) == ITERATION_KEYS
        assert iteration["number"] == number
        assert iteration["verdict"] in VERDICTS
        checked += iteration["checked"]
        for cited in iteration["evidence"]:
            assert list(cited) == ["node_id", "sentence", "start", "end", "text", "role"]
            assert cited["text"] == texts[cited["node_id"]][cited["start"] : cited["end"]]
            assert cited["role"] in {"evidence", "context"}
            assert cited["node_id"] in iteration["checked"]
        for summary in iteration["summaries"]:
            assert list(summary) == ["text", "missing", "node_ids"]
    assert found["iterations"][0]["carried_roots"] == []
    assert len(checked) == len(set(checked))


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


def test_an_error_is_placed_and_q_is_kept(veritrail: Veritrail, pier: str) -> None:
    (found,) = run_of(veritrail, pier, "--claim-id", "year", "--q", "1")["verifications"]
    assert found["q"] == 1
    assert found["verdict"] == "NOT_FULLY_SUPPORTED"
    assert (found["error_stages"], found["error_nodes"]) == ([2], ["old"])


def test_unfinished_leaves_out_what_has_a_verdict(veritrail: Veritrail, pier: str) -> None:
    run_of(veritrail, pier, "--claim-id", "length")
    assert run_of(veritrail, pier, "--claim-id", "length", "--unfinished")["verifications"] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "nowhere"),
        (["pier", "--claim", "x"], "several terminals"),
        (["pier", "--claim", "x", "--node", "source"], "root"),
        (["pier", "--claim", "x", "--node", "nowhere"], "nowhere"),
        (["pier", "--claim", "x", "--node", ""], "''"),
        (["pier", "--claim-id", "year", "--node", "long"], "old"),
        (["pier", "--claim-id", "nowhere"], "nowhere"),
        (["pier", "--claim", " ", "--node", "long"], "empty"),
        (["pier", "--claims", "missing.txt"], "missing.txt"),
        (["pier", "--claims", "."], "cannot be read"),
        (["pier", "--claims", "empty.txt"], "no claim"),
        (["pier", "--claims", "nothing.json"], "no claim"),
        (["pier", "--claims", "object.json"], "JSON object"),
        (["pier", "--claims", "objects.json"], "break rules"),
        (["pier", "--claims", "cut.json"], "line 1"),
        (["pier", "--claims", "latin.txt"], "UTF-8"),
        (["pier", "--engine", "oracle"], "oracle"),
        (["pier", "--engine", "openai"], "needs a model"),
        (["pier", "--model", "some-model"], "No key is set"),
        (["pier", "--extract"], "language model"),
        (["pier", "--engine", "lexical", "--model", "some-model"], "asks none"),
        (["pier", "--samples", "3"], "asks a model"),
        (["pier", "--model", "m", "--threshold", "2"], "--threshold 2"),
        (["pier", "--model", "m", "--max-sentences", "few"], "--max-sentences few"),
        (["pier", "--model", "m", "--prompts", "nowhere"], "nowhere"),
        (["--again"], "Name the PROCESS"),
        (["--resume", "r-1", "--claim", "A."], "--resume"),
        (["--resume", "r-unknown"], "r-unknown"),
    ],
    ids=lambda value: " ".join(value[1:]) if isinstance(value, list) else None,
)
def test_what_cannot_be_verified_is_refused(
    veritrail: Veritrail, pier: str, tmp_path: Path, arguments: list[str], words: str
) -> None:
    files: dict[str, bytes] = {
        "empty.txt": b" \n\n",
        "nothing.json": b"[]",
        "object.json": b'{\n  "claims": ["a claim"]\n}',
        "objects.json": b'[{"text": "ok"}, {"colour": 1}, 7]',
        "cut.json": b'["a claim"',
        "latin.txt": "Café".encode("latin-1"),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    told = veritrail("verify", *arguments, "--json", status=2)
    assert words in told.message + "".join(v["message"] for v in told.violations)
    assert words in told.err
    if "objects.json" in arguments:
        assert {v["where"] for v in told.violations} == {"objects.json[1]", "objects.json[2]"}


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


def test_text_says_indicative_and_where_the_error_is(veritrail: Veritrail, pier: str) -> None:
    told = veritrail("verify", pier, "--claim-id", "year", "--budget", "1")
    assert "indicative only" in told.out
    assert "Not Fully Supported" in told.out
    assert "introduced in old (stage 2)" in told.out
    assert "indicative only" in told.err
    assert "--budget has no effect" in told.err
    listed = veritrail("verify", pier, "--claim", "A.", "--claim", "B.", "--node", "long")
    assert "indicative only" in listed.out + listed.err
