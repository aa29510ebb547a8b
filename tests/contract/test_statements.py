"""Every .cypher file: its header, its callers, its plan, its columns."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import neo4j
import pytest

from veritrail_graph import cypher
from veritrail_graph.graph.store import DatabaseAddress, Store

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", cypher.names())
def test_a_statement_keeps_the_rules_of_its_header(name: str) -> None:
    statement = cypher.load(name)
    assert statement.purpose
    assert statement.source


@pytest.mark.parametrize("name", cypher.names())
def test_a_statement_has_a_caller(name: str) -> None:
    folder, code = name.split("/")[0], product()
    if folder == "queries":  # called by the folder
        assert f'names("{folder}")' in code
    elif folder == "schema":
        assert "cypher.schema()" in code
    else:
        assert f'"{name}"' in code or name in purged(code)


@cache
def product() -> str:
    """All Python of the product."""
    return "\n".join(
        file.read_text("utf-8")
        for package in ("graph", "verifier", "api")
        for file in (ROOT / package).rglob("*.py")
    )


def purged(code: str) -> set[str]:
    """What is called by the kind of what it deletes."""
    (kinds,) = re.findall(r'for kind in \(([^)]+)\):\s+await [^"]+f"process/delete_\{kind\}"', code)
    return {f"process/delete_{kind}" for kind in re.findall(r'"(\w+)"', kinds)}


@pytest.mark.engine
@pytest.mark.parametrize("name", [n for n in cypher.names() if not n.startswith("schema/")])
def test_a_statement_can_be_planned(name: str, address: DatabaseAddress, store: Store) -> None:
    statement = cypher.load(name)
    values: dict[str, Any] = {
        "string": "x", "integer": 1, "float": 1.0, "boolean": True, "list": [], "map": {}, "any": 1
    }  # fmt: skip
    parameters = {p.name: values[p.type] for p in statement.parameters}
    auth = (address.username, address.password or "") if address.username else None
    with (
        neo4j.GraphDatabase.driver(address.uri, auth=auth) as driver,
        driver.session(database=address.database) as session,
        session.begin_transaction() as tx,
    ):
        result = tx.run(statement.text, parameters)
        columns = [column.name for column in statement.columns]
        rows = list(result)
        # ArcadeDB names no columns for an answer without rows.
        assert list(result.keys()) == columns or (not rows and not result.keys())
        tx.rollback()


def test_no_statement_stands_in_python() -> None:
    pattern = re.compile(r"\b(MATCH|MERGE|UNWIND)\s*\(")
    for package in ("graph", "verifier", "api"):
        for file in (ROOT / package).rglob("*.py"):
            assert not pattern.search(file.read_text("utf-8")), file


@pytest.mark.parametrize("name", cypher.names())
def test_no_pattern_compares_a_row_with_a_free_text_id(name: str) -> None:
    # ArcadeDB takes a value like "$limit" for the parameter of that name when it stands in the
    # property map of a pattern and comes from a row; WHERE compares it as text on both engines.
    for clause in re.findall(r"MATCH\s*\([^){]*\{[^}]*\}", cypher.load(name).text):
        assert not re.search(r"\bnode_id:\s*[^$\s]", clause), clause
