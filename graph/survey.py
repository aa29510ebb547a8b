"""The first reading of an input: everything is checked, nothing is stored.

What stays is the shape of the process, one hash and one length a node, and the claims;
of a small input also the nodes themselves. An input that is appended to a stored process
is checked together with it: the same rules hold for both as for one input.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from veritrail_graph.graph import rules
from veritrail_graph.graph.claims import check_claims
from veritrail_graph.graph.content_hash import content_hash, derived_process_id
from veritrail_graph.graph.errors import InvalidProcess, Violation
from veritrail_graph.graph.gathering import Gathering, gather
from veritrail_graph.graph.importers.records import Header, NodeRecord, ProcessInput
from veritrail_graph.graph.model import Claim, Role
from veritrail_graph.graph.rules import shown
from veritrail_graph.graph.stored_shape import StoredShape
from veritrail_graph.graph.topology import NO_STAGE, Topology

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
        lengths: Length of the text in characters, by number.
        roles: Role by number of the node.
        terminals: node_ids of the terminals.
        hash: The content hash.
        claims: Its claims, with ids and nodes filled in; of an appended input only its own.
        warnings: The input's own and those of the check.
        kept: The nodes that are not stored yet, None where they are too large to be kept.
        onto: The stored process that the input is appended to, whose nodes come first.
    """

    process_id: str
    header: Header
    topology: Topology
    digests: list[bytes]
    lengths: array[int]
    roles: list[Role]
    terminals: tuple[str, ...]
    hash: str
    claims: tuple[Claim, ...]
    warnings: tuple[str, ...]
    kept: list[NodeRecord] | None = None
    onto: StoredShape | None = None

    @property
    def first_new(self) -> int:
        """Number of the first node that is not stored yet."""
        return 0 if self.onto is None else len(self.onto.digests)


def survey(
    source: ProcessInput,
    *,
    process_id: str | None = None,
    max_node_text: int = MAX_NODE_TEXT,
    onto: StoredShape | None = None,
    on_record: Callable[[int], None] | None = None,
) -> Survey:
    """Read an input once and check every rule of a process.

    Args:
        source: The input.
        process_id: Takes the place of the input's own.
        max_node_text: The longest text of a node, in bytes of UTF-8.
        onto: The stored process that the input is appended to; the rules hold for both as one.
        on_record: Told the number of records read so far, now and then.

    Raises:
        InvalidProcess: It breaks rules; all violations are listed.
    """
    found = gather(source, max_node_text, onto, on_record)
    violations, topology = found.violations, found.topology
    if not topology.ids:
        if all(each.kind == "unknown_node" for each in violations):  # no node was there and wrong
            violations.insert(0, Violation("no_nodes", "nodes", "a process has at least one node"))
        raise _invalid(violations)
    repeated = topology.drop_repeated_edges()
    header, header_faults = _header(source.header, onto)
    violations += header_faults
    stages_known, shape = _check_shape(found)
    violations += shape
    terminals, spoken_of, wrong = _terminals(found, source.header, stages_known, shape)
    violations += wrong
    claims, claim_violations, claim_warnings = check_claims(
        found.claims, topology, found.lengths, spoken_of
    )
    violations += claim_violations
    if violations:
        raise _invalid(violations)
    terminals = terminals or ()
    hash_ = content_hash(topology, found.digests, header.stage_names, terminals)
    return Survey(
        process_id=process_id or header.process_id or derived_process_id(hash_),
        header=header,
        topology=topology,
        digests=found.digests,
        lengths=found.lengths,
        roles=topology.roles({topology.numbers[name] for name in terminals}),
        terminals=terminals,
        hash=hash_,
        claims=claims,
        warnings=_warnings(found, header, repeated, claim_warnings),
        kept=found.kept,
        onto=onto,
    )


def _header(given: Header, onto: StoredShape | None) -> tuple[Header, list[Violation]]:
    """The header; of a stored process its own, with names of stages that have none yet."""
    if onto is None:
        return given, []
    faults = [
        Violation(
            "stage_name",
            f"stages[{stage}]",
            f"is named {shown(name)} here and {shown(onto.stage_names[stage])} where it is stored",
        )
        for stage, name in given.stage_names.items()
        if onto.stage_names.get(stage, name) != name
    ]
    names: Mapping[int, str] = {**given.stage_names, **onto.stage_names}
    header = Header(
        source_format=onto.source_format,
        process_id=onto.process_id,
        name=onto.name,
        question=onto.question,
        stage_names=names,
        warnings=given.warnings,
    )
    return header, faults


def _terminals(
    found: Gathering, header: Header, stages_known: bool, shape: list[Violation]
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None, list[Violation]]:
    """The terminals, those that claims without node_id speak of, and what is wrong with them.

    Terminals of a stored process stay; those of the input are added. An input that names none
    adds the sinks among its own nodes, those of the highest stage.
    """
    topology = found.topology
    stored = found.onto.terminals if found.onto else ()
    given = header.terminals
    if given is None and not stages_known and topology.out_degrees().count(0) != 1:
        return None, None, []
    if given is None:
        likely = rules.default_terminals(topology, found.likely_terminals)
        new = tuple(topology.ids[node] for node in likely)
    else:
        new = given
    own, terminals = (tuple(dict.fromkeys(names)) for names in (new, (*stored, *new)))
    if given is None and found.onto is None:
        return terminals or None, own or None, []
    # Where no edge leads down, no terminal stands below an ancestor: nothing to look for.
    leads_down = stages_known and any(each.kind == "stage_order" for each in shape)
    faults = rules.check_terminals(
        topology, terminals if given != () else (), compare_stages=leads_down
    )
    return terminals or None, own or terminals or None, faults


def _check_shape(found: Gathering) -> tuple[bool, list[Violation]]:
    """All rules of stages and cycles; whether every node has a stage now."""
    topology = found.topology
    if found.onto is not None and not found.gives_stages:
        _forget_derived_stages(topology, found.onto)
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


def _forget_derived_stages(topology: Topology, onto: StoredShape) -> None:
    """Stages that nobody gave are derived anew for the whole, when the input gives none either.

    Those are stages that are what would be derived.
    """
    before = onto.topology
    order = before.topological_order()
    if before.stages == rules.derive_stages(before, order):
        topology.stages = array("q", [NO_STAGE]) * len(topology.ids)


def _warnings(
    found: Gathering, header: Header, repeated: int, of_claims: list[str]
) -> tuple[str, ...]:
    warnings = [*header.warnings, *found.remarks]
    if found.empty_texts:
        names = ", ".join(shown(name) for name in found.empty_texts[:5])
        more = f" and {len(found.empty_texts) - 5} more" if len(found.empty_texts) > 5 else ""
        warnings.append(f"{len(found.empty_texts)} node(s) have an empty text: {names}{more}")
    if repeated and found.onto is None:  # what is appended may well repeat what is stored
        warnings.append(f"{repeated} edge(s) stand more than once; each is kept once")
    return tuple(dict.fromkeys((*warnings, *of_claims)))  # an export brings some along


def _invalid(violations: list[Violation]) -> InvalidProcess:
    kept = rules.first(violations, MAX_VIOLATIONS_OF_A_KIND)
    count = len(violations)
    return InvalidProcess(
        f"The process breaks {count} rule{'' if count == 1 else 's'}; nothing was stored", kept
    )
