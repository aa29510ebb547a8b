"""The same operations in this process: no server, no port; the graph is opened when it is needed.

What reads and changes the graph goes through the routes of the service, called in process, so
that answers and errors are those of a service. Ingesting reads whatever the command line reads,
and jobs are runs of this process.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from veritrail_graph.api.client.call import Call, Source
from veritrail_graph.api.client.faults import Problem, StrangeAnswer, Unreachable, problem_of
from veritrail_graph.api.client.local_jobs import LocalJobs
from veritrail_graph.api.client.operations import AsyncDoor, Door, Operations
from veritrail_graph.api.client.trails import Event
from veritrail_graph.api.graph_connection import GraphConnection
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import EngineUnavailable, InputError, VeriTrailError

if TYPE_CHECKING:
    from veritrail_graph.api.auth.database import ServiceDatabase
    from veritrail_graph.api.client.sending import Sender

T = TypeVar("T")

ANSWER_SECONDS = 3_600.0


class AsyncLocal(Operations, AsyncDoor):
    """The operations in this process, to be awaited.

    Args:
        settings: Where the graph is and who judges; default: as the environment says.
        home: Folder of the embedded engine, in place of the one in the settings.

    Raises:
        InputError: A setting of the environment has a value that it cannot have.
    """

    def __init__(
        self, settings: Settings | None = None, *, home: str | PathLike[str] | None = None
    ) -> None:
        settings = settings or Settings.load()
        self.settings = settings if home is None else replace(settings, home=Path(home))
        self._graph = GraphConnection(self.settings, patience=None)
        self._jobs = LocalJobs(self.settings, self._graph.store)
        self._routes: Sender | None = None
        self._service: ServiceDatabase | None = None
        self._own: Mapping[str, Callable[[Call[Any]], Awaitable[Any]]] = {
            "health": self._health,
            "ready": self._ready,
            "ingest": self._ingest,
            "verify": self._jobs.start,
            "job": self._jobs.state,
            "cancel": self._jobs.cancel,
            "resume": self._jobs.resume,
            "jobs": self._jobs.listed,
            "review": self._reviewed,
        }

    def __repr__(self) -> str:
        where = self.settings.neo4j_uri or f"the embedded engine in {self.settings.home}"
        return f"<AsyncLocal: {where}>"

    async def aclose(self) -> None:
        """Stop what runs and close the connection; an embedded engine ends by itself."""
        await self._jobs.close()
        if self._routes is not None:
            await self._routes.aclose()
        if self._service is not None:
            await asyncio.to_thread(self._service.close)
        await self._graph.close()

    async def perform(self, call: Call[T]) -> T:
        """Carry a call out.

        Raises:
            Problem: It is refused, or cannot be done.
        """
        own = self._own.get(call.name)
        if own is None:
            return await self._sender().send(call)
        try:
            return call.read(await own(call))
        except (Problem, StrangeAnswer, Unreachable):
            raise
        except VeriTrailError as error:
            if isinstance(error, EngineUnavailable):
                await self._graph.lost()
            raise _problem(error) from error

    async def events(self, job_id: str, after: str | None) -> AsyncIterator[Event]:
        """What happens in a job until it is over."""
        try:
            async for event in self._jobs.events(job_id, after):
                yield event
        except VeriTrailError as error:
            raise _problem(error) from error

    def _sender(self) -> Sender:
        """Calls the routes of the service in this process."""
        import httpx2

        from veritrail_graph.api.auth.database import ServiceDatabase, service_url
        from veritrail_graph.api.client.inside import application
        from veritrail_graph.api.client.sending import Sender

        if self._routes is None:
            self._service = ServiceDatabase(service_url(self.settings))
            app = application(self.settings, self._graph, self._service)
            inside = httpx2.ASGITransport(app)
            http = httpx2.AsyncClient(transport=inside, base_url="http://localhost")
            self._routes = Sender(http, ANSWER_SECONDS, patience=0.0)
        return self._routes

    async def _health(self, _call: Call[Any]) -> dict[str, str]:
        return {"status": "ok"}

    async def _ready(self, _call: Call[Any]) -> dict[str, str]:
        await self._graph.check()
        return {"status": "ready"}

    async def _reviewed(self, call: Call[Any]) -> Any:
        """A review by whoever is logged in, unless it says by whom."""
        from veritrail_graph.api.reviews import reviewer_named

        body = dict(call.body or {})
        body["reviewer"] = reviewer_named(body.get("reviewer"), self.settings.values)
        return await self._sender().document(replace(call, body=body))

    async def _ingest(self, call: Call[Any]) -> dict[str, Any]:
        """Store a process that is read as the command line reads it: files, folders, documents."""
        from veritrail_graph.api.app.answers import Ingested
        from veritrail_graph.graph import ingest as ingesting
        from veritrail_graph.graph.importers.registry import ImportOptions, open_input
        from veritrail_graph.graph.restoring import restore

        most, source = self.settings.max_node_text, call.source
        if source is None:
            raise InputError("there is nothing to ingest")
        with tempfile.TemporaryDirectory(prefix="veritrail-") as folder:
            path = await asyncio.to_thread(_on_disk, source, Path(folder))
            options = ImportOptions(max_node_text=most)
            reading = await asyncio.to_thread(open_input, path, options=options)
            wanted = call.query.get("process_id")
            if call.query.get("append"):
                report = await ingesting.append(
                    await self._graph.store(), reading, process_id=wanted, max_node_text=most
                )
                return Ingested.of(report).model_dump(mode="json")
            found = await ingesting.read_and_check(reading, process_id=wanted, max_node_text=most)
            store = await self._graph.store()  # what is rejected starts no engine
            again = bool(call.query.get("replace"))
            report = await ingesting.store_process(store, reading, found, replace=again)
            return Ingested.of(await restore(store, reading, report)).model_dump(mode="json")


class Local(Operations, Door):
    """The operations in this process, for plain callers.

    Args:
        settings: Where the graph is and who judges; default: as the environment says.
        home: Folder of the embedded engine, in place of the one in the settings.

    Raises:
        InputError: A setting of the environment has a value that it cannot have.
    """

    def __init__(
        self, settings: Settings | None = None, *, home: str | PathLike[str] | None = None
    ) -> None:
        super().__init__(AsyncLocal(settings, home=home))


def _on_disk(source: Source, folder: Path) -> Path:
    """A source as a file that can be read twice."""
    from veritrail_graph.api.client import uploads

    path = uploads.path_of(source)
    if path is not None:
        return path
    if isinstance(source, Mapping):
        document = folder / "process.json"
        document.write_bytes(uploads.written(source))
        return document
    assert not isinstance(source, str | PathLike)  # noqa: S101  # those are paths
    lines = folder / "process.jsonl"
    with lines.open("wb") as file:
        for record in source:
            if not isinstance(record, Mapping):
                raise InputError("a process is a path, a document, or the objects of its lines")
            file.write(uploads.written(record) + b"\n")
    return lines


def _problem(error: VeriTrailError) -> Problem:
    """An error of ours as a service would tell it."""
    from veritrail_graph.api.http.problems import told

    answer = told(error)
    after = answer.headers.get("retry-after", "")
    document = json.loads(bytes(answer.body))
    return problem_of(answer.status_code, document, float(after) if after.isdigit() else None)
