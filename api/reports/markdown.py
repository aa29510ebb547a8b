"""A report as GitHub-flavoured Markdown, with its trails read a few at a time."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator

from veritrail_graph.api.reports.trails import Origin
from veritrail_graph.graph.exporters.markdown import (
    Asked,
    asked_lines,
    asked_of,
    report_head,
    trail_lines,
)

_IN_MEMORY = 16_000_000
_PIECE = 1_000_000


async def markdown_pieces(origin: Origin) -> AsyncIterator[str]:
    """The report, piece by piece.

    What was asked of models stands before the trails and is known only behind them: they wait in
    a temporary file, beyond what is little.
    """
    material = origin.material
    chosen = material.claims
    found = {one.claim.claim_id: one.verification for one in chosen if one.verification is not None}
    said = {one.claim.claim_id: one.reviewed for one in chosen if one.reviewed is not None}
    only = material.wanted.words()
    lines = report_head(material.process, [one.claim for one in chosen], found, said, only)
    asked: set[Asked] = set()
    with tempfile.SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8", newline="") as waiting:
        async for trail in origin.trails(chosen):
            if trail.verification is not None:
                asked |= asked_of([trail.verification])
            told = trail_lines(trail.verification, trail.checked.reviewed)
            waiting.write("".join(f"{line}\n" for line in told))
        lines += asked_lines(asked)
        piece = "\n".join(lines) + "\n"
        waiting.seek(0)
        while more := waiting.read(_PIECE):
            yield piece
            piece = more
        yield piece.rstrip("\n") + "\n"
