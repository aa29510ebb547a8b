"""The parts of a process: nodes, edges, claims, and facts about the whole.

Source: VeriTrail 2 (the conceptual framework).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field, model_validator

from veritrail_graph.graph.model.node_ref import NodeRef, Origin, Role
from veritrail_graph.graph.model.noun import (
    Count,
    Many,
    NodeId,
    Noun,
    Offset,
    OneOf,
    Place,
    PublicId,
    Stage,
    Text,
    is_empty,
    is_none,
)


class Verdict(StrEnum):
    """The three verdicts of the paper. Source: VeriTrail 2."""

    FULLY_SUPPORTED = "FULLY_SUPPORTED"
    NOT_FULLY_SUPPORTED = "NOT_FULLY_SUPPORTED"
    INCONCLUSIVE = "INCONCLUSIVE"


class ClaimOrigin(StrEnum):
    """How a statement came to be a claim, where it is none of the answer."""

    ASKED = "asked"
    """A question that somebody asked of a node: kept apart from the claims of the answer."""


class Span(Noun):
    """A node of a process with its text. Source: VeriTrail 2 (a node is a text span)."""

    node_id: NodeId = Field(description="The node's id in its process.")
    text: str = Field(description="Its text.")
    stage: Stage = Field(description="Its place in the generative process.")
    position: Count = Field(description="Its place in the input, counted from 0.")
    role: OneOf[Role] = Field(description="Root, intermediate, terminal or unsourced.")
    origin: OneOf[Origin] | None = Field(
        default=None, description="Source text, generated, or given by somebody; null: not known."
    )
    question: Text | None = Field(default=None, description="The question that it answers.")
    kind: Text | None = Field(default=None, description="What it is called, such as `chunk`.")
    step: Text | None = Field(default=None, description="The step that made it.")
    model: Text | None = Field(default=None, description="The model that wrote it.")
    prompt: Text | None = Field(default=None, description="The prompt that it was written with.")
    metadata: Mapping[str, Any] = Field(default={}, description="What else the input says of it.")

    @property
    def ref(self) -> NodeRef:
        """The node without its text."""
        return NodeRef(self.node_id, self.stage, self.position, self.role)


class Inference(StrEnum):
    """How a reader found an edge that its input does not name."""

    EXACT = "exact"
    """The text of the source was found in what the target's step was given, or the reverse."""
    NORMALISED = "normalised"
    """The same, but for case, white space, escapes and the lines of printed tables."""
    OVERLAP = "overlap"
    """They share much of their words."""
    ORDER = "order"
    """It follows from the order of the input alone."""


class EdgeFacts(NamedTuple):
    """The facts about an edge besides its ends."""

    cited: bool | None = None
    inferred: Inference | None = None
    score: float | None = None

    def joined(self, other: EdgeFacts) -> EdgeFacts:
        """Of an edge that is given twice: any citation is kept, and what is not inferred wins."""
        known = [one for one in (self.cited, other.cited) if one is not None]
        cited = any(known) if known else None
        if self.inferred is None or other.inferred is None:
            return EdgeFacts(cited)
        best = max((self, other), key=lambda one: one.score or 0.0)
        return EdgeFacts(cited, best.inferred, best.score)

    @property
    def given(self) -> dict[str, Any]:
        """Those that are known, as properties of the relationship."""
        return {key: value for key, value in self._asdict().items() if value is not None}


NO_FACTS = EdgeFacts()


class Edge(Noun):
    """`source` was an input to the step that produced `target`."""

    source: NodeId = Field(description="node_id of the input.")
    target: NodeId = Field(description="node_id of what was produced from it.")
    cited: bool | None = Field(
        default=None,
        description="Whether the target cites the source; null where that is not known.",
    )
    inferred: OneOf[Inference] | None = Field(
        default=None, description="How a reader found it; null: the input names it."
    )
    score: float | None = Field(
        default=None, ge=0, le=1, description="How sure that is, from 0 to 1."
    )

    @property
    def facts(self) -> EdgeFacts:
        """Return what is known of it besides its ends."""
        return EdgeFacts(self.cited, self.inferred, self.score)


class Claim(Noun):
    """A self-contained, verifiable statement about one node."""

    claim_id: PublicId = Field(description="Unique within the process.")
    text: str = Field(min_length=1, description="The statement.")
    node_id: NodeId = Field(description="The node whose content it states; never a root.")
    start: Offset | None = Field(
        default=None, description="Offset of its place in the node's text, in code points."
    )
    end: Offset | None = Field(default=None, description="Offset just behind it.")
    also: Many[Place] = Field(
        default=(), description="Further places in the node's text, as [start, end]."
    )
    sub_claims: Many[str] = Field(
        default=(), description="Simpler statements that it is made of; context for the judge."
    )
    label: OneOf[Verdict] | None = Field(
        default=None, description="A person's label, for evaluation; no judge reads it."
    )
    origin: OneOf[ClaimOrigin] | None = Field(
        default=None,
        description="`asked`: a question, which is not counted; null: a claim of the answer.",
        exclude_if=is_none,
    )
    said: bool | None = Field(
        default=None,
        description="Of a question: true where a sentence of the node says it in the same words, "
        "false where none has half of its words; left out: words alone cannot tell.",
        exclude_if=is_none,
    )

    @property
    def places(self) -> tuple[Place, ...]:
        """Return where it is stated, as (start, end), its own place first."""
        if self.start is None or self.end is None:
            return self.also
        return ((self.start, self.end), *self.also)


def spellings(text: str) -> tuple[str, ...]:
    """Return what has the text of a claim: itself, then it without or with a full stop at its end.

    A full stop there tells no two claims apart.

    Args:
        text: The text.
    """
    bare = (text.removesuffix("."),) if text.endswith(".") else ()
    return (text, *bare, f"{text}.")


_IS_STORED = (
    "a Process is what is stored: Local().ingest(document) stores a process file, and "
    "check(document) checks it, too"
)

if TYPE_CHECKING:
    _Stored = Noun
else:

    class _ReadElsewhere(type(Noun)):
        """Says which call is meant, where a process is to be made of a file."""

        def __getattr__(self, name: str) -> Any:
            if name in ("from_dict", "from_file", "from_json", "load", "open", "read"):
                raise AttributeError(f"{self.__name__} has no {name!r}: {_IS_STORED}")
            return super().__getattr__(name)

    class _Stored(Noun, metaclass=_ReadElsewhere):
        """A noun that is not made of a file."""


class Process(_Stored):
    """A stored process without its nodes."""

    process_id: PublicId = Field(description="Its id.")
    name: str = Field(description="Its name.")
    question: str | None = Field(default=None, description="What its final output answers.")
    source_format: str = Field(description="The format that it was read from.")
    content_hash: str = Field(description="SHA-256 over nodes, edges, stages and terminals.")
    stages: Mapping[int, int] = Field(description="Number of nodes by stage.")
    stage_names: Mapping[int, str] = Field(description="Names of the stages, where given.")
    terminals: Many[str] = Field(description="node_ids of the final outputs.")
    nodes: Count = Field(description="Number of nodes.")
    edges: Count = Field(description="Number of edges.")
    claims: Count = Field(default=0, description="Number of claims.")
    run_of_record: PublicId | None = Field(
        default=None, description="The run whose verdicts count, where one is pinned."
    )
    warnings: Many[str] = Field(
        default=(), description="What the input does not hold, and how that was bridged."
    )
    project: Text | None = Field(
        default=None, description="The pipeline that it is a run of.", exclude_if=is_none
    )
    tags: Many[str] = Field(default=(), description="Its tags.", exclude_if=is_empty)

    @model_validator(mode="before")
    @classmethod
    def _refuse_document(cls, values: Any) -> Any:
        """Say how a process file becomes a process, where one is given as values.

        Raises:
            TypeError: It is one.
        """
        if isinstance(values, dict) and isinstance(values.get("nodes"), list):
            raise TypeError(_IS_STORED)
        return values


@dataclass(frozen=True, slots=True)
class SourcesRead:
    """src() of some nodes as it is read from a graph.

    Attributes:
        nodes: The source nodes, each once, in the order of a frontier.
        sources: node_ids of the source nodes, by the node that they were inputs to.
        texts: Texts of the source nodes by node_id, where they were asked for.
        passed: node_ids of those source nodes that had been checked.
        consecutive: How many verdicts up to now are Not Fully Supported, where the statement that
            read them says it.
    """

    nodes: tuple[NodeRef, ...]
    sources: Mapping[str, tuple[str, ...]]
    texts: dict[str, str]
    passed: frozenset[str] = frozenset()
    consecutive: int | None = None


@dataclass(frozen=True, slots=True)
class SourcesLeft:
    """The unchecked rest of src() of some nodes.

    Attributes:
        node_id: One source node that was not checked; None: there is none.
        sources: node_ids of the source nodes that were checked, by the node that they were inputs
            to; nodes without any are left out.
        edges: How many edges were followed to find out.
    """

    node_id: str | None
    sources: dict[str, tuple[str, ...]]
    edges: int
