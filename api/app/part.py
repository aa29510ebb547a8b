"""The base of every part of the application: the application, the graph, the audit log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.errors import InputError, VeriTrailError
from veritrail_graph.graph.plugins import FAULTS, Plugin, failure, load, needs, package_of

if TYPE_CHECKING:
    from veritrail_graph.api.app.application import Application
    from veritrail_graph.api.auth.access import Caller
    from veritrail_graph.graph.store import Store


_log = logging.getLogger(__name__)

GROUP = "veritrail_graph.parts"
"""The entry points of classes that are parts of the application, as `Part` is."""

Progress = Callable[[str, int, int], None]
"""Called with what is done, how much of it is done, and how much there is (0: unknown)."""


class Part:
    """A part of the application.

    Args:
        app: The application.
    """

    def __init__(self, app: Application) -> None:
        self._app = app

    async def _store(self) -> Store:
        """The open graph.

        Raises:
            EngineUnavailable: It cannot be reached now, or is still starting.
        """
        return await self._app.graph.store()

    async def _record(self, by: Caller | None, action: str, target: str, **details: Any) -> None:
        """Write an action into the audit log, where its caller is named."""
        if by is not None:  # a database is not opened for what is not written
            await self._app.audit.record(by, action, target=target, **details)


@cache
def _plugin_parts() -> tuple[Plugin, ...]:
    return load(entry_points(group=GROUP), (), _whole)[0]


def _whole(kind: Any) -> Any:
    needs(kind, ("forget",))
    return kind


async def forget_in_plugin_parts(app: Application, process_id: str) -> None:
    """Let every part that another package adds remove what it keeps of a process.

    Raises:
        EngineUnavailable: A database cannot be reached.
    """
    for plugin in _plugin_parts():
        try:
            await app.part(plugin.value).forget(process_id)
        except VeriTrailError:
            raise
        except FAULTS as error:
            who = f"the part {plugin.point.name!r} of the package {package_of(plugin.point)}"
            _log.warning("process %r is removed, but %s", process_id, failure(who, error))


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
