"""Damage by another program: it is reported, and affects nothing else."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from fakes.processes import process

from veritrail_graph.graph.errors import EngineError, EngineUnavailable, ProcessConflict
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.store import Store, open_store
from veritrail_graph.graph.store.export import StoredProcess
from veritrail_graph.graph.store.schema import SCHEMA_VERSION, ensure_schema
from veritrail_graph.graph.writers import this_writer

pytestmark = pytest.mark.engine

PARTIAL = "CREATE (:Process {process_id: $id, status: 'ready'})"
SPOIL = "MATCH (p:Process) WHERE p.process_id = $id SET p += $spoilt"
RECORD = "MATCH (m:VeriTrailSchema) SET m.version = $version, m.owner = $owner, m.beat = $beat"
# Not `loading`: another test may clean up what no writer holds.
TWICE = "CREATE (:Process {process_id: $id, status: 'ready', note: $note})"


def run(store: Store, arun: Any, text: str, **parameters: Any) -> Any:
    return arun(store.database.run_text(text, parameters, 10, write=True))


def some(process_id: str) -> Any:
    return process({"a": "A", "b": "B"}, [("a", "b")], process_id=process_id)


@pytest.fixture
def second_id(store: Store, arun: Any, process_id: str) -> Iterator[str]:
    """The id that comes right behind `process_id`."""
    name = f"{process_id}-2"
    yield name
    if arun(store.processes.state(name)) is not None:
        arun(store.processes.delete(name))


def test_a_node_that_is_no_process_does_not_cost_the_list(
    store: Store, arun: Any, process_id: str, second_id: str, caplog: pytest.LogCaptureFixture
) -> None:
    run(store, arun, PARTIAL, id=process_id)
    arun(ingest(store, some(second_id)))
    with caplog.at_level(logging.WARNING, logger="veritrail.store"):
        found = arun(store.processes.page(process_id[:-1], limit=1))
    assert [summary.process_id for summary in found] == [second_id]
    assert process_id in caplog.text
    # Whoever gets fewer than they asked for takes them for the last ones.
    third_id = f"{process_id}-3"
    arun(ingest(store, some(third_id)))
    found = arun(store.processes.page(process_id[:-1], limit=2))
    assert [summary.process_id for summary in found] == [second_id, third_id]
    arun(store.processes.delete(third_id))
    with pytest.raises(EngineError, match=f"'{process_id}' is damaged.*no `stage_names`"):
        arun(store.processes.get(process_id))
    with pytest.raises(EngineError, match="is damaged"):
        arun(StoredProcess.open(store.database, process_id))
    arun(store.processes.delete(process_id))
    assert arun(store.processes.state(process_id)) is None


@pytest.mark.parametrize(
    "spoilt",
    [
        {"stage_names": "no json"},
        {"stage_names": "[1]"},
        {"stage_names": '{"x": "y"}'},
        {"stages": [1]},
        {"stages": "1"},
        {"terminals": None},
        {"nodes": "three"},
        {"name": 5},
        {"warnings": 3},
    ],
    ids=str,
)
def test_a_process_that_was_changed_by_others_is_told_as_damaged(
    store: Store, arun: Any, process_id: str, spoilt: dict[str, Any]
) -> None:
    arun(ingest(store, some(process_id)))
    run(store, arun, SPOIL, id=process_id, spoilt=spoilt)
    with pytest.raises(EngineError, match=f"'{process_id}' is damaged"):
        arun(store.processes.get(process_id))


@pytest.fixture
def record(store: Store, arun: Any) -> Iterator[None]:
    yield
    run(store, arun, RECORD, version=SCHEMA_VERSION, owner=None, beat=None)


@pytest.mark.usefixtures("record")
@pytest.mark.parametrize("version", ["three", None, 2.5, True], ids=str)
def test_a_version_that_is_no_number_is_told(store: Store, arun: Any, version: Any) -> None:
    run(store, arun, RECORD, version=version, owner=None, beat=None)
    with pytest.raises(EngineError, match=r"VeriTrailSchema.*not a number"):
        arun(ensure_schema(store.database))
    run(store, arun, RECORD, version=0, owner=None, beat=None)  # what the message advises
    arun(ensure_schema(store.database))


@pytest.mark.usefixtures("record")
@pytest.mark.parametrize("beat", ["yesterday", "2026-11-21T10:00:00", 5], ids=str)
def test_a_sign_of_life_that_is_no_time_is_that_of_a_dead_one(
    store: Store, arun: Any, beat: Any
) -> None:
    run(store, arun, RECORD, version=2, owner=this_writer(), beat=beat)
    arun(ensure_schema(store.database))
    rows = arun(store.database.read("meta/schema_state"))
    assert rows == [(SCHEMA_VERSION, None, None)]


def test_what_is_there_already_is_named_with_what_to_do(
    store: Store, arun: Any, process_id: str
) -> None:
    run(store, arun, TWICE, id=process_id, note="one")
    with pytest.raises(ProcessConflict) as told:
        run(store, arun, TWICE, id=process_id, note="two")
    for words in ("Process with", "process_id", process_id, "cleaned up"):
        assert words in str(told.value)


def test_the_database_of_neo4j_itself_is_told_by_its_setting(store: Store, arun: Any) -> None:
    if "ArcadeDB" in store.database.agent:
        pytest.skip("it has no database of its own")

    async def enter() -> None:
        async with open_store(replace(store.database.address, database="system")):
            pass

    with pytest.raises(EngineUnavailable, match=r"system.*own records.*NEO4J_DATABASE"):
        arun(enter())
