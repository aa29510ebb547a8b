"""Running verifications side by side: each is stored as soon as it is finished.

Every fault of a claim is a status of that claim alone, never a verdict.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Protocol

from veritrail_graph.graph.errors import InputError, VeriTrailError
from veritrail_graph.graph.model import Status, Usage, Verification
from veritrail_graph.graph.sent_settings import settings_as_sent
from veritrail_graph.verifier.appeals import WatchedNodes
from veritrail_graph.verifier.correction import Corrector
from veritrail_graph.verifier.driver import DEFAULT_Q, Observer, Task, verify_claim, without_verdict
from veritrail_graph.verifier.models.port import EndpointRefused, Meter
from veritrail_graph.verifier.ports import Judge, NodeSource
from veritrail_graph.verifier.reuse import EarlierVerdicts, Reuse

FIRST_UNDER_A_LIMIT = 4
"""Claims that begin before it is known what a claim takes, where the run is limited."""


class ClaimSlots:
    """Lets claims begin in their order, as many at a time as `most` says.

    Args:
        most: From the number of ended claims to how many may be on their way; at least one is.
    """

    def __init__(self, most: Callable[[int], int]) -> None:
        self._most = most
        self._taken = self._ended = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        """Wait for a slot."""
        if not self._waiting and self._taken < self._limit():
            self._taken += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it got a slot at this moment
                self._taken -= 1
                self._let_in()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the slot back."""
        self._taken -= 1
        self._ended += 1
        self._let_in()

    def _limit(self) -> int:
        return max(1, self._most(self._ended))

    def _let_in(self) -> None:
        while self._waiting and (self._waiting[0].done() or self._taken < self._limit()):
            turn = self._waiting.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)


def affordable_claims(
    left: float, spent: float, ended: int, most: int, first: int = FIRST_UNDER_A_LIMIT
) -> int:
    """Return how many claims may be on their way so that those that begin can be finished.

    Args:
        left: What the run may still spend, in dollars or in calls.
        spent: What it has spent.
        ended: How many claims that paid for.
        most: The largest number.
        first: How many begin before it is known what a claim takes.
    """
    if ended == 0 or spent <= 0:
        return min(first, most)
    return max(1, min(most, int(left * ended / spent)))


DEFAULT_CONCURRENCY = 8
KEPT_TOGETHER = 200
"""Cancelled verifications that are kept in one transaction; they have no trails."""


class Write(Protocol):
    """Keeps verifications, in one transaction."""

    async def __call__(self, *verifications: Verification) -> None:
        """Keep them all, or none.

        Raises:
            VeriTrailError: They could not be kept.
        """
        ...


class Run:
    """Verifies many claims of one process side by side.

    `verify` may be called many times, also while other calls of it are on their way: all of them
    share what was read and what may be asked at a time.

    Args:
        process_id: The process.
        judge: Selects evidence and gives verdicts.
        nodes: Where nodes are read from; shared by all claims.
        write: Keeps verifications; every task's verification is handed over once.
        q: Consecutive Not Fully Supported verdicts that stop a walk.
        concurrency: How many claims are verified at a time; or a function from the number of
            ended claims to that.
        content_hash: Hash of the content that is verified; kept with every one that is finished.
        observer: Its hooks are called.
        run_id: The run that is resumed; None: a new one.
        settings: What decides the outcome, as canonical JSON; kept with every verification.
        options: What the run may spend, as canonical JSON; kept with every verification.
        deadline: Seconds after which a claim ends as failed.
        earlier: Verdicts of an earlier version of the process, which are kept where they may be.
        corrector: Proposes wordings of wrong claims; None: there is none.

    Attributes:
        refusal: Why the endpoint refuses every call, if it does; the run was stopped then.
        reused: What the answers from the cache would cost, of claims that have ended.
    """

    def __init__(
        self,
        process_id: str,
        judge: Judge,
        nodes: NodeSource,
        write: Write,
        *,
        q: int = DEFAULT_Q,
        concurrency: int | Callable[[int], int] = DEFAULT_CONCURRENCY,
        content_hash: str | None = None,
        observer: Observer | None = None,
        run_id: str | None = None,
        settings: str | None = None,
        options: str | None = None,
        deadline: float | None = None,
        earlier: EarlierVerdicts | None = None,
        corrector: Corrector | None = None,
    ) -> None:
        self._earlier = earlier
        self._corrector = corrector
        self.run_id = run_id or f"r-{uuid.uuid4().hex}"
        self.refusal: EndpointRefused | None = None
        self.write_errors: list[VeriTrailError] = []
        self._process_id = process_id
        self._judge = judge
        self._nodes = WatchedNodes(nodes)
        self._write = write
        self._q = q
        most = concurrency
        self._slots = ClaimSlots(most if callable(most) else lambda _ended: int(most))
        self._content_hash = content_hash
        self._observer = replace(observer or Observer(), faulted=self._faulted)
        self._settings = settings
        self._options = options
        self._deadline = deadline
        self._working: set[asyncio.Task[Verification]] = set()
        self._meters: dict[str, Meter] = {}
        self.reused = Usage()
        self.stopped = False

    def stop(self) -> None:
        """End the run now: what is finished stays, the rest becomes `cancelled`."""
        self.stopped = True
        for work in list(self._working):
            work.cancel()

    def _faulted(self, error: VeriTrailError) -> None:
        """Stop when no call can succeed: one message, not one for every claim."""
        if isinstance(error, EndpointRefused) and self.refusal is None:
            self.refusal = error
            self.stop()

    async def verify(self, tasks: Sequence[Task]) -> list[Verification]:
        """Verify all tasks; give a verification for each, in their order."""
        working = [asyncio.ensure_future(self._one(task)) for task in tasks]
        self._working.update(working)
        if self.stopped:
            self.stop()
        try:
            ended = await asyncio.gather(*working, return_exceptions=True)
        finally:
            self._working.difference_update(working)
        for fault in ended:
            if not isinstance(fault, Verification | asyncio.CancelledError):
                raise fault
        verifications = [
            result if isinstance(result, Verification) else self._cancelled(task)
            for task, result in zip(tasks, ended, strict=True)
        ]
        cancelled = [one for one in verifications if one.status is Status.CANCELLED]
        for start in range(0, len(cancelled), KEPT_TOGETHER):
            await self._keep(*cancelled[start : start + KEPT_TOGETHER])
        return verifications

    async def _one(self, task: Task) -> Verification:
        async with self._slots:
            self._observer.claim_started(task)
            meter = self._meters[task.verification_id] = Meter(self._observer.call_made)
            reuse = await self._reuse(task)
            if reuse is not None and reuse.kept is not None:
                verification = reuse.kept
            else:
                verification = await verify_claim(
                    task,
                    self._process_id,
                    self._judge,
                    self._nodes,
                    q=self._q,
                    observer=self._observer,
                    deadline=self._deadline,
                    meter=meter,
                    corrector=self._corrector,
                )
                verification = verification if reuse is None else reuse.noted_in(verification)
            self.reused += meter.reused
            del self._meters[task.verification_id]
            keeping = asyncio.ensure_future(self._keep_one(task, verification))
            try:
                return await asyncio.shield(keeping)
            except asyncio.CancelledError:  # stopped at this moment: what is finished is kept
                return await keeping

    async def _reuse(self, task: Task) -> Reuse | None:
        """Return the result of an earlier version for a claim; a fault in reading is its reason."""
        if self._earlier is None:
            return None
        try:
            return await self._earlier.of(task)
        except VeriTrailError as error:
            return Reuse(f"the earlier version could not be read: {error}")

    async def _keep_one(self, task: Task, verification: Verification) -> Verification:
        """Keep a verification; one whose process is not what was verified has no verdict."""
        verification = self._of_this_run(verification)
        fault = await self._keep(verification)
        if not isinstance(fault, InputError):
            return verification
        return self._without_verdict(task, Status.FAILED, str(fault)).replace(
            created_at=verification.created_at,
            usage=verification.usage,
            steps=verification.steps,
        )

    def _of_this_run(self, verification: Verification) -> Verification:
        return verification.replace(
            content_hash=self._content_hash,
            run_id=self.run_id,
            settings=settings_as_sent(self._settings, verification.steps),
            run_options=self._options,
        )

    def _cancelled(self, task: Task) -> Verification:
        why = "the run was stopped before this claim was finished"
        if self.refusal is not None:
            why = f"{why}: {self.refusal}"
        cancelled = self._without_verdict(task, Status.CANCELLED, why)
        meter = self._meters.get(task.verification_id, Meter())  # what it cost until it was stopped
        return cancelled.replace(usage=meter.total, steps=meter.steps)

    def _without_verdict(self, task: Task, status: Status, failure: str | None) -> Verification:
        return self._of_this_run(
            without_verdict(task, self._process_id, self._judge, self._q, status, failure)
        )

    async def _keep(self, *verifications: Verification) -> VeriTrailError | None:
        fault = None
        try:
            await self._write(*verifications)
        except VeriTrailError as error:
            fault = error
            self.write_errors += [error] * len(verifications)
        for verification in verifications:
            self._observer.claim_finished(verification)
        return fault
