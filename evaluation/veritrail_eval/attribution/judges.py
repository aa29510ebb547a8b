"""Score labels of faithfulness: those of a judge, and those that categories imply.

Source: Error-tolerant attribution 6.1 (balanced accuracy).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from veritrail_eval.attribution.model import VERDICTS, Attribution, AttributionFile
from veritrail_eval.figures.confusion import Confusion
from veritrail_eval.figures.figure import Figure
from veritrail_graph.graph.model.attribution import Faithfulness


@dataclass(frozen=True, slots=True)
class LabelScore:
    """Labels against the labels of gold; an unfaithful sentence is a positive.

    Attributes:
        confusion: The four cells.
        unlabelled: Sentences with a label in gold that have none here: missing, or not judged.
    """

    confusion: Confusion
    unlabelled: int

    @property
    def balanced_accuracy(self) -> Figure:
        """The mean of the recall of both labels."""
        return self.confusion.balanced_accuracy

    def as_json(self) -> dict[str, Any]:
        """The figure, the sentences that it is over, and the four cells."""
        cells = self.confusion
        return {
            "balanced_accuracy": self.balanced_accuracy.value,
            "sentences": cells.claims,
            "unlabelled": self.unlabelled,
            "true_positives": cells.true_positives,
            "false_positives": cells.false_positives,
            "true_negatives": cells.true_negatives,
            "false_negatives": cells.false_negatives,
        }


def label_scores(gold: AttributionFile, predicted: AttributionFile) -> dict[str, LabelScore]:
    """The score of the labels that were given (`judged`), and of the implied ones (`implied`)."""
    return {
        "judged": _score(gold, predicted, lambda one: one.label),
        "implied": _score(gold, predicted, lambda one: one.implied_label),
    }


def _score(
    gold: AttributionFile,
    predicted: AttributionFile,
    label_of: Callable[[Attribution], Faithfulness | None],
) -> LabelScore:
    pairs = []
    unlabelled = 0
    for sentence in gold.sentences.values():
        label = sentence.known_label
        if label is None:
            continue
        other = predicted.sentences.get(sentence.sentence_id)
        judged = None if other is None else label_of(other)
        if judged is None:
            unlabelled += 1
        else:
            pairs.append((VERDICTS[label], VERDICTS[judged]))
    return LabelScore(Confusion.of(pairs), unlabelled)
