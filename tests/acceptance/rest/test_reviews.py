"""Reviews over HTTP, each with the key that sent it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail, process_file
from fakes.service_process import serving

pytestmark = pytest.mark.engine


def test_a_key_reviews_and_decides_as_its_owner_and_an_admin_as_those_who_are_named(
    beside: Veritrail, tmp_path: Path
) -> None:
    claims = [{"claim_id": "k1", "text": "It has two piers.", "node_id": "t"}]
    file = process_file(tmp_path / "mole.json", claims=claims)
    beside("ingest", file)
    beside("verify", "mole")
    keys = {"Ada": "review", "Ben": "write,read", "Cy": "write", "Root": "admin", "reader": "read"}
    headers = {
        name: {"Authorization": "Bearer " + key_of(beside, name, scope)}
        for name, scope in keys.items()
    }
    path = "/v1/processes/mole/claims/k1/reviews"
    body = {"verdict": "UNCLEAR", "reason": "Which two?"}
    forged = {**body, "reviewer": "Ben"}
    table = {"reviews": [{"claim_id": "k1", **body}, {"claim_id": "k1", **forged}]}
    with serving(beside, args=["--no-worker"]) as service:
        service.until_ready()
        assert service.post(path, json=body).status_code == 401
        assert service.post(path, json=body, headers=headers["reader"]).status_code == 403
        made = service.post(path, json=body, headers=headers["Ada"])
        assert made.status_code == 201, made.text
        named = service.post(path, json=forged, headers=headers["Root"])
        for where, sent in (
            (path, forged),
            (f"{path}:decide", forged),
            ("/v1/processes/mole/reviews:import", table),
        ):
            refused = service.post(where, json=sent, headers=headers["Ada"])
            assert refused.status_code == 403, refused.text
            assert "not as 'Ben'" in refused.json()["detail"]
        own = service.post(f"{path}:decide", json=forged, headers=headers["Ben"])
        reviews = [{**named.json(), "review_id": "forged-1", "adjudicates": True}]
        upload = Path(process_file(tmp_path / "mole.json", claims=claims, reviews=reviews))
        late = service.post("/v1/processes", content=upload.read_bytes(), headers=headers["Cy"])
        read = service.get(path, headers=headers["reader"]).json()["reviews"]
    assert (made.json()["reviewer"], made.json()["recorded_by"]) == ("Ada", "Ada")
    assert (named.json()["reviewer"], named.json()["recorded_by"]) == ("Ben", "Root")
    assert own.status_code == 201, own.text
    assert late.json()["violations"][0]["kind"] == "foreign_reviewer"
    assert [one["reviewer"] for one in read] == ["Ben", "Ben", "Ada"]
    entries = beside("audit", "--action", "review.add", "--json").json["entries"]
    assert [one["details"]["review_id"] for one in entries] == [
        one.json()["review_id"] for one in (own, named, made)
    ]
    assert [one["name"] for one in entries] == ["Ben", "Root", "Ada"]


def key_of(veritrail: Veritrail, name: str, scopes: str) -> str:
    key: str = veritrail("keys", "create", "--name", name, "--scope", scopes, "--json").json["key"]
    return key


def test_the_key_that_uploads_a_review_is_its_recorder_whatever_the_file_says(
    beside: Veritrail, tmp_path: Path
) -> None:
    review = {
        "review_id": "review-1",
        "claim_id": "k1",
        "claim": "It has two piers.",
        "verdict": "UNCLEAR",
        "reason": "Which two?",
        "reviewer": "Ada",
        "recorded_by": "the chief",
        "created_at": "2026-02-01T00:00:00Z",
    }

    def sent(**changes: Any) -> bytes:
        claims = [{"claim_id": "k1", "text": "It has two piers.", "node_id": "t"}]
        reviews = [{**review, **changes}]
        file = process_file(tmp_path / "groyne.json", claims=claims, reviews=reviews)
        return Path(file).read_bytes()

    key = beside("keys", "create", "--name", "loader", "--scope", "admin", "--json").json["key"]
    headers = {"Authorization": f"Bearer {key}"}
    with serving(beside, args=["--no-worker"]) as service:
        service.until_ready()
        late = sent(created_at="2099-01-01T00:00:00Z")
        refused = service.post("/v1/processes", content=late, headers=headers)
        assert (refused.status_code, refused.json()["violations"][0]["kind"]) == (422, "wrong_time")
        first, again = (
            service.post("/v1/processes", content=sent(), headers=headers) for _ in range(2)
        )
        path = "/v1/processes/groyne/reviews"
        (stored,) = service.get(path, headers=headers).json()["reviews"]
    assert (first.status_code, first.json()["reviews_added"]) == (201, 1)
    assert (again.status_code, again.json().get("reviews_added", 0)) == (200, 0)
    assert (stored["reviewer"], stored["recorded_by"]) == ("Ada", "loader")
    rows = beside("audit", "--who", "loader", "--json").json["entries"]
    told = [(one["action"], one["details"].get("reviews_added")) for one in reversed(rows)]
    assert told == [("process.ingest", 1), ("review.add", None), ("process.ingest", None)]
    assert [one["details"] for one in rows if one["action"] == "review.add"] == [{"reviews": 1}]
