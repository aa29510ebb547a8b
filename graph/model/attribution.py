"""What a sentence rests on, also where it is wrong.

Source: Error-tolerant attribution 3 (the task and its categories).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from pydantic import Field

from veritrail_graph.graph.model.noun import Count, Many, NodeId, Noun, OneOf, PublicId, Text
from veritrail_graph.graph.model.trail import NO_USAGE, Status, Usage


class AttributionCategory(StrEnum):
    """What a source sentence is to the sentence that was attributed to it.

    Source: Error-tolerant attribution 3; "none" is an attribution without sentences.
    """

    EVIDENCE = "EVIDENCE"
    CONTRADICTION = "CONTRADICTION"
    NEAR_MATCH = "NEAR_MATCH"
    EXPECTED_SPAN = "EXPECTED_SPAN"


class Faithfulness(StrEnum):
    """Whether a sentence says nothing but what its sources say."""

    FAITHFUL = "FAITHFUL"
    UNFAITHFUL = "UNFAITHFUL"


class Against(StrEnum):
    """What a node is attributed to: its own source nodes, or the roots below it."""

    INPUTS = "inputs"
    ROOTS = "roots"


class SourceMode(StrEnum):
    """What a judge, or a corrector, sees of the sources of a sentence.

    Attributes:
        PLAIN: All sources.
        HIGHLIGHTED: All sources, with the attributed sentences marked.
        ATTRIBUTION: The attributed sentences alone.

    Source: Error-tolerant attribution 6.1.
    """

    PLAIN = "plain"
    HIGHLIGHTED = "highlighted"
    ATTRIBUTION = "attribution"


class AttributedSentence(Noun):
    """A source sentence that decides whether another one is faithful."""

    node_id: NodeId = Field(description="The source node.")
    sentence: Count = Field(description="The number of the sentence in its node, from 0.")
    start: Count = Field(description="Offset of its first character, in code points.")
    end: Count = Field(description="Offset just behind its last character.")
    text: Text = Field(description="The text of the source node from `start` to `end`.")
    categories: Many[OneOf[AttributionCategory]] = Field(
        description="What it is to the sentence; several where it speaks of several parts of it."
    )


class SentenceAttribution(Noun):
    """A sentence with the smallest set of source sentences that decides its faithfulness.

    Source: Error-tolerant attribution 3.
    """

    sentence: Count = Field(description="The number of the sentence in its node, from 0.")
    start: Count = Field(description="Offset of its first character, in code points.")
    end: Count = Field(description="Offset just behind its last character.")
    text: Text = Field(description="The text of the node from `start` to `end`.")
    status: OneOf[Status] = Field(
        description="succeeded, failed, over_budget or cancelled; only a sentence that succeeded "
        "and has an empty list is attributed to nothing."
    )
    attributed: Many[AttributedSentence] = Field(
        default=(), description="The source sentences, in the order of the sources."
    )
    implied_label: OneOf[Faithfulness] | None = Field(
        default=None, description="What the categories imply; null unless there is an attribution."
    )
    judged_label: OneOf[Faithfulness] | None = Field(
        default=None, description="What a judge said, where one was asked."
    )
    correction: Text | None = Field(
        default=None, description="A proposed wording that is faithful; never put into the text."
    )
    error: Text | None = Field(default=None, description="Why the sentence did not succeed.")
    judged_reason: Text | None = Field(default=None, description="The judge's reason.")
    corrected_label: OneOf[Faithfulness] | None = Field(
        default=None, description="What the judge said of the correction."
    )
    dropped_ids: Count = Field(
        default=0, description="Ids that the model named and that were not in its prompt."
    )

    @property
    def label(self) -> Faithfulness | None:
        """The judged label; without one the implied one."""
        return self.judged_label or self.implied_label

    @property
    def is_disputed(self) -> bool:
        """Whether the judge says another thing than the categories imply."""
        judged, implied = self.judged_label, self.implied_label
        return judged is not None and implied is not None and judged is not implied


class NodeAttribution(Noun):
    """The sentences of a node with what they rest on."""

    node_id: NodeId = Field(description="The node.")
    sentences: Many[SentenceAttribution] = Field(description="All its sentences, in order.")


class AttributionRun(Noun):
    """Nodes of a process whose sentences were attributed in one run."""

    run_id: PublicId = Field(description="The run.")
    process_id: PublicId = Field(description="The process.")
    engine: Text = Field(description="The engine that attributed.")
    model: Text | None = Field(default=None, description="The model; null: the engine has none.")
    indicative: bool = Field(default=False, description="Whether no model was asked.")
    nodes: Many[NodeAttribution] = Field(description="The nodes, in the order of the process.")
    usage: Usage = Field(default=NO_USAGE, description="What the calls cost together.")
    against: OneOf[Against] = Field(
        default=Against.INPUTS, description="What the nodes were attributed to."
    )

    @property
    def sentences(self) -> tuple[SentenceAttribution, ...]:
        """The sentences of all nodes, in their order."""
        return tuple(sentence for node in self.nodes for sentence in node.sentences)


_UNFAITHFUL = frozenset(AttributionCategory) - {AttributionCategory.EVIDENCE}


def implied_label(attributed: Iterable[AttributedSentence]) -> Faithfulness:
    """What an attribution implies: faithful where it is not empty and holds evidence alone.

    Source: Error-tolerant attribution 3.
    """
    categories = {category for one in attributed for category in one.categories}
    if not categories or categories & _UNFAITHFUL:
        return Faithfulness.UNFAITHFUL
    return Faithfulness.FAITHFUL
