"""Conversations as files, and their processes by node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from veritrail_graph.graph.importers.agents import AgentsImporter
from veritrail_graph.graph.importers.records import EdgeRecord, NodeRecord, ProcessInput
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Inference, Origin


class Graph:
    """A process with its nodes by id and its inputs by node."""

    def __init__(self, process: ProcessInput) -> None:
        survey(process)  # no rule of a process is broken
        self.header = process.header
        records = list(process.records())
        self.nodes = {one.node_id: one for one in records if isinstance(one, NodeRecord)}
        self.inputs: dict[str, list[str]] = {name: [] for name in self.nodes}
        for one in records:
            if isinstance(one, EdgeRecord):
                # What a result repeats is found by its words; nothing else is.
                assert one.inferred in (None, Inference.NORMALISED)
                self.inputs[one.target].append(one.source)

    def origin(self, name: str) -> Origin | None:
        """Origin of a node."""
        return self.nodes[name].origin

    def said(self, words: str) -> list[str]:
        """Warnings with these words."""
        return [one for one in self.header.warnings if words in one]


def found(folder: Path, *values: Any, name: str = "log", **options: Any) -> list[Found]:
    """The processes of a value, written as a file of JSON, or of JSON Lines for several."""
    path = folder / f"{name}.json{'l' if len(values) > 1 else ''}"
    path.write_text("\n".join(map(json.dumps, values)), encoding="utf-8")
    assert AgentsImporter().detect(path) is None
    return list(AgentsImporter().processes(path, ImportOptions(**options)))
