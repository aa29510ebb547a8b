"""`veritrail claims`: extracting, listing, editing and removing, as a user does it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail, process_file
from fakes.model_answers import Answer, WordReader
from fakes.model_faults import INVALID, QUICK, Faults
from fakes.model_server import ModelServer

pytestmark = pytest.mark.engine

ANSWER = "# Harbour\n\nIt opened in 1901.\nI like it. It has two piers.\n\nIt opened in 1901."
TWICE = "It opened in 1901."
NONE = {"outcome": "no_verifiable_claims", "sentence": None}


class Reader(WordReader):
    """Every sentence is a claim, but for headings and opinions."""

    def __call__(self, step: str, system: str, user: str, request: Any) -> Answer:
        sentence = user.rpartition("\n")[2]
        if step == "claim_selection" and ("# Harbour" in sentence or "I like" in sentence):
            return NONE
        return super().__call__(step, system, user, request)


class Broken(Reader):
    """One sentence never gets a valid answer."""

    def __call__(self, step: str, system: str, user: str, request: Any) -> Answer:
        if step == "claim_decomposition" and user.endswith("piers."):
            return "I would rather not say."
        return super().__call__(step, system, user, request)


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(Reader()) as server:
        yield server


@pytest.fixture
def stored(veritrail: Veritrail, tmp_path: Path) -> str:
    """A stored process whose terminal is an answer in several sentences."""
    name = f"claims-{uuid.uuid4().hex[:8]}"
    nodes = [{"node_id": "a", "text": "Source."}, {"node_id": "t", "text": ANSWER}]
    edges = [{"source": "a", "target": "t"}]
    path = process_file(
        tmp_path / f"{name}.json", question="What is there?", nodes=nodes, edges=edges
    )
    veritrail("ingest", path)
    return name


def settings(model: ModelServer, **more: str) -> dict[str, str]:
    return {
        "OPENAI_BASE_URL": model.base_url,
        "OPENAI_API_KEY": "k",
        "VERITRAIL_MODEL": "m",
        **more,
    }


def test_extraction_stores_claims_with_their_places_and_says_why_others_have_none(
    veritrail: Veritrail, stored: str, model: ModelServer
) -> None:
    done = veritrail("claims", "extract", stored, "--json", **settings(model)).json
    assert [claim["text"] for claim in done["claims"]] == [TWICE, "It has two piers."]
    first = done["claims"][0]
    places = [[first["start"], first["end"]], *first["also"]]
    assert [ANSWER[start:end] for start, end in places] == [TWICE, TWICE]
    assert done["claims_added"] == 2
    assert done["outcomes"] == {
        "claims": 3,
        "no_verifiable_claims": 2,
        "cannot_be_disambiguated": 0,
        "no_claims": 0,
        "failed": 0,
    }
    without = [one for one in done["sentences"] if one["outcome"] != "claims"]
    assert [one["text"] for one in without] == ["# Harbour", "I like it."]
    assert all(one["reason"] for one in without)
    assert done["usage"]["calls"] == len(model.requests) == 5 * 3 + 3 * 4
    listed = veritrail("claims", "list", stored, "--sentences", "--json").json
    assert listed["claims"] == done["claims"]
    assert listed["sentences"] == done["sentences"]
    assert veritrail("claims", "list", stored, "--node", "a", "--json").json["claims"] == []


def test_a_terminal_shows_how_far_extraction_is(veritrail: Veritrail, stored: str) -> None:
    pytest.importorskip("termios", reason="no terminals to open here")
    with ModelServer(Reader(), latency=0.4) as model:
        shown = veritrail.on_terminal("claims", "extract", stored, **settings(model))
    progress = re.findall(r"sentences.*?(\d)/5", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown))
    assert {"0", "2"} <= set(progress)
    assert re.search(r"15 answers", shown)


def test_places_are_added_to_a_claim_that_was_given_without(
    veritrail: Veritrail, stored: str, model: ModelServer
) -> None:
    veritrail("verify", stored, "--claim", TWICE, "--add", "--engine", "lexical")
    (given,) = veritrail("claims", "list", stored, "--json").json["claims"]
    assert (given["start"], given["also"]) == (None, [])
    done = veritrail("claims", "extract", stored, "--json", **settings(model)).json
    assert done["claims_added"] == 1
    (same,) = [one for one in done["claims"] if one["claim_id"] == given["claim_id"]]
    places = [[same["start"], same["end"]], *same["also"]]
    assert [ANSWER[start:end] for start, end in places] == [TWICE, TWICE]
    assert veritrail("claims", "list", stored, "--json").json["claims"] == done["claims"]


def test_a_sentence_that_fails_makes_status_1_and_the_others_are_kept(
    veritrail: Veritrail, stored: str
) -> None:
    with ModelServer(Broken()) as model:
        done = veritrail(
            "claims",
            "extract",
            stored,
            "--json",
            status=1,
            **settings(model, VERITRAIL_ANSWER_RETRIES="1"),
        )
    assert done.json["outcomes"]["failed"] == 1
    assert [claim["text"] for claim in done.json["claims"]] == [TWICE]
    assert "1 sentence(s) failed" in done.err


def test_with_a_third_of_all_calls_failing_the_same_claims_come_out(
    veritrail: Veritrail, stored: str, model: ModelServer
) -> None:
    without = veritrail("claims", "extract", stored, "--json", **settings(model)).json
    faults = Faults(0.2, QUICK, beside=(0.1, INVALID))
    with ModelServer(Reader(), faults=faults) as faulty:
        done = veritrail("claims", "extract", stored, "--json", **settings(faulty)).json
        assert sum(faulty.faults_sent.values()) > 3
    assert done["claims"] == without["claims"]
    assert done["outcomes"] == without["outcomes"]


def test_verification_can_extract_its_claims_first(
    veritrail: Veritrail, stored: str, model: ModelServer
) -> None:
    done = veritrail("verify", stored, "--extract", "--json", **settings(model)).json
    assert [one["claim"] for one in done["verifications"]] == [TWICE, "It has two piers."]
    assert {one["status"] for one in done["verifications"]} == {"succeeded"}
    listed = veritrail("claims", "list", stored, "--json").json["claims"]
    assert [one["claim_id"] for one in listed] == [one["claim_id"] for one in done["verifications"]]


def test_the_node_must_be_named_where_there_are_several_terminals(
    veritrail: Veritrail, model: ModelServer, tmp_path: Path
) -> None:
    name = f"claims-{uuid.uuid4().hex[:8]}"
    nodes = [{"node_id": "a", "text": "Source."}]
    nodes += [{"node_id": node, "text": f"It is {node}."} for node in ("t", "u")]
    nodes[2]["question"] = "What is u?"
    edges = [{"source": "a", "target": node} for node in ("t", "u")]
    path = process_file(
        tmp_path / f"{name}.json", question="What is there?", nodes=nodes, edges=edges
    )
    veritrail("ingest", path)
    call = ["claims", "extract", name, "--json", "--completions", "1"]
    assert "2 terminals" in veritrail(*call, status=2, **settings(model)).message
    done = veritrail(*call, "--node", "u", **settings(model)).json
    assert [claim["text"] for claim in done["claims"]] == ["It is u."]
    assert done["usage"]["calls"] == len(model.requests) == 3
    # Each answer is read with the question that it replies to.
    assert "Question: What is u?\n" in model.requests[0].user
    veritrail(*call, "--node", "t", **settings(model))
    assert "Question: What is there?\n" in model.requests[3].user
    assert "  t  " in veritrail("list", name).out


def test_a_key_that_is_refused_ends_it_with_status_3_and_stores_nothing(
    veritrail: Veritrail, stored: str
) -> None:
    with ModelServer(Reader(), key="another") as model:
        veritrail("claims", "extract", stored, "--json", status=3, **settings(model))
    assert veritrail("claims", "list", stored, "--sentences", "--json").json == {
        "process_id": stored,
        "claims": [],
        "near_duplicates": [],
        "questions": {},
        "sentences": [],
    }


def test_no_more_calls_are_made_than_allowed(
    veritrail: Veritrail, stored: str, model: ModelServer
) -> None:
    more = settings(model)
    done = veritrail("claims", "extract", stored, "--max-calls", "4", "--json", status=1, **more)
    assert done.message
    assert len(model.requests) <= 4
