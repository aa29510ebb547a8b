"""Reviews of an uploaded file: the service says who brought them in, whatever the file says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fastapi import Request

from veritrail_graph.api.auth.access import Caller
from veritrail_graph.api.http.access import record
from veritrail_graph.graph.importers.records import Header, ProcessInput, ReviewRecord, TrailInput

if TYPE_CHECKING:
    from veritrail_graph.graph.importers.records import Record, TrailRecord

_ADDED = ("verifications_added", "reviews_added")


@dataclass(frozen=True, slots=True)
class RecordedInput:
    """An input of whose reviews one key is the recorder.

    Attributes:
        source: The input.
        name: Name of the key that it came in with; None where no key is asked for.
    """

    source: ProcessInput
    name: str | None

    @property
    def header(self) -> Header:
        """What the input says of the process as a whole."""
        return self.source.header

    def records(self) -> Iterator[Record]:
        """Read the input once from its beginning."""
        return self.source.records()

    def trails(self) -> Iterator[TrailRecord]:
        """Read what it carries once from the beginning, under the name of who sent it."""
        if not isinstance(self.source, TrailInput):
            return
        for one in self.source.trails():
            if isinstance(one, ReviewRecord):
                yield replace(one, review=replace(one.review, recorded_by=self.name))
            else:
                yield one


async def record_upload(
    request: Request, caller: Caller, content: dict[str, Any], *, force: bool
) -> None:
    """Write into the log of who did what that a process was uploaded, and what came with it.

    Args:
        request: The upload.
        caller: Who sent it.
        content: The answer to it.
        force: Whether it was to be stored while jobs need what it replaces.
    """
    name, reviews = content["process_id"], content.get("reviews_added")
    told = {"status": content["status"], "force": force}
    told |= {key: content[key] for key in _ADDED if content.get(key)}
    await record(request, caller, "process.ingest", name, **told)
    if reviews:
        await record(request, caller, "review.add", name, reviews=reviews)
