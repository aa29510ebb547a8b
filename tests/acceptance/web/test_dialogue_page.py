"""The conversation over HTTP: turns, claims, contradictions both ways, bounds, awkward texts."""

from __future__ import annotations

import html
import json
import re
import uuid
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import asking
from fakes.dialogues import SAMPLE, DialogueReader, gold_run, store_found
from fakes.model_server import ModelServer
from fakes.page_forms import send
from fakes.service_process import ServiceProcess

from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.dialogue import (
    ClaimCategory,
    Dialogue,
    DialogueLabel,
    Speaker,
    Turn,
    TurnClaim,
    TurnVerification,
)

pytestmark = pytest.mark.engine

HOSTILE = "</p><img src=x onerror=alert(1)>\u202e'\"\x07"
MOST_BYTES = 280_000
GOLD = gold_run()
FAILS = "The user can bring lunch to the Lindholm Tram Museum."


@pytest.fixture(scope="module")
def lindholm(veritrail: Veritrail) -> str:
    """The sample with what a careful reader finds, and the check of its turns."""
    name = f"talk-{uuid.uuid4().hex[:8]}"
    veritrail("ingest", str(SAMPLE), "--process-id", name)
    with ModelServer(DialogueReader()) as server:
        veritrail("dialogue", "verify", name, "--turn-check", **asking(server))
    return name


def page_of(service: ServiceProcess, process: str, query: str = "", status: int = 200) -> str:
    answer = service.get(f"/processes/{process}/dialogue{query}")
    assert answer.status_code == status, answer.text[:2000]
    assert len(answer.content) < MOST_BYTES
    return answer.text


def words_of(page: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", page)))


def turns_in(page: str) -> dict[int, str]:
    """The turns of a page by their numbers, as HTML."""
    parts = re.split(r'(?=<li class="said )', page)[1:]
    return {int(re.search(r'id="turn-(\d+)"', one)[1]): one for one in parts}  # type: ignore[index]


def test_every_claim_is_marked_in_its_turn_and_contradictions_lead_both_ways(
    shared_service: ServiceProcess, lindholm: str
) -> None:
    page = page_of(shared_service, lindholm)
    turns = turns_in(page)
    assert list(turns) == list(range(1, 21))
    assert "Page 1 of 2" in page
    turns |= turns_in(page_of(shared_service, lindholm, "?part=2"))
    assert list(turns) == list(range(1, 31))
    marks = {
        "VERIFIED": "verified",
        "OUT_OF_SCOPE": "out of scope",
        "CONTRADICTED": "contradicted",
        "LACKING_EVIDENCE": "lacking evidence",
        "ABSTENTION": "abstention",
    }
    numbers = {}
    for found in GOLD.turns:
        number = int(found.turn_id.removeprefix("t"))
        claims = re.findall(r'<li class="turn-claim.*?</li>', turns[number], re.S)
        assert len(claims) == len(found.claims)
        for one, claim in zip(claims, found.claims, strict=True):
            assert claim.category is not None
            assert f"{marks[claim.category.value]} {claim.claim}" in words_of(one)
            assert "<svg" in one  # an icon beside the word
            numbers[claim.claim] = (number, re.search(r'id="(claim-[^"]+)"', one)[1], one)  # type: ignore[index]
    texts = {one.claim_id: one.claim for one in GOLD.claims}
    denied = [(one.claim, texts[name]) for one in GOLD.claims for name in one.contradicts]
    assert len(denied) == 2
    for later, earlier in denied:
        (number, anchor, row), (before, target, other) = numbers[later], numbers[earlier]
        assert f"?turn={before}#{target}" in row
        assert f"Contradicts turn {before}" in words_of(row)
        assert f"?turn={number}#{anchor}" in other
        assert f"Contradicted later in turn {number}" in words_of(other)
    assert "User turn 1" in words_of(turns[1])
    assert "As a whole, the turn contradicts an earlier one" in words_of(turns[24])
    assert 'class="found"' not in turns[1]
    words = words_of(page)
    assert f"Score (ours) {GOLD.score:.2f}" in words
    assert "Turns checked 15 of 15" in words
    assert 'role="img" aria-label="Score over all turns' in page
    assert "2 claims are contradicted, the first in turn 24" in words
    assert page.count('<rect class="chart-denied"') == 2


def test_lists_and_the_page_of_a_claim_lead_to_what_was_found_of_its_turn(
    shared_service: ServiceProcess, lindholm: str
) -> None:
    process = words_of(shared_service.get(f"/processes/{lindholm}").text)
    assert "30 Checked by turn" in process
    assert "Not checked" not in process
    listed = words_of(shared_service.get(f"/?q={lindholm}").text)
    assert "30 checked by turn" in listed
    assert "not checked" not in listed
    claims = shared_service.get(f"/v1/processes/{lindholm}/claims?limit=100").json()["claims"]
    assert [one["category"] for one in claims].count("ABSTENTION") == 1
    (denies,) = (one for one in claims if one["text"].endswith("is open on Mondays."))
    assert denies["category"] == "CONTRADICTED"
    page = shared_service.get(f"/processes/{lindholm}/claims/{denies['claim_id']}").text
    assert "Checked by turn: contradicted" in words_of(page)
    assert "was not checked" not in words_of(page)
    address = f"/processes/{lindholm}/dialogue?claim={denies['claim_id']}"
    assert f'href="{address}#claim-{denies["claim_id"]}"' in page
    opened = shared_service.get(address).text
    assert f'id="claim-{denies["claim_id"]}"' in opened
    graph = shared_service.get(f"/processes/{lindholm}/graph?claim={denies['claim_id']}").text
    assert "contradicted Checked by turn" in words_of(graph)
    assert f'href="{address}#claim-{denies["claim_id"]}"' in graph
    review = f"/processes/{lindholm}/review?claim={denies['claim_id']}"
    assert "contradicted" in words_of(shared_service.get(f"{review}&blind=0").text)
    assert "contradicted" not in words_of(shared_service.get(f"{review}&blind=1").text)


def test_the_background_of_a_claim_can_be_opened(
    shared_service: ServiceProcess, lindholm: str
) -> None:
    page = turns_in(page_of(shared_service, lindholm, "?turn=24"))[24]
    link = re.search(r'href="[^"?]*(\?claim=[^"#]*)#[^"]*">Compared with (\d+)', page)
    assert link is not None
    opened = page_of(shared_service, lindholm, html.unescape(link[1]))
    background = re.search(r'<div class="background">.*?</div>', opened, re.S)
    assert background is not None
    assert background[0].count("<li>") == int(link[2])
    assert "turn 4 : The Lindholm Tram Museum is closed on Mondays." in words_of(background[0])
    assert page_of(shared_service, lindholm, "?claim=no-such", 404)
    answer = shared_service.get(f"/processes/{lindholm}/dialogue?at=turn/t24")
    assert answer.headers["location"].endswith("?turn=24#turn-24")


def test_a_turn_that_failed_or_was_not_verified_says_so_and_runs_can_be_chosen(
    shared_service: ServiceProcess, veritrail: Veritrail
) -> None:
    name = f"talk-{uuid.uuid4().hex[:8]}"
    veritrail("ingest", str(SAMPLE), "--process-id", name)
    page = page_of(shared_service, name)
    assert f"veritrail dialogue verify {name}" in page
    assert words_of(page).count("not checked") == 10
    with ModelServer(DialogueReader({FAILS: '{"label": "MAYBE"}'})) as server:
        environment = asking(server, VERITRAIL_ANSWER_RETRIES="1")
        veritrail("dialogue", "verify", name, "--no-cache", status=1, **environment)
    number = next(
        int(turn.turn_id[1:])
        for turn in GOLD.turns
        if any(claim.claim == FAILS for claim in turn.claims)
    )
    page = page_of(shared_service, name, f"?turn={number}")
    failed = words_of(turns_in(page)[number])
    assert "failed" in failed
    assert "This says nothing about the turn." in failed
    assert "not all is remembered of 1 earlier turn" in words_of(page)
    veritrail("dialogue", "verify", name, "--engine", "lexical")
    runs = shared_service.get(f"/v1/processes/{name}/dialogue/runs").json()["dialogue_runs"]
    page = page_of(shared_service, name, f"?run={runs[0]['run_id']}")
    assert "indicative only" in page
    assert f'value="{runs[0]["run_id"]}" selected' in page
    of_model = page_of(shared_service, name, f"?turn={number}&run={runs[1]['run_id']}")
    row = turns_in(of_model)[number]
    assert 'class="turn-claim edge-failed"' in row
    assert "This says nothing about the turn." in words_of(row)
    page_of(shared_service, name, "?run=r-none", 404)


def claim_of(name: str, category: ClaimCategory, **values: object) -> TurnClaim:
    label = DialogueLabel.VERIFIED
    if category is not ClaimCategory.VERIFIED:
        label = DialogueLabel.UNVERIFIABLE
    return TurnClaim(
        claim_id=name, claim=f"{'<' * 3_000} {HOSTILE}", category=category, label=label,
        reason=f"{'<' * 3_000} {HOSTILE}", **values,
    )  # fmt: skip


@pytest.fixture(scope="module")
def odd(veritrail: Veritrail) -> str:
    """120 turns of angle brackets; the assistant's have many claims that contradict the first."""
    name = f"odd-{uuid.uuid4().hex[:8]}"
    text = f"{'<' * 10_000} {HOSTILE}"
    turns = tuple(
        Turn(
            turn_id=f"t{number}",
            role=Speaker.ASSISTANT if number % 2 == 0 else Speaker.USER,
            text=text,
        )
        for number in range(1, 121)
    )
    found = []
    said = [f"k{number}-{place}" for number in (2, 4) for place in range(90)]
    for number in range(2, 121, 2):
        claims = tuple(
            claim_of(f"k{number}-{place}", ClaimCategory.OUT_OF_SCOPE)
            if number < 6
            else claim_of(
                f"k{number}-{place}", ClaimCategory.CONTRADICTED,
                compared_with=tuple(said if number == 120 else said[:4]),
                contradicts=tuple(said[:4]),
            )
            for place in range(90 if number < 6 else 4)
        )  # fmt: skip
        found.append(
            TurnVerification.of_claims(
                f"t{number}", claims, history_left_out=7 if number == 20 else 0,
                background_left_out=9 if number == 20 else 0,
            )
        )  # fmt: skip
    found[5] = TurnVerification(turn_id="t12", status=Status.FAILED, error=HOSTILE)
    store_found(veritrail.environment({}), Dialogue(dialogue_id=name, turns=turns), found)
    return name


def test_long_and_hostile_dialogues_are_shown_in_parts_and_as_text(
    shared_service: ServiceProcess, odd: str
) -> None:
    page = page_of(shared_service, odd)
    assert "<img" not in page
    assert "\u202e" not in page
    turns = turns_in(page)
    assert list(turns) == list(range(1, 21))
    assert page.count('<li class="turn-claim') <= 50
    assert "This says nothing about the turn" in words_of(turns[12])
    assert "not shown in the prompts: 7 earlier turns and 9 remembered facts" in words_of(turns[20])
    more = re.search(r'href="[^"?]*(\?turn=2[^"#]*)#[^"]*">(\d+) more claims', turns[2])
    assert more is not None
    opened = page_of(shared_service, odd, html.unescape(more[1]))
    assert turns_in(opened)[2].count('<li class="turn-claim') == 40
    rest = re.search(r'href="[^"?]*(\?turn=2&amp;begin=40)#[^"]*">50 more claims', opened)
    assert rest is not None
    last = turns_in(page_of(shared_service, odd, "?turn=2&begin=80"))[2]
    assert last.count('<li class="turn-claim') == 10
    assert "and 226 more later" in words_of(opened)  # 4 claims of 57 turns deny it; two are shown
    assert "and 2 more before" in words_of(turns_in(page_of(shared_service, odd, "?turn=20"))[20])
    background = page_of(shared_service, odd, "?claim=k120-3")
    assert "Compared with 180 remembered claims" in words_of(background)
    assert list(turns_in(background)) == list(range(101, 121))
    assert page.count('<rect class="chart-bar"') <= 60


def test_the_turns_are_verified_from_the_page_and_the_process_leads_there(
    shared_service: ServiceProcess, lindholm: str, tmp_path: Path, veritrail: Veritrail
) -> None:
    address = f"/processes/{lindholm}/dialogue/verify"
    assert f'href="{address}"' in page_of(shared_service, lindholm)
    process = shared_service.get(f"/processes/{lindholm}").text
    assert f'href="/processes/{lindholm}/dialogue"' in process
    assert "and 15 of turns" in words_of(process)
    page = shared_service.get(address)
    assert '<option value="lexical" selected>' in page.text  # no model is set: what works
    for fields, words in (
        ({"engine": "nli"}, "does not verify dialogues"),
        ({"engine": "lexical", "turn_check": "1"}, "needs a language model"),
        ({"budget_usd": "a lot"}, "must be US dollars"),
    ):
        refused = send(shared_service.client, page, address, **fields)
        assert refused.status_code == 422, fields
        assert words in words_of(refused.text)
    fields = {"engine": "lexical", "no_background": "1", "binary": "1"}
    began, again = (send(shared_service.client, page, address, **fields) for _ in range(2))
    assert began.status_code == 303
    assert began.headers["location"] == again.headers["location"]  # sent twice, started once
    job = shared_service.get(f"/v1{began.headers['location']}").json()
    assert job["kind"] == "dialogue"
    shared_service.post(f"/v1{began.headers['location']}/cancel")
    users = {
        "format": "veritrail.process/1",
        "process_id": f"{lindholm}-users",
        "nodes": [{"node_id": "turn/t1", "text": "Hello?", "kind": "user turn", "origin": "given"}],
        "edges": [],
    }
    path = tmp_path / "users.json"
    path.write_text(json.dumps(users), encoding="utf-8")
    veritrail("ingest", str(path))
    for place in ("dialogue", "dialogue/verify"):
        refused = shared_service.get(f"/processes/{lindholm}-users/{place}")
        assert refused.status_code == 422
        assert "it has no turn of an assistant" in words_of(refused.text)
