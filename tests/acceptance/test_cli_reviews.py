"""`veritrail reviews`: what people say of verdicts, as a person and as a program see it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail, process_file

pytestmark = pytest.mark.engine

NFS, FS = "NOT_FULLY_SUPPORTED", "FULLY_SUPPORTED"
KEYS = [
    "review_id", "process_id", "claim_id", "claim", "verdict", "kind", "reason", "reviewer",
    "recorded_by", "created_at", "overrides", "model_verdict",
]  # fmt: skip


@pytest.fixture(scope="module")
def quay(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A stored process whose claims are verified, and one that is not."""
    path = tmp_path_factory.mktemp("reviews") / "quay.json"
    claims = [
        {"claim_id": "k1", "text": "It has two piers.", "node_id": "t"},
        {"claim_id": "k2", "text": "It has nine hundred piers of gold.", "node_id": "t"},
    ]
    veritrail("ingest", process_file(path, claims=claims))
    veritrail("verify", "quay")
    late = [*claims, {"claim_id": "k3", "text": "Something was there.", "node_id": "t"}]
    veritrail("ingest", process_file(path, claims=late))
    yield "quay"
    veritrail("delete", "quay", "--yes")


def verdict_of(veritrail: Veritrail, claim_id: str) -> tuple[str, str]:
    """The verdict of a claim's verification, and its id."""
    found = veritrail("list", "quay", "--json").json["verifications"]
    (one,) = [each for each in found if each["claim_id"] == claim_id]
    return one["verdict"], one["verification_id"]


def other_than(verdict: str) -> str:
    return NFS if verdict != NFS else FS


def test_a_review_is_added_listed_and_shown_beside_the_verdict(
    veritrail: Veritrail, quay: str
) -> None:
    verdict, verification = verdict_of(veritrail, "k1")
    before = veritrail("show", verification, "--json").json
    said = other_than(verdict)
    made = veritrail(
        "reviews", "add", quay, "k1", "--verdict", said.lower(), "--reason", "I counted them.",
        "--reviewer", "Ada [bold]x", "--json",
    ).json  # fmt: skip
    assert list(made) == KEYS
    assert (made["kind"], made["verdict"], made["model_verdict"]) == ("overridden", said, verdict)
    assert (made["reviewer"], made["overrides"]) == ("Ada [bold]x", verification)
    assert made["recorded_by"] is None

    listed = veritrail("reviews", "list", quay, "--json").json
    assert listed == {"process_id": quay, "reviews": [made]}
    of_claim = veritrail("reviews", "list", quay, "k1", "--json").json
    assert of_claim == {
        "process_id": quay, "claim_id": "k1", "verdict": verdict, "review": "overridden",
        "reviewed_verdict": said, "disputed": False, "reviews": [made],
    }  # fmt: skip
    assert veritrail("show", verification, "--json").json == before
    shown = veritrail("show", verification).out
    assert "reviews by people" in shown
    assert "Ada [bold]x: " in shown
    assert "I counted them." in shown
    claims = {one["claim_id"]: one for one in veritrail("list", quay, "--json").json["claims"]}
    assert (claims["k1"]["review"], claims["k1"]["reviewed_verdict"]) == ("overridden", said)
    assert (claims["k3"]["review"], claims["k3"]["reviews"]) == (None, 0)
    assert "overridden: " in veritrail("list", quay).out
    report = veritrail("report", quay).out
    assert "Ada" in report
    assert "overridden" in report
    rows = veritrail("query", "claims", "--param", f"process_id={quay}", "--json").json
    first = dict(zip(rows["columns"], rows["rows"][0], strict=True))
    assert (first["verdict"], first["reviewed_verdict"]) == (verdict, said)


def test_confirming_and_calling_unclear(veritrail: Veritrail, quay: str) -> None:
    verdict, verification = verdict_of(veritrail, "k2")
    confirmed = veritrail(
        "reviews", "add", quay, "k2", "--confirm", "--overrides", verification, "--json",
        VERITRAIL_REVIEWER="Bo",
    ).json  # fmt: skip
    assert (confirmed["kind"], confirmed["verdict"]) == ("confirmed", verdict)
    assert (confirmed["reviewer"], confirmed["reason"]) == ("Bo", "")
    unclear = veritrail(
        "reviews", "add", quay, "k3", "--verdict", "UNCLEAR", "--reason", "What was there?",
    ).out  # fmt: skip
    assert "Unclear, What was there?" in unclear
    newest = veritrail("reviews", "list", quay).out.splitlines()
    assert newest[1].startswith("k3")
    assert "Bo" in newest[2]


def test_agreement_is_told_with_how_little_it_rests_on(veritrail: Veritrail, quay: str) -> None:
    made = veritrail("reviews", "agreement", quay, "--json").json
    assert (made["reviews"], made["claims"], made["unclear"], made["disputed"]) == (3, 3, 1, 0)
    overall = made["overall"]
    assert (overall["pairs"], overall["agreed"], overall["share"]) == (2, 1, 0.5)
    assert overall["small"] is True
    assert sum(n for row in overall["table"].values() for n in row.values()) == 2
    assert [judge["engine"] for judge in made["judges"]] == ["lexical"]
    told = veritrail("reviews", "agreement", quay).out
    for words in ("50% agreed (1 of 2", "These are few", "model \\ people", "1 called unclear"):
        assert words in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["k1"], "either --verdict or --confirm"),
        (["k1", "--confirm", "--verdict", FS], "either --verdict or --confirm"),
        (["k1", "--verdict", "TRUE", "--reason", "x"], "must be one of FULLY_SUPPORTED"),
        (["k1", "--verdict", "unclear"], "say what is unclear"),
        (["k9", "--confirm"], "no claim 'k9'"),
        (["k3", "--confirm"], "has no verdict to review"),
        (["k1", "--confirm", "--overrides", "v-none"], "No verification 'v-none'"),
        (["k1", "--confirm", "--reviewer", " "], "say who reviews"),
    ],
)
def test_what_cannot_be_reviewed_is_told(
    veritrail: Veritrail, quay: str, arguments: list[str], said: str
) -> None:
    before = veritrail("reviews", "list", quay, "--json").json
    ended = veritrail("reviews", "add", quay, *arguments, "--json", status=2)
    told = ended.message + "".join(one["message"] for one in ended.violations)
    assert said in told
    assert veritrail("reviews", "list", quay, "--json").json == before


def test_nobody_has_reviewed_anything_yet(veritrail: Veritrail, tmp_path: Path) -> None:
    veritrail("ingest", process_file(tmp_path / "unread.json"))
    assert "Nobody has reviewed" in veritrail("reviews", "list", "unread").err
    assert "Nobody has reviewed" in veritrail("reviews", "agreement", "unread").err
    empty: Any = veritrail("reviews", "agreement", "unread", "--json").json
    assert (empty["overall"]["pairs"], empty["overall"]["kappa"]) == (0, None)
    for command in ("list", "agreement"):
        assert "nowhere" in veritrail("reviews", command, "nowhere", "--json", status=2).message


def test_reviews_travel_with_an_export_and_go_with_a_replacement(
    veritrail: Veritrail, bare: Veritrail, quay: str, tmp_path: Path
) -> None:
    reviews = veritrail("reviews", "list", quay, "--json").json
    path = tmp_path / "away.jsonl"
    veritrail("export", quay, "--format", "process", "-o", str(path))
    moved = bare("ingest", str(path), "--json").json
    assert moved["reviews_added"] == len(reviews["reviews"]) == 3
    assert bare("reviews", "list", quay, "--json").json == reviews
    nodes = [{"node_id": "only", "text": "Something else."}]
    other = process_file(tmp_path / "quay.json", nodes=nodes, edges=[])
    replaced = bare("ingest", other, "--replace", "--json").json
    assert (replaced["removed_verifications"], replaced["removed_reviews"]) == (2, 3)
