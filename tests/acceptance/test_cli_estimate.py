"""`veritrail estimate`: what a run would cost, shown without a key, a call or a stored claim."""

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
    assert high["calls"] == usage["calls"]
    read = {name for each in ran["verifications"][0]["iterations"] for name in each["checked"]}
    assert high["nodes_visited"] == len(read)


@pytest.mark.soak
def test_a_terminal_shows_how_far_it_is(veritrail: Veritrail, harbour: str) -> None:
    pytest.importorskip("termios", reason="no terminals to open here")
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", veritrail.on_terminal("estimate", harbour))
    assert re.search(r"claims .* 24/24 .* [1-9]\d* prompts looked at", shown)


def stored(veritrail: Veritrail, path: Path) -> str:
    veritrail("ingest", process_file(path))
    return path.stem
