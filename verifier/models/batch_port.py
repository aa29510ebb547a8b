"""The ports of batch interfaces: calls that go out in files, and come back within a day.

A `BatchService` is the interface of files and batches of one endpoint. A `BatchLedger` remembers
what is on its way, so that a process that was killed goes on where it was. `Rounds`
(`verifier.models.batching`) uses both.

Source: the batch interface of OpenAI, as other endpoints offer it too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, runtime_checkable

from veritrail_graph.verifier.models.port import (
    Completion,
    Endpoint,
    ModelError,
    Request,
    RequestRejected,
)


class BatchState(StrEnum):
    """The state of a batch; the last four are ends."""

    PLANNED = "planned"
    """Ours: it is about to be uploaded."""
    UPLOADED = "uploaded"
    """Ours: its file is there, the batch is about to be made."""
    VALIDATING = "validating"
    IN_PROGRESS = "in_progress"
    FINALIZING = "finalizing"
    CANCELLING = "cancelling"
    COMPLETED = "completed"
    FAILED = "failed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"

    @property
    def is_end(self) -> bool:
        """Return whether nothing more happens to it."""
        return self in _ENDS


_ENDS = (BatchState.COMPLETED, BatchState.FAILED, BatchState.EXPIRED, BatchState.CANCELLED)


class BatchFault(NamedTuple):
    """An error of a whole batch, or of one of its lines.

    Attributes:
        code: The endpoint's code.
        message: Its words.
        line: Number of the line in the file, from 1; None: the whole.
        parameter: What in the line it is about, such as `body.temperature`, if it says so.
    """

    code: str
    message: str
    line: int | None = None
    parameter: str | None = None

    @property
    def is_crowded(self) -> bool:
        """Return whether the batch was refused because too much of ours is on its way."""
        return "token_limit" in self.code.lower() or "enqueued" in self.message.lower()

    @property
    def words(self) -> str:
        """Return what is wrong."""
        return (self.message or self.code).rstrip(". ")


@dataclass(frozen=True, slots=True)
class BatchReport:
    """An endpoint's report of a batch.

    Attributes:
        batch_id: Its id there.
        state: Where it is.
        done: Lines that were answered.
        failed: Lines that failed.
        output_file: Id of the file of answers, if there is one.
        error_file: Id of the file of lines that failed, if there is one.
        faults: Why it failed as a whole.
    """

    batch_id: str
    state: BatchState
    done: int = 0
    failed: int = 0
    output_file: str | None = None
    error_file: str | None = None
    faults: tuple[BatchFault, ...] = ()


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """One batch as it is remembered.

    Attributes:
        name: Its name, which is ours: the name of its file, and part of its metadata.
        address: The endpoint.
        model: The model that all of its lines ask.
        lines: How many lines it has.
        state: Where it was when it was last looked at.
        since: When it was planned, ISO 8601 in UTC.
        file_id: Id of its file at the endpoint, once that is known.
        batch_id: Its id at the endpoint, once that is known.
        done: Lines that were answered.
        failed: Lines that failed.
        is_read: Whether its answers are kept here.
    """

    name: str
    address: str
    model: str
    lines: int
    state: BatchState
    since: str
    file_id: str | None = None
    batch_id: str | None = None
    done: int = 0
    failed: int = 0
    is_read: bool = False

    @property
    def ended_early(self) -> str | None:
        """Return a note for the reader; None if all lines of the batch had their turn."""
        if not self.is_read or self.state in (BatchState.COMPLETED, BatchState.FAILED):
            return None
        if self.state.is_end and self.done >= self.lines:
            return None
        if not self.state.is_end:
            how = "is not at its endpoint any more, and neither are its answers"
        else:
            ended = "expired" if self.state is BatchState.EXPIRED else "was cancelled"
            how = f"{ended} with {self.done:,} of {self.lines:,} lines answered"
        return f"Batch {self.batch_id} {how}; what it left is asked again."


class KnownLine(NamedTuple):
    """A line that was asked before.

    Attributes:
        batch: The batch that it went out with.
        answer: Its answer as JSON, once the batch was read.
    """

    batch: BatchRecord
    answer: str | None


class BatchLedger(Protocol):
    """The record of the batches of one run, which outlives the run."""

    async def known(self, line_ids: Sequence[str]) -> Mapping[str, KnownLine]:
        """Those of some lines that were asked before."""
        ...

    async def plan(self, batch: BatchRecord, line_ids: Sequence[str]) -> None:
        """Remember a batch before anything of it is sent."""
        ...

    async def note(self, batch: BatchRecord) -> None:
        """Remember how a batch is now."""
        ...

    async def keep(self, batch: BatchRecord, answers: Mapping[str, str]) -> None:
        """Keep the answers of a batch, by line id, and that it was read, in one step."""
        ...

    async def drop(self, name: str) -> None:
        """Forget a batch of which nothing came: its lines may be asked again."""
        ...

    async def open(self) -> Sequence[BatchRecord]:
        """The batches that were not read, oldest first."""
        ...


class BatchService(Protocol):
    """The files and batches of one endpoint; each call is one attempt."""

    async def upload(self, name: str, content: bytes) -> str:
        """Upload the lines of a batch under a name; gives the id of the file."""
        ...

    async def uploaded(self, name: str) -> str | None:
        """Id of the file that was uploaded under a name, if there is one."""
        ...

    async def create(self, file_id: str, name: str) -> BatchReport:
        """Make a batch of a file."""
        ...

    async def created(self, file_id: str, name: str) -> BatchReport | None:
        """The batch that was made of a file, if there is one."""
        ...

    async def look(self, batch_id: str) -> BatchReport:
        """Return how a batch is now.

        Raises:
            Gone: There is no such batch any more.
        """
        ...

    async def cancel(self, batch_id: str) -> None:
        """Ask that a batch ends; what is done of it stays."""
        ...

    def lines(self, file_id: str) -> AsyncIterator[str]:
        """The lines of a file.

        Raises:
            Gone: There is no such file any more.
        """
        ...

    async def delete(self, file_id: str) -> None:
        """Delete a file; one that is not there is deleted already."""
        ...


class LineRefused(RequestRejected):
    """A batch was not taken because of this one line."""


class Gone(ModelError):
    """A file or a batch is not at the endpoint any more."""


@dataclass(frozen=True, slots=True)
class WrittenLine:
    """A call as a line of a batch.

    Attributes:
        body: The body of the request.
        context: What the endpoint needs to read the answer; None after another process wrote it.
    """

    body: dict[str, Any]
    context: object | None = None


@runtime_checkable
class BatchingEndpoint(Endpoint, Protocol):
    """An endpoint that also takes calls in batches."""

    def batches(self) -> BatchService:
        """Its files and batches."""
        ...

    def write_line(self, request: Request, max_output_tokens: int | None) -> WrittenLine:
        """The body of a call."""
        ...

    def read_line(
        self, status: int, body: Any, request: Request, written: object | None
    ) -> Completion:
        """Read the answer to a line.

        Args:
            status: The status of the answer.
            body: Its JSON document.
            request: What was asked.
            written: `context` of the line.

        Raises:
            ModelError: As `send` does.
        """
        ...
