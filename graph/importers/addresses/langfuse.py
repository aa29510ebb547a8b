"""Traces of Langfuse: observations of API v2, or the traces of a server that has no v2 yet.

Source: the API of Langfuse 4 (`GET /api/public/v2/observations`, `/api/public/projects`, `POST
/api/public/scores`) and of Langfuse 3 (`GET /api/public/traces`), as its client packages say.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers.addresses.address import ToolAddress
from veritrail_graph.graph.importers.addresses.connection import (
    Login,
    NotThere,
    Rejected,
    ToolConnection,
)
from veritrail_graph.graph.importers.addresses.tool import (
    ListedTrace,
    Pages,
    basic,
    entries,
    value_of,
)

CLOUD = "https://cloud.langfuse.com"
_OBSERVATIONS = "api/public/v2/observations"
_TRACES = "api/public/traces"
_SCORES = "api/public/scores"
_SCORES_AT_ONCE = 100
_LISTED = ("fields", "core,basic"), ("isRootObservation", "true"), ("limit", "1000")
_WHOLE = ("fields", "core,basic,io,model,trace_context"), ("limit", "100")
_KEYS = "LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY"


def login(environ: Mapping[str, str]) -> Login:
    """Return the way in.

    Raises:
        InputError: A key is missing.
    """
    public = value_of(environ, "LANGFUSE_PUBLIC_KEY")
    secret = value_of(environ, "LANGFUSE_SECRET_KEY")
    if not public or not secret:
        raise InputError(f"langfuse:// needs the keys of a project: set {_KEYS}.")
    url = value_of(environ, "LANGFUSE_BASE_URL", "LANGFUSE_HOST") or CLOUD
    header = basic(public, secret)
    return Login(
        "Langfuse",
        url,
        "LANGFUSE_BASE_URL or LANGFUSE_HOST",
        _KEYS,
        {"Authorization": header},
        (secret, header.removeprefix("Basic ")),
    )


def open_tool(connection: ToolConnection, address: ToolAddress) -> Langfuse:
    """Return the tool."""
    return Langfuse(connection, address)


class Langfuse:
    """Traces of the project that the keys are of.

    Args:
        connection: The connection.
        address: The address.
    """

    at_once = 1
    form: str | None = "langfuse-scores"

    def __init__(self, connection: ToolConnection, address: ToolAddress) -> None:
        self._connection, self._address = connection, address
        self._is_old = False
        self._number: str | None = None

    async def project(self) -> str | None:
        """The id of the project that the keys are of."""
        if self._number is None:
            self._number = await self._looked_up()
        return self._number

    async def listed(self) -> AsyncIterator[ListedTrace]:
        """The traces by their root observations."""
        await self.project()
        for trace_id in self._address.ids:
            yield ListedTrace(trace_id)
        if self._address.ids:
            return
        since = None
        if self._address.since is not None:
            since = datetime.now(UTC) - timedelta(seconds=self._address.since)
        try:
            async for one in self._roots(since):
                yield one
        except NotThere:
            self._is_old = True
        if self._is_old:
            async for one in self._old(since):
                yield one

    async def _roots(self, since: datetime | None) -> AsyncIterator[ListedTrace]:
        query = [*_LISTED]
        if since is not None:
            query.append(("fromStartTime", _time(since)))
        seen: set[str] = set()
        async for one in self._observations(query):
            if one.get("parentObservationId") and not one.get("isRootObservation"):
                continue  # an older server does not know the filter
            trace_id = one.get("traceId")
            if isinstance(trace_id, str) and trace_id and trace_id not in seen:
                seen.add(trace_id)
                yield ListedTrace(trace_id, is_running=_is_running(one))

    async def _old(self, since: datetime | None) -> AsyncIterator[ListedTrace]:
        """The traces of a server without v2, by the numbers of pages."""
        for number in range(1, Pages.MOST):
            query = [("page", str(number)), ("limit", "100"), ("fields", "core")]
            if since is not None:
                query.append(("fromTimestamp", _time(since)))
            page = entries(await self._connection.get(_TRACES, query), "data", self._address)
            for one in page:
                if isinstance(one.get("id"), str):
                    yield ListedTrace(one["id"])
            if not page:
                return

    async def traces(self, trace_ids: Sequence[str]) -> dict[str, Any]:
        """Traces with all their observations."""
        found = {one: await self._trace(one) for one in trace_ids}
        return {trace_id: one for trace_id, one in found.items() if one is not None}

    async def _trace(self, trace_id: str) -> Any:
        found: list[dict[str, Any]] = []
        if not self._is_old:
            try:
                found = [one async for one in self._observations([*_WHOLE, ("traceId", trace_id)])]
            except NotThere:
                self._is_old = True
        if self._is_old:
            try:
                return await self._connection.get(f"{_TRACES}/{quote(trace_id, safe='')}")
            except NotThere:
                return None
        if not found:
            return None
        return {"data": [one for one in found if one.get("traceId") == trace_id]}

    async def _observations(self, query: list[tuple[str, str]]) -> AsyncIterator[dict[str, Any]]:
        pages = Pages(self._address)
        cursor: str | None = None
        while True:
            more = [] if cursor is None else [("cursor", cursor)]
            page = await self._connection.get(_OBSERVATIONS, [*query, *more])
            for one in entries(page, "data", self._address):
                yield one
            about = page.get("meta")
            cursor = pages.next(about.get("cursor") if isinstance(about, dict) else None)
            if cursor is None:
                return

    async def write_back(self, document: bytes) -> int:
        """Write scores; one that is sent again takes its own place.

        A 207 says that some were refused; servers of version 3 take one score at a time.
        """
        await self.project()
        scores = [
            {**event["body"], "timestamp": event["timestamp"]}
            for line in document.splitlines()
            for event in json.loads(line)["batch"]
        ]
        for start in range(0, len(scores), _SCORES_AT_ONCE):
            some = scores[start : start + _SCORES_AT_ONCE]
            try:
                answer = await self._connection.post(_SCORES, some)
            except Rejected:
                for one in some:
                    await self._connection.post(_SCORES, one)
                continue
            refused = answer.get("rejected") if isinstance(answer, dict) else None
            if refused:
                raise InputError(
                    f"{self._address}: {refused} of {len(some)} scores were refused.",
                    code="tool_rejected",
                )
        return len(scores)

    async def _looked_up(self) -> str | None:
        """Return the id of the project that the keys are of; None: the server does not tell.

        Raises:
            InputError: It is not the one that is named.
        """
        named = self._address.project
        try:
            page = await self._connection.get("api/public/projects")
        except NotThere:
            if named:
                raise
            return None
        found = entries(page, "data", self._address)
        theirs = [one for one in found if named in (one.get("id"), one.get("name"), "")]
        if named and not theirs:
            names = ", ".join(shown(str(one.get("name"))) for one in found[:3]) or "no project"
            raise InputError(f"{self._address}: the keys ({_KEYS}) are those of {names}.")
        return str(theirs[0]["id"]) if len(theirs) == 1 and theirs[0].get("id") else None


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _is_running(root: Mapping[str, Any]) -> bool:
    """Return whether a root has not ended; an event never does."""
    return root.get("endTime") is None and root.get("type") != "EVENT"
