"""What is in a process, over HTTP: nodes, lineage, stages, claims and stored verifications."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from acceptance.command import Veritrail
from fakes.process_files import as_json, document
from fakes.service_process import ServiceProcess

pytestmark = pytest.mark.engine

NASTY = [
    "a/b", "../../etc/passwd", "..", "%2F", "a%252Fb%", "?x=1&limit=0#y", "ÄÖ \u2028 😀", " ",
    "x'}) DETACH DELETE n //", "`$p`", '"\\', "a\tb\nc\0d", "\u202e", "z" * 1_024,
]  # fmt: skip


@pytest.fixture(scope="module")
def nasty(shared_service: ServiceProcess) -> Iterator[str]:
    """A process whose node_ids are what people and attackers come up with."""
    made = document(
        process_id="nasty:1.0-a_b",
        nodes=[{"node_id": one, "text": f"About {one[:9]!r}."} for one in [*NASTY, "t"]],
        edges=[{"source": one, "target": "t"} for one in NASTY],
    )
    answer = shared_service.post("/v1/processes", content=as_json(made))
    assert answer.status_code == 201, answer.text
    yield made["process_id"]
    shared_service.delete(f"/v1/processes/{made['process_id']}")


@pytest.fixture(scope="module")
def verified(shared_service: ServiceProcess, veritrail: Veritrail) -> Iterator[str]:
    """The sample under an id of the module's own, verified without a model."""
    from acceptance.homes import EXAMPLES

    name = "harbour-rest"
    content = (EXAMPLES / "harbour-summary.json").read_bytes()
    answer = shared_service.post("/v1/processes", content=content, params={"process_id": name})
    assert answer.status_code == 201, answer.text
    veritrail("verify", name, "--json")
    yield name
    shared_service.delete(f"/v1/processes/{name}")


def pages(service: ServiceProcess, path: str, key: str, **params: Any) -> list[Any]:
    """Everything of a list, page by page."""
    found: list[Any] = []
    cursor: str | None = None
    while True:
        asked = {**params, **({"cursor": cursor} if cursor else {})}
        answer = service.get(path, params=asked)
        assert answer.status_code == 200, answer.text
        found += answer.json()[key]
        cursor = answer.json()["nextCursor"]
        if cursor is None:
            return found


def test_nodes_with_any_id_are_listed_found_and_walked(
    shared_service: ServiceProcess, nasty: str
) -> None:
    at = f"/v1/processes/{quote(nasty, safe='')}"
    listed = pages(shared_service, f"{at}/nodes", "nodes", limit=4, fields="text")
    assert [one["node_id"] for one in listed] == [*NASTY, "t"]
    assert all(one["text"].startswith("About") for one in listed)
    asked = {"node_ids": [*reversed(NASTY), "who?"], "fields": ["text"]}
    found = shared_service.post(f"{at}/nodes:batchGet", json=asked).json()
    assert [one["node_id"] for one in found["nodes"]] == [*reversed(NASTY)]
    assert found["missing"] == ["who?"]
    for name in NASTY:
        answer = shared_service.get(
            f"{at}/lineage", params={"node_id": name, "direction": "downstream"}
        )
        assert answer.status_code == 200, answer.text
        assert answer.json()["edges"] == [{"source": name, "target": "t"}]


@pytest.mark.parametrize(
    ("claims", "status", "kind"),
    [
        ([{"text": "x", "node_id": NASTY[0]}], 422, None),  # a root
        ([{"text": "x", "node_id": "who?"}], 404, None),
        ([{"text": "x", "start": 5, "end": 1}], 422, "reversed_offsets"),
        ([{"text": "x", "start": 0, "end": 10_000}], 422, "offset_out_of_range"),
        ([{"text": "x", "claim_id": "a b"}], 422, "wrong_id"),
        ([{"text": "x", "who": "me"}], 422, "unknown_key"),
        (["\ud800"], 422, None),
        ([""], 422, None),
        ([], 422, "too_short"),
        ([1], 422, None),
    ],
)
def test_claims_that_break_rules_are_not_stored(
    shared_service: ServiceProcess, nasty: str, claims: list[Any], status: int, kind: str | None
) -> None:
    at = f"/v1/processes/{nasty}/claims"
    before = shared_service.get(at).json()
    body = json.dumps({"claims": ["This one is fine.", *claims] if claims else []})
    answer = shared_service.post(at, content=body)
    assert answer.status_code == status, answer.text
    assert kind is None or kind in {one["kind"] for one in answer.json()["violations"]}
    assert shared_service.get(at).json() == before


def test_claims_that_may_repeat_others_are_named(
    shared_service: ServiceProcess, nasty: str
) -> None:
    text = "The old harbour of the town opened for large ships in the year 1901."
    twice = [{"claim_id": f"n{n}", "text": text[n:]} for n in (0, 4)]
    at = f"/v1/processes/{nasty}"
    assert shared_service.post(f"{at}/claims", json={"claims": twice}).status_code == 201
    found = shared_service.get(f"{at}/near-duplicates").json()
    assert [(one["claim_id"], one["like"]) for one in found["near_duplicates"]] == [("n4", "n0")]


def test_a_claim_with_verifications_is_not_changed_by_chance(
    shared_service: ServiceProcess, verified: str
) -> None:
    at = f"/v1/processes/{verified}/claims/k02"
    for answer in (shared_service.patch(at, json={"text": "Else."}), shared_service.delete(at)):
        assert answer.status_code == 409
        assert answer.json()["type"] == "urn:veritrail:problem:claim-in-use"
        assert "?force=true" in answer.json()["detail"]
    edited = shared_service.patch(at, params={"force": "true"}, json={"text": "Else."})
    assert (edited.status_code, edited.json()["verifications"]) == (200, 1)
    gone = shared_service.get(at).json()["verification_id"]
    assert shared_service.delete(at, params={"force": "true"}).status_code == 204
    assert shared_service.get(f"/v1/verifications/{gone}").status_code == 404


def test_a_verification_whose_id_holds_slashes_is_found(
    shared_service: ServiceProcess,
) -> None:
    """Ids that came with an import may look like paths."""
    name = "runs/2026/..%2F/v:1"
    trail = {
        "verification_id": "runs/2026/v:1",
        "claim_id": "k1",
        "claim": "The tide went out.",
        "node_id": "t",
        "q": 3,
        "engine": "lexical",
        "indicative": True,
        "created_at": "2026-01-01T00:00:00Z",
        "status": "failed",
        "error": "no answer",
    }
    made = document(process_id="slashes", verifications=[trail])
    answer = shared_service.post("/v1/processes", content=as_json(made))
    assert (answer.status_code, answer.json()["verifications_added"]) == (201, 1), answer.text
    at = f"/v1/verifications/{quote(trail['verification_id'], safe='')}"
    assert shared_service.get(at).json()["verification_id"] == trail["verification_id"]
    for what in ("provenance", "error", f"diff/{at.rsplit('/', 1)[-1]}"):
        assert shared_service.get(f"{at}/{what}").status_code == 200
    assert shared_service.get(f"{at}/provenance").json()["paths"] == []
    assert shared_service.get(f"/v1/verifications/{quote(name, safe='')}").status_code == 404
    assert shared_service.get("/v1/verifications/runs/2026/v:1").status_code == 404
    assert shared_service.delete("/v1/processes/slashes").status_code == 204


def test_provenance_runs_from_a_root_down_to_the_claim(
    shared_service: ServiceProcess, verified: str
) -> None:
    claim = shared_service.get(f"/v1/processes/{verified}/claims/k04").json()
    at = f"/v1/verifications/{claim['verification_id']}"
    told = shared_service.get(f"{at}/provenance").json()
    assert (told["complete"], told["truncated"]) == (True, False)
    assert told["paths_complete"] == [True] * len(told["paths"]) != []
    for path in told["paths"]:
        assert (path[0]["role"], path[-1]["node_id"]) == ("root", claim["node_id"])
        assert [step["stage"] for step in path] == sorted(step["stage"] for step in path)
        assert all(step["sentences"] for step in path[:-1])
    error = shared_service.get(f"{at}/error").json()
    trail = shared_service.get(at).json()
    assert error["error_stages"] == trail["error_stages"] != []
    assert [one["node_id"] for one in error["introduced"]] == trail["error_nodes"]
    assert error["inherited"][-1]["node_id"] == claim["node_id"]


def test_every_answer_is_as_it_is_described(shared_service: ServiceProcess, verified: str) -> None:
    """The models of the description are held against real answers, field by field."""
    from veritrail_graph.api.app import answers, findings
    from veritrail_graph.graph.model import Verification
    from veritrail_graph.graph.model.difference import Difference
    from veritrail_graph.graph.model.listed import ClaimFound
    from veritrail_graph.graph.model.processes import ProcessOverview

    at = f"/v1/processes/{verified}"
    claim = shared_service.get(f"{at}/claims/k04").json()
    trail = f"/v1/verifications/{claim['verification_id']}"
    for path, model in [
        ("/v1/processes", answers.ProcessPage),
        (at, ProcessOverview),
        (f"{at}/nodes?fields=text,prompt,metadata", answers.NodesPage),
        (f"{at}/lineage?node_id=final", answers.LineageFound),
        (f"{at}/stages", answers.Stages),
        (f"{at}/claims", findings.ClaimPage),
        (f"{at}/claims/k04", ClaimFound),
        (f"{at}/verifications", findings.VerificationPage),
        (trail, Verification),
        (f"{trail}/provenance", findings.Provenance),
        (f"{trail}/error", findings.ErrorOrigin),
        (f"{trail}/diff/{claim['verification_id']}", Difference),
    ]:
        answer = shared_service.get(path)
        assert answer.status_code == 200, answer.text
        strict = model.model_validate_json(answer.content, extra="forbid")
        assert strict.model_dump(mode="json", exclude_unset=True) == answer.json(), path
