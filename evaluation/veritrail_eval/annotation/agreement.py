"""The agreement of the annotators of a data set.

Source: VeriTrail B.2.2 (labels mapped to verdicts), footnotes 8 and 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from veritrail_eval.annotation.final_labels import ADJUDICATED, Reason
from veritrail_eval.datasets.dataset_file import read_dataset
from veritrail_eval.datasets.loading import OwnLoader
from veritrail_eval.figure_files import Read, agreement_of, is_adjudicated, notes_on
from veritrail_eval.figures.agreement import Annotation, AnnotatorAgreement
from veritrail_eval.figures.alpha import Level
from veritrail_graph.graph.errors import InputError, shown


def is_dataset(path: Path) -> bool:
    """Return whether a file is a data set of ours."""
    return path.is_file() and OwnLoader().detect(path) is None


def read_agreement(
    path: Path,
    level: Level,
    order: Sequence[str] = (),
    *,
    adjudicator: str | None = None,
    as_given: bool = False,
) -> Read[AnnotatorAgreement]:
    """The labels of the annotators of a data set; those not understood are left out.

    Args:
        path: The data set.
        level: Whether the order of labels counts.
        order: The labels from lowest to highest. Default: verdicts have an order.
        adjudicator: The annotator who saw more documents than the others: left out on the claims
            that need them, as labels from other documents cannot be compared. Footnote 9.
        as_given: Labels are compared as given, not as the verdicts that they mean.

    Raises:
        InputError: It cannot be read, holds no labels of annotators or none of the adjudicator.
    """
    dataset = read_dataset(path)
    found: list[Annotation] = []
    not_understood = apart = 0
    elsewhere = f"{ADJUDICATED}:{Reason.OTHER_DOCUMENTS}"
    for claim in dataset.claims:
        for one in claim.labels:
            verdict = one.label.verdict
            if verdict is None:
                not_understood += 1
            elif one.annotator == adjudicator and claim.label_origin == elsewhere:
                apart += 1
            else:
                label = one.label.value if as_given else verdict.value
                found.append(Annotation("/".join(claim.key), one.annotator, label, one.uncertain))
    names = {one.annotator for claim in dataset.claims for one in claim.labels}
    if not names:
        raise InputError(f"{path}: no claim has labels of annotators. See veritrail eval sheets.")
    if adjudicator is not None and adjudicator not in names:
        known = ", ".join(sorted(names))
        raise InputError(f"{path}: {shown(adjudicator)} is no annotator; there are {known}.")
    if order and (strange := sorted({one.label for one in found} - set(order))):
        raise InputError(f"{path}: {', '.join(strange)} is not named in --order.")
    agreement = agreement_of(
        path,
        found,
        level,
        order,
        knows_uncertainty=True,
        adjudicated=frozenset(
            "/".join(claim.key) for claim in dataset.claims if is_adjudicated(claim.label_origin)
        ),
    )
    notes = notes_on(agreement)
    if not_understood:
        notes.insert(
            0, f"{not_understood} label(s) say that the claim is not understood: left out."
        )
    if apart:
        notes.insert(0, f"{apart} label(s) of {adjudicator} rest on other documents: left out.")
    return Read(agreement, notes)
