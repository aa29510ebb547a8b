"""A million edges on one node: stored, read and verified within bounded memory."""

from __future__ import annotations

import asyncio
import resource
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from veritrail_graph.graph.embedded import EngineSettings, running_engine, stop_engine
from veritrail_graph.graph.importers.records import EdgeRecord, Header, NodeRecord, Record
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.store import open_store

pytestmark = [pytest.mark.engine, pytest.mark.soak, pytest.mark.timeout(3_000)]

MANY = 1_000_000


@dataclass(frozen=True)
class Hub:
    """A process of `MANY` roots that are all inputs to one node, made up while it is read."""

    header: Header = field(default_factory=lambda: Header("generated", process_id="hub"))

    def records(self) -> Iterator[Record]:
        yield NodeRecord("t", "The hub.", "t")
        for number in range(MANY):
            yield NodeRecord(f"n{number}", f"Root {number}.", "n")
        for number in range(MANY):
            yield EdgeRecord(f"n{number}", "t", "e")


def test_a_million_edges_on_one_node() -> None:
    home = Path(tempfile.mkdtemp(prefix="vt-soak-", dir="/tmp"))
    settings = EngineSettings(home=home)

    async def work() -> None:
        async with running_engine(settings) as address, open_store(address) as store:
            report = await ingest(store, Hub())
            assert len(report.survey.topology.edge_sources) == MANY
            del report
            read = await store.reading.source_nodes("hub", ["t"], with_texts=True)
            assert len(read.nodes) == MANY
            assert read.nodes[-1].node_id == f"n{MANY - 1}"
            texts = await store.reading.texts("hub", [ref.node_id for ref in read.nodes[-9_000:]])
            assert texts[f"n{MANY - 1}"] == f"Root {MANY - 1}."
            del read
            await store.processes.delete("hub")
            assert await store.processes.state("hub") is None
        await stop_engine(settings)

    try:
        asyncio.run(work())
    finally:
        asyncio.run(stop_engine(settings))
        shutil.rmtree(home, ignore_errors=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert peak < 3_000_000, f"{peak:,} KB"
