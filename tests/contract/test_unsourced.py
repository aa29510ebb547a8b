"""Origins and roles in the graph, on both engines: stored, kept by an append, and given later."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes.processes import MemoryInput, process

from veritrail_graph.cypher import load
from veritrail_graph.graph.importers.records import EdgeRecord
from veritrail_graph.graph.ingest import append, ingest
from veritrail_graph.graph.model import Origin
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine


def made(process_id: str) -> MemoryInput:
    source = process(
        {"r": "R.", "u": "U.", "m": "M.", "t": "T."},
        [("r", "t"), ("u", "t"), ("m", "t")],
        process_id=process_id,
    )
    source.nodes[1] = replace(source.nodes[1], origin=Origin.GIVEN)
    source.nodes[2] = replace(source.nodes[2], metadata={"model": "x"})
    source.nodes[3] = replace(source.nodes[3], question="What of R?")
    return source


async def roles(store: Store, process_id: str) -> dict[str, tuple[str, str | None]]:
    found = await store.nodes.get(process_id, ["r", "u", "m", "t"])
    return {node.node_id: (node.role, node.origin) for node in found}


STORED = {
    "r": ("root", "source"),
    "u": ("unsourced", "given"),
    "m": ("unsourced", "generated"),
    "t": ("terminal", "generated"),
}


def test_origin_role_and_question_are_stored_and_grow_with_the_process(
    store: Store, arun: Any, process_id: str
) -> None:
    report = arun(ingest(store, made(process_id)))
    assert report.survey.unsourced == 2
    assert arun(roles(store, process_id)) == STORED
    (node,) = arun(store.nodes.get(process_id, ["t"]))
    assert node.question == "What of R?"
    check = arun(store.queries.run("check_roles", {"process_id": process_id}))
    assert check.rows == []
    # The same again, said in other words.
    again = made(process_id)
    again.nodes[0] = replace(again.nodes[0], origin=Origin.SOURCE)
    assert arun(ingest(store, again)).status == "unchanged"
    assert arun(append(store, again, process_id=process_id)).status == "unchanged"
    # An input that is recorded later makes intermediate text of what had none.
    again.edges.append(EdgeRecord("r", "m", "e"))
    assert arun(append(store, again, process_id=process_id)).survey.unsourced == 1
    assert arun(roles(store, process_id)) == {**STORED, "m": ("intermediate", "generated")}
    assert arun(ingest(store, again)).status == "unchanged"


def test_spans_of_an_earlier_version_get_the_origin_that_follows(
    store: Store, arun: Any, process_id: str
) -> None:
    source = made(process_id)
    source.nodes[1] = replace(source.nodes[1], origin=None)
    arun(ingest(store, source))
    before = (
        "MATCH (s:Span {process_id: $p}) REMOVE s.origin "
        "SET s.role = CASE s.role WHEN 'unsourced' THEN 'root' ELSE s.role END"
    )
    arun(store.database.run_text(before, {"p": process_id}, 1, write=True))
    text = load("migrations/v0006_origins").text
    arun(store.database.run_text(text, {"limit": 100}, 1, write=True))
    assert arun(roles(store, process_id)) == {**STORED, "u": ("root", "source")}
    assert arun(ingest(store, source)).status == "unchanged"
