"""What each sentence of attributed nodes rests on, as a section of a report.

Nodes with most unfaithful sentences come first. A report shows some of them, and says how many
are left out.

Source: Error-tolerant attribution 3, C (what a reader sees of a sentence).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from veritrail_graph.api.views.attribution import (
    PropositionView,
    dropped_words,
    judge_words,
    proposition_views,
)
from veritrail_graph.api.views.twists import category_words, revision_lines
from veritrail_graph.api.views.words import FAITHFULNESS_WORDS
from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.model.attribution import Against, Faithfulness

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.graph.model.attribution import AttributedNode, StoredSentence

MOST_NODES = 5
"""Nodes that a report shows."""
MOST_SENTENCES = 100
"""Sentences that it shows of each."""
MOST_SOURCES = 6
"""Source sentences that it shows of each of these."""
LOOKED_AT = 1_000
"""Attributed nodes among which those that are shown are chosen."""


@dataclass(frozen=True, slots=True)
class RestingSource:
    """A source sentence, what it is to the sentence, and whether that contradicts itself."""

    words: str
    node_id: str
    sentence: int
    text: str
    is_contradictory: bool = False


@dataclass(frozen=True, slots=True)
class RestingSentence:
    """A sentence with what it rests on.

    Attributes:
        number: Its number in the node, counted from 0.
        text: The sentence.
        label: `faithful` or `unfaithful`.
        is_faithful: Whether it is.
        disputed: What the attribution implies, where a judge says another thing; else empty.
        sources: What it rests on; some of it.
        more: How much of it is not shown.
        judged: Why it was judged so, or why no judge was asked; empty: it was not judged.
        dropped: How many ids a model named that it was not shown, in words; empty: none.
        proposed: The proposed wordings with rank and mode, and what became of each.
        indicative: Whether no model was asked.
        parts: Its propositions with what each rests on, where it was split into several.
    """

    number: int
    text: str
    label: str
    is_faithful: bool
    disputed: str
    sources: tuple[RestingSource, ...]
    more: int
    proposed: tuple[str, ...]
    indicative: bool
    judged: str = ""
    dropped: str = ""
    parts: tuple[PropositionView, ...] = ()


@dataclass(frozen=True, slots=True)
class RestingNode:
    """An attributed node.

    Attributes:
        node_id: The node.
        total: How many of its sentences are attributed.
        unfaithful: How many of these are unfaithful.
        found_by: Which models or engines attributed the sentences that are shown, and to what.
        sentences: Those that are shown.
    """

    node_id: str
    total: int
    unfaithful: int
    found_by: str
    sentences: tuple[RestingSentence, ...]


@dataclass(frozen=True, slots=True)
class Resting:
    """The section; without nodes, nothing is attributed.

    Attributes:
        nodes: The nodes that are shown.
        more: How many attributed nodes are not shown, as far as they were looked at.
    """

    nodes: tuple[RestingNode, ...] = ()
    more: int = 0


async def read_resting(
    app: Application, process_id: str, only: Collection[str] | None = None
) -> Resting:
    """Read what attributed nodes rest on.

    Args:
        app: The application.
        process_id: The process.
        only: Only these nodes; None: all.

    Raises:
        NotFound: There is no such process.
    """
    known, _ = await app.attributions.nodes(process_id, limit=LOOKED_AT)
    wanted = [one for one in known if only is None or one.node_id in only]
    wanted.sort(key=lambda one: -one.unfaithful)  # stable: of equal ones the process's order
    nodes = []
    for one in wanted[:MOST_NODES]:
        try:
            nodes.append(await _node(app, process_id, one))
        except NotFound:  # it was removed meanwhile
            continue
    return Resting(tuple(nodes), max(len(wanted) - MOST_NODES, 0))


async def _node(app: Application, process_id: str, node: AttributedNode) -> RestingNode:
    found = await app.attributions.of_node(process_id, node.node_id, limit=MOST_SENTENCES)
    sentences = tuple(map(sentence_of, found.sentences))
    runs = dict.fromkeys(map(_found_by, found.sentences))
    return RestingNode(node.node_id, node.sentences, node.unfaithful, "; ".join(runs), sentences)


def _found_by(one: StoredSentence) -> str:
    """The model, or the engine, that attributed a sentence, and to what."""
    name = one.model or one.engine or "unknown engine"
    against = {Against.INPUTS: "the inputs of the node", Against.ROOTS: "the roots below it"}
    return name if one.against is None else f"{name}, against {against[one.against]}"


def sentence_of(one: StoredSentence) -> RestingSentence:
    """A sentence as the section shows it."""
    label = one.label
    implied = one.implied_label
    odd = {(each.node_id, each.sentence) for each in one.contradictory}
    sources = tuple(
        RestingSource(
            category_words(each.categories),
            each.node_id,
            each.sentence,
            each.text,
            (each.node_id, each.sentence) in odd,
        )
        for each in one.attributed[:MOST_SOURCES]
    )
    return RestingSentence(
        number=one.sentence,
        text=one.text,
        label=FAITHFULNESS_WORDS[label] if label is not None else "",
        is_faithful=label is Faithfulness.FAITHFUL,
        disputed=FAITHFULNESS_WORDS[implied] if one.is_disputed and implied is not None else "",
        sources=sources,
        more=len(one.attributed) - len(sources),
        proposed=_proposed(one),
        indicative=one.indicative,
        judged=judge_words(one),
        dropped=dropped_words(one),
        parts=tuple(proposition_views(one)),
    )


def _proposed(one: StoredSentence) -> tuple[str, ...]:
    if not one.revisions and one.correction:
        return (one.correction,)
    return tuple(revision_lines(one.revisions))
