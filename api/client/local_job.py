"""A job that runs in this process: its state, and what happens in it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.client.trails import Event
from veritrail_graph.graph.model import Status, Usage

if TYPE_CHECKING:
    from veritrail_graph.api.verification import Done
    from veritrail_graph.verifier.run import Run


@dataclass(slots=True)
class LocalJob:
    """A job that runs in this process.

    Attributes:
        job_id: Its id.
        process_id: The process.
        status: Where it stands.
        verification_ids: Its verifications, as far as they are known.
        statuses: Where each of them stands.
        usage: What it came to.
        error: What ended it as a whole.
        events: What happened.
        run: The run, once it has begun.
        task: What works on it.
        is_cancelled: Whether somebody stopped it.
        changed: Set when something happens; a new one is put in its place then.
    """

    job_id: str
    process_id: str
    status: str = "queued"
    verification_ids: list[str] = field(default_factory=list)
    statuses: dict[str, str] = field(default_factory=dict)
    usage: Usage = Usage()
    error: str | None = None
    events: list[Event] = field(default_factory=list)
    run: Run | None = None
    task: asyncio.Task[None] | None = None
    is_cancelled: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens unless it is resumed."""
        return self.task is None or self.task.done()

    def append(self, _job_id: str, kind: Any, data: Mapping[str, Any]) -> None:
        """Note an event; what a log of events of the service does."""
        name = str(getattr(kind, "value", kind))
        self.events.append(Event(id=str(len(self.events) + 1), kind=name, data=dict(data)))
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()

    def take(self, done: Done) -> None:
        """Take the end of a run."""
        from veritrail_graph.graph.model import total_usage

        self.verification_ids = [one.verification_id for one in done.verifications]
        self.statuses = {one.verification_id: one.status.value for one in done.verifications}
        # What was verified before is shown again; it cost nothing now.
        made = [one for one in done.verifications if one.run_id == done.run_id]
        self.usage = total_usage(made)
        refusal = done.run.refusal if done.run is not None else None
        if all(status == Status.SUCCEEDED for status in self.statuses.values()):
            self.end("succeeded", None)
        else:
            status = "cancelled" if self.is_cancelled else "failed"
            self.end(status, str(refusal) if refusal is not None else None)

    def end(self, status: str, error: str | None) -> None:
        """Nothing more happens unless it is resumed."""
        from veritrail_graph.api.jobs.events import job_finished

        self.status, self.error = status, error
        told = job_finished(status, self.counts, self.usage)
        self.append(self.job_id, "job.finished", told)

    @property
    def counts(self) -> dict[str, int]:
        """Its verifications by status."""
        return dict(Counter(self.statuses.values()))

    def state(self) -> dict[str, Any]:
        """The job as a service tells of it."""
        return {
            "job_id": self.job_id,
            "run_id": self.run.run_id if self.run is not None else None,
            "status": self.status,
            "process_id": self.process_id,
            "verification_ids": list(self.verification_ids),
            "counts": self.counts,
            "usage": self.usage.json_object(),
            "error": self.error,
        }
