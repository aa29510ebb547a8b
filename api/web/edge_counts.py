"""How many edges lead from stage to stage: counted once, kept as long as the content is the same.

Counting looks at every edge of a process, which takes seconds on a large one: it goes on behind
the page, one process at a time, and whoever comes later finds it done.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TypeVar

from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import Process
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.picture import PictureReader, StageEdges

PATIENCE = 0.15
"""Seconds that a page waits for a count before it is shown without."""

MOST_KEPT = 256
"""Processes whose counts are kept."""

FRESH = 60.0
"""Seconds in which a failure is told; after that whoever asks has it tried again at once."""

_Key = tuple[str, str]
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Counted:
    """What is known of the edges of a process.

    Attributes:
        edges: The count; None: there is none yet.
        has_failed: Whether counting failed; it is tried again when somebody asks again.
    """

    edges: StageEdges | None
    has_failed: bool = False


class EdgeCounts:
    """Counts of the processes that were looked at.

    Args:
        patience: Seconds that whoever asks waits.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._kept: OrderedDict[_Key, StageEdges] = OrderedDict()
        self._under_way: dict[_Key, asyncio.Task[StageEdges]] = {}
        self._failed: OrderedDict[_Key, float] = OrderedDict()
        self._one = asyncio.Lock()

    async def of(self, store: Store, process: Process) -> Counted:
        """The count of a process, or what is known of it."""
        key = (process.process_id, process.content_hash)
        if key in self._kept:
            self._kept.move_to_end(key)
            return Counted(self._kept[key])
        failed_at = self._failed.pop(key, None)
        if failed_at is not None and monotonic() - failed_at < FRESH:
            return Counted(None, has_failed=True)
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(self._count(store, process))
            # Whether anybody comes back or not: what was counted is kept, a fault is looked at.
            task.add_done_callback(partial(self._ended, key))
            self._under_way[key] = task
        done, _ = await asyncio.wait([task], timeout=self._patience)
        if not done:
            return Counted(None)
        self._ended(key, task)  # else its end could be noted behind us, and told once more
        try:
            return Counted(task.result())
        except (VeriTrailError, RuntimeError):  # the latter where its connection was closed
            self._failed.pop(key, None)
            return Counted(None, has_failed=True)

    def _ended(self, key: _Key, task: asyncio.Task[StageEdges]) -> None:
        if self._under_way.get(key) is not task:
            return
        del self._under_way[key]
        if task.cancelled():
            return
        if task.exception() is None:
            _keep(self._kept, key, task.result())
        else:
            _keep(self._failed, key, monotonic())

    async def _count(self, store: Store, process: Process) -> StageEdges:
        async with self._one:
            return await PictureReader(store.database).stage_edges(process)


def _keep(kept: OrderedDict[_Key, _Value], key: _Key, value: _Value) -> None:
    kept[key] = value
    while len(kept) > MOST_KEPT:
        kept.popitem(last=False)
