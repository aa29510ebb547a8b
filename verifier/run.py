"""Running verifications side by side: each is handed on as soon as it is finished.

Every fault of a claim is a status of that claim alone, never a verdict.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from graph.errors import InputError, VeriTrailError
from graph.model import Status, Verification
from verifier.driver import DEFAULT_Q, Observer, Task, verify_claim, without_verdict
from verifier.ports import Judge, NodeSource

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

    Args:
        process_id: The process.
        judge: Who judges.
        nodes: Where nodes are read from; shared by all claims.
        write: Keeps verifications; every task's verification is handed over once.
        q: Consecutive Not Fully Supported verdicts that stop a walk.
        concurrency: How many claims are verified at a time.
        content_hash: Hash of the content that is verified; kept with every one that is finished.
        observer: Told what happens.
    """

    def __init__(
        self,
        process_id: str,
        judge: Judge,
        nodes: NodeSource,
        write: Write,
        *,
        q: int = DEFAULT_Q,
        concurrency: int = DEFAULT_CONCURRENCY,
        content_hash: str | None = None,
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
        self._content_hash = content_hash
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
            verification = await verify_claim(
                task,
                self._process_id,
                self._judge,
                self._nodes,
                q=self._q,
                observer=self._observer,
            )
            keeping = asyncio.ensure_future(self._keep_one(task, verification))
            try:
                return await asyncio.shield(keeping)
            except asyncio.CancelledError:  # stopped at this moment: what is finished is kept
                return await keeping

    async def _keep_one(self, task: Task, verification: Verification) -> Verification:
        """Keep a verification; one whose process is not what was verified has no verdict."""
        verification = replace(verification, content_hash=self._content_hash)
        fault = await self._keep(verification)
        if not isinstance(fault, InputError):
            return verification
        failed = without_verdict(
            task, self._process_id, self._judge, self._q, Status.FAILED, str(fault)
        )
        return replace(
            failed,
            created_at=verification.created_at,
            usage=verification.usage,
            content_hash=verification.content_hash,
        )

    def _cancelled(self, task: Task) -> Verification:
        why = "the run was stopped before this claim was finished"
        return without_verdict(task, self._process_id, self._judge, self._q, Status.CANCELLED, why)

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
