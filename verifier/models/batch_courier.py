"""The way of one batch: its upload, its making, the wait for its end, its files and their deletion.

An endpoint that does not answer is tried again; what may have arrived is looked for before it is
sent again.

Source: ADR 0038.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from veritrail_graph.verifier.models.batch_endpoint import BatchEndpoint, BatchOptions, Line
from veritrail_graph.verifier.models.batch_port import (
    BatchFault,
    BatchLedger,
    BatchRecord,
    BatchReport,
    BatchState,
    Gone,
)
from veritrail_graph.verifier.models.port import (
    ModelError,
    RequestRejected,
    TransportFault,
    Unreachable,
)

T = TypeVar("T")

SPARE_LINES = 1_000
"""Lines of a file of answers that are looked at beside twice those of its batch."""
MOST_HELD = 500_000_000
"""Characters of answers of one batch; more of them count as missing."""

FIRST_POLL = 2.0
"""Seconds from the first look at a batch to the next, which grow to those that are set."""

_log = logging.getLogger("veritrail.batches")


class GivenUp(ModelError):
    """It is not known whether what was sent has arrived; a later process looks for it."""


@dataclass(slots=True, eq=False)
class Batch:
    """A batch that this process looks at, with the calls that wait for it.

    Attributes:
        order: The ids of its lines as the file has them; none where another process wrote it.
        epoch: `Room.epoch` when it began.
    """

    record: BatchRecord
    of: BatchEndpoint
    lines: dict[str, Line]
    content: bytes = b""
    order: tuple[str, ...] = ()
    epoch: int = 0

    def named(self, faults: Sequence[BatchFault]) -> dict[str, BatchFault]:
        """The lines that an endpoint names as faulty, and what it says of each."""
        found: dict[str, BatchFault] = {}
        for one in faults:
            if one.line is not None and 1 <= one.line <= len(self.order):
                found.setdefault(self.order[one.line - 1], one)
        return found


class Courier:
    """Takes batches to their endpoints, and what they say back.

    Args:
        ledger: What is remembered of the batches.
        options: How batches are made.
        changed: Called whenever a batch changed.
        warn: Called with what a person should know.
    """

    def __init__(
        self,
        ledger: BatchLedger,
        options: BatchOptions,
        changed: Callable[[], None],
        warn: Callable[[str], None],
    ) -> None:
        self._ledger, self._options = ledger, options
        self._changed, self._warn = changed, warn
        self._is_reached = False

    async def submit(self, batch: Batch) -> bool:
        """Upload a batch and make it, unless either was done before; False: nothing of it is there.

        Raises:
            GivenUp: It is not known whether it arrived.
            ModelError: The endpoint does not take it.
        """
        service, name = batch.of.service, batch.record.name
        is_ours = bool(batch.content)  # else another process planned it
        found: list[BatchReport | None] = [None]
        file_id = batch.record.file_id
        tried = 0

        async def upload() -> str | None:
            nonlocal tried
            tried += 1
            if not is_ours or tried > 1:  # an attempt that broke off may have arrived
                known = await service.uploaded(name)
                if known is not None or not is_ours:
                    return known
            return await service.upload(name, batch.content)

        if file_id is None:
            if not is_ours:
                found[0] = await self._lasting(lambda: service.created("", name))
            file_id = "" if found[0] else await self._lasting(upload, self._until())
            if file_id is None:  # nothing of it was sent
                return False
            await self._noted(batch, file_id=file_id or None, state=BatchState.UPLOADED)
        batch.content, tried = b"", 0

        async def create() -> BatchReport:
            nonlocal tried
            tried += 1
            if not is_ours or tried > 1:
                known = await service.created(file_id or "", name)
                if known is not None:
                    return known
            return await service.create(file_id or "", name)

        report = found[0] or await self._lasting(create, self._until())
        await self._noted(batch, report)
        return True

    def _until(self) -> float:
        return asyncio.get_running_loop().time() + self._options.patience.deadline

    async def ended(self, batch: Batch) -> BatchReport | None:
        """Wait until a batch has ended; None: it is not there any more."""
        batch_id = batch.record.batch_id or ""
        pause = min(FIRST_POLL, self._options.poll)
        while True:
            try:
                report = await self._lasting(lambda: batch.of.service.look(batch_id))
            except Gone:
                return None
            await self._noted(batch, report)
            if report.state.is_end:
                return report
            await asyncio.sleep(pause)
            pause = min(self._options.poll, pause * 1.5)

    async def _noted(self, batch: Batch, report: BatchReport | None = None, **changes: Any) -> None:
        """Remember how a batch is, where that is new."""
        if report is not None:
            changes = {
                "batch_id": report.batch_id,
                "state": report.state,
                "done": report.done,
                "failed": report.failed,
            }
        record = replace(batch.record, **changes)
        if record != batch.record:
            batch.record = record
            await self._ledger.note(record)
            self._changed()

    async def read(self, batch: Batch, files: Sequence[str | None]) -> dict[str, str]:
        """Return what the files of a batch say of its lines, as JSON by line id."""
        answers: dict[str, str] = {}
        for file_id in filter(None, files):
            with contextlib.suppress(Gone):
                await self._lasting(partial(self._read_file, batch, file_id, answers))
        return answers

    async def cancel(self, of: BatchEndpoint, batch_id: str) -> bool:
        """Ask an endpoint to end a batch; gives whether it will, as the batch may have ended."""
        with contextlib.suppress(Gone, RequestRejected, GivenUp):
            await self._lasting(partial(of.service.cancel, batch_id), self._until())
            return True
        return False

    async def _read_file(self, batch: Batch, file_id: str, answers: dict[str, str]) -> None:
        """Take the answers of a file, as many as the batch has lines and as may be in memory."""
        looked, held = 0, sum(map(len, answers.values()))
        ours = frozenset(batch.order)  # empty where another process wrote its file
        lines = batch.of.service.lines(file_id)
        try:
            async for text in lines:
                looked += 1
                if looked > 2 * batch.record.lines + SPARE_LINES or held > MOST_HELD:
                    self._warn(
                        f"a file of answers of {batch.of.address} holds more than {looked:,} calls "
                        "can have; the rest of it is not read"
                    )
                    return
                try:
                    found = json.loads(text)
                except (ValueError, RecursionError):
                    continue  # as if it were not there: the line is asked again
                line_id = found.get("custom_id") if isinstance(found, dict) else None
                if not isinstance(line_id, str) or (ours and line_id not in ours):
                    continue
                if line_id not in answers:
                    kept = {key: found.get(key) for key in ("response", "error") if found.get(key)}
                    answers[line_id] = json.dumps(kept, ensure_ascii=False)
                    held += len(answers[line_id])
        finally:
            if isinstance(lines, AsyncGenerator):
                await lines.aclose()

    async def tidy(self, batch: Batch, files: Sequence[str | None]) -> None:
        """Delete files at the endpoint: they hold the user's texts."""
        if self._options.keeps_files:
            return
        for file_id in filter(None, [batch.record.file_id, *files]):
            try:
                await batch.of.service.delete(file_id)
            except ModelError as error:
                self._warn(f"files of batches stay at {batch.of.address}: {error}")

    async def _lasting(self, attempt: Callable[[], Awaitable[T]], until: float | None = None) -> T:
        """Try something again while the endpoint does not answer.

        Args:
            attempt: What is tried.
            until: When it is given up, on the loop's clock; None: never.
        """
        loop, pause = asyncio.get_running_loop(), 0.5
        began = loop.time()
        while True:
            try:
                found = await attempt()
                self._is_reached = True
                return found
            except TransportFault as fault:
                wait = fault.retry_after or random.uniform(pause / 2, pause)  # noqa: S311
                wait = min(wait, max(self._options.poll, pause))
                self._is_reached = self._is_reached or not fault.is_unreachable
                is_late = loop.time() - began >= self._options.patience.unreachable
                if is_late and not self._is_reached:
                    why = "the endpoint could not be reached from the first call on"
                    raise Unreachable(f"{why}: {fault}") from None
                if until is not None and loop.time() + wait > until:
                    raise GivenUp(f"given up: {fault}") from None
                _log.debug("tried again: %s", fault)
                await asyncio.sleep(wait)
                pause = min(2 * pause, max(self._options.poll, 0.5))
