"""Verifications as the JSON objects of the contract.

Source: VeriTrail 3.2 (verdicts, reasoning, interim verdicts, evidence trail).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.model import Status, Usage, Verification, total_usage

if TYPE_CHECKING:
    from veritrail_graph.graph.model.listed import RunSummary


def run_json(
    run_id: str,
    process_id: str,
    engine: str,
    model: str | None,
    indicative: bool,
    verifications: Iterable[Verification],
) -> dict[str, Any]:
    """What `verify --json` prints."""
    done = list(verifications)
    total = total_usage(done)
    return {
        "run_id": run_id,
        "process_id": process_id,
        "engine": engine,
        "model": model,
        "indicative": indicative,
        "verifications": [verification.json_object() for verification in done],
        "usage": total.json_object(),
        "cost": _cost(total, len(done)),
    }


def _cost(total: Usage, claims: int) -> dict[str, Any]:
    """Money of a run; null is unknown, or that no call was made."""
    known = total.cost_usd
    return {
        "usd": known,
        "usd_per_claim": known / claims if known is not None and claims else None,
        "unpriced_calls": total.unpriced_calls,
    }


def run_summary_json(run: RunSummary) -> dict[str, Any]:
    """A run in a list of runs, with its number of verifications by status."""
    return {
        "run_id": run.run_id,
        "created_at": run.created_at,
        "engine": run.engine,
        "model": run.model,
        "verifications": run.total,
        "counts": {status.value: run.counts[status] for status in Status if status in run.counts},
    }
