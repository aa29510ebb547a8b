"""Endpoints that refuse, fail and misbehave: one clear message, and every claim accounted for."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import (
    KEY,
    MODEL,
    QUICK_FAULTS,
    asking,
    closed_port,
    expected,
    outcome,
    pumps,
    statuses,
)
from fakes.model_faults import HARMLESS, INVALID, TRANSPORT, Fault, Faults, StepCall, always
from fakes.model_prompts import EXCERPT_STEPS, parse_claim_prompt, parse_excerpts
from fakes.model_server import ModelServer

pytestmark = pytest.mark.engine

CLAIMS = 27
FEW = 12
AT_ONCE = 4


@pytest.fixture(scope="module")
def process(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    veritrail("ingest", pumps(tmp_path_factory.mktemp("faults") / "pumps-faults.json", CLAIMS))
    return "pumps-faults"


@pytest.fixture(scope="module")
def few(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A process with enough claims for what does not depend on their number."""
    veritrail("ingest", pumps(tmp_path_factory.mktemp("few") / "pumps-few.json", FEW))
    return "pumps-few"


# Refused outright.


@pytest.mark.parametrize(
    ("server", "message"),
    [
        (ModelServer(key="another"), "the key is not accepted"),
        (ModelServer(models=["another"]), "check the model's name"),
    ],
)
def test_a_refused_key_or_model_stops_the_run_with_one_message(
    veritrail: Veritrail, few: str, server: ModelServer, message: str
) -> None:
    with server:
        ended = veritrail(
            "verify", few, "--concurrency", str(AT_ONCE), "--json", status=3, **asking(server)
        )
        calls = len(server.requests)
    assert message in ended.message
    assert ended.err.count(message) == 1
    assert KEY not in ended.out + ended.err
    assert 0 < calls <= AT_ONCE  # those in flight when the first was refused
    found = [one["status"] for one in ended.json["verifications"]]
    assert len(found) == FEW
    assert set(found) <= {"failed", "cancelled"}
    assert found.count("cancelled") >= FEW - calls
    assert all(message in one["error"] for one in ended.json["verifications"])
    run = ended.json["run_id"]
    with ModelServer(port=server.port) as mended:
        told = veritrail("verify", "--resume", run, "--json", **asking(mended)).json
    assert outcome(told) == expected(FEW)


def test_text_tells_a_refusal_once_and_shows_no_costs_where_nothing_was_spent(
    veritrail: Veritrail, few: str
) -> None:
    with ModelServer(key="another") as server:
        ended = veritrail("verify", few, status=3, **asking(server))
    assert ended.err.count("the key is not accepted") == 1
    assert "average" not in ended.out


def test_an_endpoint_that_nobody_answers_at_ends_the_run_within_seconds(
    veritrail: Veritrail, few: str
) -> None:
    with closed_port() as port:
        began = time.monotonic()
        settings = {
            "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "VERITRAIL_MODEL": MODEL,
            "VERITRAIL_CALL_DEADLINE": "3",
        }
        ended = veritrail("verify", few, "--json", status=3, **settings)
        assert time.monotonic() - began < 30
    assert "could not be reached from the first call on" in ended.message
    assert {one["status"] for one in ended.json["verifications"]} <= {"failed", "cancelled"}


# Wrong use: nothing is called.


@pytest.mark.parametrize(
    ("name", "text"),
    [("verdict.v9.md", ""), ("veredict.v9.md", "Judge."), ("verdict.md", "Judge.")],
)
def test_a_folder_of_prompts_that_cannot_be_used_is_refused(
    veritrail: Veritrail, few: str, tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with ModelServer() as server:
        prompts = ("--prompts", str(tmp_path))
        ended = veritrail("verify", few, *prompts, "--json", status=2, **asking(server))
        assert server.requests == []
    assert name in ended.message or str(tmp_path) in ended.message


# Calls that fail.


@pytest.mark.parametrize("fault", [Fault.STATUS_500, Fault.HANG])
def test_where_every_call_fails_every_claim_ends_failed_in_bounded_time(
    veritrail: Veritrail, few: str, fault: Fault
) -> None:
    began = time.monotonic()
    with ModelServer(faults=always(fault)) as server:
        settings = asking(server, VERITRAIL_CALL_DEADLINE="2", VERITRAIL_ATTEMPT_TIMEOUT="0.5")
        ended = veritrail("verify", few, "--json", status=1, **settings)
    assert time.monotonic() - began < 25
    reason = {"500": "HTTP 500", "hang": "no answer"}[fault]
    found = ended.json["verifications"]
    assert len(found) == FEW
    assert {one["status"] for one in found} == {"failed"}
    assert {one["verdict"] for one in found} == {None}
    assert all(reason in one["error"] for one in found)
    assert f"{FEW} claim(s) have no verdict" in ended.err
    kept = statuses(veritrail, few)
    assert {kept[one["verification_id"]] for one in found} == {"failed"}


@pytest.mark.soak
def test_with_30_percent_of_calls_failing_every_claim_gets_what_it_gets_without(
    veritrail: Veritrail, process: str
) -> None:
    faults = Faults(0.2, TRANSPORT, seed=1, beside=(0.1, INVALID))
    with ModelServer(faults=faults, trickle_seconds=0.5) as server:
        told = veritrail("verify", process, "--json", **asking(server, **QUICK_FAULTS)).json
    assert outcome(told) == expected(CLAIMS)
    calls = len(server.requests)
    assert sum(server.faults_sent.values()) / calls == pytest.approx(0.3, abs=0.09)
    assert len(server.faults_sent) > 12
    lost = {*TRANSPORT, Fault.EMPTY_CHOICES} - {Fault.SLOW_TRICKLE}
    answered = sum(one.status == 200 and one.fault not in lost for one in server.requests)
    assert told["usage"]["calls"] <= answered


def test_odd_answers_that_are_answers_change_nothing(veritrail: Veritrail, few: str) -> None:
    faults = Faults(0.9, HARMLESS)
    with ModelServer(faults=faults) as server:
        told = veritrail("verify", few, "--again", "--no-cache", "--json", **asking(server)).json
        found = outcome(told)
        assert set(server.faults_sent) == set(HARMLESS)
    assert found == expected(FEW)
    assert sum(it["dropped_ids"] for one in told["verifications"] for it in one["iterations"]) > 0


REASONS = {
    Fault.STATUS_429_RETRY_AFTER: "HTTP 429",
    Fault.STATUS_429: "HTTP 429",
    Fault.STATUS_408: "HTTP 408",
    Fault.STATUS_409: "HTTP 409",
    Fault.STATUS_500: "HTTP 500",
    Fault.STATUS_503: "HTTP 503",
    Fault.HANG: "no answer",
    Fault.DROPPED: "broke off",
    Fault.DROPPED_IN_BODY: "broke off",
    Fault.WRONG_CONTENT_TYPE: "not JSON",
    Fault.BROKEN_BODY: "not JSON",
    Fault.SLOW_TRICKLE: "no answer",
    Fault.CUT_OFF: "6 cut off",
    Fault.MALFORMED_JSON: "6 malformed",
    Fault.NO_JSON: "6 malformed",
    Fault.REFUSAL: "6 refused by the model",
    Fault.CONTENT_FILTER: "6 withheld by a content filter",
    Fault.EMPTY_CHOICES: "no completion",
    Fault.EMPTY_CONTENT: "6 empty",
    Fault.UNKNOWN_VERDICT: "6 malformed",
    Fault.MISSING_KEYS: "6 malformed",
    Fault.EMPTY_SUMMARY: "6 malformed",
}
"""The error of a claim whose calls all fail in this way."""


def test_a_claim_whose_calls_all_fail_says_how_and_leaves_the_others_alone(
    veritrail: Veritrail, process: str
) -> None:
    kinds = dict(zip((f"k{number}" for number in range(CLAIMS)), REASONS, strict=False))
    pump = {f"Pump{name[1:]}": fault for name, fault in kinds.items()}

    def of_claim(asked: StepCall) -> Fault | None:
        parse = parse_excerpts if asked.step in EXCERPT_STEPS else parse_claim_prompt
        read = parse(asked.user, asked.step)
        claim = read.claim if asked.step in EXCERPT_STEPS else read.text  # type: ignore[union-attr]
        return pump.get(claim.split()[0])

    with ModelServer(faults=of_claim, trickle_seconds=30) as server:
        settings = asking(server, VERITRAIL_CALL_DEADLINE="4", VERITRAIL_ATTEMPT_TIMEOUT="1")
        ended = veritrail("verify", process, "--again", "--json", status=1, **settings)
    by_claim = {one["claim_id"]: one for one in ended.json["verifications"]}
    for name, fault in kinds.items():
        assert by_claim[name]["status"] == "failed"
        assert REASONS[fault] in by_claim[name]["error"], fault
    left = {name: found for name, found in expected(CLAIMS).items() if name not in kinds}
    assert len(left) == 5
    assert {name: found for name, found in outcome(ended.json).items() if name in left} == left
