"""Running verifications: the driver that answers what the walk asks for.

`verify_claim` drives one walk; `Run` drives many side by side, hands each finished
verification on at once, and turns every fault into a status, never into a verdict.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from graph.clock import now
from graph.errors import VeriTrailError
from graph.model import Claim, NodeRef, Status, Usage, Verdict, Verification
from verifier.localization import evidence_paths, locate_error
from verifier.ports import Judge, Judgement, NodeSource, Selection
from verifier.walk import Answer, Need, NeedEvidence, NeedSources, Outcome, walk

DEFAULT_Q = 3
"""Of q = 1 and q = 3 the better macro F1 on both full data sets. Source: VeriTrail 4.3."""

DEFAULT_CONCURRENCY = 8

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """A claim to verify and the node that it is about."""

    claim: Claim
    node: NodeRef
    verification_id: str = field(default_factory=lambda: f"v-{uuid.uuid4().hex}")


@dataclass(slots=True)
class Observer:
    """Told what happens in a run; every hook is optional.

    Attributes:
        claim_started: A claim's walk begins.
        iteration_finished: An interim verdict was given.
        call_made: A judge answered; the usage of that call.
        claim_finished: A verification has ended, in whatever status, and was handed on.
    """

    claim_started: Callable[[Task], None] = lambda _task: None
    iteration_finished: Callable[[Task, Verdict], None] = lambda _task, _verdict: None
    call_made: Callable[[Usage], None] = lambda _usage: None
    claim_finished: Callable[[Verification], None] = lambda _verification: None


async def verify_claim(
    task: Task,
    process_id: str,
    judge: Judge,
    nodes: NodeSource,
    *,
    q: int = DEFAULT_Q,
    observer: Observer | None = None,
) -> Verification:
    """Verify one claim; every fault of the judge or the store becomes a `failed` status.

    Raises:
        asyncio.CancelledError: The run was stopped.
    """
    observer = observer or Observer()
    created_at = now()
    meter = _Meter(observer)
    outcome: Outcome | None = None
    failure: str | None = None
    try:
        outcome = await _drive(task, judge, nodes, q, meter, observer)
    except VeriTrailError as error:
        failure = str(error)
    except Exception as error:  # noqa: BLE001  # one claim's fault must not end all the others
        _log.debug("verification of %s failed", task.claim.claim_id, exc_info=True)
        failure = f"internal error ({type(error).__name__}: {error}); please report it"
    return _verification(task, process_id, judge, q, created_at, meter.usage, outcome, failure)


@dataclass(slots=True)
class _Meter:
    observer: Observer
    usage: Usage = Usage()

    def add(self, usage: Usage) -> None:
        self.usage += usage
        self.observer.call_made(usage)


async def _drive(
    task: Task, judge: Judge, nodes: NodeSource, q: int, meter: _Meter, observer: Observer
) -> Outcome:
    """Answer what the walk asks for until it is done."""
    steps = walk(task.node, q)
    answer: Answer | None = None
    while True:
        try:
            need = steps.send(answer) if answer is not None else next(steps)
        except StopIteration as done:
            outcome: Outcome = done.value
            return outcome
        answer = await _answer(need, task.claim, judge, nodes)
        if isinstance(answer, Selection | Judgement):
            meter.add(answer.usage)
        if isinstance(answer, Judgement):
            observer.iteration_finished(task, answer.verdict)


async def _answer(need: Need, claim: Claim, judge: Judge, nodes: NodeSource) -> Answer:
    if isinstance(need, NeedSources):
        return await nodes.source_nodes([ref.node_id for ref in need.of], will_read=need.will_read)
    if isinstance(need, NeedEvidence):
        return await judge.select_evidence(claim, await nodes.read(need.nodes))
    roots = await nodes.read(need.roots)
    return await judge.judge(claim, need.selection.evidence, roots)


def _verification(
    task: Task,
    process_id: str,
    judge: Judge,
    q: int,
    created_at: str,
    usage: Usage,
    outcome: Outcome | None,
    failure: str | None,
    status: Status = Status.FAILED,
) -> Verification:
    base = Verification(
        verification_id=task.verification_id,
        process_id=process_id,
        claim=task.claim,
        q=q,
        engine=judge.name,
        model=judge.model,
        indicative=judge.indicative,
        created_at=created_at,
        status=status,
        usage=usage,
        failure=failure,
    )
    if outcome is None:
        return base
    paths = evidence_paths(task.node, outcome.iterations, outcome.sources)
    return replace(
        base,
        status=Status.SUCCEEDED,
        verdict=outcome.verdict,
        reasoning=outcome.reasoning,
        score=outcome.score,
        termination=outcome.termination,
        iterations=outcome.iterations,
        paths=paths,
        error=locate_error(task.node, outcome.verdict, outcome.iterations, paths),
    )


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
        return _verification(
            task,
            self._process_id,
            self._judge,
            self._q,
            now(),
            Usage(),
            None,
            "the run was stopped before this claim was finished",
            Status.CANCELLED,
        )

    async def _keep(self, verification: Verification) -> Verification:
        try:
            await self._write(verification)
        except VeriTrailError as error:
            self.write_errors.append(error)
        self._observer.claim_finished(verification)
        return verification
