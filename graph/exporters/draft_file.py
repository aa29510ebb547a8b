"""A process that was put together in memory as a process file, without a graph.

Reading the file gives the same nodes, edges, origins and warnings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from veritrail_graph.graph.contract import FORMAT
from veritrail_graph.graph.importers.draft import Draft


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
