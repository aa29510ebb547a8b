"""Processes, claims and verifications as they stand in lists, as JSON objects.

Source: ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.model import Process, Verification

if TYPE_CHECKING:
    from veritrail_graph.graph.model.listed import ProcessSummary


def summary_json(summary: ProcessSummary) -> dict[str, Any]:
    """A process in the list of processes: `list --json`."""
    process = summary.process
    return {
        "process_id": process.process_id,
        "name": process.name,
        "status": "ready",
        "nodes": process.nodes,
        "edges": process.edges,
        "claims": process.claims,
        "verdicts": dict(summary.verdicts),
    }


def process_json(
    process: Process, verdicts: Mapping[str, int], verifications: int
) -> dict[str, Any]:
    """A process by itself.

    Args:
        process: The process.
        verdicts: Claims by the verdict of their latest succeeded verification.
        verifications: How many verifications it has, whatever their status.
    """
    return {
        "process_id": process.process_id,
        "name": process.name,
        "status": "ready",
        "question": process.question,
        "source_format": process.source_format,
        "content_hash": process.content_hash,
        "nodes": process.nodes,
        "edges": process.edges,
        "claims": process.claims,
        "verifications": verifications,
        "verdicts": dict(verdicts),
        "terminals": list(process.terminals),
        "stages": {str(stage): nodes for stage, nodes in process.stages.items()},
        "stage_names": {str(stage): name for stage, name in process.stage_names.items()},
        "warnings": list(process.warnings),
    }


def header_json(found: Verification) -> dict[str, Any]:
    """A verification without its trail: `list PROCESS --json`."""
    return {
        "verification_id": found.verification_id,
        "claim_id": found.claim_id,
        "claim": found.claim,
        "node_id": found.node_id,
        "engine": found.engine,
        "model": found.model,
        "indicative": found.indicative,
        "q": found.q,
        "run_id": found.run_id,
        "created_at": found.created_at,
        "status": found.status.value,
        "verdict": found.verdict.value if found.verdict else None,
        "error_stages": list(found.error_stages),
        "error": found.error,
    }
