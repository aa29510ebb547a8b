"""docs/conformance.md names code, words and tests that exist, and every line of Algorithm 1."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/conformance.md"
RECORD = "docs/adr/0003-algorithm-1.md"

TEST = re.compile(r"`(?P<file>[\w/]+\.py)::(?P<name>\w+)`")
CODE = re.compile(r"`(?P<file>[\w/]+\.py):(?P<name>[A-Za-z_][\w.]*)`")
STATEMENT = re.compile(r"`cypher/(?P<name>[\w/]+)\.cypher`")
PROMPT = re.compile(r"`(?P<file>verifier/prompts/[\w.]+\.md)`")
QUOTES = re.compile(
    r"`verifier/prompts/(?P<file>[\w.]+\.md)` says (?P<words>`[^`]+`(?:, `[^`]+`)*)"
)
ROW = re.compile(r"^\| (?P<place>[^|]+) \| (?P<rest>.+) \|$", re.MULTILINE)
WORDS_ONLY = "| *words only*"
NEEDS_SHARED = re.compile(r'/ "shared"(?=\s)')
"""In a test file: it is skipped where the folder `shared` is not beside the checkout."""
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


def rows(text: str) -> list[re.Match[str]]:
    """The rows of its tables, without heads and rules."""
    found = ROW.finditer(text)
    return [
        row for row in found if not row["place"].startswith("---") and row["place"] not in HEADS
    ]


HEADS = {"place", "line", "ruling"}
OF_THE_PAPER = rows(page(PAGE).split("## Known departures")[0])
QUOTING = [row for row in OF_THE_PAPER if QUOTES.search(row["rest"])]


def named(pattern: re.Pattern[str], name: str) -> list[tuple[str, str]]:
    return sorted({(ref["file"], ref[name]) for ref in pattern.finditer(page(PAGE))})


@pytest.mark.parametrize("pattern", [CODE, TEST], ids=["code", "tests"])
def test_every_function_and_every_test_that_is_named_exists(pattern: re.Pattern[str]) -> None:
    missing = [
        f"{file}:{symbol}"
        for file, symbol in named(pattern, "name")
        if not (ROOT / file).is_file() or symbol not in defined(file)
    ]
    assert not missing


def test_every_statement_and_every_prompt_that_is_named_exists() -> None:
    statements = {ref["name"] for ref in STATEMENT.finditer(page(PAGE))}
    prompts = {ref["file"] for ref in PROMPT.finditer(page(PAGE))}
    assert statements
    assert prompts
    assert not [name for name in statements if not (ROOT / "cypher" / f"{name}.cypher").is_file()]
    assert not [file for file in sorted(prompts) if not (ROOT / file).is_file()]


def test_every_reference_of_a_table_is_understood() -> None:
    """Text in backquotes with a path in it is checked by one of the tests above."""
    text = page(PAGE)
    quoted = [each for each in re.findall(r"`[^`\n]+`", text) if "/" in each]
    understood = (CODE, TEST, STATEMENT, PROMPT)
    assert not [each for each in quoted if not any(form.fullmatch(each) for form in understood)]


def test_a_prompt_says_what_its_row_quotes() -> None:
    assert QUOTING
    for row in QUOTING:
        for quotes in QUOTES.finditer(row["rest"]):
            text = page(f"verifier/prompts/{quotes['file']}")
            words = re.findall(r"`([^`]+)`", quotes["words"])
            assert [each for each in words if each not in text] == [], row["rest"]


def test_every_prompt_that_a_row_names_is_quoted_in_it() -> None:
    assert [
        row["rest"] for row in OF_THE_PAPER if PROMPT.search(row["rest"]) and row not in QUOTING
    ] == []


def test_no_two_rules_of_a_prompt_rest_on_the_same_words() -> None:
    """Only rules that both prompts state in the same words may quote the same."""
    quoted = [
        (quotes["file"], quotes["words"])
        for row in QUOTING
        if WORDS_ONLY in row["rest"]
        for quotes in QUOTES.finditer(row["rest"])
    ]
    assert len(quoted) == len(set(quoted))


def test_a_row_has_a_test_or_says_that_only_words_hold_it() -> None:
    for row in OF_THE_PAPER:
        is_tested = TEST.search(row["rest"]) is not None
        assert is_tested != (WORDS_ONLY in f"{row['rest']} |"), row["rest"]
        assert CODE.search(row["rest"]) or STATEMENT.search(row["rest"]) or row in QUOTING


def test_no_row_rests_on_tests_alone_that_are_skipped_without_shared_files() -> None:
    for row in OF_THE_PAPER:
        files = {ref["file"] for ref in TEST.finditer(row["rest"])}
        if files:
            assert [file for file in files if not NEEDS_SHARED.search(page(file))], row["rest"]


@pytest.mark.parametrize(
    ("title", "count"),
    [("Appendix C.1: Algorithm 1", LINES_OF_ALGORITHM_1), ("Our rulings", RULINGS)],
)
def test_every_line_and_every_ruling_has_a_row(title: str, count: int) -> None:
    numbered = [int(row["place"]) for row in rows(section(title)) if row["place"].isdigit()]
    assert numbered == [*range(1, count + 1)]


def test_the_record_of_algorithm_1_has_every_ruling() -> None:
    numbers = re.findall(r"^(\d)\. \*\*", page(RECORD), re.MULTILINE)
    assert numbers == [str(number) for number in range(1, RULINGS + 1)]
