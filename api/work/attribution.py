"""Attributing sentences of a process: where its nodes are read from, and how a run is stored.

Source: Error-tolerant attribution 3, 6.1, 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from veritrail_graph.api.work.sentences import sources_of
from veritrail_graph.graph.errors import VeriTrailError, shown
from veritrail_graph.graph.model.attribution import Against, AttributionRun, NodeAttribution
from veritrail_graph.verifier.nodes import SharedNodes

if TYPE_CHECKING:
    from veritrail_graph.api.configured.attribution import ConfiguredAttribution
    from veritrail_graph.graph.model import Process, Usage
    from veritrail_graph.graph.store import Store
    from veritrail_graph.graph.store.attributions_kept import WrittenAttributions
    from veritrail_graph.verifier.models.port import EndpointRefused
    from veritrail_graph.verifier.nodes import Reader
    from veritrail_graph.verifier.ports import ReadNode


@dataclass(frozen=True, slots=True)
class Attributed:
    """The result of an attribution.

    Attributes:
        run: The nodes with their sentences.
        stored: How many sentences were stored.
        refusal: Why the endpoint refused every call, if it did.
        fault: Why something was not stored, if it was not.
        warnings: What a person should know.
    """

    run: AttributionRun
    stored: int = 0
    refusal: EndpointRefused | None = None
    fault: VeriTrailError | None = None
    warnings: Sequence[str] = field(default=())


def remarkable(found: AttributionRun, without_text: Sequence[str]) -> list[str]:
    """Return what a person should know of an attribution before its figures are used.

    Args:
        found: The attribution.
        without_text: Nodes whose sources hold no text.
    """
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


class AttributionWork:
    """One run that attributes sentences of a process.

    Args:
        process: The process.
        made: What attributes them.
        reader: Reads nodes of the graph.
        against: What they are attributed to.
        run_id: The run.

    Attributes:
        process: The process.
        run_id: The run.
        nodes: Its nodes, each read once.
        steps: What is done with a sentence.
    """

    def __init__(
        self,
        process: Process,
        made: ConfiguredAttribution,
        reader: Reader,
        against: Against,
        run_id: str,
    ) -> None:
        self.process = process
        self.nodes = SharedNodes(
            reader, process.process_id, made.splitter, size=process.nodes, edges=process.edges
        )
        self.steps = made.steps_for(process, self.nodes)
        self.run_id = run_id
        self._made, self._against = made, against

    async def sources(self, node_id: str) -> Sequence[ReadNode]:
        """Say what the sentences of a node may rest on, in the order in which prompts show it."""
        refs = await sources_of(self.nodes.source_nodes, node_id, self._against)
        return await self.nodes.read(refs)

    def run_of(self, nodes: Sequence[NodeAttribution], usage: Usage) -> AttributionRun:
        """Return what was found, as the run."""
        attributor = self.steps.attributor
        return AttributionRun(
            run_id=self.run_id,
            process_id=self.process.process_id,
            engine=self._made.engine,
            model=attributor.model,
            indicative=attributor.indicative,
            nodes=tuple(nodes),
            usage=usage,
            against=self._against,
            judge=self._made.judge,
        )

    async def store(self, store: Store, nodes: Sequence[NodeAttribution]) -> WrittenAttributions:
        """Store what was found of nodes, as found in the run.

        Raises:
            VeriTrailError: It cannot be stored.
        """
        attributor = self.steps.attributor
        return await store.attributions.write(
            self.process.process_id,
            self.process.content_hash,
            nodes,
            run=self.run_id,
            engine=self._made.engine,
            indicative=attributor.indicative,
            model=attributor.model,
            against=self._against,
            corrects=self._made.corrects,
        )
