"""The events of a job: as a stream while it works, or by the page.

The stream is one of server-sent events. What goes over the wire is written here; heartbeats,
clients that leave or read nothing, HEAD, and the end of the service are left to sse-starlette.

Source: HTML Living Standard, server-sent events.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Send
from starlette.types import Scope as Connection

from veritrail_graph.api.app.jobs import Event, EventFeeds, EventKind
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.service.http.access import Calling, needs
from veritrail_graph.api.service.http.answers import answer
from veritrail_graph.api.service.http.pages import CHECKED, Cursor, Limit, Listing
from veritrail_graph.api.service.http.problems import problem, problems_of
from veritrail_graph.api.service.http.staying import Stay
from veritrail_graph.api.service.rest.jobs import JobId
from veritrail_graph.graph.errors import InputError

STREAM = "text/event-stream"
RETRY_MILLISECONDS = 2_000
"""How long a client that lost the stream waits before it comes again."""
UNREAD_HEARTBEATS = 4
"""A client that has taken nothing for this many heartbeats is disconnected; it may resume."""

MOST_EVENTS = 999_999_999
"""No job has more."""
END_SECONDS = 2.0
"""How long a stream may take to its end when the service ends."""

_HEADERS = {
    # A proxy that collects or compresses what it passes on would hold events back.
    "Cache-Control": "no-store, no-transform",
    "X-Accel-Buffering": "no",
}

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


class JobEvent(BaseModel):
    """One event of a job."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "seq": 7,
                "event": "iteration.finished",
                "at": "2026-11-21T09:30:00.123456Z",
                "data": {
                    "verification_id": "v-4f1c",
                    "claim_id": "c-2",
                    "iteration": 1,
                    "interim_verdict": "FULLY_SUPPORTED",
                    "usage": {"calls": 2, "cost_usd": 0.0011},
                },
            }
        }
    )

    seq: int = Field(description="Its number in the job, from 1 and without a gap.")
    event: str = Field(description=f"One of {', '.join(EventKind)}.")
    at: str = Field(description="When it happened, ISO 8601 in UTC.")
    data: dict[str, JsonValue] = Field(description="What there is to tell.")


class JobEvents(BaseModel):
    """Events of a job, first to last."""

    events: list[JobEvent]
    nextCursor: str | None = Field(  # noqa: N815  # as every list of the service has it
        description="Where the next page begins; null: there are no more now."
    )


_WIRE = "One event after another: `id`, `event`, and `data`, which is one JSON object with `at`."


class _Stream(EventSourceResponse):
    """A stream that ends quietly when its client takes nothing any more."""

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError:
            return


@router.get(
    "/{job_id}/events",
    dependencies=[CHECKED, needs(Scope.VERIFY)],
    response_model=JobEvents,
    responses={
        200: {
            "description": "Server-sent events, or a page of them where JSON alone is accepted",
            "content": {STREAM: {"schema": {"type": "string", "description": _WIRE}}},
        },
        204: {"description": "The job has ended and there is no event after the one named"},
        **problems_of(404, 406),
    },
)
async def job_events(
    job_id: JobId,
    request: Request,
    caller: Calling,
    accept: Annotated[str, Header(include_in_schema=False)] = STREAM,
    last_event_id: Annotated[
        str | None, Header(description="The last event that was seen; the stream goes on after it.")
    ] = None,
    after: Annotated[
        int | None,
        Query(ge=0, le=MOST_EVENTS, description="The same, for those who cannot set headers."),
    ] = None,
    limit: Limit = 200,
    cursor: Cursor = None,
) -> Response:
    """What happens in a job, as it happens: claims begun, interim verdicts, verdicts, costs.

    Ids are the numbers of the events. A stream ends with `job.finished`; one that is asked for
    after that event is answered with 204, so that a browser does not come again.
    """
    await request.app.state.jobs.get(job_id)  # unknown: 404
    place = _place(last_event_id, after)
    feeds = request.app.state.app.feeds
    form = _form(accept)
    if form is None:
        return problem(406, "not-acceptable", f"Events come as {STREAM} or application/json.")
    if form != STREAM:
        return await _page(feeds, job_id, place, limit, cursor)
    if cursor is not None:
        raise InputError("`cursor` is for pages; a stream goes on after `Last-Event-ID` or `after`")
    last = await feeds.last(job_id)
    # A number that is not there yet was given by another job: go on from the end.
    place = min(place, last.seq if last else 0)
    if last is not None and last.kind == EventKind.JOB_FINISHED and place == last.seq:
        return Response(status_code=204)
    beat = request.app.state.settings.events_heartbeat
    return _Stream(
        _stream_of(feeds, job_id, place, Stay(request.app, caller)),
        headers=_HEADERS,
        ping=beat,
        ping_message_factory=lambda: ServerSentEvent(comment="still here", sep="\n"),
        send_timeout=UNREAD_HEARTBEATS * beat,
        shutdown_grace_period=END_SECONDS,
        sep="\n",
    )


async def _stream_of(
    feeds: EventFeeds, job_id: str, place: int, stay: Stay
) -> AsyncIterator[bytes]:
    """The stream on the wire, until the job has ended or the key is revoked."""
    # No blank line: the field belongs to the first event, and no empty one is sent.
    yield f": events of {job_id}\nretry: {RETRY_MILLISECONDS}\n".encode()
    closing = asyncio.ensure_future(stay.ends())
    try:
        async with aclosing(feeds.follow(job_id, place)) as following:
            while True:
                coming = asyncio.ensure_future(anext(following, None))
                try:
                    await asyncio.wait({coming, closing}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    if not coming.done():
                        coming.cancel()
                        await asyncio.wait([coming])
                if closing.done() or (events := coming.result()) is None:
                    return
                yield b"".join(map(_wire, events))
    finally:
        closing.cancel()


def _wire(event: Event) -> bytes:
    # JSON holds no line break: one line of data is enough.
    data = f'{event.data[:-1]}{"," if len(event.data) > 2 else ""}"at":"{event.at}"}}'
    return f"id: {event.seq}\nevent: {event.kind}\ndata: {data}\n\n".encode()


async def _page(
    feeds: EventFeeds, job_id: str, place: int, limit: int, cursor: str | None
) -> Response:
    listing = Listing("events", (job_id,))
    begin = listing.place(cursor, (place,))[0]
    found = await feeds.page(job_id, begin, limit + 1)
    shown = found[:limit]
    more = len(found) > limit
    return answer(
        {"events": _listed(shown), "nextCursor": listing.cursor(shown[-1].seq) if more else None}
    )


def _listed(events: Sequence[Event]) -> list[dict[str, Any]]:
    return [
        {"seq": one.seq, "event": one.kind, "at": one.at, "data": json.loads(one.data)}
        for one in events
    ]


def _place(last_event_id: str | None, after: int | None) -> int:
    """The number of the last event that a client has seen."""
    if last_event_id is None or not last_event_id.strip():
        return after or 0
    text = last_event_id.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MOST_EVENTS))):
        raise InputError(
            f"Last-Event-ID {text[:40]!r} is no number of an event; send one that the stream gave, "
            "or none to begin at the first"
        )
    return int(text)


def _form(accept: str) -> str | None:
    """The form that a client wants: JSON where it says nothing of streams; None: neither."""
    ranges = [one.partition(";")[0].strip() for one in accept.lower().split(",")]
    if STREAM in ranges:
        return STREAM
    if any(one in ("application/json", "application/*") for one in ranges):
        return "application/json"
    return STREAM if any(one in ("", "*/*", "text/*") for one in ranges) else None
