"""Migrations: from every version there was, under one lock, and again after a kill."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fakes import old_stores

from veritrail_graph import cypher
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import EngineError
from veritrail_graph.graph.reviewing import NewReview
from veritrail_graph.graph.store import DatabaseAddress, Store
from veritrail_graph.graph.store.migrations import WAITING, version_of
from veritrail_graph.graph.store.schema import SCHEMA_VERSION, ensure_schema
from veritrail_graph.graph.store.trail_rows import short
from veritrail_graph.graph.store.writers import this_writer

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = [1, 2, 3, 4]

RECORD = "MATCH (m:VeriTrailSchema) RETURN properties(m)"
SET_VERSION = "MATCH (m:VeriTrailSchema) SET m.version = $version"


def record(store: Store, arun: Any) -> dict[str, Any]:
    """The one record of the schema."""
    rows = arun(store.database.run_text(RECORD, {}, 10)).rows
    assert len(rows) == 1
    return dict(rows[0][0])


def set_version(store: Store, arun: Any, version: int) -> None:
    arun(store.database.run_text(SET_VERSION, {"version": version}, 1, write=True))


def test_the_version_is_that_of_the_latest_migration_and_each_has_a_sample() -> None:
    assert {version_of(name) for name in cypher.names("migrations")} == set(VERSIONS)
    assert max(version_of(name) for name in cypher.names("migrations")) == SCHEMA_VERSION


def test_a_migration_makes_something_or_goes_in_batches() -> None:
    for name in cypher.names("migrations"):
        statement = cypher.load(name)
        parameters = [parameter.name for parameter in statement.parameters]
        columns = [column.name for column in statement.columns]
        assert (parameters, columns) in (([], []), (["limit"], ["done"])), name
        if not parameters:  # may run again
            assert "IF NOT EXISTS" in statement.text or "IF EXISTS" in statement.text, name


@pytest.mark.engine
def test_a_graph_that_is_up_to_date_costs_one_read(store: Store, arun: Any) -> None:
    before = store.database.calls
    arun(ensure_schema(store.database))
    assert store.database.calls == before + 1


@pytest.mark.engine
def test_every_migration_is_recorded_with_when_and_by_which_version(
    store: Store, arun: Any
) -> None:
    found = record(store, arun)
    names = [name.rpartition("/")[2] for name in cypher.names("migrations")]
    assert found["version"] == SCHEMA_VERSION
    assert found["migrations"] == names
    assert len(found["applied_at"]) == len(found["applied_by"]) == len(names)
    assert found["applied_at"] == sorted(found["applied_at"])
    assert not {"owner", "beat", "asked"} & set(found)


@pytest.mark.engine
def test_a_graph_of_a_newer_version_is_refused(store: Store, arun: Any) -> None:
    set_version(store, arun, SCHEMA_VERSION + 1)
    try:
        with pytest.raises(EngineError, match="Update veritrail-graph"):
            arun(ensure_schema(store.database))
    finally:
        set_version(store, arun, SCHEMA_VERSION)


# What a person reads on each node of the old store, by label.
CAPTIONS = {
    "Span": {"One. Two.", "😀" * 39 + "…", "Sum. Mary.", "t"},
    "Claim": {"A claim."},
    "Extraction": {"One."},
    "Sentence": {"One.", "😀" * 39 + "…"},
    "Verification": {"Not Fully Supported", "Queued"},
    "Iteration": {"1: Inconclusive", "2: Not Fully Supported"},
    "Evidence": {f"{old_stores.SUMMARY[:39]}…", "Evidence"},
    "Step": {"1: evidence_selection"},
    "Review": set(),
}
SINCE_VERSION_2 = {"Extraction": {"One."}, "Step": {"1: evidence_selection"}}
OURS = {
    "Span": "(x:Span {process_id: $p})",
    "Claim": "(x:Claim {process_id: $p})",
    "Extraction": "(x:Extraction {process_id: $p})",
    "Sentence": "(x:Sentence {process_id: $p})",
    "Verification": "(x:Verification {process_id: $p})",
    "Iteration": "(:Verification {process_id: $p})-[:HAS_ITERATION]->(x)",
    "Evidence": "(:Verification {process_id: $p})-[:HAS_ITERATION]->()-[:FOUND]->(x)",
    "Step": "(:Verification {process_id: $p})-[:TOOK]->(x)",
    "Review": "(x:Review {process_id: $p})",
}


def run(store: Store, arun: Any, text: str, **parameters: Any) -> list[tuple[Any, ...]]:
    return list(arun(store.database.run_text(text, parameters, 10_000, write=True)).rows)


def names(store: Store, arun: Any) -> dict[str, list[str]]:
    """Constraints and indexes by name."""
    return {
        "constraints": sorted(
            name for (name,) in run(store, arun, "SHOW CONSTRAINTS YIELD name RETURN name")
        ),
        "indexes": sorted(
            name
            for (name, labels) in run(
                store, arun, "SHOW INDEXES YIELD name, labelsOrTypes RETURN name, labelsOrTypes"
            )
            if labels
        ),
    }


def captions(store: Store, arun: Any, process_id: str) -> dict[str, set[str]]:
    return {
        label: {
            caption
            for (caption,) in run(store, arun, f"MATCH {way} RETURN x.caption", p=process_id)
        }
        for label, way in OURS.items()
    }


@pytest.fixture
def fresh(store: Store, arun: Any) -> Iterator[dict[str, list[str]]]:
    """Constraints and indexes of a graph of this version; afterwards they are there again."""
    before = names(store, arun)
    yield before
    run(store, arun, "MATCH (m:VeriTrailSchema) DELETE m")
    arun(ensure_schema(store.database))
    assert names(store, arun) == before


def make_old(store: Store, arun: Any, version: int, process_id: str) -> None:
    """Take the schema away and write everything as a version wrote it."""
    run(store, arun, "MATCH (m:VeriTrailSchema) DELETE m")
    found = names(store, arun)
    for name in found["constraints"]:
        run(store, arun, f"DROP CONSTRAINT {name} IF EXISTS")
    for name in found["indexes"]:
        if name.startswith("veritrail_") and name not in found["constraints"]:
            run(store, arun, f"DROP INDEX {name} IF EXISTS")
    for text, parameters in old_stores.statements(version, process_id):
        run(store, arun, text, **parameters)


@pytest.mark.engine
@pytest.mark.parametrize("version", VERSIONS)
def test_a_graph_of_any_version_comes_out_like_a_fresh_one(
    store: Store, arun: Any, process_id: str, fresh: dict[str, list[str]], version: int
) -> None:
    make_old(store, arun, version, process_id)
    assert record(store, arun) == {"name": "veritrail", "version": version}
    arun(ensure_schema(store.database))
    assert names(store, arun) == fresh
    expected = CAPTIONS
    if version == 4:
        expected = {**CAPTIONS, "Review": {"Overridden: Fully Supported", "Unclear"}}
    if version == 1:
        none: dict[str, set[str]] = {label: set() for label in SINCE_VERSION_2}
        expected = {**CAPTIONS, **none, "Verification": {"Not Fully Supported"}}
    assert captions(store, arun, process_id) == expected
    assert record(store, arun)["version"] == SCHEMA_VERSION
    written = old_stores.the_trail(version, process_id)
    assert arun(store.trails.get(written.verification_id)) == written
    arun(store.trails.write(written))  # as it is written today
    assert captions(store, arun, process_id) == expected
    assert arun(store.trails.get(written.verification_id)) == written
    found = [one.review for one in arun(store.reviews.all(process_id))]
    assert found == old_stores.the_reviews(version, process_id)
    made = arun(store.reviews.add(process_id, "k", NewReview("INCONCLUSIVE", "why", "Ada")))
    assert [one.review for one in arun(store.reviews.all(process_id))] == [made, *found]
    assert arun(store.queries.run("check_reviews", {"process_id": process_id})).rows == ()


ODD = "One\r\ntwo\n\nthree\rfour.", "x" * 39 + "\n", "\r\n" * 45, "😀\n" * 21
"""Texts with line breaks, as long as a caption may be, and longer."""

SET_ODD = """
MATCH (x:Span {process_id: $p})
SET x.text = $texts[x.position]
"""


@pytest.mark.engine
def test_captions_of_an_older_graph_are_those_that_we_would_write(
    store: Store, arun: Any, process_id: str, fresh: dict[str, list[str]]
) -> None:
    make_old(store, arun, 2, process_id)
    run(store, arun, SET_ODD, p=process_id, texts=list(ODD))
    for label, text in (("Claim", ODD[1]), ("Sentence", ODD[2]), ("Extraction", ODD[3])):
        run(store, arun, f"MATCH {OURS[label]} SET x.text = $odd", p=process_id, odd=text)
    run(store, arun, f"MATCH {OURS['Verification']} SET x.indicative = true", p=process_id)
    arun(ensure_schema(store.database))
    found = captions(store, arun, process_id)
    assert found["Span"] == {short(text) for text in ODD}
    assert found["Claim"] == {short(ODD[1])}
    assert found["Sentence"] == {short(ODD[2])}
    assert found["Extraction"] == {short(ODD[3])}
    assert found["Verification"] == {"Not Fully Supported (indicative)", "Queued"}
    indicative = {"1: Inconclusive (indicative)", "2: Not Fully Supported (indicative)"}
    assert found["Iteration"] == indicative


CHILD = """
import asyncio, json, sys, time
from veritrail_graph.graph.store.database import Database, DatabaseAddress
from veritrail_graph.graph.store.schema import ensure_schema

def told(what, done):
    print(done, flush=True)
    time.sleep(60 if "hang" in sys.argv else 0)

async def main():
    database = Database(DatabaseAddress(**json.load(sys.stdin)))
    await database.connect()
    await ensure_schema(database, told)
    await database.close()

asyncio.run(main())
"""


def migrating(address: DatabaseAddress, *arguments: str) -> subprocess.Popen[str]:
    """A program of its own that brings the graph up to date."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True,
    )  # fmt: skip
    assert child.stdin is not None
    child.stdin.write(json.dumps(asdict(address)))
    child.stdin.close()
    return child


@pytest.mark.engine
def test_programs_that_migrate_at_once_apply_every_migration_once(
    store: Store, arun: Any, address: DatabaseAddress, process_id: str, fresh: dict[str, list[str]]
) -> None:
    make_old(store, arun, 1, process_id)
    children = [migrating(address) for _ in range(3)]
    for child in children:
        assert child.stdout is not None
        child.stdout.read()
        assert child.wait(60) == 0
        child.stdout.close()
    found = record(store, arun)
    assert found["version"] == SCHEMA_VERSION
    assert len(found["migrations"]) == len(set(found["migrations"]))
    assert len(found["migrations"]) == len(cypher.names("migrations"))
    assert names(store, arun) == fresh


@pytest.mark.engine
def test_what_a_killed_program_left_half_done_is_finished(
    store: Store, arun: Any, address: DatabaseAddress, process_id: str, fresh: dict[str, list[str]]
) -> None:
    make_old(store, arun, 2, process_id)
    child = migrating(address, "hang")
    assert child.stdout is not None
    assert int(child.stdout.readline()) > 0  # it has changed something, and goes no further
    child.kill()
    child.wait()
    child.stdout.close()
    left = record(store, arun)
    assert left["version"] == 2
    assert left["owner"]
    arun(ensure_schema(store.database))
    assert captions(store, arun, process_id) == CAPTIONS
    assert names(store, arun) == fresh
    assert "owner" not in record(store, arun)


@pytest.mark.engine
def test_only_one_of_many_takes_the_schema(store: Store, arun: Any) -> None:
    async def take(number: int) -> int:
        rows = await store.database.write(
            "meta/take_update", owner=f"h/{number}/0", beat=now(), dead_owner=None, dead_beat=None
        )
        return len(rows)

    async def all_at_once() -> list[int]:
        return await asyncio.gather(*(take(number) for number in range(8)))

    try:
        assert sum(arun(all_at_once())) == 1
    finally:
        run(store, arun, "MATCH (m:VeriTrailSchema) REMOVE m.owner, m.beat, m.asked")


@pytest.mark.engine
def test_whoever_comes_while_another_migrates_waits_and_says_so(store: Store, arun: Any) -> None:
    hold = "MATCH (m:VeriTrailSchema) SET m.version = 2, m.owner = $owner, m.beat = $beat"
    run(store, arun, hold, owner=this_writer(), beat=now())
    said: list[str] = []

    async def wait_and_end() -> None:
        waiting = asyncio.create_task(
            ensure_schema(store.database, lambda what, _done: said.append(what))
        )
        await asyncio.sleep(1.0)
        assert not waiting.done()
        await store.database.write("meta/end_update", owner=this_writer(), version=SCHEMA_VERSION)
        await waiting

    arun(wait_and_end())
    assert said
    assert all(what.startswith(WAITING) for what in said)


@pytest.mark.engine
def test_a_writer_without_a_sign_of_life_for_a_minute_is_not_waited_for(
    store: Store, arun: Any
) -> None:
    hold = "MATCH (m:VeriTrailSchema) SET m.version = 2, m.owner = $owner, m.beat = $beat"
    long_ago = (datetime.now(UTC) - timedelta(seconds=90)).isoformat()
    run(store, arun, hold, owner=this_writer(), beat=long_ago)
    arun(ensure_schema(store.database))
    assert record(store, arun)["version"] == SCHEMA_VERSION
