"""`veritrail attribute`: from the command to what the graph says, with a scripted model."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail, process_file
from acceptance.model_fixtures import MODEL, asking
from fakes.attributing import SAMPLE, AttributionReader, gold_sentences
from fakes.entailment import tiny_model
from fakes.model_server import ModelServer

pytestmark = pytest.mark.engine

RUN_KEYS = ["run_id", "process_id", "engine", "model", "indicative", "nodes", "usage"]
PROCESS = "attributed-here"  # of its own: modules share an engine


@pytest.fixture(scope="module")
def process(veritrail: Veritrail) -> str:
    veritrail("ingest", str(SAMPLE), "--process-id", PROCESS)
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


def test_the_planted_errors_are_told_and_stored(
    veritrail: Veritrail, process: str, tmp_path: Path
) -> None:
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
    stored = rows(veritrail, "sentence-attribution", process_id=process, node_id="summary")
    assert [[one["text"], one["implied_label"], one["categories"]] for one in stored] == [
        [gold["text"], gold["implied_label"], source and source["categories"]]
        for gold in gold_sentences()
        for source in gold["attributed"] or [None]
    ]
    misread = rows(veritrail, "misread-sentences", process_id=process, limit="1")
    assert misread[0]["text"] == "It may close the east quay in winter."
    for kind in ("html", "md"):
        veritrail("report", process, "-o", str(tmp_path / f"report.{kind}"))
        report = (tmp_path / f"report.{kind}").read_text(encoding="utf-8")
        report = re.sub("<[^>]*>", "", report)
        for words in (
            *(words.partition(" notes")[0].removeprefix("proposed: ") for words in shown),
            "judge: As the gold file says.",
            "no judge was asked: No source sentence is attributed to it.",
            "against the inputs of the node",
        ):
            assert words.casefold() in report.casefold(), (kind, words)


def test_a_data_set_is_stored_attributed_and_scored(veritrail: Veritrail, tmp_path: Path) -> None:
    lines: list[Any] = [{"format": "veritrail.dataset/1", "name": "talks", "description": "Two."}]
    for name in ("talk-1", "talk-2"):
        nodes = [
            {"node_id": "document/1", "text": "The crane is new. It is red.", "stage": 1},
            {"node_id": "summary/1", "text": "The crane is new.", "stage": 2},
        ]
        edges = [{"source": "document/1", "target": "summary/1"}]
        lines.append({"process": {"process_id": name, "nodes": nodes, "edges": edges}})
        claim = {"claim_id": "k1", "text": "The crane is new.", "node_id": "summary/1"}
        lines.append({"claim": {"process_id": name, **claim, "label": "FULLY_SUPPORTED"}})
    dataset, open_lines = tmp_path / "tofu.jsonl", tmp_path / "open.jsonl"
    dataset.write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="utf-8")
    veritrail("eval", "sentences", dataset, "-o", open_lines)
    stored = veritrail("ingest", dataset, "--json").json
    assert [one["process_id"] for one in stored["processes"]] == ["talk-1", "talk-2"]
    run = veritrail("attribute", "talk-1", "--engine", "lexical", "--json").out
    predicted, gold = tmp_path / "run.json", tmp_path / "gold.jsonl"
    predicted.write_text(run, encoding="utf-8")
    link = {"attributed": [["talk-1/document/1", 0]], "status": "succeeded"}
    first = json.loads(open_lines.read_text(encoding="utf-8").splitlines()[0])
    gold.write_text(json.dumps({**first, **link}), encoding="utf-8")
    scored = veritrail("eval", "attribution", gold, predicted, "--json").json
    assert (scored["missing"], scored["macro_f1"]) == (0, 1.0)


def test_propositions_are_attributed_told_and_stored(
    veritrail: Veritrail, process: str, tmp_path: Path
) -> None:
    ferry = gold_sentences()[5]["text"]
    subject, _, rest = ferry.partition(" carried ")
    parts = [[f"{subject} carried"], [subject, f"carried {rest.rstrip('.')}"]]
    spans = [[0, len(parts[0][0])], [0, len(ferry) - 1]]
    evidence = {"sentence_id": 5, "categories": ["EVIDENCE", "NEAR_MATCH"]}
    reader = AttributionReader(
        {parts[0][0]: {"attributions": [evidence, {"sentence_id": 99, "categories": "EVIDENCE"}]},
         ferry.rstrip("."): {"attributions": []}},
        {ferry: parts},
    )  # fmt: skip
    command = ("attribute", process, "--propositions")
    with ModelServer(reader) as server:
        told = veritrail(*command, "--json", **asking(server))
        again = veritrail(*command, **asking(server))
    *others, one = told.json["nodes"][0]["sentences"]
    start = one["start"]
    assert [part["spans"] for part in one["propositions"]] == [
        [[start + first, start + last]] for first, last in spans
    ]
    assert [part["implied_label"] for part in one["propositions"]] == ["UNFAITHFUL"] * 2
    assert [len(other["propositions"]) for other in others] == [1] * 5
    assert one["dropped_ids"] == 1
    assert "1 sentence(s) rest on a source sentence that is named as evidence and" in told.err
    assert "1 id(s) that the model named were not in its prompt" in told.err
    words = " ".join(re.sub("[│├└─]", " ", again.out).split())
    assert f"part, unfaithful: {ferry.rstrip('.')} rests on nothing" in words
    assert "evidence + near match (contradictory): notes-ferry 0" in words
    assert "The model named 1 id that was not in its prompt" in words
    wrong = rows(veritrail, "unfaithful-propositions", process_id=process)
    assert [row["number"] for row in wrong if row["sentence"] == 5] == [0, 1]
    report = tmp_path / "report.md"
    veritrail("report", process, "--format", "markdown", "-o", str(report))
    assert "rests on nothing" in report.read_text(encoding="utf-8")
    with ModelServer(AttributionReader()) as server:  # leaves the process as it was
        whole = veritrail("attribute", process, "--json", **asking(server)).json
    assert all("propositions" not in each for each in whole["nodes"][0]["sentences"])


def test_a_sentence_without_a_valid_answer_is_failed_and_the_others_are_stored(
    veritrail: Veritrail, process: str
) -> None:
    broken = gold_sentences()[2]["text"]
    reader = AttributionReader({broken: '{"attributions": "all"}'})
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
        (["--propositions"], "Splitting sentences into propositions needs a language model"),
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


def test_a_checker_judges_with_the_entailment_model_of_the_settings(
    veritrail: Veritrail, process: str, tmp_path: Path
) -> None:
    texts = [one["text"] for one in json.loads(SAMPLE.read_text())["nodes"]]
    model = {"VERITRAIL_NLI_MODEL": str(tiny_model(tmp_path / "tiny", texts))}
    asked = ["attribute", process, "--engine", "lexical", "--json"]
    ended = veritrail(*asked, "--judge-with", "alignscore", "--mode", "plain", **model)
    first, second = ended.json["nodes"][0]["sentences"][:2]
    assert ended.json["judge"] == "alignscore with tiny"
    assert (first["judged_label"], second["judged_label"]) == ("FAITHFUL", "UNFAITHFUL")
    assert first["judged_reason"].endswith("(threshold 0.5).")
    for options, message, settings in (
        (["--judge-with", "summac-zs", "--mode", "highlighted"], "takes no instructions", model),
        (["--judge-with", "alignscore", "--judge-threshold", "-0.5"], "go from 0 to 1", model),
        (["--judge-with", "summac-conv"], "needs a JSON file of its trained weights", model),
        (["--judge-with", "summac-zs"], "needs an entailment model", {}),
        (["--judge-with", "summac-zs", "--correct"], "need a language model", model),
        (["--judge-threshold", "0.5"], "of a judge with scores", model),
    ):
        assert message in veritrail(*asked, *options, status=2, **settings).message


def test_corrections_in_all_modes_are_ranked_over_the_sentences_of_a_run(
    veritrail: Veritrail, process: str, tmp_path: Path
) -> None:
    with ModelServer(AttributionReader()) as server:  # it corrects nothing where nothing decides
        run = veritrail(
            "attribute", process, "--judge", "--correct", "--all-modes", "--json",
            **asking(server, VERITRAIL_ANSWER_RETRIES="0"),
        )  # fmt: skip
    path = tmp_path / "run.json"
    path.write_text(run.out, encoding="utf-8")
    found = veritrail("eval", "corrections", str(path), "--json").json["corrections"]
    assert [one["mode"] for one in found] == ["plain", "highlighted", "attribution"]
    assert {(one["model"], one["fixed"], one["rank_1"]) for one in found} == {(MODEL, 1.0, 1.0)}
    shown = veritrail("eval", "corrections", str(path), "-o", str(tmp_path / "out"))
    assert "rank_1" in shown.out
    assert (tmp_path / "out" / "corrections.csv").is_file()


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
