"""`veritrail verify --engine nli` and `--verdict-engine`: from the command to the stored trail."""

from __future__ import annotations

from pathlib import Path

import pytest
from acceptance.command import Veritrail, process_file
from acceptance.model_fixtures import asking
from fakes.entailment import tiny_model
from fakes.model_hub import COMMIT, model_hub
from fakes.model_server import ModelServer

pytestmark = pytest.mark.engine

TEXTS = {
    "c1": "The harbour office opened in March. The mole is 300 metres long.",
    "c2": "Nine boats were berthed at the mole. Coal was unloaded.",
    "s1": "The office opened in March and the mole is 400 metres long.",
    "s2": "Nine boats were berthed and coal was unloaded.",
    "t": "The office opened in March. The mole is 400 metres long. Boats were berthed.",
}
CLAIMS = {
    "true": "The office opened in March.",
    "joint": "The office opened in March and coal was unloaded.",
    "wrong": "The mole is 400 metres long.",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nli") / "tiny-nli"
    return tiny_model(folder, [*TEXTS.values(), *CLAIMS.values()])


@pytest.fixture(scope="module")
def process(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    stage = {"c": 1, "s": 2, "t": 3}
    path = process_file(
        tmp_path_factory.mktemp("process") / "mole.json",
        nodes=[
            {"node_id": name, "text": text, "stage": stage[name[0]]} for name, text in TEXTS.items()
        ],
        edges=[
            {"source": source, "target": target}
            for source, target in (("c1", "s1"), ("c2", "s2"), ("s1", "t"), ("s2", "t"))
        ],
        claims=[{"claim_id": name, "text": text} for name, text in CLAIMS.items()],
    )
    veritrail("ingest", path)
    return "mole"


def test_an_entailment_model_judges_a_process(
    veritrail: Veritrail, process: str, model: Path
) -> None:
    here = {"VERITRAIL_NLI_MODEL": str(model)}
    told = veritrail("verify", process, "--engine", "nli", "--json", **here).json
    assert (told["engine"], told["model"], told["indicative"]) == ("nli", "tiny-nli", False)
    found = {one["claim_id"]: one for one in told["verifications"]}
    assert {name: one["verdict"] for name, one in found.items()} == {
        "true": "FULLY_SUPPORTED",
        "joint": "FULLY_SUPPORTED",
        "wrong": "NOT_FULLY_SUPPORTED",
    }
    assert found["wrong"]["error_stages"] == [2]
    last = found["joint"]["iterations"][-1]["evidence"]
    assert {one["node_id"] for one in last} == {"c1", "c2"}
    assert found["true"]["score"] > 0.9
    assert found["true"]["usage"]["calls"] == 0
    assert veritrail("show", found["joint"]["verification_id"], "--json").json == found["joint"]
    again = veritrail("verify", process, "--engine", "nli", "--json", **here).json
    kept = {one["verification_id"] for one in again["verifications"]}
    assert kept == {one["verification_id"] for one in told["verifications"]}
    stricter = {**here, "VERITRAIL_NLI_THRESHOLD": "1"}
    other = veritrail("verify", process, "--engine", "nli", "--json", **stricter).json
    assert kept.isdisjoint(one["verification_id"] for one in other["verifications"])


def test_a_language_model_selects_and_an_entailment_model_gives_the_verdicts(
    veritrail: Veritrail, process: str, model: Path
) -> None:
    here = {"VERITRAIL_NLI_MODEL": str(model)}
    with ModelServer() as server:
        told = veritrail(
            "verify", process, "--verdict-engine", "nli", "--json", **asking(server), **here
        ).json
    assert told["engine"] == "openai+nli"
    assert told["model"].endswith(" + tiny-nli")
    steps = {received.step for received in server.requests}
    assert steps == {"sub_claim_decomposition", "evidence_selection"}
    true = next(one for one in told["verifications"] if one["claim_id"] == "true")
    assert true["verdict"] == "FULLY_SUPPORTED"
    assert "tiny-nli" in true["iterations"][0]["reasoning"]


def test_words_that_select_and_a_model_that_judges_are_both_named(
    veritrail: Veritrail, process: str, model: Path
) -> None:
    both = ("--engine", "lexical", "--verdict-engine", "nli")
    told = veritrail("verify", process, *both, VERITRAIL_NLI_MODEL=str(model))
    assert (
        "Engine lexical+nli: indicative only: words were compared to select the evidence; an "
        "entailment model gave the verdicts."
    ) in " ".join(told.err.split())


def test_without_a_model_nothing_begins(veritrail: Veritrail, process: str) -> None:
    ended = veritrail("verify", process, "--engine", "nli", status=2)
    assert "VERITRAIL_NLI_MODEL" in ended.err
    ended = veritrail(
        "verify", process, "--engine", "nli", VERITRAIL_NLI_MODEL="owner/none", status=2
    )
    assert "veritrail judge fetch owner/none" in ended.err


def test_an_estimate_leaves_out_verdicts_that_are_not_paid(
    veritrail: Veritrail, process: str
) -> None:
    whole, part = (
        veritrail("estimate", process, "--model", "gpt-6-luna", *more, "--json").json
        for more in ((), ("--verdict-engine", "nli"))
    )
    assert part["model"] == "gpt-6-luna + nli"
    assert part["likely"]["calls"] < whole["likely"]["calls"]


def test_a_model_is_fetched_by_a_command_and_then_named(
    veritrail: Veritrail, process: str, model: Path, tmp_path: Path
) -> None:
    with model_hub(model) as hub:
        here = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path)}
        told = veritrail("judge", "fetch", "owner/tiny", "--json", **here).json
        assert (told["name"], told["revision"]) == ("owner/tiny", COMMIT)
        assert "model.onnx" in told["files"]
        unknown = veritrail("judge", "fetch", "owner/none", status=2, **here)
        assert "has no model 'owner/none'" in unknown.err
    away = {**here, "HF_ENDPOINT": "http://127.0.0.1:1"}
    assert "could not be downloaded" in veritrail("judge", "fetch", "a/b", status=3, **away).err
    named = {"VERITRAIL_NLI_MODEL": "owner/tiny"}
    found = veritrail("verify", process, "--engine", "nli", "--json", **named).json
    assert found["model"] == "owner--tiny"
