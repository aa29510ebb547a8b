"""`veritrail verify --share` and `--escalate-to`: the same verdicts in fewer calls, and said so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import asking, expected, outcome, pumps
from fakes.model_answers import WordReader
from fakes.model_prompts import split_shared
from fakes.model_server import ModelServer

pytestmark = pytest.mark.engine

CLAIMS = 3
ANEW = ("--again", "--no-cache", "--price", "1,2", "--json")
SHARED, VERDICTS = "evidence_selection_shared", "verdict_shared"


@pytest.fixture(scope="module")
def process(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    veritrail("ingest", pumps(tmp_path_factory.mktemp("shared") / "pumps-shared.json", CLAIMS))
    return "pumps-shared"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.mark.parametrize("how", [(), ("--batch",)])
def test_shared_prompts_give_the_same_trails_and_every_output_says_so(
    veritrail: Veritrail, process: str, server: ModelServer, how: tuple[str, ...]
) -> None:
    settings = asking(server, VERITRAIL_BATCH_POLL="0.05")
    told = veritrail("verify", process, "--share", "8", *how, *ANEW, **settings).json
    assert outcome(told) == expected(CLAIMS)
    assert len(split_shared(server.of(SHARED)[0].user)) == CLAIMS
    judged = [len(split_shared(one.user, VERDICTS)) for one in server.of(VERDICTS)]
    assert judged
    assert max(judged) > 1
    assert not server.of("verdict"), "no claim judges alone, and no part is invalid"
    assert told["engine"] == "openai+shared"
    assert {one["share"] for one in told["verifications"]} == {8}
    assert told["usage"]["calls"] == len(server.requests)
    assert told["usage"]["calls"] == sum(one["usage"]["calls"] for one in told["verifications"])
    found = told["verifications"][0]["verification_id"]
    assert (
        "Shared prompts (ours, not the paper's): up to 8 claims in one prompt"
        in veritrail("show", found).out
    )
    assert "scripted, 8 claims a prompt" in veritrail("runs", process).out
    assert {one["share"] for one in veritrail("runs", process, "--json").json["runs"]} == {8}
    for name in ("markdown", "html", "junit"):
        report = veritrail("report", process, "--format", name).out
        assert "openai+shared" in report
        assert "up to 8 claims in one prompt" in report


def test_a_second_judge_is_asked_where_the_first_is_not_sure(
    veritrail: Veritrail, process: str, server: ModelServer
) -> None:
    how = ("--escalate-to", "strong", *ANEW)
    settings = asking(server, VERITRAIL_ESCALATION_PRICE="10,20")
    told = veritrail("verify", process, *how, **settings).json
    assert outcome(told) == expected(CLAIMS)
    assert told["model"] == "scripted + strong"
    rule = "first judge's verdict counts where it is Fully Supported and every sample gave it"
    assert "scripted + strong, cascade" in veritrail("runs", process).out
    report = veritrail("report", process, "--format", "markdown").out
    assert rule in report
    assert "The first judge's verdict was Not Fully Supported" in report
    rounds = [one for found in told["verifications"] for one in found["iterations"]]
    judged = [one for one in rounds if "judged_by" in one]
    escalated = [one for one in judged if one["judged_by"] == "strong"]
    assert {one["first_verdict"] for one in escalated} == {"NOT_FULLY_SUPPORTED"}
    assert {one["verdict"] for one in judged if one not in escalated} == {"FULLY_SUPPORTED"}
    models = [one.body["model"] for one in server.of("verdict")]
    assert models.count("strong") == len(escalated) < models.count("scripted") == len(judged)
    rows = veritrail("query", "cost", "--param", f"process_id={process}", "--json").json["rows"]
    assert {row[1] for row in rows if row[0] == "verdict"} >= {"scripted", "strong"}
    shown = veritrail("verify", process, *how[:-1], **settings)
    assert rule in " ".join(shown.err.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--share", "8"), "Claims share prompts only where a model selects evidence"),
        (("--escalate-to", "strong", "--engine", "lexical"), "lexical asks none"),
    ],
)
def test_what_no_model_can_do_is_refused(
    veritrail: Veritrail, process: str, options: tuple[str, ...], words: str
) -> None:
    assert words in veritrail("verify", process, *options, status=2).err


def test_an_estimate_shows_all_ways_side_by_side(veritrail: Veritrail, process: str) -> None:
    how = ("--model", "gpt-6-luna", "--escalate-to", "gpt-6.1-sol", "--share", "4", "--json")
    ways = {one["way"]: one for one in veritrail("estimate", process, *how).json["ways"]}
    assert [*ways] == [
        "live", "cached_prefixes", "batch", "shared", "shared_batch", "cascade",
        "shared_batch_cascade",
    ]  # fmt: skip
    assert ways["batch"]["part_of_live"] == pytest.approx(0.5, abs=0.001)
    assert ways["shared"]["share"] == 4
    assert ways["shared"]["likely"]["calls"] < ways["live"]["likely"]["calls"]
    assert ways["cascade"]["part_of_live"] < 1


def test_a_check_compares_shared_prompts_with_prompts_of_one_claim(veritrail: Veritrail) -> None:
    with ModelServer(WordReader()) as server:
        how = ("--share", "4", "--limit", "8", "--no-sub-claims", "--price", "1,2", "--json")
        told = veritrail("judge", "check", *how, **asking(server)).json
    assert told["share"] == 4
    assert told["same_evidence"] == {"pairs": 8, "of": 8}
    assert told["overall"] == told["alone"]["overall"]
    assert len(server.of("evidence_selection")) == 8
    assert [len(split_shared(one.user)) for one in server.of(SHARED)] == [4, 4]


def test_a_check_tells_what_sharing_costs_without_what_the_first_time_paid(
    veritrail: Veritrail,
) -> None:
    with ModelServer(WordReader()) as server:
        how = ("judge", "check", "--share", "4", "--limit", "8", "--price", "1,2")
        anew = veritrail(*how, "--no-cache", "--json", **asking(server)).json
        told = veritrail(*how, "--json", **asking(server)).json
        words = veritrail(*how, **asking(server))
        again = veritrail(*how, "--json", **asking(server)).json
    cost = anew["usage"]["cost_usd"]
    assert told["usage"]["cached_calls"] >= 8
    assert told["usage"]["cost_usd"] < told["cost_anew_usd"]
    assert told["cost_anew_usd"] == pytest.approx(cost, rel=0.001)
    assert again["cost_anew_usd"] == pytest.approx(cost, rel=0.001)
    assert told["alone"]["cost_anew_usd"] == told["alone"]["usage"]["cost_usd"]
    for name in ("calls", "cost_usd"):
        both = told["usage"][name] + told["alone"]["usage"][name]
        assert told["paid"][name] == pytest.approx(both)
    assert again["paid"]["calls"] == 0
    assert "Paid for both: $0, 0 calls" in words.err


def test_the_budget_of_a_check_holds_for_both_times(veritrail: Veritrail) -> None:
    with ModelServer(WordReader()) as server:
        how = ("judge", "check", "--share", "8", "--limit", "16", "--price", "1,2", "--json")
        how += ("--no-sub-claims", "--max-calls", "26")
        told = veritrail(*how, status=1, **asking(server)).json
    assert told["alone"]["usage"]["calls"] == 25
    assert told["paid"]["calls"] == 26
    assert told["without_verdict"]["over_budget"] > 0
