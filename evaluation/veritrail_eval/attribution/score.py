"""One file of attributions against another: the figures of the contract.

Source: formats.md 8; Error-tolerant attribution 4.3 and 5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from veritrail_eval.attribution.agreement import CategoryAgreement, unfaithful
from veritrail_eval.attribution.content_words import (
    Passages,
    content_word_iou,
    unknown_text,
)
from veritrail_eval.attribution.model import AttributionFile, SourceSentence
from veritrail_eval.attribution.overlap import NO_SENTENCES, Overlap, macro, overlap
from veritrail_eval.attribution.sources import Sources
from veritrail_eval.figures.bootstrap import intervals
from veritrail_eval.figures.figure import Figure, mean, missing, with_reasons
from veritrail_eval.figures.options import Resampling


@dataclass(frozen=True)
class AttributionScore:
    """The figures of a prediction over the sentences of gold.

    Attributes:
        gold: What is right.
        predicted: What is scored.
        sources: Texts of source sentences that neither file gives; None: none.
    """

    gold: AttributionFile
    predicted: AttributionFile
    sources: Sources | None = None

    @cached_property
    def missing(self) -> list[str]:
        """Sentences of gold that the prediction lacks; each counts as empty."""
        return [name for name in self.gold.sentences if name not in self.predicted.sentences]

    @cached_property
    def overlaps(self) -> dict[str, Overlap]:
        """Precision, recall and F1 of each sentence of gold."""
        return {
            name: overlap(one.sources, self._predicted_sources(name))
            for name, one in self.gold.sentences.items()
        }

    @cached_property
    def ious(self) -> dict[str, float | None]:
        """Intersection over union of content words of each sentence; None: texts are lacking."""
        return {
            name: content_word_iou(self.gold, self.predicted, self._passages, one)
            for name, one in self.gold.sentences.items()
        }

    @property
    def iou(self) -> Figure:
        """The mean over sentences; none where the text of any attributed sentence is unknown."""
        values = [value for value in self.ious.values() if value is not None]
        if len(values) < len(self.ious):
            return missing(unknown_text(self._without_text))
        return mean(values, NO_SENTENCES)

    @cached_property
    def categories(self) -> CategoryAgreement:
        """Return how the categories of both files agree."""
        return CategoryAgreement.of(self.gold, self.predicted)

    def figures(self) -> dict[str, Figure]:
        """Every figure, by its key."""
        return {
            **macro(Counter(self.overlaps.values())),
            "iou": self.iou,
            "kappa_categories": self.categories.kappa,
        }

    def as_json(self, resampling: Resampling | None = None) -> dict[str, Any]:
        """The contract's keys; with `intervals` where a resampling is given."""
        figures = self.figures()
        document: dict[str, Any] = {
            "sentences": len(self.gold.sentences),
            "missing": len(self.missing),
            **{name: figure.value for name, figure in figures.items()},
        }
        if resampling is not None:
            found = intervals(list(self.overlaps.values()), macro, resampling)
            document["intervals"] = {name: one.as_json() for name, one in found.items()}
        return with_reasons(document, figures)

    def on_unfaithful(self) -> dict[str, Any]:
        """The figures over the sentences that are unfaithful by gold."""
        names = [one.sentence_id for one in unfaithful(self.gold)]
        agreement = CategoryAgreement.on_unfaithful(self.gold, self.predicted)
        figures = {
            **macro(Counter(self.overlaps[name] for name in names)),
            "kappa_categories": agreement.kappa,
        }
        document = {
            "sentences": len(names),
            **{name: figure.value for name, figure in figures.items()},
            "categories": {"gold": agreement.counts(0), "predicted": agreement.counts(1)},
        }
        return with_reasons(document, figures)

    def _predicted_sources(self, name: str) -> frozenset[SourceSentence]:
        found = self.predicted.sentences.get(name)
        return frozenset() if found is None else found.sources

    @cached_property
    def _passages(self) -> Passages:
        known: list[Mapping[SourceSentence, Any]] = [self.gold.passages, self.predicted.passages]
        return Passages([*known, *([self.sources.passages] if self.sources else [])])

    @property
    def _without_text(self) -> Sequence[SourceSentence]:
        """Attributed sentences whose text is not known, in a fixed order."""
        found: set[SourceSentence] = set()
        for name, one in self.gold.sentences.items():
            for sources, file in (
                (one.sources, self.gold),
                (self._predicted_sources(name), self.predicted),
            ):
                found |= {
                    source
                    for source in sources
                    if self._passages.words(source, file.passages) is None
                }
        return sorted(found)
