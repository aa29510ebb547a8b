"""The page of a process over HTTP: its answer with claims in place, the list, filters, stages."""

from __future__ import annotations

import html
import re
import time
import uuid
from pathlib import Path

import pytest
from acceptance.command import Veritrail, process_file
from acceptance.homes import EXAMPLES
from fakes.page_processes import store_process, verification
from fakes.service_process import ServiceProcess

from veritrail_graph.graph.importers.records import ClaimRecord
from veritrail_graph.graph.model import Claim, Status, Verdict

pytestmark = pytest.mark.engine

HOSTILE = "</title><script>alert(1)</script> \u202eevil\x07 'quoted' \"twice\" &amp;"
LONG = "The quay is long and the sea is calm. " * 3_000


@pytest.fixture(scope="module")
def odd(veritrail: Veritrail) -> str:
    """Two final outputs: one hostile with claims that overlap, fail and are not there, one long."""
    name = f"odd-{uuid.uuid4().hex[:8]}"
    text = f"{HOSTILE} It rained. It rained and it snowed."
    place = text.index("It rained and")
    claims = [
        ClaimRecord("It rained.", "c", claim_id="word-for-word", node_id="t"),
        ClaimRecord("Nothing like it.", "c", claim_id="nowhere", node_id="t"),
        ClaimRecord(HOSTILE, "c", claim_id="hostile", node_id="t", start=0, end=len(HOSTILE)),
        ClaimRecord("Rain, snow.", "c", claim_id="both", node_id="t", start=place, end=place + 24),
        ClaimRecord("Rain.", "c", claim_id="rain", node_id="t", start=place, end=place + 9),
        ClaimRecord("Calm.", "c", claim_id="calm", node_id="u/2", start=100_000, end=100_020),
    ]
    facts = {"verdict": None, "status": Status.FAILED, "failure": HOSTILE}
    store_process(
        veritrail.environment({}),
        name,
        {"a": "A.", "t": text, "u/2": LONG},
        [("a", "t"), ("a", "u/2")],
        claims,
        [
            verification(
                name, Claim(claim_id="both", text="Rain, snow.", node_id="t"), "1", **facts
            ),
            verification(
                name,
                Claim(claim_id="rain", text="Rain.", node_id="t"),
                "2",
                verdict=Verdict.INCONCLUSIVE,
            ),
        ],
        name=HOSTILE,
        question=HOSTILE,
        terminals=("t", "u/2"),
    )
    return name


def page_of(service: ServiceProcess, process_id: str, query: str = "", status: int = 200) -> str:
    answer = service.get(f"/processes/{process_id}{query}")
    assert answer.status_code == status, answer.text[:2000]
    assert answer.headers["content-type"].startswith("text/html")
    return answer.text


def listed(page: str) -> list[str]:
    return re.findall(r'<li class="claim-row" data-claim="([^"]*)"', page)


def text_of(page: str) -> str:
    """The content of the box of the answer, without what is only read out."""
    box = page.split('class="t reading answer"')[1].split("</div>")[0].partition(">")[2]
    return html.unescape(re.sub(r"<[^>]*>", "", box))


def test_every_claim_is_underlined_in_place_with_icon_and_word(
    shared_service: ServiceProcess, harbour_id: str
) -> None:
    page = page_of(shared_service, harbour_id)
    assert len(re.findall(r'class="(?:in-text|badge kind-[a-z-]*)" id="in-k\d\d"', page)) == 24
    marked = re.search(r'<a class="in-text" id="in-k04".*?</a>', page)
    assert marked is not None
    assert 'class="u u-not-supported lane-0"' in marked[0]
    assert "#not-supported" in marked[0]
    assert "Not Fully Supported" in marked[0]
    assert "removed 84,200 cubic metres" in marked[0]
    assert len(listed(page)) == 24
    assert "timeline" not in page
    for words in (
        "no model was asked",
        "All verdicts in force are indicative",
        "Most were introduced at",
        "chunk summary",
        'Verdicts by</dt><dd><bdi>lexical</bdi> <span class="small muted">q = 3, ',
    ):
        assert words in page


def test_the_run_of_an_agent_shows_its_steps_with_the_one_that_went_wrong(
    veritrail: Veritrail, shared_service: ServiceProcess
) -> None:
    name = f"run-{uuid.uuid4().hex[:8]}"
    veritrail("check", str(EXAMPLES / "tasks" / "agent.json"), "--process-id", name)
    page = page_of(shared_service, name)
    steps = re.findall(r'<li class="step(?: step-(\w+))?" id="step-(\d+)"', page)
    assert steps == [
        (tone, str(number))
        for number, tone in enumerate(("", "", "source", "culprit", "", "", "carried"), start=1)
    ]
    assert page.count("came in here</a>") == 1
    assert "stylesheet" in page.split("timeline.css")[0].rpartition("<link")[2]


def test_what_needs_attention_comes_first_and_the_list_below_the_text(
    shared_service: ServiceProcess, harbour_id: str
) -> None:
    page = page_of(shared_service, harbour_id)
    shown = listed(page)
    assert shown[0] == "k04"  # not fully supported; then those of which it cannot be told
    undecided = listed(page_of(shared_service, harbour_id, "?verdict=undecided"))
    assert shown[1 : 1 + len(undecided)] == undecided
    assert listed(page_of(shared_service, harbour_id, "?order=text"))[:3] == ["k01", "k02", "k03"]
    places = [
        page.index(part) for part in ("stage-strip", 'id="text-h"', "picture-side", 'id="list-h"')
    ]
    assert places == sorted(places)
    jumps = re.findall(r'href="#(in-k\d\d)" data-jump', page)
    assert jumps == ["in-k04"]
    assert all(f'id="{one}"' in page for one in jumps)
    assert f'<li><a href="/processes/{harbour_id}/verify">' in page  # in the menu: all is verified
    claim = page_of(shared_service, f"{harbour_id}/claims/k01")
    assert f'<a href="/processes/{harbour_id}/claims/k04" aria-keyshortcuts="n">next</a>' in claim


@pytest.mark.parametrize(
    ("query", "few"),
    [
        ("?verdict=not-supported", 1),
        ("?verdict=undecided", 20),
        ("?verdict=inconclusive", 0),
        ("?verdict=failed", 0),
        ("?error_stage=2", 1),
        ("?error_stage=4&verdict=not-supported", 0),
        ("?review=none&verdict=undecided", 20),
        ("?review=any", 0),
    ],
)
def test_filters_narrow_the_list_and_fade_the_text(
    shared_service: ServiceProcess, harbour_id: str, query: str, few: int
) -> None:
    page = page_of(shared_service, harbour_id, query)
    assert len(listed(page)) == few
    assert ("No claim is like that" in page) == (few == 0)
    if few and ("verdict=not" in query or "error_stage" in query):
        assert page.count("lane-0 aside") >= 15


def test_hostile_texts_are_shown_and_do_nothing(shared_service: ServiceProcess, odd: str) -> None:
    page = page_of(shared_service, odd)
    assert "<script>alert" not in page
    assert "⟨RLO⟩evil␇" in text_of(page)
    assert text_of(page).startswith("</title><script>alert(1)</script>")
    assert "\u202e" not in page


def test_where_claims_are_not_verified_the_button_stands_beside_the_menu(
    shared_service: ServiceProcess, odd: str
) -> None:
    page = page_of(shared_service, odd)
    assert f'<a class="button main" href="/processes/{odd}/verify">' in page
    assert f'<li><a href="/processes/{odd}/verify">' not in page


def test_a_long_output_comes_in_parts_that_follow_the_offsets(
    shared_service: ServiceProcess, odd: str
) -> None:
    page = page_of(shared_service, odd, "?node=u%2F2")
    assert "Part 1 of 6" in page
    place = re.search(r'href="([^"]*part=6[^"]*)#in-calm"', page)
    assert place is not None
    assert "in part 6" in page
    last = page_of(shared_service, odd, "?" + html.unescape(place[1]).partition("?")[2])
    assert 'id="in-calm"' in last
    parts = [
        text_of(page_of(shared_service, odd, f"?node=u%2F2&part={part}")) for part in range(1, 7)
    ]
    assert re.sub(r" ?\(claim 6 Not checked\)", "", "".join(parts)) == LONG
    assert page_of(shared_service, odd, "?node=none%20such", 404)


@pytest.mark.soak
@pytest.mark.slow
def test_thousands_of_claims_are_usable(
    shared_service: ServiceProcess, veritrail: Veritrail
) -> None:
    name = f"many-{uuid.uuid4().hex[:8]}"
    says = [f"Pump {n} of this hall delivered {n} litres. " for n in range(4_000)]
    claims, start = [], 0
    for n, words in enumerate(says):
        place = {"start": start, "end": start + len(words) - 1} if n % 4 else {}
        claims.append(ClaimRecord(words.strip(), "c", claim_id=f"k{n}", node_id="t", **place))
        start += len(words)
    store_process(
        veritrail.environment({}), name, {"a": "A.", "t": "".join(says)}, [("a", "t")], claims
    )
    first = page_of(shared_service, name)
    assert len(listed(first)) == 50
    assert "4,000" in first
    more = re.search(r'<a class="button" href="([^"]*cursor=[^"]*)" rel="next"', first)
    assert more is not None
    began = time.monotonic()
    second = shared_service.get(html.unescape(more[1]))
    assert time.monotonic() - began < 10
    assert listed(second.text)[0] == "k50"
    assert len(second.content) < 400_000


def test_questions_stand_apart_with_no_stage_blamed(
    veritrail: Veritrail, shared_service: ServiceProcess
) -> None:
    name = f"asked-{uuid.uuid4().hex[:8]}"
    veritrail("ingest", str(EXAMPLES / "harbour-summary.json"), "--process-id", name)
    claims = shared_service.get(f"/v1/processes/{name}").json()["claims"]
    asked = "Penguins built the lighthouse."
    told = veritrail("verify", name, "--claim", asked)
    assert "The answer does not say this." in told.out
    assert "counted nowhere" in told.err
    page = shared_service.get(f"/processes/{name}").text
    assert f"<dt>Claims</dt><dd>{claims}</dd>" in page
    section = page[page.index('id="asked-h"') :]
    assert asked in section
    assert "introduced at" not in section
    link = re.search(r'href="([^"]+/claims/c-[0-9a-f]+)"', section)
    assert link is not None
    shown = shared_service.get(html.unescape(link[1])).text
    assert "The answer does not say this." in shown
    assert "introduced at" not in shown
    # Added, it is a claim like the others.
    veritrail("verify", name, "--claim", asked, "--add")
    assert shared_service.get(f"/v1/processes/{name}").json()["claims"] == claims + 1
    assert 'id="asked-h"' not in shared_service.get(f"/processes/{name}").text


def test_claims_that_may_repeat_others_are_listed_side_by_side(
    veritrail: Veritrail, shared_service: ServiceProcess, harbour_id: str
) -> None:
    link = f'href="/processes/{harbour_id}/near-duplicates"'
    assert link in shared_service.get(f"/processes/{harbour_id}").text
    none = shared_service.get(f"/processes/{harbour_id}/near-duplicates").text
    assert "No claim repeats another" in none
    name = f"near-{uuid.uuid4().hex[:8]}"
    texts = ["The new ferry berth opened in June.", "The new ferry berth was opened in June."]
    records = [
        ClaimRecord(text, "c", claim_id=f"n{place}", node_id="t")
        for place, text in enumerate([*texts, HOSTILE])
    ]
    store_process(
        veritrail.environment({}), name, {"a": "A.", "t": "T."}, [("a", "t")], records, []
    )
    page = shared_service.get(f"/processes/{name}/near-duplicates").text
    assert all(text in page for text in texts)
    assert f'href="/processes/{name}/claims/n1/edit"' in page


def test_texts_to_choose_from_are_called_by_their_titles(
    veritrail: Veritrail, shared_service: ServiceProcess, tmp_path: Path
) -> None:
    name = f"titled-{uuid.uuid4().hex[:8]}"
    report = {"node_id": "community_report/15", "text": "The Tern carries 48 cars.",
              "metadata": {"title": "Ferries of Vik"}}  # fmt: skip
    nodes = [
        {"node_id": "s", "text": "The Tern carries 42 cars."},
        report,
        {"node_id": "t", "text": "The Tern carries 48 cars a day."},
    ]
    edges = [
        {"source": "s", "target": report["node_id"]},
        {"source": report["node_id"], "target": "t"},
    ]
    claims = [{"claim_id": one["node_id"][:1], "text": one["text"], "node_id": one["node_id"]}
              for one in nodes[1:]]  # fmt: skip
    path = tmp_path / "p.json"
    process_file(path, process_id=name, nodes=nodes, edges=edges, claims=claims)
    veritrail("ingest", str(path))
    page = page_of(shared_service, name)
    assert re.search(r'title="community_report/15"><bdi>Ferries of Vik</bdi>', page)
