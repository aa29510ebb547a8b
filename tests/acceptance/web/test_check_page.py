"""Checking an answer through the page."""

from __future__ import annotations

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
