"""What every page has: its headers, its files, and its errors in words."""

from __future__ import annotations

import re

from acceptance.homes import a_home
from fakes.ports import free_port
from fakes.service_process import ServiceProcess, serving


def test_pages_forbid_what_they_do_not_need(shared_service: ServiceProcess) -> None:
    for path in ("/", "/jobs", "/upload", "/no-such-page", "/processes/none/verify"):
        answer = shared_service.get(path)
        assert answer.headers["content-type"] == "text/html; charset=utf-8", path
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["cache-control"] == "private, no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        # With no-referrer a browser would send forms with the origin null.
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert "geolocation=()" in answer.headers["permissions-policy"]
        if path == "/":
            continue  # it shows the names that other tests gave their processes
        assert "style=" not in answer.text
        assert not re.search(r"<script(?![^>]*src=)", answer.text)
        assert "http://" not in answer.text.replace(shared_service.url, "")
        assert "/v1" not in answer.text or path == "/upload"


def test_a_page_that_is_not_there_says_so_with_the_id_of_the_request(
    shared_service: ServiceProcess,
) -> None:
    answer = shared_service.get("/processes/never-stored/verify")
    assert answer.status_code == 404
    assert "never-stored" in answer.text
    assert answer.headers["x-request-id"] in answer.text
    assert "GET " not in answer.text
    assert "Traceback" not in answer.text


def test_a_graph_that_is_down_is_told_and_tried_again() -> None:
    nowhere = {"NEO4J_URI": f"bolt://127.0.0.1:{free_port()}"}
    with a_home() as veritrail, serving(veritrail, env=nowhere, args=["--no-worker"]) as service:
        answer = service.get("/")
        assert answer.status_code == 503
        assert "The graph does not answer now" in answer.text
        assert f'http-equiv="refresh" content="{answer.headers["retry-after"]}"' in answer.text
        assert "bolt://" not in answer.text
        assert service.get("/jobs").status_code == 200


def test_a_stranger_without_a_key_gets_a_page_that_says_so(shared_service: ServiceProcess) -> None:
    answer = shared_service.get("/", headers={"Host": "evil.example"})
    assert answer.status_code == 421
    assert "answers to localhost only" in answer.text
