"""The trail of a verification as a page shows it: columns of nodes from the answer to the sources.

A column is a stage; a card is a node with evidence. What a card shows is bounded, and what it
leaves out is counted.

Source: VeriTrail 3.2 (evidence trail, provenance, error localization).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veritrail_graph.api.web.views.cited_nodes import FoundNode, chosen_nodes, found_nodes
from veritrail_graph.api.web.views.excerpts import Clipped, ShownSentence, clip, shown_sentences
from veritrail_graph.graph.model import CitedSentence, Role, Verification
from veritrail_graph.graph.outline import TrailOutline

MOST_SENTENCES = 3
"""Sentences of a node that its card shows."""

MOST_CARDS = 20
"""Cards that a page shows; further nodes with evidence are counted in their column."""

MOST_LINKS = 5
"""Nodes that a card names as those that it feeds, or is fed by."""

ANSWER = 0
"""Number of the verified node among the cards."""

SUMMARY_BYTES = 500
"""Bytes of HTML of the model's summary of what it found."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a model said of the sentences that it selected.

    Attributes:
        text: What they say together.
        missing: What they do not say, or None.
        nodes: How many nodes they come from.
    """

    text: Clipped
    missing: Clipped | None
    nodes: int


@dataclass(frozen=True, slots=True)
class CardLink:
    """Another node that a card names.

    Attributes:
        node_id: The node.
        number: Number of its card; None: it has none on this page.
    """

    node_id: str
    number: int | None


@dataclass(frozen=True, slots=True)
class Card:
    """A node with evidence.

    Attributes:
        number: Its number on the page, counted from 1; 0 is the verified node.
        node_id: The node.
        stage: Its stage.
        role: Root, intermediate or terminal.
        iteration: The iteration that found the evidence.
        sentences: The first sentences that were selected from it.
        more: How many further ones there are.
        summary: What the model said of what it found here, and in other nodes of its prompt.
        introduced: Whether unsupported content came in here.
        inherited: Whether it only carried unsupported content on.
        feeds: The nodes of the trail that it was an input to.
        more_feeds: How many further ones there are.
        current: Whether the iteration that is looked at found it.
    """

    number: int
    node_id: str
    stage: int
    role: Role
    iteration: int
    sentences: tuple[ShownSentence, ...]
    more: int = 0
    summary: Summary | None = None
    introduced: bool = False
    inherited: bool = False
    feeds: tuple[CardLink, ...] = ()
    more_feeds: int = 0
    current: bool = True


@dataclass(frozen=True, slots=True)
class Column:
    """The nodes with evidence of one stage.

    Attributes:
        stage: The stage.
        name: What the input calls it, or None.
        cards: Its nodes, in the order of the input.
        more: How many further nodes have evidence.
        introduced: Whether unsupported content came in at this stage.
    """

    stage: int
    name: str | None
    cards: tuple[Card, ...]
    more: int = 0
    introduced: bool = False

    @property
    def nodes(self) -> int:
        """How many nodes of the stage have evidence."""
        return len(self.cards) + self.more


@dataclass(frozen=True, slots=True)
class TrailView:
    """A trail as columns.

    Attributes:
        columns: From the stage nearest to the answer to that of the sources.
        current: The iteration that is looked at; None: all of them.
        nodes: How many nodes have evidence.
        sentences: How many sentences were selected.
    """

    columns: tuple[Column, ...]
    current: int | None
    nodes: int
    sentences: int

    @property
    def left_out(self) -> int:
        """How many nodes with evidence have no card."""
        return sum(column.more for column in self.columns)


def trail_view(
    outline: TrailOutline,
    stage_names: Mapping[int, str],
    texts: Mapping[str, str],
    current: int | None = None,
    *,
    most_cards: int = MOST_CARDS,
) -> TrailView:
    """The trail of a verification, or of its iterations up to one of them.

    Args:
        outline: The verification.
        stage_names: What the stages are called.
        texts: Texts of nodes, by node_id, for the sentences around; those of `nodes_of_cards`.
        current: The iteration that is looked at; None: all iterations.
        most_cards: Cards that are shown at most.
    """
    verification = outline.verification
    found = found_nodes(verification, current)
    sheet = _Sheet.of(verification, chosen_nodes(found, most_cards), texts, current)
    cards = [sheet.card(one) for one in sheet.chosen]
    error_stages = verification.error.stages
    columns = []
    for stage, count in sorted(Counter(one.ref.stage for one in found).items(), reverse=True):
        shown = tuple(card for card in cards if card.stage == stage)
        name, introduced = stage_names.get(stage), stage in error_stages
        columns.append(Column(stage, name, shown, count - len(shown), introduced))
    sentences = sum(len(one.cited) for one in found)
    return TrailView(tuple(columns), current, len(found), sentences)


def nodes_of_cards(
    verification: Verification, current: int | None = None, most_cards: int = MOST_CARDS
) -> tuple[str, ...]:
    """The nodes that have a card, for whoever reads their texts."""
    return tuple(
        one.ref.node_id for one in chosen_nodes(found_nodes(verification, current), most_cards)
    )


def cited_in(verification: Verification, node_id: str) -> tuple[CitedSentence, ...]:
    """All that was selected from one node, in its order."""
    return next(
        (one.cited for one in found_nodes(verification, None) if one.ref.node_id == node_id), ()
    )


def nodes_of_stage(
    verification: Verification, stage: int | None, current: int | None = None
) -> tuple[str, ...]:
    """The nodes with evidence of a stage, or of all, in the order of their column."""
    return tuple(one.ref.node_id for one in _of_stage(verification, stage, current))


def cards_of_stage(
    verification: Verification,
    stage: int | None,
    after: int,
    most: int,
    texts: Mapping[str, str],
    current: int | None = None,
) -> tuple[Card, ...]:
    """Further cards of a column, numbered on from those before them.

    Args:
        verification: The verification.
        stage: The stage of the column; None: all.
        after: Cards that were shown before.
        most: Cards that are shown at most.
        texts: Texts of nodes, by node_id.
        current: The iteration that is looked at; None: all iterations.
    """
    found = _of_stage(verification, stage, current)
    sheet = _Sheet.of(verification, found, texts, current)
    return tuple(sheet.card(one) for one in found[after : after + most])


def _of_stage(
    verification: Verification, stage: int | None, current: int | None
) -> list[FoundNode]:
    found = found_nodes(verification, current)
    return [one for one in found if stage in (None, one.ref.stage)]


@dataclass(frozen=True, slots=True)
class _Sheet:
    """What every card looks up."""

    chosen: list[FoundNode]
    numbers: Mapping[str, int]
    feeds: Mapping[str, Sequence[str]]
    introduced: frozenset[str]
    inherited: frozenset[str]
    texts: Mapping[str, str]
    current: int | None

    @classmethod
    def of(
        cls,
        verification: Verification,
        chosen: list[FoundNode],
        texts: Mapping[str, str],
        current: int | None,
    ) -> _Sheet:
        numbers = {one.ref.node_id: number for number, one in enumerate(chosen, start=1)}
        numbers[verification.claim.node_id] = ANSWER
        feeds: dict[str, dict[str, None]] = {}
        for path in verification.paths:
            if path.source in numbers:
                feeds.setdefault(path.source, {})[path.target] = None
        return cls(
            chosen,
            numbers,
            {name: tuple(targets) for name, targets in feeds.items()},
            frozenset(node.node_id for node in verification.error.nodes),
            frozenset(node.node_id for node in verification.error.propagated),
            texts,
            current,
        )

    def card(self, found: FoundNode) -> Card:
        name = found.ref.node_id
        targets = self.feeds.get(name, ())
        return Card(
            number=self.numbers[name],
            node_id=name,
            stage=found.ref.stage,
            role=found.ref.role,
            iteration=found.iteration.number,
            sentences=shown_sentences(found.cited[:MOST_SENTENCES], self.texts.get(name)),
            more=max(len(found.cited) - MOST_SENTENCES, 0),
            summary=_summary(found),
            introduced=name in self.introduced,
            inherited=name in self.inherited,
            feeds=tuple(CardLink(one, self.numbers.get(one)) for one in targets[:MOST_LINKS]),
            more_feeds=max(len(targets) - MOST_LINKS, 0),
            current=self.current is None or found.iteration.number == self.current,
        )


def _summary(found: FoundNode) -> Summary | None:
    """What the model said of the first prompt in which it found something in this node."""
    for evidence in found.iteration.evidence:
        if found.ref.node_id in evidence.node_ids and evidence.summary:
            missing = clip(evidence.missing, SUMMARY_BYTES) if evidence.missing else None
            nodes = len(evidence.node_ids)
            return Summary(clip(evidence.summary, SUMMARY_BYTES), missing, nodes)
    return None
