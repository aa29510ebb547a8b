"""The schema: made by one program at a time, again after a kill, and changed by a migration."""

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
from fakes.processes import process
from filelock import FileLock

from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import EngineError
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.store import DatabaseAddress, Store
from veritrail_graph.graph.store.schema import SCHEMA_VERSION, WAITING, ensure_schema
from veritrail_graph.graph.writers import this_writer

pytestmark = pytest.mark.engine

HOLD = "MATCH (m:VeriTrailSchema) SET m.version = 0, m.owner = $owner, m.beat = $beat"
MIGRATION = """// purpose: Give spans a mark.
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (s:Span {process_id: 'PROCESS'})
WHERE s.mark IS NULL
WITH s LIMIT $limit
SET s.mark = 'marked'
RETURN count(s) AS done
"""
NEXT = SCHEMA_VERSION + 1
CHILD = """
import asyncio, json, pathlib, sys, time
from veritrail_graph import cypher
from veritrail_graph.graph.store import schema
from veritrail_graph.graph.store.database import Database, DatabaseAddress

schema.SCHEMA_VERSION += 1
schema._FIRST_ROWS = 1
cypher.ROOTS.append(pathlib.Path(sys.argv[1]))

def report(what, done):
    print(done, flush=True)
    time.sleep(60 if "hang" in sys.argv else 0)

async def main():
    database = Database(DatabaseAddress(**json.load(sys.stdin)))
    await database.connect()
    await schema.ensure_schema(database, report)
    await database.close()

asyncio.run(main())
"""


def run(store: Store, arun: Any, text: str, **parameters: Any) -> list[tuple[Any, ...]]:
    return list(arun(store.database.run_text(text, parameters, 10_000, write=True)).rows)


def record(store: Store, arun: Any) -> dict[str, Any]:
    """The one record of the schema."""
    ((found,),) = run(store, arun, "MATCH (m:VeriTrailSchema) RETURN properties(m)")
    return dict(found)


def names(store: Store, arun: Any) -> set[str]:
    """Our constraints and indexes."""
    shown = [
        *run(store, arun, "SHOW CONSTRAINTS YIELD name RETURN name"),
        *run(store, arun, "SHOW INDEXES YIELD name RETURN name"),
    ]
    return {name for (name,) in shown if name.startswith("veritrail_")}


def migrating(address: DatabaseAddress, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """A program of the next version that brings the graph up to date."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdin is not None
    child.stdin.write(json.dumps(asdict(address)))
    child.stdin.close()
    return child


@pytest.fixture
def restored(store: Store, arun: Any, schema_lock: FileLock) -> Iterator[None]:
    """Give the graph this program's version again afterwards; meanwhile no store is opened."""
    reset = "MATCH (m:VeriTrailSchema) REMOVE m.owner, m.beat, m.asked SET m.version = 0"
    with schema_lock:
        yield
        run(store, arun, reset)
        arun(ensure_schema(store.database))


@pytest.fixture
def next_version(
    store: Store, arun: Any, process_id: str, tmp_path: Path, restored: None
) -> Iterator[Path]:
    """A folder with a migration of the next version, and four spans for it to change."""
    edges = [("a", "d"), ("b", "d"), ("c", "d")]
    texts = {name: f"{name}." for name in "abcd"}
    arun(ingest(store, process(texts, edges, process_id=process_id)))
    folder = tmp_path / "migrations"
    folder.mkdir()
    text = MIGRATION.replace("PROCESS", process_id)
    (folder / f"v{NEXT:04}_mark_spans.cypher").write_text(text, encoding="utf-8")
    return tmp_path


def marks(store: Store, arun: Any, process_id: str) -> int:
    text = "MATCH (s:Span {process_id: $p, mark: 'marked'}) RETURN count(s)"
    return int(run(store, arun, text, p=process_id)[0][0])


def test_a_graph_that_is_up_to_date_costs_one_read(store: Store, arun: Any) -> None:
    before = store.database.calls
    arun(ensure_schema(store.database))
    assert store.database.calls == before + 1
    assert record(store, arun) == {"name": "veritrail", "version": SCHEMA_VERSION}


def test_a_graph_without_a_record_gets_every_constraint_and_index(
    store: Store, arun: Any, restored: None
) -> None:
    before = names(store, arun)
    run(store, arun, "MATCH (m:VeriTrailSchema) DELETE m")
    for kind, name in (
        ("CONSTRAINT", "veritrail_review_key"),
        ("INDEX", "veritrail_claim_process"),
    ):
        run(store, arun, f"DROP {kind} {name} IF EXISTS")
    assert names(store, arun) < before
    arun(ensure_schema(store.database))
    assert names(store, arun) == before


def test_a_graph_of_a_newer_version_is_refused(store: Store, arun: Any, restored: None) -> None:
    run(store, arun, "MATCH (m:VeriTrailSchema) SET m.version = $v", v=NEXT)
    with pytest.raises(EngineError, match="Update veritrail-graph"):
        arun(ensure_schema(store.database))


def test_two_programs_at_once_apply_a_migration_that_one_began_and_was_killed_in(
    store: Store, arun: Any, address: DatabaseAddress, process_id: str, next_version: Path
) -> None:
    killed = migrating(address, next_version, "hang")
    assert killed.stdout is not None
    assert int(killed.stdout.readline()) == 1  # one span is changed, three are not
    killed.kill()
    killed.wait()
    killed.stdout.close()
    assert marks(store, arun, process_id) == 1
    left = record(store, arun)
    assert (left["version"], bool(left["owner"])) == (SCHEMA_VERSION, True)
    said = []
    children = [migrating(address, next_version) for _ in range(2)]
    for child in children:
        assert child.stdout is not None
        said += [int(line) for line in child.stdout.read().split()]
        assert child.wait(60) == 0
        child.stdout.close()
    assert marks(store, arun, process_id) == 4
    assert max(said) == 3  # one of the two changed what was left; the other waited
    assert record(store, arun) == {"name": "veritrail", "version": NEXT}


def test_only_one_of_many_takes_the_schema(store: Store, arun: Any, restored: None) -> None:
    async def take(number: int) -> int:
        rows = await store.database.write(
            "meta/take_schema", owner=f"h/{number}/0", beat=now(), dead_owner=None, dead_beat=None
        )
        return len(rows)

    async def all_at_once() -> list[int]:
        return await asyncio.gather(*(take(number) for number in range(8)))

    assert sum(arun(all_at_once())) == 1


def test_a_program_waits_while_another_changes_the_schema_and_says_so(
    store: Store, arun: Any, restored: None
) -> None:
    run(store, arun, HOLD, owner=this_writer(), beat=now())
    said: list[str] = []

    async def wait_and_end() -> None:
        waiting = asyncio.create_task(
            ensure_schema(store.database, lambda what, _done: said.append(what))
        )
        await asyncio.sleep(1.0)
        assert not waiting.done()
        await store.database.write(
            "meta/release_schema", owner=this_writer(), version=SCHEMA_VERSION
        )
        await waiting

    arun(wait_and_end())
    assert said
    assert all(what.startswith(WAITING) for what in said)


def test_a_writer_without_a_sign_of_life_for_a_minute_is_not_waited_for(
    store: Store, arun: Any, restored: None
) -> None:
    long_ago = (datetime.now(UTC) - timedelta(seconds=90)).isoformat()
    run(store, arun, HOLD, owner=this_writer(), beat=long_ago)
    arun(ensure_schema(store.database))
    assert record(store, arun)["version"] == SCHEMA_VERSION
