"""The content hash: the same for the same process, another for every other one."""

from __future__ import annotations

import random
from copy import deepcopy

import pytest
from fakes.dag import Dag, dags
from fakes.process_files import Records, as_lines, document, edges, nodes, read
from hypothesis import given, settings
from hypothesis import strategies as st

from veritrail_graph.graph.content_hash import derived_claim_id, derived_process_id
from veritrail_graph.graph.importers.records import EdgeRecord, NodeRecord
from veritrail_graph.graph.ingest.check import survey

STAGED = document(
    nodes=[{**node, "metadata": {"page": 3, "model": "m"}} for node in nodes(c1=1, c2=1, s=2, t=3)],
    stages={"1": "chunk"},
    terminals=["t"],
)
HASH = "66da172cc5af66b7"


def records_of(dag: Dag) -> list[NodeRecord | EdgeRecord]:
    made: list[NodeRecord | EdgeRecord] = [
        NodeRecord(name, f"Text of {name}.", "", ref.stage) for name, ref in dag.refs.items()
    ]
    return made + [EdgeRecord(source, target, "") for source, target in sorted(dag.edges)]


@settings(max_examples=30)
@given(dags(), st.integers(0, 2**32))
def test_the_order_of_nodes_and_edges_does_not_matter(case, seed):
    records = records_of(case[0])
    mixed = records[:]
    random.Random(seed).shuffle(mixed)
    assert survey(Records.of(mixed)).hash == survey(Records.of(records)).hash


@settings(max_examples=30)
@given(dags(), st.data())
def test_any_edge_more_or_less_is_another_process(case, data):
    dag = case[0]
    records = records_of(dag)
    known = survey(Records.of(records)).hash
    names = sorted(dag.refs, key=lambda name: dag.refs[name].stage)
    removable = [
        record
        for record in records
        if isinstance(record, EdgeRecord) and len(dag.sources[record.target]) > 1
    ]
    if removable:
        less = data.draw(st.sampled_from(removable))
        without = [record for record in records if record is not less]
        assert survey(Records.of(without)).hash != known
    more = EdgeRecord(names[0], names[-1], "")
    if (more.source, more.target) not in dag.edges and dag.sources[more.target]:
        assert survey(Records.of([*records, more])).hash != known


def changed(change) -> str:
    made = deepcopy(STAGED)
    change(made)
    return read(made).hash


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["nodes"][0].update(text="Another text."),
        lambda d: d["nodes"][0].update(text=d["nodes"][0]["text"] + " "),
        lambda d: d["nodes"][0].update(kind="chunk"),
        lambda d: d["nodes"][0].update(step="chunk"),
        lambda d: d["nodes"][0]["metadata"].update(page=4),
        lambda d: d["nodes"][0]["metadata"].update(page="3"),
        lambda d: d["nodes"][0]["metadata"].update(model="n"),
        lambda d: d["nodes"][3].update(stage=4),
        lambda d: d["nodes"].append({"node_id": "u", "text": "", "stage": 1}),
        lambda d: d["edges"].append({"source": "c1", "target": "t"}),
        lambda d: d["edges"].pop(0) and d["edges"].append({"source": "c1", "target": "t"}),
        lambda d: d["edges"][0].update(cited=True),
        lambda d: d["edges"][0].update(cited=False),
        lambda d: d.update(stages={"1": "part"}),
    ],
)
def test_nodes_edges_and_stages_count(change):
    assert changed(change) != read(STAGED).hash


def test_which_of_two_sinks_is_the_terminal_counts():
    made = document(nodes=nodes("r", "x", "y"), edges=edges("r x", "r y"), claims=[])
    hashes = {read({**made, "terminals": named}).hash for named in (["x"], ["y"], ["x", "y"])}
    assert len(hashes) == 3
    assert read({**made, "terminals": ["y", "x", "y"]}).hash in hashes
    assert read(made).hash == read({**made, "terminals": ["x", "y"]}).hash


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("claims"),
        lambda d: d["claims"][0].update(text="Another claim."),
        lambda d: d.update(name="Another name"),
        lambda d: d.update(question="Another question?"),
        lambda d: d.update(process_id="another"),
        lambda d: d["nodes"].reverse(),
        lambda d: d["edges"].reverse(),
        lambda d: d["edges"].append(d["edges"][0]),
        lambda d: d["nodes"].append(d["nodes"][0]),
        lambda d: d.pop("terminals"),
        lambda d: [node.pop("stage") for node in d["nodes"]],  # the derived ones are the same
        lambda d: d["nodes"][0].update(metadata={"model": "m", "page": 3}),
    ],
)
def test_claims_names_questions_and_orders_do_not_count(change):
    assert changed(change) == read(STAGED).hash


def test_the_hash_of_a_process_never_changes_between_versions():
    assert read(STAGED).hash.startswith(HASH)
    assert read(as_lines(STAGED), "process.jsonl").hash.startswith(HASH)


def test_no_two_ids_and_edges_run_into_each_other():
    one = document(nodes=nodes("a", "ab", "c"), edges=edges("a c", "ab c"), claims=[])
    two = document(nodes=nodes("a", "ab", "c"), edges=edges("a ab", "ab c"), claims=[])
    assert read(one).hash != read(two).hash


def test_an_id_that_is_not_given_follows_from_the_content():
    found = read(document(process_id=None, claims=[{"text": "The tide went out."}]))
    assert found.process_id == derived_process_id(found.hash) == f"p-{found.hash[:16]}"
    (claim,) = found.claims
    assert claim.claim_id == derived_claim_id("t", "The tide went out.")
    assert claim.claim_id != derived_claim_id("s", "The tide went out.")
    assert claim.claim_id != derived_claim_id("t", "The tide came in.")
    assert derived_claim_id("a", "bc") != derived_claim_id("ab", "c")
