"""Questions that are asked of a process: kept with their trails, and counted nowhere."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from fakes.exporting import document_of
from fakes.processes import process
from fakes.trails import a_trail

from veritrail_graph.api.show.reports.sources import FileSource
from veritrail_graph.api.work.claims import store_claims
from veritrail_graph.cypher import load, names
from veritrail_graph.graph.exporters.tables import Tables
from veritrail_graph.graph.importers.process_file import ProcessFileImporter
from veritrail_graph.graph.importers.records import ClaimRecord
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import Claim, ClaimOrigin, Verdict
from veritrail_graph.graph.model.listed import ClaimFilter
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.export import StoredProcess

NFS = Verdict.NOT_FULLY_SUPPORTED
CLAIM = Claim(claim_id="k1", text="It rained.", node_id="t")
ASKED = Claim(claim_id="q1", text="It snowed.", node_id="t", origin=ClaimOrigin.ASKED, said=False)

COUNTS_ALL = {
    "bloom/error_origin", "bloom/provenance", "bloom/suggest_claim",  # of a claim that is named
    "claims/starting",  # ids that a person types, of questions too
    "dialogue/categories",  # of claims of turns, none of which is a question
    "process/stamps",  # whether the index of texts is behind; it holds questions too
    "claims/verified", "export/script_claims", "ingest/extraction_target",
    "ingest/next_claim_position",
    "migrations/v0005_verdicts_in_force", "process/delete_claims", "process/outcomes",
    "process/rename_claims", "queries/check_claims", "queries/check_orphans",
    "queries/check_loose_ends", "queries/check_reviews", "queries/check_trails",
    "bloom/action_reviews", "bloom/action_verifications", "bloom/evidence_trail",
    "bloom/reviews", "export/in_force", "queries/reviews",
    # What the runs of dialogues found, whose claims are all extracted from turns.
    "dialogue/claims", "dialogue/clear_contradictions", "dialogue/denied", "dialogue/places",
    "dialogue/put_in_force",
    "export/contradictions", "export/turn_claims", "process/delete_compared",
    "queries/recurring_facts", "queries/self_contradictions",
}  # fmt: skip
"""Statements that read every claim on purpose."""


def test_every_statement_that_counts_claims_leaves_questions_out() -> None:
    """One that names its claims by id may read questions; each other one says what it does."""
    for name in names():
        text = load(name).text
        patterns = re.findall(r"\(\w*:Claim\b[^)]*\)", text)
        if name in COUNTS_ALL or name.startswith("schema/") or not patterns:
            continue
        if all("claim_id" in one for one in patterns):
            continue
        assert re.search(r"\b\w\.origin IS (NOT )?NULL", text), name


@pytest.fixture
def stored(store: Store, arun: Any, process_id: str) -> str:
    source = process(
        {"a": "One.", "t": "It rained."}, [("a", "t")], {"k1": CLAIM.text}, process_id=process_id
    )
    arun(ingest(store, source))
    arun(store.claims.add(process_id, [ASKED]))
    for claim in (CLAIM, ASKED):
        name = f"{process_id}/{claim.claim_id}"
        arun(store.trails.write(a_trail(name, process_id=process_id, claim=claim, verdict=NFS)))
    return process_id


@pytest.mark.engine
def test_a_question_is_kept_with_its_trail_and_counted_nowhere(
    store: Store, arun: Any, stored: str
) -> None:
    assert arun(store.processes.get(stored)).claims == 1
    assert [one.claim_id for one in arun(store.claims.all(stored))] == ["k1"]
    assert arun(store.claims.tally(stored)).total == 1
    (summary,) = arun(store.processes.page(stored[:-1], limit=1))
    assert summary.verdicts == {NFS.value: 1}
    assert arun(store.processes.overview(stored)).verifications == 1
    assert arun(store.processes.count_verifications(stored)) == 2  # a deletion removes both
    cost = arun(store.trails.cost(stored))
    assert (cost.verifications, cost.questions) == (1, 1)
    assert arun(store.processes.outcomes([stored]))[stored].verified == 1
    (row,) = arun(store.queries.run("nodes_verified", {"process_id": stored})).rows
    assert row[3] == 1
    for query in ("claims", "unsupported_claims", "error_stages", "unsupported_by_stage"):
        rows = arun(store.queries.run(query, {"process_id": stored})).rows
        assert len(rows) == 1, query
        assert "q1" not in str(rows), query
    # It is read where it is asked for, with its verdict.
    (one,), _ = arun(store.claims.page(stored, ClaimFilter(asked=True)))
    assert (one.text, one.said, one.verdict) == (ASKED.text, False, NFS)
    kept = arun(store.trails.read([f"{stored}/q1"]))[0]
    assert (kept.origin, kept.said, kept.is_unsaid) == (ClaimOrigin.ASKED, False, True)
    judge = kept.model
    for asked, ids in ((False, ["k1"]), (True, ["k1", "q1"])):
        found = arun(store.trails.compared(stored, None, judge, asked=asked))
        assert [each.claim_id for each in found] == ids
    rows = arun(store.queries.run("claims", {"process_id": stored, "asked": True})).rows
    assert [row[0] for row in rows] == ["q1"]


@pytest.mark.engine
def test_a_process_of_which_only_questions_were_asked_is_not_verified(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(ingest(store, process({"a": "One.", "t": "Two."}, [("a", "t")], process_id=process_id)))
    arun(store.claims.add(process_id, [ASKED]))
    arun(store.trails.write(a_trail(f"{process_id}/q1", process_id=process_id, claim=ASKED)))
    found = arun(store.processes.outcomes([process_id]))[process_id]
    assert (found.outcomes, found.verified) == ({}, 0)
    assert found.changed_at is not None
    assert arun(store.queries.run("nodes_verified", {"process_id": process_id})).rows == []


@pytest.mark.engine
def test_given_as_a_claim_it_is_one(store: Store, arun: Any, stored: str) -> None:
    given = ASKED.replace(origin=None, said=None)
    assert arun(store.claims.add(stored, [given, CLAIM])) == 1
    assert [one.claim_id for one in arun(store.claims.all(stored))] == ["k1", "q1"]
    assert arun(store.trails.read([f"{stored}/q1"]))[0].origin is None
    assert arun(store.claims.add(stored, [ASKED])) == 0  # asked again, it stays a claim
    assert len(arun(store.claims.all(stored))) == 2


@pytest.mark.engine
def test_a_process_file_carries_it(store: Store, arun: Any, stored: str, tmp_path: Any) -> None:
    from veritrail_graph.graph.exporters.process_file import write_document
    from veritrail_graph.graph.store.export import StoredProcess

    async def exported() -> bytes:
        parts: list[bytes] = []
        found = await StoredProcess.open(store.database, stored)
        await write_document(store, found, parts.append)
        return b"".join(parts)

    path = tmp_path / "p.json"
    path.write_bytes(arun(exported()))
    arun(store.processes.delete(stored))
    arun(ingest(store, ProcessFileImporter().open(path, ImportOptions())))
    assert arun(store.processes.get(stored)).claims == 1
    (one,), _ = arun(store.claims.page(stored, ClaimFilter(asked=True)))
    assert (one.claim_id, one.origin, one.said) == ("q1", ClaimOrigin.ASKED, False)


@pytest.mark.engine
def test_a_file_and_tables_tell_questions_from_claims(store: Store, arun: Any, stored: str) -> None:
    path = Path("p.json")
    path.write_bytes(arun(document_of(store, stored)))
    assert [one.claim.claim_id for one in FileSource.read(path).material.claims] == ["k1"]
    arun(Tables(Path()).run(store, arun(StoredProcess.open(store.database, stored))))
    with Path("claims.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["claim_id"]: (row["origin"], row["said"]) for row in csv.DictReader(file)}
    assert rows == {"k1": ("", ""), "q1": ("asked", "false")}


@pytest.mark.engine
def test_what_the_answer_claims_already_is_that_claim_and_no_question(
    store: Store, arun: Any, stored: str
) -> None:
    asked = ClaimRecord(CLAIM.text, "--claim", origin=ClaimOrigin.ASKED)
    claims, added = arun(store_claims(store, stored, [asked], None))
    assert (claims, added) == ([CLAIM], 0)
