"""What a graph engine says of itself: whether it answers, which one it is, whose schema it has."""

from __future__ import annotations

from dataclasses import dataclass

from veritrail_graph.graph.errors import EngineError
from veritrail_graph.graph.store.database import Database, DatabaseAddress


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """A graph engine as it stands; nothing is written to find it out.

    Attributes:
        answers: Whether it answers and lets us in.
        agent: What it calls itself, with its version.
        edition: Its edition, such as `community`.
        schema_version: Version of our schema in its graph; None where there is none yet.
        error: Why it does not answer.
    """

    answers: bool
    agent: str | None = None
    edition: str | None = None
    schema_version: int | None = None
    error: str | None = None


async def server_facts(address: DatabaseAddress) -> ServerFacts:
    """Ask a graph engine what it is; a fault is part of the answer and is not raised."""
    try:
        # A bad URI is known at once, all else when it is asked.
        database = Database(address, retry_seconds=3, connect_timeout=5)
    except EngineError as error:
        return ServerFacts(answers=False, error=str(error))
    try:
        await database.connect()
        editions = [edition for _, _, edition in await database.read("meta/components")]
        versions = await database.read("meta/schema_state")
    except EngineError as error:
        return ServerFacts(answers=False, error=str(error))
    finally:
        await database.close()
    return ServerFacts(
        answers=True,
        agent=database.agent,
        edition=next(iter(editions), None),
        schema_version=versions[0][0] if versions else None,
    )
