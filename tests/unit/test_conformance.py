"""docs/conformance.md names code and tests that exist, and leaves no line of Algorithm 1 out."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from veritrail_graph import cypher

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/conformance.md"
RECORD = "docs/adr/0003-algorithm-1.md"

TEST = re.compile(r"`(?P<file>[\w/]+\.py)::(?P<name>\w+)`")
CODE = re.compile(r"`(?P<file>[\w/]+\.py):(?P<name>[A-Za-z_][\w.]*)`")
STATEMENT = re.compile(r"`cypher/(?P<name>[\w/]+)\.cypher`")
PROMPT = re.compile(r"`(?P<file>verifier/prompts/[\w.]+\.md)`")
ROW = re.compile(r"^\| (?P<place>[^|]+) \| (?P<rest>.+) \|$", re.MULTILINE)
LINES_OF_ALGORITHM_1 = 37
RULINGS = 9


@cache
def defined(file: str) -> frozenset[str]:
    """Names that a module defines: `name`, and `Class.member`."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    found = set(_names(tree.body))
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{name}" for name in _names(node.body)}
    return frozenset(found)


def _names(body: list[ast.stmt]) -> set[str]:
    found: set[str] = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            found |= {
                name.id
                for target in node.targets
                for name in ast.walk(target)
                if isinstance(name, ast.Name)
            }
    return found


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def section(title: str) -> str:
    """The text from a heading to the next one."""
    text = page(PAGE)
    start = text.index(f"## {title}")
    end = text.find("\n## ", start)
    return text[start:] if end < 0 else text[start:end]


def test_every_function_that_is_named_exists() -> None:
    references = {(ref["file"], ref["name"]) for ref in CODE.finditer(page(PAGE))}
    missing = [
        f"{file}:{symbol}"
        for file, symbol in sorted(references)
        if not (ROOT / file).is_file() or symbol not in defined(file)
    ]
    assert not missing


def test_every_test_that_is_named_exists() -> None:
    references = {(ref["file"], ref["name"]) for ref in TEST.finditer(page(PAGE))}
    missing = [
        f"{file}::{test}"
        for file, test in sorted(references)
        if not (ROOT / file).is_file() or test not in defined(file)
    ]
    assert not missing


def test_every_statement_that_is_named_exists() -> None:
    named = {ref["name"] for ref in STATEMENT.finditer(page(PAGE))}
    assert named
    assert named <= {*cypher.names(), "schema"}


def test_every_prompt_that_is_named_exists() -> None:
    named = {ref["file"] for ref in PROMPT.finditer(page(PAGE))}
    assert named
    assert not [file for file in sorted(named) if not (ROOT / file).is_file()]


def test_every_reference_of_a_table_is_understood() -> None:
    """What stands in backquotes with a path in it is checked by one of the tests above."""
    text = page(PAGE)
    quoted = [each for each in re.findall(r"`[^`]+`", text) if "/" in each]
    understood = (CODE, TEST, STATEMENT, PROMPT)
    assert not [each for each in quoted if not any(form.fullmatch(each) for form in understood)]


@pytest.mark.parametrize(
    ("title", "count"),
    [("Appendix C.1: Algorithm 1", LINES_OF_ALGORITHM_1), ("Our rulings", RULINGS)],
)
def test_every_line_and_every_ruling_has_a_row(title: str, count: int) -> None:
    places = [row["place"] for row in ROW.finditer(section(title))]
    numbered = [int(place) for place in places if place.isdigit()]
    assert numbered == [*range(1, count + 1)]


def test_every_line_of_algorithm_1_has_code_and_a_test() -> None:
    rows = ROW.finditer(section("Appendix C.1: Algorithm 1"))
    for row in rows:
        if row["place"].isdigit():
            assert CODE.search(row["rest"]), row["place"]
            assert TEST.search(row["rest"]), row["place"]


def test_every_row_with_code_has_a_test_unless_it_waits_for_a_model() -> None:
    untested = [
        row["place"]
        for row in ROW.finditer(page(PAGE))
        if CODE.search(row["rest"])
        and not TEST.search(row["rest"])
        and "(no model in this version)" not in row["rest"]
    ]
    assert not untested


def test_the_record_of_algorithm_1_has_every_ruling() -> None:
    record = page(RECORD)
    numbers = re.findall(r"^(\d)\. \*\*", record, re.MULTILINE)
    assert numbers == [str(number) for number in range(1, RULINGS + 1)]
