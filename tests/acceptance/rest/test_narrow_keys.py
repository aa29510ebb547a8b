"""Keys for one thing: whoever uploads or writes reads nothing of what others stored."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail, process_file
from fakes.service_process import ServiceProcess, serving
from fastapi.routing import APIRoute

from veritrail_graph.api.page.plugin_pages import plugin_routers
from veritrail_graph.api.server.application import ROUTERS

pytestmark = pytest.mark.engine

MARK = "Quillon"
"""Stands in everything that others stored."""
CLAIM = {"claim_id": "k1", "text": f"The {MARK} has two piers.", "node_id": "t"}
NODES = [
    {"node_id": "c", "text": f"The {MARK} opened in 1901. It has two piers."},
    {"node_id": "t", "text": f"The {MARK} has two piers."},
]
EDGES = [{"source": "c", "target": "t"}]
SCOPES = ("ingest", "write", "verify", "admin")
IDS = {"process_id": "secret", "claim_id": "k1", "node_id": "t", "name": "claims", "act": "pin"}


@pytest.fixture(scope="module")
def keyed(
    home: Veritrail, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ServiceProcess, dict[str, dict[str, str]]]]:
    """A service with a verified and reviewed process, and the header of a key of each scope."""
    folder = tmp_path_factory.mktemp("files")
    file = process_file(
        folder / "secret.json", name=f"About the {MARK}", nodes=NODES, edges=EDGES, claims=[CLAIM]
    )
    home("ingest", file)
    home("verify", "secret")
    said = ("--verdict", "UNCLEAR", "--reason", f"Which {MARK}?", "--reviewer", MARK)
    home("reviews", "add", "secret", "k1", *said)
    headers = {}
    for scope in SCOPES:
        made = home("keys", "create", "--name", f"to {scope}", "--scope", scope, "--json")
        headers[scope] = {"Authorization": f"Bearer {made.json['key']}"}
    with serving(home, args=["--no-worker"]) as service:
        service.until_ready()
        yield service, headers


def bodies(service: ServiceProcess) -> dict[tuple[str, str], Any]:
    """The example of each call that takes JSON, by method and path."""
    told = service.get("/openapi.json").json()
    models = told["components"]["schemas"]
    found = {}
    for path, item in told["paths"].items():
        for method, call in item.items():
            content = call.get("requestBody", {}).get("content", {}).get("application/json")
            if content is None:
                continue
            schema = content["schema"].get("anyOf", [content["schema"]])[0]
            model = models.get(schema.get("$ref", "").rsplit("/", 1)[-1], {})
            examples = [content["example"]] if "example" in content else model.get("examples")
            found[method.upper(), path] = (examples or [{}])[0]
    return found


@pytest.mark.parametrize("scope", ["ingest", "write", "verify"])
def test_no_answer_to_a_key_that_does_not_read_holds_what_others_stored(
    keyed: tuple[ServiceProcess, dict[str, dict[str, str]]], scope: str
) -> None:
    service, headers = keyed
    sent = bodies(service)
    upload = service.get("/upload", headers=headers[scope]).text
    token = (re.findall(r'name="form_token" value="([^"]+)"', upload) or ["none"])[0]
    shown, answered = [], 0
    for router in (*ROUTERS, *plugin_routers()):
        for route in router.routes:
            assert isinstance(route, APIRoute)
            path = re.sub(r"\{(\w+)\}", lambda found: IDS.get(found.group(1), "csv"), route.path)
            for method in route.methods - {"DELETE"}:
                if path in ("/sample", "/sign-out"):
                    continue
                body: dict[str, Any] = {}
                if method != "GET":
                    is_rest = path.startswith("/v1/")
                    body = (
                        {"json": sent.get((method, route.path), {})}
                        if is_rest
                        else {"data": {"form_token": token}}
                    )
                answer = service.request(method, path, headers=headers[scope], **body)
                answered += answer.status_code < 400
                if MARK in answer.text:
                    shown.append((method, route.path, answer.status_code))
    assert shown == []
    assert answered  # what the key is for


def test_an_exporter_adds_processes_and_changes_none(
    keyed: tuple[ServiceProcess, dict[str, dict[str, str]]], tmp_path: Path
) -> None:
    service, headers = keyed
    by = headers["ingest"]

    def sent(name: str) -> bytes:
        return Path(process_file(tmp_path / f"{name}.json")).read_bytes()

    def kinds(content: bytes) -> list[str]:
        answer = service.post("/v1/processes", content=content, headers=by)
        assert answer.status_code == 422, answer.text
        return [one["kind"] for one in answer.json()["violations"]]

    new = service.post("/v1/processes", content=sent("export-1"), headers=by)
    again = service.post("/v1/processes", content=sent("export-1"), headers=by)
    assert (new.status_code, again.status_code) == (201, 200), new.text
    taken = service.post("/v1/processes?process_id=secret", content=sent("x"), headers=by)
    assert taken.status_code == 409
    assert MARK not in taken.text
    for flag in ("replace", "append", "replace=true&keep", "force"):
        path = f"/v1/processes?process_id=secret&{flag}=true"
        assert service.post(path, content=sent("x"), headers=by).status_code == 403, flag
    at = "/v1/processes/secret/export?format=process"
    whole = service.get(at, headers=headers["admin"]).text.replace('"secret"', '"export-2"')
    for other in ("verification", "review"):
        lines = [one for one in whole.splitlines() if not one.startswith(f'{{"{other}"')]
        assert set(kinds("\n".join(lines).encode())) == {"not_allowed"}, other
    forged = service.post("/v1/processes", content=whole.encode(), headers=headers["write"])
    assert "scope 'admin'" in forged.json()["violations"][0]["message"]
    listed = service.get("/v1/processes", headers=headers["admin"]).json()["processes"]
    stored = {one["process_id"] for one in listed}
    assert stored & {"export-1", "export-2", "secret"} == {"export-1", "secret"}
