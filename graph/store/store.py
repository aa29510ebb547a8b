"""The store as a whole: one connection and what can be done with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from veritrail_graph.graph.store.attributions import AttributionStore
from veritrail_graph.graph.store.claims import ClaimStore
from veritrail_graph.graph.store.database import QUERY_SECONDS, Database, DatabaseAddress
from veritrail_graph.graph.store.dialogues import DialogueStore
from veritrail_graph.graph.store.lineage import LineageReader
from veritrail_graph.graph.store.nodes import NodeStore
from veritrail_graph.graph.store.processes import ProcessStore
from veritrail_graph.graph.store.queries import QueryLibrary
from veritrail_graph.graph.store.reading import NodeReader
from veritrail_graph.graph.store.reviews import ReviewStore
from veritrail_graph.graph.store.schema import ensure_schema
from veritrail_graph.graph.store.trails import TrailStore
from veritrail_graph.graph.store.versions import VersionStore


@dataclass(frozen=True, slots=True)
class Store:
    """A graph and everything that is done with it.

    Attributes:
        database: Runs statements.
        processes: Processes.
        claims: Claims and their verdicts.
        nodes: Nodes in lists, and by themselves.
        lineage: What a node was made from, and what was made of it.
        reading: Nodes, for the walk.
        trails: Verifications.
        reviews: Reviews of verdicts by people.
        queries: The query library.
        attributions: What sentences rest on.
        dialogues: Turns of dialogues, and what was found of them.
        versions: Reads that see one version of a process.
    """

    database: Database
    processes: ProcessStore
    reading: NodeReader
    trails: TrailStore
    queries: QueryLibrary
    reviews: ReviewStore
    nodes: NodeStore
    lineage: LineageReader
    claims: ClaimStore
    attributions: AttributionStore
    dialogues: DialogueStore
    versions: VersionStore

    @classmethod
    def of(cls, database: Database) -> Store:
        """A store over a connection."""
        return cls(
            database,
            ProcessStore(database),
            NodeReader(database),
            TrailStore(database),
            QueryLibrary(database),
            ReviewStore(database),
            NodeStore(database),
            LineageReader(database),
            ClaimStore(database),
            AttributionStore(database),
            DialogueStore(database),
            VersionStore(database),
        )


@asynccontextmanager
async def open_store(
    address: DatabaseAddress,
    *,
    retry_seconds: float = 15.0,
    query_seconds: float = QUERY_SECONDS,
    wait_seconds: float = 0.0,
) -> AsyncIterator[Store]:
    """Connect, make the schema on first use, and close at the end.

    Args:
        address: Where the engine listens.
        retry_seconds: How long a transaction is tried again after a passing fault.
        query_seconds: How long a query of the library or of the shell may take.
        wait_seconds: How long to wait for a server that is starting.

    Raises:
        EngineUnavailable: The engine does not answer or does not let us in.
        EngineError: The graph was written by a newer version.
    """
    database = Database(address, retry_seconds=retry_seconds, query_seconds=query_seconds)
    try:
        await ensure_schema(database, record=await database.connect(wait_seconds))
        yield Store.of(database)
    finally:
        await database.close()
