"""`veritrail reviews`: what people say of verdicts, as a person and as a program see it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from acceptance.command import Veritrail, process_file

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def quay(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A stored process whose claims are verified, and one that is not."""
    path = tmp_path_factory.mktemp("reviews") / "quay.json"
    claims = [
        {"claim_id": "k1", "text": "The harbour opened in 1901.", "node_id": "t"},
        {"claim_id": "k2", "text": "The harbour opened in 1902.", "node_id": "t"},
    ]
    veritrail("ingest", process_file(path, claims=claims))
    veritrail("verify", "quay")
    late = [*claims, {"claim_id": "k3", "text": "Something was there.", "node_id": "t"}]
    veritrail("ingest", process_file(path, claims=late))
    for claim_id in ("k1", "k2"):
        veritrail("reviews", "add", "quay", claim_id, "--confirm", "--reviewer", "Ada")
    unclear = ("--verdict", "UNCLEAR", "--reason", "What?", "--reviewer", "Ada")
    veritrail("reviews", "add", "quay", "k3", *unclear)
    yield "quay"
    veritrail("delete", "quay", "--yes")


def test_comments_are_written_listed_and_removed(veritrail: Veritrail, quay: str) -> None:
    made = veritrail("comment", "qua", "k1", "See [page] 3.", "--author", "Bo", "--json").json
    assert (made["author"], made["claim_id"], made["process_id"]) == ("Bo", "k1", quay)
    told = veritrail("comment", quay, "k1")
    assert told.out == "See [page] 3.\n"
    assert f"Bo, {made['created_at'][:16]}  {made['comment_id']}" in told.err
    assert veritrail("comment", quay, "k1", "--json").json["comments"] == [made]
    assert "at most" in veritrail("comment", quay, "k1", " ", status=2).err
    wrong = veritrail("comment", quay, "k1", "x", "--remove", "y", status=2).err
    assert "either a text or --remove" in wrong
    veritrail("comment", quay, "k1", "--remove", made["comment_id"])
    assert "no comment yet" in veritrail("comment", quay, "k1").err
    assert "no comment" in veritrail("comment", quay, "k1", "--remove", "y", status=2).err


def test_reviews_travel_with_an_export_and_go_with_a_replacement(
    veritrail: Veritrail, quay: str, tmp_path: Path
) -> None:
    """The last test here: it replaces the process."""
    reviews = veritrail("reviews", "list", quay, "--json").json
    path = tmp_path / "away.jsonl"
    veritrail("export", quay, "--format", "process", "-o", str(path))
    veritrail("delete", quay, "--yes")
    moved = veritrail("ingest", str(path), "--json").json
    assert moved["reviews_added"] == len(reviews["reviews"]) == 3
    assert veritrail("reviews", "list", quay, "--json").json == reviews
    nodes = [{"node_id": "only", "text": "Something else."}]
    other = process_file(tmp_path / "quay.json", nodes=nodes, edges=[])
    replaced = veritrail("ingest", other, "--replace", "--json").json
    assert (replaced["removed_verifications"], replaced["removed_reviews"]) == (2, 3)
