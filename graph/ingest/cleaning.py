"""The removal of what dead writers left in a graph; what is complete is finished instead."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from veritrail_graph.graph.errors import BeingWritten
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.states import DELETING, REPLACING, StoredState


class Settled(StrEnum):
    """The outcome for a process that a dead writer left."""

    REMOVED = "removed"
    DELETION_FINISHED = "deletion_finished"
    REPLACEMENT_FINISHED = "replacement_finished"
    REPLACEMENT_REMOVED = "replacement_removed"


@dataclass(frozen=True, slots=True)
class CleanedUp:
    """A process that a dead writer left, and what was done with it.

    Attributes:
        process_id: The process; of a replacement the one that it was to replace.
        status: How it was left.
        done: What was done.
    """

    process_id: str
    status: str
    done: Settled

    @classmethod
    def of(cls, state: StoredState) -> CleanedUp:
        """Return what settling a state does with it."""
        if state.replaces is not None:
            is_whole = state.status == REPLACING
            done = Settled.REPLACEMENT_FINISHED if is_whole else Settled.REPLACEMENT_REMOVED
        else:
            is_deletion = state.status == DELETING
            done = Settled.DELETION_FINISHED if is_deletion else Settled.REMOVED
        return cls(state.replaces or state.process_id, state.status, done)


async def clean(store: Store) -> list[CleanedUp]:
    """Settle everything that dead writers left; return what was done."""
    settled: list[CleanedUp] = []
    left = [state for state in await store.processes.unfinished() if state.is_abandoned]
    staged_first = sorted(left, key=lambda state: state.replaces is None)
    for state in staged_first:
        # A replacement that was just completed has given its id to a process that must stay.
        current = await store.processes.state(state.process_id)
        if current is not None and current.is_abandoned:
            with suppress(BeingWritten):  # a reader or another command took it up meanwhile
                await store.processes.settle(current)
                settled.append(CleanedUp.of(current))
    return settled
