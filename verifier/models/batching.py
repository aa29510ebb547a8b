"""Calls in batches: what all walks ask at a time goes out as one round of files.

The walks, the judge, the cache, the budget and the readers of answers stay what they are: only the
one attempt at a call is another. It waits until every walk waits; then all that wait are written
into files, uploaded, and made batches of. Their answers come back to the calls, and the walks go
on to the next round.

A line's id is made of what is asked, and of how often it was asked. So a process that was killed,
and walks again, finds its lines where it left them: in a batch that is on its way, or answered.

Source: ADR 0038.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import logging
import uuid
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from veritrail_graph.graph.clock import now
from veritrail_graph.verifier.models.batch_courier import Batch, Courier, GivenUp
from veritrail_graph.verifier.models.batch_endpoint import (
    BatchEndpoint,
    BatchOptions,
    GatheredModel,
    Line,
    missing_answer,
)
from veritrail_graph.verifier.models.batch_port import (
    BatchFault,
    BatchingEndpoint,
    BatchLedger,
    BatchRecord,
    BatchReport,
    BatchState,
    LineRefused,
)
from veritrail_graph.verifier.models.language_model import LanguageModel
from veritrail_graph.verifier.models.limits import Room
from veritrail_graph.verifier.models.openai_batches import batch_line
from veritrail_graph.verifier.models.port import (
    Completion,
    EndpointRefused,
    ModelError,
    OverBudget,
    RequestRejected,
)
from veritrail_graph.verifier.models.prices import Price
from veritrail_graph.verifier.models.retrying import Patience, Retrying, Spending

MOST_SPOILT = 20
"""Batches that a line goes out with and that are refused for other lines; then the run stops."""
SETTLE = 0.05
"""Seconds in which nothing else may be asked before a round goes out."""
TIDY_SECONDS = 10.0
"""How long the deletion of files may take when a run ends."""
LONG = 90 * 86_400.0
"""Seconds that a call in a batch may take: endpoints give up far sooner."""
BATCH_PATIENCE = Patience(deadline=LONG, attempt_timeout=LONG, base=0.001, cap=0.01)
"""Of calls that wait for a round: the next round is their wait."""

_log = logging.getLogger("veritrail.batches")
_WALK: ContextVar[str | None] = ContextVar("walk", default=None)


class Rounds:
    """Gathers the calls of a run, and makes them in batches.

    Args:
        ledger: What is remembered of the batches of the run.
        spending: The budget of the run.
        options: How batches are made.
        changed: Called with the batches that are on their way, whenever one of them changed.

    Attributes:
        warn: Called with what a person should know.
    """

    def __init__(
        self,
        ledger: BatchLedger,
        spending: Spending,
        options: BatchOptions,
        changed: Callable[[Sequence[BatchRecord]], None] = lambda _batches: None,
    ) -> None:
        self.warn: Callable[[str], None] = lambda _message: None
        self.options = options
        self.ledger = ledger
        self._spending = spending
        self._changed = changed
        self._endpoints: list[BatchEndpoint] = []
        self._models: list[LanguageModel] = []
        self._walks: set[str] = set()
        self._asking: Counter[str | None] = Counter()
        self._waiting: dict[str, Line] = {}
        self._parked: dict[str, Line] = {}
        self._flying: set[str] = set()
        self._batches: dict[str, Batch] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._tidying: set[asyncio.Task[None]] = set()
        self._sending = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._rooms: dict[tuple[str, str], Room] = {}
        self._wakers: dict[Room, asyncio.TimerHandle] = {}
        self._warned: set[str] = set()
        self._courier = Courier(
            ledger, options, lambda: self._changed(self.on_their_way), self._warn_once
        )

    @property
    def on_their_way(self) -> list[BatchRecord]:
        """The batches that this process waits for."""
        return [one.record for one in self._batches.values()]

    def endpoint(
        self,
        inner: BatchingEndpoint,
        model: str,
        price: Price | None,
        count: Callable[[str], int],
        live: Retrying | None,
    ) -> BatchEndpoint:
        """An endpoint whose calls go out in rounds.

        Args:
            inner: The endpoint.
            model: The model that is asked.
            price: What it costs, with its price in batches.
            count: Counts tokens.
            live: Makes single calls, where what had no valid answer is asked live.
        """
        made = BatchEndpoint(self, inner, model, price, count, live)
        self._endpoints.append(made)
        return made

    def gathered(self, model: LanguageModel) -> GatheredModel:
        """A model of which is known who waits for its answers."""
        self._models.append(model)
        return GatheredModel(model, self)

    def walk_begins(self, name: str) -> None:
        """A walk begins, in the task that calls this."""
        _WALK.set(name)
        self._walks.add(name)
        self._touch()

    def walk_ends(self, name: str) -> None:
        """A walk has ended, whether it began or not."""
        self._walks.discard(name)
        self._touch()

    def is_asking(self, name: str) -> bool:
        """Return whether a walk waits for an answer."""
        return self._asking[name] > 0

    @contextlib.contextmanager
    def asking(self, name: str | None = None) -> Any:
        """Around all that waits for an answer, of a named walk or of the calling task's."""
        walk = name or _WALK.get()
        self._asking[walk] += 1
        self._touch()
        try:
            yield
        finally:
            self._asking[walk] -= 1
            self._touch()

    async def answer(self, line: Line) -> Completion:
        """The answer to a line, out of the next round or of one that is on its way."""
        self._waiting[line.line_id] = line
        self._touch()
        try:
            return await line.answer
        finally:
            self._release(line)
            for lines in (self._waiting, self._parked):
                lines.pop(line.line_id, None)
            self._flying.discard(line.line_id)

    async def cancel(self) -> list[BatchRecord]:
        """Ask the endpoints to end every batch that was not read; gives these batches."""
        found = list(await self.ledger.open())
        for record in found:
            if (of := self._endpoint_of(record)) is None or record.batch_id is None:
                continue
            if await self._courier.cancel(of, record.batch_id):
                await self.ledger.note(replace(record, state=BatchState.CANCELLING))
        return found

    async def close(self) -> None:
        """Wait for nothing any more; the batches go on where they are."""
        for timer in filter(None, [self._timer, *self._wakers.values()]):
            timer.cancel()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._tidying:  # what was read is deleted, also where nothing waits for it any more
            await asyncio.wait(self._tidying, timeout=TIDY_SECONDS)

    # The round: when it goes out, and what is in it.

    def _touch(self) -> None:
        """Something happened: see in a moment whether all walks wait."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if self._waiting:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(SETTLE, self._look)

    def _look(self) -> None:
        self._timer = None
        if not self._waiting or not self._is_quiet():
            return
        lines = list(self._waiting.values())
        self._waiting.clear()
        self._flying.update(line.line_id for line in lines)
        self._start(self._send(lines))

    def _is_quiet(self) -> bool:
        """Return whether every walk waits for a line, and nothing else is under way."""
        held = len(self._waiting) + len(self._parked) + len(self._flying)
        pending = sum(model.pending_calls for model in self._models)
        return pending <= held and all(self._asking[walk] > 0 for walk in self._walks)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, lines: list[Line]) -> None:
        """Send a round; what was asked before is not asked again."""
        try:
            async with self._sending:
                new = await self._known(lines)
                for batch_lines in self._files(self._affordable(self._fitting(new))):
                    await self._plan(batch_lines)
            if not self._batches and not self._wakers:  # nothing else would wake what waits
                self._unpark()
        except Exception as error:  # noqa: BLE001  # raised in every call that waits
            for line in lines:
                self._fail(line, error)

    async def _known(self, lines: list[Line]) -> list[Line]:
        """Give the lines that were asked before their answers, or their batches; gives the rest."""
        known = await self.ledger.known([line.line_id for line in lines])
        new: list[Line] = []
        left: dict[str, list[Line]] = {}
        records: dict[str, BatchRecord] = {}
        for line in lines:
            found = known.get(line.line_id)
            if found is None:
                new.append(line)
            elif found.answer is not None or found.batch.is_read:
                self._deliver(line, found.answer or missing_answer(found.batch))
            else:
                left.setdefault(found.batch.name, []).append(line)
                records[found.batch.name] = found.batch
        for name, some in left.items():
            batch = self._batches.get(name)
            if batch is not None:
                batch.lines.update({line.line_id: line for line in some})
                continue
            self._begin(Batch(records[name], some[0].of, {one.line_id: one for one in some}))
        return new

    def _unpark(self) -> None:
        """Let what waited for others go out with the next round."""
        self._waiting.update(self._parked)
        self._parked.clear()
        self._touch()

    def _park(self, line: Line) -> None:
        self._flying.discard(line.line_id)
        if not line.answer.done():
            self._parked[line.line_id] = line

    def _room(self, of: BatchEndpoint) -> Room:
        made = Room(self.options.poll, self.options.full_for)
        return self._rooms.setdefault((of.address, of.model), made)

    def _lines_with(self, room: Room) -> int:
        """Lines of batches that are on their way."""
        on_their_way = [one for one in self._batches.values() if self._room(one.of) is room]
        return sum(one.record.lines for one in on_their_way)

    def _fitting(self, lines: Sequence[Line]) -> list[Line]:
        """The lines that their endpoints have room for; the others wait."""
        sorted_out: dict[Room, list[Line]] = {}
        for line in lines:
            sorted_out.setdefault(self._room(line.of), []).append(line)
        loop = asyncio.get_running_loop()
        sent: list[Line] = []
        for room, some in sorted_out.items():
            rest = room.resting(loop.time())
            if rest and room not in self._wakers:
                self._wakers[room] = loop.call_later(rest, self._rested, room)
            free = 0 if rest else room.free(len(some), self._lines_with(room))
            sent += some[:free]
            for line in some[free:]:
                self._park(line)
        return sent

    def _rested(self, room: Room) -> None:
        del self._wakers[room]
        self._unpark()

    def _affordable(self, lines: list[Line]) -> list[Line]:
        """The lines that the budget holds; the others wait for what comes back, or end."""
        sent: list[Line] = []
        short: list[Line] = []
        for line in lines:
            most = line.of.most_cost(line.request, line.max_output)
            if self._spending.reserve(most):
                line.reserved = most
                sent.append(line)
            else:
                short.append(line)
        for line in short:
            if sent or self._batches:
                self._park(line)
            else:
                self._fail(line, self._over_budget(line))
        return sent

    def _over_budget(self, line: Line) -> OverBudget:
        spent = self._spending.spent
        most = line.of.most_cost(line.request, line.max_output)
        return OverBudget(
            f"what is left of the budget does not hold the next call in a batch, which may cost "
            f"up to {most:.4f} USD ({spent:.4f} USD spent)"
        )

    def _files(self, lines: Sequence[Line]) -> list[list[Line]]:
        """Lines file by file: one model a file, no more lines and bytes than one may have."""
        files: dict[BatchEndpoint, list[list[Line]]] = {}
        sizes: dict[BatchEndpoint, int] = {}
        for line in lines:
            try:
                written = line.of.inner.write_line(line.request, line.max_output)
                line.content = batch_line(line.line_id, written.body)
            except UnicodeEncodeError:
                self._fail(line, RequestRejected("the prompt holds a lone surrogate"))
                continue
            except EndpointRefused as error:  # it takes no temperature, as an earlier line showed
                self._fail(line, error)
                continue
            line.context = written.context
            size = len(line.content)
            if size > self.options.most_bytes:
                most = f"{self.options.most_bytes:,} bytes, the most of a file of a batch"
                self._fail(line, LineRefused(f"the prompt alone has more than {most}"))
                continue
            of_endpoint = files.setdefault(line.of, [])
            is_full = not of_endpoint or (
                len(of_endpoint[-1]) >= self.options.most_lines
                or sizes[line.of] + size > self.options.most_bytes
            )
            if is_full:
                of_endpoint.append([])
                sizes[line.of] = 0
            of_endpoint[-1].append(line)
            sizes[line.of] += size
        return [file for some in files.values() for file in some]

    async def _plan(self, lines: list[Line]) -> None:
        """Remember a batch, and begin it."""
        of = lines[0].of
        name = f"veritrail-{uuid.uuid4().hex}"
        record = BatchRecord(name, of.address, of.model, len(lines), BatchState.PLANNED, now())
        await self.ledger.plan(record, [line.line_id for line in lines])
        content = b"".join(line.content for line in lines)
        for line in lines:
            line.content = b""
        waiting = {line.line_id: line for line in lines}
        self._begin(Batch(record, of, waiting, content, tuple(waiting)))

    def _begin(self, batch: Batch) -> None:
        batch.epoch = self._room(batch.of).epoch
        self._batches[batch.record.name] = batch
        self._start(self._carry(batch))
        self._changed(self.on_their_way)

    # One batch, from its upload to its answers.

    async def _carry(self, batch: Batch) -> None:
        """Upload a batch where it is not there yet, wait for it, and hand its answers out."""
        try:
            if batch.record.batch_id is None and not await self._courier.submit(batch):
                await self._asked_anew(batch)
                return
            report = await self._courier.ended(batch)
            if report is not None and report.state is BatchState.FAILED:
                await self._failed(batch, report)
            else:
                await self._read(batch, report)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  # raised in every call that waits for it
            if batch.record.batch_id is None and not isinstance(error, GivenUp):
                await self._courier.tidy(batch, [])
                await self.ledger.drop(batch.record.name)
            for line in list(batch.lines.values()):
                self._fail(line, error)
        finally:
            self._batches.pop(batch.record.name, None)
            self._changed(self.on_their_way)
            self._unpark()

    async def _read(self, batch: Batch, report: BatchReport | None) -> None:
        """Read the files of a batch, keep what they say, hand it out, and delete them."""
        if report is not None:
            self._room(batch.of).taken()
        files = [report.output_file, report.error_file] if report is not None else []
        answers = await self._courier.read(batch, files)
        async with self._sending:  # a round that is being sent sees it before or after
            done = max(
                batch.record.done, sum("response" in json.loads(one) for one in answers.values())
            )
            batch.record = replace(batch.record, is_read=True, done=done)
            await self.ledger.keep(batch.record, answers)
            left = [one for one in batch.lines if one not in answers]
            known = await self.ledger.known(left)  # another session may have read it meanwhile
            answers |= {one: known[one].answer or "" for one in known}
            self._batches.pop(batch.record.name, None)
        if batch.record.ended_early is not None:
            self._warn_once(batch.record.ended_early)
        for line_id, line in batch.lines.items():
            self._deliver(line, answers.get(line_id) or missing_answer(batch.record))
        tidying = asyncio.create_task(self._courier.tidy(batch, files))
        self._tidying.add(tidying)
        tidying.add_done_callback(self._tidying.discard)

    async def _failed(self, batch: Batch, report: BatchReport) -> None:
        """A batch was not taken as a whole."""
        faults = report.faults or (BatchFault("failed", "no reason given"),)
        await self._courier.tidy(batch, [report.error_file, report.output_file])
        await self.ledger.drop(batch.record.name)
        full = next((one for one in faults if one.is_crowded), None)
        if full is not None:
            self._is_full(batch, full)
            await self._asked_anew(batch)
            return
        refusals = {
            line_id: batch.of.refusal(batch.lines[line_id], fault)
            for line_id, fault in batch.named(faults).items()
        }
        whole = _refusal_of_all(batch, faults, refusals)
        for line_id, line in list(batch.lines.items()):
            refusal = whole or refusals.get(line_id)
            if refusal is not None:
                self._fail(line, refusal)
                del batch.lines[line_id]
        await self._asked_anew(batch)

    def _is_full(self, batch: Batch, fault: BatchFault) -> None:
        """An endpoint has no room for a batch: send less, or later, or give it up."""
        room, now = self._room(batch.of), asyncio.get_running_loop().time()
        others = self._lines_with(room) - batch.record.lines
        is_kept = room.refused(batch.record.lines, others, batch.epoch, now)
        where = f"{batch.of.address} has no room for calls of {batch.of.model} in batches"
        if not is_kept:
            hours = self.options.full_for / 3_600
            words = f"{where}, not for a single one in {hours:.3g} hours: {fault.words}"
            for line in batch.lines.values():
                self._fail(line, EndpointRefused(words, code="batch_refused"))
        elif room.resting(now):
            self._warn_once(f"{where} for now, and is asked again and again: {fault.words}.")

    async def _asked_anew(self, batch: Batch) -> None:
        """Let the lines of a batch of which nothing came wait for the next round."""
        await self.ledger.drop(batch.record.name)
        for line in batch.lines.values():
            self._release(line)
            self._park(line)

    def _warn_once(self, message: str) -> None:
        if message not in self._warned:
            self._warned.add(message)
            _log.info("%s", message)
            self.warn(message)

    def _endpoint_of(self, record: BatchRecord) -> BatchEndpoint | None:
        for one in self._endpoints:
            if (one.address, one.model) == (record.address, record.model):
                return one
        return None

    # What becomes of a line.

    def _deliver(self, line: Line, kept: str) -> None:
        """Give a line its answer."""
        try:
            completion = line.of.read(line, json.loads(kept))
        except ModelError as error:
            self._fail(line, error)
            return
        self._flying.discard(line.line_id)
        if not line.answer.done():
            line.answer.set_result(completion)

    def _fail(self, line: Line, error: Exception) -> None:
        self._flying.discard(line.line_id)
        if not line.answer.done():  # each has its own: what a call cost is added to it
            line.answer.set_exception(copy.copy(error))

    def _release(self, line: Line) -> None:
        """Give back what was kept of the budget for a line."""
        if line.reserved:
            self._spending.give_back(line.reserved)
            line.reserved = 0.0


def _refusal_of_all(
    batch: Batch, faults: Sequence[BatchFault], refusals: Mapping[str, ModelError]
) -> EndpointRefused | None:
    """Return why no batch will be taken; None: without some of its lines this one may be."""
    for refusal in refusals.values():
        if isinstance(refusal, EndpointRefused):
            return refusal
    words = f"{batch.of.address} refused the batch"
    is_numbered = any(one.line is not None for one in faults)
    if not refusals and (batch.order or not is_numbered):
        return EndpointRefused(f"{words}: {faults[0].words}", code="batch_refused")
    for line_id, line in batch.lines.items():
        line.spoilt += line_id not in refusals
        if line.spoilt >= MOST_SPOILT:
            words = f"{batch.of.address} refused {MOST_SPOILT} batches, each for other lines"
            return EndpointRefused(f"{words}; the last: {faults[0].words}", code="batch_refused")
    return None
