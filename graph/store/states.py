"""States of what is stored under a process_id, finished or not, and of who writes it.

A writer that was suspended may have been taken for dead: before it shows, hides or removes
anything it holds the process and checks that it is still its owner.
"""

from __future__ import annotations

from dataclasses import dataclass

from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import BeingWritten, ProcessConflict
from veritrail_graph.graph.store.database import ANSWER_SECONDS, Transaction
from veritrail_graph.graph.writers import STALE_SECONDS, is_alive, this_writer

READY, LOADING, REPLACING, DELETING = "ready", "loading", "replacing", "deleting"

SILENCE = 2 * ANSWER_SECONDS
"""Seconds without a sign of life, after which a program that lives is not at work any more."""
REMOVAL_SILENCE = STALE_SECONDS
"""The same for a removal; two may remove one process together."""


@dataclass(frozen=True, slots=True)
class StoredState:
    """The stored process under a process_id, finished or not."""

    process_id: str
    status: str
    owner: str | None
    beat: str | None
    replaces: str | None
    content_hash: str | None = None
    plan: str | None = None

    @property
    def is_abandoned(self) -> bool:
        """Return whether nobody is at work on it: its writer has ended, let go of it, or is silent.

        A writer that was silent and comes back changes nothing: it holds the process first.
        """
        patience = REMOVAL_SILENCE if self.status == DELETING else SILENCE
        return self.status != READY and not is_alive(self.owner, self.beat, patience)

    def can_go_on(self, plan: str) -> bool:
        """Return whether what a dead writer left is the beginning of what is to be loaded."""
        return self.is_abandoned and self.status == LOADING and self.plan == plan


def hold(tx: Transaction, process_id: str) -> None:
    """Keep a process that this program writes to itself until the end of a transaction.

    Raises:
        ProcessConflict: It was removed or taken over by another writer.
    """
    if not tx.run("process/beat", **held(process_id)):
        raise taken_from_us(process_id)


def being_written(process_id: str) -> BeingWritten:
    """The error for a process that somebody is storing or putting in place at this moment."""
    return BeingWritten(f"Process {process_id!r} is being written now. Wait for it to end.")


def taken_from_us(process_id: str) -> ProcessConflict:
    """The error for a process that another writer took over because this one seemed dead."""
    return ProcessConflict(
        f"Process {process_id!r} was removed or taken over by another command while it was being "
        "loaded; nothing of it is visible."
    )


def held(process_id: str) -> dict[str, str]:
    """Parameters that name this program as the writer, with a sign of life."""
    return {"process_id": process_id, "owner": this_writer(), "beat": now()}


def hidden(process_id: str, status: str) -> dict[str, str]:
    """Parameters that name a process that this program removes or replaces."""
    return {"process_id": process_id, "status": status, "owner": this_writer()}


def marked(process_id: str, status: str, owner: str | None = None) -> dict[str, str]:
    """Parameters that give a process another status, and a writer."""
    return {**held(process_id), "status": status, "owner": owner or this_writer()}
