"""Every rule of the process file: what breaks it is named by kind, key and id."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes.process_files import (
    as_json,
    as_lines,
    document,
    edges,
    nodes,
    only_violation,
    read,
    violations,
)

from veritrail_graph.graph.errors import InputError, InvalidProcess
from veritrail_graph.graph.importers import answer_file
from veritrail_graph.graph.importers.process_file import reading

TEXT = "The tide went out before noon."


def claim(**fields):
    return {"claim_id": "k2", "text": "The tide went out.", "node_id": "t", **fields}


def node_x(**fields):
    """The document with a further node that an edge leads to."""
    made = document()
    node = {"node_id": "x", "text": "A text.", **fields}
    made["nodes"].append({key: value for key, value in node.items() if value is not None})
    made["edges"] += edges("s x")
    return {**made, "terminals": ["t"]}


def with_claim(**fields):
    return document(claims=[claim(**fields)])


def nested(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return {"k": value}


BROKEN = {
    "metadata nested without end": (
        node_x(metadata=nested(200)), "wrong_value", "nodes[4] 'x'", "nested too deeply",
    ),
    "a cycle": (
        document(nodes=nodes("r", "a", "b", "t"), edges=edges("r a", "a b", "b a", "b t")),
        "cycle", "edges", "'a' -> 'b' -> 'a'",
    ),
    "an edge from an unknown node": (
        document(edges=edges("c1 s", "c2 s", "s t", "ghost t")),
        "unknown_node", "edges[3] edge 'ghost' -> 't'", "source node_id 'ghost'",
    ),
    "an edge to an unknown node": (
        document(edges=edges("c1 s", "c2 s", "s t", "s ghost")),
        "unknown_node", "edges[3] edge 's' -> 'ghost'", "target node_id 'ghost'",
    ),
    "a self-loop": (
        document(edges=edges("c1 s", "c2 s", "s s", "s t")),
        "self_loop", "edges[2] edge 's' -> 's'", "input to itself",
    ),
    "one node_id with two texts": (
        document(nodes=[*document()["nodes"], {"node_id": "s", "text": "Something else."}]),
        "duplicate_node_id", "nodes[4] 's'", "different content",
    ),
    "a target of a lower stage than its source": (
        document(nodes=nodes(c1=1, c2=1, s=3, m=2, t=4), edges=edges("c1 s", "s m", "m t", "c2 t")),
        "stage_order", "edge 's' -> 'm'", "from stage 3 down to stage 2",
    ),
    "a root above the lowest stage": (
        document(nodes=nodes(c1=1, c2=2, s=3, t=4)),
        "root_stage", "node 'c2'", "root of stage 2",
    ),
    "stages on some nodes only": (
        document(nodes=nodes("s", "t", c1=1, c2=1)),
        "stages_incomplete", "nodes", "2 of 4 nodes have no stage ('s', 't')",
    ),
    "no terminal, on purpose": (
        document(terminals=[], claims=[{"text": "A claim."}]),
        "no_terminals", "terminals", "leave the key out",
    ),
    "an unknown terminal": (
        document(terminals=["t", "ghost"]),
        "unknown_terminal", "terminals[1] 'ghost'", "no node",
    ),
    "a terminal with an outgoing edge": (
        document(terminals=["s"]),
        "terminal_with_outgoing_edge", "terminals[0] 's'", "1 outgoing edge",
    ),
    "a claim on an unknown node": (
        with_claim(node_id="ghost"), "unknown_node", "claims[0] 'k2'", "node_id 'ghost'",
    ),
    "a claim on a root": (
        with_claim(node_id="c1"), "claim_on_root", "claims[0] 'k2'", "'c1' is a root",
    ),
    "a claim of two possible nodes": (
        document(nodes=nodes("r", "x", "y"), edges=edges("r x", "r y"), claims=[{"text": "A."}]),
        "claim_without_node", "claims[0]", "2 terminals",
    ),
    "a duplicate claim_id": (
        document(claims=[claim(), claim(text="Another.")]),
        "duplicate_claim_id", "claims[1] 'k2'", "'k2' is used earlier in the input",
    ),
    "an unknown label": (
        with_claim(label="SUPPORTED"), "unknown_label", "claims[0] 'k2'", "FULLY_SUPPORTED",
    ),
    "an end behind the text": (
        with_claim(start=0, end=len(TEXT) + 1),
        "offset_out_of_range", "claims[0] 'k2'", f"text of {len(TEXT)} characters",
    ),
    "a negative offset": (
        with_claim(start=-1, end=3), "out_of_range", "claims[0] 'k2'", "start must be 0 or more",
    ),
    "reversed offsets": (
        with_claim(start=4, end=3), "reversed_offsets", "claims[0] 'k2'", "start 4",
    ),
    "a start without an end": (
        with_claim(start=4), "single_offset", "claims[0] 'k2'", "start and end",
    ),
    "an end without a start": (
        with_claim(end=4), "single_offset", "claims[0] 'k2'", "start and end",
    ),
    "an empty process_id": (document(process_id=""), "wrong_id", "process_id", "process_id must"),
    "a process_id with a line break": (
        document(process_id="tides\n"), "wrong_id", "process_id", "letters, digits",
    ),
    "a process_id that is too long": (
        document(process_id="p" * 129), "wrong_id", "process_id", "at most 128",
    ),
    "a claim_id with a slash": (
        with_claim(claim_id="k/2"), "wrong_id", "claims[0] 'k/2'", "claim_id must",
    ),
    "a claim_id that begins with a dot": (
        with_claim(claim_id=".k"), "wrong_id", "claims[0] '.k'", "a letter or digit first",
    ),
    "an empty node_id in a terminal": (
        document(terminals=[""]), "empty_id", "terminals", "terminals.0 is empty",
    ),
    "a node_id that is too long": (
        document(terminals=["n" * 1025]), "id_too_long", "terminals", "1,024",
    ),
    "a text that is no string": (node_x(text=7), "wrong_type", "nodes[4] 'x'", "text must be a"),
    "a node without a text": (
        node_x(text=None), "missing_key", "nodes[4] 'x'", "the key 'text' is missing",
    ),
    "a stage that is no integer": (
        document(stages={"one": "chunk"}), "wrong_stage_name", "stages", "'one' is none",
    ),
    "a stage name of endless digits": (
        document(stages={"9" * 5_000: "chunk"}), "wrong_stage_name", "stages", "is none",
    ),
    "one stage named in two spellings": (
        document(stages={"1": "chunk", "01": "part"}), "wrong_stage_name", "stages", "'01'",
    ),
    "an unknown key of the document": (
        document(nodez=[]), "unknown_key", "document",
        "warnings, run_of_record, project, tags, nodes, edges, claims, extractions, verifications, "
        "reviews",
    ),
    "an unknown key of a node": (
        node_x(colour="red"), "unknown_key", "nodes[4] 'x'", "unknown key 'colour'",
    ),
    "an unknown key of an edge": (
        document(edges=[*edges("c1 s", "c2 s"), {**edges("s t")[0], "weight": 1}],
                 terminals=["t"], claims=[]),
        "unknown_key", "edges[2]", "unknown key 'weight'",
    ),
    "an unknown key of a claim": (
        with_claim(confidence=1), "unknown_key", "claims[0] 'k2'", "unknown key 'confidence'",
    ),
    "a claim without a text": (
        with_claim(text=""), "empty_text", "claims[0] 'k2'", "text is empty",
    ),
    "an unknown format": (
        document(format="graphml"), "unknown_format", "format", "'graphml'",
    ),
    "an unknown version": (
        document(format="veritrail.process/2"), "unknown_format", "format", "process/1",
    ),
    "another of our formats": (
        document(format="veritrail.dialogue/1"), "other_format", "format",
        "is 'veritrail.dialogue/1', which is the format `dialogue` and no process file",
    ),
    "no format": (document(format=None), "unknown_format", "format", "is missing"),
    "no edges key": (document(edges=None), "missing_key", "document", "'edges'"),
    "edges that are null": (
        json.dumps({**document(), "edges": None}).encode(),
        "missing_key", "document", "'edges' must be a list",
    ),
    "nodes that are no list": (document(nodes={}), "wrong_type", "nodes", "must be a list"),
    "several nodes and no edge": (
        document(edges=[], claims=[]), "no_edges", "edges", "4 nodes and no edge",
    ),
    "no node": (document(nodes=[], edges=[], claims=[]), "no_nodes", "nodes", "at least one"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_rule_is_named_with_its_kind_and_place(case):
    content, kind, where, message = BROKEN[case]
    told = only_violation(content)
    assert (told.kind, told.where) == (kind, where)
    assert message in told.message


@pytest.mark.parametrize("stage", [True, 1.0, "1", -1, 2**31, 10**40])
def test_a_stage_that_is_no_number_of_a_stage_is_refused(stage):
    made = document(nodes=nodes(c1=1, c2=1, s=2, t=3))
    made["nodes"][3]["stage"] = stage
    told = violations(made)[0]
    assert told.kind in ("wrong_type", "out_of_range")
    assert told.where == "nodes[3] 't'"
    assert "stage must be" in told.message


@pytest.mark.parametrize(
    ("node_id", "kind", "where"),
    [
        ("", "empty_id", "nodes[4]"),
        ("n" * 1_025, "id_too_long", f"nodes[4] '{'n' * 77}...'"),
        (5, "wrong_type", "nodes[4]"),
        (None, "wrong_type", "nodes[4]"),
    ],
)
def test_a_wrong_node_id_is_refused(node_id, kind, where):
    made = document()
    made["nodes"].append({"node_id": node_id, "text": "A text."})
    told = only_violation(made)
    assert (told.kind, told.where) == (kind, where)


def test_edges_without_any_node_are_told_after_the_missing_nodes():
    told = violations(document(nodes=[], edges=edges("a b")))
    assert [each.kind for each in told] == ["no_nodes", "unknown_node", "unknown_node"]


def test_a_terminal_below_an_ancestor_is_named_beside_the_edge_that_leads_down():
    made = document(
        nodes=nodes(c=1, a=4, b=2, t=3), edges=edges("c a", "a b", "b t"), terminals=["t"]
    )
    down, terminal = violations({**made, "claims": []})
    assert (down.kind, down.where) == ("stage_order", "edge 'a' -> 'b'")
    assert (terminal.kind, terminal.where) == ("terminal_stage", "terminals[0] 't'")
    assert "'a' of stage 4" in terminal.message


def test_all_violations_are_listed_at_once():
    made = document(
        process_id="tides and more",
        nodes=[*document()["nodes"], {"node_id": "x", "text": 5}, {"node_id": "c1", "text": "?"}],
        edges=edges("c1 s", "s c2", "c2 s", "s t", "t t", "ghost t"),
        terminals=["t", "nobody"],
        claims=[claim(label="yes"), claim(start=3, end=1), claim(node_id="c1", claim_id="k3")],
    )
    told = {(each.kind, each.where) for each in violations(made)}
    assert told == {
        ("wrong_id", "process_id"),
        ("wrong_type", "nodes[4] 'x'"),
        ("duplicate_node_id", "nodes[5] 'c1'"),
        ("cycle", "edges"),
        ("self_loop", "edges[4] edge 't' -> 't'"),
        ("unknown_node", "edges[5] edge 'ghost' -> 't'"),
        ("unknown_terminal", "terminals[1] 'nobody'"),
        ("unknown_label", "claims[0] 'k2'"),
        ("reversed_offsets", "claims[1] 'k2'"),
        ("claim_on_root", "claims[2] 'k3'"),
    }


def test_all_violations_of_json_lines_are_listed_with_their_lines():
    made = document(process_id="no id", edges=edges("c1 s", "c2 s", "s t", "s ghost"))
    content = as_lines(made) + b'{"node": {"node_id": }}\n[]\n{"nodes": []}\n'
    told = [(each.kind, each.where) for each in violations(content, "process.jsonl")]
    assert told == [
        ("wrong_id", "line 1"),
        ("not_json", "line 11"),
        ("wrong_line", "line 12"),
        ("wrong_line", "line 13"),
        ("unknown_node", "line 9 edge 's' -> 'ghost'"),
    ]


LINES = (
    b'{"format": "veritrail.process/1"}',
    b'{"node": {"node_id": "a", "text": "It rains."}}',
    b'{"node": {"node_id": "b", "text": "It snows."}}',
    b'{"node": {"node_id": "s", "text": "It rains and snows."}}',
    b'{"edge": {"source": "a", "target": "s"}}',
    b'{"edge": {"source": "b", "target": "s"}}',
    b'{"claim": {"text": "It rains.", "node_id": "s"}}',
    b'{"claim": {"text": "It snows."}}',
)


def of_lines(lines: dict[int, bytes]) -> InvalidProcess:
    """What is said of `LINES` where some have another text, by their numbers."""
    found = [lines.get(number, line) for number, line in enumerate(LINES, start=1)]
    with pytest.raises(InvalidProcess) as caught:
        read(b"\n".join(found), "process.jsonl")
    return caught.value


@pytest.mark.parametrize("number", range(2, 7))
@pytest.mark.parametrize(
    "make",
    [
        lambda line: line[:-1],
        lambda line: line.replace(b"node_id", b"id").replace(b"source", b"from"),
        lambda line: line.replace(b'{"node"', b'{"nodes"').replace(b'{"edge"', b'{"edges"'),
    ],
    ids=["not JSON", "no id", "another kind"],
)
def test_beside_a_line_that_cannot_be_read_the_message_says_what_may_be_in_it(number, make):
    told = of_lines({number: make(LINES[number - 1])})
    assert f"line {number}" in {each.where for each in told.violations}
    only_follow = {each.kind for each in told.violations if each.where != f"line {number}"}
    said = f"What seems to be missing may be in line {number}, which could not be read"
    assert str(told).endswith(said) is bool(only_follow)


def test_several_lines_that_cannot_be_read_are_named_beside_all_that_is_wrong():
    broken = {3: b"x", 5: b"{", 6: b'{"edge": {"source": "s", "target": "s"}}'}
    told = of_lines({**broken, 8: b'{"claim": {"text": "It.", "node_id": "s", "end": 3}}'})
    assert [(each.kind, each.where) for each in told.violations] == [
        ("not_json", "line 3"),
        ("not_json", "line 5"),
        ("self_loop", "line 6 edge 's' -> 's'"),
        ("no_edges", "edges"),
        ("claim_on_root", "line 7"),
        ("claim_on_root", "line 8"),
        ("single_offset", "line 8"),
    ]
    assert "breaks 7 rules" in str(told)
    assert str(told).endswith("may be in line 3, line 5, which could not be read")
    assert told.violations[1].message.endswith("at line 5, column 2")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": "b', "starting at line 1, column 7"),
        ('{"a": "\n"}', "character at line 1, column 8"),
    ],
)
def test_a_fault_of_json_names_its_place_in_words(text, place):
    with pytest.raises(reading.NotJson) as caught:
        reading.parse(text)
    assert str(caught.value).endswith(place)
    with pytest.raises(InputError, match=f"{place}\\."):
        answer_file.parse_json(Path("answers.json"), text)


@pytest.mark.parametrize("fault", [{"text": 7}, {"colour": "red"}, {"metadata": "red"}])
def test_a_wrong_node_does_not_make_its_edges_and_claims_wrong(fault):
    made = document()
    made["nodes"][0] |= fault
    made["nodes"][2] |= fault
    made["claims"] += [claim(node_id="s"), claim(claim_id="k3", node_id=None)]
    del made["claims"][-1]["node_id"]
    assert [each.where for each in violations(made)] == ["nodes[0] 'c1'", "nodes[2] 's'"]


def test_a_cycle_or_missing_stages_do_not_make_claims_without_a_node_wrong():
    cyclic = document(edges=edges("c1 s", "c2 s", "s t", "t s"), claims=[{"text": "A claim."}])
    assert only_violation(cyclic).kind == "cycle"
    partly = document(nodes=nodes("c1", c2=1, s=2, t=3), claims=[{"text": "A claim."}])
    assert only_violation(partly).kind == "stages_incomplete"
    unknown = document(terminals=["ghost"], claims=[{"text": "A claim."}])
    assert only_violation(unknown).kind == "unknown_terminal"


def test_more_than_a_thousand_violations_of_a_kind_are_counted():
    made = document(edges=[*edges("c1 s", "c2 s", "s t"), *edges("ghost t") * 1_200])
    told = violations(made)
    assert len(told) == 1_001
    assert told[-1].message == "and 200 more of this kind"


def test_a_text_above_the_limit_names_its_node_and_the_limit():
    made = document()
    made["nodes"][1]["text"] = "é" * 51
    (told,) = violations(made, max_node_text=101)
    assert (told.kind, told.where) == ("text_too_long", "nodes[1] 'c2'")
    assert "102 bytes" in told.message
    assert "VERITRAIL_MAX_NODE_TEXT" in told.message
    assert read(made, max_node_text=102).topology.ids == ["c1", "c2", "s", "t"]


def test_a_line_far_above_the_limit_is_refused_without_being_held():
    content = as_lines(document()) + b'{"node": {"node_id": "x", "text": "' + b"a" * 1_100_000
    (told,) = violations(content, "process.jsonl", max_node_text=1_000)
    assert (told.kind, told.where) == ("line_too_long", "line 10")


def test_the_sample_document_itself_keeps_every_rule():
    assert read(as_json(document())).process_id == "tides"
