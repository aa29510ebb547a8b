"""A claim with its trail as a file shows it: level by level, from the answer down to the sources.

What is shown is bounded; what is left out is counted, and said.

Source: VeriTrail 3.2 (evidence trail, interim verdicts, provenance, error localization).
"""

from __future__ import annotations

from dataclasses import dataclass

from veritrail_graph.api.reports.data import CheckedClaim
from veritrail_graph.api.views.routes import Routes
from veritrail_graph.api.views.words import Mark
from veritrail_graph.graph.model import Review


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a claim a file shows.

    Attributes:
        trails: Claims that are shown with their trails; others are named only.
        nodes: Nodes with evidence of a claim.
        sentences: Sentences of a node.
        characters: Characters of one text.
        routes: Routes of a claim.
    """

    trails: int
    nodes: int
    sentences: int
    characters: int
    routes: int


REPORT = Limits(trails=1_000, nodes=24, sentences=6, characters=1_200, routes=5)
"""What a report shows: enough to see why."""

DOSSIER = Limits(trails=500, nodes=2_000, sentences=6_000, characters=20_000, routes=100)
"""What a dossier shows: all, but for what no browser would show well."""


@dataclass(frozen=True, slots=True)
class Words:
    """A text from outside, and how many of its characters are left out."""

    text: str
    more: int = 0


@dataclass(frozen=True, slots=True)
class SentenceView:
    """A sentence that was selected, with what stands around it.

    Attributes:
        words: The sentence.
        is_context: Whether it was named as context that the evidence needs.
        before: The sentence before it, where it is known.
        after: The sentence behind it.
    """

    words: Words
    is_context: bool
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node with evidence.

    Attributes:
        node_id: The node.
        role: Root, intermediate or terminal.
        about: What else is known of it, in words.
        iteration: The round that found the evidence.
        sentences: What was selected from it.
        more: How many further sentences there are.
        introduced: Whether unsupported content came in here.
        inherited: Whether it only carried it on.
    """

    node_id: str
    role: str
    about: tuple[str, ...]
    iteration: int
    sentences: tuple[SentenceView, ...]
    more: int
    introduced: bool
    inherited: bool


@dataclass(frozen=True, slots=True)
class Level:
    """The nodes with evidence of one stage."""

    stage: int
    name: str | None
    nodes: tuple[NodeView, ...]
    more: int
    introduced: bool


@dataclass(frozen=True, slots=True)
class SummaryView:
    """What the judge said of the sentences that it selected."""

    words: Words
    missing: Words | None
    nodes: int


@dataclass(frozen=True, slots=True)
class RoundView:
    """An iteration.

    Attributes:
        number: Counted from 1.
        mark: Its interim verdict.
        reasons: The reasons for it.
        checked: How many nodes it read.
        carried: How many roots with evidence it took over.
        sentences: How many sentences it selected, from how many nodes.
        summaries: What the judge said of them.
        remarks: What else is to be known.
    """

    number: int
    mark: Mark
    reasons: Words
    checked: int
    carried: int
    sentences: tuple[int, int]
    summaries: tuple[SummaryView, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Located:
    """A node where unsupported content came in, or that carried it on."""

    node_id: str
    stage: int
    name: str | None


@dataclass(frozen=True, slots=True)
class ReviewView:
    """A review, with its mark."""

    review: Review
    mark: Mark


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is known of a verification; an id or a hash is written as such."""

    name: str
    value: str
    is_id: bool = False


@dataclass(frozen=True, slots=True)
class ClaimView:
    """A claim as a file shows it.

    Attributes:
        number: Its place among the claims of the process, counted from 1.
        checked: The claim.
        mark: How it stands.
        said: What the latest review says, if there is one.
        error_stages: Stages where unsupported content came in, with names.
        text: What it says.
        reasons: Why it stands as it does.
        facts: What is known of its verification, as words and values.
        introduced: Nodes where unsupported content came in.
        inherited: Later nodes that only carried it on.
        levels: The evidence trail, from the answer down to the sources.
        rounds: The iterations.
        routes: Ways from where evidence begins to the verified node.
        reviews: What people said, newest first.
        remarks: What a reader must know of it.
        has_trail: Whether the trail is in the file.
    """

    number: int
    checked: CheckedClaim
    mark: Mark
    said: Mark | None
    error_stages: tuple[str, ...]
    text: Words
    reasons: Words | None
    facts: tuple[Fact, ...] = ()
    introduced: tuple[Located, ...] = ()
    inherited: tuple[Located, ...] = ()
    levels: tuple[Level, ...] = ()
    rounds: tuple[RoundView, ...] = ()
    routes: Routes | None = None
    reviews: tuple[ReviewView, ...] = ()
    remarks: tuple[str, ...] = ()
    has_trail: bool = False
