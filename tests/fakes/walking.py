"""Drivers of the pure walk: answers from a table, or from a judge over a process in memory."""

from __future__ import annotations

import random
from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, field, replace

from fakes.dag import Dag, DagSource
from fakes.scripted_judge import select

from veritrail_graph.graph.model import Claim, ErrorLocation, EvidencePath, Iteration, Verdict
from veritrail_graph.verifier.localization import evidence_paths, locate_error
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import (
    Found,
    Judge,
    Judgement,
    NodeSource,
    Selection,
    SourceNodes,
)
from veritrail_graph.verifier.walk import (
    Answer,
    Finished,
    Need,
    NeedEvidence,
    NeedSources,
    NeedVerdict,
    Outcome,
    walk,
)


@dataclass
class Walker:
    """One walk over a `Dag`, step by step.

    Evidence lies in `finds`; iteration n gets verdict number n of `verdicts`, which begin
    again at their end. `shuffle` answers in a random order, as engines and prompts may.
    `silence` is said with every selection, as a judge does who does not understand texts.
    `needs` keeps everything that was asked, `finished` what was announced; `outcome` is there in
    the end.
    """

    dag: Dag
    target: str
    q: int
    finds: Collection[str]
    verdicts: Sequence[Verdict | None]
    shuffle: random.Random | None = None
    silence: str | None = None
    needs: list[Need] = field(default_factory=list)
    finished: list[Iteration] = field(default_factory=list)
    outcome: Outcome | None = None

    def __post_init__(self) -> None:
        self._walk: Generator[Need, Answer, Outcome] = walk(self.dag.refs[self.target], self.q)
        self._next(None)

    def step(self) -> None:
        """Answer what is needed now."""
        self._next(self._answer(self.needs[-1]))

    def run(self) -> Outcome:
        """Answer until the end."""
        while self.outcome is None:
            self.step()
        return self.outcome

    def _next(self, answer: Answer) -> None:
        try:
            need = self._walk.send(answer)
            while isinstance(need, Finished):
                self.finished.append(need.iteration)
                need = self._walk.send(None)
            self.needs.append(need)
        except StopIteration as done:
            self.outcome = done.value

    def _answer(self, need: Need) -> Answer:
        if isinstance(need, NeedSources):
            of = [ref.node_id for ref in need.of]
            dag = self.dag
            answer = dag.source_nodes(of) if need.will_read else dag.left(of, need.checked)
            return answer if self.shuffle is None else shuffled_sources(answer, self.shuffle)
        if isinstance(need, NeedEvidence):
            selection = select(dict.fromkeys(self.finds, (0,)), self.dag.read(need.nodes))
            selection = replace(selection, silence=self.silence)
            return selection if self.shuffle is None else shuffled(selection, self.shuffle)
        rounds = sum(isinstance(each, NeedEvidence) for each in self.needs)
        verdict = self.verdicts[(rounds - 1) % len(self.verdicts)]
        return Judgement(verdict, f"round {rounds}")


def shuffled_sources(answer: SourceNodes, by: random.Random) -> SourceNodes:
    """The same answer in another order."""
    nodes, items = list(answer.nodes), list(answer.sources.items())
    by.shuffle(nodes)
    by.shuffle(items)
    sources = {node: tuple(by.sample(inputs, len(inputs))) for node, inputs in items}
    return SourceNodes(tuple(nodes), sources)


def shuffled(selection: Selection, by: random.Random) -> Selection:
    """The same selection with its prompts in another order, each split into its sentences."""
    single = [each.replace(sentences=(s,)) for each in selection.evidence for s in each.sentences]
    by.shuffle(single)
    return replace(selection, evidence=tuple(single))


@dataclass(frozen=True)
class Walked:
    """A finished walk with what is read off it."""

    outcome: Outcome
    paths: tuple[EvidencePath, ...]
    error: ErrorLocation

    @property
    def links(self) -> list[tuple[str, str]]:
        return [(path.source, path.target) for path in self.paths]


def traced(dag: Dag, target: str, outcome: Outcome) -> Walked:
    """The provenance and the error location of a finished walk."""
    node = dag.refs[target]
    paths = evidence_paths(node, outcome.iterations, outcome.sources)
    return Walked(outcome, paths, locate_error(node, outcome.verdict, outcome.iterations, paths))


async def walk_with(judge: Judge, source: NodeSource, dag: Dag, claim: Claim, q: int) -> Walked:
    """Verify a claim with a judge, reading nodes from a `NodeSource`."""
    machine = walk(dag.refs[claim.node_id], q)
    need = next(machine)
    while True:
        answer: Answer = None
        if isinstance(need, NeedSources):
            of = [ref.node_id for ref in need.of]
            last = not need.will_read
            answer = await (source.left(of, need.checked) if last else source.source_nodes(of))
        elif isinstance(need, NeedEvidence):
            answer = await judge.select_evidence(claim, await source.read(need.nodes), Meter())
        elif isinstance(need, NeedVerdict):
            roots = await source.read(need.roots)
            found = Found(need.selection.evidence, roots, need.carried)
            answer = await judge.judge(claim, found, Meter())
        try:
            need = machine.send(answer)
        except StopIteration as done:
            return traced(dag, claim.node_id, done.value)


async def verify(judge: Judge, dag: Dag, claim: Claim, q: int) -> Walked:
    """Verify a claim with a judge over a process in memory."""
    return await walk_with(judge, DagSource(dag), dag, claim, q)
