"""The reading page of a node over HTTP: sentences, what they rest on, bounds, awkward texts."""

from __future__ import annotations

import html
import re
import uuid

import pytest
from acceptance.command import Veritrail
from acceptance.homes import home_beside
from acceptance.model_fixtures import asking
from acceptance.rest.job_calls import Calls
from fakes.attributing import SAMPLE, AttributionReader, gold_sentences
from fakes.model_server import ModelServer
from fakes.page_attributions import store_attributed
from fakes.page_forms import send
from fakes.service_process import ServiceProcess, serving

from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.attribution import (
    AttributedSentence,
    AttributionCategory,
    Faithfulness,
    NodeAttribution,
    SentenceAttribution,
    implied_label,
)

pytestmark = pytest.mark.engine

HOSTILE = "</mark><img src=x onerror=alert(1)>\u202e'\"\x07"
MOST_BYTES = 200_000


@pytest.fixture(scope="module")
def harbour(veritrail: Veritrail) -> str:
    """The sample with what a careful reader finds, corrected and judged."""
    name = f"rests-{uuid.uuid4().hex[:8]}"
    veritrail("ingest", str(SAMPLE), "--process-id", name)
    with ModelServer(AttributionReader()) as server:
        veritrail("attribute", name, "--judge", "--correct", **asking(server))
    return name


def page_of(
    service: ServiceProcess, process: str, node: str, query: str = "", status: int = 200
) -> str:
    answer = service.get(f"/processes/{process}/nodes/{node}/attribution{query}")
    assert answer.status_code == status, answer.text[:2000]
    assert len(answer.content) < MOST_BYTES
    return answer.text


def words_of(page: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", page)))


def lit_in(page: str) -> list[str]:
    return [words_of(one).strip() for one in re.findall(r"<mark .*?</mark>", page)]


def test_each_sentence_has_its_label_and_what_it_rests_on(
    shared_service: ServiceProcess, harbour: str
) -> None:
    page = page_of(shared_service, harbour, "summary")
    rows = [words_of(one) for one in re.findall(r'<li class="sentence-row.*?</li>', page, re.S)]
    assert len(rows) == 6
    expected = [
        ("met on 4 March", "faithful evidence"),
        ("will close", "unfaithful near match"),
        ("raised the mooring fee", "unfaithful contradiction"),
        ("a yacht", "unfaithful expected here"),
        ("museum of whaling", "unfaithful rests on nothing"),
        ("a second ferry", "unfaithful evidence near match"),
    ]
    for row, (text, words) in zip(rows, expected, strict=True):
        assert text in row
        assert words in row
    assert lit_in(page) == []
    assert "Captain Lund thanked the crew" in words_of(page)  # the sources stand beside it


def test_an_open_sentence_lights_up_its_sources_and_shows_its_correction(
    shared_service: ServiceProcess, harbour: str
) -> None:
    page = page_of(shared_service, harbour, "summary", "?sentence=1")
    assert lit_in(page) == ["1 near match : It may close the east quay in winter."]
    assert 'href="#r1"' in page
    assert 'id="r1"' in page
    assert "<del>will</del><ins>may</ins>" in page
    words = words_of(page)
    assert "“may” in place of “will”" in words
    assert "The judge called the correction faithful" in words
    both = page_of(shared_service, harbour, "summary", "?sentence=5")
    assert [one[:12] for one in lit_in(both)] == ["1 evidence :", "2 near match"]
    nothing = page_of(shared_service, harbour, "summary", "?sentence=4")
    assert lit_in(nothing) == []
    assert "It rests on nothing" in words_of(nothing)


def test_a_sentence_or_node_without_attribution_is_told(
    shared_service: ServiceProcess, harbour: str
) -> None:
    assert "No attribution of sentence 99" in page_of(
        shared_service, harbour, "summary", "?sentence=99", 404
    )
    assert "veritrail attribute" in page_of(shared_service, harbour, "notes-board")
    assert "This is source text" in page_of(shared_service, harbour, "minutes")
    assert "Not found" in page_of(shared_service, harbour, "nobody", status=404)
    page_of(shared_service, harbour, "summary", "?sentence=-1", 422)
    page_of(shared_service, harbour, "summary", "?after=other", 422)


def test_the_node_and_the_process_lead_to_it(shared_service: ServiceProcess, harbour: str) -> None:
    address = f"/processes/{harbour}/nodes/summary/attribution"
    node = shared_service.get(f"/processes/{harbour}/nodes/summary").text
    assert f'href="{address}"' in node
    process = shared_service.get(f"/processes/{harbour}").text
    assert f'href="{address}"' in process
    other = shared_service.get(f"/processes/{harbour}/nodes/minutes").text
    assert "/attribution" not in other


@pytest.fixture(scope="module")
def odd(veritrail: Veritrail) -> str:
    """A node of 130 sentences of angle brackets over 30 long sources, with a dispute and a gap."""
    name = f"odd-{uuid.uuid4().hex[:8]}"
    line = f"{'<' * 900} {HOSTILE}."
    begin = len(line) + 1
    texts = {f"r{n}": " ".join([line] * 200) for n in range(30)} | {"t": " ".join([line] * 130)}
    sentences = []
    for number in range(130):
        if number == 7:
            continue
        attributed = tuple(
            AttributedSentence(
                node_id=f"r{source}", sentence=place, start=place * begin,
                end=place * begin + len(line), text=line,
                categories=(AttributionCategory.EVIDENCE, AttributionCategory.NEAR_MATCH),
            )
            for source in range(20) for place in (100, 101, 150, 199)
        ) if number == 100 else ()  # fmt: skip
        sentences.append(
            SentenceAttribution(
                sentence=number, start=number * begin, end=number * begin + len(line), text=line,
                status=Status.SUCCEEDED, attributed=attributed,
                implied_label=implied_label(attributed),
                judged_label=Faithfulness.FAITHFUL if number == 3 else None,
                correction=f"{HOSTILE}." if number == 3 else None,
            )
        )  # fmt: skip
    edges = [(source, "t") for source in texts if source != "t"]
    node = NodeAttribution(node_id="t", sentences=tuple(sentences))
    store_attributed(veritrail.environment({}), name, texts, edges, [node])
    return name


def test_long_and_hostile_texts_are_shown_in_part_and_as_text(
    shared_service: ServiceProcess, odd: str
) -> None:
    page = page_of(shared_service, odd, "t")
    assert "<img" not in page
    assert "\u202e" not in page
    assert "Not attributed:" in words_of(page)
    assert page.count('class="sentence-row') == 40
    following = re.search(r'href="[^"?]*(\?after=[^"]*)"[^>]*>More sentences', page)
    assert following is not None
    second = page_of(shared_service, odd, "t", html.unescape(following[1]))
    assert 'id="s41"' in second
    assert 'id="s40"' not in second
    # A link that names a sentence alone finds its page.
    page = page_of(shared_service, odd, "t", "?sentence=100")
    assert 'id="s100"' in page
    assert len(lit_in(page)) == 40
    assert "[…]" in page


def test_a_dispute_between_judge_and_categories_is_shown(
    shared_service: ServiceProcess, odd: str
) -> None:
    page = page_of(shared_service, odd, "t", "?sentence=3")
    words = words_of(page)
    assert "disputed" in words
    assert "Its categories imply unfaithful; the judge said faithful." in words
    assert "<del>" in page


def test_what_is_odd_about_an_attribution_is_told(
    veritrail: Veritrail, shared_service: ServiceProcess
) -> None:
    name = f"told-{uuid.uuid4().hex[:8]}"
    texts = {"r": "It is so.", "t": "It is so.", "e": " \n", "b": "", "of-b": "It was."}
    place = {"sentence": 0, "start": 0, "status": "succeeded", "implied_label": "UNFAITHFUL"}
    source = {"node_id": "r", "sentence": 0, "start": 0, "end": 9, "text": "It is so."}
    both = {**source, "categories": ["EVIDENCE", "CONTRADICTION"]}
    parts = [
        {"spans": [[0, 2]], "text": "It", "attributed": [both], "implied_label": "UNFAITHFUL"},
        {"spans": [[3, 5], [6, 8]], "text": "is … so", "implied_label": "UNFAITHFUL"},
    ]
    first = {**place, "end": 9, "text": "It is so.", "attributed": [both], "dropped_ids": 2,
             "propositions": parts}  # fmt: skip
    second = {**place, "end": 7, "text": "It was.", "judged_label": "UNFAITHFUL",
              "judged_reason": "Its sources hold no text."}  # fmt: skip
    nodes = [
        NodeAttribution.model_validate({"node_id": node_id, "sentences": [one]})
        for node_id, one in (("t", first), ("of-b", second))
    ]
    edges = [("r", "t"), ("r", "e"), ("b", "of-b")]
    store_attributed(veritrail.environment({}), name, texts, edges, nodes)
    page = page_of(shared_service, name, "t", "?sentence=0")
    words = words_of(page)
    assert page.count("contradictory</span>") == 2  # in the list, and beside the source sentence
    assert "named 2 ids that were not in its prompt" in words
    assert "is … so unfaithful rests on nothing" in re.sub(r"\s+", " ", words)
    words = words_of(page_of(shared_service, name, "of-b", "?sentence=0"))
    assert "nothing: no judge was asked" in words
    assert "its sources hold no text, so no model was asked" in words
    empty = page_of(shared_service, name, "e")
    assert "The text of this node is empty" in words_of(empty)
    assert "Attribute its sentences" not in empty
    assert "veritrail attribute" not in words_of(empty)


def test_a_failed_sentence_is_shown_as_failed_with_its_reason(
    veritrail: Veritrail,
) -> None:
    name = f"failed-{uuid.uuid4().hex[:8]}"
    texts = [one["text"] for one in gold_sentences()]
    bad = {"attributions": [{"sentence_id": 99, "categories": ["EVIDENCE"]}]}
    with (
        ModelServer(AttributionReader(dict.fromkeys(texts, bad))) as server,
        home_beside(veritrail) as home,
        serving(home, env=asking(server, VERITRAIL_ANSWER_RETRIES="1")) as service,
    ):
        service.until_ready()
        home("ingest", str(SAMPLE), "--process-id", name)
        calls = Calls(service.url)
        body = {"process_id": name, "engine": "openai", "use_cache": False}
        first = service.post("/v1/attributions", json=body).json()["job_id"]
        assert calls.wait(first)["counts"] == {"failed": 6}
        page = page_of(service, name, "summary")
        assert "Nothing is attributed here" not in page
        assert words_of(page).count("This says nothing about the sentence.") == 6
        server.reader = AttributionReader({texts[2]: bad, texts[5]: bad})
        second = service.post("/v1/attributions", json=body).json()["job_id"]
        assert calls.wait(second)["counts"] == {"succeeded": 4, "failed": 2}
        page = page_of(service, name, "summary", "?sentence=2")
        server.reader = AttributionReader(dict.fromkeys(texts, bad))
        third = service.post("/v1/attributions", json=body).json()["job_id"]
        assert calls.wait(third)["counts"] == {"failed": 6}
        later = page_of(service, name, "summary")
    again = "Attributed again: failed; shown is what was found before."
    assert (words_of(page).count(again), words_of(later).count(again)) == (0, 4)
    assert later.count(f'href="/jobs/{third}"') == 6
    assert page.count('class="sentence-row') == 4
    gaps = [words_of(one) for one in re.findall(r'<li class="between-row">.*?</ul>', page, re.S)]
    assert len(gaps) == 2
    for gap, number in zip(gaps, (2, 5), strict=True):
        assert texts[number] in gap
        assert f"{number} failed" in gap
    assert f'href="/jobs/{second}"' in page  # the newest job counts
    assert first not in page
    assert "Sentence 2: failed" in words_of(page)
    assert "No attribution of sentence" not in page


def test_an_attribution_is_started_from_the_page(
    shared_service: ServiceProcess, harbour: str
) -> None:
    address = f"/processes/{harbour}/nodes/summary/attribute"
    assert f'href="{address}"' in page_of(shared_service, harbour, "summary")
    page = shared_service.get(address)
    assert '<option value="summac-zs">' in page.text
    for fields, words in (
        ({"engine": "psychic"}, "psychic"),
        ({"engine": "lexical", "judge": "1"}, "need a language model"),
        ({"engine": "lexical", "judge_with": "oracle"}, "judge_with"),
        ({"engine": "lexical", "propositions": "1"}, "propositions needs a language model"),
        ({"engine": "lexical", "mode": "sideways"}, "mode"),
        ({"budget_usd": "a lot"}, "must be US dollars"),
        ({"against": "rivals"}, "against"),
        ({"recheck": "walk"}, "Tick that a wording is proposed"),
        ({"which": "claims", "claims": "k9"}, "has no claim"),
        ({"which": "some"}, "choose which sentences"),
    ):
        refused = send(shared_service.client, page, address, **fields)
        assert refused.status_code in {404, 422}, fields
        assert words in words_of(refused.text)
    cost = send(shared_service.client, page, address, engine="lexical", against="roots")
    assert "No language model is asked" in words_of(cost.text)
    began, again = (send(shared_service.client, cost, address, step="start") for _ in range(2))
    assert began.status_code == 303
    assert began.headers["location"] == again.headers["location"]  # sent twice, started once
    job = shared_service.get(f"/v1{began.headers['location']}").json()
    assert job["node_ids"] == ["summary"]
    shared_service.post(f"/v1{began.headers['location']}/cancel")
    root = f"/processes/{harbour}/nodes/minutes/attribute"
    refused = send(shared_service.client, shared_service.get(root), root, engine="lexical")
    assert refused.status_code == 422
    assert "is a root" in words_of(refused.text)


def test_what_an_attribution_may_cost_is_said_before_it_starts(
    shared_service: ServiceProcess, harbour: str
) -> None:
    address = f"/processes/{harbour}/nodes/summary/attribute"
    page = shared_service.get(address)
    asked = {"engine": "openai", "model": "gpt-6-luna", "judge": "1", "correct": "1"}
    # Attributed and judged; 2 of 6, and all, get three wordings; a judge reads each of these.
    for recheck, expected in (("walk", [12, 12 + 6, 12 + 18]), ("", [12, 12 + 12, 12 + 36])):
        given = {**asked, "every_mode": "1", "recheck": recheck}
        cost = send(shared_service.client, page, address, **given)
        assert cost.status_code == 200, words_of(cost.text)
        words = words_of(cost.text)
        assert "Sentences 6" in words
        assert ("walks that verify corrections again come on top" in words) == (recheck == "walk")
        calls = [
            int(re.findall(r'class="number">([^<]*)<', row)[1])
            for row in re.findall(r'<th scope="row">.*?</tr>', cost.text, re.S)
        ]
        assert calls == expected
    # Each is split, and attributed by its 1, 2 or 4 statements; a judge reads all sources.
    given = {**asked, "correct": "", "propositions": "1", "mode": "plain"}
    cost = send(shared_service.client, page, address, **given)
    calls = [
        int(re.findall(r'class="number">([^<]*)<', row)[1])
        for row in re.findall(r'<th scope="row">.*?</tr>', cost.text, re.S)
    ]
    assert calls == [6 + 6 + 6, 6 + 12 + 6, 6 + 24 + 6]
    for name, value in (("propositions", "1"), ("mode", "plain")):  # carried on to the start
        assert re.search(rf'name="{name}"[^>]*value="{value}"', cost.text), name
