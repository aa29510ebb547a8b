"""Intersection over union of the content words of attributed sentences.

Source: Error-tolerant attribution 4.3 (token indices, content words only); formats.md 8.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence

from veritrail_eval.attribution.model import (
    Attribution,
    AttributionFile,
    Passage,
    SourceSentence,
)
from veritrail_eval.attribution.overlap import intersection_over_union
from veritrail_eval.attribution.stop_words import STOP_WORDS
from veritrail_graph.graph.errors import shown

_TOKEN = re.compile(r"[^\W_]+")


class Passages:
    """The places of the words of source sentences, joined from places that know some of them.

    A sentence without an offset in one place takes the one that another place knows, so that
    two files that name the same sentence name the same words.

    Args:
        known: Texts of source sentences; the first one counts.
    """

    def __init__(self, known: Sequence[Mapping[SourceSentence, Passage]]) -> None:
        self._shared: dict[SourceSentence, Passage] = {}
        for needs_start in (True, False):
            for passages in known:
                for source, passage in passages.items():
                    if passage.start is not None or not needs_start:
                        self._shared.setdefault(source, passage)

    def words(
        self, source: SourceSentence, own: Mapping[SourceSentence, Passage]
    ) -> frozenset[Hashable] | None:
        """The content words of a source sentence, told apart by node and offset.

        Args:
            source: The sentence.
            own: The texts that the file itself gives.

        Returns:
            None where its text is not known.
        """
        passage = own.get(source)
        if passage is None or passage.start is None:
            passage = self._shared.get(source)
        return None if passage is None else _words(source, passage)

    def words_of(
        self, sources: Iterable[SourceSentence], own: Mapping[SourceSentence, Passage]
    ) -> frozenset[Hashable] | None:
        """The content words of several; None where the text of one is not known."""
        found: set[Hashable] = set()
        for source in sources:
            words = self.words(source, own)
            if words is None:
                return None
            found |= words
        return frozenset(found)


def content_word_iou(
    gold: AttributionFile,
    predicted: AttributionFile,
    passages: Passages,
    sentence: Attribution,
) -> float | None:
    """The figure of one sentence of gold; None where a text is not known.

    Args:
        gold: The file of the sentence.
        predicted: The other file; a sentence that it lacks counts as empty.
        passages: The texts.
        sentence: The sentence, as gold has it.
    """
    other = predicted.sentences.get(sentence.sentence_id)
    first = passages.words_of(sentence.sources, gold.passages)
    second = passages.words_of(other.sources if other else (), predicted.passages)
    return None if first is None or second is None else intersection_over_union(first, second)


def unlike_passages(first: AttributionFile, second: AttributionFile) -> list[SourceSentence]:
    """Source sentences that have one number in both files, but not one text."""
    return [
        source
        for source, passage in first.passages.items()
        if (other := second.passages.get(source)) is not None
        and " ".join(other.text.split()) != " ".join(passage.text.split())
    ]


def unknown_text(sources: Sequence[SourceSentence]) -> str:
    """The reason why there is no figure."""
    node_id, sentence = sources[0]
    return (
        f"the text of {len(sources)} attributed sentence(s) is not known, such as sentence "
        f"{sentence} of {shown(node_id)}"
    )


def _words(source: SourceSentence, passage: Passage) -> frozenset[Hashable]:
    node_id, sentence = source
    # Without an offset into the node, words are told apart by sentence and offset in it.
    inside: tuple[int, ...] = (sentence,) if passage.start is None else ()
    return frozenset(
        (node_id, *inside, (passage.start or 0) + match.start())
        for match in _TOKEN.finditer(passage.text)
        if match.group().lower() not in STOP_WORDS
    )
