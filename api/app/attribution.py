"""Attribution: what the sentences of nodes rest on, also when they are wrong.

Source: Error-tolerant attribution 3, 6.1, 7.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from veritrail_graph.api.app.part import Part
from veritrail_graph.api.configured.attribution import AttributeOptions as AttributeOptions
from veritrail_graph.api.configured.attribution import configure_attribution
from veritrail_graph.api.work.sentences import (
    SelectedSentences,
    read_nodes,
    selected_sentences,
    unjudged_words,
)
from veritrail_graph.graph.errors import VeriTrailError, shown
from veritrail_graph.graph.model.attribution import AttributionRun
from veritrail_graph.graph.store.attributions_kept import WrittenAttributions

if TYPE_CHECKING:
    from veritrail_graph.api.configured.attribution import ConfiguredAttribution
    from veritrail_graph.api.work.attribution import AttributionWork
    from veritrail_graph.graph.model import Claim, Process, Usage
    from veritrail_graph.graph.model.attribution import (
        Against,
        AttributedNode,
        CarriedSentence,
        NodeAttribution,
        SentenceAttribution,
        StoredNodeAttribution,
    )
    from veritrail_graph.verifier.attribution.run import Attributing
    from veritrail_graph.verifier.models.port import EndpointRefused
    from veritrail_graph.verifier.ports import ReadNode

NODES_AT_ONCE = 16
"""Nodes whose sources are held at a time."""


@dataclass(frozen=True, slots=True)
class Attributed:
    """The result of an attribution.

    Attributes:
        run: The nodes with their sentences.
        stored: How many sentences were stored.
        refusal: Why the endpoint refused every call, if it did.
        fault: Why nothing was stored, if it was not.
        warnings: What a person should know.
    """

    run: AttributionRun
    stored: int = 0
    refusal: EndpointRefused | None = None
    fault: VeriTrailError | None = None
    warnings: Sequence[str] = field(default=())


@dataclass(frozen=True, slots=True)
class AttributionProgress:
    """The progress hooks of an attribution; every hook is optional.

    Attributes:
        begun: An attribution begins: what stops it, and how many sentences there are.
        sentence: A sentence has ended.
        answer: The usage of a call.
    """

    begun: Callable[[Callable[[], None], int], None] = lambda _stop, _sentences: None
    sentence: Callable[[SentenceAttribution], None] = lambda _sentence: None
    answer: Callable[[Usage], None] = lambda _usage: None


class Attributions(Part):
    """The operations that attribute sentences of processes to source sentences."""

    async def attribute(
        self,
        process_id: str,
        options: AttributeOptions,
        progress: AttributionProgress = AttributionProgress(),
    ) -> Attributed:
        """Attribute the sentences of nodes, and store what was found.

        Args:
            process_id: The process.
            options: Which nodes, and how.
            progress: What is called on the way.

        Raises:
            InputError: A node is a root, has no sources or no text, no sentence carried a claim,
                or a setting is wrong.
            NotFound: The process, a node or a claim is not stored.
        """
        store = await self._store()
        process = await store.processes.get(process_id)
        async with configure_attribution(self._app.settings, options) as made:
            selected = await selected_sentences(store, process, options.request, made.splitter)
            return await self._attribute(process, options.request.against, made, selected, progress)

    async def _attribute(
        self,
        process: Process,
        against: Against,
        made: ConfiguredAttribution,
        selected: SelectedSentences,
        progress: AttributionProgress,
    ) -> Attributed:
        from veritrail_graph.api.work.attribution import AttributionWork
        from veritrail_graph.verifier.attribution.run import Attributing
        from veritrail_graph.verifier.models.port import Meter

        store, run_id = await self._store(), f"r-{uuid.uuid4().hex}"
        work = AttributionWork(process, made, store.reading, against, run_id)
        meter = Meter(on_record=progress.answer)
        run = Attributing(work.steps, meter, progress.sentence)
        refs = [ref for ref, _ in await read_nodes(store, process.process_id, selected.only)]
        read = await work.nodes.read(refs)
        progress.begun(run.stop, selected.total)
        nodes, without_text = await _attribute(run, work, read, selected)
        found = work.run_of(nodes, meter.total)
        stored, fault = WrittenAttributions(0), None
        try:
            stored = await work.store(store, nodes)
        except VeriTrailError as error:  # what was found is shown even so
            fault = error
        warnings = [
            *(one.words for one in selected.left_out),
            *made.warnings,
            *_remarkable(found, without_text),
        ]
        if stored.unjudged:
            warnings.append(unjudged_words(stored.unjudged))
        return Attributed(found, stored.sentences, run.refusal, fault, warnings)

    async def of_node(
        self,
        process_id: str,
        node_id: str,
        run: str | None = None,
        after: tuple[int, int] = (-1, -1),
        limit: int = 200,
    ) -> StoredNodeAttribution:
        """The attributed sentences of a node as stored; none where none is attributed.

        Args:
            process_id: The process.
            node_id: The node.
            run: Only what this run found; None: the attribution in force.
            after: `start` and `end` of the last sentence of the page before.
            limit: At most this many sentences.

        Raises:
            NotFound: There is no such process or node.
        """
        store = await self._store()
        return await store.attributions.of_node(process_id, node_id, run, after, limit)

    async def before(
        self, process_id: str, node_id: str, number: int
    ) -> tuple[int, int, int] | None:
        """Start, end and number of the last attributed sentence before one with a number.

        None: there is none.
        """
        return await (await self._store()).attributions.before(process_id, node_id, number)

    async def stating(self, process_id: str, claim: Claim) -> list[CarriedSentence]:
        """The attributed sentences of a claim's node that state it; none where no place is known.

        Args:
            process_id: The process.
            claim: The claim with its places.
        """
        if not claim.places:
            return []
        attributions = (await self._store()).attributions
        found = await attributions.places(process_id, [claim.node_id])
        places = [
            place
            for place in found
            if any(place[2] < end and start < place[3] for start, end in claim.places)
        ]
        return await attributions.of_sentences(process_id, places) if places else []

    async def nodes(
        self, process_id: str, after: tuple[int, int] = (-1, -1), limit: int = 100
    ) -> tuple[list[AttributedNode], bool]:
        """Nodes with attributed sentences by stage and place, and whether there are more.

        Args:
            process_id: The process.
            after: Stage and position of the last node of the page before.
            limit: At most this many.

        Raises:
            NotFound: There is no such process.
        """
        return await (await self._store()).attributions.nodes(process_id, after, limit)


async def _attribute(
    run: Attributing,
    work: AttributionWork,
    nodes: Sequence[ReadNode],
    selected: SelectedSentences,
) -> tuple[list[NodeAttribution], list[str]]:
    """The nodes with what their sentences rest on, and those whose sources hold no text."""
    slots = asyncio.Semaphore(NODES_AT_ONCE)
    without_text: list[str] = []

    async def one(node: ReadNode) -> NodeAttribution:
        async with slots:
            name = node.ref.node_id
            sources = await work.sources(name)
            if not any(one.sentences for one in sources):
                without_text.append(name)
            return await run.node(node, sources, selected.only[name])

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(node)) for node in nodes]
    return [task.result() for task in tasks], without_text


def _remarkable(found: AttributionRun, without_text: Sequence[str]) -> list[str]:
    """Return what a person should know of an attribution before its figures are used."""
    said = [
        f"Node {shown(name)}: its sources hold no text. "
        + (
            "So nothing can be told of its sentences."
            if found.indicative
            else "Its sentences are unfaithful by definition; no model was asked."
        )
        for name in without_text
    ]
    odd = sum(bool(one.contradictory) for one in found.sentences)
    if odd:
        said.append(
            f"{odd:,} sentence(s) rest on a source sentence that is named as evidence and as "
            "something else at once; they count as unfaithful. Read these."
        )
    dropped = sum(one.dropped_ids for one in found.sentences)
    if dropped:
        said.append(f"{dropped:,} id(s) that the model named were not in its prompt: left out.")
    return said
