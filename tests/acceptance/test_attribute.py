"""`veritrail attribute`: from the command to what the graph says, with a scripted model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from acceptance.command import Veritrail, process_file
from acceptance.model_fixtures import MODEL, asking
from fakes.attributing import SAMPLE, AttributionReader, gold_sentences
from fakes.model_server import ModelServer

pytestmark = pytest.mark.engine

RUN_KEYS = ["run_id", "process_id", "engine", "model", "indicative", "nodes", "usage"]
PROCESS = "harbour-attribution"


@pytest.fixture(scope="module")
def process(veritrail: Veritrail) -> str:
    veritrail("ingest", str(SAMPLE))
    return PROCESS


@pytest.fixture(scope="module")
def odd(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A process with an empty terminal, an unsourced node and a chain of steps."""
    nodes = [
        {"node_id": "r", "text": "The pier is 80 metres long. It rained.", "stage": 1},
        {"node_id": "m", "text": "The pier is long.", "stage": 2, "model": "m"},
        {"node_id": "u", "text": "Somebody said so.", "stage": 2, "origin": "given"},
        {"node_id": "t", "text": "The pier is 80 metres long.", "stage": 3},
        {"node_id": "e", "text": " \n", "stage": 3},
    ]
    edges = [("r", "m"), ("m", "t"), ("u", "t"), ("m", "e")]
    folder = tmp_path_factory.mktemp("odd")
    path = process_file(
        folder / "attribute-odd.json",
        nodes=[{key: one[key] for key in one if key != "model"} for one in nodes],
        edges=[{"source": source, "target": target} for source, target in edges],
    )
    veritrail("ingest", path)
    return "attribute-odd"


def rows(veritrail: Veritrail, name: str, **parameters: str) -> list[dict[str, Any]]:
    given = [part for key, value in parameters.items() for part in ("--param", f"{key}={value}")]
    told = veritrail("query", name, *given, "--json").json
    return [dict(zip(told["columns"], row, strict=True)) for row in told["rows"]]


def test_the_planted_errors_are_told_and_stored(veritrail: Veritrail, process: str) -> None:
    with ModelServer(AttributionReader(), caches_prefixes=True) as server:
        told = veritrail(
            "attribute", process, "--judge", "--correct", "--json", **asking(server)
        ).json
        sent = [received.step for received in server.requests]
        again = veritrail("attribute", process, "--judge", "--correct", **asking(server))
        assert len(server.requests) == len(sent)  # from the cache of answers
    assert list(told)[:7] == RUN_KEYS
    assert (told["engine"], told["model"], told["indicative"]) == ("openai", MODEL, False)
    (node,) = told["nodes"]
    for found, gold in zip(node["sentences"], gold_sentences(), strict=True):
        assert {key: found[key] for key in gold} == gold
        assert list(found)[: len(gold)] == list(gold)
    assert {step: sent.count(step) for step in set(sent)} == {
        "attribution": 6, "faithfulness": 9, "correction": 4,
    }  # fmt: skip
    assert told["usage"]["calls"] == len(sent)
    shown = (
        "near match: notes-board 1",
        "contradiction: notes-board 3",
        "expected here: notes-board 4",
        "no source sentence decides it",
        "evidence: notes-ferry 0",
        "proposed: The east quay may close in winter.",
    )
    assert [words for words in shown if words not in again.out] == []
    assert "6 sentence(s): 1 faithful, 5 unfaithful" in again.err
    (step,) = rows(veritrail, "twisting-steps", process_id=process)
    assert (step["step"], step["sentences"], step["unfaithful"]) == ("summarise", 6, 5)
    misread = rows(veritrail, "misread-sentences", process_id=process, limit="1")
    assert misread[0]["text"] == "It may close the east quay in winter."


def test_a_sentence_without_a_valid_answer_is_failed_and_the_others_are_stored(
    veritrail: Veritrail, process: str
) -> None:
    broken = gold_sentences()[2]["text"]
    reader = AttributionReader({broken: '{"attributions": "None"}'})
    with ModelServer(reader) as server:
        told = veritrail(
            "attribute", process, "--no-cache", "--json", status=1,
            **asking(server, VERITRAIL_ANSWER_RETRIES="1"),
        ).json  # fmt: skip
    failed = told["nodes"][0]["sentences"][2]
    assert (failed["status"], failed["implied_label"], failed["attributed"]) == ("failed", None, [])
    assert "is not a list of objects" in failed["error"]
    assert told["stored"] == 5


def test_calls_beyond_the_limit_are_over_budget(veritrail: Veritrail, process: str) -> None:
    with ModelServer(AttributionReader()) as server:
        told = veritrail(
            "attribute", process, "--max-calls", "2", "--no-cache", "--json", status=1,
            **asking(server, VERITRAIL_CONCURRENCY="1"),
        ).json  # fmt: skip
        assert len(server.requests) == 2
    statuses = [one["status"] for one in told["nodes"][0]["sentences"]]
    assert sorted(statuses) == ["over_budget"] * 4 + ["succeeded"] * 2


def test_a_refused_key_ends_with_3_and_what_is_known_is_told(
    veritrail: Veritrail, process: str
) -> None:
    with ModelServer(AttributionReader(), key="another") as server:
        ended = veritrail("attribute", process, "--no-cache", "--json", status=3, **asking(server))
    assert "Incorrect API key" in ended.message
    assert {one["status"] for one in ended.json["nodes"][0]["sentences"]} == {"failed"}
    assert ended.json["stored"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--node", "r"], "node 'r': is a root"),
        (["--node", "u"], "node 'u': has no source nodes"),
        (["--node", "e"], "node 'e': has no text to attribute"),
        (["--node", "zz"], "has no node 'zz'"),
        (["--node", "t", "--node", "r"], "node 'r': is a root"),
        (["--judge"], "need a language model, and engine lexical asks none"),
        (["--correct"], "need a language model"),
        (["--against", "sources"], "is not one of"),
        (["--engine", "lexical", "--model", "m"], "A model is named"),
    ],
)
def test_what_cannot_be_attributed_is_refused_and_nothing_is_stored(
    veritrail: Veritrail, odd: str, arguments: list[str], message: str
) -> None:
    ended = veritrail("attribute", odd, *arguments, "--json", status=2)
    told = [ended.message, *(f"{one['where']}: {one['message']}" for one in ended.violations)]
    assert any(message in one for one in told), told


def test_an_unknown_process_is_refused(veritrail: Veritrail, process: str) -> None:
    assert "No process 'nowhere'" in veritrail("attribute", "nowhere", "--json", status=2).message


def test_nodes_are_attributed_to_their_inputs_or_to_the_roots_below(
    veritrail: Veritrail, odd: str
) -> None:
    ended = veritrail("attribute", odd, "--json")
    assert [node["node_id"] for node in ended.json["nodes"]] == ["t"]
    assert "node 'e' has no text to attribute" in ended.err
    roots = veritrail("attribute", odd, "--node", "t", "--against", "roots", "--json").json
    (sentence,) = roots["nodes"][0]["sentences"]
    assert [one["node_id"] for one in sentence["attributed"]] == ["r"]
    assert roots["against"] == "roots"
    assert roots["indicative"] is True
    assert (
        rows(veritrail, "sentence-attribution", process_id=odd, node_id="t")[0]["run"]
        == (roots["run_id"])
    )


def test_the_gold_file_of_the_sample_quotes_its_texts() -> None:
    texts = {one["node_id"]: one["text"] for one in json.loads(SAMPLE.read_text())["nodes"]}
    for one in gold_sentences():
        assert texts["summary"][one["start"] : one["end"]] == one["text"]
        for source in one["attributed"]:
            assert texts[source["node_id"]][source["start"] : source["end"]] == source["text"]
