"""Starting a verification on a page, and watching it to its end."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from acceptance.command import Veritrail
from acceptance.homes import home_beside
from acceptance.model_fixtures import asking, pumps
from acceptance.web.test_processes_page import document
from fakes.model_server import ModelServer
from fakes.page_forms import forms_of, send
from fakes.service_process import ServiceProcess, serving
from fakes.waiting import until


@pytest.fixture(scope="module")
def shared_service(veritrail: Veritrail) -> Iterator[ServiceProcess]:
    """A service that works on jobs."""
    with home_beside(veritrail) as own, serving(own) as service:
        service.until_ready()
        yield service


@pytest.fixture
def stored(shared_service: ServiceProcess) -> str:
    name = f"job-{uuid.uuid4().hex[:10]}"
    made = document(name, claims=[SAME])
    assert shared_service.post("/v1/processes", json=made).status_code == 201
    return name


@pytest.fixture(scope="module")
def asking_service(veritrail: Veritrail) -> Iterator[ServiceProcess]:
    """A service with a model and two versions of a process, of which the earlier was verified."""
    with home_beside(veritrail) as own, ModelServer() as server:
        document = json.loads(Path(pumps(own.home.parent / "pump-old.json", 3)).read_text())
        changed = next(one for one in document["nodes"] if one["node_id"] == "r0")
        for name, text in (("pump-old", ""), ("pump-new", " It snows.")):
            changed["text"] += text
            file = own.home.parent / f"{name}.json"
            file.write_text(json.dumps(document | {"process_id": name}))
            own("ingest", str(file))
        own("verify", "pump-old", **asking(server))
        with serving(own, env=asking(server), args=["--no-worker"]) as service:
            service.until_ready()
            yield service


def began(service: ServiceProcess, process_id: str, **filled: str) -> httpx2.Response:
    """The form, the cost, and off it goes; gives where that leads to."""
    path = f"/processes/{process_id}/verify"
    cost = send(service.client, service.get(path), path, **filled)
    assert cost.status_code == 200, cost.text
    return send(service.client, cost, path, step="start")


def ended(service: ServiceProcess, job: str) -> str:
    """What the page of a job shows when it has ended well."""
    until(lambda: service.get(f"/v1{job}").json()["status"] == "succeeded", pause=0.1)
    page = service.get(job).text
    assert "See the result" in page
    return page


def test_a_verification_is_started_and_watched_to_its_end(
    shared_service: ServiceProcess, stored: str
) -> None:
    path = f"/processes/{stored}/verify"
    page = shared_service.get(path)
    assert "Stored claims without a verdict" in page.text
    cost = send(shared_service.client, page, path)
    assert "It costs nothing: no model is asked." in cost.text
    assert "indicative" in cost.text
    begun = send(shared_service.client, cost, path, step="start")
    assert begun.status_code == 303
    job = begun.headers["location"]
    assert re.fullmatch(r"/jobs/j-[0-9a-f]{32}", job)
    # The same form again is the same job.
    assert send(shared_service.client, cost, path, step="start").headers["location"] == job
    done = ended(shared_service, job)
    assert "1 of 1 claims" in done
    assert re.search("mark-(supported|not-supported|inconclusive)", done)
    assert "no model was asked: indicative only" in done
    assert 'http-equiv="refresh"' not in done
    assert "data-events" not in done
    assert job in shared_service.get("/jobs", params={"process": stored}).text
    again = shared_service.get(path)
    assert forms_of(again.text)[path]["which"] == "all"  # nothing else is left to choose
    nothing_left = send(shared_service.client, again, path, which="unverified")
    assert nothing_left.status_code == 422
    assert "Every stored claim has a verdict" in nothing_left.text


def test_the_page_before_a_run_says_what_an_earlier_version_spares(
    asking_service: ServiceProcess,
) -> None:
    path = "/processes/pump-new/verify"
    form = asking_service.get(path)
    cost = send(asking_service.client, form, path, since="pump-old")
    words = " ".join(cost.text.split())
    assert "1 verdict of pump-old would be kept" in words
    assert "these figures are those of all other claims" in words
    assert started_on(cost.text)[1:3] == [
        "Live: each call is made at once, at the whole price.",
        "Each prompt asks about one claim, as in the paper.",
    ]
    assert started_on(cost.text)[3].startswith(
        "Only what changed is verified (ours, not the paper's): verdicts of the earlier version "
        "pump-old, content "
    )


def test_the_page_before_a_run_lists_what_is_started_and_marks_the_chosen_way(
    asking_service: ServiceProcess,
) -> None:
    path = "/processes/pump-new/verify"
    form = asking_service.get(path)
    chosen = {"batch": "1", "share": "4", "batch_price_factor": "0.4", "price": "1,2"}
    cost = send(asking_service.client, form, path, **chosen).text
    assert started_on(cost) == [
        "Stored claims without a verdict.",
        "In batches: calls go out in files, at 0.4 of the price, and answers come within a day; "
        "what has no valid answer in a batch waits for the next one.",
        "Shared prompts (ours, not the paper's): up to 4 claims in one prompt; claims over the "
        "same texts for evidence, any claims for verdicts.",
    ]
    assert re.findall(r"<strong>([^<]*)</strong> \(chosen\)", cost) == [
        "shared prompts of 4, in batches"
    ]
    chosen = {"batch": "1", "batch_finish": "live", "escalate_to": "strong", "explain": "1"}
    lines = started_on(send(asking_service.client, form, path, **chosen).text)
    assert lines[1].endswith("in a batch is asked by a single call, at the whole price.")
    assert lines[3].startswith("A cascade of two judges (ours, not the paper's): ")
    assert "strong is asked about the same evidence" in lines[3]
    assert lines[4] == "Behind the verdicts, sentences are attributed; that comes on top."


def since_job(service: ServiceProcess, stored: str, claims: list[dict[str, str]]) -> str:
    """The page of a run of a later version, which has ended, against a verified one."""
    Veritrail(service.home)("verify", stored, "--engine", "lexical")
    later = f"later-{uuid.uuid4().hex[:10]}"
    assert service.post("/v1/processes", json=document(later, claims=claims)).status_code == 201
    job = began(service, later, since=stored).headers["location"]
    ended(service, job)
    return job


REWORDED = {"claim_id": "k9", "text": "The old harbour opened in 1901.", "node_id": "t"}
OTHER = {"claim_id": "k2", "text": "The quay is 40 metres long.", "node_id": "t"}
SAME = {"claim_id": "k1", "text": "The harbour opened in 1901.", "node_id": "t"}


def test_a_person_confirms_on_the_page_that_two_claims_say_the_same(
    shared_service: ServiceProcess, stored: str
) -> None:
    job = since_job(shared_service, stored, [REWORDED, OTHER])
    page = shared_service.get(job)
    act = f"{job}/pairs"
    assert "Verify with these pairs" in page.text
    client = shared_service.client
    assert client.post(act, data={"pair": '["k1", "k9"]'}).status_code == 403  # no form of ours
    for pair, words in (
        ([], "Choose at least one pair"),
        (["[1"], "That is no pair of claims"),
        (['["k1", "k9"]'] * 21, "At most 20 pairs"),
        (['["nosuch", "k9"]'], "has no claim"),
    ):
        wrong = send(client, page, act, pair=pair)
        assert (wrong.status_code, words in wrong.text) == (422, True), wrong.text
    (pair,) = re.findall(r'name="pair" value="([^"]*)"', page.text)
    begun = send(client, page, act, pair=html.unescape(pair))
    assert begun.status_code == 303, begun.text
    again = begun.headers["location"]
    assert again != job
    assert send(client, page, act, pair=html.unescape(pair)).headers["location"] == again
    done = ended(shared_service, again)
    changes = shared_service.get(f"/v1{again}/changes").json()
    by_claim = {one["claim_id"]: one for one in changes["claims"]}
    assert (by_claim["k9"]["kept"], by_claim["k2"]["kept"]) == (True, False)
    assert "a person confirmed" in by_claim["k9"]["reason"]
    assert shared_service.get(f"/v1{again}").json()["reused"] == 1  # k2 was known before
    assert "Verify with these pairs" not in done
    # Confirmed once more, the pair is compared again, and no model is asked.
    third = send(client, shared_service.get(job), act, pair=html.unescape(pair)).headers["location"]
    ended(shared_service, third)
    run = shared_service.get(f"/v1{third}").json()
    assert (run["reused"], run["usage"]["calls"]) == (1, 0)
    assert shared_service.get(f"/v1{third}/changes").json()["kept"] == 1


def test_the_page_of_a_run_says_which_verdicts_were_kept_and_whether_the_earlier_is_stored(
    shared_service: ServiceProcess, stored: str
) -> None:
    job = since_job(shared_service, stored, [SAME, OTHER])
    page = shared_service.get(job).text
    (lines,) = re.findall(r'<ol class="log panel">(.*?)</ol>', page, re.DOTALL)
    first, second = lines.split("</li>")[:2]
    assert "1901" in first
    assert "kept from the earlier version</span>" in first
    assert "40 metres" in second
    assert "kept from" not in second
    path = shared_service.get(f"/v1{job}").json()["process_id"]
    (run,) = shared_service.get(f"/v1/processes/{path}/runs").json()["runs"]
    assert (run["mode"], run["since"], run["kept"]) == ("live", stored, 1)
    runs = shared_service.get(f"/processes/{path}/runs").text
    assert f"1 kept since <bdi>{stored}</bdi>" in runs
    (row,) = csv.DictReader(io.StringIO(shared_service.get(f"/processes/{path}/runs.csv").text))
    assert (row["mode"], row["since"], row["kept"]) == ("live", stored, "1")
    link = f'<a href="/processes/{stored}"'
    assert link in page
    assert shared_service.delete(f"/v1/processes/{stored}").status_code == 204
    page = shared_service.get(job).text
    assert link not in page
    assert ", which is not stored any more." in page


def started_on(page: str) -> list[str]:
    """What the page before a run says is started."""
    (listed,) = re.findall(r'<ul class="small started">(.*?)</ul>', page, re.DOTALL)
    found = re.findall(r"<li[^>]*>(.*?)</li>", listed, re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]*>|[\u2066-\u2069]", "", one)) for one in found]


def test_the_form_offers_what_works_and_says_why_others_do_not(
    shared_service: ServiceProcess, stored: str
) -> None:
    page = shared_service.get(f"/processes/{stored}/verify").text
    assert '<option value="openai" disabled>openai (cannot work here)</option>' in page
    assert "Engine openai needs a key for api.openai.com, and none is set." in page
    assert "No engine that asks a language model works here." in page
    assert '<option value="">Default of this service: lexical</option>' in page


REFUSED: list[tuple[dict[str, str], str]] = [
    ({"which": "typed", "texts": " \n "}, "type at least one claim"),
    ({"q": "0"}, "a whole number from 1"),
    ({"q": "x"}, "a whole number from 1"),
    ({"budget_usd": "-1"}, "must be US dollars"),
    ({"budget_usd": "nan"}, "must be US dollars"),
    ({"budget_usd": "1,000"}, "must be US dollars"),
    ({"which": "nonsense"}, "choose which claims"),
    ({"engine": "oracle"}, "Unknown engine"),
    ({"engine": "openai"}, "needs a model"),
    ({"which": "typed", "texts": "A claim.", "node_id": "s"}, "root"),
    ({"which": "typed", "texts": "A claim.", "node_id": "nowhere"}, "nowhere"),
    ({"engine": "openai", "model": "gpt-6-luna"}, "needs a key"),
    ({"which": "extract"}, "needs a language model"),
    ({"model": "m", "engine": "lexical"}, "A model is named, but engine lexical asks none"),
    ({"batch": "1"}, "Batches need an engine that asks a model"),
    ({"batch": "1", "share": "4", "since": "nope"}, "Claims share prompts only"),
    ({"escalate_to": "strong"}, "Verdicts are escalated from one model to another"),
    ({"since": "nope"}, "There is no earlier version"),
    ({"since": "itself"}, "is stored with this content now"),
]


def test_what_cannot_be_is_told_beside_the_form_before_the_start_and_at_it(
    shared_service: ServiceProcess, stored: str
) -> None:
    path = f"/processes/{stored}/verify"
    form = shared_service.get(path)
    for filled, words in REFUSED:
        if filled.get("since") == "itself":
            filled = {"since": stored}
        for step in ({}, {"step": "start"}):  # before anything is started, too
            answer = send(shared_service.client, form, path, **filled, **step)
            assert answer.status_code in (404, 422), (filled, answer.text)
            assert words in answer.text, filled
            assert "--" not in re.sub(r"<[^>]*>", "", answer.text), filled


@pytest.mark.soak
def test_a_job_is_still_shown_when_its_graph_is_away(veritrail: Veritrail) -> None:
    with home_beside(veritrail) as own:
        with serving(own) as service:
            service.until_ready()
            assert service.post("/v1/processes", json=document("away")).status_code == 201
            job = began(service, "away").headers["location"]
            ended(service, job)
        nowhere = {"NEO4J_URI": "bolt://127.0.0.1:9"}
        with serving(own, env=nowhere, args=["--no-worker"]) as service:
            page = service.get(job)
            assert page.status_code == 200
            assert "The graph does not answer now" in page.text
            assert "1 of 1 claims" in page.text
