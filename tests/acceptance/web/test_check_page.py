"""Checking an answer through the page."""

from __future__ import annotations

import json
import uuid

import pytest
from fakes.page_forms import forms_of, send
from fakes.service_process import ServiceProcess

pytestmark = pytest.mark.engine


def test_an_answer_is_stored_over_its_sources_and_a_job_verifies_it(
    shared_service: ServiceProcess,
) -> None:
    name = f"Ferry {uuid.uuid4().hex[:8]}"
    form = shared_service.get("/check")
    values = forms_of(form.text)["/check"] | {
        "answer": f"The {name} carries 48 cars. The {name} is painted green.",
        "sources": f"The {name} carries 42 cars.\r\n---\r\nIt was built in 1999.",
        "question": "How many cars?",
        "engine": "lexical",
    }
    file = ("colour.txt", f"The {name} is painted green.".encode())
    places = [
        shared_service.post("/check", data=values, files={"files": file}).headers["location"]
        for _ in range(2)
    ]
    assert places[0].startswith("/jobs/")
    assert places[1] == places[0]  # sent twice, it starts one job
    job = shared_service.get(f"/v1{places[0]}").json()
    process = shared_service.get(f"/v1/processes/{job['process_id']}").json()
    assert process["question"] == "How many cars?"
    assert process["claims"] == 2
    nodes = shared_service.get(f"/v1/processes/{job['process_id']}/nodes").json()["nodes"]
    assert [one["node_id"] for one in nodes] == [
        "source-1#1", "source-2#1", "colour.txt#1", "answer"
    ]  # fmt: skip


def test_a_dropped_file_is_stored_and_checked_with_one_button(
    shared_service: ServiceProcess,
) -> None:
    name = f"drop-{uuid.uuid4().hex[:8]}"
    form = forms_of(shared_service.get("/check").text)["/upload"]
    assert form["check"] == "1"
    document = {
        "format": "veritrail.process/1",
        "process_id": name,
        "nodes": [
            {"node_id": "s", "text": "The ferry carries 42 cars."},
            {"node_id": "a", "text": "The ferry carries 48 cars."},
        ],
        "edges": [{"source": "s", "target": "a"}],
    }
    file = ("run.json", json.dumps(document).encode())
    place = shared_service.post("/upload", data=form, files={"file": file}).headers["location"]
    assert place.startswith("/jobs/")  # this service works on none
    job = shared_service.get(f"/v1{place}").json()
    assert (job["process_id"], len(job["verification_ids"])) == (name, 1)
    again = shared_service.post("/upload", data=form, files={"file": ("text.json", b"no")})
    assert again.status_code == 422
    assert forms_of(again.text)["/upload"]["check"] == "1"


def test_what_is_missing_is_said_and_what_was_typed_stays(shared_service: ServiceProcess) -> None:
    form = shared_service.get("/check")
    answer = send(
        shared_service.client, form, "/check", answer="<b>It rained.</b>", budget_usd="much"
    )
    assert answer.status_code == 422
    for words in ("Nothing was started", "choose their files", "&lt;b&gt;It rained."):
        assert words in answer.text
    values = forms_of(form.text)["/check"] | {"answer": "It rained.", "sources": "It rained."}
    file = ("picture.png", b"\x89PNG\xff")
    refused = shared_service.post("/check", data=values, files={"files": file})
    assert refused.status_code == 422
    assert "picture.png is not UTF-8" in refused.text
