"""Traces of an address, some at a time: those that are stored by their ids, the others as files."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers.addresses.address import ToolAddress
from veritrail_graph.graph.importers.addresses.connection import (
    Bounds,
    ToolConnection,
    TooLong,
)
from veritrail_graph.graph.importers.addresses.tool import Tool, open_tool

MOST_TRACES = 10_000
"""Traces of one address in one run."""
_TOGETHER = 20
_NAMED = 3

Stored = Callable[[Sequence[str]], Awaitable[Collection[str]]]
"""Gives those of some process_ids that are stored, and came from the address."""


@dataclass(slots=True)
class ToolTraces:
    """The traces of an address.

    Attributes:
        address: The address.
        folder: Where fetched traces are put, each in a file.
        environ: The environment that holds keys.
        bounds: How much is fetched, and how long.
        warnings: What was left out; complete behind the last part.
        place: The server and its project, without a key; None: not asked yet, or not known.
    """

    address: ToolAddress
    folder: Path
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    bounds: Bounds = field(default_factory=Bounds)
    warnings: list[str] = field(default_factory=list)
    place: str | None = field(default=None, init=False)

    def __str__(self) -> str:
        return str(self.address)

    async def parts(
        self, stored: Stored, most: int | None = None
    ) -> AsyncGenerator[tuple[str, Path | None]]:
        """Yield each trace by its id: with the file that it was fetched into, or None if stored.

        Traces are fetched as they are asked for, so that what was yielded may be stored before the
        next is fetched.

        Args:
            stored: Says which are stored, and came from `place`; these are not fetched.
            most: The most traces that are yielded; None: `MOST_TRACES`.

        Raises:
            InputError: The tool cannot be read.
        """
        connection, tool = open_tool(self.address, self.environ, self.bounds)
        async with connection:
            self.warnings += connection.login.warnings
            if (project := await tool.project()) is not None:
                self.place = f"{self.address.tool} {connection.login.url.rstrip('/')} {project}"
            number = running = 0
            lost: list[str] = []
            async for some, left_out in self._listed(tool, most or MOST_TRACES):
                running += left_out
                known = await stored(some) if some else ()
                new = [one for one in some if one not in known]
                for trace_id in some:
                    if trace_id in known:
                        yield trace_id, None
                for start in range(0, len(new), tool.at_once):
                    each = new[start : start + tool.at_once]
                    fetched = await self._fetched(connection, tool, each)
                    lost += [one for one in each if one not in fetched]
                    for trace_id in each:
                        if trace_id in fetched:
                            number += 1
                            path = self.folder / f"{number}.jsonl"
                            await asyncio.to_thread(_write, path, fetched.pop(trace_id))
                            yield trace_id, path
        if lost:
            named = ", ".join(map(shown, lost[:_NAMED]))
            words = f"{counted(len(lost), 'trace')} that it does not hand out whole: {named}"
            self.warnings.append(f"{self.address}: left out {words}.")
        if running:
            self.warnings.append(
                f"{self.address}: {counted(running, 'trace')} not ended yet and left out."
            )

    async def _fetched(
        self, connection: ToolConnection, tool: Tool, trace_ids: Sequence[str]
    ) -> dict[str, Any]:
        """Fetch some traces; those that are too long together one by one."""
        connection.begin()
        try:
            return await tool.traces(trace_ids)
        except TooLong as error:
            if len(trace_ids) == 1:
                self.warnings.append(f"{self.address}: trace {shown(trace_ids[0])}: {error}.")
                return {}
        found: dict[str, Any] = {}
        for trace_id in trace_ids:
            found |= await self._fetched(connection, tool, [trace_id])
        return found

    async def _listed(self, tool: Tool, most: int) -> AsyncIterator[tuple[list[str], int]]:
        """Yield ids of ended traces, some at a time, and how many between them still run."""
        waiting: list[str] = []
        running, total = 0, 0
        async for one in tool.listed():
            if one.is_running:
                running += 1
                continue
            if total == most:
                if most == MOST_TRACES:
                    self.warnings.append(
                        f"{self.address}: the newest {most:,} traces were read; there are more."
                    )
                break
            total += 1
            waiting.append(one.trace_id)
            if len(waiting) == _TOGETHER:
                yield waiting, running
                waiting, running = [], 0
        yield waiting, running
        if not total:
            when = f" of the last {self.address.since_text}" if self.address.since_text else ""
            raise InputError(f"{self.address}: there is no trace{when} that has ended.")


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value) + "\n", encoding="utf-8")
