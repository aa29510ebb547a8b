"""What the address and the forms of the review page say, and what is said where they are wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Form, Request

from veritrail_graph.api.http.wording import worded
from veritrail_graph.api.web.views.review_queue import ReviewState, state_of
from veritrail_graph.api.web.wording import plain
from veritrail_graph.graph.errors import (
    EngineError,
    InputError,
    NotFound,
    ReviewOutdated,
    VeriTrailError,
    Violation,
)


async def _asked(request: Request, process_id: str) -> ReviewState:
    return state_of(process_id, request.query_params)


Asked = Annotated[ReviewState, Depends(_asked)]


@dataclass(frozen=True, slots=True)
class Given:
    """What a form says.

    Attributes:
        claim_id: The claim.
        verdict: The verdict, or nothing.
        reason: Why.
        overrides: The verification that was looked at, or nothing.
        words: A sign for the claim's text as it was looked at.
        once: Tells this form from every other one.
        next: The claim that comes next, or nothing.
        then: `next`, `stay`, or `list` where the claim was rated in the list.
    """

    claim_id: str
    verdict: str
    reason: str
    overrides: str
    words: str
    once: str
    next: str
    then: str


async def _given(
    claim_id: Annotated[str, Form()] = "",
    verdict: Annotated[str, Form()] = "",
    reason: Annotated[str, Form()] = "",
    overrides: Annotated[str, Form()] = "",
    words: Annotated[str, Form()] = "",
    once: Annotated[str, Form()] = "",
    next_: Annotated[str, Form(alias="next")] = "",
    then: Annotated[str, Form()] = "next",
) -> Given:
    reason = reason.replace("\r\n", "\n")
    return Given(claim_id, verdict, reason, overrides, words, once, next_, then)


GivenForm = Annotated[Given, Depends(_given)]


@dataclass(frozen=True, slots=True)
class Draft:
    """A form that is shown again.

    Attributes:
        verdict: The verdict that was chosen, or nothing.
        reason: What was typed.
        heading: What is wrong with it, in a few words; empty: nothing is.
        wrong: The same at length.
    """

    verdict: str = ""
    reason: str = ""
    heading: str = ""
    wrong: tuple[str, ...] = ()


def status_of(error: VeriTrailError) -> int:
    """The status of the page that tells an error."""
    kinds = ((NotFound, 404), (ReviewOutdated, 409), (InputError, 422), (EngineError, 503))
    return next((status for kind, status in kinds if isinstance(error, kind)), 500)


def _heading(error: VeriTrailError) -> str:
    words = {
        404: "It is not there any more",
        409: "Look again: it changed meanwhile",
        422: "Not saved yet",
        503: "Not saved: the graph does not answer now",
    }
    return words.get(status_of(error), "Not saved")


def draft_of(given: Given, error: VeriTrailError) -> Draft:
    """A form that is shown again, with what was wrong."""
    return Draft(given.verdict, given.reason, _heading(error), _said_of(error))


def _said_of(error: VeriTrailError) -> tuple[str, ...]:
    if isinstance(error, EngineError):
        return (
            "What you wrote is kept below. Wait a moment and send it again: nothing is stored "
            "twice.",
        )
    faults = error.violations if isinstance(error, InputError) else ()
    return words_of(faults) or (plain(worded(str(error))),)


def words_of(faults: Iterable[Violation]) -> tuple[str, ...]:
    """Faults in sentences."""
    return tuple(f"The {fault.where} {fault.message}." for fault in faults)
