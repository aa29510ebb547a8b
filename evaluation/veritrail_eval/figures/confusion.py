"""Hard prediction: the four cells of labels against verdicts, and the figures made of them.

Source: VeriTrail 4.3 (macro F1, balanced accuracy, precision and recall of each class).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from veritrail_eval.figures.figure import Figure, missing, share
from veritrail_graph.graph.model import Verdict

SUPPORTED = Verdict.FULLY_SUPPORTED
UNSUPPORTED = Verdict.NOT_FULLY_SUPPORTED
CLASSES = (SUPPORTED, UNSUPPORTED)

NO_CLAIMS = "no claim is scored"
ONE_CLASS = "one class only"


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts of label and verdict pairs. A claim that is not fully supported is a positive.

    Source: VeriTrail G (a false negative is wrongly called Fully Supported) and H.

    Attributes:
        true_positives: Not fully supported, and called so.
        false_positives: Supported, and called not fully supported.
        true_negatives: Supported, and called so.
        false_negatives: Not fully supported, and called supported.
    """

    true_positives: int = 0
    false_positives: int = 0
    true_negatives: int = 0
    false_negatives: int = 0

    @classmethod
    def of(cls, pairs: Iterable[tuple[Verdict, Verdict]]) -> Self:
        """The cells of pairs of label and verdict, each one of the two classes."""
        cells = [0, 0, 0, 0]
        for label, verdict in pairs:
            cells[cell_of(label, verdict)] += 1
        return cls(*cells)

    @property
    def claims(self) -> int:
        """Return how many claims there are."""
        return (
            self.true_positives + self.false_positives + self.true_negatives + self.false_negatives
        )

    def labelled(self, name: Verdict) -> int:
        """Return how many claims have this label."""
        if name is UNSUPPORTED:
            return self.true_positives + self.false_negatives
        return self.true_negatives + self.false_positives

    def called(self, name: Verdict) -> int:
        """Return how many claims have this verdict."""
        if name is UNSUPPORTED:
            return self.true_positives + self.false_positives
        return self.true_negatives + self.false_negatives

    def right(self, name: Verdict) -> int:
        """Return how many claims have this label and this verdict."""
        return self.true_positives if name is UNSUPPORTED else self.true_negatives

    def precision(self, name: Verdict) -> Figure:
        """The share of the claims with this verdict that have this label."""
        why = f"no claim has the verdict {name}" if self.claims else NO_CLAIMS
        return share(self.right(name), self.called(name), why)

    def recall(self, name: Verdict) -> Figure:
        """The share of the claims with this label that have this verdict."""
        why = f"no claim has the label {name}" if self.claims else NO_CLAIMS
        return share(self.right(name), self.labelled(name), why)

    @property
    def macro_f1(self) -> Figure:
        """The mean of the F1 of both classes; the F1 of a class that is never called is 0."""
        if (reason := self._lacking()) is not None:
            return missing(reason)
        return Figure(sum(self._f1(name) for name in CLASSES) / len(CLASSES))

    @property
    def balanced_accuracy(self) -> Figure:
        """The mean of the recall of both classes."""
        if (reason := self._lacking()) is not None:
            return missing(reason)
        shares = [self.right(name) / self.labelled(name) for name in CLASSES]
        return Figure(sum(shares) / len(CLASSES))

    def _f1(self, name: Verdict) -> float:
        return 2 * self.right(name) / (self.labelled(name) + self.called(name))

    def _lacking(self) -> str | None:
        if not self.claims:
            return NO_CLAIMS
        return None if all(map(self.labelled, CLASSES)) else ONE_CLASS

    def figures(self) -> dict[str, Figure]:
        """The figures of the paper's Table 1, by the paths of their keys."""
        return {
            "macro_f1": self.macro_f1,
            "balanced_accuracy": self.balanced_accuracy,
            **{f"precision.{name}": self.precision(name) for name in CLASSES},
            **{f"recall.{name}": self.recall(name) for name in CLASSES},
        }


def cell_of(label: Verdict, verdict: Verdict) -> int:
    """The place of a pair among the attributes of `Confusion`."""
    if verdict is UNSUPPORTED:
        return 0 if label is UNSUPPORTED else 1
    return 2 if label is SUPPORTED else 3
