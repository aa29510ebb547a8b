"""Search over all processes: the page, REST, the command line."""

from __future__ import annotations

import re
import uuid

import pytest
from acceptance.command import Veritrail
from fakes.process_files import as_json, document
from fakes.service_process import ServiceProcess
from fakes.waiting import until

pytestmark = pytest.mark.engine


def test_texts_of_all_processes_are_found_and_removed_ones_are_not(
    shared_service: ServiceProcess, veritrail: Veritrail
) -> None:
    word = f"zephyr{uuid.uuid4().hex[:8]}"
    made = document(
        process_id=f"search-{word}",
        nodes=[
            {"node_id": "a/1", "text": f"<script>alert(1)</script> The {word} blew."},
            {"node_id": "t", "text": "It blew."},
        ],
        edges=[{"source": "a/1", "target": "t"}],
        claims=[{"claim_id": "k1", "text": f"The {word} blew.", "node_id": "t"}],
    )
    stored = shared_service.post("/v1/processes", content=as_json(made))
    assert stored.status_code == 201, stored.text
    found = veritrail("search", word, "--json").json["results"]
    assert {(one["kind"], one["node_id"]) for one in found} == {("node", "a/1"), ("claim", "t")}
    claims = veritrail("search", "--kind", "claim", word)
    assert "k1" in claims.out
    assert "a/1" not in claims.out
    page = shared_service.get(f"/search?q={word}")
    assert page.status_code == 200
    assert f"<mark>{word}</mark>" in page.text
    assert "<script>alert" not in page.text
    assert f"/processes/search-{word}/nodes/a%2F1" in page.text
    (lead,) = re.findall(r'href="(/search\.csv[^"]*)"', page.text)
    table = shared_service.get(lead).text.lstrip("\ufeff").splitlines()
    assert table[0].startswith("kind,process_id,process_name,node_id,claim_id")
    assert sorted(row.split(",")[0] for row in table[1:]) == ["claim", "node"]
    assert shared_service.get("/search?q=%3F").status_code == 422
    assert shared_service.get("/search.csv?q=%3F").status_code == 422
    answer = shared_service.get("/v1/search", params={"q": word, "limit": 1})
    assert answer.json()["nextCursor"]
    shared_service.delete(f"/v1/processes/search-{word}")
    until(lambda: f"<mark>{word}" not in shared_service.get(f"/search?q={word}").text)
