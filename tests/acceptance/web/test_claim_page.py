"""The page of a claim over HTTP: verdict, trail, rounds, routes, reviews, cost, removals."""

from __future__ import annotations

import html
import re
import uuid
from pathlib import Path
from xml.etree import ElementTree

import pytest
from acceptance.command import Veritrail, process_file
from acceptance.homes import EXAMPLES
from fakes.page_processes import a_heavy_trail, a_hub, store_process, verification
from fakes.service_process import ServiceProcess

from veritrail_graph.graph.importers.records import ClaimRecord
from veritrail_graph.graph.model import Claim, Status, Usage

pytestmark = pytest.mark.engine

HOSTILE = "</textarea><script>alert(1)</script>\u202e'\"\x07"
MOST_BYTES = 200_000


@pytest.fixture(scope="module")
def harbour(veritrail: Veritrail) -> str:
    name = f"claim-{uuid.uuid4().hex[:8]}"
    veritrail("ingest", str(EXAMPLES / "harbour-summary.json"), "--process-id", name)
    veritrail("verify", name, "--engine", "lexical")
    return name


@pytest.fixture(scope="module")
def hub(veritrail: Veritrail) -> str:
    """A node with 3,000 sources, of which 1,250 have four sentences each as evidence."""
    name = f"hub-{uuid.uuid4().hex[:8]}"
    texts, trail = a_hub(name, 3_000, 1_250)
    claim = ClaimRecord("It is so.", "c", claim_id="k1", node_id="t")
    edges = ((source, "t") for source in texts if source != "t")
    store_process(veritrail.environment({}), name, texts, edges, [claim], [trail])
    return name


def page_of(service: ServiceProcess, path: str, status: int = 200) -> str:
    answer = service.get(f"/processes/{path}")
    assert answer.status_code == status, answer.text[:2000]
    assert answer.headers["content-type"].startswith("text/html")
    assert len(answer.content) < MOST_BYTES
    return answer.text


def link(page: str, pattern: str) -> str:
    found = re.search(rf'href="/processes/([^"]*{pattern}[^"]*)"', page)
    assert found is not None, pattern
    return html.unescape(found[1])


def words_of(page: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", page)))


def test_a_claim_shows_where_its_error_came_in_and_which_way_it_went(
    shared_service: ServiceProcess, harbour: str
) -> None:
    page = page_of(shared_service, f"{harbour}/claims/k04")
    words = words_of(page)
    assert "Not Fully Supported indicative only introduced at chunk summary" in words
    assert "Chunk summary (stage 2), s03: Between 6 March and 14 April" in words
    assert "Here it changes: 48,200 → 84,200 " in words
    assert "Carried on, 1 step: g1" in words
    # Both forms, and each box of both leads to the page of its node.
    for box in ("c03", "s03", "final"):
        assert page.count(f'<a class="vp-link" href="/processes/{harbour}/nodes/{box}"') == 2
    cards = re.findall(
        r'<article class="node-card[^"]*" id="n(\d)"[^>]*aria-label="Node (\w+)"', page
    )
    assert cards == [("3", "c03"), ("2", "s03"), ("1", "g1")]
    assert re.findall(r'data-feeds="([\d ]*)"', page) == ["2 ", "1 ", "0 "]
    assert "Why: Indicative (lexical, no model)" in words
    assert "removed 48,200 cubic metres" in words
    assert "The approach channel silts up by about 30 centimetres a year" in words
    assert f'href="/processes/{harbour}/nodes/s03"' in page
    assert link(page, "claims/k03").endswith("/claims/k03")
    assert link(page, "claims/k05").endswith("/claims/k05")


def test_the_picture_of_a_claim_is_a_file_too(shared_service: ServiceProcess, harbour: str) -> None:
    answer = shared_service.get(f"/processes/{harbour}/claims/k04/picture.svg")
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "48,200→84,200" in "".join(ElementTree.fromstring(answer.content).itertext())


def test_rounds_are_gone_through_one_by_one(shared_service: ServiceProcess, harbour: str) -> None:
    page = page_of(shared_service, f"{harbour}/claims/k04?iteration=1")
    words = words_of(page)
    assert "The trail after iteration 1" in words
    assert "Nodes read 4 With evidence 1 Sentences selected 1" in words
    assert "Reasons for this interim verdict" in words
    assert re.findall(r'aria-label="Node (\w+)"', page) == ["g1"]
    last = page_of(shared_service, f"{harbour}/claims/k04?iteration=3")
    assert "The verification ended here: only sources with evidence were left." in words_of(last)
    assert "is-earlier" in last
    beyond = page_of(shared_service, f"{harbour}/claims/k04?iteration=99")
    assert "Every sentence of the trail" in beyond


def test_of_several_checks_one_is_chosen_and_two_are_compared(
    shared_service: ServiceProcess, twice_verified: str
) -> None:
    place = f"{twice_verified}/claims/k1"
    page = page_of(shared_service, place)
    assert "2 verifications of this claim" in page
    compared = words_of(page_of(shared_service, link(page, "difference")))
    assert "They differ from iteration 2 on" in compared
    assert "Different settings" in compared
    older = re.findall(r'href="[^"]*\?(verification=[^"&]*)"', page)[1]
    other = page_of(shared_service, f"{place}?{older}")
    assert "q = 3" in words_of(other)
    lone = page_of(shared_service, f"{place}/difference?a=x&b=y", 404)
    assert "may have been deleted" in lone


@pytest.mark.soak
def test_a_page_of_five_thousand_sentences_stays_small_and_tells_of_the_rest(
    shared_service: ServiceProcess, hub: str
) -> None:
    page = page_of(shared_service, f"{hub}/claims/k1")
    words = words_of(page)
    assert "5,000 sentences in 1,250 nodes" in words
    assert "read 3,000 nodes, kept 5,000 sentences" in words
    assert page.count("<article") < 30
    assert "What the model made of it" in words
    further = words_of(page_of(shared_service, link(page, "node=r0&amp;after=3")))
    assert "4 to 4 of 4" in further
    stage = page_of(shared_service, link(page, "stage=1&amp;after="))
    assert re.findall(r'aria-label="Node (\w+)"', stage)[0] == "r9"
    again = page_of(shared_service, link(stage, "after=29"))
    assert "30 to 49 of 1,250" in words_of(again)


def test_a_page_stays_small_whatever_the_texts_are_full_of(
    shared_service: ServiceProcess, veritrail: Veritrail
) -> None:
    name = f"heavy-{uuid.uuid4().hex[:8]}"
    texts, trail = a_heavy_trail(name)
    claim = ClaimRecord(trail.claim, "c", claim_id="k1", node_id="t")
    edges = [(path.source, path.target) for path in trail.paths]
    store_process(veritrail.environment({}), name, texts, edges, [claim], [trail])
    page = page_of(shared_service, f"{name}/claims/k1")
    assert page.count("<article") == 20
    assert len(page.encode()) > 60_000
    page_of(shared_service, f"{name}/claims/k1?iteration=6")


@pytest.fixture(scope="module")
def ended(veritrail: Veritrail) -> str:
    """Checks that came to no end, one that waits, one with hostile words, one of unknown cost."""
    name = f"ended-{uuid.uuid4().hex[:8]}"
    claims = {
        key: Claim(claim_id=key, text=f"{key}: {HOSTILE}", node_id="t")
        for key in ("fail", "over", "stop", "paid")
    }
    said = {"verdict": None, "failure": f"Because of {HOSTILE}"}
    store_process(
        veritrail.environment({}),
        name,
        {"a": "A.", "t": HOSTILE},
        [("a", "t")],
        [ClaimRecord(one.text, "c", claim_id=key, node_id="t") for key, one in claims.items()],
        [
            verification(name, claims["fail"], "1", status=Status.FAILED, **said),
            verification(name, claims["over"], "2", status=Status.OVER_BUDGET, **said),
            verification(name, claims["stop"], "3", status=Status.CANCELLED, **said),
            verification(
                name, claims["paid"], "4", reasoning=HOSTILE, usage=Usage(calls=3, unpriced_calls=3)
            ),
        ],
    )
    return name


def test_what_people_said_stands_beside_the_verdict(
    shared_service: ServiceProcess, veritrail: Veritrail, harbour: str
) -> None:
    answer = shared_service.post(
        f"/v1/processes/{harbour}/claims/k01/reviews",
        json={"verdict": "NOT_FULLY_SUPPORTED", "reviewer": "Ada", "reason": f"See {HOSTILE}"},
    )
    assert answer.status_code == 201, answer.text
    page = page_of(shared_service, f"{harbour}/claims/k01")
    words = words_of(page)
    assert "Overridden: Not Fully Supported" in words
    assert "See </textarea><script>" in words
    assert "<script>alert" not in page
    assert "Overridden" in words_of(page_of(shared_service, f"{harbour}?review=overridden"))


def test_the_page_ends_a_trail_with_what_the_step_did(
    veritrail: Veritrail, shared_service: ServiceProcess, tmp_path: Path
) -> None:
    name = f"twist-{uuid.uuid4().hex[:8]}"
    said = "The mast is <b>13</b> metres high."
    nodes = [
        {"node_id": "r", "text": "The mast is <b>12</b> metres high. It rained.", "stage": 1},
        {"node_id": "t", "text": f"{said} It rained.", "stage": 2},
    ]
    claims = [{"claim_id": "k1", "text": said}]
    edges = [{"source": "r", "target": "t"}]
    path = process_file(tmp_path / f"{name}.json", nodes=nodes, edges=edges, claims=claims)
    veritrail("ingest", path)
    veritrail("verify", name, "--engine", "lexical")
    assert "What the step did" not in page_of(shared_service, f"{name}/claims/k1")
    veritrail("attribute", name, "--unsupported", "--engine", "lexical")
    page = page_of(shared_service, f"{name}/claims/k1")
    assert "What the step did" in page
    assert re.search(r"This sentence (turned|says the opposite of) “", page)
    assert "<b>13" not in page
    assert "&lt;b&gt;13" in page
