"""A Markdown report of verifications that are at hand, without a store to read trails from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from veritrail_graph.api.reports.markdown import asked_lines, asked_of, report_head, trail_lines
from veritrail_graph.graph.model import Claim, Process, Reviewed, Verification


def markdown_of(
    process: Process,
    claims: Sequence[Claim],
    verifications: Sequence[Verification],
    reviews: Mapping[str, Reviewed] | None = None,
) -> str:
    """What `veritrail report` would write of them."""
    said = reviews or {}
    found = {verification.claim_id: verification for verification in verifications}
    lines = report_head(process, claims, found, said) + asked_lines(asked_of(found.values()))
    for claim in claims:
        lines += trail_lines(found.get(claim.claim_id), said.get(claim.claim_id))
    return "\n".join(lines).rstrip() + "\n"
