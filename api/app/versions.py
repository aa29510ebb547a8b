"""Reads that see one version of a process, whatever operations they are made of.

Every door reads through here: a route, an operation of a client, a command.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from veritrail_graph.api.app.part import Part

if TYPE_CHECKING:
    from veritrail_graph.graph.model.version import Version

T = TypeVar("T")


class Versions(Part):
    """Versions of processes."""

    async def get(self, process_id: str) -> Version:
        """The version of a process that is ready.

        Raises:
            NotFound: There is none.
        """
        return await (await self._store()).versions.get(process_id)

    async def of_process(self, process_id: str, read: Callable[[], Awaitable[T]]) -> T:
        """Read a process, anew where it was replaced, removed or changed meanwhile.

        Args:
            process_id: The process.
            read: Reads it; it may be called several times, and changes nothing.

        Raises:
            ProcessConflict: It changed at every attempt.
        """
        return await (await self._store()).versions.of_process(process_id, read)

    async def of_ids(self, ids: Mapping[str, str], read: Callable[[], Awaitable[T]]) -> T:
        """Read what the ids of an address name, all of it of one version.

        Args:
            ids: The ids by name: `process_id`, or `verification_id` and perhaps `other_id`.
            read: Reads it; it may be called several times, and changes nothing.

        Raises:
            ProcessConflict: Its process changed at every attempt.
        """
        if "process_id" in ids:
            return await self.of_process(ids["process_id"], read)
        for name in ("other_id", "verification_id"):
            if name in ids:
                read = partial(self.of_verification, ids[name], read)
        return await read()

    async def of_verification(self, verification_id: str, read: Callable[[], Awaitable[T]]) -> T:
        """Read a verification and what belongs to it, in the same way.

        Raises:
            ProcessConflict: Its process changed at every attempt.
        """
        return await (await self._store()).versions.of_verification(verification_id, read)
