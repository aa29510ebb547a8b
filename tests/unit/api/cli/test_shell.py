"""The prompt of our own: cutting input, reading literals, showing values."""

from __future__ import annotations

import math
from typing import Any

import neo4j.graph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.api.cli.shell import Splitter, cell, notation


def cut(text: str) -> list[str]:
    splitter = Splitter()
    found = [piece.text for line in text.split("\n") for piece in splitter.feed(line)]
    return found + [piece.text for piece in splitter.rest()]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("RETURN 1;\n", ["RETURN 1"]),
        ("RETURN 1; RETURN 2;RETURN 3", ["RETURN 1", "RETURN 2", "RETURN 3"]),
        ("RETURN\n  1\n;\n", ["RETURN\n  1"]),
        ("RETURN 'a;b', \"c;d\", `e;f`;", ["RETURN 'a;b', \"c;d\", `e;f`"]),
        ("RETURN 'it\\'s;';RETURN '\\\\';", ["RETURN 'it\\'s;'", "RETURN '\\\\'"]),
        ('RETURN "say \\";\\"";', ['RETURN "say \\";\\""']),
        ("RETURN 'a\n;b';", ["RETURN 'a\n;b'"]),
        ("// one; two\nRETURN 1;", ["// one; two\nRETURN 1"]),
        ("RETURN 1 // it's; done\n, 2;", ["RETURN 1 // it's; done\n, 2"]),
        ("RETURN /* ; ' */ 1;", ["RETURN /* ; ' */ 1"]),
        ("RETURN 'http://x;';", ["RETURN 'http://x;'"]),
        (";;\n;", []),
        ("// only a comment\n/* and ; another */", []),
        (":help\nRETURN 1;", [":help", "RETURN 1"]),
        ("  :param x => 'a;b';\n", [":param x => 'a;b';"]),
        ("// what it is\n:param x => 1;\n\nRETURN $x;", [":param x => 1;", "RETURN $x"]),
        ("RETURN 1; :params\n", ["RETURN 1", ":params"]),
        ("MATCH\n:Span\n;", ["MATCH\n:Span"]),
        ("RETURN 1;\r\nRETURN 2;\r\n", ["RETURN 1", "RETURN 2"]),
        ("RETURN `a``;b`;", ["RETURN `a``;b`"]),
    ],
)
def test_input_is_cut_at_semicolons_outside_of_strings_and_comments(
    text: str, pieces: list[str]
) -> None:
    assert cut(text) == pieces


def test_a_statement_that_is_begun_shows_it_and_can_be_dropped() -> None:
    splitter = Splitter()
    assert splitter.feed("RETURN 'a") == []
    assert splitter.is_open
    splitter.rest()
    assert not splitter.is_open
    assert [piece.text for piece in splitter.feed("RETURN 2;")] == ["RETURN 2"]


@given(st.lists(st.text(st.characters(exclude_characters="\n\r", codec="utf-8")), max_size=4))
def test_strings_never_end_a_statement(texts: list[str]) -> None:
    statements = [f"RETURN {notation(text)} AS x" for text in texts]
    assert cut("".join(f"{statement};\n" for statement in statements)) == statements


def a_graph() -> tuple[Any, Any, Any]:
    graph = neo4j.graph.Graph()
    a = neo4j.graph.Node(graph, "1", 1, ["Span", "Odd label"], {"node_id": "a", "stage": 1})
    b = neo4j.graph.Node(graph, "2", 2, ["Span"], {})
    knows = graph.relationship_type("INPUT_TO")(graph, "3", 3, {"cited": True})
    knows._start_node, knows._end_node = a, b
    return a, b, knows


def test_nodes_relationships_and_paths_read_as_patterns() -> None:
    a, b, knows = a_graph()
    assert notation(a) == "(:`Odd label`:Span {node_id: 'a', stage: 1})"
    assert notation(b) == "(:Span)"
    assert notation(knows) == "[:INPUT_TO {cited: true}]"
    path = neo4j.graph.Path(a, knows)
    assert notation(path) == f"{notation(a)}-[:INPUT_TO {{cited: true}}]->(:Span)"
    back = neo4j.graph.Path(b, knows)
    assert notation(back) == f"(:Span)<-[:INPUT_TO {{cited: true}}]-{notation(a)}"


def test_a_cell_is_one_line_without_controls_and_bounded() -> None:
    assert cell("two\nlines\x1b[31m") == "two lines\\x1b[31m"
    assert cell("x" * 1000, 40) == "x" * 39 + "…"
    assert cell(math.pi) == str(math.pi)
    assert cell(None) == "null"
