"""The pages of studies over HTTP, as a browser without scripts uses them."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import asking
from fakes.attributing import FERRY, SAMPLE, AttributionReader, gold_sentences
from fakes.model_server import ModelServer
from fakes.page_attributions import store_attributed
from fakes.page_forms import send
from fakes.service_process import ServiceProcess

from veritrail_graph.graph.model.attribution import NodeAttribution

pytestmark = pytest.mark.engine

MOST_BYTES = 200_000


@pytest.fixture(scope="module")
def harbour(veritrail: Veritrail) -> str:
    name = f"studied-{uuid.uuid4().hex[:8]}"
    veritrail("ingest", str(SAMPLE), "--process-id", name)
    with ModelServer(AttributionReader()) as server:
        veritrail("attribute", name, **asking(server))
    return name


Named = Callable[[str], httpx2.Client]


@pytest.fixture
def named(shared_service: ServiceProcess) -> Iterator[Named]:
    """Opens a browser whose owner has said who they are; no name: one who has not."""
    with ExitStack() as stack:

        def opened(name: str) -> httpx2.Client:
            cookies = {"veritrail_reviewer": quote(name)} if name else {}
            client = httpx2.Client(
                base_url=shared_service.url, cookies=cookies, trust_env=False, timeout=60.0,
                follow_redirects=True,
            )  # fmt: skip
            return stack.enter_context(client)

        yield opened


def words_of(page: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", page)))


def made(browser: httpx2.Client, process: str, **fields: str) -> str:
    """Make a study; gives its address."""
    answer = post(browser, f"/processes/{process}/studies", "studies", node="summary", **fields)
    assert answer.status_code == 200, words_of(answer.text)
    return answer.url.path


def post(browser: httpx2.Client, page: str, action: str, **fields: str) -> httpx2.Response:
    """Send the form of a page whose action ends so."""
    shown = browser.get(page)
    token = re.search(r'name="form_token" value="([^"]*)"', shown.text)
    assert token is not None, words_of(shown.text)
    address = f"{page.partition('?')[0].rsplit('/', 1)[0]}/{action}"
    return browser.post(address, data={**fields, "form_token": token[1]})


def read(browser: httpx2.Client, study: str, sentence: int, document: int = 1) -> str:
    answer = browser.get(f"{study}/read?document={document}&sentence={sentence}")
    assert answer.status_code == 200
    assert len(answer.content) < MOST_BYTES
    return answer.text


def act(
    browser: httpx2.Client, study: str, action: str, sentence: int, **fields: str
) -> httpx2.Response:
    place = {"document": "1", "sentence": str(sentence)}
    return post(browser, f"{study}/read?document=1&sentence={sentence}", action, **place, **fields)


def rows(browser: httpx2.Client, study: str) -> list[dict[str, str]]:
    answer = browser.get(f"{study}/answers.csv")
    assert answer.headers["content-type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.text)))


def test_a_reader_judges_against_the_clock_and_nothing_is_shown_before(
    named: Named, harbour: str
) -> None:
    ada = named("Ada")
    study = made(ada, harbour, modes="plain", seed="1")
    page = read(ada, study, 1)
    assert "will close" not in page
    assert "It may close" not in page
    page = act(ada, study, "timer", 1, act="start").text
    assert "will close" in page
    assert "It may close" in page
    assert "<mark" not in page
    time.sleep(0.3)
    beat = act(ada, study, "timer", 1, act="heartbeat")
    assert (beat.status_code, beat.content) == (204, b"")
    page = act(ada, study, "timer", 1, act="pause").text
    assert "paused" in page
    assert "will close" not in page
    time.sleep(0.4)
    act(ada, study, "timer", 1, act="start")
    refused = act(ada, study, "answer", 1, note="Half <b>a</b> thought")
    assert refused.status_code == 422
    assert "The label is missing" in words_of(refused.text)
    assert "Half &lt;b&gt;a&lt;/b&gt; thought" in refused.text
    begun = time.monotonic()
    answer = act(ada, study, "answer", 1, label="UNFAITHFUL", note="=may", then="start")
    assert "Sentence 2 Document 1 of 1" in words_of(answer.text)
    assert "data-running" in answer.text
    (row,) = rows(ada, study)
    assert (row["reader"], row["sentence"], row["label"], row["note"]) == (
        "Ada", "1", "UNFAITHFUL", "'=may"
    )  # fmt: skip
    assert (row["times_paused"], row["idle_seconds"]) == ("1", "0.000")
    # What ran, without the pause; requests take what they take on a busy machine.
    assert 0.3 <= float(row["seconds"]) < 30 + time.monotonic() - begun
    # Another sentence that is started stops this one.
    act(ada, study, "timer", 0, act="start")
    assert "data-running" not in read(ada, study, 2)
    late = act(ada, study, "answer", 2, label="FAITHFUL")
    assert late.status_code == 422
    assert "does not run" in words_of(late.text)


def test_highlights_tell_no_category_and_modes_take_turns(named: Named, harbour: str) -> None:
    browsers = [named(name) for name in ("Ada", "Bo")]
    study = made(browsers[0], harbour, modes="both", seed="4")
    pages = [act(one, study, "timer", 1, act="start").text for one in browsers]
    lit = [re.findall(r"<mark.*?</mark>", page, re.S) for page in pages]
    assert sorted(len(one) for one in lit) == [0, 1]
    (marked,) = max(lit, key=len)
    assert "It may close the east quay" in marked
    highlighted = max(pages, key=lambda page: page.count("<mark"))
    for told in ("near match", "near-match", "NEAR_MATCH", "judge said", "Proposed"):
        assert told not in highlighted
    assert {row["mode"] for row in rows(browsers[0], study)} == set()


def test_annotations_become_a_file_that_counts_as_right(
    named: Named, harbour: str, veritrail: Veritrail, tmp_path: Path
) -> None:
    eve = named("Eve")
    study = made(eve, harbour, task="annotate")
    act(eve, study, "timer", 1, act="start")
    wrong = act(eve, study, "answer", 1, label="FAITHFUL", mark="0.1.NEAR_MATCH", part="1")
    assert wrong.status_code == 422
    assert re.search(r'value="0\.1\.NEAR_MATCH" checked', wrong.text)  # it is not lost
    assert act(eve, study, "answer", 1, label="UNFAITHFUL", mark="9.9.EVIDENCE").status_code == 422
    act(eve, study, "answer", 1, label="UNFAITHFUL", mark="0.1.NEAR_MATCH", part="1")
    act(eve, study, "timer", 4, act="start")
    act(eve, study, "answer", 4, label="UNFAITHFUL")
    act(eve, study, "timer", 5, act="start")
    half = {"label": "UNFAITHFUL", "mark": "1.0.EVIDENCE", "part": "1"}
    unnamed = act(eve, study, "answer", 5, **half)
    assert unnamed.status_code == 422
    assert "rests on nothing, write its words down" in words_of(unnamed.text)
    other = act(eve, study, "answer", 5, **half, unfounded="has sold a ferry")
    assert other.status_code == 422
    assert 'value="has sold a ferry"' in other.text  # it is not lost
    words = "The Skerra ferry … has bought a second ferry"
    astray = act(eve, study, "answer", 5, **half, unfounded=words, **{"about.1.0": "The tug"})
    assert astray.status_code == 422
    assert 'name="about.1.0" form="answer" maxlength="2000" value="The tug"' in astray.text
    half["about.1.0"] = "The Skerra ferry carried 41,000 passengers"
    assert act(eve, study, "answer", 5, **half, unfounded=words).status_code == 200
    told = eve.get(f"{study}/gold.jsonl?reader=Eve").text
    lines = [json.loads(line) for line in told.splitlines()]
    assert [one["id"] for one in lines] == [["summary", 1], ["summary", 4], ["summary", 5]]
    (start,) = (one["start"] for one in gold_sentences() if one["sentence"] == 5)
    supported, nothing = lines[2]["propositions"]
    assert supported["attributed"] == lines[2]["attributed"]
    assert [FERRY[first - start : last - start] for first, last in nothing["spans"]] == [
        "The Skerra ferry", "has bought a second ferry",
    ]  # fmt: skip
    assert nothing["attributed"] == []
    ((first, last),) = supported["spans"]
    assert FERRY[first - start : last - start] == half["about.1.0"]
    assert lines[0]["attributed"][0]["text"] == "It may close the east quay in winter."
    gold, predicted = tmp_path / "gold.jsonl", tmp_path / "predicted.json"
    gold.write_text(told, encoding="utf-8")
    predicted.write_text(SAMPLE.with_suffix(".gold.json").read_text(encoding="utf-8"))
    figures = veritrail("eval", "attribution", str(gold), str(predicted), "--json").json
    assert (figures["sentences"], figures["macro_f1"]) == (3, pytest.approx((1 + 1 + 2 / 3) / 3))


def test_what_cannot_be_studied_is_refused_by_name(named: Named, harbour: str) -> None:
    ada = named("Ada")
    page = f"/processes/{harbour}/studies"
    for fields, words in (
        ({"node": "minutes"}, "node 'minutes' has no sources"),
        ({"node": "notes-board"}, "node 'notes-board' is not attributed"),
        ({"names": "nobody"}, "nobody"),
        ({}, "A study needs documents"),
        ({"node": "summary", "modes": "loud"}, "The modes must be one of"),
        ({"node": "summary", "seed": "-1"}, "The seed must be a whole number"),
    ):
        answer = post(ada, page, "studies", **fields)
        assert answer.status_code == 422, fields
        assert words in words_of(answer.text)
    assert ada.get(f"{page}/study-none").status_code == 404
    assert ada.get(f"{page}/study-none/answers.csv").status_code == 404


def test_a_document_that_is_attributed_in_part_is_not_shown_with_highlights(
    named: Named, veritrail: Veritrail
) -> None:
    name = f"part-{uuid.uuid4().hex[:8]}"
    texts = {"r": "It is so. It was so.", "t": "It is so. It was so. It will be so."}
    known = {"sentence": 0, "start": 0, "end": 9, "text": "It is so.", "status": "succeeded",
             "attributed": [], "implied_label": "UNFAITHFUL"}  # fmt: skip
    node = NodeAttribution.model_validate({"node_id": "t", "sentences": [known]})
    store_attributed(veritrail.environment({}), name, texts, [("r", "t")], [node])
    ada = named("Ada")
    page = f"/processes/{name}/studies"
    refused = post(ada, page, "studies", node="t")
    assert refused.status_code == 422
    assert "2 of its 3 sentences are not (1, 2)" in words_of(refused.text)
    assert post(ada, page, "studies", node="t", modes="plain").status_code == 200


def test_who_has_no_name_is_asked_for_it(named: Named, harbour: str) -> None:
    study = made(named("Ada"), harbour)
    stranger = named("")
    page = stranger.get(f"{study}/read?document=1&sentence=0")
    assert "Your name" in page.text
    page = send(stranger, page, f"{study}/reader", name="Bo <b>")
    assert page.status_code == 303
    assert "Bo &lt;b&gt;" in stranger.get(study).text


def test_a_long_document_is_read_in_parts(named: Named, veritrail: Veritrail) -> None:
    name = f"long-{uuid.uuid4().hex[:8]}"
    line = f"{'<' * 300} says it."
    texts = {"r": " ".join([line] * 900), "t": " ".join([line] * 400)}
    store_attributed(veritrail.environment({}), name, texts, [("r", "t")], [])
    ada = named("Ada")
    answer = post(ada, f"/processes/{name}/studies", "studies", node="t", task="annotate")
    study = answer.url.path
    page = act(ada, study, "timer", 200, act="start")
    assert len(page.content) < MOST_BYTES
    assert "part 1 of" in page.text
    place = {"note": "kept", "mark": "0.0.NEAR_MATCH", "part": "1"}
    page = act(ada, study, "answer", 200, then="part-2", **place)
    assert "part 2 of" in page.text
    assert ">kept</textarea>" in page.text
    assert "data-running" in page.text
    assert len(page.content) < MOST_BYTES
    act(ada, study, "answer", 200, label="UNFAITHFUL", part="2")
    gold = ada.get(f"{study}/gold.jsonl?reader=Ada").text
    assert [one["sentence"] for one in json.loads(gold)["attributed"]] == [0]


def test_studies_go_with_their_process_and_close_when_it_is_replaced(
    named: Named, veritrail: Veritrail
) -> None:
    name = f"gone-{uuid.uuid4().hex[:8]}"
    texts = {"r": "It is so.", "t": "It is so."}
    store_attributed(veritrail.environment({}), name, texts, [("r", "t")], [])
    ada = named("Ada")
    answer = post(ada, f"/processes/{name}/studies", "studies", node="t", modes="plain")
    study = answer.url.path
    act(ada, study, "timer", 0, act="start")
    document = {
        "format": "veritrail.process/1", "process_id": name,
        "nodes": [{"node_id": "r", "text": "Other."}, {"node_id": "t", "text": "Other."}],
        "edges": [{"source": "r", "target": "t"}],
    }  # fmt: skip
    replaced = ada.post("/v1/processes?replace=true", json=document)
    assert replaced.status_code in (200, 201), replaced.text
    assert "has other content now" in ada.get(study).text
    assert ada.get(f"{study}/read?document=1&sentence=0").status_code == 422
    assert ada.delete(f"/v1/processes/{name}").status_code in (200, 204)
    ada.post("/v1/processes", json=document)
    assert ada.get(study).status_code == 404


def test_a_study_is_removed_with_its_answers_when_that_is_confirmed(
    named: Named, harbour: str
) -> None:
    ada = named("Ada")
    study = made(ada, harbour, modes="plain")
    other = made(ada, harbour, modes="plain")
    act(ada, study, "timer", 0, act="start")
    act(ada, study, "answer", 0, label="FAITHFUL")
    assert "1 answer of 1 reader will be lost" in words_of(ada.get(study).text)
    address = f"{study.rsplit('/', 1)[1]}/remove"
    refused = post(ada, study, address)
    assert refused.status_code == 422
    assert "Nothing was removed" in words_of(refused.text)
    assert len(rows(ada, study)) == 1
    gone = post(ada, study, address, sure="1")
    assert gone.url.path == f"/processes/{harbour}/studies"
    assert ada.get(study).status_code == ada.get(f"{study}/answers.csv").status_code == 404
    assert ada.get(other).status_code == 200
