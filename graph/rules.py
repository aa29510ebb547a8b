"""The rules that a process must keep, each with the violations that it finds.

Every function looks at a whole process and returns all violations of its rules, so that
a user mends them in one go. Rules about a single record (types, lengths, ids) stand with
the reader of the process file; those here need the whole graph.

Source: VeriTrail 2 (acyclic; stage(v) >= stage(u) on every edge; roots have the minimal
stage, the terminal node the maximal one).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from veritrail_graph.graph.errors import Violation
from veritrail_graph.graph.topology import NO_STAGE, Topology

FIRST_STAGE = 1
"""The stage of roots when the input gives no stages."""


def shown(node_id: str) -> str:
    """A node_id in quotes, cut when it is long, fit for one line of a terminal."""
    return repr(node_id if len(node_id) <= 80 else f"{node_id[:77]}...")


def edge_place(source: str, target: str) -> str:
    """How an edge is named in messages."""
    return f"edge {shown(source)} -> {shown(target)}"


def check_stages_complete(topology: Topology) -> list[Violation]:
    """Stages stand on every node or on none."""
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


def check_stage_order(topology: Topology) -> list[Violation]:
    """No edge leads to a lower stage; every root has the minimal stage of the process."""
    ids, stages = topology.ids, topology.stages
    violations = [
        Violation(
            "stage_order",
            edge_place(ids[source], ids[target]),
            f"leads from stage {stages[source]} down to stage {stages[target]}; "
            "the stage of a target must not be below that of its source",
        )
        for source, target in topology.edges
        if stages[target] < stages[source]
    ]
    lowest = min(stages)
    violations += [
        Violation(
            "root_stage",
            f"node {shown(ids[node])}",
            f"is a root of stage {stages[node]}, but the lowest stage of the process is {lowest}; "
            "roots must have the lowest stage, or need an edge from their source",
        )
        for node, degree in enumerate(topology.in_degrees())
        if degree == 0 and stages[node] != lowest
    ]
    return violations


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
    """There is one; terminals are known, have no outgoing edge, and no ancestor of a higher stage.

    The last needs a look at all ancestors; `compare_stages` says whether to take it.
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
    """More than one node and no edge is no process."""
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


def first(violations: Iterable[Violation], most: int) -> list[Violation]:
    """At most so many violations of one kind, and one that counts the rest."""
    kept: list[Violation] = []
    counts: dict[str, int] = {}
    for violation in violations:
        counts[violation.kind] = counts.get(violation.kind, 0) + 1
        if counts[violation.kind] <= most:
            kept.append(violation)
    for kind, count in counts.items():
        if count > most:
            kept.append(Violation(kind, "", f"and {count - most} more of this kind"))
    return kept
