"""Agreement on categories: Cohen's kappa over sentences, on all or on unfaithful ones.

A sentence has one label: the set of its categories. Source: Error-tolerant attribution 4.3
(sentence-level categories of unfaithful sentences).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from veritrail_eval.attribution.model import Attribution, AttributionFile
from veritrail_eval.figures.figure import Figure, missing
from veritrail_graph.graph.agreement import cohen_kappa
from veritrail_graph.graph.model.attribution import AttributionCategory, Faithfulness

NONE = "NONE"
"""The label of a sentence that is attributed to nothing."""


@dataclass(frozen=True, slots=True)
class CategoryAgreement:
    """The agreement of two files on the categories of the sentences that both categorise.

    Attributes:
        pairs: How often each pair of labels occurs, gold first.
        reason: Why there are none, where a file holds no categories; else None.
    """

    pairs: Mapping[tuple[str, str], int]
    reason: str | None = None

    @classmethod
    def of(cls, gold: AttributionFile, predicted: AttributionFile) -> CategoryAgreement:
        """All sentences that both files have."""
        return cls._of(gold, predicted, gold.sentences.values(), _joined)

    @classmethod
    def on_unfaithful(cls, gold: AttributionFile, predicted: AttributionFile) -> CategoryAgreement:
        """Sentences that are unfaithful by gold; EVIDENCE beside another category is left out.

        What is compared is the kind of mistake; the evidence is for the part without one.
        """
        return cls._of(gold, predicted, unfaithful(gold), _kind_of_mistake)

    @classmethod
    def _of(
        cls,
        gold: AttributionFile,
        predicted: AttributionFile,
        sentences: Iterable[Attribution],
        label: Callable[[frozenset[AttributionCategory]], str],
    ) -> CategoryAgreement:
        for name, file in (("GOLD", gold), ("PREDICTED", predicted)):
            attributed = [one for one in file.sentences.values() if one.sources]
            if attributed and all(one.categories is None for one in attributed):
                return cls({}, f"{name} holds no categories")
        pairs: Counter[tuple[str, str]] = Counter()
        for sentence in sentences:
            other = predicted.sentences.get(sentence.sentence_id)
            if other is None or sentence.categories is None or other.categories is None:
                continue
            pairs[label(sentence.categories), label(other.categories)] += 1
        return cls(pairs)

    @property
    def sentences(self) -> int:
        """Return how many sentences are compared."""
        return sum(self.pairs.values())

    @property
    def kappa(self) -> Figure:
        """Cohen's kappa."""
        if self.reason is not None:
            return missing(self.reason)
        if not self.pairs:
            return missing("no sentence has categories in both files")
        kappa = cohen_kappa(self.pairs)
        return missing("one label only") if kappa is None else Figure(kappa)

    def counts(self, side: int) -> dict[str, int]:
        """Return how often each label occurs: in gold (0) or in the other file (1)."""
        found: Counter[str] = Counter()
        for pair, count in self.pairs.items():
            found[pair[side]] += count
        return dict(sorted(found.items()))


def unfaithful(file: AttributionFile) -> list[Attribution]:
    """The sentences whose label, given or implied, is UNFAITHFUL."""
    return [one for one in file.sentences.values() if one.known_label is Faithfulness.UNFAITHFUL]


def _joined(categories: frozenset[AttributionCategory]) -> str:
    return "+".join(sorted(categories)) or NONE


def _kind_of_mistake(categories: frozenset[AttributionCategory]) -> str:
    return _joined(categories - {AttributionCategory.EVIDENCE} or categories)
