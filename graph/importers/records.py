"""What every importer hands over: a header and a stream of records that can be read twice.

A process is validated in a first reading and stored in a second one, so that nothing
is stored of a process that breaks a rule and no text needs to stay in memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, overload, runtime_checkable

from veritrail_graph.graph.errors import Violation, shown
from veritrail_graph.graph.model import (
    ClaimOrigin,
    EdgeFacts,
    Inference,
    Origin,
    Review,
    Verification,
)
from veritrail_graph.graph.model.extraction import ExtractedSentence


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node as the input gives it; `stage` and `origin` are None when the input gives none."""

    node_id: str
    text: str
    where: str
    stage: int | None = None
    kind: str | None = None
    step: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    origin: Origin | None = None
    question: str | None = None

    @property
    def names_its_maker(self) -> bool:
        """Whether it says which model or prompt wrote it: then it is no source text."""
        return any(self.metadata.get(key) is not None for key in ("model", "prompt"))


@dataclass(frozen=True, slots=True)
class EdgeRecord:
    """An edge as the input gives it."""

    source: str
    target: str
    where: str
    cited: bool | None = None
    inferred: Inference | None = None
    score: float | None = None

    @property
    def facts(self) -> EdgeFacts:
        """What is known of it besides its ends."""
        return EdgeFacts(self.cited, self.inferred, self.score)


@dataclass(frozen=True, slots=True)
class PlainEdges:
    """Edges of neighbouring lines that have nothing but their ends; one record for speed."""

    ends: Sequence[tuple[str, str]]
    first_line: int

    def edges(self) -> Iterator[EdgeRecord]:
        """One record an edge."""
        for line, (source, target) in enumerate(self.ends, start=self.first_line):
            yield EdgeRecord(source, target, f"line {line}")


@dataclass(frozen=True, slots=True)
class PlainNodes:
    """Nodes of neighbouring lines that hold nothing unusual; one record for speed.

    Attributes:
        nodes: They as JSON objects; no key but those of a `NodeRecord`, and each value fits.
        first_line: The line of the first.
    """

    nodes: Sequence[Mapping[str, Any]]
    first_line: int

    def records(self) -> Iterator[NodeRecord]:
        """One record a node."""
        for line, node in enumerate(self.nodes, start=self.first_line):
            yield plain_node(node, line)


def plain_node(node: Mapping[str, Any], line: int) -> NodeRecord:
    """The record of a node of `PlainNodes`."""
    get = node.get
    return NodeRecord(
        node["node_id"],
        node["text"],
        f"line {line} {shown(node['node_id'])}",
        get("stage"),
        get("kind"),
        get("step"),
        get("metadata") or {},
    )


class KeptNodes(Sequence[NodeRecord]):
    """Nodes that are kept in memory, in their order; those of `PlainNodes` as they were read."""

    def __init__(self) -> None:
        self._nodes: list[NodeRecord | Mapping[str, Any]] = []
        self._lines = array("Q")

    def append(self, node: NodeRecord) -> None:
        """Keep a node."""
        self._nodes.append(node)
        self._lines.append(0)

    def extend_plain(self, plain: PlainNodes) -> None:
        """Keep many nodes."""
        self._nodes.extend(plain.nodes)
        self._lines.extend(range(plain.first_line, plain.first_line + len(plain.nodes)))

    def __len__(self) -> int:
        return len(self._nodes)

    @overload
    def __getitem__(self, place: int) -> NodeRecord: ...
    @overload
    def __getitem__(self, place: slice) -> list[NodeRecord]: ...
    def __getitem__(self, place: int | slice) -> NodeRecord | list[NodeRecord]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        node = self._nodes[place]
        return node if isinstance(node, NodeRecord) else plain_node(node, self._lines[place])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeptNodes) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class ClaimRecord:
    """A claim as the input gives it; ids may still be missing."""

    text: str
    where: str
    claim_id: str | None = None
    node_id: str | None = None
    start: int | None = None
    end: int | None = None
    sub_claims: tuple[str, ...] = ()
    label: str | None = None
    also: tuple[tuple[int, int], ...] = ()
    origin: ClaimOrigin | None = None
    said: bool | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that was passed over and that the user should know of; reported once."""

    message: str


Record = NodeRecord | EdgeRecord | PlainEdges | ClaimRecord | Remark | Violation


@dataclass(frozen=True, slots=True)
class VerificationRecord:
    """A verification that an input carries.

    Attributes:
        verification: It, with nodes of which only the ids are known.
        where: The place in the input.
        place: Its place in its run, or None.
        given: The object as it stood in the input.
    """

    verification: Verification
    where: str
    place: int | None
    given: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ExtractionRecord:
    """What claim extraction left of a sentence, as an input carries it."""

    sentence: ExtractedSentence
    where: str


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """A review that an input carries.

    Attributes:
        review: It.
        where: The place in the input.
        given: The object as it stood in the input.
    """

    review: Review
    where: str
    given: Mapping[str, Any]


TrailRecord = VerificationRecord | ExtractionRecord | ReviewRecord | Violation


@dataclass(frozen=True, slots=True)
class Header:
    """What an input says of the process as a whole.

    Attributes:
        source_format: Name of the format that was read.
        process_id: Its id, or None: derived from the content.
        name: What people call it, or None: the process_id.
        question: What the final output answers, or None.
        stage_names: Names of the stages, by stage.
        terminals: node_ids of the final outputs, or None: the default of the format.
        warnings: What the input does not hold, and how that was bridged.
        run_of_record: The run of its verifications whose verdicts count, if one is pinned.
        project: The pipeline that it is a run of, or None.
        tags: Its tags.
        explained: Share of the characters that its generating steps were given which its edges
            account for, from 0 to 1. A message that is a node only because a step was given it, as
            no earlier text was found in it, explains nothing by itself. None: the input does not
            record what they were given.
        name_of_many: The name of the process once it holds answers to several questions, where
            `name` holds the question; None: it keeps its name.
        may_lack_edges: Whether several nodes without an edge are no fault: the input says of
            each text where it comes from, and what is not joined to anything is `unsourced`.
        empty_because: Why there is no node, and what to do, where the input knows.
    """

    source_format: str
    process_id: str | None = None
    name: str | None = None
    question: str | None = None
    stage_names: Mapping[int, str] = field(default_factory=dict)
    terminals: tuple[str, ...] | None = None
    warnings: tuple[str, ...] = ()
    run_of_record: str | None = None
    project: str | None = None
    tags: tuple[str, ...] = ()
    explained: float | None = None
    name_of_many: str | None = None
    may_lack_edges: bool = False
    empty_because: str | None = None


class ProcessInput(Protocol):
    """A process that can be read more than once.

    `header` may be read before the records. `records` yields nodes, edges and claims in
    any order, and a `Violation` in the place of whatever it could not read.
    """

    @property
    def header(self) -> Header:
        """What the input says of the process as a whole."""
        ...

    def records(self) -> Iterator[Record]:
        """Read the input once from its beginning."""
        ...


@runtime_checkable
class PackedInput(Protocol):
    """An input that can hand over many usual nodes at once."""

    def packed(self) -> Iterator[Record | PlainNodes]:
        """What `records` yields, in the same order; neighbouring nodes may come together."""
        ...


def packed(source: ProcessInput) -> Iterator[Record | PlainNodes]:
    """The records of an input, many usual nodes at once where it can hand them over so."""
    return source.packed() if isinstance(source, PackedInput) else source.records()


@runtime_checkable
class TrailInput(Protocol):
    """An input that may carry verifications, extracted sentences and reviews of its claims."""

    def trails(self) -> Iterator[TrailRecord]:
        """Read them once from the beginning; what could not be read is a `Violation`."""
        ...


@runtime_checkable
class CopiedInput(Protocol):
    """An input whose texts stand in a graph, which may be the one that it is stored in."""

    def stored_at(self, process_id: str) -> str | None:
        """When a process was stored in the graph that the input was read from; None: it is not."""
        ...

    def copies(self) -> Iterator[tuple[str, str]]:
        """The node_id of each copied node, and the engine's id of what it was copied from."""
        ...
