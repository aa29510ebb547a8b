"""A real, very small language model: real completions end in stored trails, whatever they say."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from acceptance.command import Veritrail, process_file, started
from fakes.waiting import until

from examples import local_model

SECONDS = 600
# With its sub-claims given: this model splits a claim in unexpected ways.
GIVEN = {
    "text": "The harbour opened in 1901 and has nine piers.",
    "sub_claims": ["The harbour opened in 1901.", "The harbour has nine piers."],
}
# Our own prompts cost this model half a minute of a processor.
BRIEF = {
    "evidence_selection": "Name the excerpts that speak about the claim. Answer with JSON.\n",
    "verdict": "Say whether the excerpts support the claim. Answer with JSON.\n",
}
FREE = "The lighthouse was built in 1923."
LABELS = {"FAITHFUL", "UNFAITHFUL"}
EXAMPLES = Path(local_model.__file__).parent
IN_CI = bool(os.environ.get("CI"))

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(2400)]


@pytest.fixture(scope="module")
def serving() -> Iterator[subprocess.Popen[str]]:
    """The script that runs the model; without it the tests are skipped, but in CI they fail."""
    try:
        local_model.fetch()
    except local_model.Unavailable as missing:
        reason = f"no local model: {missing}"
        if IN_CI:
            pytest.fail(reason)
        pytest.skip(reason)
    with subprocess.Popen(
        [sys.executable, str(Path(local_model.__file__))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        yield child


@pytest.fixture(scope="module")
def base_url(serving: subprocess.Popen[str]) -> str:
    """The address of the model."""
    assert serving.stdout is not None
    first = serving.stdout.readline()
    assert first.startswith("export OPENAI_BASE_URL="), first
    return first.removeprefix("export OPENAI_BASE_URL=").strip()


@pytest.mark.parametrize(
    ("structured", "claims", "prompts"),
    [
        ("on", [GIVEN], BRIEF),
        pytest.param("on", [GIVEN], {}, marks=pytest.mark.soak),
        pytest.param("off", [GIVEN, FREE], {}, marks=pytest.mark.soak),
    ],
    ids=["brief", "schema", "free"],
)
def test_real_answers_end_in_stored_trails(
    veritrail: Veritrail,
    base_url: str,
    tmp_path: Path,
    structured: str,
    claims: list[Any],
    prompts: dict[str, str],
) -> None:
    """Free text of a model of this size is mostly malformed; with a schema it mostly is not."""
    process = f"tiny-{structured}-{len(prompts)}"
    for step, prompt in prompts.items():
        (tmp_path / f"{step}.brief.md").write_text(prompt, encoding="utf-8")
    own = ["--prompts", str(tmp_path)] if prompts else []
    veritrail("ingest", process_file(tmp_path / f"{process}.json"))
    settings = {
        **local_model.SETTINGS,
        "OPENAI_BASE_URL": base_url,
        "VERITRAIL_STRUCTURED": structured,
        "VERITRAIL_ANSWER_RETRIES": "1",
        "VERITRAIL_MAX_OUTPUT_TOKENS": "120",
    }
    file = tmp_path / "claims.json"
    file.write_text(json.dumps(claims), encoding="utf-8")
    done = run(veritrail, settings, "verify", process, "--claims", str(file), *own)
    found = json.loads(done.stdout)["verifications"]
    assert len(found) == len(claims)
    statuses = {each["status"] for each in found}
    assert statuses <= {"succeeded", "failed"}
    assert done.returncode == int("failed" in statuses)
    for each in found:
        assert (each["verdict"] is None) == (each["status"] == "failed")
        assert bool(each["error"]) == (each["status"] == "failed")
        assert each["model"] == local_model.MODEL
        assert each["usage"]["calls"] > 0
        assert each["usage"]["input_tokens"] > 0
        number = each["verification_id"]
        stored = veritrail("show", number, "--json").json
        assert (stored["status"], stored["verdict"]) == (each["status"], each["verdict"])
        assert stored["iterations"] == each["iterations"]
        assert each["claim"] in veritrail("show", number).out


@pytest.mark.soak
def test_real_answers_attribute_sentences_or_leave_them_failed(
    veritrail: Veritrail, base_url: str, tmp_path: Path
) -> None:
    """The first two sentences of the sample, with all that can be asked about them."""
    sample = json.loads((EXAMPLES / "harbour-attribution.json").read_text(encoding="utf-8"))
    texts = {one["node_id"]: one["text"] for one in sample["nodes"]}
    nodes = [
        {"node_id": name, "text": ". ".join(texts[name].split(". ")[:2]) + ".", "stage": stage}
        for name, stage in (("notes-board", 1), ("summary", 2))
    ]
    edges = [{"source": "notes-board", "target": "summary"}]
    process = "tiny-attribution"
    veritrail("ingest", process_file(tmp_path / f"{process}.json", nodes=nodes, edges=edges))
    settings = {
        **local_model.SETTINGS,
        "OPENAI_BASE_URL": base_url,
        "VERITRAIL_ANSWER_RETRIES": "1",
        "VERITRAIL_MAX_OUTPUT_TOKENS": "100",
    }
    done = run(veritrail, settings, "attribute", process, "--judge", "--correct")
    document = json.loads(done.stdout)
    sentences = document["nodes"][0]["sentences"]
    assert [one["text"] for one in sentences] == [
        "The board met on 4 March.", "The east quay will close in winter.",
    ]  # fmt: skip
    succeeded = [one for one in sentences if one["status"] == "succeeded"]
    for one in sentences:
        assert one["status"] in ("succeeded", "failed")
        assert bool(one["error"]) == (one["status"] == "failed")
        assert one["status"] == "failed" or {one["implied_label"], one["judged_label"]} <= LABELS
    assert done.returncode == int(len(succeeded) < len(sentences))
    assert document["stored"] == len(succeeded)
    assert document["usage"]["calls"] >= len(sentences)
    told = veritrail("query", "sentence-attribution", "-p", f"process_id={process}",
                     "-p", "node_id=summary", "--json").json  # fmt: skip
    number = told["columns"].index("sentence")
    assert {row[number] for row in told["rows"]} == {one["sentence"] for one in succeeded}


@pytest.mark.soak
def test_real_answers_verify_turns_of_a_dialogue_or_leave_them_failed(
    veritrail: Veritrail, base_url: str, tmp_path: Path
) -> None:
    """The 30 turns of the sample, each of the assistant's with its check as a whole."""
    sample = json.loads((EXAMPLES / "lindholm-dialogue.json").read_text(encoding="utf-8"))
    name = "tiny-dialogue"
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps({**sample, "dialogue_id": name}), encoding="utf-8")
    veritrail("ingest", str(path))
    settings = {
        **local_model.SETTINGS,
        "OPENAI_BASE_URL": base_url,
        "VERITRAIL_STRUCTURED": "on",
        "VERITRAIL_ANSWER_RETRIES": "1",
        "VERITRAIL_MAX_OUTPUT_TOKENS": "120",
    }
    command = ("dialogue", "verify", name, "--turn-check", "--zero-shot")
    done = run(veritrail, settings, *command, seconds=3_000)
    document = json.loads(done.stdout)
    turns = document["turns"]
    spoken = [one["turn_id"] for one in sample["turns"] if one["role"] == "assistant"]
    assert [turn["turn_id"] for turn in turns] == spoken
    assert (document["model"], document["indicative"]) == (local_model.MODEL, False)
    statuses = {turn["status"] for turn in turns}
    assert statuses <= {"succeeded", "failed"}
    assert done.returncode == int("failed" in statuses)
    for turn in turns:
        ended = {claim["status"] for claim in turn["claims"]}
        assert ended <= {"succeeded", "failed"}
        assert bool(turn["error"]) == (turn["status"] == "failed")
        assert turn["usage"]["calls"] > 0
        for claim in turn["claims"]:
            assert (claim["category"] is None) == (claim["status"] == "failed")
            assert (claim["label"] == "VERIFIED") == (claim["category"] == "VERIFIED")
    assert document["stored"] == len(turns)
    stored = veritrail("dialogue", "show", name, "--run", document["run_id"], "--json").json
    assert [one["claims"] for one in stored["turns"]] == [one["claims"] for one in turns]


@pytest.mark.soak
def test_the_small_matrix_runs_from_end_to_end(
    veritrail: Veritrail, base_url: str, tmp_path: Path
) -> None:
    """Every method that asks a language model, with real answers and real vectors."""
    settings = {**local_model.SETTINGS, "OPENAI_BASE_URL": base_url}
    matrix, folder = str(EXAMPLES / "evaluation" / "small-local.toml"), tmp_path / "small"
    done = called(veritrail, settings, "eval", "run", matrix, "-o", str(folder), seconds=2_000)
    rows = json.loads(done.stdout)["configurations"]
    assert len(rows) == 8  # two samples; veritrail, direct, and rag with two values of k
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert [sum(one["labels"].values()) for one in report["datasets"]] == [3, 3]


def run(
    veritrail: Veritrail, settings: dict[str, str], *arguments: str, seconds: float = SECONDS
) -> subprocess.CompletedProcess[bytes]:
    """Call a command that takes the engine and the model."""
    engine = ["--engine", "openai", "--model", local_model.MODEL]
    return called(veritrail, settings, *arguments, *engine, seconds=seconds)


def called(
    veritrail: Veritrail, settings: dict[str, str], *arguments: str, seconds: float
) -> subprocess.CompletedProcess[bytes]:
    """Call a command with the model; whatever it answers, there is no stack trace."""
    with started(
        *arguments,
        "--json",
        env=veritrail.environment(settings),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        told = child.communicate(timeout=seconds)
    done = subprocess.CompletedProcess(arguments, child.returncode, *told)
    told = done.stderr.decode()
    assert done.returncode in (0, 1), told
    assert "Traceback" not in told
    return done


def test_the_server_ends_with_the_process_that_started_it(
    serving: subprocess.Popen[str], base_url: str
) -> None:
    """The last test here: it kills that process."""
    port = urlsplit(base_url).port
    assert listens(port)
    serving.kill()
    serving.wait()
    until(lambda: not listens(port), 20)


def listens(port: int | None) -> bool:
    assert port is not None
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
