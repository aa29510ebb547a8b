"""The list of processes, and storing one through the page."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from acceptance.command import Veritrail
from acceptance.homes import a_home
from fakes.page_forms import forms_of, send
from fakes.service_process import ServiceProcess, serving
from fakes.waiting import until

from veritrail_graph.api.configured.measured import MeasuredJudge, keep_measured


def document(process_id: str, **changes: Any) -> dict[str, Any]:
    return {
        "format": "veritrail.process/1",
        "process_id": process_id,
        "name": f"Report {process_id}",
        "nodes": [
            {
                "node_id": "s",
                "text": "The harbour opened in 1901. It has two piers. The quay is 40 metres long.",
            },
            {"node_id": "t", "text": "The harbour has two piers."},
        ],
        "edges": [{"source": "s", "target": "t"}],
        "claims": [{"claim_id": "k1", "text": "The harbour has two piers.", "node_id": "t"}],
        **changes,
    }


@pytest.fixture
def name() -> str:
    return f"page-{uuid.uuid4().hex[:10]}"


def upload(
    service: ServiceProcess, content: bytes, file: str = "process.json", **filled: str
) -> httpx2.Response:
    page = service.get("/upload")
    values = {**forms_of(page.text)["/upload"], **filled}
    return service.post(
        "/upload", data=values, files={"file": (file, content)}, follow_redirects=False
    )


def names_in(page: httpx2.Response) -> list[str]:
    return re.findall(r'<h2><a href="/processes/([^"]+)"', page.text)


def test_a_process_is_uploaded_found_and_named_as_it_stands(
    shared_service: ServiceProcess, veritrail: Veritrail, name: str
) -> None:
    answer = upload(shared_service, json.dumps(document(name)).encode())
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"] == f"/upload?stored={name}&how=created"
    told = shared_service.get(answer.headers["location"])
    assert "It is stored" in told.text
    assert "2 nodes" in told.text
    page = shared_service.get("/", params={"q": f"report {name}"})
    assert names_in(page) == [name]
    assert "Not verified yet" in page.text
    assert "not checked" in page.text
    veritrail("verify", name, "--engine", "lexical")
    page = shared_service.get("/", params={"q": name})
    results = "fully|not fully|inconclusive|cannot tell"
    assert re.search(f"<strong>1</strong> ({results})", page.text)
    assert "Indicative" in page.text
    assert "$0" not in page.text
    again = upload(shared_service, json.dumps(document(name)).encode())
    assert again.headers["location"].endswith("how=unchanged")


EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def test_what_was_inferred_of_a_trace_is_reported(shared_service: ServiceProcess) -> None:
    answer = upload(shared_service, (EXAMPLES / "traces" / "langfuse.json").read_bytes(), "t.json")
    assert answer.status_code == 303, answer.text
    told = " ".join(shared_service.get(answer.headers["location"]).text.split())
    assert "read from <bdi>langfuse</bdi>" in told
    assert "5 edges (inferred: 5 exact), 86% explained" in told
    assert shared_service.get("/upload?stored=tern-refit&explained=7").status_code in (400, 422)


def test_edges_that_a_summary_does_not_name_follow_the_options_of_the_form(
    shared_service: ServiceProcess,
) -> None:
    content = (EXAMPLES / "summaries.json").read_bytes()
    wrong = upload(shared_service, content, "s.json", grouping="none")
    assert wrong.status_code == 422
    assert "must be a number from 1" in wrong.text
    assert 'value="none"' in wrong.text  # kept, to be mended
    by_three = upload(shared_service, content, "s.json", grouping="3", process_id="by-3")
    by_one = upload(shared_service, content, "s.json", grouping="1", process_id="by-1")
    assert (by_three.status_code, by_one.status_code) == (303, 303)
    told = shared_service.get(by_one.headers["location"]).text
    assert "--grouping" in told.split("<form")[1]  # the option that the warning names
    assert "--grouping is not used there" in told


def test_several_processes_are_reported_with_their_warnings_and_broken_rules(
    shared_service: ServiceProcess,
) -> None:
    trace = json.loads((EXAMPLES / "traces" / "langfuse.json").read_bytes())
    found = next(one for one in trace["observations"] if one["type"] == "RETRIEVER")
    unread = [{"page_content": "The pier of Tarnmouth is made of oak."}]
    trace["observations"].append({**found, "id": "unread", "output": unread})
    again = json.loads(json.dumps(trace).replace("tern-refit", "tern-again"))
    empty = {"trace": {"id": "tern-empty"}, "observations": "none"}
    lines = "\n".join(json.dumps(one) for one in (trace, again, empty))
    answer = upload(shared_service, lines.encode(), "log.jsonl")
    assert answer.status_code == 207, answer.text
    told = " ".join(answer.text.split())
    assert told.count("5 edges (inferred: 5 exact), 86% explained") == 2
    assert "(2 processes: tern-refit, tern-again)" in told
    assert "not stored. " in told
    assert "observations" in told


def test_every_broken_rule_is_told_and_nothing_is_stored(
    shared_service: ServiceProcess, name: str
) -> None:
    edges = [{"source": f"<b>{n}</b>", "target": "t"} for n in range(60)]
    answer = upload(shared_service, json.dumps(document(name, edges=edges)).encode())
    assert answer.status_code == 422
    assert answer.text.count("<li><code") == 50
    assert "10 more of them" in answer.text or "more of them" in answer.text
    assert "<b>0</b>" not in answer.text
    assert "&lt;b&gt;0&lt;/b&gt;" in answer.text
    assert names_in(shared_service.get("/", params={"q": name})) == []


def test_another_content_is_replaced_only_when_that_was_asked_for(
    shared_service: ServiceProcess, name: str
) -> None:
    upload(shared_service, json.dumps(document(name)).encode())
    other = document(name)
    other["nodes"][0]["text"] += " It is deep."
    refused = upload(shared_service, json.dumps(other).encode())
    assert refused.status_code == 409
    assert 'name="replace"' in refused.text
    assert "?replace" not in refused.text
    kept = upload(shared_service, json.dumps(other).encode(), process_id=f"{name}-b")
    assert kept.headers["location"].startswith(f"/upload?stored={name}-b&")
    taken = upload(shared_service, json.dumps(other).encode(), replace="1")
    assert taken.headers["location"].endswith("how=replaced")


def test_a_form_that_is_none_of_ours_stores_nothing(
    shared_service: ServiceProcess, name: str
) -> None:
    content = json.dumps(document(name)).encode()
    answer = upload(shared_service, content, form_token="no")
    assert answer.status_code == 403
    bare = shared_service.post("/upload", files={"file": ("p.json", content)})
    assert bare.status_code == 403
    raw = shared_service.post("/upload", content=content)
    assert raw.status_code == 422
    damaged = shared_service.post(
        "/upload",
        content=b"--x\r\nnonsense",
        headers={"Content-Type": "multipart/form-data; boundary=x"},
    )
    assert damaged.status_code == 422
    elsewhere = shared_service.post(
        "/upload", files={"file": ("p.json", content)}, headers={"Origin": "https://evil.example"}
    )
    assert elsewhere.status_code == 421
    assert names_in(shared_service.get("/", params={"q": name})) == []


def test_a_file_that_is_too_large_is_refused_before_it_is_read(beside: Veritrail) -> None:
    env, args = {"VERITRAIL_UPLOAD_MAX": "10kB"}, ["--no-worker"]
    with serving(beside, env=env, args=args) as small:
        answer = upload(small, b"{" + b" " * 50_000)
        assert answer.status_code == 413
        assert "10,000 bytes" in answer.text


@pytest.fixture(scope="module")
def alone() -> Iterator[ServiceProcess]:
    """A service over an engine of its own, with a model set up that nobody reaches."""
    env = {
        "OPENAI_API_KEY": "sk-test",
        "VERITRAIL_MODEL": "a-model",
        "VERITRAIL_VERDICT_ENGINE": "openai",
    }
    with a_home() as veritrail, serving(veritrail, env=env) as service:
        service.until_ready()
        yield service


def test_an_empty_store_offers_a_sample_judged_by_recorded_answers_whatever_model_is_set_up(
    alone: ServiceProcess,
) -> None:
    page = alone.get("/")
    assert "Nothing is stored yet" in page.text
    assert 'href="/upload"' in page.text
    assert "veritrail ingest" in page.text
    assert "verified by recorded answers of a large language model" in page.text
    assert alone.post("/sample").status_code == 403  # not from our page
    begun = send(alone.client, page, "/sample")
    assert begun.status_code == 303, begun.text
    job = begun.headers["location"]
    until(lambda: alone.get(f"/v1{job}").json()["status"] == "succeeded", pause=0.1)
    assert "See the result" in alone.get(job).text
    shown = alone.get("/processes/harbour-summary").text
    assert "indicative" not in shown
    assert "answers of a large language model, recorded on 28 November 2026" in shown
    assert "a-model" not in shown
    label = "answers of a large language model, recorded on 28 November 2026"
    figures = MeasuredJudge("recorded", label, 0.9, (0.8, 0.95), 1.0, 240, "2026-11-28")
    keep_measured(alone.home, replace(figures, prompts="v2"))
    claim = alone.get("/processes/harbour-summary/claims/k04").text
    assert "balanced accuracy 0.90 (0.80 to 0.95) on 240 labelled pairs" in claim
    # A second window that still shows the button leads to what is there.
    again = send(alone.client, page, "/sample")
    assert again.headers["location"] == "/processes/harbour-summary"
    assert 'action="/sample"' not in alone.get("/").text
    assert alone.delete("/v1/processes/harbour-summary").status_code == 204


def test_a_list_is_read_by_the_page_and_what_is_hurt_comes_first(alone: ServiceProcess) -> None:
    names = [f"p{number:02d}" for number in range(28)]
    for name in names:
        content = document(name, claims=[])
        assert alone.post("/v1/processes", json=content).status_code == 201
    seen: list[str] = []
    address: str | None = "/"
    while address is not None:
        page = alone.get(address)
        seen += names_in(page)
        further = re.search(r'href="([^"]+)" rel="next"', page.text)
        address = further[1].replace("&amp;", "&") if further else None
    assert sorted(seen) == names
    assert "From the beginning" in page.text
    # What stood on the last page was removed while somebody read the one before it.
    for one in seen[25:]:
        assert alone.delete(f"/v1/processes/{one}").status_code == 204
    emptied = alone.get(page.url.raw_path.decode())
    assert emptied.status_code == 200
    assert "The list ends here" in emptied.text
    assert "Nothing is stored yet" not in emptied.text
    # Hurt ones come first, whenever they were stored.
    bad = document("p07", claims=[{"text": "The harbour has nine piers.", "node_id": "t"}])
    bad["claims"][0]["claim_id"] = "k9"
    assert alone.post("/v1/processes", json=bad).status_code == 200
    Veritrail(alone.home)("verify", "p07", "--engine", "lexical")
    assert names_in(alone.get("/"))[0] == "p07"
    assert names_in(alone.get("/", params={"q": "no such"})) == []
    assert "Nothing has that in its name" in alone.get("/", params={"q": "no such"}).text
    foreign = alone.get("/", params={"cursor": "x"})
    assert foreign.status_code == 422
