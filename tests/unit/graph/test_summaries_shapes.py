"""Running summaries, RAPTOR trees, and summaries with the claims of human readers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from veritrail_graph.graph.errors import InputError, InvalidProcess
from veritrail_graph.graph.importers.records import ClaimRecord, EdgeRecord, NodeRecord
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.importers.summaries import SummariesImporter
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Origin


def found_in(tmp_path, value, format_name=None):
    path = tmp_path / "summaries.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    assert format_name or SummariesImporter().detect(path) is None
    return list(find_processes(path, format_name=format_name))


def read(tmp_path, value, format_name=None):
    (found,) = found_in(tmp_path, value, format_name)
    return found.open()


def graph_of(process):
    records = list(process.records())
    nodes = {r.node_id: r for r in records if isinstance(r, NodeRecord)}
    edges = {(r.source, r.target) for r in records if isinstance(r, EdgeRecord)}
    assert all(r.inferred is None for r in records if isinstance(r, EdgeRecord))
    return nodes, edges


STEPS = [{"chunk": f"Chunk {n}.", "summary": f"Summary up to {n}."} for n in range(3)]
CHAIN = {
    ("chunk/0", "summary/0"),
    ("chunk/1", "summary/1"),
    ("chunk/2", "summary/2"),
    ("summary/0", "summary/1"),
    ("summary/1", "summary/2"),
}


def test_a_step_reads_its_chunk_and_the_summary_before_it(tmp_path):
    process = read(tmp_path, STEPS)
    nodes, edges = graph_of(process)
    assert edges == CHAIN
    assert {name: node.stage for name, node in nodes.items() if node.kind == "summary"} == {
        "summary/0": 2,
        "summary/1": 3,
        "summary/2": 4,
    }
    assert {n.origin for n in nodes.values() if n.kind == "chunk"} == {Origin.SOURCE}
    assert process.header.terminals == ("summary/2",)
    assert process.header.warnings == ()
    assert process.header.stage_names[3] == "summary after step 1"
    assert survey(process).terminals == ("summary/2",)


def test_steps_may_stand_on_lines_under_a_key_or_by_name(tmp_path):
    path = tmp_path / "steps.jsonl"
    path.write_text("\n".join(map(json.dumps, STEPS)), encoding="utf-8")
    (found,) = find_processes(path)
    assert graph_of(found.open())[1] == CHAIN
    whole = {"steps": STEPS, "name": "Weir", "final": "Done.", "model": "m"}
    process = read(tmp_path, whole)
    nodes, edges = graph_of(process)
    assert edges == {*CHAIN, ("summary/2", "final")}
    assert (process.header.name, process.header.terminals) == ("Weir", ("final",))
    assert nodes["final"].metadata == {"model": "m"}
    assert process.header.warnings == ()
    first, second = found_in(tmp_path, {"a": STEPS, "b": {"steps": STEPS}})
    assert (first.open().header.name, second.open().header.name) == ("a", "b")


def test_a_step_that_changes_nothing_makes_no_node(tmp_path):
    same = {"chunk": "Nothing new.", "summary": STEPS[0]["summary"]}
    process = read(tmp_path, [STEPS[0], same, STEPS[2]])
    nodes, edges = graph_of(process)
    assert "summary/1" not in nodes
    assert ("summary/0", "summary/2") in edges
    assert nodes["summary/2"].stage == 3
    (warning,) = process.header.warnings
    assert "1 step(s) left the summary unchanged" in warning
    assert survey(process).terminals == ("summary/2",)


def test_a_step_may_have_several_chunks_or_none(tmp_path):
    steps = [{"chunk": ["A.", {"text": "B.", "page": 2}], "summary": "AB."}, {"summary": "C."}]
    process = read(tmp_path, steps)
    nodes, edges = graph_of(process)
    assert edges == {
        ("chunk/0.0", "summary/0"),
        ("chunk/0.1", "summary/0"),
        ("summary/0", "summary/1"),
    }
    assert nodes["chunk/0.1"].metadata == {"page": 2}
    (warning,) = process.header.warnings
    assert "1 step(s) have no chunk" in warning


def test_summaries_without_chunks_are_read_where_the_format_is_named(tmp_path):
    made = {"mill.epub": ["First.", "Second.", "Third."], "weir.epub": ["Only."]}
    path = tmp_path / "summaries.json"
    path.write_text(json.dumps(made))
    assert SummariesImporter().detect(path) is not None
    first, second = (one.open() for one in found_in(tmp_path, made, "summaries"))
    nodes, edges = graph_of(first)
    assert edges == {("summary/0", "summary/1"), ("summary/1", "summary/2")}
    assert {n.origin for n in nodes.values()} == {Origin.GENERATED}
    assert survey(first).unsourced == 1
    assert "The chunks are absent" in first.header.warnings[0]
    assert first.header.name == "mill.epub"
    assert survey(second).terminals == ("summary/0",)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ([STEPS[0], {"chunk": "A."}], "step 1: a step needs a string under `summary`"),
        ([STEPS[0], 4], "step 1: a step must be an object"),
        ([STEPS[0], {"chunk": 3, "summary": "A."}], "step 1, chunk: a list of texts is needed"),
        ({"a": STEPS, "b": []}, "#b: no summaries.*this is a list"),
    ],
)
def test_steps_that_cannot_be_read(tmp_path, made, said):
    with pytest.raises(InputError, match=said):
        found_in(tmp_path, made)[-1].open()


def test_a_line_that_is_no_json_fails_the_steps(tmp_path):
    path = tmp_path / "steps.jsonl"
    path.write_text(json.dumps(STEPS[0]) + "\n{\n", encoding="utf-8")
    (found,) = find_processes(path)
    with pytest.raises(InputError, match="line 2"):
        found.open()


def node(index, text, *children, **more):
    return {"index": index, "text": text, "children": list(children), "embeddings": {}, **more}


def tree(*nodes, **more):
    return {"all_nodes": {str(one["index"]): one for one in nodes}, **more}


SMALL = (
    node(0, "A."), node(1, "B."), node(2, "C."),
    node(3, "AB.", 0, 1), node(4, "BC.", 1, 2), node(5, "ABC.", 3, 4),
)  # fmt: skip


def test_a_tree_names_its_edges_and_its_leaves_are_the_source(tmp_path):
    process = read(tmp_path, tree(*SMALL, model="m", num_layers=2))
    nodes, edges = graph_of(process)
    assert edges == {
        (f"node/{s}", f"node/{t}") for s, t in ((0, 3), (1, 3), (1, 4), (2, 4), (3, 5), (4, 5))
    }
    assert [n.stage for n in nodes.values()] == [1, 1, 1, 2, 2, 3]
    assert [n.origin is Origin.SOURCE for n in nodes.values()] == [True] * 3 + [False] * 3
    assert nodes["node/5"].metadata == {"model": "m"}
    assert nodes["node/0"].metadata == {}
    assert process.header.terminals == ("node/5",)
    assert process.header.stage_names == {1: "leaf", 2: "layer 1", 3: "layer 2"}
    assert process.header.warnings == ()
    assert survey(process).terminals == ("node/5",)


def test_trees_as_jsonpickle_writes_them_and_as_lists(tmp_path):
    pickled = {
        "py/object": "raptor.tree_structures.Tree",
        "all_nodes": {
            str(one["index"]): {
                **one, "py/object": "Node", "children": {"py/set": one["children"]}
            }
            for one in SMALL
        },
        "root_nodes": [{"py/id": 7}],
        "layer_to_nodes": {"0": [{"py/id": 2}]},
    }  # fmt: skip
    for made in (pickled, {"tree": tree(*SMALL)}, {"all_nodes": list(SMALL)}):
        process = read(tmp_path, made)
        nodes, edges = graph_of(process)
        assert (len(nodes), len(edges)) == (6, 6)
        assert process.header.terminals == ("node/5",)
        assert nodes["node/3"].metadata == {}


def test_roots_and_nodes_that_lead_nowhere(tmp_path):
    made = tree(*SMALL[:5], node(7, "Left over."), leaf_nodes={"0": 0, "1": 1, "2": 2})
    process = read(tmp_path, {**made, "root_nodes": [3, 4]})
    assert process.header.terminals == ("node/3", "node/4")
    several, left = process.header.warnings
    assert "2 roots" in several
    assert "'node/7'" in left
    assert survey(process).unsourced == 1  # it has no children and is none of the leaves
    assert read(tmp_path, made).header.terminals == ("node/3", "node/4")
    one = read(tmp_path, {**made, "root_nodes": {"3": {}}})
    assert one.header.terminals == ("node/3",)


def test_a_node_that_repeats_its_only_child_is_the_same_node(tmp_path):
    made = tree(*SMALL[:3], node(3, "A.", 0), node(4, "A.", 3), node(5, "All.", 4, 1, 2))
    process = read(tmp_path, made)
    nodes, edges = graph_of(process)
    assert set(nodes) == {"node/0", "node/1", "node/2", "node/5"}
    assert edges == {(f"node/{n}", "node/5") for n in range(3)}
    assert survey(process).terminals == ("node/5",)


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([node(0, "A."), node(1, "B.", 0, 9)], "there is no node 9"),
        ([node(0, "A."), node(1, "B.", 1)], "node 1 is a child of itself"),
        ([node(0, "A."), {**node(1, "B."), "text": None}], r"all_nodes\[1\]: a text must be"),
        ([node(0, "A."), {**node(1, "B."), "children": "0"}], "whole number"),
        ([node(0, "A."), node(0, "B.")], "another node has the index 0"),
        ([node(0, "A."), {**node(0, "B."), "index": "x"}], "index of a node must be"),
        ([node(0, "A."), 3], "a node must be an object"),
    ],
)
def test_trees_that_cannot_be_read(tmp_path, nodes, said):
    with pytest.raises(InputError, match=said):
        read(tmp_path, {"all_nodes": nodes})


def test_a_cycle_is_found_at_ingest(tmp_path):
    for text in ("B.", "A."):
        made = {"all_nodes": [node(0, "A.", 1), node(1, text, 0)]}
        with pytest.raises(InvalidProcess) as failed:
            survey(read(tmp_path, made))
        assert {one.kind for one in failed.value.violations} == {"cycle"}


LABELLED = {
    "summary": "The mill burnt in May. Nobody was hurt.",
    "general_comment": "Short.",
    "claims": {
        "0": {"claim": "The mill burnt.", "label": "Yes", "evidence": ["smoke"], "reason": []},
        "1": {"claim": "In May.", "label": "PartialSupport", "evidence": [], "reason": ["June"]},
        "2": {"claim": "Somebody was hurt.", "label": "No", "evidence": [], "reason": []},
        "3": {"claim": "It was a pity.", "label": "Inapplicable", "evidence": [], "reason": []},
    },
}


@pytest.mark.parametrize("wrapped", [True, False])
def test_summaries_by_book_and_model_keep_claims_and_labels(tmp_path, wrapped):
    made = {"The Mill": {"M-1": LABELLED, "M-2": {**LABELLED, "claims": {}}}}
    found = found_in(tmp_path, {"canary": "x", "FABLES": made} if wrapped else made)
    assert [one.where.partition("#")[2] for one in found] == ["The Mill/M-1", "The Mill/M-2"]
    process = found[0].open()
    claims = [r for r in process.records() if isinstance(r, ClaimRecord)]
    assert [(c.claim_id, c.node_id, c.label) for c in claims] == [
        ("0", "final", "FULLY_SUPPORTED"),
        ("1", "final", "NOT_FULLY_SUPPORTED"),
        ("2", "final", "NOT_FULLY_SUPPORTED"),
        ("3", "final", "INCONCLUSIVE"),
    ]
    nodes, edges = graph_of(process)
    assert edges == set()
    metadata = nodes["final"].metadata
    assert (metadata["model"], metadata["general_comment"]) == ("M-1", "Short.")
    assert metadata["annotations"]["1"]["label"] == "PartialSupport"
    assert process.header.name == "The Mill (M-1)"
    assert "nothing to verify them against" in process.header.warnings[0]
    assert survey(process).unsourced == 1


def test_claims_can_be_joined_to_the_levels_that_they_came_from(tmp_path):
    made = {**LABELLED, "summaries_dict": {"0": ["The mill burnt in May.", "All were safe."]}}
    process = read(tmp_path, made)
    assert graph_of(process)[1] == {("level/0/0", "final"), ("level/0/1", "final")}
    made = {**made, "claims": ["The mill burnt.", {"text": "In May.", "label": "INCONCLUSIVE"}]}
    claims = [r for r in read(tmp_path, made).records() if isinstance(r, ClaimRecord)]
    assert [(c.text, c.label) for c in claims] == [
        ("The mill burnt.", None),
        ("In May.", "INCONCLUSIVE"),
    ]


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"0": {"label": "Yes"}}, "a claim needs a string under `claim`"),
        ([3], "a claim must be an object"),
    ],
)
def test_claims_that_cannot_be_read(tmp_path, claims, said):
    with pytest.raises(InputError, match=said):
        read(tmp_path, {**LABELLED, "claims": claims})


def test_claims_need_one_final_summary(tmp_path):
    with pytest.raises(InputError, match="2 final summaries"):
        read(tmp_path, {"levels": [["a", "b"], ["c", "d"]], "claims": ["It is."]})


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "stages"),
    [
        ("booookscore", 7, 7, 3), ("steps", 6, 5, 4), ("raptor", 6, 5, 3), ("fables", 1, 0, 1),
    ],
)  # fmt: skip
def test_each_shape_has_an_example(name, nodes, edges, stages):
    path = Path(__file__).resolve().parents[3] / "examples" / "summaries" / f"{name}.json"
    (found,) = find_processes(path)
    known = survey(found.open()).topology
    assert (len(known.ids), len(known.edge_sources), len(set(known.stages))) == (
        nodes, edges, stages,
    )  # fmt: skip


def test_a_claim_with_an_unknown_label_is_kept_without_it(tmp_path):
    claims = [{"claim": f"Claim {n}.", "label": "Maybe"} for n in range(7)]
    claims.append({"claim": "The mill burnt.", "label": "Yes"})
    process = read(tmp_path, {**LABELLED, "claims": claims})
    found = [r for r in process.records() if isinstance(r, ClaimRecord)]
    assert [one.label for one in found] == [None] * 7 + ["FULLY_SUPPORTED"]
    told = [one for one in process.header.warnings if "known" in one]
    assert "claims[0]: the label 'Maybe' is not known" in told[0]
    assert told[5] == "2 more claims have labels that are not known."
