"""The section of a report on probabilities beside annotators who differ.

Source: VeriTrail B.2.2; the section is ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from veritrail_eval.reporting.soft_labels import ComparedWithAnnotators, SoftLabels
from veritrail_eval.reports.parts import (
    Cell,
    Section,
    ShownTable,
    claims_words,
    named,
    reasons_of,
    shown,
    span_of,
)

_NAMES = {
    "brier": "Brier score",
    "brier_gain": "gain",
    "cross_entropy": "cross-entropy",
    "correlation": "correlation",
    "auroc_disagreed": "AUROC of disagreement",
}
_COLUMNS = (
    "brier", "constant_brier", "brier_gain", "cross_entropy", "constant_cross_entropy", "entropy",
    "correlation", "auroc_disagreed",
)  # fmt: skip
_WORDS = (
    "The soft label of a claim is the share of its annotators who say Fully Supported. The Brier "
    "score is the mean square of how far a probability is from it, the cross-entropy (in nats) "
    "punishes certainty that annotators do not share; of both less is better. A constant always "
    "says the mean of the soft labels; the gain is what the Brier score is below that of the "
    "constant. Annotators' own is the cross-entropy of their own shares, below which none can be. "
    "The correlation (Spearman) is that of the method's doubt with the share of annotators who "
    "are not of the most frequent opinion; AUROC of disagreement is how likely the method has more "
    "doubt of a claim on which they differ than of one on which they agree."
)


def soft_labels_section(found: SoftLabels) -> Section:
    """The figures of each configuration."""
    facts = (
        f"{claims_words(found.claims)} with several annotators; they differ on {found.disputed:,}. "
        "Claims without a majority have no label and are not judged, so the most disputed ones are "
        "not among them."
    )
    notes = [*_notes(found.rows), *reasons_of([(row.run.title, row.figures) for row in found.rows],
                                              _NAMES)]  # fmt: skip
    table = ShownTable(
        "Probabilities beside the shares of annotators",
        [
            "Configuration", "Claims", "Brier score", "Brier of a constant", "Gain",
            "Cross-entropy", "Cross-entropy of a constant", "Annotators' own", "Correlation",
            "AUROC of disagreement",
        ],
        [_cells(row) for row in found.rows],
        notes=notes,
    )  # fmt: skip
    return Section("Probabilities and annotators", [_WORDS, facts], [table])


def _cells(row: ComparedWithAnnotators) -> list[Cell]:
    name = f"{named(row.run)}, by verdicts" if row.by_verdict else named(row.run)
    cells = [Cell(name), Cell(f"{row.found.claims:,}")]
    for column in _COLUMNS:
        figure = row.figures[column]
        span = "" if figure.value is None else span_of(row.found.intervals[column])
        cells.append(Cell(shown(figure.value), span=span))
    return cells


def _notes(rows: Sequence[ComparedWithAnnotators]) -> list[str]:
    notes = []
    if any(row.by_verdict for row in rows):
        notes.append(
            "By verdicts: the configuration gives no probabilities, so Fully Supported counts as 1 "
            "and Not Fully Supported as 0. Several samples of a judge give some (samples = 3)."
        )
    notes += [
        f"{row.run.title}: {claims_words(row.left_out)} without a probability left out."
        for row in rows
        if row.left_out
    ]
    return notes
