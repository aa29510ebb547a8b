"""The service: its description, an answer of every route, and the events of a job."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from fakes.service_process import serving
from golden.conftest import SAMPLES, Scene, fixed_id
from golden.golden import check

pytestmark = pytest.mark.engine

P = f"/v1/processes/{SAMPLES[0]}"
V1, V2 = (f"/v1/verifications/{fixed_id(SAMPLES[0], claim)}" for claim in ("k01", "k04"))
HEADERS = ("content-type", "location", "retry-after", "allow", "www-authenticate", "etag")
PROSE = ("detail", "message", "title")
BOUNDS = ("required", "default", "minimum", "maximum", "minLength", "maxLength", "pattern", "enum")
OF_QUERIES = ("purpose", "meaning")
DESCRIPTIONS = (
    "description", "summary", "title", "example", "examples", "tags", "operationId", "x-codeSamples"
)  # fmt: skip
PROCESS = {
    "format": "veritrail.process/1",
    "process_id": "pier",
    "nodes": [
        {"node_id": "a", "text": "The pier is long. It was built in 1901."},
        {"node_id": "t", "text": "The pier, built in 1901, is long."},
    ],
    "edges": [{"source": "a", "target": "t"}],
}
JOB = {"process_id": "pier", "claims": ["The pier was built in 1901."], "q": 1}
Call = tuple[str, str] | tuple[str, str, Any] | tuple[str, str, Any, dict[str, str]]
READING: list[Call] = [
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/v1/processes"),
    ("GET", "/v1/processes?limit=1"),
    ("GET", "/v1/processes?limit=0"),
    ("GET", "/v1/processes?cursor=nonsense"),
    ("GET", P),
    ("GET", "/v1/processes/nobody"),
    ("GET", f"{P}/stages"),
    ("GET", f"{P}/nodes?stage=3&fields=text,prompt,metadata"),
    ("GET", f"{P}/nodes?role=terminal"),
    ("GET", f"{P}/nodes?text=ferry&limit=2"),
    ("GET", f"{P}/nodes?role=purple&fields=colour"),
    ("POST", f"{P}/nodes:batchGet", {"node_ids": ["g2", "nowhere"], "fields": ["text"]}),
    ("POST", f"{P}/nodes:batchGet", {"colour": 1}),
    ("GET", f"{P}/lineage?node_id=g2&direction=both&depth=2"),
    ("GET", f"{P}/lineage?node_id=final&limit=3"),
    ("GET", f"{P}/lineage?node_id=nowhere"),
    ("GET", f"{P}/lineage?node_id=g2&depth=9999"),
    ("GET", f"{P}/claims?limit=3"),
    ("GET", f"{P}/claims?verdict=NOT_FULLY_SUPPORTED&error_stage=2"),
    ("GET", f"{P}/claims?verdict=TRUE"),
    ("GET", f"{P}/claims/k04"),
    ("GET", f"{P}/claims/k99"),
    ("GET", f"{P}/verifications?limit=2"),
    ("GET", f"{P}/reviews"),
    ("GET", f"{P}/reviews/agreement"),
    ("GET", f"{P}/claims/k04/reviews"),
    ("GET", V2),
    ("GET", "/v1/verifications/v-none"),
    ("GET", f"{V2}/provenance"),
    ("GET", f"{V2}/error"),
    ("GET", f"{V1}/diff/{V2.rpartition('/')[2]}"),
    ("GET", "/v1/queries"),
    ("POST", "/v1/queries/error_origin", {"params": {"process_id": SAMPLES[0], "claim_id": "k04"}}),
    ("POST", "/v1/queries/claims", {"params": {"limit": "x", "colour": "red"}}),
    ("POST", "/v1/queries/nothing", {"params": {}}),
    ("POST", "/v1/queries/claims", "no object"),
    ("GET", "/v1/jobs"),
    ("GET", "/v1/jobs/j-none"),
    ("GET", "/v1/nothing"),
    ("PUT", "/v1/processes"),
]
CHANGING: list[Call] = [
    ("POST", "/v1/processes", PROCESS),
    ("POST", "/v1/processes", PROCESS),
    ("POST", "/v1/processes", {**PROCESS, "name": "Pier", "edges": []}),
    ("POST", "/v1/processes", {**PROCESS, "nodes": [*PROCESS["nodes"], {"node_id": "a"}]}),
    ("POST", "/v1/processes", {**PROCESS, "nodes": [{"node_id": "b", "text": "B"}], "edges": []}),
    ("POST", "/v1/processes?append=true&replace=true", PROCESS),
    ("POST", f"{P[:14]}/pier/claims", {"claims": [{"claim_id": "k1", "text": "It is long."}]}),
    ("POST", f"{P[:14]}/pier/claims", {"claims": [{"text": ""}, {"colour": 1}]}),
    ("PATCH", f"{P[:14]}/pier/claims/k1", {"text": "The pier is long."}),
    ("PATCH", f"{P[:14]}/pier/claims/k1", {"text": ""}),
    ("POST", "/v1/verifications", {**JOB, "colour": 1}),
    ("POST", "/v1/verifications", {**JOB, "node_id": "a"}),
    ("POST", "/v1/verifications", {**JOB, "process_id": "nobody"}),
    ("POST", "/v1/verifications", {**JOB, "engine": "oracle"}),
    ("POST", "/v1/verifications", {**JOB, "q": 0}),
    ("POST", "/v1/verifications", {**JOB, "model": "m"}),
    ("POST", "/v1/verifications", JOB, {"Idempotency-Key": "one"}),
    ("POST", "/v1/verifications", JOB, {"Idempotency-Key": "one"}),
    ("POST", "/v1/verifications", {**JOB, "q": 2}, {"Idempotency-Key": "one"}),
    ("EVENTS", "/v1/jobs/JOB/events"),
    ("GET", "/v1/jobs/JOB"),
    ("GET", "/v1/jobs/JOB/events?limit=2", None, {"Accept": "application/json"}),
    ("POST", "/v1/jobs/JOB:cancel"),
    ("POST", "/v1/jobs/JOB:resume"),
    ("GET", "/v1/jobs?process_id=pier"),
    ("POST", f"{P[:14]}/pier/claims/CLAIM/reviews", {"verdict": "UNCLEAR", "reason": "Why?",
                                                    "reviewer": "ann"}),
    ("POST", f"{P[:14]}/pier/claims/CLAIM/reviews", {"verdict": "TRUE"}),
    ("POST", f"{P[:14]}/pier/claims/k1/reviews", {"verdict": "UNCLEAR", "reason": "Why?",
                                                 "reviewer": "ann"}),
    ("GET", f"{P[:14]}/pier/reviews"),
    ("DELETE", f"{P[:14]}/pier/claims/CLAIM"),
    ("DELETE", f"{P[:14]}/pier/claims/k1"),
    ("DELETE", f"{P[:14]}/pier"),
    ("DELETE", f"{P[:14]}/pier"),
]  # fmt: skip


@pytest.fixture(scope="module")
def service(scene: Scene) -> Iterator[httpx2.Client]:
    database = scene.call.folder / "service.sqlite"  # without the keys of other tests
    with serving(scene.call.home, env={"VERITRAIL_JOBS_URL": f"sqlite:///{database}"}) as service:
        service.until_ready()
        yield service.client


def test_description(service: httpx2.Client, scene: Scene) -> None:
    described = service.get("/openapi.json").json()
    described["info"]["version"] = "<version>"
    shapes = {
        f"{method.upper()} {path}": {
            part: _shape(value, described, (), answers=part == "responses")
            for part, value in route.items()
            if part not in DESCRIPTIONS
        }
        for path, routes in described["paths"].items()
        for method, route in routes.items()
    }
    check("data/openapi.json", scene.plain.json(shapes))
    check("words/openapi.json", scene.plain.json(described))


@pytest.mark.parametrize("name", ["reading", "changing"])
def test_routes(service: httpx2.Client, scene: Scene, name: str) -> None:
    data, words = [], []
    stand = {}
    for call in READING if name == "reading" else CHANGING:
        method, path, body, headers = (*call, None, {})[:4] if len(call) < 4 else call  # type: ignore[misc]
        for known, value in stand.items():
            path = path.replace(known, value)
        if method == "EVENTS":
            data.append({"call": "events", "events": _events(service, path)})
            continue
        answer = service.request(
            method, path, json=body, headers={"X-Request-Id": "golden", **(headers or {})}
        )
        if "job_id" in (answer.json() if method != "DELETE" or answer.content else {}):
            told = answer.json()
            stand.setdefault("JOB", told["job_id"])
            if told.get("verification_ids"):
                made = service.get(f"/v1/verifications/{told['verification_ids'][0]}")
                if made.status_code == 200:
                    stand.setdefault("CLAIM", made.json()["claim_id"])
        shown = f"{method} {path}" + (f" {json.dumps(body, sort_keys=True)}" if body else "")
        data.append(_data(shown, answer))
        if answer.status_code >= 400:
            words.append({"call": shown, "answer": answer.json()})
    check(f"data/rest/{name}.json", scene.plain.json(data))
    check(f"words/rest/{name}.json", scene.plain.json(words))


def test_metrics(service: httpx2.Client) -> None:
    lines = service.get("/metrics").text.splitlines()
    names = sorted({line.split()[2] for line in lines if line.startswith("# TYPE")})
    check("data/rest/metrics.txt", "\n".join(names) + "\n")


def _events(service: httpx2.Client, path: str) -> list[dict[str, Any]]:
    """The events of a job, each with its id, kind and data, to the end of the stream."""
    found: list[dict[str, Any]] = []
    with service.stream("GET", path) as stream:
        for line in stream.iter_lines():
            key, _, value = line.partition(": ")
            if key == "id":
                found.append({"id": value})
            elif key == "event":
                found[-1]["event"] = value
            elif key == "data":
                found[-1]["data"] = json.loads(value)
            if not line and found and found[-1].get("event") == "job.finished":
                break
    return found


def _data(call: str, answer: httpx2.Response) -> dict[str, Any]:
    headers = {name: answer.headers[name] for name in HEADERS if name in answer.headers}
    if "etag" in headers:
        headers["etag"] = "<etag>"
    body = answer.json() if answer.content else None
    body = _without(body, PROSE if answer.status_code >= 400 else OF_QUERIES)
    if isinstance(body, dict) and body.get("nextCursor"):
        body["nextCursor"] = "<cursor>"
    return {"call": call, "status": answer.status_code, "headers": headers, "body": body}


def _without(value: Any, keys: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return {k: "…" if k in keys else _without(v, keys) for k, v in value.items()}
    return [_without(one, keys) for one in value] if isinstance(value, list) else value


def _shape(value: Any, whole: dict[str, Any], inside: tuple[str, ...], *, answers: bool) -> Any:
    """A part of the description without prose and without the names of its types.

    Of answers it leaves out which keys are always there: the recorded answers show it.
    """
    if isinstance(value, list):
        return [_shape(one, whole, inside, answers=answers) for one in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        *_, kind, name = value["$ref"].split("/")
        if name in inside or name == "Problem":
            return f"<{name}>"
        return _shape(whole["components"][kind][name], whole, (*inside, name), answers=answers)
    shape = {}
    for key, part in value.items():
        if key == "properties":
            shape[key] = {
                name: _shape(one, whole, inside, answers=answers) for name, one in part.items()
            }
        elif key not in DESCRIPTIONS and not (answers and key in BOUNDS):
            shape[key] = _shape(part, whole, inside, answers=answers)
    return shape
