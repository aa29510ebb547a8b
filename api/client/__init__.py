"""The operations for programs: over REST (`Client`) and in process (`Local`).

Each comes in two kinds that offer the same methods: plain, and to be awaited (`AsyncClient`,
`AsyncLocal`).
"""

from veritrail_graph.api.client.answers import Event, Process, Rows, Verification
from veritrail_graph.api.client.blocking import Job
from veritrail_graph.api.client.faults import (
    AccessRefused,
    Conflict,
    Missing,
    Problem,
    Rejected,
    StrangeAnswer,
    Unavailable,
    Unreachable,
)
from veritrail_graph.api.client.following import AsyncJob
from veritrail_graph.api.client.local import AsyncLocal, Local
from veritrail_graph.api.client.operations import AsyncOperations
from veritrail_graph.api.client.service import AsyncClient, Client

__all__ = [
    "AccessRefused",
    "AsyncClient",
    "AsyncJob",
    "AsyncLocal",
    "AsyncOperations",
    "Client",
    "Conflict",
    "Event",
    "Job",
    "Local",
    "Missing",
    "Problem",
    "Process",
    "Rejected",
    "Rows",
    "StrangeAnswer",
    "Unavailable",
    "Unreachable",
    "Verification",
]
