"""The trail of a verification: iterations, evidence by node and by stage, and where it went wrong.

Page, report, dossier, review, terminal and notebook all read this one view. It leaves nothing out;
a rendering cuts what is too long for it, and says how much it cut.

Source: VeriTrail 3.1.2 to 3.1.4 (interim verdicts), 3.2 (evidence trail, provenance, error
localization).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from veritrail_graph.api.show.appeals import appeal_words, cited_words
from veritrail_graph.api.show.asking import escalation_words
from veritrail_graph.api.show.costs import Spent, StepCost, by_step, spent, spent_by
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.api.show.twists import Twist, twist_of
from veritrail_graph.api.show.words import (
    NO_AGREEMENT,
    Mark,
    ending_words,
    mark_now,
    mark_of,
    not_found_words,
    selects_by_words,
    stage_words,
    unsaid_words,
    without_verdict,
)
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.evidence_nodes import EvidenceFinder, EvidenceNode
from veritrail_graph.graph.model import (
    Appeal,
    Iteration,
    NodeRef,
    Status,
    Termination,
    Verification,
    frontier_order,
    stages_of,
)
from veritrail_graph.graph.model.attribution import CarriedSentence

ROOTS_NAMED = 10
LONGEST_LOOKED_FOR = 200

_NOTHING: Mapping[int, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Level:
    """The nodes with evidence of one stage.

    Attributes:
        stage: The stage.
        name: What the input calls it, or None.
        nodes: Its nodes with evidence, in the order of the input.
        introduced: Whether this stage introduced unsupported content, or another of the error
            stages.
    """

    stage: int
    name: str | None
    nodes: tuple[EvidenceNode, ...] = ()
    introduced: bool = False


@dataclass(frozen=True, slots=True)
class IterationView:
    """An iteration: what it read, found, lacked and said.

    Attributes:
        iteration: The iteration.
        mark: Its interim verdict.
        read: How many nodes it read.
        nodes: The nodes with evidence, in the order of the frontier.
        spent: What it cost.
        is_last: Whether the walk ended with it.
        not_found: What was looked for and not found; None: sentences were selected.
        appeals: Cited sentences of the verification that speak to their reader.
    """

    iteration: Iteration
    mark: Mark
    read: int
    nodes: tuple[EvidenceNode, ...]
    spent: Spent
    is_last: bool = False
    not_found: str | None = None
    appeals: tuple[Appeal, ...] = ()

    @property
    def number(self) -> int:
        """Its number, counted from 1."""
        return self.iteration.number

    @property
    def sentences(self) -> int:
        """Return how many sentences it selected, each counted once."""
        return sum(len(node.cited) for node in self.nodes)

    @property
    def missing(self) -> tuple[str, ...]:
        """Return what the selected sentences do not say, prompt by prompt."""
        return tuple(one.missing for one in self.iteration.summaries if one.missing)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what a reader must know before taking the evidence for all there was."""
        one, found = self.iteration, []
        if one.reruns:
            times = counted(one.reruns, "time")
            found.append(f"Evidence was selected again {times}, as it did not fit.")
        if one.left_out:
            was = "was" if one.left_out == 1 else "were"
            left_out = counted(one.left_out, "sentence")
            found.append(f"{left_out} of the evidence did not fit and {was} left out.")
        if one.left_out_roots:
            names = ", ".join(one_line(name, 60) for name in one.left_out_roots[:ROOTS_NAMED])
            more = len(one.left_out_roots) - ROOTS_NAMED
            found.append(
                f"Of these sources with evidence the verdict saw nothing: {names}"
                + (f" and {more:,} more." if more > 0 else ".")
            )
        if one.looked_for:
            looked_for = one_line(one.looked_for, LONGEST_LOOKED_FOR).rstrip(".")
            found.append(f"It was looked for once more in the same nodes: {looked_for}.")
        if (escalated := escalation_words(one)) is not None:
            found.append(escalated)
        if (speaking := cited_words(one, self.appeals)) is not None:
            found.append(speaking)
        if one.dropped_ids:
            was = "was" if one.dropped_ids == 1 else "were"
            ids = counted(one.dropped_ids, "sentence id")
            found.append(f"{ids} that the model made up {was} dropped.")
        return tuple(found)


@dataclass(frozen=True, slots=True)
class ErrorNode:
    """A node that introduced unsupported content, or that carried it on.

    Attributes:
        node_id: The node.
        stage: Its stage; None: not known.
        name: What the input calls the stage, or None.
        is_unsourced: Whether its inputs were not recorded, and it is no source text.
    """

    node_id: str
    stage: int | None
    name: str | None
    is_unsourced: bool = False

    @property
    def place(self) -> str:
        """Its stage, and that it is unsourced where it is."""
        return f"stage {self.stage}" + (", unsourced" if self.is_unsourced else "")


@dataclass(frozen=True, slots=True)
class TrailView:
    """A verification with its trail.

    Attributes:
        verification: The verification.
        mark: Its result.
        iterations: All iterations, first to last.
        levels: Nodes with evidence by stage, from the stage nearest to the answer to the sources.
        error_stages: Names of the stages that introduced unsupported content.
        introduced: The nodes at which it came in, in the order of the frontier.
        inherited: Later nodes that only carried it on, the verified node last.
        until: The last iteration whose evidence `levels` has; None: that of all iterations.
        stage_names: What the stages are called.
        unsaid: What to say in place of `introduced` where the node is not known to say what was
            asked.
        twists: What the error nodes did with their sources, in the order of `introduced`; empty
            where no sentence of them is attributed.
        sources_read: How many source texts were read, where that is known.
    """

    verification: Verification
    mark: Mark
    iterations: tuple[IterationView, ...]
    levels: tuple[Level, ...]
    error_stages: tuple[str, ...]
    introduced: tuple[ErrorNode, ...]
    inherited: tuple[ErrorNode, ...]
    until: int | None = None
    stage_names: Mapping[int, str] = field(default_factory=dict)
    unsaid: str | None = None
    twists: tuple[Twist, ...] = ()
    sources_read: int | None = None

    @property
    def not_found(self) -> str:
        """Return what to say in place of a sentence of a source: what was looked for, and where."""
        shown = [one for one in self.iterations if self.until is None or one.number <= self.until]
        if self.verification.termination is Termination.NO_AGREEMENT and shown[-1].is_last:
            return NO_AGREEMENT
        sources = self.sources_read if len(shown) == len(self.iterations) else None
        by_words = selects_by_words(self.verification.engine)
        return not_found_words(sum(one.read for one in shown), sources, by_words=by_words)

    @property
    def nodes(self) -> tuple[EvidenceNode, ...]:
        """The nodes with evidence, from the answer to the sources."""
        return tuple(node for level in self.levels for node in level.nodes)

    @property
    def sentences(self) -> int:
        """Return how many sentences were selected."""
        return sum(len(node.cited) for node in self.nodes)

    @property
    def ending(self) -> str | None:
        """Return why the walk stopped, in words; None: it did not come to its end."""
        return ending_words(self.verification)

    @property
    def appeals(self) -> str | None:
        """That sentences which were read speak to their reader; None: none of them does."""
        return appeal_words(self.verification)

    @property
    def without_verdict(self) -> str | None:
        """Return what to say in place of a verdict; None where there is one."""
        return without_verdict(self.verification)

    @property
    def spent(self) -> Spent:
        """Return what the verification cost."""
        return spent_by(self.verification)

    @property
    def costs(self) -> tuple[StepCost, ...]:
        """Return what it cost by step, model and prompt."""
        return by_step(self.verification.steps)

    def node(self, node_id: str) -> EvidenceNode | None:
        """A node with evidence by its id."""
        return next((node for node in self.nodes if node.node_id == node_id), None)


def trail_view(
    verification: Verification,
    stage_names: Mapping[int, str] = MappingProxyType({}),
    until: int | None = None,
    *,
    read: Mapping[int, int] = _NOTHING,
    sources: int | None = None,
    carried: Sequence[CarriedSentence] = (),
) -> TrailView:
    """The trail of a verification.

    Args:
        verification: The verification.
        stage_names: What the stages are called.
        until: The last iteration whose evidence is grouped by stage; None: all of them.
        read: How many nodes an iteration read, by its number, where the verification holds only
            those with evidence.
        sources: How many source texts it read, likewise.
        carried: The attributed sentences of its error nodes that carried the claim.
    """
    finder = EvidenceFinder.of(verification)
    last = len(verification.iterations)
    iterations = tuple(
        IterationView(
            iteration=one,
            mark=mark_of(one.verdict, Status.UNDECIDED, indicative=verification.indicative),
            read=(count := read.get(one.number, len(one.checked))),
            nodes=(nodes := tuple(finder.nodes(one))),
            spent=spent(one.usage, modelled=not verification.indicative),
            is_last=place == last,
            not_found=None if nodes else _not_found(verification, count, is_last=place == last),
            appeals=verification.appeals,
        )
        for place, one in enumerate(verification.iterations, start=1)
    )
    found: dict[str, EvidenceNode] = {}
    for each in iterations:
        if until is None or each.number <= until:
            for node in each.nodes:
                found.setdefault(node.node_id, node)
    # Of nodes that sides tell the paper's rule tells no stage; for people they have one.
    placed_at = verification.error_stages or stages_of(verification.error_nodes)
    return TrailView(
        verification=verification,
        mark=mark_now(verification),
        iterations=iterations,
        levels=_levels(found.values(), stage_names, frozenset(placed_at)),
        error_stages=tuple(stage_words(stage, stage_names) for stage in placed_at),
        introduced=_error_nodes(verification.error_nodes, stage_names),
        inherited=_error_nodes(verification.propagated_nodes, stage_names),
        until=until,
        stage_names=stage_names,
        unsaid=unsaid_words(verification),
        twists=tuple(map(twist_of, carried)) if verification.error_nodes else (),
        sources_read=_sources_read(verification) if sources is None and not read else sources,
    )


def _not_found(verification: Verification, read: int, *, is_last: bool) -> str:
    """Return what an iteration looked for and did not find."""
    if is_last and verification.termination is Termination.NO_AGREEMENT:
        return NO_AGREEMENT
    return not_found_words(read, None, by_words=selects_by_words(verification.engine))


def _sources_read(verification: Verification) -> int:
    """Return how many source texts all iterations read, each once."""
    refs = (ref for one in verification.iterations for ref in one.checked)
    return len({ref.node_id for ref in refs if ref.is_root})


def choose(
    levels: Sequence[Level], most: int, of_level: int | None = None
) -> dict[int, tuple[EvidenceNode, ...]]:
    """The nodes that are shown, by stage: in turn one of each level, as long as there is room.

    Args:
        levels: Levels of a trail.
        most: Nodes that are shown at most.
        of_level: Nodes of one level that are shown at most; None: no limit.
    """
    shares = {level.stage: 0 for level in levels}
    limits = {
        level.stage: len(level.nodes) if of_level is None else min(len(level.nodes), of_level)
        for level in levels
    }
    left = min(most, sum(limits.values()))
    while left:
        unfinished = [stage for stage, limit in limits.items() if shares[stage] < limit]
        for stage in unfinished[:left]:
            shares[stage] += 1
        left -= len(unfinished[:left])
    return {level.stage: level.nodes[: shares[level.stage]] for level in levels}


def _levels(
    nodes: Iterable[EvidenceNode], names: Mapping[int, str], wrong: frozenset[int]
) -> tuple[Level, ...]:
    by_stage: dict[int, list[EvidenceNode]] = {}
    for node in nodes:
        if node.ref.stage is not None:  # a trail that was read from JSON knows no stages
            by_stage.setdefault(node.ref.stage, []).append(node)
    return tuple(
        Level(
            stage,
            names.get(stage),
            tuple(sorted(by_stage[stage], key=lambda node: frontier_order(node.ref))),
            stage in wrong,
        )
        for stage in sorted(by_stage, reverse=True)
    )


def _error_nodes(refs: Sequence[NodeRef], names: Mapping[int, str]) -> tuple[ErrorNode, ...]:
    return tuple(
        ErrorNode(
            ref.node_id,
            ref.stage,
            None if ref.stage is None else names.get(ref.stage),
            ref.is_unsourced,
        )
        for ref in refs
    )
