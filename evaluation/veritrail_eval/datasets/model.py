"""A data set: processes, and claims about them with labels.

Source: VeriTrail 4.1, B; the format `veritrail.dataset/1` is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import fsum
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from veritrail_graph.graph.contract import DATASET_FORMAT
from veritrail_graph.graph.errors import shown
from veritrail_graph.graph.importers.records import ProcessInput
from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.model.noun import (
    Many,
    NodeId,
    Noun,
    Number,
    OneOf,
    PublicId,
    Stage,
    Text,
)

FORMAT = DATASET_FORMAT
"""The format that a data set names."""


class AnnotatorLabel(StrEnum):
    """A label that an annotator may give a claim; the verdicts themselves are accepted, too.

    Source: VeriTrail B.2.2 (five labels, of which four are mapped to verdicts).
    """

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
        """Return whether an annotator has to quote the evidence.

        What supports, refutes or conflicts.
        """
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


ROUNDING = 0.01 + 1e-9
"""By how much shares may differ for being rounded to two digits; a third three times is 0.99."""


def _checked(shares: Mapping[str, float]) -> Mapping[str, float]:
    """Return shares of verdicts as they are.

    Raises:
        PydanticCustomError: They are none; it says everything that is wrong with them.
    """
    words = [verdict.value for verdict in Verdict]
    wrong = [
        f"{shown(name)} is no verdict (known: {', '.join(words)})"
        for name in shares
        if name not in words
    ]
    wrong += [
        f"the share of {shown(name)} is {share}, but must be from 0 to 1"
        for name, share in shares.items()
        if not 0 <= share <= 1
    ]
    if not wrong and abs((total := fsum(shares.values())) - 1) > ROUNDING:
        wrong.append(f"the shares sum to {total:g}, but must sum to 1")
    if wrong:
        raise PydanticCustomError("shares", "{wrong}", {"wrong": "; ".join(wrong)})
    return shares


Shares = Annotated[Mapping[str, Number], AfterValidator(_checked)]
"""The share of each verdict among labels, as numbers from 0 to 1 that sum to 1, rounding aside; a
verdict that is not named has none."""


class Annotation(Noun):
    """One annotator's label of a claim. Source: VeriTrail B.2.2, B.2.3."""

    annotator: Text = Field(description="Who.", min_length=1)
    label: OneOf[AnnotatorLabel] = Field(description="Which of the labels.")
    uncertain: bool = Field(default=False, description="Whether the annotator was not sure.")
    quotes: Many[Text] = Field(default=(), description="Texts that support or refute the claim.")
    comment: Text = Field(default="", description="What else the annotator said.")


class LabelledClaim(Noun):
    """A claim of a data set."""

    process_id: PublicId = Field(description="The process.")
    claim_id: PublicId = Field(description="Unique within the process.")
    text: str = Field(min_length=1, description="The statement.")
    node_id: NodeId | None = Field(
        default=None, description="The node whose content it states; null: the only terminal."
    )
    label: OneOf[Verdict] | None = Field(
        default=None, description="The label that counts; null: none, so it is left out."
    )
    labels: Many[Annotation] = Field(default=(), description="What the annotators said.")
    label_origin: Text | None = Field(
        default=None, description="How the label came about, such as `majority` or `matched`."
    )
    label_distribution: Shares | None = Field(
        default=None, description="The share of each verdict among the annotators' labels."
    )
    error_stages: Many[Stage] | None = Field(
        default=None, description="The stages at which the error came in; null: not known."
    )
    documents: Many[NodeId] | None = Field(
        default=None, description="Roots that an annotator was given; null: all of them."
    )
    sub_claims: Many[str] = Field(
        default=(), description="Simpler statements that it is made of; context for the judge."
    )

    @property
    def key(self) -> tuple[str, str]:
        """Return what tells it from the other claims of the data set: process_id and claim_id."""
        return self.process_id, self.claim_id


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set; processes are read when they are needed.

    Attributes:
        name: Its name.
        processes: Opens a process, by process_id.
        claims: Its claims, in their order; process_id and claim_id are unique together.
        description: What it holds.
        licence: Under which licence; None: it does not say.
        remarks: What was passed over when it was read, a line each.
        places: Where the file has a process, by (process_id,), and a claim, by its key; empty
            where the format has no such places.
    """

    name: str
    processes: Mapping[str, Callable[[], ProcessInput]]
    claims: tuple[LabelledClaim, ...]
    description: str | None = None
    licence: str | None = None
    remarks: tuple[str, ...] = field(default=())
    places: Mapping[tuple[str, ...], str] = field(default_factory=dict, compare=False)

    @property
    def labelled(self) -> tuple[LabelledClaim, ...]:
        """The claims whose label is one of the two classes of the evaluation."""
        classes = (Verdict.FULLY_SUPPORTED, Verdict.NOT_FULLY_SUPPORTED)
        return tuple(claim for claim in self.claims if claim.label in classes)
