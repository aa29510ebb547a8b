"""The rules that a process must keep: checked in the first reading, before anything is stored.

What stays of an input is the shape of the process, one hash and one length a node, and the
claims; of a small input also the nodes themselves. An input that is appended to a stored
process is checked together with it: the same rules hold for both as for one input.

Every check finds all violations of its rules, so that a user can correct them in one go.
Rules about a single record (types, lengths, ids) are checked by the reader of the process file.

Source: VeriTrail 2 (acyclic; stage(v) >= stage(u) on every edge; roots have the minimal
stage, the terminal node the maximal one); 3.1 (claims are extracted from a node that the
process produced).
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from veritrail_graph.graph.content_hash import (
    Digests,
    content_hash,
    derived_process_id,
)
from veritrail_graph.graph.contract import RECORDED
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InvalidProcess, Violation, Violations, shown
from veritrail_graph.graph.importers.records import Header, NodeRecord, ProcessInput
from veritrail_graph.graph.ingest.claims import check_claims
from veritrail_graph.graph.ingest.read import Gathering, edge_place, gather
from veritrail_graph.graph.ingest.topology import NO_STAGE, StoredShape, Topology
from veritrail_graph.graph.model import Claim, Inference, Origin, Role

_OF_WHAT_IS_MISSING = frozenset(
    {
        "unknown_node",
        "unknown_terminal",
        "no_edges",
        "claim_on_root",
        "claim_without_node",
        "root_stage",
        "unsourced",
    }
)
"""Violations that may only say that a node or an edge is missing."""
_PLACES_NAMED = 3

MAX_NODE_TEXT = 10_000_000
"""The longest text of a node, in bytes of UTF-8, unless a setting says otherwise."""


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
        origins: Where its text comes from, by number of the node.
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
    digests: Digests
    lengths: array[int]
    roles: list[Role]
    origins: list[Origin]
    terminals: tuple[str, ...]
    hash: str
    claims: tuple[Claim, ...]
    warnings: tuple[str, ...]
    kept: Sequence[NodeRecord] | None = None
    onto: StoredShape | None = None

    @property
    def nodes(self) -> int:
        """Return how many nodes the process has."""
        return len(self.topology.ids)

    @property
    def edges(self) -> int:
        """Return how many edges it has."""
        return len(self.topology.edge_sources)

    @property
    def stages(self) -> dict[int, int]:
        """Number of nodes by stage, the lowest first."""
        return dict(sorted(Counter(self.topology.stages).items()))

    @property
    def unsourced(self) -> int:
        """Return how many nodes have no recorded inputs and are no source text."""
        return self.roles.count(Role.UNSOURCED)

    @property
    def inferred_edges(self) -> dict[str, int]:
        """Return how many edges the input does not name, by how they were found."""
        counts = dict.fromkeys((one.value for one in Inference), 0)
        for facts in self.topology.facts.values():
            if facts.inferred is not None:
                counts[facts.inferred] += 1
        return counts

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
    strict: bool = False,
    on_record: Callable[[int], None] | None = None,
) -> Survey:
    """Read an input once and check every rule of a process.

    Args:
        source: The input.
        process_id: Used in place of the input's own.
        max_node_text: The longest text of a node, in bytes of UTF-8.
        onto: The stored process that the input is appended to; the rules hold for both as one.
        strict: Whether generated text without recorded inputs breaks a rule.
        on_record: Called now and then with the number of records read so far.

    Raises:
        InvalidProcess: It breaks rules; all violations are listed.
    """
    found = gather(source, max_node_text, onto, on_record)
    violations, topology = found.violations, found.topology
    if not topology.ids:
        if violations.kinds <= {"unknown_node"}:  # no broken node
            why = source.header.empty_because or "a process has at least one node"
            missing = Violations([Violation("no_nodes", "nodes", why)])
            missing += violations
            violations = missing
        raise refused(violations, [*found.unread])
    if violations.is_over:
        raise refused(violations, [*found.unread])
    repeated = topology.drop_repeated_edges()
    header, header_faults = _header(source.header, onto)
    violations += header_faults
    violations += _origins(found)
    if strict:
        violations += check_sourced(topology)
    # A program that was stopped early has recorded what it read, and nothing from it.
    of_format = source.header.source_format == RECORDED
    may_lack_edges = of_format or source.header.may_lack_edges
    stages_known, shape = _check_shape(found, may_lack_edges=may_lack_edges)
    violations += shape
    terminals, of_claims, wrong = _terminals(found, source.header, stages_known, shape)
    violations += wrong
    claims, claim_violations, claim_warnings = check_claims(
        found.claims, topology, found.lengths, of_claims
    )
    violations += claim_violations
    if violations:
        raise refused(violations, [*found.unread])
    terminals = terminals or ()
    roles = topology.roles({topology.numbers[name] for name in terminals})
    hash_ = content_hash(topology, found.digests, header.stage_names, terminals)
    return Survey(
        process_id=process_id or header.process_id or derived_process_id(hash_),
        header=header,
        topology=topology,
        digests=found.digests,
        lengths=found.lengths,
        roles=roles,
        origins=topology.all_origins(),
        terminals=terminals,
        hash=hash_,
        claims=claims,
        warnings=_warnings(found, header, repeated, [*_of_origins(found), *claim_warnings]),
        kept=found.kept,
        onto=onto,
    )


def _origins(found: Gathering) -> Iterator[Violation]:
    """Compare what repeated nodes say of their origin, and keep what does not follow anyway."""
    topology = found.topology
    degrees = topology.in_degrees()
    for node, (origin, where) in found.origins_again.items():
        if topology.origin(node, degrees[node]) is not origin:
            yield Violation(
                "duplicate_node_id",
                where,
                f"this node_id has the origin {topology.origin(node, degrees[node])} already",
            )
    topology.drop_usual_origins()


def _header(given: Header, onto: StoredShape | None) -> tuple[Header, list[Violation]]:
    """The header; for a stored process its own, with names for stages that had none."""
    if onto is None:
        return given, []
    stored = onto.header.stage_names
    faults = [
        Violation(
            "stage_name",
            f"stages[{stage}]",
            f"is named {shown(name)} here and {shown(stored[stage])} in the stored process",
        )
        for stage, name in given.stage_names.items()
        if stored.get(stage, name) != name
    ]
    names = {**given.stage_names, **stored}
    name = _name(given, onto.header)
    return replace(onto.header, name=name, stage_names=names, warnings=given.warnings), faults


def _name(given: Header, stored: Header) -> str | None:
    """The name of a stored process: not that of one question where it holds others too."""
    if not (given.name_of_many and given.question and stored.question and stored.name):
        return stored.name
    names_one = stored.name.endswith(stored.question) and stored.question != given.question
    return given.name_of_many if names_one else stored.name


def _terminals(
    found: Gathering, header: Header, stages_known: bool, shape: Violations
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None, list[Violation]]:
    """The terminals, those that claims without node_id are about, and the broken rules.

    Terminals of a stored process are kept; those of the input are added. An input that names none
    adds the sinks among its own nodes, those of the highest stage.
    """
    topology = found.topology
    stored = found.onto.terminals if found.onto else ()
    given = header.terminals
    if given is None and not stages_known and topology.out_degrees().count(0) != 1:
        return None, None, []
    if given is None:
        likely = default_terminals(topology, found.likely_terminals)
        new = tuple(topology.ids[node] for node in likely)
    else:
        new = given
    own, terminals = (tuple(dict.fromkeys(names)) for names in (new, (*stored, *new)))
    if given is None and found.onto is None:
        return terminals or None, own or None, []
    # Where no edge leads down, no terminal is below an ancestor, and the search is not needed.
    leads_down = stages_known and "stage_order" in shape.kinds
    faults = check_terminals(topology, terminals if given != () else (), compare_stages=leads_down)
    return terminals or None, own or terminals or None, faults


def _check_shape(found: Gathering, *, may_lack_edges: bool) -> tuple[bool, Violations]:
    """Check stages and cycles, and derive stages; whether every node has a stage now."""
    topology = found.topology
    if found.onto is not None and not found.gives_stages:
        _forget_derived_stages(topology, found.onto)
    violations = Violations([] if may_lack_edges else check_edge_count(topology))
    violations += check_stages_complete(topology)
    missing = topology.stages.count(NO_STAGE)
    rise = not missing and topology.stages_rise()
    cycles: list[Violation] = []
    if missing or not (rise or topology.points_forward()):
        order = topology.topological_order()
        cycles = check_acyclic(topology, order)
        violations += cycles
    if not missing:
        violations += check_stage_order(topology, () if rise else topology.edges)
        return True, violations
    if missing == len(topology.ids) and not cycles:
        topology.stages = derive_stages(topology, order)
        return True, violations
    return False, violations


def _forget_derived_stages(topology: Topology, onto: StoredShape) -> None:
    """Remove the stages of a stored process if they were derived, so that all are derived anew.

    Stages count as derived when deriving them gives the same.
    """
    before = onto.topology
    order = before.topological_order()
    if before.stages == derive_stages(before, order):
        topology.stages = array("q", [NO_STAGE]) * len(topology.ids)


MOST_NAMED = 20
"""Ids that a warning names; of more it says how many there are."""


def _of_origins(found: Gathering) -> Iterator[str]:
    """Warnings about new text that does not count as true, and about sources that have inputs."""
    topology = found.topology
    first = 0 if found.onto is None else len(found.onto.digests)
    unsourced = [
        node
        for node in topology.unsourced()  # of what a user said nobody expects inputs
        if node >= first and topology.origins.get(node) is not Origin.GIVEN
    ]
    if unsourced:
        yield (
            counted(
                len(unsourced),
                "node is unsourced: no inputs are recorded and it is no source text, so nothing is "
                "checked against it",
                "nodes are unsourced: no inputs are recorded and they are no source text, so "
                "nothing is checked against them",
            )
            + f": {_some(topology, unsourced)}"
        )
    named = [node for node, origin in topology.origins.items() if origin is Origin.SOURCE]
    degrees = topology.in_degrees() if named else ()
    odd = [node for node in named if node >= first and degrees[node]]
    if odd:
        yield (
            counted(len(odd), "node is", "nodes are")
            + " named as source text, but with inputs, and checked against these like generated "
            f"text: {_some(topology, odd)}"
        )


def _some(topology: Topology, nodes: Sequence[int]) -> str:
    names = ", ".join(shown(topology.ids[node]) for node in nodes[:MOST_NAMED])
    return names if len(nodes) <= MOST_NAMED else f"{names} and {len(nodes) - MOST_NAMED} more"


def _warnings(
    found: Gathering, header: Header, repeated: int, of_claims: list[str]
) -> tuple[str, ...]:
    warnings = [*header.warnings, *found.remarks]
    if found.empty_texts:
        names = ", ".join(shown(name) for name in found.empty_texts[:5])
        more = f" and {len(found.empty_texts) - 5} more" if len(found.empty_texts) > 5 else ""
        nodes = counted(len(found.empty_texts), "node has", "nodes have")
        warnings.append(f"{nodes} an empty text: {names}{more}")
    if repeated and found.onto is None:  # an appended input may repeat what is stored
        warnings.append(f"{counted(repeated, 'edge is', 'edges are')} repeated; each is kept once")
    warnings += found.hidden.warnings()
    return tuple(dict.fromkeys((*warnings, *of_claims)))  # an exported process has some already


def check_sourced(topology: Topology) -> Iterator[Violation]:
    """No text that the process wrote is without its inputs; only a strict ingest asks for it."""
    for node in topology.unsourced():
        yield Violation(
            "unsourced",
            f"node {shown(topology.ids[node])}",
            "has no inputs and is no source text; record its inputs, or give it "
            '"origin": "source" if it counts as true',
        )


FIRST_STAGE = 1
"""The stage of roots when the input gives no stages."""


def check_stages_complete(topology: Topology) -> list[Violation]:
    """Every node has a stage, or none has."""
    without = [node for node, stage in enumerate(topology.stages) if stage == NO_STAGE]
    if not without or len(without) == len(topology.ids):
        return []
    names = ", ".join(shown(topology.ids[node]) for node in without[:5])
    more = f" and {len(without) - 5} more" if len(without) > 5 else ""
    return [
        Violation(
            "stages_incomplete",
            "nodes",
            f"{len(without)} of {len(topology.ids)} nodes have no stage ({names}{more}); "
            "give every node a stage or none",
        )
    ]


def check_acyclic(topology: Topology, order: array[int]) -> list[Violation]:
    """No node is an input to itself, directly or not."""
    if len(order) == len(topology.ids):
        return []
    cycle = topology.find_cycle(order)
    names = [shown(name) for name in cycle]
    if len(names) > 20:
        names = [*names[:10], f"… {len(names) - 20} more …", *names[-10:]]
    return [Violation("cycle", "edges", "the edges form a cycle: " + " -> ".join(names))]


def derive_stages(topology: Topology, order: array[int]) -> array[int]:
    """Stages for an input without any: roots 1, others 1 + longest distance from a root."""
    distances = topology.longest_distances(order)
    return array("q", (FIRST_STAGE + distance for distance in distances))


def check_stage_order(topology: Topology, edges: Iterable[tuple[int, int]]) -> Iterator[Violation]:
    """No edge leads to a lower stage; every root has the minimal stage of the process.

    Unsourced nodes may stand at any stage, also below that of the roots.

    Args:
        topology: The shape of the process.
        edges: Those that may lead to a lower stage.
    """
    ids, stages = topology.ids, topology.stages
    for source, target in edges:
        if stages[target] < stages[source]:
            yield Violation(
                "stage_order",
                edge_place(ids[source], ids[target]),
                f"leads from stage {stages[source]} down to stage {stages[target]}; "
                "the stage of a target must not be below that of its source",
            )
    unsourced = set(topology.unsourced())
    lowest = min((stage for node, stage in enumerate(stages) if node not in unsourced), default=0)
    for node, degree in enumerate(topology.in_degrees()):
        if degree == 0 and stages[node] != lowest and node not in unsourced:
            yield Violation(
                "root_stage",
                f"node {shown(ids[node])}",
                f"is a root of stage {stages[node]}, but the lowest stage of the process is "
                f"{lowest}; roots must have the lowest stage, or need an edge from their source",
            )


def default_terminals(topology: Topology, among: Iterable[int] | None = None) -> list[int]:
    """The only sink; with several sinks, those of the maximal stage among them."""
    out_degrees = topology.out_degrees()
    nodes = range(len(topology.ids)) if among is None else sorted(among)
    sinks = [node for node in nodes if out_degrees[node] == 0]
    if len(sinks) <= 1:
        return sinks
    highest = max(topology.stages[node] for node in sinks)
    return [node for node in sinks if topology.stages[node] == highest]


def check_terminals(
    topology: Topology, terminals: Sequence[str], *, compare_stages: bool
) -> list[Violation]:
    """There is a terminal; each is known, has no outgoing edge and no ancestor of a higher stage.

    The last rule needs all ancestors; it is checked only with `compare_stages`.
    """
    if not terminals:
        message = "terminals is empty; name at least one, or leave the key out"
        return [Violation("no_terminals", "terminals", message)]
    violations = []
    out_degrees = topology.out_degrees()
    for place, name in enumerate(terminals):
        where = f"terminals[{place}] {shown(name)}"
        number = topology.numbers.get(name)
        if number is None:
            violations.append(Violation("unknown_terminal", where, "no node has this node_id"))
            continue
        if out_degrees[number]:
            violations.append(
                Violation(
                    "terminal_with_outgoing_edge",
                    where,
                    f"has {out_degrees[number]} outgoing edge(s); a terminal has none",
                )
            )
        if compare_stages:
            violations += _terminal_stage(topology, number, where)
    return violations


def _terminal_stage(topology: Topology, terminal: int, where: str) -> list[Violation]:
    stage = topology.stages[terminal]
    higher = [node for node in topology.ancestors(terminal) if topology.stages[node] > stage]
    if not higher:
        return []
    example = min(higher)
    return [
        Violation(
            "terminal_stage",
            where,
            f"has stage {stage}, below {len(higher)} of its ancestors (for example "
            f"{shown(topology.ids[example])} of stage {topology.stages[example]}); "
            "the stage of a terminal is the highest among its ancestors",
        )
    ]


def check_edge_count(topology: Topology) -> list[Violation]:
    """A process of more than one node has an edge."""
    if len(topology.ids) > 1 and not topology.edge_sources:
        return [
            Violation(
                "no_edges",
                "edges",
                f"{len(topology.ids)} nodes and no edge; edges may be empty only when there is "
                "one node",
            )
        ]
    return []


def refused(violations: Violations, unread: Sequence[str] = ()) -> InvalidProcess:
    """The error for an input that breaks rules.

    Args:
        violations: The broken rules.
        unread: Places of nodes and edges that could not be read.
    """
    more = "more than " if violations.is_over else ""
    message = f"The process breaks {more}{counted(len(violations), 'rule')}; nothing was stored"
    if unread and violations.kinds & _OF_WHAT_IS_MISSING:
        more = f" and {len(unread) - _PLACES_NAMED:,} more" if len(unread) > _PLACES_NAMED else ""
        places = ", ".join(unread[:_PLACES_NAMED]) + more
        message += f". What seems to be missing may be in {places}, which could not be read"
    return InvalidProcess(message, violations)
