"""A review as a line: the reviewer, the verdict that it speaks of, and the reason.

Source: docs/adr/0017-reviews.md.
"""

from __future__ import annotations

from veritrail_graph.api.show.document import Line, Style, name, ours, said, verdict
from veritrail_graph.api.show.words import VERDICT_WORDS, review_mark
from veritrail_graph.graph.model import Review


def review_line(review: Review, shown: str | None = None) -> Line:
    """Show a review on one line.

    Args:
        review: The review.
        shown: The verification beside which it stands; of another one it is said.
    """
    line: Line = (
        name(review.reviewer, Style.STRONG),
        ours(": "),
        verdict(review_mark(review.verdict)),
    )
    if review.model_verdict is not None:
        words = f" ({review.kind.value}; it was {VERDICT_WORDS[review.model_verdict]})"
        line += (ours(words, Style.QUIET),)
    if review.reason:
        line += (ours(", "), said(review.reason))
    line += (ours(f"  {review.created_at}", Style.QUIET),)
    if review.recorded_by:
        line += (ours(", by key ", Style.QUIET), name(review.recorded_by, Style.QUIET))
    line += (ours("  "), name(review.review_id, Style.QUIET))
    if shown is not None and review.overrides not in {None, shown}:
        line += (ours(" (of ", Style.QUIET), name(review.overrides or ""), ours(")", Style.QUIET))
    return line
