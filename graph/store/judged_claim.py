"""A claim with how it was judged, as the statements of `claims` and `review` give it.

Source: VeriTrail 3.2 (verdicts and error stages).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.model import Claim, Reviewed, Status, Verdict
from veritrail_graph.graph.store.process_rows import claim_from

JudgedRow = tuple[Mapping[str, Any], Mapping[str, Any] | None, int, Sequence[str | None] | None]
"""Claim, its latest succeeded verification, how many it has, and how the latest one ended."""


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with its latest succeeded verification, and with what people said.

    Attributes:
        claim: The claim.
        verdict: The verdict; None: it was never verified to the end.
        verification_id: The verification that gave it.
        indicative: Whether no model judged.
        error_stages: Where an error came in.
        verifications: How many verifications the claim has, whatever their status.
        reviewed: What its reviews come to; None: there are none, or nobody asked.
        status: How its latest verification stands; None: it has none.
        error: Why that one has no verdict, if it was said.
        position: Its place among the claims of the process, counted from 0.
    """

    claim: Claim
    verdict: Verdict | None
    verification_id: str | None
    indicative: bool | None
    error_stages: tuple[int, ...]
    verifications: int
    reviewed: Reviewed | None = None
    status: Status | None = None
    error: str | None = None
    position: int = 0


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
