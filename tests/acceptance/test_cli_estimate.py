"""`veritrail estimate`: what a run would cost, told without a key, a call or a stored claim."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail, process_file
from acceptance.model_fixtures import asking
from fakes.model_answers import pass_through
from fakes.model_prompts import EVIDENCE_SELECTION, EXCERPT_STEPS, parse_excerpts
from fakes.model_server import ModelServer

pytestmark = pytest.mark.engine

ROWS = ("low", "likely", "high")
KEYS = [
    "calls",
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "cost_usd",
    "nodes_visited",
]


def everything(step: str, system: str, user: str, request: Any) -> dict[str, Any]:
    """Every node yields evidence, and all of it supports the claim."""
    if step == EVIDENCE_SELECTION:
        blocks = parse_excerpts(user, step).blocks
        ids = [number for block in blocks for number in block.sentences][::2]
        return {"sentence_ids": ids, "context_ids": [], "summary": "Piers.", "missing": None}
    if step in EXCERPT_STEPS:
        return {"verdict": "FULLY_SUPPORTED", "reason": "All of it does."}
    answer = pass_through(step, user)
    assert isinstance(answer, dict)
    return {"claims": [" and ".join(answer["claims"])]}


def test_low_likely_and_high_are_told_with_their_assumptions(
    veritrail: Veritrail, harbour: str
) -> None:
    told = veritrail("estimate", harbour, "--model", "gpt-4o", "--json").json
    assert list(told) == ["process_id", "claims", "model", "assumptions", *ROWS]
    assert (told["process_id"], told["claims"], told["model"]) == (harbour, 24, "gpt-4o")
    assert told["assumptions"]["likely"]["one_in"] == 5
    for name in ROWS:
        assert list(told[name]) == KEYS
        assert told[name]["calls"] >= 24
    costs = [told[name]["cost_usd"] for name in ROWS]
    assert 0 < costs[0] < costs[1] < costs[2]
    assert told["high"]["nodes_visited"] == 32  # all but the verified one


def test_no_call_is_made_and_no_key_is_needed(veritrail: Veritrail, harbour: str) -> None:
    with ModelServer() as server:
        settings = {"OPENAI_BASE_URL": server.base_url, "VERITRAIL_MODEL": "scripted"}
        told = veritrail("estimate", harbour, "--json", **settings).json
        assert told["model"] == "scripted"
        assert server.requests == []
        assert server.connections_made == 0


def test_claims_that_are_only_estimated_are_not_stored(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    process = stored(veritrail, tmp_path / "unstored.json")
    file = tmp_path / "claims.txt"
    file.write_text("It has two piers.\nIt opened in 1901.\n")
    told = veritrail(
        "estimate", process, "--claim", "It has a lighthouse.", "--claims", str(file), "--json"
    ).json
    assert told["claims"] == 3
    assert veritrail("list", process, "--json").json["claims"] == []


def test_high_is_what_a_run_makes_in_which_everything_is_evidence(
    veritrail: Veritrail, harbour: str
) -> None:
    high = veritrail("estimate", harbour, "--claim-id", "k01", "--json").json["high"]
    with ModelServer(everything) as server:
        command = ("verify", harbour, "--claim-id", "k01", "--again", "--no-cache", "--json")
        ran = veritrail(*command, **asking(server)).json
    usage = ran["verifications"][0]["usage"]
    decompositions = 20  # the most that there are; this run needed one
    assert high["calls"] == usage["calls"] - 1 + decompositions
    read = {name for each in ran["verifications"][0]["iterations"] for name in each["checked"]}
    assert high["nodes_visited"] == len(read)


def test_more_samples_and_smaller_prompts_are_more_calls(
    veritrail: Veritrail, harbour: str
) -> None:
    def calls(*options: str) -> int:
        number: int = veritrail("estimate", harbour, *options, "--json").json["likely"]["calls"]
        return number

    plain = calls()
    assert calls("--samples", "3") > 2 * plain
    assert calls("--max-sentences", "5", "--max-root-sentences", "5") > plain
    assert calls("--max-sentences", "none", "--max-root-sentences", "none") <= plain
    assert calls("--q", "1") <= plain


def test_a_terminal_shows_how_far_it_is(veritrail: Veritrail, harbour: str) -> None:
    pytest.importorskip("termios", reason="no terminals to open here")
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", veritrail.on_terminal("estimate", harbour))
    assert re.search(r"claims .* 24/24 .* [1-9]\d* prompts looked at", shown)


def test_claims_that_stay_whole_cost_less(veritrail: Veritrail, harbour: str) -> None:
    command = ("estimate", harbour, "--claim-id", "k01", "--json")
    apart, whole = veritrail(*command).json, veritrail(*command, "--no-sub-claims").json
    assert apart["high"]["calls"] == whole["high"]["calls"] + 20
    assert apart["low"]["calls"] == whole["low"]["calls"] + 1


def test_an_unknown_price_is_said_to_be_unknown(veritrail: Veritrail, harbour: str) -> None:
    shown = veritrail("estimate", harbour, "--model", "a-model-of-ours")
    assert shown.out.count("unknown") == 3
    assert "The price is not known" in shown.err
    assert "$" not in shown.out
    told = veritrail("estimate", harbour, "--model", "a-model-of-ours", "--json").json
    assert [told[name]["cost_usd"] for name in ROWS] == [None, None, None]


def test_a_price_of_ones_own_needs_no_model(veritrail: Veritrail, harbour: str) -> None:
    shown = veritrail("estimate", harbour, "--price", "1,10")
    assert "no model named" in shown.err
    assert "estimates from assumptions" in shown.err
    assert shown.out.count("$") == 3
    told = veritrail("estimate", harbour, "--price", "1,10", "--json").json
    assert told["model"] is None
    row = told["high"]
    assert row["cost_usd"] == pytest.approx((row["input_tokens"] + 10 * row["output_tokens"]) / 1e6)


def test_what_verify_would_refuse_is_refused(veritrail: Veritrail, harbour: str) -> None:
    ended = veritrail("estimate", harbour, "--claim", "x", "--node", "c01", "--json", status=2)
    assert "root" in ended.message
    ended = veritrail("estimate", "no-such-process", "--json", status=2)
    assert "no-such-process" in ended.message
    ended = veritrail("estimate", harbour, "--max-sentences", "0", "--json", status=2)
    assert "--max-sentences 0" in ended.message
    ended = veritrail("estimate", harbour, "--price", "cheap", "--json", status=2)
    assert "price 'cheap'" in ended.message


def stored(veritrail: Veritrail, path: Path) -> str:
    veritrail("ingest", process_file(path))
    return path.stem
