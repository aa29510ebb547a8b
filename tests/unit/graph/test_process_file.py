"""Process files in every form: what is read from them, and what no parser may let pass."""

from __future__ import annotations

import gzip
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

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.process_file import ProcessFileImporter
from veritrail_graph.graph.importers.registry import ImportOptions

BOM = b"\xef\xbb\xbf"


def everything(found):
    """All that a reading makes of a file."""
    shape = found.topology
    edges_by_id = {(shape.ids[source], shape.ids[target]) for source, target in shape.edges}
    return found.process_id, found.hash, set(shape.ids), edges_by_id, found.claims, found.terminals


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (as_json(document()), "process.json"),
        (json.dumps(document(), indent=2).encode(), "process.json"),
        (as_json(document()) + b"\n\n", "process.json"),
        (BOM + as_json(document()), "process.json"),
        (as_json(document()), "process"),
        (as_json(document()), "process.json.gz"),
        (as_json(document()), "process.gz"),
        (as_lines(document()), "process.jsonl"),
        (as_lines(document(), backwards=True), "process.jsonl"),
        (as_lines(document()).replace(b"\n", b"\r\n\r\n"), "process.ndjson"),
        (b"\n" + as_lines(document()), "process.jsonl"),
        (BOM + as_lines(document()), "process.jsonl"),
        (as_lines(document()), "process.json"),
        (as_lines(document()), "process"),
        (as_lines(document()), "process.jsonl.gz"),
        (as_lines(document()), "process.gz"),
    ],
)
def test_every_form_of_a_file_is_the_same_process(content, name):
    assert everything(read(content, name)) == everything(read(document(), "plain.json"))
    assert ProcessFileImporter().detect(Path(name)) is None


def test_the_form_is_told_by_the_bytes_where_a_gzipped_file_is_not_named_so():
    packed = gzip.compress(as_json(document()))
    assert everything(read(packed, "process.json")) == everything(read(document(), "plain.json"))


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b'{"format": "veritrail.process/1",\n "nodes": [}', "line 2, column 12"),
        (b"", "line 1, column 1"),
        (as_json(document()) + b"\n{}", "line 2, column 1"),
        (b'{"format":\n"veritrail.process/1",}', "line 2, column 23"),
    ],
)
def test_a_document_that_is_not_json_is_told_with_line_and_column(content, place):
    told = only_violation(content)
    assert (told.kind, told.where) == ("not_json", "process.json")
    assert place in told.message


def test_a_line_that_is_not_json_is_told_with_its_line_and_column():
    told = only_violation(as_lines(document()) + b'{"claim": oops}\n', "process.jsonl")
    assert (told.kind, told.where) == ("not_json", "line 10")
    assert "line 10, column 11" in told.message


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_empty_json_lines_are_no_process(content):
    assert only_violation(content, "process.jsonl").message == "the file is empty"


@pytest.mark.parametrize("content", [b"[]", b"7", b'"text"', b"null"])
def test_a_document_that_is_no_object_is_refused(content):
    told = only_violation(content)
    assert told.kind == "wrong_type"
    told = only_violation(content, "process.jsonl")
    assert (told.kind, told.where) == ("wrong_type", "line 1")


def with_metadata(json_value: str) -> bytes:
    made = document(nodes=[{"node_id": "a", "text": "A.", "metadata": {"m": 0}}], edges=[])
    return as_json({**made, "claims": []}).replace(b'"m": 0', b'"m": ' + json_value.encode())


@pytest.mark.parametrize(
    ("json_value", "message"),
    [
        ('{"a": 1, "b": 2, "a": 3}', "'a' is used twice"),
        ("NaN", "NaN is no JSON value"),
        ("-Infinity", "-Infinity is no JSON value"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"a":' * 50_000 + "1" + "}" * 50_000, "nested too deeply"),
        ("9" * 5_000, "more than 4,300 digits"),
        ("01", "line 1, column"),
        ("'a'", "line 1, column"),
    ],
)
@pytest.mark.parametrize("lines", [False, True])
def test_what_json_parsers_read_differently_is_refused(json_value, message, lines):
    content, name = with_metadata(json_value), "process.json"
    if lines:
        node = content[content.index(b'{"node_id"') : content.index(b'], "edges"')]
        content = b'{"format": "veritrail.process/1"}\n{"node": ' + node + b"}\n"
        content, name = content + b'{"node": {"node_id": "b", "text": ""}}', "process.jsonl"
    told = violations(content, name)[0]
    assert told.kind == "not_json"
    assert message.replace("line 1", "line 2" if lines else "line 1") in told.message
    assert told.where == ("line 2" if lines else name)


def test_a_number_that_only_overflows_names_its_node():
    told = only_violation(with_metadata("1e999"))
    assert (told.kind, told.where) == ("wrong_value", "nodes[0] 'a'")


def test_large_numbers_and_moderate_nesting_are_kept():
    assert read(with_metadata("9" * 1_000)).hash != read(with_metadata("9" * 999 + "8")).hash
    assert read(with_metadata("[" * 100 + "]" * 100)).process_id == "tides"


@pytest.mark.parametrize("name", ["process.json", "process.jsonl"])
@pytest.mark.parametrize("content", [b'{"format": "\xff"}', "{}".encode("utf-16")])
def test_other_encodings_than_utf_8_are_refused(content, name):
    assert only_violation(content, name).kind == "not_utf8"


@pytest.mark.parametrize("plain", [as_json(document()), as_lines(document())])
@pytest.mark.parametrize("name", ["process", "process.json", "process.jsonl"])
@pytest.mark.parametrize("cut", [3, 30, -4, "checksum", "more"])
def test_a_gzip_stream_that_is_cut_or_damaged_is_told(plain, name, cut):
    packed = gzip.compress(plain)
    if cut == "checksum":
        packed = packed[:-8] + bytes(8)
    elif cut == "more":
        packed += b"and something else"
    else:
        packed = packed[:cut]
    told = only_violation(packed, name)
    assert (told.kind, told.where) == ("damaged_gzip", name)


STRANGE = [
    'it\'s "quoted"',
    "a/b/../c?d=1&e#f",
    "🦀 node",
    "x'}) MATCH (n) DETACH DELETE n //",
    "line\nbreak\ttab\0nul",
    "\u202eright to left",
    "n" * 1_024,
    " ",
]


@pytest.mark.parametrize("node_id", STRANGE)
def test_any_text_can_be_a_node_id(node_id):
    made = document(
        nodes=[{"node_id": node_id, "text": "A."}, {"node_id": "t", "text": "B."}],
        edges=[{"source": node_id, "target": "t"}],
    )
    assert read(made).topology.ids == [node_id, "t"]
    made["edges"][0]["target"] = node_id
    loop = violations(made)[0]
    assert loop.kind == "self_loop"
    assert loop.where.isprintable()


SURROGATE = "\ud800 half a character"


@pytest.mark.parametrize(
    ("change", "where", "key"),
    [
        (lambda d: d["nodes"][0].update(text=SURROGATE), "nodes[0] 'c1'", "text"),
        (lambda d: d["nodes"][0].update(kind=SURROGATE), "nodes[0] 'c1'", "kind"),
        (lambda d: d["nodes"][0].update(step=SURROGATE), "nodes[0] 'c1'", "step"),
        (lambda d: d["nodes"][0].update(metadata={"a": [SURROGATE]}), "nodes[0] 'c1'", "metadata"),
        (lambda d: d["nodes"][0].update(metadata={SURROGATE: 1}), "nodes[0] 'c1'", "metadata"),
        (lambda d: d["nodes"][0].update({SURROGATE: 1}), "nodes[0] 'c1'", "a key"),
        (lambda d: d["claims"][0].update(text=SURROGATE), "claims[0] 'k1'", "text"),
        (lambda d: d["claims"][0].update(sub_claims=[SURROGATE]), "claims[0] 'k1'", ""),
        (lambda d: d["claims"][0].update(claim_id="\ud800"), r"claims[0] '\ud800'", "claim_id"),
        (lambda d: d.update(name=SURROGATE), "name", "name"),
        (lambda d: d.update(question=SURROGATE), "question", "question"),
        (lambda d: d.update(stages={"1": SURROGATE}), "stages", "stages.1"),
        (lambda d: d.update({SURROGATE: 1}), "document", "a key"),
        (lambda d: d["edges"].append({"source": SURROGATE, "target": "t"}), "edges[3]", "source"),
        (lambda d: d["nodes"].append({"node_id": "\ud800", "text": ""}), r"nodes[4] '\ud800'",
         "node_id"),
    ],
)  # fmt: skip
def test_a_lone_surrogate_is_named_with_its_place_and_key(change, where, key):
    made = document()
    change(made)
    told = only_violation(made)
    assert (told.kind, told.where) == ("lone_surrogate", where)
    assert f"{key} contains a lone surrogate" in told.message


def test_a_surrogate_pair_is_one_character():
    made = as_json(document(name="\U0001f980"))
    assert b"\\ud83e\\udd80" in made
    assert read(made).header.name == "\U0001f980"


def test_verifications_and_extracted_sentences_are_no_part_of_the_content():
    place = {"node_id": "t", "position": 0, "start": 0, "end": 3}
    given = {**place, "text": "The", "outcome": "failed"}
    found = read(document(extractions=[given], verifications=[]))
    assert everything(found) == everything(read(document()))
    lines = as_lines(document()) + as_json({"extraction": given}) + b"\n"
    assert everything(read(lines, "process.jsonl")) == everything(found)


def test_what_a_file_says_of_the_whole_process_and_of_a_node_is_kept():
    made = document(name="Tides", question="When?", stages={"1": "chunk", "3": "answer"})
    made["nodes"][0] |= {"kind": "chunk", "step": "split", "metadata": {"page": 3}}
    made["edges"][0]["cited"] = True
    source = ProcessFileImporter()
    Path("process.json").write_bytes(as_json(made))
    opened = source.open(Path("process.json"), ImportOptions())
    assert opened.header.source_format == "veritrail.process/1"
    assert (opened.header.name, opened.header.question) == ("Tides", "When?")
    assert opened.header.stage_names == {1: "chunk", 3: "answer"}
    first, again = list(opened.records()), list(opened.records())
    assert first == again
    assert (first[0].kind, first[0].step, first[0].metadata) == ("chunk", "split", {"page": 3})
    assert first[4].cited is True


def test_a_folder_is_told_to_be_no_file():
    Path("folder").mkdir()
    assert ProcessFileImporter().detect(Path("folder")) == "not a file"
    with pytest.raises(InputError, match="folder cannot be read"):
        ProcessFileImporter().open(Path("folder"), ImportOptions())


def test_a_file_that_begins_with_no_object_is_in_another_format():
    Path("notes.txt").write_text("Some notes.", encoding="utf-8")
    assert "JSON object" in (ProcessFileImporter().detect(Path("notes.txt")) or "")


def test_one_node_is_a_process_without_edges():
    found = read({"format": "veritrail.process/1", "nodes": nodes("a"), "edges": edges()})
    assert found.terminals == ("a",)
