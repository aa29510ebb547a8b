"""Storing, showing, listing, replacing and removing processes, on both engines."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.processes import MemoryInput, process

from veritrail_graph.graph.errors import InvalidProcess, NotFound, ProcessConflict
from veritrail_graph.graph.importers.records import EdgeRecord, NodeRecord
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.processes import ProcessStore

pytestmark = pytest.mark.engine

AWKWARD = ['it\'s "quoted"', "a/b\\c", "😀 é ß", "x'}) DETACH DELETE n //", "$process_id", " "]


def small(name: str) -> MemoryInput:
    return process(
        {"a": "A one. A two.", "b": "B.", "s": "A and B.", "t": "Both."},
        [("a", "s"), ("b", "s"), ("s", "t"), ("b", "t")],
        {"k1": "A is there.", "k2": "B is there."},
        process_id=name,
        name="Small",
        stage_names={1: "source"},
    )


def test_a_stored_process_is_shown_with_its_counts(
    store: Store, arun: Any, process_id: str
) -> None:
    report = arun(ingest(store, small(process_id)))
    found = arun(store.processes.get(process_id))
    assert (report.status, report.claims, report.claims_added) == ("created", 2, 2)
    assert (found.nodes, found.edges, found.claims) == (4, 4, 2)
    assert found.stages == {1: 2, 2: 1, 3: 1}
    assert found.stage_names == {1: "source"}
    assert found.terminals == ("t",)
    assert found.content_hash == report.survey.hash
    assert found.name == "Small"


def test_the_same_content_again_is_unchanged_and_adds_new_claims_only(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(ingest(store, small(process_id)))
    again = small(process_id)
    again.nodes.reverse()
    again.claims.append(process({}, [], {"k3": "New."}).claims[0])
    report = arun(ingest(store, again))
    assert (report.status, report.claims, report.claims_added) == ("unchanged", 3, 1)
    claims = arun(store.claims.all(process_id))
    assert [claim.claim_id for claim in claims] == ["k1", "k2", "k3"]


def test_another_text_under_a_known_claim_id_is_refused(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(ingest(store, small(process_id)))
    other = small(process_id)
    other.claims = process({}, [], {"k1": "Something else."}).claims
    with pytest.raises(ProcessConflict, match="claim_ids"):
        arun(ingest(store, other))
    assert arun(store.claims.all(process_id))[0].text == "A is there."


def test_other_content_needs_replace(store: Store, arun: Any, process_id: str) -> None:
    arun(ingest(store, small(process_id)))
    other = small(process_id)
    other.nodes.append(NodeRecord("extra", "", "nodes extra"))
    other.edges.append(EdgeRecord("extra", "t", "edges extra"))
    with pytest.raises(ProcessConflict, match="with another content"):
        arun(ingest(store, other))
    assert arun(store.processes.get(process_id)).nodes == 4
    report = arun(ingest(store, other, replace=True))
    assert report.status == "replaced"
    assert arun(store.processes.get(process_id)).nodes == 5
    read = arun(store.reading.source_nodes(process_id, ["t"], with_texts=True))
    assert {ref.node_id for ref in read.nodes} == {"s", "b", "extra"}
    assert arun(store.processes.state(store.processes.staged_id(process_id))) is None


def test_a_process_that_breaks_rules_leaves_nothing(
    store: Store, arun: Any, process_id: str
) -> None:
    broken = small(process_id)
    broken.edges.append(EdgeRecord("t", "a", "edges cycle"))
    with pytest.raises(InvalidProcess):
        arun(ingest(store, broken))
    assert arun(store.processes.state(process_id)) is None


def test_a_process_is_deleted_whole(store: Store, arun: Any, process_id: str) -> None:
    arun(ingest(store, small(process_id)))
    arun(store.processes.delete(process_id))
    with pytest.raises(NotFound):
        arun(store.processes.get(process_id))
    with pytest.raises(NotFound):
        arun(store.reading.node(process_id, "t"))
    assert arun(store.claims.all(process_id)) == []
    assert arun(store.reading.texts(process_id, ["a", "t"])) == {}


def test_a_hub_loses_its_edges_before_it_goes(
    store: Store, arun: Any, process_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("veritrail_graph.graph.store.removing.DELETE_BATCH", 3)
    texts = {f"n{number}": "x" for number in range(10)}
    arun(
        ingest(
            store, process({**texts, "t": "T"}, [(n, "t") for n in texts], process_id=process_id)
        )
    )
    assert arun(store.database.read("process/hubs", process_id=process_id, degree=3)) == [("t",)]
    arun(store.processes.delete(process_id))
    assert arun(store.reading.texts(process_id, ["t", *texts])) == {}
    assert arun(store.processes.state(process_id)) is None


def test_a_list_is_read_anew_where_a_process_came_back_meanwhile(
    store: Store, arun: Any, process_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arun(ingest(store, process({"a": "A", "t": "T"}, [("a", "t")], process_id=process_id)))
    read, looks = ProcessStore._ready, list[str]()

    async def hidden_at_first(self: ProcessStore, after: str, limit: int) -> Any:
        looks.append(after)
        return await read(self, after, limit) if len(looks) > 1 else []

    monkeypatch.setattr(ProcessStore, "_ready", hidden_at_first)
    listed = arun(store.processes.page(process_id[:-1], 1_000))
    assert process_id in [one.process_id for one in listed]


def test_processes_are_listed_by_the_page(store: Store, arun: Any, process_id: str) -> None:
    names = [f"{process_id}.{number}" for number in range(3)]
    try:
        for name in names:
            arun(ingest(store, small(name)))
        first = arun(store.processes.page(after=process_id, limit=2))
        rest = arun(store.processes.page(after=first[-1].process_id, limit=1))
        assert [s.process_id for s in (*first, *rest)] == names
        assert first[0].claims == 2
        assert first[0].verdicts == {}
    finally:
        for name in names:
            arun(store.processes.delete(name))


def test_awkward_node_ids_and_texts_come_back_as_they_were(
    store: Store, arun: Any, process_id: str
) -> None:
    texts = {name: f"text of {name}\u0000\u2028'\"\\" for name in AWKWARD}
    arun(
        ingest(
            store,
            process({**texts, "t": "T"}, [(name, "t") for name in AWKWARD], process_id=process_id),
        )
    )
    read = arun(store.reading.source_nodes(process_id, ["t"], with_texts=True))
    assert read.texts == texts
    assert [ref.node_id for ref in read.nodes] == AWKWARD
    assert arun(store.reading.texts(process_id, AWKWARD)) == texts


def test_source_nodes_name_what_they_were_inputs_to(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(ingest(store, small(process_id)))
    read = arun(store.reading.source_nodes(process_id, ["s", "t", "a"], with_texts=False))
    assert {name: set(ids) for name, ids in read.sources.items()} == {
        "s": {"a", "b"},
        "t": {"s", "b"},
        "a": set(),
    }
    assert [(ref.node_id, ref.stage, ref.role.value) for ref in read.nodes] == [
        ("a", 1, "root"),
        ("b", 1, "root"),
        ("s", 2, "intermediate"),
    ]
    assert read.texts == {}


def test_a_frontier_larger_than_one_answer_is_read_whole(
    store: Store, arun: Any, process_id: str
) -> None:
    names = [f"n{number:05}" for number in range(2_345)]
    texts = {name: f"text {name}" for name in names}
    arun(
        ingest(
            store,
            process({**texts, "t": "T"}, [(n, "t") for n in names], process_id=process_id),
        )
    )
    read = arun(store.reading.source_nodes(process_id, ["t"], with_texts=True))
    assert [ref.node_id for ref in read.nodes] == names
    assert read.texts == texts
    before = store.database.calls
    assert arun(store.reading.texts(process_id, names)) == texts
    assert store.database.calls == before + 1


def test_metadata_model_and_prompt_become_properties(
    store: Store, arun: Any, process_id: str
) -> None:
    source = small(process_id)
    source.nodes[2] = NodeRecord(
        "s", "A and B.", "s", kind="summary", step="sum",
        metadata={"model": "m-1", "prompt": "p-1", "page": [1, {"x": None}]},
    )  # fmt: skip
    arun(ingest(store, source))
    rows = arun(
        store.database.run_text(
            "MATCH (s:Span {process_id: $p, node_id: 's'}) "
            "RETURN s.kind, s.step, s.model, s.prompt, s.metadata, s.position",
            {"p": process_id},
            10,
        )
    ).rows
    assert rows == [("summary", "sum", "m-1", "p-1", '{"page":[1,{"x":null}]}', 2)]


def test_citations_stay_on_the_edges(store: Store, arun: Any, process_id: str) -> None:
    source = small(process_id)
    source.edges = [
        EdgeRecord("a", "s", "e", cited=True),
        EdgeRecord("b", "s", "e", cited=False),
        EdgeRecord("s", "t", "e"),
    ]
    arun(ingest(store, source))
    rows = arun(
        store.database.run_text(
            "MATCH (u:Span {process_id: $p})-[r:INPUT_TO]->() RETURN u.node_id AS n, r.cited "
            "ORDER BY n",
            {"p": process_id},
            10,
        )
    ).rows
    assert rows == [("a", True), ("b", False), ("s", None)]


def test_a_process_being_loaded_is_seen_by_nobody(store: Store, arun: Any, process_id: str) -> None:
    from veritrail_graph.graph.ingest import read_and_check

    arun(store.processes.begin(arun(read_and_check(small(process_id)))))
    with pytest.raises(NotFound, match="loading"):
        arun(store.processes.get(process_id))
    assert all(s.process_id != process_id for s in arun(store.processes.page()))
    with pytest.raises(ProcessConflict, match="being written"):
        arun(ingest(store, small(process_id)))
