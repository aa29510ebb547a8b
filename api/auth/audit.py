"""The audit log: one row for everything that was started, stopped, changed or removed.

Rows are only ever added. A row that the database does not take is written to the log instead: what
was done is done, and the caller gets its answer.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from veritrail_graph.api.auth.access import Caller
from veritrail_graph.api.auth.database import ServiceDatabase, metadata
from veritrail_graph.graph.errors import EngineUnavailable

MOST_ROWS = 1_000

audit_rows = sa.Table(
    "audit",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("at", sa.Float, nullable=False, index=True),
    sa.Column("key_id", sa.String),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("action", sa.String, nullable=False),
    sa.Column("target", sa.String, index=True),
    sa.Column("request_id", sa.String),
    sa.Column("details", sa.Text, nullable=False),
)

_log = logging.getLogger("veritrail.audit")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that somebody did.

    Attributes:
        number: Its place in the log.
        at: When, in seconds since 1970.
        key_id: The key; None: no key was asked for.
        name: Who, for people.
        action: What was done, such as `process.delete`.
        target: To what: an id.
        request_id: The request that did it.
        details: What else there is to say.
    """

    number: int
    at: float
    key_id: str | None
    name: str
    action: str
    target: str | None
    request_id: str | None
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters of the audit log; None: any.

    Attributes:
        who: Name or id of a key.
        action: The action, or what it begins with, such as `process`.
        target: The id that it was done to.
        since: Not before this time, in seconds since 1970.
    """

    who: str | None = None
    action: str | None = None
    target: str | None = None
    since: float | None = None


class Audit:
    """Writes and reads who did what.

    Args:
        service: The database of the service.
    """

    def __init__(self, service: ServiceDatabase) -> None:
        self._service = service

    async def record(
        self,
        caller: Caller | None,
        action: str,
        *,
        target: str | None = None,
        **details: Any,
    ) -> None:
        """Write an action of a caller who is named; it never fails, as the action is done."""
        if caller is None:
            return
        row = _row(caller, action, target, details)
        try:
            await self._service.run(lambda connection: _insert(connection, row))
        except EngineUnavailable:
            _log.exception("not written to the audit log", extra={"fields": {"audit": row}})

    async def entries(self, wanted: Filters, limit: int = 100) -> list[Entry]:
        """The latest entries, newest first.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        return await self._service.read(lambda connection: _entries(connection, wanted, limit))


def record_in(
    connection: Connection, caller: Caller, action: str, target: str | None, **details: Any
) -> None:
    """Write that somebody did something, in the transaction that does it."""
    _insert(connection, _row(caller, action, target, details))


def _row(
    caller: Caller,
    action: str,
    target: str | None,
    details: Mapping[str, Any],
) -> dict[str, Any]:
    return {
        "at": time.time(),
        "key_id": caller.key_id,
        "name": caller.name,
        "action": action,
        "target": None if target is None else _storable(target),
        "request_id": caller.request_id,
        "details": json.dumps(details, default=str),
    }


def _storable(text: str) -> str:
    """An id that PostgreSQL can keep too: without NUL and half characters."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()


def _insert(connection: Connection, row: Mapping[str, Any]) -> None:
    connection.execute(audit_rows.insert().values(**row))


def _entries(connection: Connection, wanted: Filters, limit: int) -> list[Entry]:
    table = audit_rows.c
    found = sa.select(audit_rows).order_by(table.number.desc()).limit(min(limit, MOST_ROWS))
    if wanted.who is not None:
        found = found.where(sa.or_(table.key_id == wanted.who, table.name == wanted.who))
    if wanted.action is not None:
        begins = table.action.startswith(f"{wanted.action}.", autoescape=True)
        found = found.where(sa.or_(table.action == wanted.action, begins))
    if wanted.target is not None:
        found = found.where(table.target == wanted.target)
    if wanted.since is not None:
        found = found.where(table.at >= wanted.since)
    return [
        Entry(**{**row, "details": json.loads(row["details"])})
        for row in connection.execute(found).mappings()
    ]
