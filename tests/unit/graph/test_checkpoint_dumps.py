"""Checkpoints of LangGraph in a dump of PostgreSQL, which langgraph-checkpoint-postgres 3 made."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Origin

DUMP = Path(__file__).with_name("langgraph-postgres.sql.gz")
TEXT = gzip.decompress(DUMP.read_bytes())
REGISTER = "Harbour register: the ferry Tern carries 42 cars\tand 210 people \\ since 2019."
ANSWER = "The ferry Tern carries 42 cars, the harbour register says."
COPY = b"COPY public.checkpoints ("


def read(path: Path) -> list[Draft]:
    found = [one.open() for one in find_processes(path)]
    assert all(isinstance(one, Draft) for one in found)
    return [one for one in found if isinstance(one, Draft)]


def test_each_thread_is_a_process() -> None:
    drafts = read(DUMP)
    assert [one.header.process_id for one in drafts] == ["one", "two"]
    for draft in drafts:
        survey(draft)
        origins = {node.text: node.origin for node in draft.nodes.values()}
        assert origins[REGISTER] is Origin.SOURCE
        assert origins["The ferry Tern is 61 metres long."] is Origin.SOURCE
        assert 'measure({"what":"Tern"})' in origins
        (terminal,) = draft.header.terminals or ()
        assert draft.nodes[terminal].text == ANSWER


def test_checkpoints_of_inner_graphs_are_counted(tmp_path: Path) -> None:
    start = TEXT.index(COPY)
    path = tmp_path / "dump.sql"
    path.write_bytes(TEXT[:start] + TEXT[start:].replace(b"\none\t\t", b"\none\tinner\t", 1))
    assert any("1 checkpoint of graphs within" in one for one in read(path)[0].header.warnings)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text[: text.index(COPY) + 700], "was cut"),
        (lambda text: text.replace(COPY, b"COPY public.others ("), "without rows of LangGraph's"),
        (lambda _: b"PGDMP\x01\x0e", "pg_restore -f dump.sql"),
        (lambda text: text.replace(b"metadata) FROM", b"meta) FROM"), "lacks metadata"),
        (lambda text: text.replace(b"Harbour", b"\xff\xfe").replace(b"\none\t", b"\n\xff\t"),
         "no UTF-8"),
        (lambda text: text.replace(b"\\\\x", b"\\\\xzz"), "is damaged"),
        (lambda text: text.replace(b"\tmsgpack\t", b"\tpickle\t"), "'pickle'"),
        (lambda text: text.replace(b'{"v": 4', b"[" * 100_000), "damaged"),
        (lambda text: text.replace(b"\\\\x", b"\\\\x" + b"91" * 5_000), "damaged"),
    ],
    ids=["cut", "no-rows", "archive", "columns", "encoding", "hex", "pickle", "deep", "nested"],
)  # fmt: skip
def test_what_cannot_be_read_is_told(
    tmp_path: Path, change: Callable[[bytes], bytes], said: str
) -> None:
    path = tmp_path / "dump.sql"
    path.write_bytes(change(TEXT))
    with pytest.raises(InputError, match=said):
        read(path)


def test_a_line_of_many_megabytes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "dump.sql"
    start = TEXT.index(COPY)
    path.write_bytes(TEXT[:start] + b"-- " + b"x" * 10_000_000 + b"\n" + TEXT[start:])
    assert len(read(path)) == 2
