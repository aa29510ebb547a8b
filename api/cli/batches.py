"""Report the batches that a run left, and end them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from veritrail_graph.api.cli.exits import say_starting
from veritrail_graph.api.cli.terminal import say
from veritrail_graph.graph.counted import counted

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.jobs import LocalResult
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.model import Usage


async def cancel_batches(settings: Settings, run_id: str) -> None:
    """End the batches that a run left at its endpoint; its id may be short, or @last."""
    from veritrail_graph.api.app import Application
    from veritrail_graph.graph.errors import NotFound

    async with Application(settings, on_engine_start=say_starting) as app:
        try:
            found = await app.jobs.cancel_batches(run_id)
        except NotFound:
            run_id = await app.names.run(run_id)
            found = await app.jobs.cancel_batches(run_id)
        goes_on = bool(found) and await app.jobs.can_go_on(run_id)
    if not found:
        say(f"Run {run_id} has no batch at its endpoint.")
        return
    lines = sum(one.lines for one in found)
    paid = f"{len(found)} batch(es) with {lines:,} line(s) are being cancelled. What is done of "
    if goes_on:
        say(f"{paid}them is paid; to read it and go on: veritrail verify --resume {run_id}")
    else:
        say(
            f"{paid}them is paid, and is not read: the run cannot go on, as its process has "
            "another content now or was removed."
        )


async def say_left(app: Application, process_id: str) -> None:
    """Say which runs of a process have batches at an endpoint: a new run asks again, and pays."""
    for run_id, batches in (await app.jobs.batches_left(process_id)).items():
        lines = counted(sum(one.lines for one in batches), "line")
        say(
            f"Run {run_id} has {counted(len(batches), 'batch', 'batches')} with {lines} at the "
            f"endpoint, which this run does not read: veritrail verify --resume {run_id} goes on "
            f"with it, --cancel {run_id} ends it.",
            "yellow",
        )


def say_batches(done: LocalResult, again: str) -> None:
    """Say what goes on at the endpoint."""
    batches = done.batches
    if batches:
        lines = sum(one.lines for one in batches)
        say(
            f"{len(batches)} batch(es) with {lines:,} line(s) go on at the endpoint. {again} reads "
            f"their answers; veritrail verify --cancel {done.run_id} ends them.",
            "yellow",
        )


def say_batch_calls(usage: Usage) -> None:
    """Say how many of the calls were made in batches."""
    if usage.batch_calls:
        say(
            f"{usage.batch_calls:,} of {usage.calls:,} calls were made in batches, at their price.",
            "dim",
        )
