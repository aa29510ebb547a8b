"""Running verifications side by side: each is handed on as soon as it is finished.

Every fault of a claim is a status of that claim alone, never a verdict.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Sequence

from graph.errors import VeriTrailError
from graph.model import Status, Verification
from verifier.driver import DEFAULT_Q, Observer, Task, verify_claim, without_verdict
from verifier.ports import Judge, NodeSource

DEFAULT_CONCURRENCY = 8


async def _given(verification: Verification) -> Verification:
    return verification


class Run:
    """Verifies many claims of one process side by side.

    Args:
        process_id: The process.
        judge: Who judges.
        nodes: Where nodes are read from; shared by all claims.
        write: Keeps a finished verification; called once for each task.
        q: Consecutive Not Fully Supported verdicts that stop a walk.
        concurrency: How many claims are verified at a time.
        observer: Told what happens.
    """

    def __init__(
        self,
        process_id: str,
        judge: Judge,
        nodes: NodeSource,
        write: Callable[[Verification], Awaitable[None]],
        *,
        q: int = DEFAULT_Q,
        concurrency: int = DEFAULT_CONCURRENCY,
        observer: Observer | None = None,
    ) -> None:
        self.run_id = f"r-{uuid.uuid4().hex}"
        self.write_errors: list[VeriTrailError] = []
        self._process_id = process_id
        self._judge = judge
        self._nodes = nodes
        self._write = write
        self._q = q
        self._slots = asyncio.Semaphore(concurrency)
        self._observer = observer or Observer()
        self._working: list[asyncio.Task[Verification]] = []
        self.stopped = False

    def stop(self) -> None:
        """End the run now: what is finished stays, the rest becomes `cancelled`."""
        self.stopped = True
        for work in self._working:
            work.cancel()

    async def verify(self, tasks: Sequence[Task]) -> list[Verification]:
        """Verify all tasks; give a verification for each, in their order."""
        self._working = [asyncio.ensure_future(self._one(task)) for task in tasks]
        ended = await asyncio.gather(*self._working, return_exceptions=True)
        for fault in ended:
            if not isinstance(fault, Verification | asyncio.CancelledError):
                raise fault
        return await asyncio.gather(
            *(
                _given(result)
                if isinstance(result, Verification)
                else self._keep(self._cancelled(task))
                for task, result in zip(tasks, ended, strict=True)
            )
        )

    async def _one(self, task: Task) -> Verification:
        async with self._slots:
            self._observer.claim_started(task)
            verification = await verify_claim(
                task,
                self._process_id,
                self._judge,
                self._nodes,
                q=self._q,
                observer=self._observer,
            )
            keeping = asyncio.ensure_future(self._keep(verification))
            try:
                return await asyncio.shield(keeping)
            except asyncio.CancelledError:  # stopped at this moment: what is finished is kept
                return await keeping

    def _cancelled(self, task: Task) -> Verification:
        why = "the run was stopped before this claim was finished"
        return without_verdict(task, self._process_id, self._judge, self._q, Status.CANCELLED, why)

    async def _keep(self, verification: Verification) -> Verification:
        try:
            await self._write(verification)
        except VeriTrailError as error:
            self.write_errors.append(error)
        self._observer.claim_finished(verification)
        return verification
