"""Traces of Phoenix: listed in a project, and fetched span by span.

Source: the REST API of Phoenix (`GET /v1/projects/P/traces`, `GET /v1/projects/P/spans`, `POST
/v1/span_annotations`; server 13.15 or later), as `arize-phoenix-client` calls it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.addresses.address import ToolAddress
from veritrail_graph.graph.importers.addresses.connection import Login, NotThere, ToolConnection
from veritrail_graph.graph.importers.addresses.tool import ListedTrace, Pages, entries, value_of

LOCAL = "http://localhost:6006"
_ANNOTATIONS = "v1/span_annotations"
_AT_ONCE = 100


def login(environ: Mapping[str, str]) -> Login:
    """Return the way in; a server of one's own may need no key."""
    collector = value_of(environ, "PHOENIX_COLLECTOR_ENDPOINT").rstrip("/")
    collector = collector.removesuffix("/v1/traces").rstrip("/")
    url = value_of(environ, "PHOENIX_ENDPOINT") or collector
    url = url or value_of(environ, "PHOENIX_BASE_URL") or LOCAL
    key = value_of(environ, "PHOENIX_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    setting = "PHOENIX_ENDPOINT or PHOENIX_COLLECTOR_ENDPOINT"
    return Login("Phoenix", url, setting, "PHOENIX_API_KEY", headers, (key,) if key else ())


def open_tool(connection: ToolConnection, address: ToolAddress) -> Phoenix:
    """Return the tool."""
    return Phoenix(connection, address)


class Phoenix:
    """Traces of a project, by its name or id; a span is there when it has ended.

    Args:
        connection: The connection.
        address: The address.
    """

    at_once = 10
    form: str | None = "phoenix-annotations"

    def __init__(self, connection: ToolConnection, address: ToolAddress) -> None:
        self._connection, self._address = connection, address
        self._project = f"v1/projects/{quote(address.project, safe='')}"

    async def project(self) -> str | None:
        """The project as it is named; a server has one of each name."""
        return self._address.project

    async def listed(self) -> AsyncIterator[ListedTrace]:
        """The traces of the project."""
        for trace_id in self._address.ids:
            yield ListedTrace(trace_id)
        if self._address.ids:
            return
        query = [("limit", "100"), ("sort", "start_time"), ("order", "desc")]
        if self._address.since is not None:
            since = datetime.now(UTC) - timedelta(seconds=self._address.since)
            query.append(("start_time", since.isoformat()))
        try:
            async for one in self._pages("traces", query):
                if isinstance(one.get("trace_id"), str):
                    yield ListedTrace(one["trace_id"])
        except NotThere:
            words = "there is no such project, or the server is older than 13.15"
            raise InputError(f"{self._address}: {words}.") from None

    async def traces(self, trace_ids: Sequence[str]) -> dict[str, Any]:
        """Traces with their spans."""
        found: dict[str, list[Any]] = {}
        query = [("limit", "100"), *(("trace_id", one) for one in trace_ids)]
        async for span in self._pages("spans", query):
            context = span.get("context")
            trace_id = context.get("trace_id") if isinstance(context, dict) else None
            if isinstance(trace_id, str) and trace_id in trace_ids:
                found.setdefault(trace_id, []).append(span)
        return {trace_id: {"data": spans} for trace_id, spans in found.items()}

    async def write_back(self, document: bytes) -> int:
        """Write annotations; one that is sent again takes its own place."""
        given = json.loads(document)["data"]
        for start in range(0, len(given), _AT_ONCE):
            some = {"data": given[start : start + _AT_ONCE]}
            await self._connection.post(_ANNOTATIONS, some)
        return len(given)

    async def _pages(
        self, what: str, query: list[tuple[str, str]]
    ) -> AsyncIterator[dict[str, Any]]:
        pages = Pages(self._address)
        cursor: str | None = None
        while True:
            more = [] if cursor is None else [("cursor", cursor)]
            page = await self._connection.get(f"{self._project}/{what}", [*query, *more])
            for one in entries(page, "data", self._address):
                yield one
            cursor = pages.next(page.get("next_cursor"))
            if cursor is None:
                return
