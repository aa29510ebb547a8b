"""JSON Lines read many at a time: what is found is what one line after the other would tell."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fakes.process_files import Records, only_violation, read, violations
from hypothesis import example, given, settings
from hypothesis import strategies as st

from veritrail_graph.api.app.processes import RecordedInput
from veritrail_graph.graph.content_hash import node_digest
from veritrail_graph.graph.errors import InvalidProcess, Violation
from veritrail_graph.graph.importers.process_file import ProcessFileImporter, reading
from veritrail_graph.graph.importers.process_file.plain import is_plain_node, plain_edges
from veritrail_graph.graph.importers.process_file.schema import (
    NodeModel,
    read_claim,
    read_edge,
    read_node,
)
from veritrail_graph.graph.importers.records import NodeRecord, PlainEdges, PlainNodes, Record
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_graph.graph.ingest.check import Survey, survey
from veritrail_graph.graph.model.canonical import canonical

HEADER = b'{"format": "veritrail.process/1"}'
PLAIN = [
    b'{"edge":{"source":"a","target":"b"}}',
    b'{"edge": {"source": "a", "target": "b"}}',
    b'{"edge":{"source":"b","target":"c"}}',
    b'{"edge":{"source":"a b/.*","target":"c"}}\r',
]
NODES = [b'{"node":{"node_id":"%s","text":"T."}}' % name for name in (b"a", b"b", b"c", b"a b/.*")]
STRANGE = [
    b'{"edge":{"source":"a","target":"a"}}',
    b'{"edge":{"source":"a","target":"gone"}}',
    b'{"edge":{"target":"c","source":"a"}}',
    b'{"edge":{"source":"a","target":"b","cited":true}}',
    b'{"edge":{"source":"a","target":"b","source":"c"}}',
    b'{"edge":{"source":"","target":"b"}}',
    b'{"edge":{"source":"%s","target":"b"}}' % (b"x" * 1_025),
    b'{"edge":{"source":"\\u0061","target":"b"}}',
    b'{"edge":{"source":"\xc3\xa9","target":"b"}}',
    b'{"edge":{"source":"\xff","target":"b"}}',
    b'{"edge":{"source":"\\ud800","target":"b"}}',
    b'{"edge":{"source":"a\tb","target":"b"}}',
    b'{"edge":{"source":"a","target":"b"}},{"edge":{"source":"b","target":"c"}}',
    b'{"edge":{"source":"a","target":"b"}}{"edge":{"source":"b","target":"c"}}',
    b'{"edge":{"source":"a","target":"b"}} ',
    b'{"edge":{"source":"a","target":"b"}}\r\r',
    b'{"edge":{"source":"a","target":"b"}}\x0b',
    b'{"edge":{"source":"a',
    b'{","target":"c"}}',
    b'{"edge":[{}',
    b"{}]}",
    b'{"edge":1}',
    b'{"edge":{"source":"a","target":1}}',
    b'{"edges":{"source":"a","target":"b"}}',
    b'{"edge":{"source":"a","target":"b"},"node":{}}',
    b'{"claim":{"text":"All.","node_id":"c"}}',
    b'{"verification":{}}',
    b'{"review":{}}',
    b'{"node":{"node_id":"d","text":"T.","stage":true}}',
    b'{"node":{"node_id":"d","text":"\\ud800"}}',
    b'{"node":{"node_id":"a","text":"Another."}}',
    b'{"node":{"node_id":"d","text":"","metadata":{"b":1e999}}}',
    b"[]",
    b"{}",
    b"",
    b"  ",
    b"\r",
    b"\xc2\xa0",
    b"\xef\xbb\xbf",
    b"\xef\xbb\xbf" + PLAIN[0],
]


def one_by_one(data: bytes) -> Iterator[Record]:
    """What the lines say, read in the plainest way there is."""
    readers = {"node": read_node, "edge": read_edge, "claim": read_claim}
    seen_header = False
    for number, line in enumerate(io.BytesIO(data), start=1):
        where = f"line {number}"
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            message = f"not UTF-8: byte {error.start} of the line cannot be decoded"
            raise InvalidProcess("", [Violation("not_utf8", where, message)]) from None
        if not text.strip():
            continue
        if not seen_header:
            seen_header = True
            continue
        try:
            value = reading.parse(text, number)
        except reading.NotJson as error:
            yield Violation("not_json", where, str(error))
            continue
        key = next(iter(value)) if isinstance(value, dict) and len(value) == 1 else ""
        if key in readers:
            record = readers[key](value[key], where)
            yield from record if isinstance(record, list) else [record]
        elif key not in {"extraction", "verification", "review"}:
            kinds = "node, edge, claim, extraction, verification, review"
            message = f"must be an object with one key: {kinds}"
            yield Violation("wrong_line", where, message)


def outcome(source: object) -> object:
    try:
        found: Survey = survey(source)  # type: ignore[arg-type]
    except InvalidProcess as error:
        return error.violations
    return found.hash, found.warnings, found.topology, found.claims, found.kept, found.lengths


def apart(records: Iterator[Record]) -> Iterator[Record]:
    for record in records:
        yield from record.edges() if isinstance(record, PlainEdges) else [record]


@contextmanager
def blocks_of(size: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(reading, "_BLOCK", size)
        changed.setattr(reading, "_GZIP_BLOCK", size)
        yield


LINES = st.lists(
    st.one_of(
        st.lists(st.sampled_from(PLAIN), min_size=1, max_size=5),
        st.sampled_from([*NODES, *PLAIN, *STRANGE]).map(lambda line: [line]),
    ),
    max_size=8,
).map(lambda runs: [line for run in runs for line in run])


@settings(max_examples=120)
@given(LINES, st.integers(1, 300), st.booleans(), st.booleans())
@example([b'{"edge":{"source":"a', b'{","target":"c"}}', b'{"edge":1},{"edge":2}'], 300, True, True)
@example([b'{"edge":[{}', b"{}]}", b'{"edge":1},{"edge":2}'], 300, True, True)
@example([*PLAIN, STRANGE[0], *PLAIN], 300, True, False)
def test_many_lines_at_a_time_say_what_one_after_the_other_does(lines, size, ends, packed):
    data = b"\n".join([HEADER, *NODES, *lines]) + b"\n" * ends
    path = Path("lines.jsonl")
    path.write_bytes(gzip.compress(data, 1) if packed else data)
    with blocks_of(size):
        opened = ProcessFileImporter().open(path, ImportOptions())
        assert outcome(opened) == outcome(Records(lambda: one_by_one(data), opened.header))
        try:
            wanted = list(one_by_one(data))
        except InvalidProcess:
            return
        assert list(apart(opened.records())) == wanted


def test_plain_edges_are_read_as_one_record_and_nothing_else_is():
    run = b"\n".join(PLAIN)
    ends = [("a", "b"), ("a", "b"), ("b", "c"), ("a b/.*", "c")]
    assert plain_edges(run) == plain_edges(run + b"\n") == ends
    for line in [*STRANGE[2:], *NODES]:
        assert plain_edges(line) is None
        assert plain_edges(run + b"\n" + line + b"\n" + run) is None


def test_plain_nodes_come_together_also_through_what_names_the_recorder(tmp_path: Path) -> None:
    plain = [b'{"node":{"node_id":"n%d","text":"Text %d."}}' % (n, n) for n in range(5)]
    strange = b'{"node":{"node_id":"s","text":"Said.","origin":"source"}}'
    path = tmp_path / "nodes.jsonl"
    path.write_bytes(b"\n".join([HEADER, *plain, strange, *plain[:1]]))
    with blocks_of(len(HEADER) + 1):
        opened = RecordedInput(ProcessFileImporter().open(path, ImportOptions()), None)
        some = list(opened.packed())
        single = list(opened.records())
    together = [one for one in some if isinstance(one, PlainNodes)]
    assert together
    assert all(isinstance(one, NodeRecord) for one in single)
    apart_again = []
    for one in some:
        apart_again += one.records() if isinstance(one, PlainNodes) else [one]
    assert apart_again == single
    assert [one.where for one in single][4:] == ["line 6 'n4'", "line 7 's'", "line 8 'n0'"]


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_that_is_too_long_is_named_after_all_that_stand_before_it(packed):
    long = b'{"node":{"node_id":"d","text":"%s"}}' % (b"x" * 2_000_000)
    name = "long.jsonl.gz" if packed else "long.jsonl"
    before = [HEADER, *NODES]
    (told,) = violations(b"\n".join([*before, long, *PLAIN]), name, max_node_text=10)
    assert (told.kind, told.where) == ("line_too_long", f"line {len(before) + 1}")
    wrong = [*before, b"\xff", long]
    (told,) = violations(b"\n".join(wrong), name, max_node_text=10)
    assert (told.kind, told.where) == ("not_utf8", f"line {len(before) + 1}")


def test_what_was_unpacked_before_a_gzip_stream_breaks_is_told_first():
    lines = [HEADER, *(b'{"node":{"node_id":"%d","text":"%d"}}' % (n, n**99) for n in range(900))]
    lines[20] = b"\xff"
    packed = gzip.compress(b"\n".join(lines))
    told = only_violation(packed[:-9], "cut.jsonl")
    assert (told.kind, told.where) == ("not_utf8", "line 21")


def test_a_text_over_many_blocks_is_whole():
    text = "Both gauges stood at nine. " * 40_000
    line = json.dumps({"node": {"node_id": "a", "text": text}}).encode()
    for name in ("long.jsonl", "long.jsonl.gz"):
        found = read(HEADER + b"\n" + line, name)
        assert found.kept is not None
        assert found.kept[0].text == text


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(),
        st.sampled_from(["", "\u2028", '"\\/\b\x7f\x00', "\U0001f980", "é"]),
    ),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)


@given(
    st.text(),
    st.text(),
    st.none() | st.text(),
    st.none() | st.text(),
    st.dictionaries(st.text(), VALUES, max_size=4),
)
def test_the_digest_of_a_node_is_that_of_its_canonical_spelling(node_id, text, kind, step, given):
    node = NodeRecord(node_id, text, "", 1, kind, step, given)
    wanted = canonical([node_id, text, kind, step, given])
    assert node_digest(node) == hashlib.sha256(wanted).digest()


@settings(max_examples=80)
@given(
    st.fixed_dictionaries(
        {"node_id": st.sampled_from(["a", "", "é", "x" * 1_024, "x" * 1_025, 1]), "text": VALUES},
        optional={
            "stage": st.sampled_from([None, 0, 1, True, 2**31 - 1, 2**31, -1, 1.0, "1"]),
            "kind": st.sampled_from([None, "", "chunk", "é", "\ud800", 1]),
            "step": st.sampled_from([None, "index", "\udfff", []]),
            "metadata": st.none() | VALUES | st.dictionaries(st.text(), VALUES, max_size=3),
            "more": st.none(),
        },
    )
)
@example({"node_id": "a", "text": "T.", "metadata": {"page": 3, "model": "m", "share": 0.5}})
@example({"node_id": "a", "text": "T.", "metadata": {"\ud800": 1}})
def test_what_is_taken_for_a_usual_node_is_what_the_model_makes_of_it(value):
    record = read_node(value, "line 2")
    if is_plain_node(value):
        model = NodeModel.model_validate(value)
        assert isinstance(record, NodeRecord)
        assert (record.node_id, record.text, record.stage) == (
            model.node_id,
            model.text,
            model.stage,
        )
        assert (record.kind, record.step) == (model.kind, model.step)
        assert record.metadata == (model.metadata or {})
        assert list(record.metadata) == list(model.metadata or {})
