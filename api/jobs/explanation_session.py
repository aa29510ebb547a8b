"""The explanation of the verdicts of a job: its last unit, in one process.

The sentences of error nodes that carried claims are attributed, with what the job has left to
spend. Each is stored as soon as it has succeeded, under the run of the job; when the explanation
is begun again, what that run has stored is not asked about again.

Source: VeriTrail 3.2 (error localization); Error-tolerant attribution 1.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from veritrail_graph.api.configured.attribution import configure_attribution, explaining
from veritrail_graph.api.configured.judge import judge_options
from veritrail_graph.api.jobs.attribution_session import AttributionSession
from veritrail_graph.api.jobs.events import sentence_finished
from veritrail_graph.api.jobs.model import EventKind, JobClaim
from veritrail_graph.api.jobs.storage import JobRow
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.work.sentences import SelectedSentences, carried_sentences
from veritrail_graph.graph.errors import InputError, VeriTrailError
from veritrail_graph.graph.model import Status, Usage
from veritrail_graph.graph.model.attribution import (
    Against,
    AttributionRun,
    NodeAttribution,
    SentenceAttribution,
)
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.attribution.run import SENTENCES_AT_ONCE
from veritrail_graph.verifier.models.port import EndpointRefused

if TYPE_CHECKING:
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.api.jobs.sessions import SessionOptions

_UNTOLD = (Status.CANCELLED, Status.OVER_BUDGET, Status.FAILED)
"""How an explanation may end without success; the first one that occurs counts."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The result of the explanation of a job.

    Attributes:
        run: What was attributed this time; None: no sentence is known to have carried a claim.
        usage: What it cost this time.
        warnings: What a person should know.
        refusal: Why the endpoint refused every call, if it did.
    """

    run: AttributionRun | None = None
    usage: Usage = Usage()
    warnings: Sequence[str] = ()
    refusal: EndpointRefused | None = None

    @property
    def counts(self) -> dict[str, int]:
        """The sentences that were attributed this time by status."""
        sentences = self.run.sentences if self.run is not None else ()
        return dict(sorted(Counter(one.status.value for one in sentences).items()))

    @property
    def status(self) -> Status:
        """Return how it ended."""
        counts = self.counts
        return next((one for one in _UNTOLD if one in counts), Status.SUCCEEDED)

    @property
    def error(self) -> str | None:
        """Return why sentences could not be attributed."""
        sentences = self.run.sentences if self.run is not None else ()
        left = [one for one in sentences if one.status is not Status.SUCCEEDED]
        if not left:
            return None
        reason = next(one.error for one in left if one.status is self.status)
        return f"{len(left):,} sentence(s) could not be attributed: {reason}"


class ExplanationSession:
    """The explanation of one job in one process; make it with `open`."""

    def __init__(
        self, options: SessionOptions, job: JobRow, inner: AttributionSession, log: EventLog
    ) -> None:
        self.job_id: str = job["job_id"]
        self.process = inner.process
        self.warnings = inner.warnings
        self._run_id: str = job["run_id"]
        self._inner, self._log, self._graph = inner, log, options.graph
        self._splitter = SentenceSplitter.for_language(options.settings.language)

    @classmethod
    async def open(
        cls,
        options: SessionOptions,
        job: JobRow,
        shared: Shared,
        stack: AsyncExitStack,
        log: EventLog,
        note: Callable[[int], Awaitable[None]],
    ) -> ExplanationSession:
        """Make a session; see `AttributionSession.open`.

        Raises:
            InputError: The process or the settings were removed or changed.
            EngineError: The graph did not answer for too long.
        """
        process = await options.graph.ask(lambda store: store.processes.get(job["process_id"]))
        if process.content_hash != job["content_hash"]:
            raise InputError(f"process {process.process_id!r} was replaced since the job began")
        request = VerifyRequest.model_validate_json(job["request"])
        judging = judge_options(
            options.settings, request, prompts=options.prompts, concurrency=options.concurrency
        )
        made = await stack.enter_async_context(
            configure_attribution(options.settings, explaining(judging), shared)
        )
        inner = AttributionSession(options, job, made, process, Against.INPUTS, log, note)
        return cls(options, job, inner, log)

    async def learn(self, claimed: Sequence[JobClaim]) -> None:
        """It looks at all claims of its job when they have ended."""

    def knows(self, _verification_id: str) -> bool:
        """It is one thing, and known."""
        return True

    @property
    def refusal(self) -> str | None:
        """Return why the endpoint refuses every call, if it does."""
        return self._inner.refusal

    @property
    def stopped_for(self) -> str | None:
        """Return why it was stopped, if it was."""
        return self._inner.stopped_for

    def stop(self, why: str) -> None:
        """End what is being attributed; what is stored stays."""
        self._inner.stop(why)

    async def explain(
        self,
        verification_ids: Sequence[str],
        begins: Callable[[int], None] = lambda _sentences: None,
        done: Callable[[SentenceAttribution], None] = lambda _sentence: None,
    ) -> Explanation:
        """Attribute what carried the claims of verifications and is not attributed yet.

        Args:
            verification_ids: The verifications of the job that succeeded.
            begins: Called with how many sentences are left to attribute.
            done: Called when a sentence has ended.

        Raises:
            VeriTrailError: The trails cannot be read.
        """
        selected = await self._graph.ask(
            lambda store: carried_sentences(store, self._splitter, verification_ids)
        )
        warnings = [*(one.words for one in selected.left_out), *self.warnings]
        if not selected.only:
            return Explanation(warnings=warnings)
        stored = await self._stored(selected)
        left = [
            (node_id, number)
            for node_id, numbers in selected.only.items()
            for number in numbers
            if (node_id, number) not in stored
        ]
        begins(len(left))
        slots = asyncio.Semaphore(SENTENCES_AT_ONCE)

        async def one(node_id: str, number: int) -> tuple[SentenceAttribution, Usage]:
            async with slots:
                found, usage = await self._attribute(node_id, number)
            done(found)
            return found, usage

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(*place)) for place in left]
        usage = Usage()
        nodes: dict[str, list[SentenceAttribution]] = {node_id: [] for node_id in selected.only}
        for (node_id, _), task in zip(left, tasks, strict=True):
            found, cost = task.result()
            nodes[node_id].append(found)
            usage += cost
        attributed = [
            NodeAttribution(node_id=node_id, sentences=tuple(found))
            for node_id, found in nodes.items()
            if found
        ]
        run = self._inner.run_of(attributed, usage)
        return Explanation(run, usage, warnings, self._inner.refused)

    async def _attribute(self, node_id: str, number: int) -> tuple[SentenceAttribution, Usage]:
        """Attribute a sentence, and tell of it."""
        found, usage = await self._inner.attribute_at(node_id, number)
        place = {"node_id": node_id, "sentence": number}
        self._log.append(
            self.job_id, EventKind.SENTENCE_FINISHED, {**place, **sentence_finished(found, usage)}
        )
        return found, usage

    async def _stored(self, selected: SelectedSentences) -> set[tuple[str, int]]:
        """The sentences that the run of the job has attributed already."""
        name, places = self.process.process_id, selected.places
        try:
            found = await self._graph.ask(
                lambda store: store.attributions.of_sentences(name, places)
            )
        except VeriTrailError:  # then they are attributed again, by the cache of answers
            return set()
        return {(one.node_id, one.sentence) for one in found if one.run_id == self._run_id}
