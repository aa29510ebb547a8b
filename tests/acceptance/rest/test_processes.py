"""Processes over HTTP: stored as the command stores them, listed, shown and removed."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from acceptance.command import Veritrail
from fakes.process_files import as_json, as_lines, document
from fakes.service_process import ServiceProcess

pytestmark = pytest.mark.engine


@pytest.fixture
def name(shared_service: ServiceProcess, request: pytest.FixtureRequest) -> Iterator[str]:
    """A process_id of the test's own; what it stores under it goes afterwards."""
    name = request.node.name.split("[")[0][:100].replace("test_", "p-")
    yield name
    shared_service.delete(f"/v1/processes/{name}")


def store(service: ServiceProcess, made: dict[str, Any] | bytes, **options: Any) -> Any:
    content = made if isinstance(made, bytes) else as_json(made)
    return service.post("/v1/processes", content=content, **options)


def violations(answer: Any) -> list[str]:
    return [one["kind"] for one in answer.json()["violations"]]


@pytest.mark.parametrize(
    ("content", "headers"),
    [
        (lambda made: as_lines(made), {"Content-Type": "application/x-ndjson"}),
        (lambda made: as_lines(made), {}),
        (lambda made: gzip.compress(as_lines(made)), {"Content-Type": "application/gzip"}),
        (lambda made: gzip.compress(as_json(made)), {"Content-Encoding": "gzip"}),
        (lambda made: as_json(made), {"Content-Type": "application/x-www-form-urlencoded"}),
        (lambda made: b"\xef\xbb\xbf" + as_json(made), {"Content-Type": "application/json"}),
    ],
)
def test_every_form_of_a_process_file_is_taken(
    shared_service: ServiceProcess, name: str, content: Any, headers: dict[str, str]
) -> None:
    answer = store(shared_service, content(document(process_id=name)), headers=headers)
    assert answer.status_code == 201, answer.text
    assert (answer.json()["nodes"], answer.json()["claims"]) == (4, 1)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b'{"format": "veritrail.process/1"', "not_json"),
        (b'{"format": "veritrail.process/1", "nodes": ' + b"[" * 100_000, "not_json"),
        (gzip.compress(as_json(document()))[:-20], "damaged_gzip"),
        (b'{"format": "veritrail.process/1"}\n{"node": {"node_id": "\\ud800", "text": ""}}', None),
        (b'{"a": 1, "a": 2}', "not_json"),
        (b"", "not_json"),
        (b'{"format": "veritrail.process/1", "nodes": "\xff"}', "not_utf8"),
    ],
    ids=["cut", "deep", "cut gzip", "half a character", "a key twice", "empty", "not UTF-8"],
)
def test_a_body_that_breaks_rules_is_told_without_the_place_it_was_kept_in(
    shared_service: ServiceProcess, content: bytes, kind: str | None
) -> None:
    answer = store(shared_service, content)
    assert answer.status_code == 422, answer.text
    assert kind is None or violations(answer) == [kind]
    assert "uploads" not in answer.text
    assert str(shared_service.home) not in answer.text


def test_a_broken_body_under_a_known_id_is_told_what_is_wrong_with_it(
    shared_service: ServiceProcess, name: str
) -> None:
    made = document(process_id=name)
    assert store(shared_service, made).status_code == 201
    made["nodes"][0]["text"] = "Another content."
    broken = {
        "unknown_node": {**made, "edges": [*made["edges"], {"source": "no", "target": "t"}]},
        "duplicate_claim_id": {
            **made,
            "claims": [*made["claims"], {**made["claims"][0]} | {"text": "A."}],
        },
        "missing_key": {**made, "verifications": [{"verification_id": "v-1"}]},
    }
    for kind, body in broken.items():
        answer = store(shared_service, body)
        assert answer.status_code == 422, answer.text
        assert kind in violations(answer)
    assert store(shared_service, made).status_code == 409


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"\x89PNG\r\n\x1a\n", {}, 415),
        (b"hello", {"Content-Type": "text/plain"}, 415),
        (b"PK\x03\x04", {"Content-Type": "application/octet-stream"}, 415),
        (gzip.compress(gzip.compress(as_json(document()))), {}, 415),
        (as_json(document()), {"Content-Encoding": "br"}, 415),
        (as_json(document()), {"Content-Encoding": "gzip"}, 400),
        (as_json(document()), {"Content-Type": "multipart/form-data; boundary=x"}, 415),
        (b"[1]", {"Content-Type": "application/json"}, 422),
    ],
    ids=["picture", "text", "zip", "gzip twice", "brotli", "not gzip", "form", "a list"],
)
def test_what_is_no_process_file_is_not_taken(
    shared_service: ServiceProcess, content: bytes, headers: dict[str, str], status: int
) -> None:
    answer = store(shared_service, content, headers=headers)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def listed(service: ServiceProcess, limit: int = 100) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        params: dict[str, Any] = {"limit": limit, **({"cursor": cursor} if cursor else {})}
        page = service.get("/v1/processes", params=params).json()
        assert len(page["processes"]) <= limit
        found += page["processes"]
        cursor = page["nextCursor"]
        if cursor is None:
            return found


def test_pages_of_processes_stay_in_place_while_others_come_and_go(
    shared_service: ServiceProcess, name: str
) -> None:
    names = [f"{name}-{letter}" for letter in "bdf"]
    for one in names:
        store(shared_service, document(process_id=one))
    first = shared_service.get("/v1/processes", params={"limit": 1}).json()
    while first["processes"][0]["process_id"] != names[0]:
        cursor = first["nextCursor"]
        first = shared_service.get("/v1/processes", params={"limit": 1, "cursor": cursor}).json()
    store(shared_service, document(process_id=f"{name}-a"))
    shared_service.delete(f"/v1/processes/{names[0]}")
    params = {"limit": 2, "cursor": first["nextCursor"]}
    page = shared_service.get("/v1/processes", params=params).json()
    assert [one["process_id"] for one in page["processes"]] == names[1:]
    for one in [f"{name}-a", *names[1:]]:
        assert shared_service.delete(f"/v1/processes/{one}").status_code == 204


def test_two_deletions_at_once_leave_nothing_and_no_fault(
    shared_service: ServiceProcess, name: str
) -> None:
    store(shared_service, document(process_id=name))
    statuses: list[int] = []
    reads: list[int] = []

    def remove() -> None:
        statuses.append(shared_service.delete(f"/v1/processes/{name}").status_code)

    def read() -> None:
        for _ in range(5):
            reads.extend(
                shared_service.get(f"/v1/processes/{name}{what}").status_code
                for what in ("", "/nodes", "/claims", "/stages", "/lineage?node_id=t")
            )

    threads = [threading.Thread(target=one) for one in (read, remove, remove)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) <= {204, 404}
    assert 204 in statuses
    assert set(reads) <= {200, 404}
    assert shared_service.get(f"/v1/processes/{name}").status_code == 404
    assert shared_service.delete(f"/v1/processes/{name}").status_code == 404


def test_what_was_done_stands_in_the_audit_log(
    shared_service: ServiceProcess, veritrail: Veritrail, name: str
) -> None:
    store(shared_service, document(process_id=name))
    shared_service.delete(f"/v1/processes/{name}")
    told = json.loads(veritrail("audit", "--target", name, "--json").out)
    assert [one["action"] for one in told["entries"]] == ["process.delete", "process.ingest"]
