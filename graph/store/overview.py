"""A process by itself, with what there is of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from veritrail_graph.graph.model import Process
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.processes import ProcessStore


@dataclass(frozen=True, slots=True)
class ProcessOverview:
    """A process and how many of its claims and verifications there are.

    Attributes:
        process: The process.
        verdicts: Claims by the verdict of their latest succeeded verification.
        verifications: Its verifications, whatever their status.
    """

    process: Process
    verdicts: Mapping[str, int]
    verifications: int


async def read_overview(database: Database, process_id: str) -> ProcessOverview:
    """The overview of a process that is ready.

    Raises:
        NotFound: There is none.
    """
    processes = ProcessStore(database)
    process, rows, verifications = await asyncio.gather(
        processes.get(process_id),
        database.read("process/verdicts", process_ids=[process_id]),
        processes.count_verifications(process_id),
    )
    verdicts = {verdict: claims for _, verdict, claims in rows if verdict}
    return ProcessOverview(process, verdicts, verifications)
