"""Processes with attributions that are too large to make by hand, for tests of pages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from fakes.processes import MemoryInput
from fakes.settings_of import settings_of

from veritrail_graph.api.configured.graph_connection import open_graph
from veritrail_graph.graph.importers.records import EdgeRecord, Header, NodeRecord
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model.attribution import NodeAttribution


def store_attributed(
    environ: Mapping[str, str],
    process_id: str,
    nodes: Mapping[str, str],
    edges: Iterable[tuple[str, str]],
    attributed: Sequence[NodeAttribution],
) -> None:
    """Store a process with attributions as a run leaves them."""

    async def work() -> None:
        async with open_graph(settings_of(environ)) as store:
            source = MemoryInput(
                [NodeRecord(name, text, "nodes") for name, text in nodes.items()],
                [EdgeRecord(source, target, "edges") for source, target in edges],
                [],
                Header("memory", process_id=process_id),
            )
            content_hash = (await ingest(store, source)).survey.hash
            await store.attributions.write(
                process_id, content_hash, attributed, run="r-1", engine="openai", indicative=False
            )

    asyncio.run(work())
