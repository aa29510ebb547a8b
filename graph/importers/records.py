"""The records that every importer yields: a header and a stream that can be read twice.

A process is validated in a first reading and stored in a second one, so that nothing
is stored of a process that breaks a rule and no text needs to stay in memory.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
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


def names_its_maker(metadata: Mapping[str, Any]) -> bool:
    """Return whether metadata name the model or prompt that wrote a node: it is no source text."""
    return metadata.get("model") is not None or metadata.get("prompt") is not None


_KIND_KEYS = ("role", "kind", "type", "origin")
_WRITTEN_KINDS = {"assistant", "ai", "summary", "generated"}


def is_written(about: Mapping[str, Any]) -> bool:
    """Return whether a record of a text names a model, a prompt, or a kind that a model writes.

    Of its own metadata only the kind counts: a `model` there may be that of a car.
    """
    inner = about.get("metadata")
    of_metadata = isinstance(inner, Mapping) and _has_written_kind(inner)
    return names_its_maker(about) or _has_written_kind(about) or of_metadata


def _has_written_kind(about: Mapping[str, Any]) -> bool:
    kinds = (about.get(key) for key in _KIND_KEYS)
    return any(isinstance(one, str) and one.strip().lower() in _WRITTEN_KINDS for one in kinds)


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
        """Return what is known of it besides its ends."""
        return EdgeFacts(self.cited, self.inferred, self.score)


@dataclass(frozen=True, slots=True)
class PlainEdges:
    """Edges of neighbouring lines that have nothing but their ends; one record for speed."""

    sources: Sequence[str]
    targets: Sequence[str]
    first_line: int

    def __len__(self) -> int:
        return len(self.sources)

    def edges(self) -> Iterator[EdgeRecord]:
        """One record an edge."""
        ends = zip(self.sources, self.targets, strict=True)
        for line, (source, target) in enumerate(ends, start=self.first_line):
            yield EdgeRecord(source, target, f"line {line}")


@dataclass(frozen=True, slots=True)
class PlainNodes:
    """Nodes of neighbouring lines that hold nothing unusual; one record for speed.

    Attributes:
        digests: Of each its `node_digest`.
        first_line: The line of the first.
    """

    ids: Sequence[str]
    texts: Sequence[str]
    stages: Sequence[int | None]
    kinds: Sequence[str | None]
    steps: Sequence[str | None]
    metadata: Sequence[Mapping[str, Any]]
    digests: Sequence[bytes]
    first_line: int

    def __len__(self) -> int:
        return len(self.ids)

    def records(self) -> Iterator[NodeRecord]:
        """One record a node."""
        return map(self.record, range(len(self.ids)))

    def record(self, place: int) -> NodeRecord:
        """The record of a node."""
        return NodeRecord(
            self.ids[place],
            self.texts[place],
            f"line {self.first_line + place} {shown(self.ids[place])}",
            self.stages[place],
            self.kinds[place],
            self.steps[place],
            self.metadata[place],
        )


class KeptNodes(Sequence[NodeRecord]):
    """Nodes that are kept in memory, in their order; those of `PlainNodes` as they were read."""

    def __init__(self) -> None:
        self._parts: list[PlainNodes | list[NodeRecord]] = []
        self._starts: list[int] = []
        self._count = 0

    def append(self, node: NodeRecord) -> None:
        """Keep a node."""
        last = self._parts[-1] if self._parts else None
        if isinstance(last, list):
            last.append(node)
            self._count += 1
        else:
            self._add([node])

    def extend_plain(self, plain: PlainNodes) -> None:
        """Keep many nodes."""
        self._add(plain)

    def _add(self, part: PlainNodes | list[NodeRecord]) -> None:
        self._parts.append(part)
        self._starts.append(self._count)
        self._count += len(part)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> NodeRecord: ...
    @overload
    def __getitem__(self, place: slice) -> list[NodeRecord]: ...
    def __getitem__(self, place: int | slice) -> NodeRecord | list[NodeRecord]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        if not -self._count <= place < self._count:
            raise IndexError(place)
        place %= self._count
        part = bisect_right(self._starts, place) - 1
        nodes = self._parts[part]
        inside = place - self._starts[part]
        return nodes[inside] if isinstance(nodes, list) else nodes.record(inside)

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


@dataclass(frozen=True, slots=True)
class Unread(Violation):
    """A violation whose record, which is or may be a node or an edge, could not be read.

    What seems to be missing beside it may be what it says.
    """


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
    """The result of claim extraction for a sentence, as an input carries it."""

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
    """The facts that an input states of the process as a whole.

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
        """Return what the input says of the process as a whole."""
        ...

    def records(self) -> Iterator[Record]:
        """Read the input once from its beginning."""
        ...


def warned(source: ProcessInput, said: Sequence[str]) -> ProcessInput:
    """Return a process in memory with further warnings."""
    made: Any = source  # the inputs in memory are dataclasses; the Protocol does not say so
    if not said or not is_dataclass(made):
        return source
    header = replace(source.header, warnings=(*source.header.warnings, *said))
    found: ProcessInput = replace(made, header=header)  # type: ignore[assignment, type-var]
    return found


@runtime_checkable
class PackedInput(Protocol):
    """An input that can hand over many usual nodes at once."""

    def packed(self) -> Iterator[Record | PlainNodes]:
        """Yield what `records` yields, in the same order; neighbouring nodes may come together."""
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


@dataclass(frozen=True, slots=True)
class KeptInput:
    """An input that was read once and is in memory.

    Attributes:
        header: What it says of the process as a whole.
        kept: Its records, as `packed` yields them.
        carried: What it carries besides.
    """

    header: Header
    kept: tuple[Record | PlainNodes, ...]
    carried: tuple[TrailRecord, ...] = ()

    def records(self) -> Iterator[Record]:
        """Give the records, one by one."""
        for one in self.kept:
            if isinstance(one, PlainNodes):
                yield from one.records()
            else:
                yield one

    def packed(self) -> Iterator[Record | PlainNodes]:
        """Give the records, many usual nodes at once."""
        return iter(self.kept)

    def trails(self) -> Iterator[TrailRecord]:
        """Give what it carries besides."""
        return iter(self.carried)


@runtime_checkable
class CopiedInput(Protocol):
    """An input whose texts stand in a graph, which may be the one that it is stored in."""

    def stored_at(self, process_id: str) -> str | None:
        """Return when the process was stored in the graph it was read from; None: it was not."""
        ...

    def copies(self) -> Iterator[tuple[str, str]]:
        """The node_id of each copied node, and the engine's id of what it was copied from."""
        ...


@dataclass(frozen=True, slots=True)
class RecordedInput:
    """An input that came in with a key, which is the recorder of its reviews.

    Attributes:
        source: The input.
        name: Name of the key; None where no key is asked for.
        only_reviewer: The one person whose reviews the key may bring; None: of anybody.
        brings_verifications: Whether the key may bring what judges said elsewhere.
        brings_reviews: Whether the key may bring reviews.
    """

    source: ProcessInput
    name: str | None
    only_reviewer: str | None = None
    brings_verifications: bool = True
    brings_reviews: bool = True

    @property
    def header(self) -> Header:
        """Return what the input says of the process as a whole."""
        return self.source.header

    def records(self) -> Iterator[Record]:
        """Read the input once from its beginning."""
        return self.source.records()

    def packed(self) -> Iterator[Record | PlainNodes]:
        """Yield the same, many usual nodes at once."""
        return packed(self.source)

    def trails(self) -> Iterator[TrailRecord]:
        """Read what it carries once from the beginning, under the name of who sent it."""
        if not isinstance(self.source, TrailInput):
            return
        for one in self.source.trails():
            if (fault := self._fault(one)) is not None:
                yield fault
            elif isinstance(one, ReviewRecord):
                yield replace(one, review=one.review.replace(recorded_by=self.name))
            else:
                yield one

    def _fault(self, one: TrailRecord) -> Violation | None:
        """Return why the key may not bring something; None: it may."""
        if isinstance(one, (Violation, ExtractionRecord)):
            return None
        if isinstance(one, VerificationRecord):
            if self.brings_verifications:
                return None
            words = (
                "needs a key with the scope 'admin', as nobody here saw a judge say it; leave "
                "verifications out and verify again, or let an operator send them"
            )
            return Violation("not_allowed", one.where, words)
        if not self.brings_reviews:
            words = "needs a key with the scope 'write'; one with 'ingest' sends texts and claims"
            return Violation("not_allowed", one.where, words)
        if self.only_reviewer in (None, one.review.reviewer):
            return None
        words = (
            f"is in the name of {shown(one.review.reviewer)}, and the key reviews as "
            f"{self.only_reviewer}; a key with the scope 'admin' may send reviews of others"
        )
        return Violation("foreign_reviewer", one.where, words)
