"""The nodes of a process that is made here, and the process file of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from veritrail_graph.graph.contract import FORMAT
from veritrail_graph.graph.importers.graphrag.importer import STAGES


@dataclass(frozen=True, slots=True)
class MadeNode:
    """A text with what it was made from.

    Attributes:
        node_id: Its id, as an imported folder would have it.
        text: The text.
        stage: Its stage.
        kind: What it is.
        step: The step that made it.
        sources: Its source nodes, and whether it cites them (None: not known).
        metadata: What else is known of it.
        question: What it answers, or None.
    """

    node_id: str
    text: str
    stage: int
    kind: str
    step: str
    sources: Mapping[str, bool | None] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    question: str | None = None


def process_document(
    process_id: str, nodes: Sequence[MadeNode], warnings: Sequence[str]
) -> dict[str, Any]:
    """A process file, `veritrail.process/1`, whose terminal is the last node."""
    answer = nodes[-1]
    return {
        "format": FORMAT,
        "process_id": process_id,
        "name": f"GraphRAG: {answer.question}",
        "question": answer.question,
        "stages": {str(stage): name for stage, name in STAGES.items()},
        "warnings": list(warnings),
        "nodes": [_node(one) for one in nodes],
        "edges": [
            {"source": source, "target": one.node_id} | ({} if cited is None else {"cited": cited})
            for one in nodes
            for source, cited in one.sources.items()
        ],
        "terminals": [answer.node_id],
    }


def _node(one: MadeNode) -> dict[str, Any]:
    return {
        "node_id": one.node_id,
        "text": one.text,
        "stage": one.stage,
        "kind": one.kind,
        "step": one.step,
        "metadata": dict(one.metadata),
    } | ({} if one.question is None else {"question": one.question})
