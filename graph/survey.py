"""The first reading of an input: everything is checked, nothing is stored.

Texts are looked at one at a time and let go again; what stays is the shape of the
process, one hash and one length a node, and the claims.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field

from graph import rules
from graph.claims import check_claims
from graph.content_hash import (
    content_hash,
    derived_process_id,
    node_digest,
)
from graph.errors import InvalidProcess, Violation
from graph.importers.records import (
    ClaimRecord,
    EdgeRecord,
    Header,
    NodeRecord,
    ProcessInput,
    Remark,
)
from graph.model import Claim, Role
from graph.rules import shown
from graph.topology import NO_STAGE, Topology

MAX_NODE_TEXT = 10_000_000
"""The longest text of a node, in bytes of UTF-8, unless a setting says otherwise."""

MAX_VIOLATIONS_OF_A_KIND = 1_000


@dataclass(frozen=True, slots=True)
class Survey:
    """A process that keeps every rule, without its texts.

    Attributes:
        process_id: As given, or derived from the content.
        header: What the input says of the process as a whole.
        topology: Its shape; stages are there, repeated edges are not.
        digests: `node_digest` by number of the node.
        roles: Role by number of the node.
        terminals: node_ids of the terminals.
        hash: The content hash.
        claims: Its claims, with ids and nodes filled in.
        warnings: The input's own and those of the check.
    """

    process_id: str
    header: Header
    topology: Topology
    digests: list[bytes]
    roles: list[Role]
    terminals: tuple[str, ...]
    hash: str
    claims: tuple[Claim, ...]
    warnings: tuple[str, ...]


@dataclass(slots=True)
class _Reading:
    """What the records of an input come to."""

    max_node_text: int
    topology: Topology = field(default_factory=Topology)
    digests: list[bytes] = field(default_factory=list)
    lengths: array[int] = field(default_factory=lambda: array("L"))
    claims: list[ClaimRecord] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    empty_texts: list[str] = field(default_factory=list)
    remarks: dict[str, None] = field(default_factory=dict)

    def add_node(self, node: NodeRecord) -> None:
        """Number a node; one that breaks a rule is there too, or its edges would seem wrong."""
        known = self.topology.numbers.get(node.node_id)
        digest = self._digest(node)
        if known is not None:
            stage = NO_STAGE if node.stage is None else node.stage
            broken = not (digest and self.digests[known])
            differs = digest != self.digests[known] or stage != self.topology.stages[known]
            if differs and not broken:
                message = "this node_id stands in the input before, with another content"
                self.violations.append(Violation("duplicate_node_id", node.where, message))
            return
        self.topology.add_node(node.node_id, node.stage)
        self.digests.append(digest)
        self.lengths.append(len(node.text))
        if not node.text:
            self.empty_texts.append(node.node_id)

    def add_edge(self, edge: EdgeRecord, waiting: list[EdgeRecord]) -> None:
        """Number an edge; one whose node has not come yet waits until the end."""
        numbers = self.topology.numbers
        source, target = numbers.get(edge.source), numbers.get(edge.target)
        if source is None or target is None:
            waiting.append(edge)
        elif source == target:
            self.violations.append(_self_loop(edge))
        else:
            self.topology.add_edge(source, target, edge.cited)

    def _digest(self, node: NodeRecord) -> bytes:
        """The node's digest; empty, and a violation more, when it breaks a rule."""
        fault = _text_fault(node, self.max_node_text)
        if fault is None:
            try:
                return node_digest(node)
            except UnicodeEncodeError:
                message = "metadata holds a lone surrogate, which is no character"
                fault = Violation("lone_surrogate", node.where, message)
            except (RecursionError, ValueError, TypeError):
                message = "metadata is no JSON that can be stored"
                fault = Violation("wrong_value", node.where, message)
        self.violations.append(fault)
        return b""


def survey(
    source: ProcessInput,
    *,
    process_id: str | None = None,
    max_node_text: int = MAX_NODE_TEXT,
    on_record: Callable[[int], None] | None = None,
) -> Survey:
    """Read an input once and check every rule of a process.

    Args:
        source: The input.
        process_id: Takes the place of the input's own.
        max_node_text: The longest text of a node, in bytes of UTF-8.
        on_record: Told the number of records read so far, now and then.

    Raises:
        InvalidProcess: It breaks rules; all violations are listed.
    """
    header = source.header
    reading = _read(source, max_node_text, on_record)
    topology = reading.topology
    violations = reading.violations
    if not topology.ids:
        if all(each.kind == "unknown_node" for each in violations):  # no node was there and wrong
            violations.insert(0, Violation("no_nodes", "nodes", "a process has at least one node"))
        raise _invalid(violations)
    repeated = topology.drop_repeated_edges()
    stages_known, shape = _check_shape(topology)
    violations += shape
    terminals = header.terminals
    if terminals is not None:
        # Where no edge leads down, no terminal stands below an ancestor: nothing to look for.
        leads_down = stages_known and any(each.kind == "stage_order" for each in shape)
        violations += rules.check_terminals(topology, terminals, compare_stages=leads_down)
    elif stages_known or topology.out_degrees().count(0) == 1:
        terminals = tuple(topology.ids[node] for node in rules.default_terminals(topology))
    if terminals is not None:
        terminals = tuple(dict.fromkeys(terminals)) or None
    claims, claim_violations, claim_warnings = check_claims(
        reading.claims, topology, reading.lengths, terminals
    )
    violations += claim_violations
    if violations:
        raise _invalid(violations)
    terminals = terminals or ()
    hash_ = content_hash(topology, reading.digests, header.stage_names, terminals)
    return Survey(
        process_id=process_id or header.process_id or derived_process_id(hash_),
        header=header,
        topology=topology,
        digests=reading.digests,
        roles=topology.roles({topology.numbers[name] for name in terminals}),
        terminals=terminals,
        hash=hash_,
        claims=claims,
        warnings=(*header.warnings, *_warnings(reading, repeated), *claim_warnings),
    )


def _read(
    source: ProcessInput, max_node_text: int, on_record: Callable[[int], None] | None
) -> _Reading:
    reading = _Reading(max_node_text)
    waiting: list[EdgeRecord] = []
    for count, record in enumerate(source.records(), start=1):
        if isinstance(record, NodeRecord):
            reading.add_node(record)
        elif isinstance(record, EdgeRecord):
            reading.add_edge(record, waiting)
        elif isinstance(record, ClaimRecord):
            reading.claims.append(record)
        elif isinstance(record, Remark):
            reading.remarks[record.message] = None
        else:
            reading.violations.append(record)
        if on_record is not None and count % 1_000 == 0:
            on_record(count)
    late: list[EdgeRecord] = []
    for edge in waiting:
        reading.add_edge(edge, late)
    reading.violations += [violation for edge in late for violation in _unknown_ends(edge, reading)]
    return reading


def _text_fault(node: NodeRecord, max_node_text: int) -> Violation | None:
    try:
        size = len(node.text.encode("utf-8"))
        node.node_id.encode("utf-8")
    except UnicodeEncodeError:
        message = "text holds a lone surrogate, which is no character and cannot be stored"
        return Violation("lone_surrogate", node.where, message)
    if size > max_node_text:
        message = (
            f"text is {size:,} bytes long; the limit is {max_node_text:,} (VERITRAIL_MAX_NODE_TEXT)"
        )
        return Violation("text_too_long", node.where, message)
    return None


def _self_loop(edge: EdgeRecord) -> Violation:
    where = f"{edge.where} {rules.edge_place(edge.source, edge.target)}"
    return Violation("self_loop", where, "a node cannot be an input to itself")


def _unknown_ends(edge: EdgeRecord, reading: _Reading) -> list[Violation]:
    where = f"{edge.where} {rules.edge_place(edge.source, edge.target)}"
    known = reading.topology.numbers
    return [
        Violation("unknown_node", where, f"no node has the {key} node_id {shown(name)}")
        for key, name in (("source", edge.source), ("target", edge.target))
        if name not in known
    ]


def _check_shape(topology: Topology) -> tuple[bool, list[Violation]]:
    """All rules of stages and cycles; whether every node has a stage now."""
    violations = rules.check_edge_count(topology)
    violations += rules.check_stages_complete(topology)
    order = topology.topological_order()
    cycles = rules.check_acyclic(topology, order)
    violations += cycles
    given = sum(stage != NO_STAGE for stage in topology.stages)
    if given == len(topology.ids):
        return True, violations + rules.check_stage_order(topology)
    if given == 0 and not cycles:
        topology.stages = rules.derive_stages(topology, order)
        return True, violations
    return False, violations


def _warnings(reading: _Reading, repeated: int) -> list[str]:
    warnings = list(reading.remarks)
    if reading.empty_texts:
        names = ", ".join(shown(name) for name in reading.empty_texts[:5])
        more = f" and {len(reading.empty_texts) - 5} more" if len(reading.empty_texts) > 5 else ""
        warnings.append(f"{len(reading.empty_texts)} node(s) have an empty text: {names}{more}")
    if repeated:
        warnings.append(f"{repeated} edge(s) stand more than once; each is kept once")
    return warnings


def _invalid(violations: list[Violation]) -> InvalidProcess:
    kept = rules.first(violations, MAX_VIOLATIONS_OF_A_KIND)
    count = len(violations)
    return InvalidProcess(
        f"The process breaks {count} rule{'' if count == 1 else 's'}; nothing was stored", kept
    )
