"""What annotators may say of a claim, and which verdict that is.

Source: VeriTrail B.2.2 (five labels, of which four are mapped to verdicts).
"""

from __future__ import annotations

from enum import StrEnum

from veritrail_graph.graph.model import Verdict


class AnnotatorLabel(StrEnum):
    """The labels of an annotator; the verdicts themselves are taken, too."""

    ALL_SUPPORTED = "ALL_SUPPORTED"
    """All parts of the claim are supported."""
    REFUTED = "REFUTED"
    """At least one part is refuted; the annotator quotes what refutes it."""
    INSUFFICIENT = "INSUFFICIENT"
    """Neither supported nor refuted: the evidence is not enough."""
    CONFLICTING = "CONFLICTING"
    """Evidence for and against it, and nothing that decides."""
    NOT_UNDERSTOOD = "NOT_UNDERSTOOD"
    """The annotator does not understand the claim."""
    FULLY_SUPPORTED = "FULLY_SUPPORTED"
    NOT_FULLY_SUPPORTED = "NOT_FULLY_SUPPORTED"
    INCONCLUSIVE = "INCONCLUSIVE"

    @property
    def verdict(self) -> Verdict | None:
        """The verdict that it is mapped to; None: it is left out of the evaluation."""
        return _VERDICTS[self]

    @property
    def needs_quote(self) -> bool:
        """Whether an annotator has to quote the evidence: what supports, refutes or conflicts."""
        return self in (
            AnnotatorLabel.ALL_SUPPORTED,
            AnnotatorLabel.REFUTED,
            AnnotatorLabel.CONFLICTING,
        )


_VERDICTS = {
    AnnotatorLabel.ALL_SUPPORTED: Verdict.FULLY_SUPPORTED,
    AnnotatorLabel.REFUTED: Verdict.NOT_FULLY_SUPPORTED,
    AnnotatorLabel.INSUFFICIENT: Verdict.NOT_FULLY_SUPPORTED,
    AnnotatorLabel.CONFLICTING: Verdict.INCONCLUSIVE,
    AnnotatorLabel.NOT_UNDERSTOOD: None,
    AnnotatorLabel.FULLY_SUPPORTED: Verdict.FULLY_SUPPORTED,
    AnnotatorLabel.NOT_FULLY_SUPPORTED: Verdict.NOT_FULLY_SUPPORTED,
    AnnotatorLabel.INCONCLUSIVE: Verdict.INCONCLUSIVE,
}
