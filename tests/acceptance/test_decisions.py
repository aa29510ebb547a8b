"""Decision models through the command line: verdicts, both steps, faults, money, keys, figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import KEY, asking, expected, outcome, pumps
from fakes.decision_server import OPENAI, SYSTEMONE, VERSION, DecisionServer, Twist
from fakes.model_faults import QUICK, Faults
from fakes.model_server import Received

pytestmark = pytest.mark.engine

CLAIMS = 9


@pytest.fixture(scope="module")
def process(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("decisions") / "pumps-decisions.json"
    veritrail("ingest", pumps(path, CLAIMS))
    return "pumps-decisions"


def deciding(server: DecisionServer, path: str = SYSTEMONE, **more: str) -> dict[str, str]:
    """The settings of a command that asks this server."""
    return {
        "VERITRAIL_DECISIONS_URL": server.url(path),
        "VERITRAIL_DECISIONS_API_KEY": KEY,
        "VERITRAIL_DECISIONS_MODEL": "jev-1.13",
        **more,
    }


@pytest.mark.parametrize("path", [OPENAI, SYSTEMONE])
def test_verdicts_stages_and_evidence_are_those_of_the_chat_way_with_a_score_and_a_version(
    veritrail: Veritrail, process: str, path: str
) -> None:
    with DecisionServer() as server:
        how = deciding(server, path, VERITRAIL_DECISIONS_PRICE="0.1")
        told = veritrail("verify", process, "--engine", "decisions", "--json", **how).json
        assert len(server.requests) < 4 * CLAIMS  # claims over one text share a request
    assert outcome(told) == expected(CLAIMS)
    assert (told["engine"], told["model"], told["indicative"]) == ("decisions", "jev-1.13", False)
    found = told["verifications"]
    assert {one["score"] for one in found} == {0.91, 0.06}
    assert all(one["usage"]["cost_usd"] is not None for one in found)
    again = veritrail("show", found[0]["verification_id"], "--json").json
    assert {step["model"] for step in again["steps"]} == {f"jev-1.13-{VERSION}"}


@pytest.mark.parametrize("of_evidence", [True, False])
def test_a_decision_model_serves_one_step_and_a_language_model_the_other(
    veritrail: Veritrail, process: str, of_evidence: bool
) -> None:
    engines = ("decisions", "openai") if of_evidence else ("openai", "decisions")
    asked = ("--engine", engines[0], "--verdict-engine", engines[1], "--model", "scripted")
    with DecisionServer() as server:
        how = asking(server, **deciding(server))
        told = veritrail("verify", process, *asked, "--json", **how).json
    assert outcome(told) == expected(CLAIMS)
    assert told["engine"] == "+".join(engines)
    assert ({one["score"] for one in told["verifications"]} == {None}) is of_evidence


def test_a_language_model_is_asked_where_the_decision_model_is_not_sure(
    veritrail: Veritrail, process: str
) -> None:
    with DecisionServer() as server:
        how = asking(server, **deciding(server))
        asked = ("--engine", "decisions", "--escalate-to", "scripted", "--json")
        told = veritrail("verify", process, *asked, **how).json
        paths = {one.path for one in server.of("verdict")}
    assert outcome(told) == expected(CLAIMS)
    assert paths == {SYSTEMONE, "/v1/chat/completions"}


def test_refusals_fail_their_claims_and_are_asked_again_by_the_next_run(
    veritrail: Veritrail, process: str
) -> None:
    def refuses(received: Received) -> Twist | None:
        return Twist.REFUSAL if received.step == "verdict" else None

    with DecisionServer(twists=refuses) as server:
        how = deciding(server)
        ended = veritrail(
            "verify", process, "--engine", "decisions", "--no-cache", "--json", status=1, **how
        )
        assert {one["status"] for one in ended.json["verifications"]} == {"failed"}
        assert all("the model refused" in one["error"] for one in ended.json["verifications"])
        server.twists = None
        told = veritrail("verify", process, "--retry-failed", "--engine", "decisions", **how)
    assert "3 fully supported" in told.out + told.err


def test_with_faults_on_the_way_every_claim_gets_what_it_gets_without(
    veritrail: Veritrail, process: str
) -> None:
    with DecisionServer(faults=Faults(0.3, QUICK, seed=3, at_most=2)) as server:
        how = deciding(server, VERITRAIL_ATTEMPT_TIMEOUT="5")
        ended = veritrail("verify", process, "--engine", "decisions", "--no-cache", "--json", **how)
        assert server.faults_sent
    assert outcome(ended.json) == expected(CLAIMS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--budget", "1"), "A budget needs the price of jev-1.13"),
        (("--samples", "3"), "several samples of an answer"),
        (("--batch",), "takes no batches"),
        (("--extract",), "Extracting claims needs a language model"),
    ],
)
def test_what_a_decision_model_cannot_do_is_refused_before_anything_is_asked(
    veritrail: Veritrail, process: str, arguments: tuple[str, ...], message: str
) -> None:
    with DecisionServer() as server:
        ended = veritrail(
            "verify", process, "--engine", "decisions", *arguments, status=2, **deciding(server)
        )
        assert server.requests == []
    assert message in ended.err


def test_a_missing_model_says_which_setting_names_one(veritrail: Veritrail, process: str) -> None:
    ended = veritrail("verify", process, "--engine", "decisions", status=2)
    assert "VERITRAIL_DECISIONS_MODEL names one" in ended.err


def test_the_key_of_a_language_model_goes_to_no_other_server(
    veritrail: Veritrail, process: str
) -> None:
    with DecisionServer() as server:
        how = deciding(server, OPENAI_API_KEY="sk-openai-0123456789")
        del how["VERITRAIL_DECISIONS_API_KEY"]
        veritrail("verify", process, "--engine", "decisions", "--no-cache", **how)
        assert all("authorization" not in one.headers for one in server.requests)
    shown = veritrail("config", "show", **deciding(server))
    assert KEY not in shown.out + shown.err


def test_an_estimate_is_made_of_the_questions_and_no_model_is_asked(
    veritrail: Veritrail, process: str
) -> None:
    with DecisionServer() as server:
        how = deciding(server, VERITRAIL_DECISIONS_PRICE="0.1")
        told = veritrail("estimate", process, "--engine", "decisions", "--json", **how).json
        assert server.requests == []
    assert told["likely"]["output_tokens"] == 0
    assert 0 < told["likely"]["cost_usd"] < 0.1


def test_judge_check_tells_calibration_and_turned_options_and_keeps_what_it_measured(
    veritrail: Veritrail, process: str, tmp_path: Path
) -> None:
    home = {"VERITRAIL_HOME": str(tmp_path / "home")}
    with DecisionServer() as server:
        how = {**deciding(server), **home}
        asked = ("judge", "check", "--engine", "decisions", "--limit", "40")
        told = veritrail(*asked, "--json", **how).json
        words = veritrail(*asked, **how)
    assert told["turned"]["verdicts"] == told["turned"]["same"] == told["calibration"]["pairs"] > 0
    assert (
        told["calibration"]["expected_calibration_error"] > told["calibration"]["perfect_at_most"]
    )
    assert "expected calibration error" in words.out
    assert "With the options in the reverse order" in words.out
    (kept,) = json.loads((tmp_path / "home" / "judges.json").read_text("utf-8"))["judges"]
    assert (kept["engine"], kept["model"], kept["pairs"]) == ("decisions", "jev-1.13", 40)
