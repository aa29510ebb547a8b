"""Reviews as JSON objects, and what they come to for a claim.

Source: ours (docs/adr/0017-reviews.md).
"""

from __future__ import annotations

from typing import Any

from veritrail_graph.graph.agreement import Agreement, AgreementReport
from veritrail_graph.graph.model import Reviewed, Verdict


def reviewed_json(found: Reviewed | None) -> dict[str, Any]:
    """What the reviews of a claim come to; all is null or 0 where there are none."""
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
    """How far people agree with the model and with each other; null: there is no such figure."""
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
