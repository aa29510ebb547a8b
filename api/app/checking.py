"""Checking: an input is stored, gets claims where it has none, and is verified.

The result names the wrong claims, where each went wrong, and what could not be checked.

Source: ours (docs/adr/0066-check.md).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.app.answers import Ingested, fault_object, format_name
from veritrail_graph.api.app.check_terms import (
    CheckDone,
    CheckOptions,
    CheckWatch,
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
    judge_of_headers,
    without_cancelled,
)
from veritrail_graph.api.app.checked_dialogue import (
    CheckedClaims,
    checked_turns,
    dialogue_parameters,
    dialogue_request,
    failures_of_turns,
    judge_of_turns,
)
from veritrail_graph.api.app.part import Part
from veritrail_graph.api.app.reading_ahead import MOST_AHEAD
from veritrail_graph.api.jobs.local import Progress as JobProgress
from veritrail_graph.api.jobs.submission import LocalOptions
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import EngineError, InputError, NotFound, VeriTrailError
from veritrail_graph.graph.model import Usage, Verification
from veritrail_graph.graph.model.dialogue import is_dialogue
from veritrail_graph.graph.model.finding import (
    TURNS,
    Checked,
    CheckedClaim,
    CheckedProcess,
    CheckFailure,
    CheckJudge,
    FindingCounts,
    Findings,
)
from veritrail_graph.graph.model.trail import NO_USAGE
from veritrail_graph.verifier.driver import Observer
from veritrail_graph.verifier.models.port import EndpointRefused

if TYPE_CHECKING:
    from veritrail_graph.api.app.application import Application
    from veritrail_graph.api.app.jobs import LocalRun
    from veritrail_graph.api.requests.check import CheckBody
    from veritrail_graph.api.requests.dialogue import DialogueRequest
    from veritrail_graph.api.requests.verify import VerifyRequest
    from veritrail_graph.graph.importers.records import ProcessInput
    from veritrail_graph.graph.model import Process
    from veritrail_graph.graph.model.dialogue import TurnVerification

ADDRESSES = ("langfuse", "langsmith", "phoenix", "mlflow")
"""Tools whose addresses name what is to be checked."""
AHEAD = 2
"""Processes at the same time for each call that may be in flight: one reads and writes the graph
while another waits for its answer."""
WITHOUT_MODELS = 4
"""Processes that are verified at the same time where no model is asked."""
MOST_WARNINGS = 1_000
_PAGE = 500
"""Claims that are read at a time."""

_ADDRESS = re.compile(rf"({'|'.join(ADDRESSES)})://", re.IGNORECASE)
_LIKE_A_PATH = re.compile(r"[/\\]|\.(?:json|jsonl|ndjson|csv|tsv|parquet|gz|txt|md|pb)$")


class Checking(Part):
    """Checks of files, folders, answers over their sources, and stored processes."""

    async def named(self, given: str) -> Path | StoredProcess:
        """Return what a text names: a path that is there, or a stored process.

        Raises:
            InputError: It is the address of a tool, which is not read yet.
            NotFound: There is neither such a path nor such a process; the message says what is
                near.
        """
        from veritrail_graph.graph.importers.files import is_there
        from veritrail_graph.graph.importers.registry import address_of

        if found := _ADDRESS.match(given):
            raise InputError(
                f"{given}: addresses of {found[1].lower()} are not read yet. Export its traces to "
                "a file and check that: docs/formats/traces.md says how.",
                code="address_not_read",
            )
        path = Path(given)
        if await asyncio.to_thread(is_there, path) or address_of(path) is not None:
            return path
        try:
            return StoredProcess(await self._app.names.process(given))
        except NotFound as error:
            if _LIKE_A_PATH.search(given):
                raise InputError(f"{given}: no such file or folder") from None
            raise NotFound(
                f"{given}: no such file or folder, and {_begun_small(str(error))}",
                (),
                code=error.code,
                **error.facts,
            ) from None

    async def answer_over(self, body: CheckBody) -> ProcessInput:
        """Return the process of an answer and the texts that it was made from.

        A child cuts large texts, as it reads large files.

        Raises:
            InputError: Two sources have one name, or cutting them takes too long.
        """
        from veritrail_graph.graph.importers.apart import SMALL, reader_for
        from veritrail_graph.graph.importers.plain import PlainText, answer_over
        from veritrail_graph.graph.sentences import SentenceSplitter

        given = body.texts()
        answer = PlainText("answer", body.answer)
        language, question = self._app.settings.language, body.question
        size = sum(len(one.text) for one in (answer, *given))
        if size <= SMALL:
            splitter = SentenceSplitter.for_language(language)
            return await asyncio.to_thread(answer_over, answer, given, splitter, question=question)
        async with reader_for(size) as reader:
            made: ProcessInput = await asyncio.to_thread(
                reader.ask, "answer", answer, given, language, question
            )
            return made

    async def expect_judge(self, request: VerifyRequest) -> None:
        """See that claims can be verified as a request asks, before anything is stored.

        Raises:
            InputError: There is no such engine, key or price, or its values contradict each other.
        """
        from veritrail_graph.api.configured.judge import configure_judge, judge_options

        settings = self._app.settings
        async with configure_judge(settings, judge_options(settings, request)):
            pass

    async def check(
        self, what: Sequence[What], options: CheckOptions, watch: CheckWatch | None = None
    ) -> CheckDone:
        """Store what is new, take claims where there are none, verify, and return what is wrong.

        What is stored and unchanged is not stored again, and what has a verdict of the same judge
        and settings is not verified again. Several processes are verified at the same time; one
        that fails leaves the others alone.

        Args:
            what: What is checked.
            options: How.
            watch: What is called on the way.

        Raises:
            InputError: The judge cannot be made as it was asked for, or a single path cannot be
                read.
        """
        return await _Check(self._app, options, watch or CheckWatch()).carry_out(what)

    async def request_of(self, request: VerifyRequest) -> VerifyRequest | DialogueRequest:
        """Return what a job of a check is asked for: the claims of a process, or its turns.

        Raises:
            NotFound: There is no such process.
        """
        process = await self._app.processes.get(request.process_id)
        return dialogue_request(request) if is_dialogue(process.terminals) else request

    async def findings(
        self, process_id: str, after: tuple[int, str] = (-1, ""), limit: int = 100
    ) -> tuple[Findings, tuple[int, str] | None]:
        """Return what counts for the claims of a process, with a finding for each that is wrong.

        Args:
            process_id: The process.
            after: The place of the last claim of the page before.
            limit: The most claims of a page.

        Returns:
            The findings, and the place of the last claim; None: there are no more.

        Raises:
            NotFound: There is no such process.
        """
        process, tally = await asyncio.gather(
            self._app.processes.get(process_id), self._app.claims.tally(process_id)
        )
        if is_dialogue(process.terminals) and await self._app.dialogues.categories(process_id):
            return await self._findings_of_turns(process, after[0] + 1, limit)
        claims, last = await self._app.claims.search(process_id, after=after, limit=limit)
        names = [one.verification_id for one in claims if one.verification_id is not None]
        found = {one.verification_id: one for one in await self._app.verifications.read(names)}
        errors = {
            name: tuple(node.node_id for node in one.error_nodes) for name, one in found.items()
        }
        results = [
            CheckedClaim(
                process_id=process_id,
                claim_id=one.claim_id,
                claim=one.text,
                verdict=one.verdict,
                status=one.status,
                verification_id=one.verification_id,
                error_nodes=errors.get(one.verification_id or "", ()),
                reason=one.error,
            )
            for one in claims
        ]
        store = await self._store()
        return Findings(
            process_id=process_id,
            name=process.name or process_id,
            question=process.question,
            claims=process.claims,
            verdicts=FindingCounts.of_states(tally.states),
            judge=judge_of_headers(list(found.values())),
            findings=await findings_of(store, process, list(found.values())),
            results=tuple(results),
        ), last

    async def _findings_of_turns(
        self, process: Process, first: int, limit: int
    ) -> tuple[Findings, tuple[int, str] | None]:
        """Return what counts for the claims of turns, from a claim on."""
        name = process.process_id
        run = await self._app.dialogues.result(name)
        claims = await checked_turns(await self._store(), process, run)
        results = claims.results[first : first + limit]
        shown = {one.claim_id for one in results}
        return Findings(
            process_id=name,
            name=process.name or name,
            question=process.question,
            claims=len(claims.results),
            verdicts=FindingCounts.of(claims.results),
            judge=judge_of_turns(run),
            findings=tuple(one for one in claims.wrong if one.claim_id in shown),
            results=results,
        ), (first + limit - 1, "") if first + limit < len(claims.results) else None

    async def all_findings(self, process_id: str) -> Findings:
        """Return what counts for every claim of a process.

        Args:
            process_id: The process.

        Raises:
            NotFound: There is no such process.
        """
        pages: list[Findings] = []
        last: tuple[int, str] | None = (-1, "")
        while last is not None:
            page, last = await self.findings(process_id, last, _PAGE)
            pages.append(page)
        return Findings.of_pages(pages)


class _Check:
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
        is_single = len(what) == 1
        for one in what:
            if isinstance(one, StoredProcess):
                self._begin(one.process_id, await self._known(one.process_id))
            elif isinstance(one, UnreadInput):
                self._failed(one.where, one.error)
            elif isinstance(one, OpenedProcess):
                self._watch.opens(one.where)
                stored = await self._app.processes.ingest_source(
                    one.source, self._options.storing, progress=self._watch.reading
                )
                self._begin(one.where, stored)
            else:
                self._watch.opens(str(one))
                await self._read_path(one, is_single=is_single)
            if self._is_full:
                return

    @property
    def _is_full(self) -> bool:
        most = self._options.most
        return most is not None and len(self._tasks) + self._unread >= most

    async def _read_path(self, path: Path, *, is_single: bool) -> None:
        each = self._app.processes.ingest_each(
            [path],
            self._options.storing,
            progress=self._watch.reading,
            at_once=MOST_AHEAD if self._options.most is None else 1,
        )
        is_empty = True
        try:
            async for where, stored in each:
                is_empty = False
                if isinstance(stored, VeriTrailError):
                    self._failed(where, stored)
                else:
                    self._begin(where, stored)
                if self._is_full:
                    return
        except InputError as error:
            if is_single:
                raise
            self._failed(str(path), error)
            return
        if is_empty:
            fault = InputError(f"{path}: there is no process in it")
            if is_single:
                raise fault
            self._failed(str(path), fault)

    async def _known(self, process_id: str) -> Ingested:
        """Return what is known of a process that is stored already, as if it had just been read."""
        process = await self._app.processes.get(process_id)
        return Ingested.model_construct(
            process_id=process_id,
            name=process.name or process_id,
            status="unchanged",
            nodes=process.nodes,
            edges=process.edges,
            claims=process.claims,
            format=format_name(process.source_format),
        )

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
            try:
                ended = await self._verified(where, stored)
            except (EngineError, EndpointRefused) as error:
                self._end(error)
                return
            except VeriTrailError as error:
                self._refuse(place, where, error, stored.process_id)
                return
            self._put(place, ended)

    async def _verified(self, where: str, stored: Ingested) -> CheckedProcess:
        """Verify the claims of a process; where it has none, the run makes some."""
        process = await self._app.processes.get(stored.process_id)
        if is_dialogue(process.terminals):
            return await self._verified_turns(where, stored, process)
        request = self._options.request.model_copy(update={"process_id": stored.process_id})
        here = LocalOptions(None, self._options.prompts, self._options.concurrency, self._shared)
        progress = JobProgress(
            Observer(call_made=self._spent, claim_finished=self._claim_ended),
            self._begun,
            call_made=self._spent,
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
            self._judge = self._judge or judge_of(done.judge)
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
        return checked_process(where, stored, process, claims, spent, done.run_id, done.reused)

    async def _verified_turns(
        self, where: str, stored: Ingested, process: Process
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

        progress = DialogueProgress(begun=begun, turn=turn, answer=self._spent)
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

    def _spent(self, usage: Usage) -> None:
        self._watch.spent(usage)

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


def _begun_small(text: str) -> str:
    return text[:1].lower() + text[1:]
