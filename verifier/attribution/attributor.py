"""The port of attribution: a sentence and its sources in, the sentences that decide it out.

Source: Error-tolerant attribution 3 (the task).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from veritrail_graph.graph.model import Sentence
from veritrail_graph.graph.model.attribution import (
    AttributedSentence,
    AttributionCategory,
    Faithfulness,
)
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import Answering, ReadNode


@dataclass(frozen=True, slots=True)
class Attribution:
    """The answer of an attributor.

    Attributes:
        sentences: The source sentences in the order of the sources; empty: none decides it.
        dropped_ids: How many ids were named that were not in the prompt.
        by_words: Of one that compares words: what words alone tell of the sentence, if anything.
    """

    sentences: tuple[AttributedSentence, ...] = ()
    dropped_ids: int = 0
    by_words: Faithfulness | None = None


class Attributor(Answering, Protocol):
    """Finds the source sentences that decide whether a sentence is faithful."""

    async def attribute(
        self, sentence: str, sources: Sequence[ReadNode], meter: Meter
    ) -> Attribution:
        """Find the smallest set of source sentences that decides whether a sentence is faithful.

        Args:
            sentence: The text of the sentence.
            sources: The nodes that it may rest on, in the order in which they are shown.
            meter: Records every call.

        Raises:
            VeriTrailError: No answer could be had.
        """
        ...


def attributed(sentence: Sentence, categories: Iterable[AttributionCategory]) -> AttributedSentence:
    """A source sentence with its categories, each once, in the order of the enumeration."""
    named = set(categories)
    return AttributedSentence.model_construct(
        node_id=sentence.node_id,
        sentence=sentence.index,
        start=sentence.start,
        end=sentence.end,
        text=sentence.text,
        categories=tuple(one for one in AttributionCategory if one in named),
    )
