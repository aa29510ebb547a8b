"""The attribution of sentences to source sentences, also where the sentence is wrong.

Source: Error-tolerant attribution 3 (the task and its categories).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from pydantic import Field

from veritrail_graph.graph.errors import shown
from veritrail_graph.graph.model.noun import (
    Count,
    Many,
    NodeId,
    Noun,
    OneOf,
    Place,
    PublicId,
    Stage,
    Text,
    Time,
    is_empty,
)
from veritrail_graph.graph.model.trail import NO_USAGE, Status, Usage


class AttributionCategory(StrEnum):
    """What a source sentence is to the sentence that was attributed to it.

    Source: Error-tolerant attribution 3; "none" is an attribution without sentences.
    """

    EVIDENCE = "EVIDENCE"
    CONTRADICTION = "CONTRADICTION"
    NEAR_MATCH = "NEAR_MATCH"
    EXPECTED_SPAN = "EXPECTED_SPAN"

    @classmethod
    def named(cls, name: str) -> AttributionCategory | None:
        """The category that a file or a model names, however case and gaps are written.

        The paper's guidelines for annotators use earlier names for two of them.

        Returns:
            None: it is no category.

        Source: Error-tolerant attribution 3 and A.2.
        """
        word = joined_word(name)
        word = _EARLIER_NAMES.get(word, word)
        return cls(word) if word in set(cls) else None


_EARLIER_NAMES = {"CLOSE_PARAPHRASE": "NEAR_MATCH", "CONTEXTUAL_ANCHOR": "EXPECTED_SPAN"}


def joined_word(text: str) -> str:
    """A word of an enumeration: capitals, with `_` for each gap."""
    return "_".join(text.upper().replace("-", " ").replace("_", " ").split())


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


class JudgeName(StrEnum):
    """Who says whether a sentence is faithful: a language model, or a published checker.

    A checker asks the configured entailment model in its own way, and takes no instructions: it is
    shown all sources, or the attributed sentences alone.

    Source: Error-tolerant attribution 6.1.
    """

    MODEL = "model"
    SUMMAC_ZS = "summac-zs"
    SUMMAC_CONV = "summac-conv"
    ALIGNSCORE = "alignscore"
    MINICHECK = "minicheck"
    INFUSE = "infuse"
    HHEM = "hhem"


class RevisionOutcome(StrEnum):
    """What became of a sentence that was corrected, as the correction was verified again.

    Source: Error-tolerant attribution 7 and Table 4 (fix status).
    """

    FIXED = "fixed"
    PARTLY = "partly"
    NOT = "not"


class Recheck(StrEnum):
    """Who verifies a correction again: the judge of sentences, or VeriTrail's walk.

    The judge reads the sentence as a whole, so it never says `partly`. The walk verifies each of
    its claims from the node's inputs down to the roots.
    """

    JUDGE = "judge"
    WALK = "walk"


class Revision(Noun):
    """A proposed wording of a sentence; it stands beside the text and never in its place.

    Source: Error-tolerant attribution 7.
    """

    text: Text = Field(description="The proposed wording.")
    mode: OneOf[SourceMode] = Field(description="What the model saw that proposed it.")
    edits: Count = Field(
        description="Words that were put in, taken out or exchanged; case and punctuation apart."
    )
    outcome: OneOf[RevisionOutcome] | None = Field(
        default=None,
        description="fixed, partly or not, as it was verified again; null: it was not.",
    )
    rechecked_by: OneOf[Recheck] | None = Field(
        default=None, description="Who verified it: judge or walk."
    )
    claims: Count | None = Field(
        default=None, description="Of the walk: how many claims the wording makes."
    )
    supported: Count | None = Field(
        default=None, description="Of the walk: how many of these are fully supported."
    )
    rank: Count | None = Field(
        default=None,
        description="Its rank among those of several modes, 1 is best: by outcome, then by edits; "
        "equal ones share a rank. null: there is one mode.",
    )

    @property
    def order(self) -> tuple[int, int]:
        """Return what it is ranked by; one that was not verified stands behind those that were."""
        outcomes = [*RevisionOutcome, None]
        return outcomes.index(self.outcome), self.edits


def ranked(revisions: Iterable[Revision]) -> tuple[Revision, ...]:
    """Revisions of one sentence with their ranks; equal ones share a rank, and the next is left.

    Source: Error-tolerant attribution 7, Table 4 (ranks with ties).
    """
    every = tuple(revisions)
    if len(every) < 2:
        return every
    orders = [one.order for one in every]
    return tuple(one.replace(rank=1 + sum(other < one.order for other in orders)) for one in every)


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

    @property
    def is_contradictory(self) -> bool:
        """Return whether it is evidence and something else at once.

        Evidence says the sentence, and each other category is of what does not say it: both can
        be right of two parts of the sentence, but not of one.
        """
        return AttributionCategory.EVIDENCE in self.categories and len(set(self.categories)) > 1


class Proposition(Noun):
    """A statement within a sentence, perhaps with gaps, and what it alone rests on.

    Source: Error-tolerant attribution A.2 (breaking the summary sentence into propositions).
    """

    spans: Many[Place] = Field(
        description="Its stretches of the node's text as [start, end), in code points and in order."
    )
    text: Text = Field(description="These stretches; ` … ` marks what is left out between.")
    attributed: Many[AttributedSentence] = Field(
        default=(), description="The source sentences, in the order of the sources."
    )
    implied_label: OneOf[Faithfulness] = Field(description="What their categories imply.")


NOTHING_ATTRIBUTED = "No source sentence is attributed to it."
"""The reason of a label that follows from an empty attribution: no judge was asked."""
NO_SOURCE_TEXT = "Its sources hold no text."
"""The reason of a label that follows from empty sources: no judge was asked."""


WINDOW = "does not fit into the context window"
"""What an error says where a prompt is too long for its model."""


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
        default=None,
        description="What the categories imply; null unless there is an attribution. Without a "
        "model: what words decide; null where they cannot tell.",
    )
    judged_label: OneOf[Faithfulness] | None = Field(
        default=None, description="What a judge said, where one was asked."
    )
    correction: Text | None = Field(
        default=None, description="A proposed wording that is faithful; never put into the text."
    )
    error: Text | None = Field(
        default=None,
        description="Why the sentence did not succeed; of one that "
        "succeeded: why its judgement or a correction failed.",
    )
    judged_reason: Text | None = Field(default=None, description="The judge's reason.")
    corrected_label: OneOf[Faithfulness] | None = Field(
        default=None, description="What the judge said of the correction."
    )
    dropped_ids: Count = Field(
        default=0, description="Ids that the model named and that were not in its prompt."
    )

    revisions: Many[Revision] = Field(
        default=(),
        description="Proposed wordings, one for each mode that was asked for; `correction` is the "
        "first of them.",
    )
    propositions: Many[Proposition] = Field(
        default=(),
        exclude_if=is_empty,
        description="Where it was split into propositions: these, in their order. `attributed` is "
        "what they rest on together, and it is implied to be unfaithful where one of them is.",
    )

    @property
    def label(self) -> Faithfulness | None:
        """The judged label; without one the implied one."""
        return self.judged_label or self.implied_label

    @property
    def is_disputed(self) -> bool:
        """Return whether the judge says another thing than the categories imply."""
        judged, implied = self.judged_label, self.implied_label
        return judged is not None and implied is not None and judged is not implied

    @property
    def is_asked(self) -> bool:
        """Return whether a judge gave the judged label; else it follows from the definition."""
        by_definition = (NOTHING_ATTRIBUTED, NO_SOURCE_TEXT)
        return self.judged_label is not None and self.judged_reason not in by_definition

    @property
    def contradictory(self) -> tuple[AttributedSentence, ...]:
        """Source sentences that are evidence and something else of the same words.

        Where the sentence was split, that is asked of each proposition: a source sentence may
        support one and deny another.
        """
        parts = [one.attributed for one in self.propositions] or [self.attributed]
        return tuple(each for part in parts for each in part if each.is_contradictory)


class NodeAttribution(Noun):
    """The sentences of a node with what they rest on."""

    node_id: NodeId = Field(description="The node.")
    sentences: Many[SentenceAttribution] = Field(description="All its sentences, in order.")


class StoredSentence(SentenceAttribution):
    """A sentence as the graph keeps it; only those that succeeded are kept."""

    run_id: PublicId = Field(description="The run that found it.")
    engine: Text | None = Field(default=None, description="The engine of the run.")
    model: Text | None = Field(
        default=None, description="Its model; null: the engine has none, or the run is superseded."
    )
    indicative: bool = Field(default=False, description="Whether no model was asked.")
    against: OneOf[Against] | None = Field(
        default=None,
        description="What the node was attributed to; null where the run is superseded.",
    )
    attributed_at: Time | None = Field(
        default=None, description="When it was stored; null where the run is superseded."
    )
    in_force: bool = Field(
        default=True,
        description="Whether this is the attribution that counts. Of one that is superseded the "
        "graph keeps the source sentences with their categories, and neither the judge's label "
        "nor the correction.",
    )


class CarriedSentence(StoredSentence):
    """A sentence of an error node that carried a claim, with what it rests on.

    What the step did with its sources is the end of the claim's trail.
    """

    node_id: NodeId = Field(description="The error node that holds the sentence.")


class StoredNodeAttribution(Noun):
    """The attributed sentences of a node as the graph keeps them; a page of them."""

    process_id: PublicId = Field(description="The process.")
    node_id: NodeId = Field(description="The node.")
    sentences: Many[StoredSentence] = Field(
        description="The sentences that are attributed, in order; others are left out."
    )
    more: bool = Field(default=False, description="Whether there are more behind them.")


class AttributedNode(Noun):
    """A node that holds attributed sentences, with how many there are."""

    node_id: NodeId = Field(description="The node.")
    stage: Stage = Field(description="Its stage.")
    position: Count = Field(description="Its place in the input.")
    sentences: Count = Field(description="Its sentences that are attributed.")
    unfaithful: Count = Field(
        description="Those that are unfaithful: judged so, or implied where no judge was asked."
    )
    indicative: Count = Field(description="Those for which no model was asked.")
    attributed_at: Time | None = Field(
        default=None, description="When the latest of them was attributed."
    )


class LeftOut(Noun):
    """A node that was asked for, and of which no sentence is attributed."""

    node_id: NodeId = Field(description="The node.")
    reason: Text = Field(description="Why there is nothing to attribute, or nothing to rest on.")

    @classmethod
    def without_sources(cls, node_id: str) -> LeftOut:
        """A node without source nodes."""
        reason = "has no source nodes in the process, so there is nothing to attribute it to"
        return cls(node_id=node_id, reason=reason)

    @property
    def words(self) -> str:
        """Return the same as a sentence."""
        return f"Left out: node {shown(self.node_id)} {self.reason}."


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
    judge: Text | None = Field(
        default=None,
        description="The model, or the checker with its model, that judged; null: none.",
    )

    @property
    def sentences(self) -> tuple[SentenceAttribution, ...]:
        """The sentences of all nodes, in their order."""
        return tuple(sentence for node in self.nodes for sentence in node.sentences)


_UNFAITHFUL = frozenset(AttributionCategory) - {AttributionCategory.EVIDENCE}


def implied_label(
    attributed: Iterable[AttributedSentence], propositions: Iterable[Proposition] = ()
) -> Faithfulness:
    """Return what an attribution implies: faithful where it is not empty and holds evidence alone.

    Args:
        attributed: The source sentences.
        propositions: Those of the sentence, where it was split: one that is unfaithful, because it
            rests on nothing for example, makes the sentence unfaithful.

    Source: Error-tolerant attribution 3.
    """
    if any(one.implied_label is Faithfulness.UNFAITHFUL for one in propositions):
        return Faithfulness.UNFAITHFUL
    categories = {category for one in attributed for category in one.categories}
    if not categories or categories & _UNFAITHFUL:
        return Faithfulness.UNFAITHFUL
    return Faithfulness.FAITHFUL
