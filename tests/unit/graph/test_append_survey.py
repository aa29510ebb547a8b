"""An input that is appended: checked together with what is stored, as if both had come at once."""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import Any

import pytest
from fakes.dag import Dag, dags
from fakes.processes import MemoryInput, process
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.graph.errors import InvalidProcess
from veritrail_graph.graph.importers.records import EdgeRecord, NodeRecord
from veritrail_graph.graph.ingest.check import Survey, survey
from veritrail_graph.graph.ingest.topology import StoredShape
from veritrail_graph.graph.model import Role


def stored(found: Survey) -> StoredShape:
    """What would be read of a process that was just ingested."""
    header = replace(
        found.header,
        process_id=found.process_id,
        name=found.header.name or found.process_id,
        terminals=found.terminals,
        warnings=found.warnings,
    )
    return StoredShape(
        header,
        found.hash,
        found.topology,
        found.digests,
        array("L", found.lengths),
        len(found.digests),
    )


def base(**header: Any) -> MemoryInput:
    return process(
        {"a": "A.", "b": "B.", "s": "A and B.", "t": "Both."},
        [("a", "s"), ("b", "s"), ("s", "t")],
        process_id="p",
        **header,
    )


def appended(source: MemoryInput, onto: MemoryInput | None = None) -> Survey:
    return survey(source, onto=stored(survey(onto or base())))


def kinds(source: MemoryInput, onto: MemoryInput | None = None) -> list[str]:
    with pytest.raises(InvalidProcess) as told:
        appended(source, onto)
    return [violation.kind for violation in told.value.violations]


def part(dag: Dag, nodes: set[str], edges: set[tuple[str, str]], *, stages: bool) -> MemoryInput:
    made = process({name: f"Text of {name}." for name in sorted(nodes)}, sorted(edges))
    if stages:
        made.nodes = [
            NodeRecord(node.node_id, node.text, node.where, stage=dag.refs[node.node_id].stage)
            for node in made.nodes
        ]
    return made


@given(dags(), st.data(), st.booleans())
def test_the_whole_has_the_hash_of_one_ingest_of_both(
    drawn: tuple[Dag, str], data: st.DataObject, given_stages: bool
) -> None:
    dag, _ = drawn
    names = list(dag.sources)  # sources stand before what was made from them
    first = set(names[: data.draw(st.integers(1, len(names)))])
    inner = {edge for edge in dag.edges if set(edge) <= first}
    if len(first) > 1 and not inner:
        return
    try:
        before = survey(part(dag, first, inner, stages=given_stages))
    except InvalidProcess:
        return
    if any(source in before.terminals for source, _ in dag.edges - inner):
        return  # a terminal stays one: that such an input is refused is tested below
    again = set(data.draw(st.sets(st.sampled_from(sorted(first)))))  # it may repeat what is there
    new = set(names) - first
    more = part(dag, new | again, dag.edges - inner, stages=given_stages)
    whole = part(dag, set(names), dag.edges, stages=given_stages)
    found = survey(more, onto=stored(before))
    whole.header = whole.header.__class__("memory", terminals=found.terminals)
    at_once = survey(whole)
    assert found.hash == at_once.hash
    assert dict(zip(found.topology.ids, found.topology.stages, strict=True)) == dict(
        zip(at_once.topology.ids, at_once.topology.stages, strict=True)
    )
    assert dict(zip(found.topology.ids, found.roles, strict=True)) == dict(
        zip(at_once.topology.ids, at_once.roles, strict=True)
    )
    assert found.topology.ids[: len(first)] == before.topology.ids  # what is stored keeps its place


def test_a_later_question_adds_its_terminal_beside_the_stored_one() -> None:
    found = appended(process({"u": "Else."}, [("s", "u")], {"k": "A claim."}))
    assert found.terminals == ("t", "u")
    assert [claim.node_id for claim in found.claims] == ["u"]
    assert dict(zip(found.topology.ids, found.roles, strict=True)) == {
        "a": Role.ROOT, "b": Role.ROOT, "s": Role.INTERMEDIATE, "t": Role.TERMINAL,
        "u": Role.TERMINAL,
    }  # fmt: skip


def test_the_same_again_changes_nothing() -> None:
    onto = survey(base())
    assert survey(base(), onto=stored(onto)).hash == onto.hash


def test_what_is_stored_with_another_content_is_named_with_all_other_faults() -> None:
    source = process({"a": "Not A.", "x": "X."}, [("t", "x"), ("x", "y"), ("x", "x")])
    assert sorted(kinds(source)) == [
        "duplicate_node_id", "self_loop", "terminal_with_outgoing_edge", "unknown_node",
    ]  # fmt: skip


def test_a_cycle_through_stored_nodes_is_refused() -> None:
    assert "cycle" in kinds(process({"x": "X."}, [("s", "x"), ("x", "a")]))


def test_stages_that_were_given_are_asked_for() -> None:
    onto = base()
    onto.nodes = [
        NodeRecord(n.node_id, n.text, n.where, stage=5 * place) for place, n in
        zip((0, 0, 1, 2), onto.nodes, strict=True)
    ]  # fmt: skip
    assert kinds(process({"u": "U."}, [("s", "u")]), onto) == ["stages_incomplete"]
    source = process({}, [("s", "u")])
    source.nodes = [NodeRecord("u", "U.", "u", stage=7)]
    assert list(appended(source, onto).topology.stages) == [0, 0, 5, 10, 7]
    source.nodes = [NodeRecord("u", "U.", "u", stage=3)]
    assert "stage_order" in kinds(source, onto)


def test_a_stored_root_may_get_source_nodes_as_long_as_the_rules_hold() -> None:
    found = appended(process({"z": "Z."}, [("z", "a")]))
    assert found.roles[found.topology.numbers["a"]] is Role.INTERMEDIATE
    assert found.topology.stages[found.topology.numbers["t"]] == 4


def test_a_claim_of_what_became_no_root_and_one_of_a_root() -> None:
    source = process({"z": "Z."}, [("z", "a")])
    source.claims = process({}, [], {"k": "K."}).claims
    assert [claim.node_id for claim in appended(source).claims] == ["t"]


def test_another_name_of_a_stored_stage_is_refused() -> None:
    onto = base(stage_names={1: "chunk"})
    more = process({"u": "U."}, [("s", "u")], stage_names={1: "leaf", 2: "summary"})
    assert kinds(more, onto) == ["stage_name"]
    more = process({"u": "U."}, [("s", "u")], stage_names={1: "chunk", 2: "summary"})
    assert appended(more, onto).header.stage_names == {1: "chunk", 2: "summary"}


def test_a_citation_that_is_learnt_later_counts_for_the_stored_edge() -> None:
    source = process({}, [])
    source.edges = [EdgeRecord("a", "s", "e", cited=True)]
    found = appended(source)
    whole = base()
    whole.edges[0] = EdgeRecord("a", "s", "e", cited=True)
    assert found.hash == survey(whole).hash != survey(base()).hash
