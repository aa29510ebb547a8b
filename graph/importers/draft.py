"""A process that an importer puts together in memory, node after node; also as a process file.

Reading the file gives the same nodes, edges, origins and warnings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from veritrail_graph.graph.contract import FORMAT
from veritrail_graph.graph.importers.records import (
    ClaimRecord,
    EdgeRecord,
    Header,
    NodeRecord,
    Record,
)
from veritrail_graph.graph.model import Inference, Origin


@dataclass
class Draft:
    """A `ProcessInput` in memory, for formats whose records name each other out of order.

    Attributes:
        header: What is said of the process as a whole.
        nodes: The nodes by node_id, in their order.
        edges: The edges by source and target.
        claims: The claims.
    """

    header: Header
    nodes: dict[str, NodeRecord] = field(default_factory=dict)
    edges: dict[tuple[str, str], EdgeRecord] = field(default_factory=dict)
    claims: list[ClaimRecord] = field(default_factory=list)

    def records(self) -> Iterator[Record]:
        """Read it once from its beginning."""
        yield from self.nodes.values()
        yield from self.edges.values()
        yield from self.claims

    def node(
        self,
        node_id: str,
        text: str,
        where: str,
        *,
        origin: Origin,
        kind: str | None = None,
        step: str | None = None,
        stage: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        question: str | None = None,
    ) -> str:
        """Add a node; an id that is taken gets a number behind it.

        Returns:
            Its node_id.
        """
        name, number = node_id, 2
        while name in self.nodes:
            name, number = f"{node_id}~{number}", number + 1
        known = {key: value for key, value in (metadata or {}).items() if value is not None}
        self.nodes[name] = NodeRecord(name, text, where, stage, kind, step, known, origin, question)
        return name

    def edge(
        self,
        source: str,
        target: str,
        where: str,
        inferred: Inference | None = None,
        score: float | None = None,
    ) -> None:
        """Add an edge; the input's own takes the place of an inferred one, the surer of another."""
        if source == target:
            return
        known = self.edges.get((source, target))
        if known is not None and (
            known.inferred is None or (inferred is not None and (known.score or 0) >= (score or 0))
        ):
            return
        self.edges[source, target] = EdgeRecord(source, target, where, None, inferred, score)

    def renamed(self, names: Mapping[str, str]) -> Draft:
        """Return the same with other node_ids.

        Args:
            names: New ids by old ones; what is not named keeps its own.
        """
        terminals = self.header.terminals
        if terminals is not None:
            terminals = tuple(names.get(one, one) for one in terminals)
        found = Draft(replace(self.header, terminals=terminals))
        for node_id, node in self.nodes.items():
            name = names.get(node_id, node_id)
            found.nodes[name] = replace(node, node_id=name)
        for (source, target), edge in self.edges.items():
            ends = names.get(source, source), names.get(target, target)
            found.edges[ends] = replace(edge, source=ends[0], target=ends[1])
        for claim in self.claims:
            about = claim.node_id and names.get(claim.node_id, claim.node_id)
            found.claims.append(replace(claim, node_id=about))
        return found


def draft_lines(draft: Draft) -> Iterator[str]:
    """The lines of the process file, the header first."""
    header = draft.header
    yield _line(
        {
            "format": FORMAT,
            "process_id": header.process_id,
            "name": header.name,
            "question": header.question,
            "stages": {str(number): name for number, name in header.stage_names.items()},
            "terminals": list(header.terminals or ()),
            "warnings": list(header.warnings),
            "source_format": header.source_format,
        }
    )
    for node in draft.nodes.values():
        yield _line(
            node={
                "node_id": node.node_id,
                "stage": node.stage,
                "kind": node.kind,
                "step": node.step,
                "origin": node.origin,
                "question": node.question,
                "metadata": dict(node.metadata),
                "text": node.text,
            }
        )
    for edge in draft.edges.values():
        yield _line(edge={"source": edge.source, "target": edge.target, **edge.facts.given})
    for claim in draft.claims:
        yield _line(
            claim={
                "claim_id": claim.claim_id,
                "text": claim.text,
                "node_id": claim.node_id,
                "label": claim.label,
                "sub_claims": list(claim.sub_claims),
            }
        )


def _line(header: Mapping[str, Any] | None = None, **record: Mapping[str, Any]) -> str:
    found: dict[str, Any] = _given(header) if header is not None else {}
    found |= {kind: _given(fields) for kind, fields in record.items()}
    return json.dumps(found, ensure_ascii=False) + "\n"


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in fields.items() if one is not None and one not in ([], {})}
