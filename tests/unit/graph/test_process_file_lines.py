"""JSON Lines read many at a time: what is found is what one line after the other would tell."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fakes.process_files import Records, only_violation, read, violations
from hypothesis import example, given, settings
from hypothesis import strategies as st

from veritrail_graph.graph.content_hash import node_digest
from veritrail_graph.graph.errors import InputError, InvalidProcess, Violation
from veritrail_graph.graph.importers.process_file import ProcessFileImporter, reading
from veritrail_graph.graph.importers.process_file.plain import is_plain_node, plain_records, runs
from veritrail_graph.graph.importers.process_file.schema import (
    NodeModel,
    read_claim,
    read_edge,
    read_node,
)
from veritrail_graph.graph.importers.records import (
    NodeRecord,
    PlainEdges,
    PlainNodes,
    Record,
    RecordedInput,
    Unread,
)
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
            value = reading.parse(text.rstrip("\r\n"), number)
        except reading.NotJson as error:
            yield Unread("not_json", where, str(error))
            continue
        key = next(iter(value)) if isinstance(value, dict) and len(value) == 1 else ""
        if key in readers:
            record = readers[key](value[key], where)
            yield from record if isinstance(record, list) else [record]
        elif key not in {"extraction", "verification", "review"}:
            kinds = "node, edge, claim, extraction, verification, review"
            message = f"must be an object with one key: {kinds}"
            yield Unread("wrong_line", where, message)


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


@settings(max_examples=30)
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


SPACES = st.sampled_from(["", "", "", " ", "  ", "\t", "\r", "\n", "\r\n"])
STRINGS = st.one_of(
    st.sampled_from(
        ["a", "b", "c", "Text.", "", 'a"b', "\\u0022", "\n/\x7f\x00", "é\U0001f980", "x" * 1_025]
    ),
    st.text(max_size=8),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(2**62, 2**66),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0, -1, 1e16, 1e-7, 2**31 - 1, 2**31]),
    STRINGS,
)


@st.composite
def spelled(draw: st.DrawFn, value: object, usual: bool) -> str:
    """JSON of a value: compact, or with spaces, other spellings and repeated keys."""
    space = st.just("") if usual else SPACES
    if isinstance(value, str):
        if not usual and draw(st.booleans()):
            return "".join(
                f"\\u{ord(one):04X}" if ord(one) < 0xD800 and draw(st.booleans()) else part
                for one in value
                for part in [json.dumps(one, ensure_ascii=draw(st.booleans()))[1:-1]]
            ).join('""')
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        items = list(value.items())
        if not usual:
            items = draw(st.permutations(items + items[: draw(st.integers(0, 1)) * len(items)][:1]))
        pairs = [
            f"{draw(space)}{draw(spelled(key, usual))}{draw(space)}:{draw(space)}"
            f"{draw(spelled(one, usual))}{draw(space)}"
            for key, one in items
        ]
        return f"{{{','.join(pairs)}}}"
    return json.dumps(value)


@st.composite
def record_lines(draw: st.DrawFn) -> bytes:
    """A line of a node or an edge that is usual, strange, or broken somewhere."""
    how = draw(st.sampled_from(["usual", "usual", "strange", "broken"]))
    if draw(st.booleans()):
        names = st.sampled_from(["a", "b", "c"]) if how == "usual" else STRINGS
        record = {"edge": {"source": draw(names), "target": draw(names)}}
    else:
        optional = {
            "stage": st.integers(0, 120) if how == "usual" else SCALARS,
            "kind": STRINGS if how == "usual" else SCALARS,
            "step": STRINGS,
            "metadata": st.dictionaries(STRINGS, SCALARS, max_size=3)
            | st.just({"model": "m", "number": 7})
            | st.just({}),
        }
        if how != "usual":
            optional |= {"question": STRINGS, "origin": st.just("given")}
        wanted = {"node_id": STRINGS, "text": STRINGS}
        record = {"node": draw(st.fixed_dictionaries(wanted, optional=optional))}
    line = draw(spelled(record, how == "usual")).encode("utf-8", "surrogatepass")
    if how == "broken" and line:
        place = draw(st.integers(0, len(line) - 1))
        put = draw(
            st.sampled_from(
                [b"", b'"', b"\\", b",", b"}", b"{", b" ", b"\n", b"\xff", b"0", b"\x01"]
            )
        )
        line = line[:place] + put + line[place + draw(st.integers(0, 1)) :]
    return line


@settings(max_examples=15)
@given(
    st.lists(st.lists(record_lines(), min_size=1, max_size=6), max_size=5),
    st.sampled_from([40, 300, 100_000]),
    st.sampled_from([b"", b"\n", b"\n\n"]),
)
@example([[b'{"node":{"node_id":"d","text":"A","text":"\\u0022"}}'] * 4], 300, b"\n")
@example(
    [[b'{"node":{"node_id":"d","text":"A"}} {"node":{"node_id":"e","text":"B"}}', b""]], 300, b"\n"
)
@example([[*PLAIN[:1] * 3, PLAIN[0] + b" " + PLAIN[2], b""]], 300, b"\n")
@example([[b'{"edge":', b'{"source":"a","target":"b"}}', *PLAIN[:3]]], 300, b"\n")
@example(
    [[b'{"node":{"node_id":"%d","text":"T","metadata":{"a":1e5,"a":1}}}' % n for n in range(4)]],
    300,
    b"\n",
)
@example(
    [[b'{"node":{"node_id":"%d","text":"T","kind":null,"stage":null}}' % n for n in range(4)]],
    300,
    b"\n",
)
def test_usual_strange_and_broken_lines_say_together_what_each_says(groups, size, end):
    data = b"\n".join([HEADER, *NODES, *(line for group in groups for line in group)]) + end
    path = Path("lines.jsonl")
    path.write_bytes(data)
    with blocks_of(size):
        opened = ProcessFileImporter().open(path, ImportOptions())
        assert outcome(opened) == outcome(Records(lambda: one_by_one(data), opened.header))
        try:
            wanted = list(one_by_one(data))
        except InvalidProcess:
            return
        assert list(apart(opened.records())) == wanted
        for together in opened.packed():
            if isinstance(together, PlainNodes):
                assert list(map(node_digest, together.records())) == together.digests


USUAL = [
    b'{"node":{"node_id":"%d","text":"A \\"quoted\\" text.\\n"}}\n',
    b'{"node": {"node_id": "%d", "text": "T. \xc3\xa9", "stage": 2, "kind": "a", "step": "s"}}\n',
    b'{"node":{"text":"\\u00e9","node_id":"%d","kind":null,"metadata":{"share":0.5,"model":"m"}}}\r\n',
    b'{"node":{"node_id":"%d","text":"","stage":10,"metadata":{"page":3,"model":"m","is":true}}}\n',
    b'{"edge":{"source":"%d","target":"\xc3\xa9"}}\n',
    b'{"edge": {"target": "b/.*", "source": "%d"}}\r\n',
]


@pytest.mark.parametrize("line", USUAL)
def test_usual_lines_are_read_many_at_a_time(line):
    lines = [line % number for number in range(5)]
    found = plain_records(b"".join(lines), 7)
    assert found is not None
    assert len(found) == 5
    apart = found.records() if isinstance(found, PlainNodes) else found.edges()
    assert list(apart) == list(one_by_one(b"".join([b"\n" * 5, HEADER, b"\n", *lines])))
    (begin, end), kind = line.split(b"%d"), line[: len(b'{"edge"')]
    repeated = begin + b'8","node_id":"8' + end, begin + b'8","target":"8' + end
    nested = line % 8 + kind + b": [" + line % 8 + b"]}\n"
    unended = kind + b": \n" + (line % 8)[len(kind) + 1 :]
    two = (line % 8).strip() + line % 9 + b"\n"
    for other in [b"\n", b"{}\n", b"\xff\n", line % 8 + b"\n", *repeated, nested, unended, two]:
        assert plain_records(b"".join([*lines, other, *lines]), 7) is None
    assert plain_records(b"".join(lines).removesuffix(b"\n"), 7) is None


def test_lines_are_parted_into_runs_of_one_kind():
    edges, node = b"".join(one + b"\n" for one in PLAIN[:3]), NODES[0] + b"\n"
    assert list(runs(edges)) == [edges]
    assert list(runs(edges + node + edges + node * 3)) == [edges, node, edges, node * 3]
    assert list(runs(b"\n{}\n" + node + edges + b"{")) == [b"\n{}\n" + node, edges, b"{"]
    cut = PLAIN[0][:-1]
    assert list(runs(edges + cut)) == [edges, cut]
    assert list(runs(cut)) == [cut]
    assert list(runs(b"")) == []


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
    words = random.Random(1).randbytes(1_000_000).hex().encode()
    long = b'{"node":{"node_id":"d","text":"%s"}}' % words
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
    text = "Both gauges stood at nine. " * 35_000
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


@settings(max_examples=30)
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


@pytest.mark.parametrize(("name", "count"), [("many.jsonl", 3), ("many.json", 3), ("one.jsonl", 1)])
def test_lines_of_whole_documents_are_a_process_each_and_a_broken_one_leaves_the_others(
    tmp_path: Path, name: str, count: int
) -> None:
    def document(text: str) -> str:
        nodes = [{"node_id": "r", "text": "Rain."}, {"node_id": "t", "text": text}]
        return json.dumps({"nodes": nodes, "edges": [{"source": "r", "target": "t"}]})

    path = tmp_path / name
    lines = [document("It rained."), "{broken", document("It snowed.")][:count]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    importer = ProcessFileImporter()
    assert importer.detect(path) is None
    found = list(importer.processes(path, ImportOptions()))
    assert [one.where for one in found] == [f"{path}#{number + 1}" for number in range(count)]
    for one, text in zip(found[::2], ["It rained.", "It snowed."], strict=False):
        for _again in range(2):
            nodes = [node for node in one.open().records() if isinstance(node, NodeRecord)]
            assert [node.text for node in nodes] == ["Rain.", text]
    if count > 1:
        with pytest.raises(InputError, match="line 2"):
            found[1].open()
    else:
        assert importer.open(path, ImportOptions()).header.process_id is None
