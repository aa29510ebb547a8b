"""Runs that cannot go on, because their process has another content than when they began."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import NotFound, ProcessConflict
from veritrail_graph.verifier.models.batch_port import BatchRecord, BatchState

if TYPE_CHECKING:
    from veritrail_graph.api.jobs.storage import JobRow
    from veritrail_graph.api.jobs.unmade import Ask
    from veritrail_graph.graph.model import Process

_NAMED = 3


async def process_of(
    ask: Ask, open_batches: Callable[[], Awaitable[Sequence[BatchRecord]]], job: JobRow
) -> Process:
    """The process of a run, with the content that it had when the run began.

    Args:
        ask: Asks the graph.
        open_batches: Gives the batches of the run that were not read.
        job: The run.

    Raises:
        ProcessConflict: It is not stored any more, or has another content; the message names the
            batches that go on at their endpoint.
        EngineError: The graph does not answer.
    """
    name = job["process_id"]
    try:
        process: Process = await ask(lambda store: store.processes.get(name))
    except NotFound as error:
        if error.code != "process_unknown":
            raise
        what = "removed"
    else:
        if process.content_hash == job["content_hash"]:
            return process
        what = "replaced or appended to"
    left = [one for one in await open_batches() if one.state is not BatchState.CANCELLING]
    message = (
        f"Process {name!r} was {what} since run {job['run_id']} began, so the run cannot go on."
    )
    raise ProcessConflict(
        f"{message} {_left_words(left)}" if left else message,
        code="run_outdated_in_batches" if left else "run_outdated",
        process_id=name,
        run_id=job["run_id"],
    )


def _left_words(batches: Sequence[BatchRecord]) -> str:
    names = ", ".join(one.batch_id or one.name for one in batches[:_NAMED])
    more = f" and {len(batches) - _NAMED:,} more" if len(batches) > _NAMED else ""
    count = counted(len(batches), "batch", "batches")
    verb = "goes" if len(batches) == 1 else "go"
    lines = counted(sum(one.lines for one in batches), "line")
    return f"{count} of it with {lines} {verb} on at the endpoint: {names}{more}."
