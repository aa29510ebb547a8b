"""Every .cypher file: its header, its callers, its plan, its columns."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import neo4j
import pytest

from veritrail_graph import cypher
from veritrail_graph.graph.store import DatabaseAddress

ROOT = Path(__file__).resolve().parents[2]


def test_every_statement_keeps_the_rules_of_its_header_and_has_a_caller() -> None:
    code = "\n".join(
        file.read_text("utf-8")
        for package in ("graph", "verifier", "api")
        for file in (ROOT / package).rglob("*.py")
    )
    for name in cypher.names():
        statement, folder = cypher.load(name), name.split("/")[0]
        assert statement.purpose, name
        assert statement.source, name
        if folder == "queries":  # called by the folder
            assert f'names("{folder}")' in code
        elif folder == "migrations":
            assert 'names("migrations")' in code
        elif folder == "schema":
            assert "cypher.schema()" in code
        else:
            assert f'"{name}"' in code, name


@pytest.mark.engine
@pytest.mark.usefixtures("store")
def test_every_statement_can_be_planned(address: DatabaseAddress) -> None:
    values: dict[str, Any] = {
        "string": "x", "integer": 1, "float": 1.0, "boolean": True, "list": [], "map": {}, "any": 1
    }  # fmt: skip
    auth = (address.username, address.password or "") if address.username else None
    with (
        neo4j.GraphDatabase.driver(address.uri, auth=auth) as driver,
        driver.session(database=address.database) as session,
    ):
        for name in cypher.names():
            if name.startswith("schema/"):
                continue
            statement = cypher.load(name)
            parameters = {p.name: values[p.type] for p in statement.parameters}
            with session.begin_transaction() as tx:
                result = tx.run(statement.text, parameters)
                columns = [column.name for column in statement.columns]
                rows = list(result)
                # ArcadeDB names no columns for an answer without rows.
                assert list(result.keys()) == columns or (not rows and not result.keys()), name
                tx.rollback()


def test_no_pattern_compares_a_row_with_a_free_text_id() -> None:
    # ArcadeDB takes a value like "$limit" for the parameter of that name when it is in the
    # property map of a pattern and comes from a row; WHERE compares it as text on both engines.
    for name in cypher.names():
        for clause in re.findall(r"MATCH\s*\([^){]*\{[^}]*\}", cypher.load(name).text):
            assert not re.search(r"\bnode_id:\s*[^$\s]", clause), (name, clause)
