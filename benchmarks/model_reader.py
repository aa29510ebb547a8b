"""How much of the paper-size process a walk reads, with a simulated selective reader.

No model and no engine: the walk itself (`verifier.walk`) is driven over the generated process
in memory. What the reader knows is assumed: a node that bears on a claim rests on a few of
its source nodes, the others do not bear on it, and now and then one of those is selected all
the same. A claim that is not supported came in at some stage; what lies below says nothing of
it. The figures stand beside the paper's, whose claims and graphs were others.

Source: VeriTrail D (47 % and 38 % of FABLES+, 1 % and 0.3 % of DiverseSumm+, q = 3 and 1).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks import dag
from benchmarks.report import Line
from veritrail_graph.graph.model import (
    CitedSentence,
    Evidence,
    NodeRef,
    Role,
    Sentence,
    Verdict,
    in_order,
)
from veritrail_graph.verifier.ports import Judgement, Selection, SourceNodes
from veritrail_graph.verifier.walk import Answer, Need, NeedEvidence, NeedSources, walk

CLAIMS = 200
RESTS_ON = 2
"""Source nodes that bear on a claim, of a node that does."""
STRAY = 0.01
"""Share of the other nodes of a frontier that are selected all the same."""
UNSUPPORTED = 0.4
"""Share of claims that are not supported; the stage they came in at is drawn evenly."""
PAPER = {1: "0.3 %", 2: "not given", 3: "1 %"}


@dataclass(frozen=True, slots=True)
class Process:
    """The generated process, without texts.

    Attributes:
        refs: Nodes by node_id.
        sources: node_ids of the source nodes of every node that has some.
        terminal: The final output.
    """

    refs: dict[str, NodeRef]
    sources: dict[str, tuple[str, ...]]
    terminal: NodeRef

    @classmethod
    def generated(cls, scale: float = 1.0) -> Process:
        """The process that `benchmarks.dag` writes."""
        shape = dag.Shape.of(scale)
        sources: dict[str, list[str]] = {}
        for source, target in dag.edges(shape):
            sources.setdefault(target, []).append(source)
        last = len(shape.stages) - 1
        refs: dict[str, NodeRef] = {}
        for stage, count in enumerate(shape.stages):
            role = Role.INTERMEDIATE if stage else Role.ROOT
            for place in range(count):
                name = dag.node_id(stage, place)
                is_last = stage == last
                refs[name] = NodeRef(name, stage + 1, len(refs), Role.TERMINAL if is_last else role)
        terminal = refs[dag.node_id(last, 0)]
        return cls(refs, {name: tuple(found) for name, found in sources.items()}, terminal)

    def source_nodes(self, of: tuple[NodeRef, ...]) -> SourceNodes:
        """What the walk is answered."""
        sources = {ref.node_id: self.sources[ref.node_id] for ref in of}
        nodes = {name for names in sources.values() for name in names}
        return SourceNodes(in_order(self.refs[name] for name in nodes), sources)


class Reader:
    """Knows which nodes bear on one claim.

    Args:
        process: The process.
        draw: Where chance comes from.
    """

    def __init__(self, process: Process, draw: random.Random) -> None:
        self._draw = draw
        stages = process.terminal.stage
        # Supported: down to the roots. Else: down to above the stage where it came in.
        ends_above = draw.randint(2, stages) if draw.random() < UNSUPPORTED else 1
        self._bears: set[str] = set()
        layer = {process.terminal.node_id}
        while layer:
            below = {
                name
                for node in sorted(layer)
                for name in self._some(process.sources.get(node, ()))
                if process.refs[name].stage >= ends_above
            }
            layer = below - self._bears
            self._bears |= below
        self._found_truth = False

    def _some(self, names: tuple[str, ...]) -> list[str]:
        return self._draw.sample(names, min(RESTS_ON, len(names)))

    def select(self, nodes: tuple[NodeRef, ...]) -> Selection:
        """One sentence of each node that bears on the claim, and of a stray one."""
        names = [
            ref.node_id
            for ref in nodes
            if ref.node_id in self._bears or self._draw.random() < STRAY
        ]
        self._found_truth = not self._bears.isdisjoint(names)
        cited = tuple(CitedSentence.of(Sentence(name, 0, 0, 1, "x")) for name in names)
        return (
            Selection((Evidence(text="What they say.", sentences=cited),)) if cited else Selection()
        )

    def bears(self, node_id: str) -> bool:
        """Whether a node bears on the claim."""
        return node_id in self._bears

    def judge(self) -> Judgement:
        """Supported by what bears on the claim, not by what is stray."""
        verdict = Verdict.FULLY_SUPPORTED if self._found_truth else Verdict.NOT_FULLY_SUPPORTED
        return Judgement(verdict, "simulated")


def read_share(process: Process, q: int, claims: int = CLAIMS) -> tuple[float, float]:
    """Nodes that a walk reads, on average, and how many rounds it takes."""
    visited = rounds = 0
    for number in range(claims):
        reader = Reader(process, random.Random(f"claim {number}"))
        read, taken = _walk(process, reader, q)
        visited, rounds = visited + read, rounds + taken
    return visited / claims, rounds / claims


def _walk(process: Process, reader: Reader, q: int) -> tuple[int, int]:
    steps = walk(process.terminal, q)
    answer: Answer | None = None
    while True:
        try:
            need = steps.send(answer) if answer is not None else next(steps)
        except StopIteration as done:
            iterations = done.value.iterations
            return sum(len(each.checked) for each in iterations), len(iterations)
        answer = _answer(need, process, reader)


def _answer(need: Need, process: Process, reader: Reader) -> Answer:
    if isinstance(need, NeedSources):
        return process.source_nodes(need.of)
    return reader.select(need.nodes) if isinstance(need, NeedEvidence) else reader.judge()


def lines(scale: float = 1.0) -> Iterator[Line]:
    """A line for each q."""
    process = Process.generated(scale)
    total = len(process.refs)
    for q in (1, 2, 3):
        nodes, rounds = read_share(process, q)
        yield Line(
            f"paper-size process, q = {q}: nodes read a claim",
            nodes,
            "nodes",
            note=(
                f"{nodes / total:.2%} of {total:,} in {rounds:.1f} iterations, simulated reader "
                f"(paper, DiverseSumm+: {PAPER[q]})"
            ),
        )
