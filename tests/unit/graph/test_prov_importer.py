"""PROV-JSON documents of others: which entities are nodes, and what makes an edge."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path

import pytest

from veritrail_graph.graph.errors import InputError, InvalidProcess
from veritrail_graph.graph.importers.prov import ProvImporter
from veritrail_graph.graph.importers.records import EdgeRecord, NodeRecord
from veritrail_graph.graph.importers.registry import ImportOptions, find_processes, open_input
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Origin

ROOT = Path(__file__).resolve().parents[3]
REAL = ROOT.parent / "shared" / "data" / "prov" / "sample_veritrail_prov.json"
EX = {"ex": "https://example.org/"}
SOFTWARE = {"prov:type": {"$": "prov:SoftwareAgent", "type": "xsd:QName"}}


def derived(*pairs):
    return {
        f"_:d{number}": {"prov:generatedEntity": made, "prov:usedEntity": used}
        for number, (used, made) in enumerate(pairs)
    }


def used(*pairs):
    return {f"_:u{n}": {"prov:entity": e, "prov:activity": a} for n, (e, a) in enumerate(pairs)}


def made(*pairs):
    return {f"_:g{n}": {"prov:entity": e, "prov:activity": a} for n, (a, e) in enumerate(pairs)}


def texts(*names):
    return {f"ex:{name}": {"prov:value": f"Text of {name}."} for name in names}


@pytest.fixture
def read(tmp_path):
    """Write a document, read its one process, and give header, nodes and edges."""

    def reading(document, **options):
        path = tmp_path / "p.json"
        path.write_text(json.dumps({"prefix": EX, **document}), encoding="utf-8")
        process = open_input(path, options=ImportOptions(**options))
        assert process.header.source_format == "prov"
        survey(process)
        records = list(process.records())
        nodes = {one.node_id: one for one in records if isinstance(one, NodeRecord)}
        edges = {(one.source, one.target) for one in records if isinstance(one, EdgeRecord)}
        return process.header, nodes, edges

    return reading


def test_a_derivation_is_an_edge(read):
    header, nodes, edges = read(
        {"entity": texts("a", "b"), "wasDerivedFrom": derived(("ex:a", "ex:b"))}, question="Why?"
    )
    assert {name: node.text for name, node in nodes.items()} == {
        "ex:a": "Text of a.", "ex:b": "Text of b.",
    }  # fmt: skip
    assert edges == {("ex:a", "ex:b")}
    assert [node.origin for node in nodes.values()] == [Origin.SOURCE, Origin.GENERATED]
    assert (header.warnings, header.question) == ((), "Why?")


def test_an_activity_makes_edges_from_what_it_used_to_what_it_generated(read):
    _, nodes, edges = read(
        {
            "entity": texts("a", "b", "c", "d"),
            "activity": {"ex:join": {}, "ex:split": {"prov:label": "cut in two"}},
            "used": used(("ex:a", "ex:join"), ("ex:b", "ex:join"), ("ex:c", "ex:split")),
            "wasGeneratedBy": made(("ex:join", "ex:c"), ("ex:split", "ex:d")),
        }
    )
    assert edges == {("ex:a", "ex:c"), ("ex:b", "ex:c"), ("ex:c", "ex:d")}
    assert [node.step for node in nodes.values()] == [None, None, "join", "cut in two"]
    assert nodes["ex:d"].metadata["activity"] == "ex:split"


def test_a_derivation_is_surer_than_what_its_activity_used(read):
    _, _, edges = read(
        {
            "entity": texts("a", "b", "x", "y"),
            "used": used(("ex:a", "ex:act"), ("ex:b", "ex:act")),
            "wasGeneratedBy": made(("ex:act", "ex:x"), ("ex:act", "ex:y")),
            "wasDerivedFrom": derived(("ex:a", "ex:x")),
        }
    )
    assert edges == {("ex:a", "ex:x"), ("ex:a", "ex:y"), ("ex:b", "ex:y")}


def test_what_was_used_after_the_generation_is_no_input(read):
    use, generation = used(("ex:b", "ex:act")), made(("ex:act", "ex:c"))
    use["_:u0"]["prov:time"] = "2026-01-01T10:00:01Z"
    generation["_:g0"]["prov:time"] = "2026-01-01T11:00:00+01:00"
    use |= {"_:u9": {"prov:entity": "ex:a", "prov:activity": "ex:act"}}
    document = {"entity": texts("a", "b", "c"), "used": use, "wasGeneratedBy": generation}
    assert read(document)[2] == {("ex:a", "ex:c")}


def test_edges_lead_over_entities_without_a_text(read):
    header, nodes, edges = read(
        {
            "entity": {**texts("a", "b", "c"), "ex:file": {"prov:label": "a file"}, "ex:alone": {}},
            "wasDerivedFrom": derived(
                ("ex:a", "ex:file"), ("ex:b", "ex:file"), ("ex:file", "ex:row"), ("ex:row", "ex:c")
            ),
        }
    )
    assert set(nodes) == {"ex:a", "ex:b", "ex:c"}
    assert edges == {("ex:a", "ex:c"), ("ex:b", "ex:c")}
    assert header.warnings == (
        "3 entities have no text and are not nodes: ex:file, ex:alone, ex:row",
        "2 edges lead over entities without a text.",
    )


def test_a_circle_of_entities_without_a_text_ends(read):
    entities = {**texts("a", "c"), "ex:x": {}, "ex:y": {}}
    pairs = [("ex:a", "ex:x"), ("ex:x", "ex:y"), ("ex:y", "ex:x"), ("ex:y", "ex:c")]
    assert read({"entity": entities, "wasDerivedFrom": derived(*pairs)})[2] == {("ex:a", "ex:c")}


def test_a_long_chain_of_entities_without_a_text(read):
    chain = ["ex:a", *(f"ex:n{number}" for number in range(5_000)), "ex:b"]
    pairs = list(pairwise(chain))
    header, _, edges = read({"entity": texts("a", "b"), "wasDerivedFrom": derived(*pairs)})
    assert edges == {("ex:a", "ex:b")}
    assert header.warnings[0].startswith("5,000 entities have no text")
    assert header.warnings[0].endswith("ex:n4, …")


def test_what_an_activity_made_out_of_nothing_known_is_no_source(read):
    _, nodes, edges = read(
        {
            "entity": {**texts("made", "found", "from", "written", "end"), "ex:blank": {}},
            "agent": {"ex:gpt": SOFTWARE},
            "wasGeneratedBy": made(("ex:act", "ex:made")),
            "wasDerivedFrom": derived(("ex:blank", "ex:from"), ("ex:found", "ex:end")),
            "wasAttributedTo": {"_:1": {"prov:entity": "ex:written", "prov:agent": "ex:gpt"}},
        }
    )
    assert edges == {("ex:found", "ex:end")}
    assert {name: node.origin.value for name, node in nodes.items()} == {
        "ex:end": "generated",
        "ex:made": "generated",
        "ex:found": "source",
        "ex:from": "generated",
        "ex:written": "generated",
    }


def test_only_software_is_a_model(read):
    _, nodes, _ = read(
        {
            "entity": texts("a", "b"),
            "activity": {"ex:act": {"prov:type": {"$": "ex:Summarise", "type": "xsd:QName"}}},
            "agent": {
                "ex:m": {**SOFTWARE, "prov:label": "model-7"},
                "ex:ann": {"prov:type": [{"$": "prov:Person", "type": "prov:QUALIFIED_NAME"}]},
            },
            "used": used(("ex:a", "ex:act")),
            "wasGeneratedBy": made(("ex:act", "ex:b")),
            "wasAssociatedWith": {
                "_:1": [
                    {"prov:activity": "ex:act", "prov:agent": "ex:m"},
                    {"prov:activity": "ex:act", "prov:agent": "ex:ann"},
                ]
            },
            "wasAttributedTo": {"_:2": {"prov:entity": "ex:a", "prov:agent": "ex:unknown"}},
        }
    )
    assert nodes["ex:b"].metadata == {"activity": "ex:act", "model": "model-7", "agent": "ann"}
    assert nodes["ex:b"].step == "Summarise"
    assert nodes["ex:a"].metadata == {"agent": "unknown"}
    assert nodes["ex:a"].origin is Origin.SOURCE


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ({"prov:value": "v", "v:text": "t"}, "t"),
        ({"prov:value": "v", "ex:text": "t"}, "v"),
        ({"ex:content": {"$": "c", "type": "xsd:string"}}, "c"),
        ({"prov:value": {"$": "Wert", "lang": "de"}}, "Wert"),
        ({"prov:value": ["one", "two"]}, "one\ntwo"),
        ({"prov:value": 42}, "42"),
        ({"prov:value": "  ", "ex:body": "b"}, "b"),
        ({"prov:value": {"$": "https://a.example", "type": "xsd:anyURI"}}, None),
        ({"prov:value": {"$": "aGk=", "type": "xsd:base64Binary"}}, None),
        ({"prov:value": {"$": "ex:b", "type": "prov:QUALIFIED_NAME"}}, None),
        ({"prov:label": "only a label"}, None),
        ({"prov:value": True}, None),
    ],
)
def test_what_is_a_text(read, attributes, text):
    prefix = {**EX, "v": "urn:veritrail:"}
    entities = {**texts("a", "b"), "ex:e": attributes}
    relations = derived(("ex:a", "ex:b"), ("ex:e", "ex:b"))
    _, nodes, _ = read({"prefix": prefix, "entity": entities, "wasDerivedFrom": relations})
    assert (nodes["ex:e"].text if "ex:e" in nodes else None) == text


def test_labels_are_texts_only_where_there_are_no_others(read):
    header, nodes, edges = read(
        {
            "prefix": {"rdfs": "http://www.w3.org/2000/01/rdf-schema#"},
            "entity": {"a": {"rdfs:label": "table 1"}, "b": {"prov:label": "chart 1"}, "c": {}},
            "wasDerivedFrom": derived(("a", "b"), ("b", "c")),
        }
    )
    assert [node.text for node in nodes.values()] == ["table 1", "chart 1"]
    assert edges == {("a", "b")}
    assert "Labels are taken for texts" in header.warnings[0]
    assert header.warnings[1] == "1 entity has no text and is not a node: c"


def test_stages_and_kinds_of_ours_count_where_every_node_has_a_stage(read):
    prefix = {**EX, "v": "urn:veritrail:"}
    first = {"prov:value": "a", "v:stage": {"$": "2", "type": "xsd:int"}, "v:kind": "page"}
    second = {"prov:value": "b", "v:stage": 5, "ex:page": 7, "v:prompt": "p.v1"}
    document = {"prefix": prefix, "wasDerivedFrom": derived(("ex:a", "ex:b"))}
    _, nodes, _ = read({**document, "entity": {"ex:a": first, "ex:b": second}})
    assert [(node.stage, node.kind) for node in nodes.values()] == [(2, "page"), (5, None)]
    assert nodes["ex:b"].metadata == {"ex:page": 7, "prompt": "p.v1"}
    del second["v:stage"]
    _, nodes, _ = read({**document, "entity": {"ex:a": first, "ex:b": second}})
    assert [node.stage for node in nodes.values()] == [None, None]


def test_bundles_are_read_with_the_names_of_their_own(read):
    header, nodes, edges = read(
        {
            "entity": texts("a"),
            "bundle": {
                "ex:run": {
                    "prefix": {"other": "https://example.org/", "ex": "https://other.example/"},
                    "entity": {"ex:a": {"prov:value": "Another a."}},
                    "wasDerivedFrom": derived(("other:a", "ex:a")),
                    "wasInformedBy": {"_:1": {"prov:informed": "x", "prov:informant": "y"}},
                }
            },
        }
    )
    assert {name: node.text for name, node in nodes.items()} == {
        "ex:a": "Text of a.", "ex:a~2": "Another a.",
    }  # fmt: skip
    assert edges == {("ex:a", "ex:a~2")}
    assert "not read: 1 wasInformedBy" in header.warnings[0]


def test_an_example_of_ours():
    process = open_input(ROOT / "examples" / "prov.json")
    records = list(process.records())
    edges = {(one.source, one.target) for one in records if isinstance(one, EdgeRecord)}
    assert edges == {("ex:page-1", "ex:note"), ("ex:page-2", "ex:note"), ("ex:note", "ex:answer")}
    found = survey(process)
    assert found.terminals == ("ex:answer",)
    assert len(process.header.warnings) == 2


def test_a_name_too_long_for_an_id_is_replaced(read):
    name = "ex:" + "x" * 2_000
    (node_id,) = read({"entity": {name: {"prov:value": "t"}}, "used": {}})[1]
    assert node_id.startswith("entity/sha256/")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"entity": {"ex:a": {}}, "used": {}}, "none of its 1 entities has a text: ex:a. Write"),
        ({"entity": texts("a", "b")}, "2 entities have a text, and nothing says which was made"),
        ({"entity": {"ex:a": 3}}, "entity ex:a must be an object of attributes, not 3"),
        ({"entity": {"ex:a": ["x"]}}, "entity ex:a must be an object of attributes, not a text"),
        ({"entity": {}, "used": []}, "none of its 0 entities has a text"),
        ({"entity": {}, "used": [1]}, "'used' must be an object of records"),
        ({"entity": {}, "prefix": {"a": 1}}, "'prefix' must be an object of IRIs"),
        ({"entity": {}, "bundle": {"b": 1}}, "bundle b must be an object, not 1"),
        ({"bundle": {"b": {"used": 1}}}, "bundle b: 'used' must be an object of records"),
        (
            {"entity": {}, "used": {"_:1": {"prov:entity": ["a"]}}},
            "used _:1: prov:entity must be a name, not a list",
        ),
        ({"entity": []}, "no entities"),
        ({"entity": {}, "nodes": []}, "keys that PROV-JSON does not have: 'nodes'"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path, document, message):
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"prefix": EX, **document}), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        open_input(path, format_name="prov")
    assert message in str(raised.value)
    assert str(raised.value).startswith(str(path))


def test_an_export_of_ours_that_was_changed_is_checked_as_a_process_file(tmp_path):
    type_ = "prov:QUALIFIED_NAME"
    document = {
        "prefix": {"veritrail": "urn:veritrail:"},
        "entity": {
            "p": {"prov:type": {"$": "veritrail:Process", "type": type_}},
            "n": {
                "prov:type": {"$": "veritrail:Span", "type": type_},
                "veritrail:node_id": "n",
                "veritrail:text": "t",
                "veritrail:stage": "first",
            },
        },
    }
    path = tmp_path / "p.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InvalidProcess) as raised:
        survey(open_input(path))
    assert "stage" in str(raised.value.violations[0])


@pytest.mark.parametrize(
    "content",
    [
        '{"question": "q", "contexts": ["c"], "answer": "a"}',
        '{"entity": {"ex:a": {}}}',
        '{"entity": {"ex:a": {}}, "resourceSpans": []}',
        '[{"role": "user", "content": "hello"}]',
        '{"format": "veritrail.process/1", "nodes": [], "edges": []}',
        '{"@context": {}, "entity": {}}',
        "[]",
        "not JSON",
        "",
    ],
)
def test_other_formats_are_not_taken(tmp_path, content):
    path = tmp_path / "p.json"
    path.write_text(content, encoding="utf-8")
    assert ProvImporter().detect(path)
    assert ProvImporter().detect(tmp_path)


def test_an_export_of_ours_is_known_by_its_beginning_whatever_its_texts_say(tmp_path):
    start = b'{"prefix":{"veritrail":"urn:veritrail:"'
    start += b',"x":"\\"veritrail.process/1\\""}'
    for name, content in (("a.json", start), ("b.json.gz", gzip.compress(start))):
        path = tmp_path / name
        path.write_bytes(content)
        assert ProvImporter().detect(path) is None


def test_a_bad_document_of_many_leaves_the_others_alone(tmp_path):
    good = {"prefix": EX, "entity": texts("a"), "used": {}}
    path = tmp_path / "many.jsonl"
    path.write_text(f"{json.dumps(good)}\n{{\n{json.dumps(good)}\n", encoding="utf-8")
    found = list(find_processes(path))
    assert [one.where for one in found] == [f"{path}#{number}" for number in (1, 2, 3)]
    with pytest.raises(InputError, match="line 2"):
        found[1].open()
    assert len(list(found[2].open().records())) == 1


@pytest.mark.skipif(not REAL.is_file(), reason=f"the real PROV-JSON document is not at {REAL}")
def test_a_real_document_without_texts():
    process = open_input(REAL)
    (node,) = process.records()
    assert (node.node_id, node.text, node.stage) == ("vt:t1", "text unit", 1)
    assert process.header.warnings == (
        "No entity has a text. Labels are taken for texts, and verdicts about them say little: "
        "1 of 4 entities have one",
        "3 entities have no text and are not nodes: vt:s1, vt:ans, vt:claim1",
    )
