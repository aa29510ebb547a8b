"""Lists and summaries as JSON objects: processes, verifications, runs, reviews.

Whole nouns write themselves (`json_object`).

Source: ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.agreement import Agreement, AgreementReport
from veritrail_graph.graph.model import (
    Reviewed,
    RunUsage,
    Status,
    Verdict,
    Verification,
)

if TYPE_CHECKING:
    from veritrail_graph.graph.model.listed import ProcessOverview, ProcessSummary, RunSummary

_SUMMARY = ("process_id", "name", "status", "nodes", "edges", "claims")


def summary_json(summary: ProcessSummary) -> dict[str, Any]:
    """A process in the list of processes: `list --json`."""
    found = {**summary.process.json_object(), "status": "ready"}
    return {
        **{name: found[name] for name in _SUMMARY},
        "verdicts": dict(summary.verdicts),
        "indicative": summary.indicative,
    }


def process_json(overview: ProcessOverview) -> dict[str, Any]:
    """One process."""
    return {
        **overview.process.json_object(),
        "status": "ready",
        "verifications": overview.verifications,
        "verdicts": dict(overview.verdicts),
        "indicative": overview.indicative,
    }


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


def agreement_json(process_id: str, found: AgreementReport) -> dict[str, Any]:
    """Return the agreement of people with the model and with each other; null: no such figure."""
    return {
        "process_id": process_id,
        "reviews": found.reviews,
        "claims": found.claims,
        "unclear": found.unclear,
        "disputed": found.disputed,
        "overall": figures(found.overall),
        "judges": [
            {"engine": judge.engine, "model": judge.model, **figures(one)}
            for judge, one in found.judges.items()
        ],
        "reviewers": [
            {
                "reviewer": one.reviewer,
                "reviews": one.reviews,
                "unclear": one.unclear,
                **figures(one.agreement),
            }
            for one in found.reviewers
        ],
        "between_reviewers": [
            {"reviewers": list(one.reviewers), "unclear": one.unclear, **figures(one.agreement)}
            for one in found.between
        ],
    }


def figures(found: Agreement) -> dict[str, Any]:
    """The figures of some pairs; in `table`, the first verdict is the model's."""
    return {
        "pairs": found.pairs,
        "agreed": found.agreed,
        "share": found.share,
        "interval": list(found.interval) if found.interval else None,
        "kappa": found.kappa,
        "small": found.is_small,
        "table": {
            one.value: {other.value: found.table.get((one, other), 0) for other in Verdict}
            for one in Verdict
        },
    }
