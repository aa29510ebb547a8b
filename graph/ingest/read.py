"""The records of an input, numbered: ids, edges, one hash and one length a node, claims.

Texts are read one at a time. Those of a small input are kept until they are stored; those of
a large one are read again.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import eq
from typing import cast

from veritrail_graph.graph.content_hash import Digests, node_digest
from veritrail_graph.graph.errors import Violation, Violations, shown
from veritrail_graph.graph.importers.records import (
    ClaimRecord,
    EdgeRecord,
    KeptNodes,
    NodeRecord,
    PlainEdges,
    PlainNodes,
    ProcessInput,
    Record,
    Remark,
    Unread,
    names_its_maker,
    packed,
)
from veritrail_graph.graph.ingest.hidden import HiddenCharacters
from veritrail_graph.graph.ingest.topology import NO_STAGE, StoredShape, Topology
from veritrail_graph.graph.model import Origin

KEPT_BYTES = 128_000_000
"""Nodes of an input that takes no more memory than this are not read a second time."""

_REPORT_EVERY = 1_000  # records
_NODE_BYTES = 900  # what the record of a node takes beside its text


@dataclass(slots=True)
class Gathering:
    """The records of an input, added to those of the stored process that it is appended to.

    Attributes:
        max_node_text: The longest text of a node, in bytes of UTF-8.
        onto: The stored process that the input is appended to.
        topology: Nodes and edges, those of `onto` first.
        digests: `node_digest` by number of the node; empty where the node breaks a rule.
        lengths: Length of the text in characters, by number.
        kept: The nodes of the input in the order of their numbers, None when they are too large.
        claims: Its claims.
        violations: What is wrong with single records.
        unread: Places of nodes and edges, or what may be some, that could not be read.
        empty_texts: node_ids of nodes without text.
        hidden: Characters of their texts that a person does not see.
        remarks: What was left out, each once.
        gives_stages: Whether any node of the input has a stage.
        repeated: Numbers of stored nodes that the input names again.
        origins_again: What the input says of the origin of nodes that are there already, and
            where, by number.
    """

    max_node_text: int
    onto: StoredShape | None = None
    topology: Topology = field(default_factory=Topology)
    digests: Digests = field(default_factory=Digests)
    lengths: array[int] = field(default_factory=lambda: array("L"))
    kept: KeptNodes | None = field(default_factory=KeptNodes)
    claims: list[ClaimRecord] = field(default_factory=list)
    violations: Violations = field(default_factory=Violations)
    unread: dict[str, None] = field(default_factory=dict)
    empty_texts: list[str] = field(default_factory=list)
    hidden: HiddenCharacters = field(default_factory=lambda: HiddenCharacters("node"))
    remarks: dict[str, None] = field(default_factory=dict)
    gives_stages: bool = False
    repeated: set[int] = field(default_factory=set)
    origins_again: dict[int, tuple[Origin, str]] = field(default_factory=dict)
    _kept_bytes: int = 0

    def __post_init__(self) -> None:
        """Start from the stored process."""
        if self.onto is not None:
            self.topology = self.onto.topology.copy()
            self.digests = Digests(self.onto.digests)
            self.lengths = array("L", self.onto.lengths)

    def add_node(self, node: NodeRecord) -> None:
        """Number a node, also one that breaks a rule: its edges must not count as wrong."""
        self.gives_stages = self.gives_stages or node.stage is not None
        known = self.topology.numbers.get(node.node_id)
        digest = self._digest(node)
        if known is not None:
            self._compare(node, known, digest)
            return
        is_made = names_its_maker(node.metadata)
        self.topology.add_node(node.node_id, node.stage, node.origin, is_made=is_made)
        self.digests.append(digest)
        self.lengths.append(len(node.text))
        if not node.text:
            self.empty_texts.append(node.node_id)
        self.hidden.add(node.node_id, node.text)
        if self.kept is not None:
            self.kept.append(node)
            self._kept_bytes += sys.getsizeof(node.text) + _NODE_BYTES
            if self._kept_bytes > KEPT_BYTES:
                self.kept = None

    def add_nodes(self, plain: PlainNodes) -> None:
        """Number many nodes at once, unless one of them is there already or needs a look."""
        ids, topology = plain.ids, self.topology
        lengths = list(map(len, plain.texts))
        made = list(map(names_its_maker, plain.metadata))
        usual = min(lengths) > 0 and max(lengths) * 4 <= self.max_node_text
        if not (usual and topology.add_nodes(ids, plain.stages, made)):
            for node in plain.records():
                self.add_node(node)
            return
        has_stages = any(stage is not None for stage in plain.stages)
        self.gives_stages = self.gives_stages or has_stages
        self.digests.extend(plain.digests)
        self.lengths.extend(lengths)
        for node_id, text in zip(ids, plain.texts, strict=True):
            self.hidden.add(node_id, text)
        if self.kept is not None:
            self.kept.extend_plain(plain)
            self._kept_bytes += sum(map(sys.getsizeof, plain.texts)) + _NODE_BYTES * len(ids)
            if self._kept_bytes > KEPT_BYTES:
                self.kept = None

    @property
    def likely_terminals(self) -> set[int] | None:
        """Nodes that an input that names no terminals may mean; None: any.

        Of what is appended those are its new nodes and, so that it may be appended again, the
        stored terminals that it names.
        """
        if self.onto is None:
            return None
        terminals = {self.topology.numbers[name] for name in self.onto.terminals}
        new = range(len(self.onto.digests), len(self.digests))
        return {*new, *(self.repeated & terminals)}

    def add_edge(self, edge: EdgeRecord, waiting: list[EdgeRecord]) -> None:
        """Number an edge; an edge whose node is not read yet waits until the end."""
        numbers = self.topology.numbers
        source, target = numbers.get(edge.source), numbers.get(edge.target)
        if source is None or target is None:
            waiting.append(edge)
        elif source == target:
            self.violations.append(_self_loop(edge))
        else:
            self.topology.add_edge(source, target, edge.facts)

    def add_edges(self, plain: PlainEdges, waiting: list[EdgeRecord]) -> None:
        """Number many edges at once, unless one of them is unknown or a loop."""
        number = self.topology.numbers.get
        sources, targets = list(map(number, plain.sources)), list(map(number, plain.targets))
        if None in sources or None in targets or any(map(eq, sources, targets)):
            for edge in plain.edges():
                self.add_edge(edge, waiting)
            return
        self.topology.add_edges(cast("list[int]", sources), cast("list[int]", targets))

    def _compare(self, node: NodeRecord, known: int, digest: bytes) -> None:
        """A node repeated with the same content counts once; other content is a violation."""
        is_stored = self.onto is not None and known < len(self.onto.digests)
        if is_stored:
            self.repeated.add(known)
        if node.origin is not None:
            self.origins_again.setdefault(known, (node.origin, node.where))
        stage = NO_STAGE if node.stage is None else node.stage
        broken = not (digest and self.digests[known])
        other_stage = stage != self.topology.stages[known] and not (
            is_stored and stage == NO_STAGE  # an input that is appended need not repeat it
        )
        if (digest != self.digests[known] or other_stage) and not broken:
            where = "is stored" if is_stored else "is used earlier in the input"
            message = f"the node_id {shown(node.node_id)} {where} with different content"
            facts = {"case": "stored_node_id"} if is_stored else {}
            self.violations.append(Violation("duplicate_node_id", node.where, message, facts))

    def _digest(self, node: NodeRecord) -> bytes:
        """The node's digest; empty, and a violation more, when it breaks a rule."""
        # A character takes at most four bytes: most texts need not be encoded to be measured.
        may_be_long = len(node.text) * 4 > self.max_node_text
        fault = _text_fault(node, self.max_node_text) if may_be_long else None
        if fault is None:
            try:
                return node_digest(node)
            except UnicodeEncodeError:
                message = "metadata contains a lone surrogate, which is not a character"
                fault = _text_fault(node, self.max_node_text) or Violation(
                    "lone_surrogate", node.where, message
                )
            except (RecursionError, ValueError, TypeError):
                message = "metadata is not JSON that can be stored"
                fault = Violation("wrong_value", node.where, message)
        self.violations.append(fault)
        return b""


def gather(
    source: ProcessInput,
    max_node_text: int,
    onto: StoredShape | None,
    on_record: Callable[[int], None] | None,
) -> Gathering:
    """Read an input once.

    Args:
        source: The input.
        max_node_text: The longest text of a node, in bytes of UTF-8.
        onto: The stored process that it is appended to.
        on_record: Called now and then with the number of records read so far.

    Returns:
        What was read; only a part of the input where there were too many violations.
    """
    found = Gathering(max_node_text, onto)
    waiting: list[EdgeRecord] = []
    count = reported = 0
    for record in packed(source):
        count += _size(record)
        if isinstance(record, PlainNodes):
            found.add_nodes(record)
        elif isinstance(record, NodeRecord):
            found.add_node(record)
        elif isinstance(record, EdgeRecord):
            found.add_edge(record, waiting)
        elif isinstance(record, PlainEdges):
            found.add_edges(record, waiting)
        elif isinstance(record, ClaimRecord):
            found.claims.append(record)
        elif isinstance(record, Remark):
            found.remarks[record.message] = None
        else:
            found.violations.append(record)
            if isinstance(record, Unread):
                found.unread[record.where] = None
            if found.violations.is_over:
                return found
        if on_record is not None and count >= reported + _REPORT_EVERY:
            reported = count - count % _REPORT_EVERY
            on_record(reported)
    late: list[EdgeRecord] = []
    for edge in waiting:
        found.add_edge(edge, late)
    found.violations += (violation for edge in late for violation in _unknown_ends(edge, found))
    return found


def _size(record: Record | PlainNodes) -> int:
    return len(record) if isinstance(record, PlainEdges | PlainNodes) else 1


def edge_place(source: str, target: str) -> str:
    """Return how an edge is named in messages."""
    return f"edge {shown(source)} -> {shown(target)}"


def _text_fault(node: NodeRecord, max_node_text: int) -> Violation | None:
    try:
        size = len(node.text.encode("utf-8"))
        node.node_id.encode("utf-8")
    except UnicodeEncodeError:
        message = "text contains a lone surrogate, which is not a character and cannot be stored"
        return Violation("lone_surrogate", node.where, message)
    if size > max_node_text:
        message = (
            f"text is {size:,} bytes long; the limit is {max_node_text:,} (VERITRAIL_MAX_NODE_TEXT)"
        )
        return Violation("text_too_long", node.where, message)
    return None


def _self_loop(edge: EdgeRecord) -> Violation:
    where = f"{edge.where} {edge_place(edge.source, edge.target)}"
    return Violation("self_loop", where, "a node cannot be an input to itself")


def _unknown_ends(edge: EdgeRecord, found: Gathering) -> list[Violation]:
    where = f"{edge.where} {edge_place(edge.source, edge.target)}"
    known = found.topology.numbers
    return [
        Violation("unknown_node", where, f"no node has the {key} node_id {shown(name)}")
        for key, name in (("source", edge.source), ("target", edge.target))
        if name not in known
    ]
