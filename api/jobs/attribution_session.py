"""The session of an attribution job: the parts that its sentences share in one process.

A session is an attributor with its models and what was read of the process. Each sentence that
succeeded is stored in the graph before its row says so: a kill between the two repeats the storing
alone, and its answers come from the cache.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from veritrail_graph.api.configured.attribution import (
    AttributeOptions,
    ConfiguredAttribution,
    configure_attribution,
)
from veritrail_graph.api.jobs.model import UNWATCHED, EventKind, JobClaim, JobHeader, PartProgress
from veritrail_graph.api.jobs.storage import JobRow
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.api.jobs.together import Together
from veritrail_graph.api.jobs.waiting_graph import WaitingReader
from veritrail_graph.api.requests.attribute import AttributeRequest
from veritrail_graph.api.work.attribution import Attributed, AttributionWork, remarkable
from veritrail_graph.api.work.sentences import read_nodes, unjudged_words
from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import Process, Status, Usage
from veritrail_graph.graph.model.attribution import (
    Against,
    AttributionRun,
    NodeAttribution,
    SentenceAttribution,
)
from veritrail_graph.graph.store.attributions_kept import WrittenAttributions
from veritrail_graph.verifier.attribution.run import Attributing, stopped
from veritrail_graph.verifier.models.port import EndpointRefused, Meter

if TYPE_CHECKING:
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.api.jobs.sessions import SessionOptions
    from veritrail_graph.graph.store import Store
    from veritrail_graph.verifier.ports import ReadNode

NODES_HELD = 16
"""Nodes that are held with their sources, at most."""


@dataclass(frozen=True, slots=True)
class _Material:
    """A node with what its sentences may rest on."""

    node: ReadNode
    sources: Sequence[ReadNode]


class AttributionSession:
    """One attribution job in one worker; make it with `open`."""

    def __init__(
        self,
        options: SessionOptions,
        job: JobRow,
        made: ConfiguredAttribution,
        process: Process,
        against: Against,
        log: EventLog,
        note: Callable[[int], Awaitable[None]],
        parts: PartProgress = UNWATCHED,
    ) -> None:
        self.job_id: str = job["job_id"]
        self.process = process
        self.stopped_for: str | None = None
        self.warnings = made.warnings
        self._header = JobHeader.of(job["header"])
        self._log, self._note = log, note
        self._graph, self._progress = options.graph, parts
        self._work = AttributionWork(
            process, made, WaitingReader(options.graph), against, job["run_id"]
        )
        self._attributing = Attributing(self._work.steps, Meter())
        self._places: dict[str, tuple[str, int]] = {}
        self._materials: OrderedDict[str, asyncio.Task[_Material]] = OrderedDict()
        self._storing: Together[tuple[str, SentenceAttribution], None] = Together(self._store)
        self._written = WrittenAttributions(0)
        self._without_text: set[str] = set()
        self._usage = Usage()
        self._fault: VeriTrailError | None = None

    @classmethod
    async def open(
        cls,
        options: SessionOptions,
        job: JobRow,
        shared: Shared,
        stack: AsyncExitStack,
        log: EventLog,
        note: Callable[[int], Awaitable[None]],
    ) -> AttributionSession:
        """Make a session; what it needs is closed with the stack.

        Args:
            options: What all sessions have in common.
            job: The job.
            shared: What its models share with those of others.
            stack: Closes what it needs.
            log: The events of jobs.
            note: Notes how many judged labels of earlier runs were removed.

        Raises:
            InputError: The process or the settings were removed or changed.
            EngineError: The graph did not answer for too long.
        """
        from veritrail_graph.api.jobs.sessions import check_unchanged

        process = await options.graph.ask(lambda store: store.processes.get(job["process_id"]))
        request = AttributeRequest.of_row(job["request"])
        how = AttributeOptions(request, options.prompts, options.concurrency)
        made = await stack.enter_async_context(configure_attribution(options.settings, how, shared))
        check_unchanged(job, made.settings, process)
        return cls(options, job, made, process, request.against, log, note, options.parts)

    async def learn(self, claimed: Sequence[JobClaim]) -> None:
        """Learn which sentence each row is."""
        for one in claimed:
            self._places[one.verification_id] = self._header.sentence(one.claim_id)

    def knows(self, sentence_id: str) -> bool:
        """Return whether it is known which sentence this is."""
        return sentence_id in self._places

    @property
    def refusal(self) -> str | None:
        """Return why the endpoint refuses every call, if it does."""
        return str(self.refused) if self.refused is not None else None

    @property
    def refused(self) -> EndpointRefused | None:
        """Return the same as an error."""
        return self._attributing.refusal

    def run_of(self, nodes: Sequence[NodeAttribution], usage: Usage) -> AttributionRun:
        """Return what was found, as the run of the job."""
        return self._work.run_of(nodes, usage)

    def stop(self, why: str) -> None:
        """End what is being attributed; what is stored stays."""
        self.stopped_for = self.stopped_for or why
        self._attributing.stop()

    async def attribute(self, sentence_id: str) -> tuple[SentenceAttribution, Usage]:
        """Attribute a sentence of the job and store it, with what that cost.

        Raises:
            VeriTrailError: It cannot be read.
        """
        return await self.attribute_at(*self._places[sentence_id])

    async def attribute_at(self, node_id: str, number: int) -> tuple[SentenceAttribution, Usage]:
        """Return the same for the sentence of a node with a number.

        Raises:
            VeriTrailError: It cannot be read.
        """
        place = {"node_id": node_id, "sentence": number}
        self._log.append(self.job_id, EventKind.SENTENCE_STARTED, place)
        material = await self._material(node_id)
        meter = Meter(self._progress.call_made)
        sentence = material.node.sentences[number]
        found = await self._attributing.sentence(material.node, sentence, material.sources, meter)
        self._usage += meter.total
        self._progress.attributed(node_id, found)
        if found.status is Status.SUCCEEDED:
            try:
                await self._storing.add((node_id, found))
            except VeriTrailError as error:
                self._fault = self._fault or error
                found = found.replace(status=Status.FAILED, error=str(error))
        elif found.status is Status.CANCELLED and self.stopped_for is not None:
            found = found.replace(error=self.stopped_for)
        return found, meter.total

    async def outcome(
        self,
        claimed: Sequence[JobClaim],
        found: Mapping[tuple[str, int], SentenceAttribution],
    ) -> Attributed:
        """Return what was done of the job, with what earlier attempts at it have stored.

        Args:
            claimed: The sentences of the job, in their order.
            found: Those that have ended in this process, by node_id and number.
        """
        numbers: dict[str, list[int]] = {}
        for node_id, number in (self._header.sentence(one.claim_id) for one in claimed):
            numbers.setdefault(node_id, []).append(number)
        lacking = [
            name for name in numbers if any((name, one) not in found for one in numbers[name])
        ]
        others = await self._others(lacking)
        nodes = [
            NodeAttribution(
                node_id=name,
                sentences=tuple(found.get((name, one)) or others[name, one] for one in of_node),
            )
            for name, of_node in numbers.items()
        ]
        run = self.run_of(nodes, self._usage)
        without_text = [name for name in numbers if name in self._without_text]
        warnings = [
            *(one.words for one in self._header.left_out),
            *self.warnings,
            *remarkable(run, without_text),
        ]
        if self._written.unjudged:
            warnings.append(unjudged_words(self._written.unjudged))
        stored = self._written.sentences
        return Attributed(run, stored, self.refused, self._fault, warnings)

    async def _others(self, node_ids: Sequence[str]) -> dict[tuple[str, int], SentenceAttribution]:
        """The sentences of nodes as the run has stored them; the others were not begun."""
        name, run_id = self.process.process_id, self._work.run_id
        others: dict[tuple[str, int], SentenceAttribution] = {}
        refs = await self._graph.ask(lambda store: read_nodes(store, name, node_ids))
        for node in await self._work.nodes.read([ref for ref, _ in refs]):
            node_id = node.ref.node_id
            others |= {(node_id, one.index): stopped(one) for one in node.sentences}
            for one in await self._graph.ask(partial(_of_run, name, node_id, run_id)):
                others[node_id, one.sentence] = one
        return others

    async def _material(self, node_id: str) -> _Material:
        """A node with its sources, read once for all sentences that need it at the same time."""
        reading = self._materials.get(node_id)
        if reading is None:
            reading = self._materials[node_id] = asyncio.create_task(self._read(node_id))
            while len(self._materials) > NODES_HELD:
                self._materials.popitem(last=False)
        self._materials.move_to_end(node_id)
        try:
            return await asyncio.shield(reading)
        except Exception:
            if self._materials.get(node_id) is reading:  # the next one reads it again
                del self._materials[node_id]
            raise

    async def _read(self, node_id: str) -> _Material:
        name = self.process.process_id
        ref, _ = await self._graph.ask(lambda store: store.reading.node(name, node_id))
        (node,) = await self._work.nodes.read([ref])
        sources = await self._work.sources(node_id)
        if not any(one.sentences for one in sources):
            self._without_text.add(node_id)
        return _Material(node, sources)

    async def _store(self, some: Sequence[tuple[str, SentenceAttribution]]) -> list[None]:
        """Store sentences, each with its node; those of a node together."""
        by_node: dict[str, list[SentenceAttribution]] = {}
        for node_id, found in some:
            by_node.setdefault(node_id, []).append(found)
        nodes = [
            NodeAttribution(node_id=node_id, sentences=tuple(found))
            for node_id, found in by_node.items()
        ]
        written = await self._graph.ask(lambda store: self._work.store(store, nodes))
        before = self._written
        self._written = WrittenAttributions(
            before.sentences + written.sentences, before.unjudged + written.unjudged
        )
        if written.unjudged:
            await self._note(written.unjudged)
        return [None] * len(some)


async def _of_run(
    process_id: str, node_id: str, run_id: str, store: Store
) -> list[SentenceAttribution]:
    """The sentences of a node that a run has stored."""
    stored: list[SentenceAttribution] = []
    after = (-1, -1)
    while True:
        page = await store.attributions.of_node(process_id, node_id, run_id, after)
        fields = SentenceAttribution.model_fields
        stored += [
            SentenceAttribution.model_construct(**{name: getattr(one, name) for name in fields})
            for one in page.sentences
        ]
        if not page.more:
            return stored
        after = (page.sentences[-1].start, page.sentences[-1].end)
