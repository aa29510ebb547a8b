"""The label that counts, from the labels of annotators: the majority's, else a person's decision.

The paper does not say what a majority is. Here it is more than half of the labels that count, as
verdicts: two labels that mean Not Fully Supported agree. Without one a claim stays unresolved.

Source: VeriTrail B.2.2 (mapping, majority, three reasons for another label, footnote 8).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from veritrail_eval.annotation.wording import label_of
from veritrail_eval.datasets.model import Annotation, AnnotatorLabel, LabelledClaim
from veritrail_eval.tables import Row, read_table
from veritrail_graph.graph.errors import shown
from veritrail_graph.graph.model import Verdict

MAJORITY, SINGLE, UNRESOLVED, ADJUDICATED = "majority", "single", "unresolved", "adjudicated"
"""Values of `label_origin`; after `adjudicated` stands a colon and the reason."""


class Reason(StrEnum):
    """A reason for a person's decision. Source: VeriTrail B.2.2, (a) to (c)."""

    OTHER_DOCUMENTS = "other_documents"
    """The claim needs evidence beyond the documents that the annotators had."""
    NO_MAJORITY = "no_majority"
    """The annotators have no majority."""
    MISAPPLIED = "misapplied"
    """The annotators applied the instructions wrongly, or missed evidence."""

    @property
    def origin(self) -> str:
        """The `label_origin` of a claim that was decided for this reason."""
        return f"{ADJUDICATED}:{self}"


def verdict_counts(labels: Sequence[Annotation]) -> Counter[Verdict]:
    """Return how many labels mean each verdict; `I do not understand` is left out. Footnote 8."""
    verdicts = (one.label.verdict for one in labels)
    return Counter(one for one in verdicts if one is not None)


def majority(labels: Sequence[Annotation]) -> Verdict | None:
    """The verdict of more than half of the labels that count; None: there is none."""
    counts = verdict_counts(labels)
    found, count = max(counts.items(), key=lambda one: one[1], default=(None, 0))
    return found if 2 * count > counts.total() else None


def distribution(labels: Sequence[Annotation]) -> Mapping[str, float] | None:
    """The share of each verdict among the labels that count; None: no label counts."""
    counts = verdict_counts(labels)
    total = counts.total()
    return {verdict.value: counts[verdict] / total for verdict in Verdict} if total else None


def shares_of_annotators(claim: LabelledClaim) -> Mapping[str, float] | None:
    """The share of each verdict among several annotators of a claim; None: it is not known.

    Where a data set has no distribution, labels are not of all annotators: those of FaithBench, for
    one, are of the annotators who marked something.
    """
    alone = bool(claim.labels) and verdict_counts(claim.labels).total() < 2
    return None if alone else claim.label_distribution


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's decision on the label of a claim.

    Attributes:
        label: The label.
        reason: Why the majority does not count.
    """

    label: AnnotatorLabel
    reason: Reason


Key = tuple[str, str]

REQUIRED = ("claim_id", "label", "reason")


def read_decisions(path: Path, claims: Sequence[LabelledClaim]) -> dict[Key, Decision]:
    """A file of decisions: claim_id, label, reason, and process_id where claim_id is not unique.

    Args:
        path: CSV, TSV or JSON.
        claims: The claims of the data set, with the labels of their annotators.

    Raises:
        InputError: Rows have faults; all are named with row and column.
    """
    table = read_table(path, REQUIRED)
    by_id: dict[str, list[LabelledClaim]] = {}
    for claim in claims:
        by_id.setdefault(claim.claim_id, []).append(claim)
    found: dict[Key, Decision] = {}
    keys: list[tuple[Row, tuple[str | None, ...]]] = []
    for row in table.rows:
        one = _claim(row, by_id)
        label = _label(row)
        reason = row.choice("reason", Reason) if row.required("reason") else None
        if one is None:
            continue
        keys.append((row, one.key))
        if reason is Reason.NO_MAJORITY and (known := majority(one.labels)) is not None:
            row.fault("conflict", "reason", f"but the majority of annotators says {known}")
        if label is not None and reason is not None:
            found[one.key] = Decision(label, reason)
    table.refuse_repeats(keys, "claim")
    table.check()
    return found


def _claim(row: Row, by_id: Mapping[str, Sequence[LabelledClaim]]) -> LabelledClaim | None:
    claim_id, process_id = row.required("claim_id"), row.text("process_id")
    if not claim_id:
        return None
    named = [
        one for one in by_id.get(claim_id, ()) if not process_id or one.process_id == process_id
    ]
    if not named:
        row.fault("unknown_claim", "claim_id", f"{shown(claim_id)} is no claim of the data set")
    elif len(named) > 1:
        message = f"{shown(claim_id)} is in {len(named)} processes; add the column process_id"
        row.fault("ambiguous", "claim_id", message)
    return named[0] if len(named) == 1 else None


def _label(row: Row) -> AnnotatorLabel | None:
    text = row.required("label")
    label = label_of(text)
    if text and label is None:
        names = ", ".join(AnnotatorLabel)
        row.fault("unknown_value", "label", f"{shown(text)} is none of {names}")
    return label


def settled(claim: LabelledClaim, decision: Decision | None = None) -> LabelledClaim:
    """A claim with the label that counts and where it comes from.

    Without a decision, a claim that was decided before keeps its label, and one without labels of
    annotators is returned unchanged. A distribution stays where there are no labels to count.
    """
    shares = distribution(claim.labels) if claim.labels else claim.label_distribution
    if decision is not None:
        return claim.replace(
            label=decision.label.verdict,
            label_origin=decision.reason.origin,
            label_distribution=shares,
        )
    if not claim.labels:
        return claim
    if (claim.label_origin or "").startswith(f"{ADJUDICATED}:"):
        return claim.replace(label_distribution=shares)
    agreed = majority(claim.labels)
    alone = verdict_counts(claim.labels).total() == 1
    origin = UNRESOLVED if agreed is None else SINGLE if alone else MAJORITY
    return claim.replace(label=agreed, label_origin=origin, label_distribution=shares)
