"""Answers by the method of GraphRAG on the command line, with a model server on loopback."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from eval_fakes.graphrag_reader import GraphReader
from fakes.model_answers import Answer
from fakes.model_server import ModelServer

pytest.importorskip("rs_bpe")
pytest.importorskip("networkx")

PAIRS = [("Ann", "Bo"), ("Bo", "Cleo"), ("Cleo", "Ann"), ("Dan", "Eve"), ("Eve", "Finn")]
PLACES = (
    "in the old mill beside the river", "at a lecture about whales", "on the ferry to Lund",
    "behind the bakery of the abbey", "during a storm in the harbour", "in a garden full of geese",
    "at the grave of a poet", "on the tower of the castle", "before the court of appeal",
    "under the bridge of iron", "in the library of the college", "at the market of glass",
    "near the well of the village", "inside a tent of the circus", "on the road to the capital",
)  # fmt: skip
TEXT = " ".join(
    f"{one} meets {two} {place}." for place, (one, two) in zip(PLACES, PAIRS * 3, strict=True)
)
QUESTION = "Whom did Ann and Eve meet?"
SIZES = ["--chunk", "30", "--overlap", "5"]


class Answering(GraphReader):
    """As its base, but for texts that it has no valid answer to, and an error in a report."""

    def community_report(self, user: str) -> Answer:
        """The mill becomes a hall."""
        found = json.dumps(super().community_report(user))
        return dict(json.loads(found.replace("old mill", "new town hall")))

    def map_answer(self, user: str) -> Answer:
        """Nothing valid where the question asks for it."""
        return "I would rather not say." if "unanswerable" in user else super().map_answer(user)

    def graph_extraction(self, user: str) -> Answer:
        """Nothing valid where the text asks for it, and a relationship to nobody."""
        if "unreadable" in user:
            return "I would rather not say."
        found: dict[str, Any] = dict(super().graph_extraction(user))  # type: ignore[arg-type]
        away = {"source": "Ann", "target": "Nemo", "description": "They met.", "strength": 1}
        return {**found, "relationships": [*found["relationships"], away]}


@pytest.fixture(scope="module")
def veritrail(home: Veritrail) -> Veritrail:
    """The command with a home of this module, over the engine that all tests share."""
    return home


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(Answering()) as server:
        yield server


def settings(model: ModelServer) -> dict[str, str]:
    return {
        "OPENAI_BASE_URL": model.base_url,
        "OPENAI_API_KEY": "k",
        "VERITRAIL_MODEL": "m",
        "VERITRAIL_ANSWER_RETRIES": "1",
    }


def _texts(folder: Path, **texts: str) -> list[str]:
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return [str(folder / f"{name}.txt") for name in texts]


def test_an_answer_is_a_process_that_is_stored_and_verified(
    veritrail: Veritrail, model: ModelServer, tmp_path: Path
) -> None:
    run = tmp_path / "quay.json"
    call = ["eval", "graphrag", *_texts(tmp_path, quay=TEXT), "-o", str(run), *SIZES]
    call += ["--question", QUESTION, "--json"]
    made = veritrail(*call, **settings(model)).json
    (one,) = made["runs"]
    assert (one["process_id"], one["question"]) == ("quay", QUESTION)
    assert sorted(one["stages"]) == list("123456")
    assert made["usage"]["calls"] == model.calls.total()
    assert made["failed"] == []
    assert any("Ann -> Nemo" in warning for warning in one["warnings"])
    document = json.loads(run.read_text(encoding="utf-8"))
    nodes = {node["node_id"]: node for node in document["nodes"]}
    assert nodes["text_unit/0"]["metadata"]["documents"] == ["quay"]
    assert nodes["text_unit/0"]["metadata"]["n_tokens"] == 30
    assert nodes["community_report/0"]["metadata"]["prompt"] == "community_report.v1"
    # What was answered is not asked again, and the run is the same.
    again = veritrail(*call, **settings(model)).json
    assert again["usage"]["calls"] == 0
    assert json.loads(run.read_text(encoding="utf-8")) == document
    stored = veritrail("ingest", str(run), "--json").json
    assert stored["terminals"] == document["terminals"]
    assert stored["unsourced"] == 0
    assert stored["warnings"] == one["warnings"]
    # What a report brought in stands in no source: words alone cannot tell.
    claims = [f"Dan meets Eve {PLACES[3]}.", "Ann meets Bo in the new town hall beside the river."]
    assert all(claim.rstrip(".") in document["nodes"][-1]["text"] for claim in claims)
    named = [part for claim in claims for part in ("--claim", claim)]
    verified = veritrail("verify", "quay", *named, "--engine", "lexical", "--json").json
    ends = [(each["verdict"], each["error_stages"]) for each in verified["verifications"]]
    assert ends == [("FULLY_SUPPORTED", []), (None, [])]


def test_questions_share_an_index_and_one_without_an_answer_is_told(
    veritrail: Veritrail, model: ModelServer, tmp_path: Path
) -> None:
    runs, table = tmp_path / "quays", tmp_path / "questions.csv"
    table.write_text(
        "question\nWhom did Dan meet?\nWhat of Zebulon?\nWhat is unanswerable?\n", encoding="utf-8"
    )
    texts = _texts(tmp_path, one=TEXT, two="Finn meets Ann on the last day.")
    call = ["eval", "graphrag", *texts, "-o", str(runs), *SIZES, "--questions", str(table)]
    call += ["--question", QUESTION, "--no-cache"]
    made = veritrail(*call, "--json", status=1, **settings(model)).json
    assert [one["process_id"] for one in made["runs"]] == ["quays-Q01", "quays-Q02"]
    assert sorted(path.name for path in runs.iterdir()) == ["Q01.json", "Q02.json"]
    reasons = {one["question"]: one["error"] for one in made["failed"]}
    assert reasons["What of Zebulon?"] == "No report helps to answer the question."
    assert "no valid answer to map_answer in 2 attempts" in reasons["What is unanswerable?"]
    first, second = (
        json.loads((runs / f"{name}.json").read_text(encoding="utf-8")) for name in ("Q01", "Q02")
    )
    shared = [[node for node in one["nodes"] if node["stage"] < 5] for one in (first, second)]
    assert shared[0] == shared[1]
    assert {node["metadata"]["documents"][0] for node in shared[0] if node["stage"] == 1} == {
        "one", "two",
    }  # fmt: skip
    chunks = sum(node["stage"] == 1 for node in shared[0])
    assert model.calls["graph_extraction"] == chunks
    ended = veritrail(*call, status=1, **settings(model))
    assert "What of Zebulon?: no answer: No report helps" in ended.err


def test_an_index_that_cannot_be_made_goes_on_where_it_ended(
    veritrail: Veritrail, model: ModelServer, tmp_path: Path
) -> None:
    run = tmp_path / "run.json"
    texts = _texts(tmp_path, lake=TEXT.replace("river", "lake"))
    call = ["eval", "graphrag", *texts, "-o", str(run), *SIZES, "--question", QUESTION]
    stopped = veritrail(*call, "--max-calls", "3", status=1, **settings(model))
    assert "has made them" in stopped.err
    assert not run.exists()
    asked = Counter(request.user for request in model.requests)
    assert len(asked) == 3
    veritrail(*call, **settings(model))
    assert set(Counter(request.user for request in model.requests).values()) == {1}
    bad = _texts(tmp_path, bad=f"{TEXT} This is unreadable.")
    ended = veritrail(*call[:2], *bad, *call[3:], status=1, **settings(model))
    assert "text_unit/" in ended.err
    assert "no valid answer to graph_extraction in 2 attempts" in ended.err


def test_an_estimate_asks_and_writes_nothing(
    veritrail: Veritrail, model: ModelServer, tmp_path: Path
) -> None:
    run = tmp_path / "away" / "run.json"
    call = ["eval", "graphrag", *_texts(tmp_path, quay=TEXT), "-o", str(run), *SIZES]
    call += ["--question", QUESTION, "--estimate", "--price", "1,2"]
    likely = veritrail(*call, "--json", **settings(model)).json
    usage = likely["usage"]
    assert likely["chunks"] > 5
    assert usage["calls"] > 2 * likely["chunks"]
    cost = (usage["input_tokens"] + 2 * usage["output_tokens"]) / 1e6
    assert usage["cost_usd"] == pytest.approx(cost)
    assert f"likely {usage['calls']:,} calls" in veritrail(*call, **settings(model)).err
    assert not model.requests
    assert not run.parent.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{quay}"], "No question"),
        (["{quay}", "--question", " "], "A question is empty"),
        (["{quay}", "--question", "Who?", "--question", "Who? "], "asked twice"),
        (["{quay}", "--question", "why " * 600], "is too long"),
        (["{quay}", "--questions", "{quay}"], "lacks the column question"),
        (["{empty}", "--question", "Who?"], "is empty"),
        (["{none}", "--question", "Who?"], "cannot be read"),
        (["{quay}", "--question", "Who?", "--overlap", "600"], "must be smaller"),
        (["{quay}", "--question", "Who?", "--chunk", "9000"], "A chunk with its extraction"),
        (["{quay}", "--question", "Who?", "--report", "9000"], "A report, beside"),
        (["{quay}", "--question", "Who?", "--encoding", "x"], "Unknown encoding"),
        (["{quay}", "--question", "Who?", "--engine", "lexical"], "asks no model"),
        (["{quay}", "--question", "Who?", "-o", "{quay}/x.json"], "its folder is not there"),
        (["{quay}", "--question", "Who?", "-o", "{quay}"], "over what it is made from"),
    ],
)
def test_wrong_use_is_told_and_nothing_is_asked(
    veritrail: Veritrail, model: ModelServer, tmp_path: Path, arguments: list[str], said: str
) -> None:
    places = {name: tmp_path / f"{name}.txt" for name in ("quay", "empty", "none")}
    places["quay"].write_text(TEXT, encoding="utf-8")
    places["empty"].write_text(" \n", encoding="utf-8")
    out = tmp_path / "out.json"
    call = [one.format(**places) for one in arguments]
    ended = veritrail(
        "eval", "graphrag", "-o", str(out), *call, "--json", status=2, **settings(model)
    )
    assert said in ended.message
    assert not model.requests
    assert not out.exists()
