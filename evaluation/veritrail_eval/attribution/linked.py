"""Source sentences that faithful and unfaithful sentences rest on: position and language.

A source sentence is unfaithful-linked when at least one unfaithful sentence is attributed to it,
faithful-linked when only faithful ones are. Source: Error-tolerant attribution 8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veritrail_eval.attribution.model import (
    Attribution,
    AttributionFile,
    SourceSentence,
)
from veritrail_eval.attribution.sources import Sources
from veritrail_eval.figures.figure import Figure, missing, share, with_reasons
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.model.attribution import Faithfulness

TENTHS = 10


@dataclass(frozen=True, slots=True)
class Linked:
    """The source sentences of one of the two groups, or the sentences that rest on them.

    Attributes:
        label: Of the group.
        sources: The source sentences of the group.
        sentences: Sentences with this label that are attributed to something.
    """

    label: Faithfulness
    sources: frozenset[SourceSentence]
    sentences: Sequence[Attribution]


@dataclass(frozen=True, slots=True)
class LinkAnalysis:
    """The analysis of section 8.

    Attributes:
        groups: Both groups by label.
        sources: The source texts.
        unlabelled: Sentences without a label; they take no part.
        unattributed: Labelled sentences that are attributed to nothing, by label.
    """

    groups: Mapping[Faithfulness, Linked]
    sources: Sources
    unlabelled: int
    unattributed: Mapping[Faithfulness, int]

    @classmethod
    def of(cls, file: AttributionFile, sources: Sources) -> LinkAnalysis:
        """Group the source sentences of a file by the labels of its sentences."""
        by_label: dict[Faithfulness, list[Attribution]] = {one: [] for one in Faithfulness}
        unattributed: Counter[Faithfulness] = Counter()
        unlabelled = 0
        for sentence in file.sentences.values():
            label = sentence.known_label
            if label is None:
                unlabelled += 1
            elif sentence.sources:
                by_label[label].append(sentence)
            else:
                unattributed[label] += 1
        linked = {
            label: frozenset().union(*(one.sources for one in sentences))
            for label, sentences in by_label.items()
        }
        unfaithful = linked[Faithfulness.UNFAITHFUL]
        linked[Faithfulness.FAITHFUL] -= unfaithful
        groups = {label: Linked(label, linked[label], by_label[label]) for label in Faithfulness}
        return cls(groups, sources, unlabelled, unattributed)

    def tenth(self, source: SourceSentence) -> int | None:
        """The tenth of its node that a source sentence is in, from 0; None: length not known."""
        count = self.sources.counts.get(source[0])
        return None if count is None else TENTHS * source[1] // count

    def tenths(self, label: Faithfulness) -> list[int]:
        """Return how many source sentences of a group are in each tenth of their node."""
        found = Counter(self.tenth(source) for source in self.groups[label].sources)
        return [found[place] for place in range(TENTHS)]

    def share_in_last_tenth(self, label: Faithfulness) -> Figure:
        """The share of a group's source sentences that is in the last tenth of their node."""
        counts = self.tenths(label)
        return share(counts[-1], sum(counts), f"no source sentence is {label.lower()}-linked")

    def resting_on_last_tenth(self, label: Faithfulness) -> int:
        """Sentences with a label that are attributed to a sentence of the last tenth."""
        return sum(
            any(self.tenth(source) == TENTHS - 1 for source in sentence.sources)
            for sentence in self.groups[label].sentences
        )

    @property
    def last_tenth_ratio(self) -> Figure:
        """Unfaithful sentences over faithful ones, of those that rest on the last tenth."""
        faithful, unfaithful = map(self.resting_on_last_tenth, Faithfulness)
        return share(unfaithful, faithful, "no faithful sentence rests on the last tenth")

    def with_non_literal(self, label: Faithfulness) -> Figure:
        """The share of a label's sets of source sentences that hold non-literal language."""
        sets = self.groups[label].sentences
        count = sum(bool(one.sources & self._non_literal) for one in sets)
        if self.sources.non_literal is None:
            return missing(_NOT_FLAGGED)
        return share(count, len(sets), f"no {label.lower()} sentence is attributed to anything")

    @property
    def non_literal_unfaithful(self) -> Figure:
        """Of the linked source sentences that are not literal, the share unfaithful-linked."""
        if self.sources.non_literal is None:
            return missing(_NOT_FLAGGED)
        linked = {one: self.groups[one].sources & self._non_literal for one in Faithfulness}
        return share(
            len(linked[Faithfulness.UNFAITHFUL]),
            sum(map(len, linked.values())),
            "no source sentence with non-literal language is linked",
        )

    @property
    def _non_literal(self) -> frozenset[SourceSentence]:
        return self.sources.non_literal or frozenset()

    def as_json(self) -> dict[str, Any]:
        """Every figure; null with a reason where there is none."""
        figures = {
            "last_tenth_ratio": self.last_tenth_ratio,
            "non_literal_unfaithful": self.non_literal_unfaithful,
        }
        document: dict[str, Any] = {}
        for label in Faithfulness:
            name = f"{label.lower()}_linked"
            own = {
                "last_tenth": self.share_in_last_tenth(label),
                "non_literal_sets": self.with_non_literal(label),
            }
            figures |= {f"{name}.{key}": figure for key, figure in own.items()}
            document[name] = {
                "source_sentences": len(self.groups[label].sources),
                "tenths": self.tenths(label),
                "sentences": len(self.groups[label].sentences),
                "resting_on_last_tenth": self.resting_on_last_tenth(label),
                "unattributed": self.unattributed.get(label, 0),
                **{key: figure.value for key, figure in own.items()},
            }
        document |= {
            "unlabelled": self.unlabelled,
            "last_tenth_ratio": self.last_tenth_ratio.value,
            "non_literal_unfaithful": self.non_literal_unfaithful.value,
        }
        return with_reasons(document, figures)


def refuse_other_splits(path: Path, file: AttributionFile, sources: Sources) -> None:
    """Refuse sources that do not have the sentences that a file names.

    Raises:
        InputError: A node is not among the sources, or has fewer sentences.
    """
    linked = {source for one in file.sentences.values() for source in one.sources}
    unknown = sorted({node_id for node_id, _ in linked if node_id not in sources.counts})
    if unknown:
        raise InputError(
            f"{path} names {len(unknown)} node(s) that the sources lack, such as "
            f"{shown(unknown[0])}. Bring the texts that the attributions are about."
        )
    beyond = min((source for source in linked if sources.lacks(source)), default=None)
    if beyond is not None:
        node_id, sentence = beyond
        raise InputError(
            f"{path} names sentence {sentence} of {shown(node_id)}, but the sources split it into "
            f"{sources.counts[node_id]} sentence(s), counted from 0. Bring the texts split as the "
            'attributions count them: JSON Lines of {"node_id", "sentences"}.'
        )


_NOT_FLAGGED = "the sources do not say which sentences hold non-literal language"
