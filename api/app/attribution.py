"""Attribution: what the sentences of nodes rest on, also when they are wrong.

Source: Error-tolerant attribution 3, 6.1, 7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from veritrail_graph.api.app.going_on import begin_here
from veritrail_graph.api.app.part import Part
from veritrail_graph.api.configured.attribution import AttributeOptions as AttributeOptions
from veritrail_graph.api.work.attribution import Attributed as Attributed

if TYPE_CHECKING:
    from veritrail_graph.graph.model import Claim, Usage
    from veritrail_graph.graph.model.attribution import (
        AttributedNode,
        CarriedSentence,
        SentenceAttribution,
        StoredNodeAttribution,
    )


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
        """Attribute the sentences of nodes in a job of this process, and store what is found.

        Each sentence is stored as soon as it has succeeded; a run that was stopped or killed goes
        on behind these.

        Args:
            process_id: The process.
            options: Which nodes, and how; of a run that goes on, what it may spend from now on.
            progress: What is called on the way.

        Raises:
            InputError: A node is a root, has no sources or no text, no sentence carried a claim,
                a setting is wrong, or the run to resume cannot go on.
            NotFound: The process, a node, a claim, or the run to resume is not stored.
        """
        from veritrail_graph.api.app.jobs import LocalOptions, Progress
        from veritrail_graph.api.requests.attribute import AttributeRequest

        given = {**dict(options.request), "process_id": process_id}
        request = AttributeRequest.of_any_length(given)
        here = LocalOptions(
            prompts=options.prompts, concurrency=options.concurrency, is_attended=True
        )
        watched = Progress(
            begins=lambda run, sentences: progress.begun(run.cancel, sentences),
            call_made=progress.answer,
            attributed=progress.sentence,
        )
        run = await begin_here(self._app.jobs, request, options.resume, here=here, progress=watched)
        outcome = (await run.carry_out()).outcome
        assert isinstance(outcome, Attributed)  # noqa: S101  # the job attributes
        return outcome

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
