"""`veritrail query --cypher`: what it prints, pasted into a real server, gives the same rows."""

from __future__ import annotations

import re
from typing import Any

import pytest
from fakes.processes import process

from veritrail_graph.api.app.queries import pasteable
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.queries import MAX_ROWS, example_of, find, library

PARAMETER = re.compile(r":param (\w+) => (.+);")
NASTY = [
    "it's",
    'a "quoted" name',
    "\\",
    "\\'",
    "\\u0027",
    "\\\\u0027 + 'x'",
    "a\nb\tc\rd",
    "'; MATCH (n) DETACH DELETE n; //",
    "// no comment",
    "/* nor this */",
    ":param node_id => 'x';",
    "$node_id {x} `y`",
    "\x00\x07\x1b[31m",
    "\u2028\u2029\u0085\ufeff\u202e",
    "😀 é 漢",
    "null",
]


def pasted(store: Store, arun: Any, text: str) -> list[tuple[Any, ...]]:
    """Rows of the printed text, taken line by line as Neo4j's shell takes it."""
    values: dict[str, Any] = {}
    lines = text.splitlines()
    while lines and (lines[0].startswith((":param ", "//")) or not lines[0]):
        line = lines.pop(0)
        if line.startswith(":param "):
            match = PARAMETER.fullmatch(line)
            assert match, line
            value = arun(store.database.run_text(f"RETURN {match[2]} AS value", {}, 1))
            values[match[1]] = value.rows[0][0]
    statement = "\n".join(lines)
    assert statement.endswith(";")
    found = arun(store.database.run_text(statement[:-1], values, MAX_ROWS))
    return [tuple(row) for row in found.rows]


@pytest.mark.engine
def test_every_string_comes_through_as_it_was(store: Store, arun: Any, process_id: str) -> None:
    texts = {"root": "Root."} | {name: f"Text of {number}." for number, name in enumerate(NASTY)}
    edges = [("root", name) for name in NASTY]
    arun(ingest(store, process(texts, edges, process_id=process_id)))
    for number, name in enumerate(NASTY):
        given = {"process_id": process_id, "from_node_id": "root", "to_node_id": name}
        rows = pasted(store, arun, pasteable(find("path_between"), given))
        assert [row[1] for row in rows] == ["root", name]
        assert rows[1][-1] == f"Text of {number}."
    assert arun(store.processes.get(process_id)).nodes == len(texts)


@pytest.mark.engine
def test_what_is_printed_without_parameters_can_be_run(store: Store, arun: Any) -> None:
    for statement in library():
        limit = {"limit": "1"} if "limit" in statement.defaults else {}
        rows = pasted(store, arun, pasteable(statement, limit))
        assert len(rows) <= 1 or not limit, statement.short_name
        assert all(len(row) == len(statement.columns) for row in rows), statement.short_name


def test_parameters_come_from_the_call_then_the_default_then_the_example() -> None:
    text = pasteable(find("descendants"), {"node_id": "x", "limit": "null"})
    assert PARAMETER.findall(text) == [
        ("process_id", f"'{example_of(find('descendants'))['process_id']}'"),
        ("node_id", "'x'"),
        ("depth", "10"),
        ("limit", str(MAX_ROWS)),
    ]
    assert ":param used => true;" in pasteable(find("root_coverage"), {"used": "true"})
    assert ":param used => null;" in pasteable(find("root_coverage"), {})


@pytest.mark.parametrize("given", [{"colour": "red"}, {"limit": "0"}, {"limit": "'1'"}])
def test_what_cannot_be_run_is_not_printed(given: dict[str, str]) -> None:
    with pytest.raises(InputError):
        pasteable(find("descendants"), given)
