"""Reads that see one version of a process, however many statements they take.

Engines promise no more than that a statement reads what is stored: a process may be replaced or
removed between two of them, and even while one is under way. So what tells versions apart is read
before and after, and what was read in between counts only where both are the same.

Source: ours (docs/adr/0055-one-version.md).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from veritrail_graph.graph.errors import EngineError, ProcessConflict
from veritrail_graph.graph.model.version import Version
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.processes import ProcessStore, ready_process
from veritrail_graph.graph.store.states import REPLACING

T = TypeVar("T")

ATTEMPTS = 3
"""How often a read begins, before its caller is told that the process changes all the time."""

DAMAGED = "damaged"
"""The code of errors that say that a process is not what it should be; a torn read says so too."""


@dataclass(eq=False, slots=True)
class _Watch:
    """A read that is watched; what it started may go on behind its end.

    Attributes:
        database: The graph.
        name: The process or verification.
        is_on: Whether it goes on.
    """

    database: Database
    name: str
    is_on: bool = True


_watches: ContextVar[tuple[_Watch, ...]] = ContextVar("watches", default=())
"""The reads that this one is part of."""


class VersionStore:
    """Versions of the processes of one graph."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, process_id: str) -> Version:
        """The version of a process that is ready.

        Raises:
            NotFound: There is none.
        """
        found = await self._of_process(process_id)
        while found is None:
            await ready_process(self._database, process_id)
            found = await self._of_process(process_id)
        return found

    async def of_process(self, process_id: str, read: Callable[[], Awaitable[T]]) -> T:
        """Read a process, anew where it was replaced, removed or changed meanwhile.

        A read within another one of the same process is part of that one.

        Args:
            process_id: The process.
            read: Reads it; called again after a change, so it must change nothing itself.

        Raises:
            ProcessConflict: It changed at every attempt.
        """
        return await self._of_one(process_id, lambda: self._of_process(process_id), read)

    async def of_verification(self, verification_id: str, read: Callable[[], Awaitable[T]]) -> T:
        """Read a verification and what belongs to it, in the same way.

        Raises:
            ProcessConflict: Its process changed at every attempt.
        """

        async def version() -> Version | None:
            rows = await self._database.read("trail/version", verification_id=verification_id)
            return Version(*rows[0]) if rows else None

        return await self._of_one(verification_id, version, read)

    async def _of_process(self, process_id: str) -> Version | None:
        rows = await self._database.read("process/version", process_id=process_id)
        return Version(*rows[0]) if rows else None

    async def _of_one(
        self,
        name: str,
        version: Callable[[], Awaitable[Version | None]],
        read: Callable[[], Awaitable[T]],
    ) -> T:
        outer = _watches.get()
        here = (self._database, name)
        if any(one.is_on and (one.database, one.name) == here for one in outer):
            return await read()
        watch = _Watch(*here)
        token = _watches.set((*outer, watch))
        try:
            return await self._attempts(name, version, read)
        finally:
            watch.is_on = False
            _watches.reset(token)

    async def _attempts(
        self,
        name: str,
        version: Callable[[], Awaitable[Version | None]],
        read: Callable[[], Awaitable[T]],
    ) -> T:
        suspected = unsure = False
        for _ in range(ATTEMPTS):
            before, fault = await version(), None
            try:
                found = await read()
            except Exception as error:  # noqa: BLE001  # it counts only where nothing changed
                fault = error
            after = await version()
            if before != after or (after is None and await self._waited(name)):
                continue
            if fault is None:
                if after is not None or unsure:
                    return found
                unsure = True  # it may have come and gone in between, hidden by two replacements
                continue
            if not _is_damage(fault) or suspected:
                raise fault
            suspected = True  # told only when a second look finds the same
        raise changing(name)

    async def _waited(self, process_id: str) -> bool:
        """Wait for a replacement that hides the process; return whether there was one."""
        processes = ProcessStore(self._database)
        staged = await processes.state(processes.staged_id(process_id))
        if staged is None or staged.status != REPLACING:
            return False
        await processes.finish_replacement(process_id)
        return True


def _is_damage(fault: Exception) -> bool:
    return isinstance(fault, EngineError) and fault.code.endswith(DAMAGED)


def changing(name: str) -> ProcessConflict:
    """The error for what was replaced or changed at every attempt to read it."""
    return ProcessConflict(
        f"{name!r} was removed, replaced or changed while it was being read, {ATTEMPTS} times in a "
        "row. Read it again when its writers have ended.",
        code="process_changing",
        process_id=name,
    )


async def read_ready(database: Database, process_id: str, read: Callable[[], Awaitable[T]]) -> T:
    """Return what is read of a process; nothing counts only if one version was there throughout.

    Raises:
        NotFound: It is not ready.
        ProcessConflict: It changed at every attempt.
    """
    if found := await read():
        return found

    async def again() -> T:
        await ready_process(database, process_id)
        return await read()

    return await VersionStore(database).of_process(process_id, again)
