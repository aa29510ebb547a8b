"""The prompt of our own: cutting input, reading literals, showing values."""

from __future__ import annotations

import json
import math
from typing import Any

import neo4j.graph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.api.cli.shell.literals import LiteralError, read_literal, read_parameters
from veritrail_graph.api.cli.shell.statements import Splitter
from veritrail_graph.api.cli.shell.values import cell, notation


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


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'a'", "a"),
        ('"a"', "a"),
        (r"'it\'s \"so\" \\ \n\t'", 'it\'s "so" \\ \n\t'),
        (r"'\u00e9\U0001F600\ud83d\ude00'", "é😀😀"),
        ("'$rows; 😀'", "$rows; 😀"),
        ("1", 1),
        (" -17 ", -17),
        ("0x1F", 31),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("1.5", 1.5),
        ("-.5", -0.5),
        ("1e3", 1000.0),
        ("TRUE", True),
        ("false", False),
        ("Null", None),
        ("[]", []),
        ("[1, 'a', [null]]", [1, "a", [None]]),
        ("{}", {}),
        ("{a: 1, `b c`: {d: [true]}}", {"a": 1, "b c": {"d": [True]}}),
    ],
)
def test_literals_are_read_as_cypher_reads_them(text: str, value: Any) -> None:
    found = read_literal(text)
    assert found == value
    assert type(found) is type(value)


NO_LITERALS = """
'a | a | 'a' 'b' | [1 | [1 2] | [,1] | {1: 2} | {a 1} | {a: } | 1x | 1.2.3 | date() | - 1
| 9223372036854775808 | '\\q' | '\\U99999999' | '\\ud83d'
"""


@pytest.mark.parametrize("text", ["", "[" * 99, *(text.strip() for text in NO_LITERALS.split("|"))])
def test_what_is_no_literal_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(LiteralError) as refused:
        read_literal(text)
    assert str(refused.value)


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("a => 1", {"a": 1}),
        ("a => 'x;';", {"a": "x;"}),
        ("a=>1", {"a": 1}),
        ("a: 1", {"a": 1}),
        ("`a b` => 1", {"a b": 1}),
        ("{a: 1, b: 'c'}", {"a": 1, "b": "c"}),
        ("a => {b: 1}", {"a": {"b": 1}}),
        ("a => ' => '", {"a": " => "}),
    ],
)
def test_parameters_are_set_one_by_one_or_as_a_map(text: str, parameters: dict[str, Any]) -> None:
    assert read_parameters(text) == parameters


@pytest.mark.parametrize("text", ["a", "a = 1", "=> 1", "1a => 1", "a =>", "{a: 1} b"])
def test_a_parameter_line_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(LiteralError):
        read_parameters(text)


def values() -> st.SearchStrategy[Any]:
    plain = (
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(codec="utf-8"))
    )
    names = st.text(st.characters(codec="utf-8"), min_size=1)
    return st.recursive(
        plain,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
        max_leaves=8,
    )


@given(values())
def test_a_value_that_is_shown_is_read_back_as_the_same(value: Any) -> None:
    assert read_literal(notation(value)) == value


@given(st.text(st.characters(codec="utf-8")))
def test_a_string_of_json_is_read_as_the_same(text: str) -> None:
    assert read_literal(json.dumps(text)) == text


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
