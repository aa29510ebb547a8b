"""In which state a process is, who writes it, and how a writer makes sure that it still does.

A writer that stood still may have been taken for dead: before it shows, hides or removes
anything it holds the process and looks whether that is still its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import ProcessConflict
from veritrail_graph.graph.store.database import Transaction
from veritrail_graph.graph.store.writers import is_alive, this_writer

READY, LOADING, REPLACING, DELETING = "ready", "loading", "replacing", "deleting"


@dataclass(frozen=True, slots=True)
class StoredState:
    """What is stored under a process_id, finished or not."""

    process_id: str
    status: str
    owner: str | None
    beat: str | None
    replaces: str | None
    content_hash: str | None = None
    plan: str | None = None

    @property
    def is_abandoned(self) -> bool:
        """Whether its writer has ended."""
        return self.status != READY and not is_alive(self.owner, self.beat)

    def can_go_on(self, plan: str) -> bool:
        """Whether what a dead writer left is the beginning of what is to be loaded."""
        return self.is_abandoned and self.status == LOADING and self.plan == plan


def hold(tx: Transaction, process_id: str) -> None:
    """Keep a process that this program writes to itself until the end of a transaction.

    Raises:
        ProcessConflict: It was removed or taken over by another writer.
    """
    if not tx.run("process/beat", **held(process_id)):
        raise taken_from_us(process_id)


def taken_from_us(process_id: str) -> ProcessConflict:
    """The error for a process that another writer took over because this one seemed dead."""
    return ProcessConflict(
        f"Process {process_id!r} was removed or taken over by another command while it was being "
        "loaded; nothing of it is visible."
    )


def held(process_id: str) -> dict[str, str]:
    """Parameters that name this program as the writer, with a sign of life."""
    return {"process_id": process_id, "owner": this_writer(), "beat": now()}


def marked(process_id: str, status: str, owner: str | None = None) -> dict[str, str]:
    """Parameters that give a process another status, and a writer."""
    return {**held(process_id), "status": status, "owner": owner or this_writer()}
