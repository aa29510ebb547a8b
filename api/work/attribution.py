"""Attributing sentences of a process: where its nodes are read from, and how a run is stored.

Source: Error-tolerant attribution 3, 6.1, 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from veritrail_graph.api.work.sentences import sources_of
from veritrail_graph.graph.model.attribution import Against, AttributionRun, NodeAttribution
from veritrail_graph.verifier.nodes import SharedNodes

if TYPE_CHECKING:
    from veritrail_graph.api.configured.attribution import ConfiguredAttribution
    from veritrail_graph.graph.model import Process, Usage
    from veritrail_graph.graph.store import Store
    from veritrail_graph.graph.store.attributions_kept import WrittenAttributions
    from veritrail_graph.verifier.nodes import Reader
    from veritrail_graph.verifier.ports import ReadNode


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
        self._made, self._against, self._run_id = made, against, run_id

    async def sources(self, node_id: str) -> Sequence[ReadNode]:
        """Say what the sentences of a node may rest on, in the order in which prompts show it."""
        refs = await sources_of(self.nodes.source_nodes, node_id, self._against)
        return await self.nodes.read(refs)

    def run_of(self, nodes: Sequence[NodeAttribution], usage: Usage) -> AttributionRun:
        """Return what was found, as the run."""
        attributor = self.steps.attributor
        return AttributionRun(
            run_id=self._run_id,
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
            run=self._run_id,
            engine=self._made.engine,
            indicative=attributor.indicative,
            model=attributor.model,
            against=self._against,
            corrects=self._made.corrects,
        )
