"""A claim with how it was judged, as the statements of `claims` and `review` give it.

Source: VeriTrail 3.2 (verdicts and error stages).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from veritrail_graph.graph.model import Reviewed, Status, Verdict
from veritrail_graph.graph.model.listed import JudgedClaim
from veritrail_graph.graph.store.process_rows import claim_from

JudgedRow = tuple[Mapping[str, Any], Mapping[str, Any] | None, int, Sequence[str | None] | None]
"""Claim, its latest succeeded verification, how many it has, and how the latest one ended."""


def judged_from(row: JudgedRow, reviewed: Reviewed | None = None) -> JudgedClaim:
    """A claim from its row, and from what people said."""
    claim, verification, verifications, latest = row
    status, error = latest or (None, None)
    found = verification or {}
    verdict = found.get("verdict")
    return JudgedClaim(
        claim=claim_from(claim),
        verdict=Verdict(verdict) if verdict else None,
        verification_id=found.get("verification_id"),
        indicative=found.get("indicative"),
        error_stages=tuple(found.get("error_stages") or ()),
        verifications=verifications,
        reviewed=reviewed,
        status=Status(status) if status else None,
        error=error,
        position=claim.get("position") or 0,
    )
