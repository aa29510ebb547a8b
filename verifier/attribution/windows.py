"""The source sentences of an attribution as excerpts, whole or those that were selected.

Source: Error-tolerant attribution A.2 (an attribution must be readable in its context), 6.1
(attribution only: without context).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from veritrail_graph.graph.model import Sentence
from veritrail_graph.graph.model.attribution import AttributedSentence
from veritrail_graph.verifier.excerpts import Unit, context_for
from veritrail_graph.verifier.ports import ReadNode

Place = tuple[str, int]
"""A node and the number of a sentence in it."""


def place(one: Sentence) -> Place:
    """Return where a sentence stands."""
    return one.node_id, one.index


def places(attributed: Iterable[AttributedSentence]) -> set[Place]:
    """Return where attributed sentences stand."""
    return {(one.node_id, one.sentence) for one in attributed}


def whole(sources: Sequence[ReadNode]) -> list[Unit]:
    """A block for each source node that has sentences."""
    return [Unit(sentences) for node in sources if (sentences := node.sentences)]


def alone(sources: Sequence[ReadNode], chosen: Collection[Place]) -> list[Unit]:
    """Return a block for each run of chosen sentences, and nothing of what stands around it."""
    return [Unit(unit.sentences) for unit in selected(sources, chosen)]


def selected(sources: Sequence[ReadNode], chosen: Collection[Place]) -> list[Unit]:
    """A block for each run of chosen sentences, with what stands before it as context."""
    units: list[Unit] = []
    for node in sources:
        sentences = node.sentences
        start: int | None = None
        for number, sentence in enumerate((*sentences, None)):
            is_chosen = sentence is not None and place(sentence) in chosen
            if is_chosen and start is None:
                start = number
            elif not is_chosen and start is not None:
                units.append(Unit(sentences[start:number], context_for(sentences[:start])))
                start = None
    return units
