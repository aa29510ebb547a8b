"""A job session: everything that the claims of one job share in one process.

A judge with its models, what was read of the process, the run they belong to. It is opened by the
first claim of a job and closed when none is left, so that a job takes no longer than the same
claims take in one run.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.app.verify_request import VerifyRequest
from veritrail_graph.api.configured_judge import (
    ConfiguredJudge,
    configure_judge,
    differing,
    judge_options,
)
from veritrail_graph.api.jobs.model import Claimed
from veritrail_graph.api.jobs.storage import JobRow
from veritrail_graph.api.jobs.waiting_graph import WaitingGraph, WaitingReader
from veritrail_graph.api.runs import made_run
from veritrail_graph.api.settings import Settings
from veritrail_graph.api.shared import Shared
from veritrail_graph.graph.errors import InputError, NotFound
from veritrail_graph.graph.model import NodeRef, Process, Verification
from veritrail_graph.verifier.driver import Observer, Task
from veritrail_graph.verifier.run import Run

if TYPE_CHECKING:
    from veritrail_graph.graph.store import Store


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What all sessions of a process have in common.

    Attributes:
        settings: The settings of the service.
        graph: The graph.
        prompts: A folder of the user's own prompts, which no request can name.
        concurrency: Calls in the air, where the process sets it.
    """

    settings: Settings
    graph: WaitingGraph
    prompts: Path | None = None
    concurrency: int | None = None


class JobSession:
    """One job in one worker; make it with `open`."""

    def __init__(
        self, options: SessionOptions, job: JobRow, judge: ConfiguredJudge, process: Process
    ) -> None:
        self.job_id: str = job["job_id"]
        self.judge = judge
        self.process = process
        self._run_id: str = job["run_id"]
        self._graph = options.graph
        self._settings = options.settings
        self._tasks: dict[str, Task] = {}
        self.run: Run | None = None
        self.stopped_for: str | None = None

    @classmethod
    async def open(
        cls, options: SessionOptions, job: JobRow, shared: Shared, stack: AsyncExitStack
    ) -> JobSession:
        """Make a session; what it needs is closed with the stack.

        Raises:
            InputError: The process is gone or another one, or the settings are.
            EngineError: The graph did not answer for too long.
        """
        process = await options.graph.ask(lambda store: store.processes.get(job["process_id"]))
        how = judge_options(
            options.settings,
            VerifyRequest.model_validate_json(job["request"]),
            prompts=options.prompts,
            concurrency=options.concurrency,
        )
        judge = await stack.enter_async_context(configure_judge(options.settings, how, shared))
        others = differing(job["settings"], judge.settings)
        if others:
            raise InputError(
                f"Run {job['run_id']} was made with other settings: {'; '.join(others)}. Set them "
                "as they were and resume it, or start a new run."
            )
        if process.content_hash != job["content_hash"]:
            raise InputError(
                f"Process {process.process_id!r} was replaced since run {job['run_id']} began; "
                "start a new run."
            )
        return cls(options, job, judge, process)

    def begin(self, observer: Observer) -> Run:
        """The run that all claims of the session belong to.

        Args:
            observer: Told what happens.
        """
        self.run = made_run(
            self._settings,
            self.judge,
            self.process,
            WaitingReader(self._graph),
            self._graph.write,
            observer,
            self._run_id,
        )
        return self.run

    async def verify(self, verification_id: str) -> Verification:
        """Verify a claim of the job that was read.

        Raises:
            NotFound: The claim is gone.
        """
        task = self._tasks.get(verification_id)
        if self.run is None or task is None:
            raise NotFound("the claim was removed since the job was submitted")
        return (await self.run.verify([task]))[0]

    async def learn(self, claimed: Sequence[Claimed]) -> None:
        """Read claims of the job that are not known yet."""
        new = [one for one in claimed if one.verification_id not in self._tasks]
        if not new:
            return
        name = self.process.process_id
        found = await self._graph.ask(lambda store: tasks_of(store, name, new))
        self._tasks.update({task.verification_id: task for task in found})

    def task(self, verification_id: str) -> Task | None:
        """What is to be verified; None: its claim is not stored any more."""
        return self._tasks.get(verification_id)

    def knows(self, verification_id: str) -> bool:
        """Whether a claim was read."""
        return verification_id in self._tasks

    @property
    def refusal(self) -> str | None:
        """Why the endpoint refuses every call, if it does."""
        refusal = self.run.refusal if self.run is not None else None
        return str(refusal) if refusal is not None else None

    def stop(self, why: str) -> None:
        """End what is being verified; what is finished stays."""
        self.stopped_for = self.stopped_for or why
        if self.run is not None:
            self.run.stop()


async def tasks_of(store: Store, process_id: str, claimed: Sequence[Claimed]) -> list[Task]:
    """Tasks for the claims that are still stored."""
    ids = list(dict.fromkeys(one.claim_id for one in claimed))
    claims = {one.claim_id: one for one in await store.claims.by_id(process_id, ids)}
    nodes: dict[str, NodeRef] = {}
    for node_id in {claim.node_id for claim in claims.values()}:
        nodes[node_id] = (await store.reading.node(process_id, node_id))[0]
    return [
        Task(
            claims[one.claim_id],
            nodes[claims[one.claim_id].node_id],
            one.verification_id,
            one.place,
        )
        for one in claimed
        if one.claim_id in claims
    ]
