"""The query library: named Cypher queries with typed parameters and bounded results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

import cypher
from cypher import Statement
from graph.errors import InputError, NotFound, Violation
from graph.rules import shown
from graph.store.database import Database
from graph.store.processes import ProcessStore
from graph.store.trails import TrailStore

MAX_ROWS = 10_000
"""Rows of one answer; more are cut and `truncated` says so."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Columns and rows as JSON values; `truncated` when there were more rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool


class QueryLibrary:
    """The named queries of `cypher/queries`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, name: str, parameters: Mapping[str, str]) -> QueryResult:
        """Run a query by name, with parameters as they were typed.

        Raises:
            NotFound: No such query, or the process, claim or node it is about is not stored.
            InputError: A parameter is missing, unknown or of another type.
        """
        statement = find(name)
        values = read_parameters(statement, parameters)
        await self._check_subject(values)
        limit = min(int(values.get("limit") or MAX_ROWS), MAX_ROWS)
        if "limit" in values:
            values["limit"] = limit + 1
        found = await self._database.run_text(statement.text, values, limit)
        rows = tuple(tuple(plain(value) for value in row) for row in found.rows)
        # ArcadeDB names no columns for an answer without rows; the header always does.
        columns = tuple(column.name for column in statement.columns)
        return QueryResult(columns, rows, found.truncated)

    async def _check_subject(self, values: Mapping[str, Any]) -> None:
        """An unknown id is an error and not an empty answer."""
        process_id = values.get("process_id")
        if process_id is None:
            return
        processes = ProcessStore(self._database)
        await processes.get(process_id)
        claim_id, node_id = values.get("claim_id"), values.get("node_id")
        verification_id = values.get("verification_id")
        if claim_id is not None and not await processes.claims_by_id(process_id, [claim_id]):
            raise NotFound(f"Process {process_id!r} has no claim {claim_id!r}")
        if node_id is not None:
            rows = await self._database.read("walk/node", process_id=process_id, node_id=node_id)
            if not rows:
                raise NotFound(f"Process {process_id!r} has no node {shown(node_id)}")
        if verification_id is not None:
            found = await TrailStore(self._database).headers([verification_id])
            subjects = [(v.process_id, v.claim.claim_id) for v in found]
            if (process_id, claim_id or (subjects and subjects[0][1])) not in subjects:
                about = f"claim {claim_id!r} of process" if claim_id else "process"
                raise NotFound(
                    f"No verification {verification_id!r} of {about} {process_id!r} is stored"
                )


def library() -> tuple[Statement, ...]:
    """All queries of the library, by name."""
    return tuple(cypher.load(name) for name in cypher.names("queries"))


def find(name: str) -> Statement:
    """A query of the library.

    Raises:
        NotFound: There is none of this name; the message lists those that are.
    """
    known = {statement.short_name: statement for statement in library()}
    normal = name.replace("-", "_")
    if normal not in known:
        names = ", ".join(known)
        raise NotFound(f"No query {name!r}. Queries: {names}. `veritrail query --list` says more.")
    return known[normal]


def read_parameters(statement: Statement, given: Mapping[str, str]) -> dict[str, Any]:
    """Parameters as they were typed, as the values that the query takes.

    Raises:
        InputError: One is missing, unknown or of another type; all faults are listed.
    """
    declared = {parameter.name: parameter for parameter in statement.parameters}
    violations = [
        Violation("unknown_parameter", name, f"is no parameter; there are: {', '.join(declared)}")
        for name in given
        if name not in declared
    ]
    values: dict[str, Any] = {}
    for name, parameter in declared.items():
        if given.get(name) == "null" and not parameter.required:
            values[name] = None
        elif name in given:
            try:
                values[name] = cypher.convert(given[name], parameter.type)
            except ValueError:
                message = f"{given[name]!r} is not of type {parameter.type}"
                violations.append(Violation("wrong_type", name, message))
        elif parameter.required:
            message = f"is missing: {parameter.meaning} (--param {name}=…)"
            violations.append(Violation("missing_parameter", name, message))
        else:
            values[name] = parameter.default
    limit = values.get("limit")
    if isinstance(limit, int) and limit < 1:
        violations.append(Violation("out_of_range", "limit", "must be at least 1"))
    if violations:
        raise InputError(f"Query {statement.short_name!r} cannot be run", violations)
    return values


def plain(value: Any) -> Any:
    """A value of the driver as a JSON value; nodes and relationships by their properties."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    items = getattr(value, "items", None)
    if callable(items):
        return {str(key): plain(item) for key, item in items()}
    return str(value)
