"""The way from a process to its final outputs, and from there to every span they are made from."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.processes import process

from veritrail_graph.cypher import names
from veritrail_graph.graph.ingest import append, ingest
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine

OUTPUTS = (
    "MATCH (p:Process {process_id: $p})-[:HAS_FINAL_OUTPUT]->(t:Span) "
    "RETURN t.node_id ORDER BY t.node_id"
)


def reached(store: Store, arun: Any, process_id: str, text: str = OUTPUTS) -> list[str]:
    rows = arun(store.database.run_text(text, {"p": process_id}, 99)).rows
    return [name for (name,) in rows]


def replaced(store: Store, arun: Any, process_id: str) -> None:
    first = process({"a": "A.", "t": "T."}, [("a", "t")], process_id=process_id)
    second = process(
        {"a": "A.", "t": "T.", "u": "U."}, [("a", "t"), ("a", "u")], process_id=process_id
    )
    arun(ingest(store, first))
    arun(ingest(store, second, replace=True))


def appended(store: Store, arun: Any, process_id: str) -> None:
    arun(ingest(store, process({"a": "A.", "t": "T."}, [("a", "t")], process_id=process_id)))
    arun(append(store, process({"u": "U."}, [("a", "u")]), process_id=process_id))


@pytest.mark.parametrize("make", [replaced, appended])
def test_a_process_leads_to_what_it_produced_however_that_was_stored(
    store: Store, arun: Any, process_id: str, make: Any
) -> None:
    make(store, arun, process_id)
    assert reached(store, arun, process_id) == ["t", "u"]
    behind = (
        "MATCH (:Process {process_id: $p})-[:HAS_FINAL_OUTPUT]->()<-[:INPUT_TO*]-(s) "
        "RETURN DISTINCT s.node_id"
    )
    assert reached(store, arun, process_id, behind) == ["a"]


def test_processes_of_an_earlier_version_are_led_to_theirs(
    store: Store, arun: Any, process_id: str
) -> None:
    replaced(store, arun, process_id)
    gone = "MATCH (:Process {process_id: $p})-[x:HAS_FINAL_OUTPUT]->() DELETE x"
    arun(store.database.run_text(gone, {"p": process_id}, 1, write=True))
    (name,) = (name for name in names("migrations") if "/v0010_" in name)
    assert arun(store.database.write(name, limit=1)) == [(1,)]  # and there it was killed
    while arun(store.database.write(name, limit=1000)) != [(0,)]:
        pass
    assert reached(store, arun, process_id) == ["t", "u"]
