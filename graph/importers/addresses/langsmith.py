"""Traces of LangSmith: runs of a project, from its second API or, where there is none, the first.

Source: the API of LangSmith (`POST /api/v2/runs/query`; `GET /sessions`, `POST /runs/query`), as
its client package calls it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers.addresses.address import ToolAddress
from veritrail_graph.graph.importers.addresses.connection import Login, NotThere, ToolConnection
from veritrail_graph.graph.importers.addresses.tool import ListedTrace, Pages, entries, value_of

CLOUD = "https://api.smith.langchain.com"
_BEGINNING = datetime(2020, 1, 1, tzinfo=UTC)
_SECOND, _FIRST = "api/v2/runs/query", "runs/query"
_LISTED = ("id", "trace_id", "end_time")
_WHOLE = (
    "id", "name", "run_type", "start_time", "end_time", "error", "extra", "events", "inputs",
    "outputs", "dotted_order", "trace_id",
)  # fmt: skip


def login(environ: Mapping[str, str]) -> Login:
    """Return the way in.

    Raises:
        InputError: There is no key.
    """
    key = value_of(environ, "LANGSMITH_API_KEY", "LANGCHAIN_API_KEY")
    if not key:
        raise InputError("langsmith:// needs a key: set LANGSMITH_API_KEY.")
    url = value_of(environ, "LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT") or CLOUD
    headers = {"x-api-key": key}
    if workspace := value_of(environ, "LANGSMITH_WORKSPACE_ID"):
        headers["X-Tenant-Id"] = workspace
    return Login("LangSmith", url, "LANGSMITH_ENDPOINT", "LANGSMITH_API_KEY", headers, (key,))


def open_tool(connection: ToolConnection, address: ToolAddress) -> LangSmith:
    """Return the tool."""
    return LangSmith(connection, address)


class LangSmith:
    """Traces of a project, by its name or id.

    Args:
        connection: The connection.
        address: The address.
    """

    at_once = 1
    form: str | None = None

    def __init__(self, connection: ToolConnection, address: ToolAddress) -> None:
        self._connection, self._address = connection, address
        self._is_old = False
        self._number: str | None = None

    async def project(self) -> str | None:
        """The id of the project."""
        return await self._project()

    async def listed(self) -> AsyncIterator[ListedTrace]:
        """The traces by their root runs."""
        for trace_id in self._address.ids:
            yield ListedTrace(trace_id)
        if self._address.ids:
            return
        since = self._address.since
        start = _BEGINNING if since is None else datetime.now(UTC) - timedelta(seconds=since)
        async for run in self._runs(_LISTED, start, is_root=True):
            root = run.get("trace_id") or run.get("id")
            if isinstance(root, str):
                yield ListedTrace(root, is_running=run.get("end_time") is None)

    async def traces(self, trace_ids: Sequence[str]) -> dict[str, Any]:
        """Traces with all their runs."""
        found: dict[str, Any] = {}
        for trace_id in trace_ids:
            each = self._runs(_WHOLE, _BEGINNING, trace_id=trace_id)
            runs = [_as_read(run) async for run in each if run.get("trace_id") == trace_id]
            if runs:
                found[trace_id] = {"runs": runs}
        return found

    async def write_back(self, document: bytes) -> int:
        """Refuse: no export writes verdicts in a form of LangSmith.

        Raises:
            InputError: Always.
        """
        del document
        raise InputError(f"{self._address}: verdicts are not written back to LangSmith.")

    async def _runs(
        self,
        fields: Sequence[str],
        start: datetime,
        *,
        is_root: bool | None = None,
        trace_id: str | None = None,
    ) -> AsyncIterator[dict[str, Any]]:
        if not self._is_old:
            query = {
                "project_ids": [await self._project()],
                "selects": [*map(str.upper, fields), "PARENT_RUN_IDS"],
                "min_start_time": start.isoformat(),
                "page_size": 100,
                "is_root": is_root,
                "trace_id": trace_id,
            }
            try:
                async for run in self._pages(_SECOND, query, "items"):
                    yield run
                return
            except NotThere:
                self._is_old = True
        query = {
            "session": [await self._project()],
            "select": [*fields, "parent_run_id"],
            "start_time": start.isoformat(),
            "limit": 100,
            "is_root": is_root,
            "trace": trace_id,
        }
        async for run in self._pages(_FIRST, query, "runs"):
            yield run

    async def _pages(
        self, path: str, query: Mapping[str, Any], key: str
    ) -> AsyncIterator[dict[str, Any]]:
        pages = Pages(self._address)
        given = {name: one for name, one in query.items() if one is not None}
        while True:
            page = await self._connection.post(path, given)
            for run in entries(page, key, self._address):
                yield run
            cursors = page.get("cursors")
            older = cursors.get("next") if isinstance(cursors, dict) else None
            cursor = pages.next(page.get("next_cursor") or older)
            if cursor is None:
                return
            given["cursor"] = cursor

    async def _project(self) -> str:
        """Return the id of the project that is named.

        Raises:
            InputError: There is none.
        """
        if self._number is None:
            self._number = _uuid(self._address.project) or await self._looked_up()
        return self._number

    async def _looked_up(self) -> str:
        name = self._address.project
        query = [("name", name), ("limit", "1")]
        page = await self._connection.get("sessions", query)
        found = entries({"sessions": page}, "sessions", self._address)
        number = _uuid(str(found[0].get("id"))) if found else None
        if number is None:
            raise InputError(f"{self._address}: there is no project {shown(name)}.")
        return number


def _uuid(text: str) -> str | None:
    try:
        return str(UUID(text))
    except ValueError:
        return None


def _as_read(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run as LangSmith's files have it; the second API lists ancestors."""
    above = run.get("parent_run_ids")
    parent = above[-1] if isinstance(above, list) and above else None
    return {
        **run,
        "run_type": str(run.get("run_type") or "chain").lower(),
        "parent_run_id": run.get("parent_run_id") or parent,
    }
