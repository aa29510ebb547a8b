"""Traces of MLflow 3: searched in an experiment, and fetched with their spans.

Source: the REST API of MLflow 3 (`traces/search`, `traces/batchGet`, `traces/ID/assessments`,
`experiments/get-by-name`), as `mlflow-skinny` calls it.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers.addresses.address import ToolAddress
from veritrail_graph.graph.importers.addresses.connection import Login, NotThere, ToolConnection
from veritrail_graph.graph.importers.addresses.tool import (
    ListedTrace,
    Pages,
    basic,
    entries,
    value_of,
)

_TRACES = "api/3.0/mlflow/traces"
_BY_NAME = "api/2.0/mlflow/experiments/get-by-name"
_RUNNING = "IN_PROGRESS"


def login(environ: Mapping[str, str]) -> Login:
    """Return the way in; a server may need no key.

    Raises:
        InputError: No server is named.
    """
    url = value_of(environ, "MLFLOW_TRACKING_URI")
    if not url.startswith(("http://", "https://")):
        raise InputError("mlflow:// needs a server: set MLFLOW_TRACKING_URI to its http address.")
    user = value_of(environ, "MLFLOW_TRACKING_USERNAME")
    password = value_of(environ, "MLFLOW_TRACKING_PASSWORD")
    token = value_of(environ, "MLFLOW_TRACKING_TOKEN")
    headers: dict[str, str] = {}
    if user and password:
        headers["Authorization"] = basic(user, password)
    elif token:
        headers["Authorization"] = f"Bearer {token}"
    secrets = [one for one in (password, token) if one]
    secrets += [one.split(" ", 1)[1] for one in headers.values()]
    keys = "MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD"
    return Login("MLflow", url, "MLFLOW_TRACKING_URI", keys, headers, secrets)


def open_tool(connection: ToolConnection, address: ToolAddress) -> Mlflow:
    """Return the tool."""
    return Mlflow(connection, address)


class Mlflow:
    """Traces of an experiment, by its name or its number.

    Args:
        connection: The connection.
        address: The address.
    """

    at_once = 10
    form: str | None = "mlflow-assessments"

    def __init__(self, connection: ToolConnection, address: ToolAddress) -> None:
        self._connection, self._address = connection, address

    async def project(self) -> str | None:
        """The number of the experiment."""
        return await self._experiment()

    async def listed(self) -> AsyncIterator[ListedTrace]:
        """The traces of the experiment."""
        for trace_id in self._address.ids:
            yield ListedTrace(trace_id)
        if self._address.ids:
            return
        experiment = {"experiment_id": await self._experiment()}
        query: dict[str, Any] = {
            "locations": [{"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": experiment}],
            "max_results": 100,
            "order_by": ["timestamp_ms DESC"],
        }
        if self._address.since is not None:
            since = int((time.time() - self._address.since) * 1_000)
            query["filter"] = f"timestamp_ms >= {since}"
        pages = Pages(self._address)
        while True:
            page = await self._connection.post(f"{_TRACES}/search", query)
            if page == {}:  # protobuf leaves out what is empty
                return
            for one in entries(page, "traces", self._address):
                if isinstance(one.get("trace_id"), str):
                    yield ListedTrace(one["trace_id"], one.get("state") == _RUNNING)
            cursor = pages.next(page.get("next_page_token"))
            if cursor is None:
                return
            query["page_token"] = cursor

    async def traces(self, trace_ids: Sequence[str]) -> dict[str, Any]:
        """Traces with their spans; those whose spans are in a store of artifacts have none here."""
        query = [("trace_ids", one) for one in trace_ids]
        page = await self._connection.get(f"{_TRACES}/batchGet", query)
        found: dict[str, Any] = {}
        for one in entries(page or {"traces": []}, "traces", self._address):
            about = one.get("trace_info")
            if isinstance(about, dict) and one.get("spans"):
                found[str(about.get("trace_id"))] = one
        return found

    async def write_back(self, document: bytes) -> int:
        """Write assessments, but those of verifications that the trace has one of already."""
        given = json.loads(document)
        place = f"{_TRACES}/{quote(given['trace_id'], safe='')}"
        answer = await self._connection.get(place)
        trace = answer.get("trace") if isinstance(answer, dict) else None
        about = trace.get("trace_info") if isinstance(trace, dict) else None
        known = about.get("assessments") if isinstance(about, dict) else None
        seen = {_identity(one) for one in known or () if isinstance(one, dict)}
        new = [one for one in given["assessments"] if _identity(one) not in seen]
        for one in new:
            await self._connection.post(f"{place}/assessments", {"assessment": one}, only_once=True)
        return len(new)

    async def _experiment(self) -> str:
        """Return the number of the experiment that is named.

        Raises:
            InputError: There is none.
        """
        project = self._address.project
        if project.isascii() and project.isdigit():
            return project
        try:
            found = await self._connection.get(_BY_NAME, [("experiment_name", project)])
        except NotThere:
            raise InputError(f"{self._address}: there is no experiment {shown(project)}.") from None
        about = found.get("experiment") if isinstance(found, dict) else None
        number = about.get("experiment_id") if isinstance(about, dict) else None
        if not isinstance(number, str):
            raise InputError(f"{self._address}: the answer names no experiment.")
        return number


def _identity(assessment: Mapping[str, Any]) -> tuple[str, str]:
    """Return what tells an assessment from others: its name, and the verification that it is of."""
    about = assessment.get("metadata")
    about = about if isinstance(about, dict) else {}
    return str(assessment.get("assessment_name")), str(about.get("veritrail.verification_id"))
