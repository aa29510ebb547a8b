"""The shape of a process, without its texts: ids, edges, stages, roles.

Nodes are numbered in the order of the input and edges are kept as two integer arrays, so
that a process of a million edges takes megabytes and not gigabytes.

Source: VeriTrail 2 (processes as directed acyclic graphs; stages).
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import eq, lt

from veritrail_graph.graph.content_hash import Digests
from veritrail_graph.graph.importers.records import Header
from veritrail_graph.graph.model import NO_FACTS, EdgeFacts, Origin, Role
from veritrail_graph.graph.sorting import sorted_parts

NO_STAGE = -1
"""The stage, in `Topology.stages`, of a node whose stage the input does not give."""


@dataclass(slots=True)
class Topology:
    """Nodes by number, edges by the numbers of their ends.

    Attributes:
        ids: node_id by number.
        numbers: Number by node_id.
        stages: Stage by number, or NO_STAGE.
        edge_sources: Number of the source, by edge; each edge once.
        edge_targets: Number of the target, by edge.
        facts: What is known of an edge besides its ends, for the edges where that is anything.
        origins: Where the text comes from, by number, for the nodes of which the input says so.
        made: Whether the node names the model or the prompt that wrote it, by number (0 or 1).
    """

    ids: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    stages: array[int] = field(default_factory=lambda: array("q"))
    edge_sources: array[int] = field(default_factory=lambda: array("I"))
    edge_targets: array[int] = field(default_factory=lambda: array("I"))
    facts: dict[int, EdgeFacts] = field(default_factory=dict)
    origins: dict[int, Origin] = field(default_factory=dict)
    made: bytearray = field(default_factory=bytearray)
    _in_degrees: array[int] | None = field(default=None, compare=False, repr=False)

    def copy(self) -> Topology:
        """Return the same shape, to be added to."""
        return Topology(
            list(self.ids),
            dict(self.numbers),
            array("q", self.stages),
            array("I", self.edge_sources),
            array("I", self.edge_targets),
            dict(self.facts),
            dict(self.origins),
            bytearray(self.made),
        )

    def add_node(
        self,
        node_id: str,
        stage: int | None,
        origin: Origin | None = None,
        *,
        is_made: bool = False,
    ) -> int:
        """Number a node that is not there yet."""
        self._in_degrees = None
        number = len(self.ids)
        self.ids.append(node_id)
        self.numbers[node_id] = number
        self.stages.append(NO_STAGE if stage is None else stage)
        self.made.append(is_made)
        if origin is not None:
            self.origins[number] = origin
        return number

    def add_nodes(
        self, node_ids: Sequence[str], stages: Iterable[int | None], made: Iterable[bool]
    ) -> bool:
        """Number nodes; False, and nothing is done, where one is named twice or there already."""
        first = len(self.ids)
        numbers = dict(zip(node_ids, range(first, first + len(node_ids)), strict=True))
        if len(numbers) != len(node_ids) or not self.numbers.keys().isdisjoint(numbers):
            return False
        self._in_degrees = None
        self.ids += node_ids
        self.numbers.update(numbers)
        self.stages.extend([NO_STAGE if stage is None else stage for stage in stages])
        self.made.extend(made)
        return True

    def add_edge(self, source: int, target: int, facts: EdgeFacts = NO_FACTS) -> None:
        """Add an edge; `drop_repeated_edges` takes repetitions out afterwards."""
        if facts != NO_FACTS:
            self.facts[len(self.edge_sources)] = facts
        self._in_degrees = None
        self.edge_sources.append(source)
        self.edge_targets.append(target)

    def add_edges(self, sources: Iterable[int], targets: Iterable[int]) -> None:
        """Add edges of which nothing is known besides their ends."""
        self._in_degrees = None
        self.edge_sources.extend(sources)
        self.edge_targets.extend(targets)

    @property
    def edges(self) -> Iterator[tuple[int, int]]:
        """(source, target) of every edge."""
        return zip(self.edge_sources, self.edge_targets, strict=True)

    def drop_repeated_edges(self) -> int:
        """Keep each edge once, sorted by target and then source; return how many were dropped.

        Repetitions are joined as `EdgeFacts.joined` says.
        """
        self._in_degrees = None
        if not self.facts:
            return self._keep_each_once()
        base = max(1, len(self.ids))
        keys = [target * base + source for source, target in self.edges]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        sources, targets, facts = array("I"), array("I"), dict[int, EdgeFacts]()
        previous = (-1, -1)
        for edge in order:
            pair = (self.edge_sources[edge], self.edge_targets[edge])
            told = self.facts.get(edge, NO_FACTS)
            if pair == previous:
                told = facts.pop(len(sources) - 1, NO_FACTS).joined(told)
            else:
                sources.append(pair[0])
                targets.append(pair[1])
                previous = pair
            if told != NO_FACTS:
                facts[len(sources) - 1] = told
        repeated = len(order) - len(sources)
        self.edge_sources, self.edge_targets, self.facts = sources, targets, facts
        return repeated

    def _keep_each_once(self) -> int:
        base, count = max(1, len(self.ids)), len(self.edge_sources)
        keys = (target * base + source for source, target in self.edges)
        sources, targets = array("I"), array("I")
        for some in sorted_parts(keys, base * base, count):
            once = some
            if any(map(eq, some, islice(some, 1, None))):
                once = list(dict.fromkeys(some))
            sources.extend([key % base for key in once])
            targets.extend([key // base for key in once])
        self.edge_sources, self.edge_targets = sources, targets
        return count - len(sources)

    def in_degrees(self) -> array[int]:
        """Number of source nodes, by node; to be read only."""
        if self._in_degrees is None:
            self._in_degrees = _counts(self.edge_targets, len(self.ids))
        return self._in_degrees

    def out_degrees(self) -> array[int]:
        """Number of nodes that this one was an input to, by node."""
        return _counts(self.edge_sources, len(self.ids))

    def origin(self, node: int, in_degree: int) -> Origin:
        """Return the origin of a node's text: as the input says, else by its inputs and maker."""
        return self.origins.get(node) or self._usual_origin(node, in_degree)

    def _usual_origin(self, node: int, in_degree: int) -> Origin:
        return Origin.GENERATED if in_degree or self.made[node] else Origin.SOURCE

    def all_origins(self) -> list[Origin]:
        """Return where the text comes from, by number."""
        if self.origins:
            return [self.origin(node, degree) for node, degree in enumerate(self.in_degrees())]
        generated, source = Origin.GENERATED, Origin.SOURCE
        ends = zip(self.in_degrees(), self.made, strict=True)
        return [generated if degree or made else source for degree, made in ends]

    def is_root(self, node: int, in_degree: int) -> bool:
        """Return whether a node is source text without inputs."""
        return in_degree == 0 and self.origin(node, in_degree) is Origin.SOURCE

    def unsourced(self) -> list[int]:
        """Numbers of the nodes without inputs that are no source text."""
        if not self.origins and 1 not in self.made:
            return []
        return [
            node
            for node, degree in enumerate(self.in_degrees())
            if degree == 0 and not self.is_root(node, degree)
        ]

    def drop_usual_origins(self) -> None:
        """Forget what the input says of origins where the same follows from the rest."""
        if not self.origins:
            return
        degrees = self.in_degrees()
        self.origins = {
            node: origin
            for node, origin in self.origins.items()
            if origin is not self._usual_origin(node, degrees[node])
        }

    def points_forward(self) -> bool:
        """Return whether every edge leads to a node of a higher number: then there is no cycle."""
        return all(map(lt, self.edge_sources, self.edge_targets))

    def stages_rise(self) -> bool:
        """Return whether every edge leads to a higher stage: then there is no cycle."""
        stage = self.stages.__getitem__
        return all(map(lt, map(stage, self.edge_sources), map(stage, self.edge_targets)))

    def topological_order(self) -> array[int]:
        """Nodes so that every edge points forward; shorter than `ids` when there is a cycle."""
        starts, targets = self._targets_by_source()
        waiting = array("q", self.in_degrees())
        order = array("I", (node for node, degree in enumerate(waiting) if degree == 0))
        for node in order:  # grows while it is read
            for target in targets[starts[node] : starts[node + 1]]:
                waiting[target] -= 1
                if waiting[target] == 0:
                    order.append(target)
        return order

    def longest_distances(self, order: array[int]) -> array[int]:
        """Longest distance from a root, by node; `order` is a whole topological order."""
        starts, targets = self._targets_by_source()
        distance = array("q", bytes(8 * len(self.ids)))
        for node in order:
            beyond = distance[node] + 1
            for target in targets[starts[node] : starts[node + 1]]:
                if distance[target] < beyond:
                    distance[target] = beyond
        return distance

    def find_cycle(self, order: array[int]) -> list[str]:
        """One cycle as node_ids, its first node again at the end; `order` did not reach it."""
        outside = bytearray(b"\x01") * len(self.ids)
        for node in order:
            outside[node] = 0
        source_of: dict[int, int] = {}  # every node that is left has a source that is left
        for source, target in self.edges:
            if outside[source] and outside[target]:
                source_of.setdefault(target, source)
        node = next(iter(source_of))
        seen: dict[int, int] = {}
        path: list[int] = []
        while node not in seen:
            seen[node] = len(path)
            path.append(node)
            node = source_of[node]
        loop = [*path[seen[node] :], node]
        return [self.ids[number] for number in reversed(loop)]

    def ancestors(self, node: int) -> set[int]:
        """All nodes with a path to `node`, without itself."""
        starts, sources = self._sources_by_target()
        found: set[int] = set()
        queue = [node]
        while queue:
            here = queue.pop()
            for source in sources[starts[here] : starts[here + 1]]:
                if source not in found:
                    found.add(source)
                    queue.append(source)
        return found

    def roles(self, terminals: set[int]) -> list[Role]:
        """Role by node.

        A node without sources is a root or unsourced, even when it is named as a terminal.
        """
        root, unsourced, intermediate = Role.ROOT, Role.UNSOURCED, Role.INTERMEDIATE
        source = Origin.SOURCE
        roles = [
            intermediate if degree else root if origin is source else unsourced
            for degree, origin in zip(self.in_degrees(), self.all_origins(), strict=True)
        ]
        for node in terminals:
            if roles[node] is intermediate:
                roles[node] = Role.TERMINAL
        return roles

    def _targets_by_source(self) -> tuple[array[int], array[int]]:
        return _grouped(self.edge_sources, self.edge_targets, len(self.ids))

    def _sources_by_target(self) -> tuple[array[int], array[int]]:
        return _grouped(self.edge_targets, self.edge_sources, len(self.ids))


def _counts(ends: array[int], nodes: int) -> array[int]:
    counts = Counter(dict.fromkeys(range(nodes), 0))
    counts.update(ends)
    return array("q", counts.values())


def _grouped(keys: array[int], values: array[int], nodes: int) -> tuple[array[int], array[int]]:
    """Values by key in one array: those of key k are at starts[k] to starts[k + 1]."""
    starts = array("q", bytes(8 * (nodes + 1)))
    for key in keys:
        starts[key + 1] += 1
    for key in range(nodes):
        starts[key + 1] += starts[key]
    free = array("q", starts)
    grouped = array("I", bytes(array("I").itemsize * len(keys)))
    for key, value in zip(keys, values, strict=True):
        grouped[free[key]] = value
        free[key] += 1
    return starts, grouped


@dataclass(frozen=True, slots=True)
class StoredShape:
    """A stored process without its texts: what an appended input is checked against.

    Attributes:
        header: Its header, with terminals, names of stages and warnings of earlier ingests.
        hash: The content hash.
        topology: Its nodes, stages and edges; nodes are numbered in the order of their position.
        digests: `node_digest` by number.
        lengths: Length of the text in characters, by number.
        next_position: The position of the next node.
    """

    header: Header
    hash: str
    topology: Topology
    digests: Digests
    lengths: array[int]
    next_position: int

    @property
    def terminals(self) -> tuple[str, ...]:
        """node_ids of the terminals."""
        return self.header.terminals or ()
