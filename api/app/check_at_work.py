"""One check at work: it reads, stores and verifies, several processes at the same time.

Source: ours (docs/adr/0066-check.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.app.addresses import (
    expect_writable,
    ingest_traces,
    known,
    write_back,
)
from veritrail_graph.api.app.answers import Ingested, fault_object
from veritrail_graph.api.app.check_terms import (
    CheckDone,
    CheckOptions,
    CheckWatch,
    HeldInput,
    OpenedProcess,
    StoredProcess,
    UnreadInput,
    What,
)
from veritrail_graph.api.app.checked import (
    checked_claim,
    checked_process,
    cost_of,
    findings_of,
    judge_of,
    without_cancelled,
)
from veritrail_graph.api.app.checked_dialogue import (
    CheckedClaims,
    checked_turns,
    dialogue_parameters,
    failures_of_turns,
    judge_of_turns,
)
from veritrail_graph.api.app.reading_ahead import MOST_AHEAD
from veritrail_graph.api.jobs.local import Progress as JobProgress
from veritrail_graph.api.jobs.submission import LocalOptions
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import EngineError, InputError, VeriTrailError
from veritrail_graph.graph.importers.addresses.fetching import ToolTraces
from veritrail_graph.graph.importers.registry import folder_and_graph
from veritrail_graph.graph.model import Usage, Verification
from veritrail_graph.graph.model.dialogue import is_dialogue
from veritrail_graph.graph.model.finding import (
    TURNS,
    Checked,
    CheckedProcess,
    CheckFailure,
    CheckJudge,
)
from veritrail_graph.graph.model.trail import NO_USAGE
from veritrail_graph.verifier.driver import Observer
from veritrail_graph.verifier.models.port import EndpointRefused

if TYPE_CHECKING:
    from veritrail_graph.api.app.application import Application
    from veritrail_graph.api.app.jobs import LocalRun
    from veritrail_graph.graph.model import Process
    from veritrail_graph.graph.model.dialogue import TurnVerification

AHEAD = 2
"""Processes at the same time for each call that may be in flight: one reads and writes the graph
while another waits for its answer."""
WITHOUT_MODELS = 4
"""Processes that are verified at the same time where no model is asked."""
MOST_WARNINGS = 1_000


class Spent:
    """Sums up the calls for a process, which are paid whether or not it comes to an end.

    Args:
        tell: Called with the usage of each call.
    """

    def __init__(self, tell: Callable[[Usage], None]) -> None:
        self.usage = NO_USAGE
        self._tell = tell

    def add(self, usage: Usage) -> None:
        """Count a call."""
        self.usage += usage
        self._tell(usage)


class CheckAtWork:
    """One check.

    Args:
        app: The application.
        options: How.
        watch: What is called on the way.
    """

    def __init__(self, app: Application, options: CheckOptions, watch: CheckWatch) -> None:
        from veritrail_graph.api.configured.judge import judge_options
        from veritrail_graph.api.configured.shared import Endpoints, Shared
        from veritrail_graph.verifier.models.retrying import Spending

        request = options.request
        self._app, self._options, self._watch = app, options, watch
        self._how = judge_options(
            app.settings, request, prompts=options.prompts, concurrency=options.concurrency
        )
        self._endpoints = Endpoints()
        self._shared = Shared(
            Spending(request.budget_usd, request.max_calls), endpoints=self._endpoints
        )
        calls = options.concurrency or app.settings.concurrency
        self._slots = asyncio.Semaphore(AHEAD * calls if self._how.calls_models else WITHOUT_MODELS)
        self._ended: dict[int, CheckedProcess | CheckFailure] = {}
        self._faults: dict[int, VeriTrailError] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._stops: set[Callable[[], None]] = set()
        self._seen: set[str] = set()
        self._of_tools: dict[str, ToolTraces] = {}
        self._judge: CheckJudge | None = None
        self._usage = NO_USAGE
        self._warnings: dict[str, None] = {}
        self._fault: VeriTrailError | None = None
        self._is_over = self._is_stopped = False
        self._done = self._total = self._unread = 0
        self._places = count()
        self._reading: asyncio.Task[None] | None = None

    async def carry_out(self, what: Sequence[What]) -> CheckDone:
        """Check everything.

        Raises:
            InputError: The judge cannot be made; nothing was read and stored then.
        """
        from veritrail_graph.api.configured.judge import configure_judge

        try:
            async with configure_judge(self._app.settings, self._how, self._shared) as judge:
                self._shared = replace(self._shared, judge=judge)
                await self._check(what)
        finally:
            await self._close()
        if self._fault is not None and not self._ended:
            raise self._fault
        faults = tuple(self._faults[place] for place in sorted(self._faults))
        return CheckDone(self._checked(), self._fault, faults, self._is_stopped)

    async def _check(self, what: Sequence[What]) -> None:
        self._watch.begins(self.stop)
        self._reading = asyncio.create_task(self._read(what))
        await asyncio.wait([self._reading])
        if not self._reading.cancelled() and (error := self._reading.exception()) is not None:
            if not isinstance(error, VeriTrailError):
                raise error
            self._end(error)
        for ended in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(ended, BaseException) and not isinstance(ended, asyncio.CancelledError):
                raise ended

    def stop(self) -> None:
        """Begin nothing more and cancel what runs; what is finished stays."""
        self._is_stopped = True
        self._end(None)

    def _end(self, fault: VeriTrailError | None) -> None:
        self._fault = self._fault or fault
        self._is_over = True
        if self._reading is not None:
            self._reading.cancel()
        for stop in [*self._stops]:
            stop()

    async def _close(self) -> None:
        """Let nothing go on behind a check that was left."""
        every = [*self._tasks, *([self._reading] if self._reading is not None else ())]
        left = [task for task in every if not task.done()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)
        await self._endpoints.close()

    async def _read(self, what: Sequence[What]) -> None:
        """Store what is new, and begin to verify each process as soon as it is stored."""
        pair = folder_and_graph([one for one in what if isinstance(one, Path)])
        if pair is not None and len(what) == 2:  # the graph is a part of what the folder holds
            await self._read_file(HeldInput(pair[0], str(pair[0])), pair[1:], is_single=True)
            return
        is_single = len(what) == 1
        for one in what:
            if isinstance(one, StoredProcess):
                self._begin(one.process_id, await known(self._app, one.process_id))
            elif isinstance(one, UnreadInput):
                self._failed(one.where, one.error)
            elif isinstance(one, OpenedProcess):
                self._watch.opens(one.where)
                stored = await self._app.processes.ingest_source(
                    one.source, self._options.storing, progress=self._watch.reading
                )
                self._begin(one.where, stored)
            elif isinstance(one, ToolTraces):
                await self._read_tool(one)
            else:
                held = one if isinstance(one, HeldInput) else HeldInput(one, str(one))
                self._watch.opens(held.where)
                await self._read_file(held, is_single=is_single)
            if self._is_full:
                return

    async def _read_tool(self, traces: ToolTraces) -> None:
        """Store each trace of a tool that is new before the next is fetched."""
        self._watch.opens(str(traces))
        each = ingest_traces(
            self._app,
            traces,
            self._options.storing,
            progress=self._watch.reading,
            most=self._left,
        )
        try:
            if self._options.writes_back:
                expect_writable(traces)
            async with aclosing(each):
                async for where, stored in each:
                    self._watch.opens(where)
                    if isinstance(stored, VeriTrailError):
                        self._failed(where, stored)
                    else:
                        self._of_tools.setdefault(stored.process_id, traces)
                        self._begin(where, stored)
        except InputError as error:
            self._failed(str(traces), error)
        for warning in traces.warnings:
            self._warnings[warning] = None

    @property
    def _left(self) -> int | None:
        most = self._options.most
        return None if most is None else max(1, most - len(self._tasks) - self._unread)

    @property
    def _is_full(self) -> bool:
        most = self._options.most
        return most is not None and len(self._tasks) + self._unread >= most

    async def _read_file(
        self, held: HeldInput, graph: Sequence[Path] = (), *, is_single: bool
    ) -> None:
        path = held.path
        each = self._app.processes.ingest_each(
            [path, *graph],
            self._options.storing,
            progress=self._watch.reading,
            at_once=MOST_AHEAD if self._options.most is None else 1,
        )
        is_empty = True
        try:
            async for place, stored in each:
                is_empty = False
                where = place.replace(str(path), held.where)
                if isinstance(stored, VeriTrailError):
                    self._failed(where, stored.at_place(path, held.where))
                else:
                    self._begin(where, stored)
                if self._is_full:
                    return
            if is_empty:
                raise InputError(f"{path}: there is no process in it")
        except InputError as error:
            fault = error.at_place(path, held.where)
            if is_single:
                raise fault from error
            self._failed(held.where, fault)

    def _failed(self, where: str, error: VeriTrailError) -> None:
        self._unread += 1
        self._refuse(next(self._places), where, error)

    def _refuse(
        self, place: int, where: str, error: VeriTrailError, process_id: str | None = None
    ) -> None:
        self._faults[place] = error
        said = fault_object(error, self._options.advice)
        self._put(place, CheckFailure(source=where, process_id=process_id, error=said))

    def _put(self, place: int, ended: CheckedProcess | CheckFailure) -> None:
        if self._is_stopped and isinstance(ended, CheckedProcess):
            ended = without_cancelled(ended)
            if not ended.results:  # nothing of it is finished
                return
        self._ended[place] = ended
        self._watch.ended(ended)

    def _begin(self, where: str, stored: Ingested) -> None:
        if stored.process_id in self._seen:
            return
        self._seen.add(stored.process_id)
        for warning in stored.warnings[: MOST_WARNINGS - len(self._warnings)]:
            self._warnings[warning] = None
        self._watch.stored(where, stored)
        verifying = self._verify(next(self._places), where, stored)
        self._tasks.append(asyncio.create_task(verifying))

    async def _verify(self, place: int, where: str, stored: Ingested) -> None:
        async with self._slots:
            if self._is_over:
                return
            spent = Spent(self._watch.spent)
            try:
                ended = await self._verified(where, stored, spent)
            except (EngineError, EndpointRefused) as error:
                self._usage += spent.usage
                self._end(error)
                return
            except VeriTrailError as error:
                self._usage += spent.usage
                self._refuse(place, where, error, stored.process_id)
                return
            self._put(place, ended)
            if self._options.writes_back and stored.process_id in self._of_tools:
                await self._write_back(where, stored.process_id)

    async def _write_back(self, where: str, process_id: str) -> None:
        """Write what was found to the tool; where that fails the verdicts stay."""
        try:
            await write_back(self._app, self._of_tools[process_id], process_id)
        except InputError as error:
            fault = VeriTrailError(f"checked, and not written back: {error}", code=error.code)
            self._refuse(next(self._places), where, fault, process_id)

    async def _verified(self, where: str, stored: Ingested, calls: Spent) -> CheckedProcess:
        """Verify the claims of a process; where it has none, the run makes some."""
        process = await self._app.processes.get(stored.process_id)
        if is_dialogue(process.terminals):
            return await self._verified_turns(where, stored, process, calls)
        request = self._options.request.model_copy(update={"process_id": stored.process_id})
        here = LocalOptions(
            prompts=self._options.prompts,
            concurrency=self._options.concurrency,
            shared=self._shared,
            process=process,
        )
        progress = JobProgress(
            Observer(call_made=calls.add, claim_finished=self._claim_ended),
            self._begun,
            call_made=calls.add,
        )
        run = await self._app.jobs.submit_here(request, here=here, progress=progress)
        self._stops.add(run.cancel)
        try:
            if self._is_over:
                run.cancel()
            done = await run.carry_out()
        finally:
            self._stops.discard(run.cancel)
        if done.judge is not None:
            self._judge = self._judge or judge_of(done.judge, self._app.settings.home)
            if done.judge.models is not None:
                self._warnings |= dict.fromkeys(done.judge.models.warnings)
        if done.run is not None and done.run.refusal is not None:
            self._end(done.run.refusal)
        if done.extraction is not None and (unread := done.extraction.failed):
            lost = f"No claims could be taken from {counted(len(unread), 'sentence')}"
            error = VeriTrailError(f"{lost}: {unread[0].reason}")
            self._refuse(next(self._places), where, error, stored.process_id)
        spent = done.spent.usage
        self._usage += spent
        found = [one for one in done.verifications if one.origin is None]
        store = await self._app.graph.store()
        claims = CheckedClaims(
            tuple(map(checked_claim, found)), await findings_of(store, process, found)
        )
        kept = []
        if stored.status != "created":  # one that is new had no verdicts before
            kept = await self._app.verifications.outweighed(stored.process_id, claims.results)
        return checked_process(
            where, stored, process, claims, spent, done.run_id, done.reused, kept
        )

    async def _verified_turns(
        self, where: str, stored: Ingested, process: Process, calls: Spent
    ) -> CheckedProcess:
        """Verify the assistant's turns of a dialogue; a run of these settings goes on."""
        from veritrail_graph.api.app.dialogues import DialogueOptions, DialogueProgress

        request, options = self._options.request, self._options
        how = DialogueOptions(
            dialogue_parameters(request),
            options.prompts,
            options.concurrency,
            reuses=not request.again,
        )
        stops: list[Callable[[], None]] = []
        kept = 0

        def begun(stop: Callable[[], None], _turns: int) -> None:
            stops.append(stop)
            self._stops.add(stop)

        def turn(_dialogue: str, found: TurnVerification, is_kept: bool) -> None:
            nonlocal kept
            kept += len(found.claims) if is_kept else 0
            self._done += len(found.claims)
            self._total += len(found.claims)
            self._watch.claims(self._done, self._total)

        progress = DialogueProgress(begun=begun, turn=turn, answer=calls.add)
        try:
            (done,) = await self._app.dialogues.verify(
                [stored.process_id], how, progress, self._shared
            )
        finally:
            self._stops.difference_update(stops)
        if done.fault is not None:
            raise done.fault
        run = done.run
        self._judge = self._judge or judge_of_turns(run)
        self._warnings |= dict.fromkeys(done.warnings)
        if done.refusal is not None:
            self._end(done.refusal)
        self._usage += run.usage
        for source, error in failures_of_turns(where, run, is_stopped=self._is_stopped):
            self._refuse(next(self._places), source, error, stored.process_id)
        claims = await checked_turns(await self._app.graph.store(), process, run)
        ended = checked_process(where, stored, process, claims, run.usage, run.run_id, kept)
        return ended.model_copy(update={"read": {**ended.read, TURNS: len(run.turns)}})

    def _begun(self, _run: LocalRun, claims: int) -> None:
        self._total += claims
        self._watch.claims(self._done, self._total)

    def _claim_ended(self, _verification: Verification) -> None:
        self._done += 1
        self._watch.claims(self._done, self._total)

    def _checked(self) -> Checked:
        ended = [self._ended[place] for place in sorted(self._ended)]
        model = self._options.request.model or self._app.settings.model
        judge = self._judge or CheckJudge(
            engine=self._how.engine_words,
            model=model if self._how.asks_models else None,
            indicative=not self._how.asks_models,
        )
        return Checked(
            judge=judge,
            cost_usd=cost_of(self._usage),
            processes=tuple(one for one in ended if isinstance(one, CheckedProcess)),
            failed=tuple(one for one in ended if isinstance(one, CheckFailure)),
            warnings=tuple(self._warnings),
        )
