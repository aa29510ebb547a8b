"""The query library: named Cypher queries with typed parameters and bounded results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from difflib import get_close_matches
from typing import Any

from veritrail_graph import cypher
from veritrail_graph.cypher import Parameter, Statement
from veritrail_graph.graph.errors import InputError, NotFound, Violation, shown
from veritrail_graph.graph.model.queried import Query, QueryColumn, QueryParameter, QueryRows
from veritrail_graph.graph.store.claims import ClaimStore
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.processes import ready_process
from veritrail_graph.graph.store.trails import TrailStore

MAX_ROWS = 10_000
"""Rows of one answer; more are cut and `truncated` says so."""

Orders = Mapping[frozenset[str], tuple[str, ...]]
"""The order in which maps of these keys are shown."""

GROUPS = (
    "Claims and verdicts",
    "Reviews by people",
    "Where a claim comes from",
    "Where it went wrong",
    "What rests on what",
    "Dialogues",
    "The process as a graph",
    "Runs and cost",
    "Integrity: no rows on a sound graph",
)
"""The headings of the library, in the order in which it is listed."""

_BRACES = re.compile(r"\{([^{}]*)\}")
_WITHOUT_VERDICTS = GROUPS[-2:]
_NODES = ("node_id", "from_node_id", "to_node_id")
_VERIFICATIONS = ("verification_id", "other_verification_id")
_PYTHON: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "float": (int, float),
    "boolean": (bool,),
    "list": (list, tuple),
    "map": (Mapping,),
}


class QueryLibrary:
    """The named queries of `cypher/queries`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, name: str, parameters: Mapping[str, Any]) -> QueryRows:
        """Run a query by name, with parameters as they were typed or as values.

        Raises:
            NotFound: No such query, or the process, claim or node it is about is not stored.
            InputError: A parameter is missing, unknown, of another type or out of its bounds.
        """
        statement = find(name)
        values = read_parameters(statement, parameters)
        await self._check_subject(values)
        limit = min(int(values.get("limit") or MAX_ROWS), MAX_ROWS)
        if "limit" in values:
            values["limit"] = limit + 1
        found = await self._database.run_text(statement.text, values, limit)
        orders = orders_of(statement)
        rows = [[plain(value, orders) for value in row] for row in found.rows]
        # ArcadeDB names no columns for an answer without rows; the header always does.
        columns = [column.name for column in statement.columns]
        indicative = (
            await self._is_indicative(values, columns, rows) if shows_verdicts(statement) else None
        )
        return QueryRows.model_construct(
            columns=columns, rows=rows, truncated=found.truncated, indicative=indicative
        )

    async def _is_indicative(
        self,
        values: Mapping[str, Any],
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
    ) -> bool:
        """Return whether a verification that the answer draws on is indicative only.

        Those are the verifications that the rows name; rows that name none, and no rows, come
        from the verification in force of each claim.
        """
        ((in_force, every),) = await self._database.read(
            "trail/indicative",
            process_id=values["process_id"],
            claim_id=values.get("claim_id"),
        )
        places = [place for place, name in enumerate(columns) if name in _VERIFICATIONS]
        if not places or not rows:
            return bool(in_force)
        named = {row[place] for row in rows for place in places}
        return any(one in named for of_a_claim in every for one in of_a_claim)

    async def _check_subject(self, values: Mapping[str, Any]) -> None:
        """An unknown id is an error and not an empty answer."""
        process_id = values.get("process_id")
        if process_id is None:
            return
        await ready_process(self._database, process_id)
        claim_id = values.get("claim_id")
        claims = ClaimStore(self._database)
        if claim_id is not None and not await claims.by_id(process_id, [claim_id]):
            raise NotFound(
                f"Process {process_id!r} has no claim {claim_id!r}.", code="claim_unknown"
            )
        for node_id in (values[name] for name in _NODES if values.get(name) is not None):
            rows = await self._database.read("nodes/known", process_id=process_id, node_id=node_id)
            if not rows:
                raise NotFound(f"Process {process_id!r} has no node {shown(node_id)}")
        for name in _VERIFICATIONS:
            if values.get(name) is not None:
                await self._check_verification(process_id, claim_id, values[name])

    async def _check_verification(
        self, process_id: str, claim_id: str | None, verification_id: str
    ) -> None:
        found = await TrailStore(self._database).headers([verification_id])
        subjects = [(v.process_id, v.claim_id) for v in found]
        if (process_id, claim_id or (subjects and subjects[0][1])) not in subjects:
            about = f"claim {claim_id!r} of process" if claim_id else "process"
            raise NotFound(
                f"No verification {verification_id!r} of {about} {process_id!r} is stored"
            )


def library() -> tuple[Statement, ...]:
    """All queries of the library, by name."""
    return tuple(cypher.load(name) for name in cypher.names("queries"))


def grouped() -> dict[str, tuple[Statement, ...]]:
    """All queries of the library under their headings, in the order of `GROUPS`."""
    statements = library()
    return {group: tuple(one for one in statements if one.group == group) for group in GROUPS}


def find(name: str) -> Statement:
    """A query of the library.

    Raises:
        NotFound: There is none of this name; the message names those that are near.
    """
    known = {statement.short_name: statement for statement in library()}
    normal = name.replace("-", "_")
    if normal not in known:
        near = get_close_matches(normal[:80].lower(), known, n=3)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        raise NotFound(f"No query {_short(name)}.{meant}", code="query_unknown")
    return known[normal]


def shows_verdicts(statement: Statement) -> bool:
    """Return whether a query's answers draw on verdicts, and not only on their cost."""
    return (
        ":Verification" in statement.text
        and statement.group not in _WITHOUT_VERDICTS
        and any(parameter.name == "process_id" for parameter in statement.parameters)
    )


def described(statement: Statement) -> Query:
    """Return a query with all that its header says."""
    return Query(
        name=statement.short_name,
        group=statement.group,
        purpose=statement.purpose,
        parameters=[
            QueryParameter(
                name=parameter.name,
                type=parameter.type,
                required=parameter.required,
                default=parameter.default,
                choices=list(parameter.choices),
                bounds=list(parameter.bounds) if parameter.bounds else None,
                meaning=parameter.meaning,
            )
            for parameter in statement.parameters
        ],
        columns=[
            QueryColumn(name=column.name, type=column.type, meaning=column.meaning)
            for column in statement.columns
        ],
        shows_verdicts=shows_verdicts(statement),
        example=example_of(statement),
        source=statement.source,
    )


def example_of(statement: Statement) -> dict[str, str]:
    """Parameters of the example in the header of a query, as they would be typed."""
    return dict(part.split("=", 1) for part in (statement.example or "").split())


def read_parameters(statement: Statement, given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as they were typed, or as values, as the values that the query takes.

    Raises:
        InputError: One is missing, unknown, of another type or out of its bounds; all faults are
            listed.
    """
    declared = {parameter.name: parameter for parameter in statement.parameters}
    violations = [
        Violation("unknown_parameter", name, f"is no parameter; there are: {', '.join(declared)}")
        for name in given
        if name not in declared
    ]
    values: dict[str, Any] = {}
    for name, parameter in declared.items():
        if name not in given:
            if parameter.required:
                message = f"is missing: {parameter.meaning}"
                violations.append(Violation("missing_parameter", name, message, {"name": name}))
            values[name] = parameter.default
            continue
        try:
            values[name] = _value(parameter, given[name])
        except ValueError:
            message = f"{_short(given[name])} is not of type {parameter.type}"
            violations.append(Violation("wrong_type", name, message))
            continue
        fault = _fault(parameter, values[name])
        if fault:
            violations.append(
                Violation("out_of_range", name, f"{fault}, and is {_short(given[name])}")
            )
    if violations:
        is_missing = any(one.kind == "missing_parameter" for one in violations)
        needed = [one.name for one in statement.parameters if one.required]
        raise InputError(
            f"Query {statement.short_name!r} cannot be run with these parameters.",
            violations,
            code="parameters_needed" if is_missing else None,
            query=statement.short_name,
            values=" ".join(needed).upper(),
        )
    return values


def _value(parameter: Parameter, given: Any) -> Any:
    """A value of the parameter's type; none where the parameter has a default.

    The text `null` means no value unless the parameter takes any text: an id can read so.

    Raises:
        ValueError: It is of another type.
    """
    takes_any_text = parameter.type == "string" and not parameter.choices
    if not parameter.required and (given is None or (given == "null" and not takes_any_text)):
        return None
    if isinstance(given, str):
        return cypher.convert(given, parameter.type)
    types = _PYTHON.get(parameter.type, (object,))
    if not isinstance(given, types) or (isinstance(given, bool) and bool not in types):
        raise ValueError(parameter.type)
    return given


def _fault(parameter: Parameter, value: Any) -> str | None:
    """Only what has no default of its own can be left open; `limit` then is `MAX_ROWS`."""
    if value is None and parameter.default is not None and parameter.name != "limit":
        return "must not be null"
    return parameter.fault(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def orders_of(statement: Statement) -> Orders:
    """The orders that the columns of a header give to the keys of their maps.

    A meaning like `{node_id, sentences: [{sentence, text}]}` gives one order for each pair of
    braces.
    """
    orders: dict[frozenset[str], tuple[str, ...]] = {}
    for column in statement.columns:
        text = column.meaning
        while found := _BRACES.search(text):
            keys = tuple(part.split(":")[0].strip() for part in found[1].split(","))
            orders[frozenset(keys)] = keys
            text = text[: found.start()] + text[found.end() :]
    return orders


def plain(value: Any, orders: Orders | None = None) -> Any:
    """A value of the driver as a JSON value; nodes and relationships by their properties.

    Keys of a map stand in the order that the header of the query gives them, others sorted:
    each engine has an order of its own.
    """
    if isinstance(value, list | tuple):
        return [plain(item, orders) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    items = getattr(value, "items", None)
    if callable(items):
        found = {str(key): item for key, item in items()}
        keys = (orders or {}).get(frozenset(found), tuple(sorted(found)))
        return {key: plain(found[key], orders) for key in keys}
    return str(value)
