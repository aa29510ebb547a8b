"""Errors of the application beside those of the graph (`graph.errors`)."""

from __future__ import annotations

from collections.abc import Sequence

from veritrail_graph.graph.errors import InputError


class ProcessInUse(InputError):
    """Jobs verify claims of a process that would be removed or replaced.

    Attributes:
        process_id: The process.
        jobs: Ids of the jobs, oldest first.
    """

    code = "process_in_use"

    def __init__(self, process_id: str, jobs: Sequence[str]) -> None:
        super().__init__(
            f"{len(jobs):,} job(s) verify claims of process {process_id!r} ({', '.join(jobs[:3])})."
        )
        self.process_id = process_id
        self.jobs = tuple(jobs)
