"""What the first reading of an input makes of it: stages, roles, terminals, claims, warnings."""

from __future__ import annotations

import resource
import sys

import pytest
from fakes.process_files import Records, document, edges, nodes, read, violations

from veritrail_graph.graph.importers.records import ClaimRecord, EdgeRecord, NodeRecord
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Claim, Role, Verdict


def stages_of(found) -> dict[str, int]:
    return dict(zip(found.topology.ids, found.topology.stages, strict=True))


def roles_of(found) -> dict[str, Role]:
    return dict(zip(found.topology.ids, found.roles, strict=True))


def edges_of(found) -> set[tuple[str, str]]:
    ids = found.topology.ids
    return {(ids[source], ids[target]) for source, target in found.topology.edges}


def test_stages_that_are_not_given_are_the_longest_distance():
    made = document(nodes=nodes("t", "s", "c1", "c2"), edges=edges("c1 s", "s t", "c1 t", "c2 t"))
    assert stages_of(read(made)) == {"c1": 1, "c2": 1, "s": 2, "t": 3}


def test_stages_that_are_given_stay_also_where_they_skip_or_start_at_zero():
    made = document(nodes=nodes(c1=0, c2=0, s=4, t=4))
    assert stages_of(read(made)) == {"c1": 0, "c2": 0, "s": 4, "t": 4}


def test_the_only_sink_is_the_terminal():
    found = read(document())
    assert found.terminals == ("t",)
    assert roles_of(found) == {
        "c1": Role.ROOT,
        "c2": Role.ROOT,
        "s": Role.INTERMEDIATE,
        "t": Role.TERMINAL,
    }


def test_of_several_sinks_those_of_the_highest_stage_are_terminals():
    shape = edges("c1 s", "c2 s", "s t", "s u", "c1 note")
    made = document(nodes=nodes("c1", "c2", "s", "u", "t", "note"), edges=shape)
    found = read(made)
    assert set(found.terminals) == {"t", "u"}
    assert roles_of(found)["note"] is Role.INTERMEDIATE
    unused = document(nodes=nodes("c1", "c2", "s", "t", "unused"))
    assert read(unused).terminals == ("t",)
    assert roles_of(read(unused))["unused"] is Role.ROOT


def test_terminals_that_are_named_are_those_and_no_others():
    shape = edges("c1 s", "c2 s", "s t", "s u")
    found = read(document(nodes=nodes("c1", "c2", "s", "u", "t"), edges=shape, terminals=["u"]))
    assert found.terminals == ("u",)
    assert roles_of(found)["t"] is Role.INTERMEDIATE


def test_a_single_node_is_root_and_terminal():
    made = document(nodes=nodes("a"), edges=[], claims=[])
    assert read(made).terminals == ("a",)
    assert roles_of(read(made)) == {"a": Role.ROOT}
    (told,) = violations({**made, "claims": [{"text": "A claim."}]})
    assert told.kind == "claim_on_root"


def test_the_same_edge_twice_is_one_edge_and_told():
    found = read(document(edges=edges("c1 s", "c2 s", "s t", "c1 s", "c1 s")))
    assert edges_of(found) == {("c1", "s"), ("c2", "s"), ("s", "t")}
    assert len(found.topology.edge_sources) == 3
    assert found.warnings == ("2 edges are repeated; each is kept once",)


def test_the_same_node_twice_is_one_node():
    made = document()
    made["nodes"] += [dict(made["nodes"][0]), dict(made["nodes"][3])]
    found = read(made)
    assert found.topology.ids == ["c1", "c2", "s", "t"]
    assert found.warnings == ()


@pytest.mark.parametrize(
    "other", [{"kind": "chunk"}, {"step": "split"}, {"metadata": {"page": 1}}, {"stage": 1}]
)
def test_a_node_that_differs_beside_its_text_is_another_content(other):
    made = document()
    made["nodes"].append({**made["nodes"][0], **other})
    kinds = [told.kind for told in violations(made)]
    assert kinds == ["duplicate_node_id"]


def test_edges_may_come_before_their_nodes():
    records = [
        EdgeRecord("a", "b", "line 2"),
        NodeRecord("b", "B.", "line 3"),
        EdgeRecord("b", "c", "line 4"),
        ClaimRecord("A claim.", "line 5", node_id="c"),
        NodeRecord("c", "C.", "line 6"),
        NodeRecord("a", "A.", "line 7"),
    ]
    found = survey(Records.of(records))
    assert edges_of(found) == {("a", "b"), ("b", "c")}
    assert stages_of(found) == {"a": 1, "b": 2, "c": 3}


def test_an_empty_text_is_allowed_and_told():
    made = document()
    made["nodes"][0]["text"] = ""
    assert read(made).warnings == ("1 node has an empty text: 'c1'",)
    many = document(nodes=[{"node_id": f"n{i}", "text": ""} for i in range(7)])
    many |= {"edges": edges(*(f"n{i} n6" for i in range(6))), "claims": []}
    assert "'n4' and 2 more" in read(many).warnings[0]


def test_a_claim_is_kept_as_given():
    text = "The tide went out 🦀 noon."
    made = document()
    made["nodes"][3]["text"] = text
    made["claims"] = [
        {
            "claim_id": "k:1.a_b-c",
            "text": "The tide went out.",
            "node_id": "t",
            "start": 4,
            "end": len(text),
            "sub_claims": ["There is a tide.", "It went out."],
            "label": "INCONCLUSIVE",
        },
        {"text": "A second one."},
    ]
    first, second = read(made).claims
    assert first == Claim(
        claim_id="k:1.a_b-c",
        text="The tide went out.",
        node_id="t",
        start=4,
        end=len(text),  # code points: the crab is one
        sub_claims=("There is a tide.", "It went out."),
        label=Verdict.INCONCLUSIVE,
    )
    assert (second.node_id, second.sub_claims, second.label) == ("t", (), None)


def test_a_claim_may_be_about_any_node_but_a_root():
    made = document(claims=[{"text": "Of a summary.", "node_id": "s"}])
    assert read(made).claims[0].node_id == "s"


def test_a_claim_is_checked_against_the_only_sink_also_where_stages_are_missing():
    made = document(nodes=nodes("c1", c2=1, s=2, t=3))
    made["claims"] = [{"text": "A claim.", "start": 0, "end": 10_000}]
    assert [told.kind for told in violations(made)] == [
        "stages_incomplete",
        "offset_out_of_range",
    ]


def test_a_terminal_that_is_named_twice_is_the_only_one():
    found = read(document(terminals=["t", "t"], claims=[{"text": "A claim."}]))
    assert found.terminals == ("t",)
    assert found.claims[0].node_id == "t"


def test_the_same_claim_without_an_id_twice_is_one_claim_and_told():
    found = read(document(claims=[{"text": "A claim."}, {"text": "A claim.", "node_id": "t"}]))
    assert len(found.claims) == 1
    assert "this claim is repeated" in found.warnings[0]


def test_a_process_id_of_the_caller_takes_the_place_of_the_given_one():
    records = Records.of([NodeRecord("a", "A.", "nodes[0]")], process_id="given")
    assert survey(records).process_id == "given"
    assert survey(records, process_id="other").process_id == "other"


def test_the_warnings_of_the_input_come_first():
    records = Records.of([NodeRecord("a", "", "nodes[0]")], warnings=("No answer was there.",))
    assert survey(records).warnings[0] == "No answer was there."
    assert len(survey(records).warnings) == 2


def test_progress_is_told_every_thousand_records():
    told: list[int] = []
    records = [NodeRecord("a", "A.", "")] * 2_500
    survey(Records.of(records), on_record=told.append)
    assert told == [1_000, 2_000]


def test_many_named_terminals_do_not_make_the_check_slow():
    """Once every terminal looked at all its ancestors: 400 x 40,000 edges took minutes."""
    names = [f"t{number}" for number in range(400)]
    records = [NodeRecord(f"r{number}", "R.", "") for number in range(100)]
    records += [NodeRecord(name, "T.", "") for name in names]
    records += [EdgeRecord(f"r{number}", name, "") for number in range(100) for name in names]
    assert len(survey(Records.of(records, terminals=tuple(names))).terminals) == 400


EDGES = 150_000


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs the resource module")
def test_very_many_edges_into_one_node_take_memory_for_ids_and_edges_only():
    """The texts alone would be 900 MB."""
    text = "x" * 6_000

    def made():
        yield NodeRecord("t", "The answer.", "")
        for number in range(EDGES):
            yield NodeRecord(f"c{number}", text + str(number), "")
            yield EdgeRecord(f"c{number}", "t", "")

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = survey(Records(made))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert len(found.topology.edge_sources) == EDGES
    assert stages_of(found)["t"] == 2
    assert grown * (1 if sys.platform == "darwin" else 1_024) < 320e6


def test_characters_that_nobody_sees_are_named_with_their_kind_and_place():
    made = document()
    made["nodes"][0]["text"] += "\U000e0041\U000e0042\u200b"
    made["nodes"][1]["text"] = "Zoë and 👩\u200d🔬\u200b"
    made["claims"] = [{"claim_id": "k", "text": "So\u00adcial.", "node_id": "t"}]
    assert read(made).warnings == (
        "2 tag characters, which a model reads and a person does not see, in 1 node: 'c1'",
        "2 zero-width characters, which a model reads and a person does not see, in 2 nodes: "
        "'c1', 'c2'",
        "1 soft hyphen, which a model reads and a person does not see, in 1 claim: 'k'",
    )
    many = document(nodes=nodes(*(f"c{n}" for n in range(1, 31)), "s", "t"))
    for node in many["nodes"]:
        node["text"] = "a\ue000"
    (told,) = read(many).warnings
    assert told.startswith("32 private-use characters")
    assert told.endswith("'c20' and 12 more")
