"""`veritrail diff`: where two stored trails part."""

from __future__ import annotations

from typing import Any

import pytest
from acceptance.command import Veritrail, process_file

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def trails(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Ids of verifications: of one claim with q = 1 and with q = 3, and of another claim."""
    nodes = [
        {"node_id": "source", "text": "The quay was built in 1901."},
        {"node_id": "summary", "text": "The quay was built in 1901."},
        {"node_id": "final", "text": "The quay was built in 1951."},
    ]
    edges = [
        {"source": "source", "target": "summary"},
        {"source": "summary", "target": "final"},
    ]
    claims = [
        {"claim_id": "wrong", "text": "The quay was built in 1951."},
        {"claim_id": "right", "text": "The quay was built in 1901."},
    ]
    folder = tmp_path_factory.mktemp("quay")
    veritrail(
        "ingest", process_file(folder / "quay-diff.json", nodes=nodes, edges=edges, claims=claims)
    )

    def made(claim_id: str, q: str) -> str:
        run: dict[str, Any] = veritrail(
            "verify", "quay-diff", "--claim-id", claim_id, "--q", q, "--json"
        ).json
        return str(run["verifications"][0]["verification_id"])

    return {"q1": made("wrong", "1"), "q3": made("wrong", "3"), "right": made("right", "3")}


def test_two_trails_of_a_claim_are_compared(veritrail: Veritrail, trails: dict[str, str]) -> None:
    found = veritrail("diff", trails["q1"], trails["q3"], "--json").json
    assert (found["a"], found["b"]) == (trails["q1"], trails["q3"])
    assert found["same_claim"] is True
    assert found["same"] is False
    assert found["settings"] == {"q": {"a": 1, "b": 3}}
    assert "verdict" not in found["outcome"]
    assert found["outcome"]["termination"]["a"] == "max_consecutive_not_fully_supported"
    assert (found["parting"]["iteration"], found["parting"]["parts"]) == (2, ["length"])
    assert found["parting"]["a"] is None
    assert found["parting"]["b"]["checked_only"] == ["source"]


def test_a_person_reads_where_two_trails_part(veritrail: Veritrail, trails: dict[str, str]) -> None:
    told = veritrail("diff", trails["q1"], trails["q3"]).out
    assert "the trails part in iteration 2" in told
    assert "checked only here: source" in told
    other = veritrail("diff", trails["q3"], trails["right"]).out
    assert "different claims" in other
    same = veritrail("diff", trails["q3"], trails["q3"]).out
    assert "the same way to the same end" in same


def test_an_unknown_verification_is_named(veritrail: Veritrail, trails: dict[str, str]) -> None:
    found = veritrail("diff", trails["q1"], "v-nowhere", "--json", status=2)
    assert "v-nowhere" in found.json["error"]["message"]
