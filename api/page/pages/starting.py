"""Start a job from a form: faults are shown in the form, and one form starts one job."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from fastapi import Response
from fastapi.responses import RedirectResponse

from veritrail_graph.api.app import Application
from veritrail_graph.api.app.engines import EngineChoice
from veritrail_graph.api.app.jobs import JobRequest, OtherInput
from veritrail_graph.api.auth.access import Caller
from veritrail_graph.api.page.faults import ADVICE
from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.views.forms import JobForm
from veritrail_graph.graph.errors import InputError, Violation, with_advice
from veritrail_graph.graph.model.job import OPEN, JobStatus

PATIENCE_SECONDS = 5.0
"""How long an answer waits for verdicts that no model gives, before it leads to the job."""
_GLANCE_SECONDS = 0.1

FormT = TypeVar("FormT", bound=JobForm, contravariant=True)


class Shown(Protocol[FormT]):
    """Shows a form once more, with what is wrong in it."""

    def __call__(
        self, filled: FormT, status: int, wrong: str | None, violations: Sequence[Violation], /
    ) -> Awaitable[Response]:
        """The page."""


async def answered(
    filled: FormT, form: Shown[FormT], work: Callable[[], Awaitable[Response]]
) -> Response:
    """Do what a form asks for; show the form again with what is wrong in it.

    Args:
        filled: The form, as it was filled in.
        form: Shows it once more.
        work: What is asked for.
    """
    try:
        return await work()
    except OtherInput:
        words = "This form was sent before with other values. Load it again to start anew."
        return await form(filled.anew(), 409, words, ())
    except InputError as error:
        return await form(filled, 422, with_advice(error, ADVICE), error.violations)


def broken_engines(choices: Sequence[EngineChoice]) -> list[tuple[str, str]]:
    """The engines that cannot be chosen here, each with the reason and what to do."""
    return [(one.name, with_advice(one.problem, ADVICE)) for one in choices if one.problem]


async def start(
    app: Application,
    caller: Caller,
    wanted: JobRequest,
    once: str,
    *,
    result: str | None = None,
) -> Response:
    """Start a job, and go on to its page.

    Args:
        app: The application.
        caller: Who asks.
        wanted: What the job is to do.
        once: What identifies the form; sent twice, it starts one job.
        result: The address of what counts then: a job that has ended after a few seconds, as one
            that asks no model, and whose verdicts are in force leads there at once.

    Raises:
        InputError: It cannot be done as it is asked for.
    """
    job = await app.jobs.submit(caller, wanted, once or None)
    if result is not None and await app.jobs.workers():
        until = time.monotonic() + PATIENCE_SECONDS
        while job.status in OPEN and time.monotonic() < until:
            await asyncio.sleep(_GLANCE_SECONDS)
            job = await app.jobs.get(job.job_id)
        # A page of what counts says nothing of a job whose verdicts do not.
        if job.status is JobStatus.SUCCEEDED and not await app.checking.outweighed(job):
            return RedirectResponse(result, 303)
    return RedirectResponse(url("jobs", job.job_id), 303)
