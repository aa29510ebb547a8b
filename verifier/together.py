"""What several claims want at the same time is read once, for all of them.

Source: ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from veritrail_graph.graph.errors import VeriTrailError

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Request(Generic[T]):
    names: Collection[str]
    found: dict[str, T] = field(default_factory=dict)
    fault: VeriTrailError | None = None

    @property
    def missing(self) -> list[str]:
        return [name for name in self.names if name not in self.found]


class Together(Generic[T]):
    """Gives values by name; whoever is first reads what all that wait are missing.

    Args:
        known: What is known of these names already.
        read: Reads the others; a name that it does not give has no value.
    """

    def __init__(
        self,
        known: Callable[[Collection[str]], Mapping[str, T]],
        read: Callable[[list[str]], Awaitable[Mapping[str, T]]],
    ) -> None:
        self._known = known
        self._read = read
        self._reading = asyncio.Lock()
        self._waiting: list[_Request[T]] = []

    async def get(self, names: Collection[str]) -> dict[str, T]:
        """Values of these names, as far as they have any.

        Raises:
            VeriTrailError: They could not be read; everybody who waited for them is told.
        """
        request = _Request[T](names, dict(self._known(names)))
        if not request.missing:
            return request.found
        self._waiting.append(request)
        try:
            async with self._reading:
                if request in self._waiting:  # nobody has read it meanwhile
                    await self._read_for_all()
        finally:
            if request in self._waiting:
                self._waiting.remove(request)
        if request.fault is not None:
            raise request.fault
        return request.found

    async def _read_for_all(self) -> None:
        requests = list(self._waiting)
        fault = None
        for request in requests:
            request.found.update(self._known(request.missing))
        names = list(dict.fromkeys(name for request in requests for name in request.missing))
        values: Mapping[str, T] = {}
        try:
            values = await self._read(names) if names else {}
        except VeriTrailError as error:
            fault = error
        for request in requests:
            mine = {name: values[name] for name in request.missing if name in values}
            request.found.update(mine)
            request.fault = fault if request.missing else None
            if request in self._waiting:  # it may have been given up meanwhile
                self._waiting.remove(request)
