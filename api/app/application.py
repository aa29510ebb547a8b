"""The application that every door calls: the command line, REST, the page, clients, MCP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

from veritrail_graph.api.configured.graph_connection import GraphConnection, OpenGraph
from veritrail_graph.graph.errors import EngineUnavailable

if TYPE_CHECKING:
    from veritrail_graph.api.app.attribution import Attributions
    from veritrail_graph.api.app.checking import Checking
    from veritrail_graph.api.app.claims import Claims
    from veritrail_graph.api.app.dialogues import Dialogues
    from veritrail_graph.api.app.in_flight import InFlight
    from veritrail_graph.api.app.jobs import Jobs
    from veritrail_graph.api.app.names import Names
    from veritrail_graph.api.app.nodes import Drawings, Nodes
    from veritrail_graph.api.app.processes import Processes
    from veritrail_graph.api.app.projects import Projects
    from veritrail_graph.api.app.queries import Queries
    from veritrail_graph.api.app.reviews import Reviews
    from veritrail_graph.api.app.runs import Runs
    from veritrail_graph.api.app.search import Search
    from veritrail_graph.api.app.sharing import Sharing
    from veritrail_graph.api.app.summaries import Summaries
    from veritrail_graph.api.app.teamwork import Teamwork
    from veritrail_graph.api.app.traces import Traces
    from veritrail_graph.api.app.verifications import Verifications
    from veritrail_graph.api.app.versions import Versions
    from veritrail_graph.api.auth.audit import Audit
    from veritrail_graph.api.auth.database import ServiceDatabase
    from veritrail_graph.api.auth.keys import Keys
    from veritrail_graph.api.jobs.event_feed import EventFeeds
    from veritrail_graph.api.jobs.model import JobFigures
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.store import DatabaseAddress, Store

T = TypeVar("T")


class Application:
    """Every operation on a graph, and the connections that they share.

    The graph and the service database are opened when an operation first needs them.

    Args:
        settings: Where the graph is and how claims are judged; None: as the environment says.
        patience: Seconds that an operation waits for an engine that is starting; None: as long
            as the settings say.
        works: Whether a worker in this process takes part in all jobs.
        is_local: Whether this process carries out the jobs that it submits, and no others.
        on_engine_start: Called before the embedded engine is started.
        graph: An open graph; None: the one of the settings.
        service_key: The key of the service that is set from outside.

    Attributes:
        settings: The settings.
        service_key: The key of the service that is set from outside.
        graph: The connection to the graph.
        is_local: Whether this process carries out the jobs that it submits, and no others.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        patience: float | None = None,
        works: bool = False,
        is_local: bool = False,
        on_engine_start: Callable[[], None] | None = None,
        graph: GraphConnection | None = None,
        service_key: str | None = None,
    ) -> None:
        from veritrail_graph.api.settings import Settings

        self.settings = settings if settings is not None else Settings()
        if works and self.settings.webhook_url is not None:
            from veritrail_graph.api.work.webhooks.target import Target

            Target.of(self.settings)  # what cannot be one is refused before anything is begun
        self.graph = graph or GraphConnection(self.settings, patience, on_engine_start)
        self._works, self.is_local = works, is_local
        self.service_key = service_key
        self._parts: dict[Callable[[Application], Any], Any] = {}

    @classmethod
    def over(cls, store: Store, settings: Settings | None = None) -> Application:
        """An application over a graph that is open already; closing it leaves the graph open."""
        return cls(settings, graph=OpenGraph(store))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop the jobs of this process and close every connection."""
        if "search" in self.__dict__:
            await self.search.stop()
        if "traces" in self.__dict__:
            await self.traces.stop()
        if "jobs" in self.__dict__:
            await self.jobs.stop()
        if "database" in self.__dict__:
            await asyncio.to_thread(self.database.close)
        await self.graph.close()

    async def graph_address(self) -> DatabaseAddress:
        """Return where a Bolt client reaches the graph, with its login.

        Raises:
            EngineUnavailable: It cannot be started or reached.
        """
        return (await self.graph.store()).database.address

    async def check(self) -> None:
        """Ask the graph something.

        Raises:
            EngineError: It does not answer.
        """
        await self.graph.check()

    def part(self, kind: Callable[[Application], T]) -> T:
        """Return the part of a class that another package adds; it is made once."""
        if kind not in self._parts:
            self._parts[kind] = kind(self)
        part: T = self._parts[kind]
        return part

    @cached_property
    def processes(self) -> Processes:
        """Processes: list, get, ingest, export, copy, delete."""
        from veritrail_graph.api.app.processes import Processes

        return Processes(self)

    @cached_property
    def versions(self) -> Versions:
        """Reads that see one version of a process."""
        from veritrail_graph.api.app.versions import Versions

        return Versions(self)

    @cached_property
    def traces(self) -> Traces:
        """Spans that instrumented programs send, until their traces are processes."""
        from veritrail_graph.api.app.traces import Traces

        return Traces(self)

    @cached_property
    def nodes(self) -> Nodes:
        """Nodes of a process and what they were made of."""
        from veritrail_graph.api.app.nodes import Nodes

        return Nodes(self)

    @cached_property
    def drawings(self) -> Drawings:
        """Parts of processes as they are drawn and listed."""
        from veritrail_graph.api.app.nodes import Drawings

        return Drawings(self)

    @cached_property
    def claims(self) -> Claims:
        """Claims of a process: list, add, edit, remove, extract."""
        from veritrail_graph.api.app.claims import Claims

        return Claims(self)

    @cached_property
    def checking(self) -> Checking:
        """Checks: what is new is stored and verified, and the wrong claims are named."""
        from veritrail_graph.api.app.checking import Checking

        return Checking(self)

    @cached_property
    def dialogues(self) -> Dialogues:
        """Dialogues: verify their turns, and what was found of them."""
        from veritrail_graph.api.app.dialogues import Dialogues

        return Dialogues(self)

    @cached_property
    def attributions(self) -> Attributions:
        """Return what sentences rest on."""
        from veritrail_graph.api.app.attribution import Attributions

        return Attributions(self)

    @cached_property
    def verifications(self) -> Verifications:
        """Stored verifications with their trails."""
        from veritrail_graph.api.app.verifications import Verifications

        return Verifications(self)

    @cached_property
    def runs(self) -> Runs:
        """Runs of a process: list and compare them."""
        from veritrail_graph.api.app.runs import Runs

        return Runs(self)

    @cached_property
    def in_flight(self) -> InFlight:
        """Verifications that jobs have not finished yet."""
        from veritrail_graph.api.app.in_flight import InFlight

        return InFlight(self)

    @cached_property
    def reviews(self) -> Reviews:
        """Reviews of verdicts by people."""
        from veritrail_graph.api.app.reviews import Reviews

        return Reviews(self)

    @cached_property
    def names(self) -> Names:
        """Ids in full, of the short forms that people type."""
        from veritrail_graph.api.app.names import Names

        return Names(self)

    @cached_property
    def queries(self) -> Queries:
        """The query library."""
        from veritrail_graph.api.app.queries import Queries

        return Queries(self)

    @cached_property
    def sharing(self) -> Sharing:
        """Links that show one process to people without a key."""
        from veritrail_graph.api.app.sharing import Sharing

        return Sharing(self)

    @cached_property
    def teamwork(self) -> Teamwork:
        """Comments on claims, rounds of review, decisions between reviewers."""
        from veritrail_graph.api.app.teamwork import Teamwork

        return Teamwork(self)

    @cached_property
    def projects(self) -> Projects:
        """Projects of processes, and how they do over time."""
        from veritrail_graph.api.app.projects import Projects

        return Projects(self)

    @cached_property
    def search(self) -> Search:
        """Search over the texts of all processes."""
        from veritrail_graph.api.app.search import Search

        return Search(self)

    @cached_property
    def summaries(self) -> Summaries:
        """Processes in the order in which they need attention."""
        from veritrail_graph.api.app.summaries import Summaries

        return Summaries(self.graph)

    @cached_property
    def database(self) -> ServiceDatabase:
        """The service database: keys, the audit log, jobs."""
        from veritrail_graph.api.auth.database import ServiceDatabase, service_url

        return ServiceDatabase(service_url(self.settings))

    def check_database(self) -> None:
        """See that the database of the service, and what lies beside it, can be used.

        A database that cannot be reached yet is not checked: the service waits for it.

        Raises:
            EngineError: Another version of this program made its tables.
            InputError: One of its files in the home folder is no database.
        """
        from veritrail_graph.api.auth.database import JOBS_FILE

        self.database.check_files(*([self.settings.home / JOBS_FILE] if self._works else []))
        with suppress(EngineUnavailable):
            self.database.create()

    @property
    def has_database(self) -> bool:
        """Say whether the service database was ever made, as far as is known without opening it."""
        settings = self.settings
        return bool(
            settings.jobs_url
            or "database" in self.__dict__
            or (settings.home / "service.sqlite3").exists()
        )

    @cached_property
    def keys(self) -> Keys:
        """Keys of the service."""
        from veritrail_graph.api.auth.keys import Keys

        return Keys(self.database)

    @cached_property
    def audit(self) -> Audit:
        """Return who did what."""
        from veritrail_graph.api.auth.audit import Audit

        return Audit(self.database)

    @cached_property
    def feeds(self) -> EventFeeds:
        """The events of jobs, as they happen."""
        from veritrail_graph.api.jobs.event_feed import EventFeeds

        return EventFeeds(self.database, self.jobs.events)

    async def job_figures(self) -> JobFigures:
        """Return how many jobs and claims have each status, and what they cost.

        Raises:
            EngineUnavailable: The service database cannot be reached.
        """
        from veritrail_graph.api.jobs.storage.reading import figures

        return await self.database.read(figures)

    @cached_property
    def jobs(self) -> Jobs:
        """Jobs: submit, follow, cancel, resume."""
        from veritrail_graph.api.app.jobs import Jobs

        return Jobs(
            self.settings,
            self.database,
            self.graph,
            works=self._works,
            is_local=self.is_local,
        )
