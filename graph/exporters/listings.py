"""Lists and summaries as JSON objects: processes, verifications, runs, reviews.

Whole nouns write themselves (`json_object`).

Source: ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from veritrail_graph.graph.model import (
    Reviewed,
    RunUsage,
    Verification,
)


def run_json(
    run_id: str,
    process_id: str,
    engine: str,
    model: str | None,
    indicative: bool,
    verifications: Iterable[Verification],
    spent: RunUsage,
) -> dict[str, Any]:
    """Return what `verify --json` prints."""
    return {
        "run_id": run_id,
        "process_id": process_id,
        "engine": engine,
        "model": model,
        "indicative": indicative,
        "verifications": [verification.json_object() for verification in verifications],
        **spent.json_object(),
        "cost": {
            "usd": spent.usage.cost_usd,
            "usd_per_claim": spent.usd_per_finished_claim,
            "unpriced_calls": spent.usage.unpriced_calls,
        },
    }


def reviewed_json(found: Reviewed | None) -> dict[str, Any]:
    """The state of the reviews of a claim; all is null or 0 where there are none."""
    if found is None:
        return {"review": None, "reviewed_verdict": None, "reviews": 0, "disputed": False}
    verdict = found.reviewed_verdict
    return {
        "review": found.kind.value,
        "reviewed_verdict": verdict.value if verdict else None,
        "reviews": found.reviews,
        "disputed": found.disputed,
    }
