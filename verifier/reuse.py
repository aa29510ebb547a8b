"""Keeping the verdict of an earlier verification where only a part of the process changed.

The walk is carried out again over the content of now, and the earlier trail answers in place of
the judge. It may answer only what it was asked then: the same texts in the same order, and for a
verdict the same roots in the same order. As soon as the walk would ask anything else, or would end
otherwise, the verdict is not kept. What is kept is therefore what a full run would find if its
judge gave the same answers to the same questions (docs/adr/0039-only-what-changed.md).

Source: ours; the walk is VeriTrail C.1, Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from veritrail_graph.graph.model import Evidence, Iteration, NodeRef, Verification, in_order
from veritrail_graph.graph.model.trail import MATCHED, NO_USAGE, Termination
from veritrail_graph.verifier.driver import Task, decided_by, place_of_value, with_outcome
from veritrail_graph.verifier.frontiers import answered_sources
from veritrail_graph.verifier.ports import Judgement, NodeSource, Selection
from veritrail_graph.verifier.walk import (
    Answer,
    Finished,
    NeedEvidence,
    NeedSources,
    NeedVerdict,
    Outcome,
    walk,
)


@dataclass(frozen=True, slots=True)
class Reuse:
    """The result of looking for an earlier verdict of a claim.

    Attributes:
        reason: Why the earlier verdict is kept, or why it is not.
        compared_with: verification_id of the earlier verification; None: there is none.
        kept: The verification with the verdict that is kept; None: the claim has to be verified.
    """

    reason: str
    compared_with: str | None = None
    kept: Verification | None = None

    def noted_in(self, verification: Verification) -> Verification:
        """A verification that was made anew, with what it was compared with."""
        return verification.replace(
            compared_with=self.compared_with, reuse_reason=self.reason, saved_calls=0
        )


class EarlierVerdicts(Protocol):
    """Looks for verdicts of an earlier version of the process."""

    async def of(self, task: Task) -> Reuse:
        """The earlier verdict of a claim, where it may be kept.

        Raises:
            VeriTrailError: What is needed to tell could not be read.
        """
        ...


class Differs(Exception):  # no fault: it says why a claim is verified anew
    """The walk would ask something that the earlier one did not, or end otherwise."""


@dataclass(slots=True)
class _Recorded:
    """The answers of an earlier trail, each given where the same is asked again.

    Attributes:
        earlier: The earlier verification.
        before: Reads nodes of the content that it was made on.
        now: Reads nodes of the content of now.
        by_id: Whether a node must have its earlier id: the judge looks at ids, too.
        names: node_ids of now by the earlier ones, of what was read so far.
    """

    earlier: Verification
    before: NodeSource
    now: NodeSource
    by_id: bool
    names: dict[str, str] = field(default_factory=dict)
    _rounds: Iterator[Iteration] = field(init=False)
    _round: Iteration = field(init=False)

    def __post_init__(self) -> None:
        self._rounds = iter(self.earlier.iterations)

    async def selection(self, frontier: tuple[NodeRef, ...]) -> Selection:
        """Return what was selected from these texts.

        Raises:
            Differs: They are not those that were read then.
        """
        found = next(self._rounds, None)
        if found is None and not frontier and not self.earlier.iterations:
            return Selection()  # a claim about unsourced text: nothing was read, then and now
        if found is None:
            raise Differs(f"the walk goes on, to {_named(frontier)}")
        self._round = found
        await self._compare(found, frontier)
        self.names.update(
            (old.node_id, new.node_id) for old, new in zip(found.checked, frontier, strict=True)
        )
        # Where any score was kept, samples were drawn: then the walk scores what ends it.
        scores = (self.earlier.score, *(one.score for one in self.earlier.iterations))
        is_sampled = any(score is not None for score in scores)
        evidence = tuple(map(self._evidence, found.summaries))
        is_silent = (
            found.verdict is None and self.earlier.termination is not Termination.NO_AGREEMENT
        )
        silence = found.reasoning if is_silent else None
        return Selection(
            evidence,
            found.dropped_ids,
            is_sampled=is_sampled,
            silence=silence,
            unaddressed=() if evidence else found.parts,
        )

    def judgement(self, roots: tuple[NodeRef, ...]) -> Judgement:
        """The verdict on what was selected.

        Raises:
            Differs: The roots do not stand in the order that they stood in then.
        """
        found = self._round
        cited = set(found.node_ids_with_evidence)
        then = {ref for ref in found.checked if ref.is_root and ref.node_id in cited}
        order = [self.names[ref.node_id] for ref in in_order(then | set(found.carried_roots))]
        if order != [ref.node_id for ref in roots]:
            raise Differs(f"iteration {found.number}: the roots have another order")
        return Judgement(
            found.verdict,
            found.reasoning,
            score=found.score,
            reruns=found.reruns,
            judged=tuple(map(self._evidence, found.judged)),
            left_out=found.left_out,
            left_out_roots=tuple(self.names[name] for name in found.left_out_roots),
            judged_by=found.judged_by,
            first_verdict=found.first_verdict,
            first_reasoning=found.first_reasoning,
            parts=found.parts,
            looked_for=found.looked_for,
        )

    def check_end(self, outcome: Outcome) -> None:
        """See that the walk ended as the earlier one did.

        Raises:
            Differs: It did not.
        """
        left = next(self._rounds, None)
        if left is not None:
            raise Differs(f"the walk ends before {_named(left.checked)}")
        if (outcome.verdict, outcome.termination) != (
            self.earlier.verdict,
            self.earlier.termination,
        ):
            raise Differs("the walk ends for another reason: other source nodes are left")

    async def _compare(self, found: Iteration, frontier: tuple[NodeRef, ...]) -> None:
        """See that a frontier shows the texts that it showed then, in the same order."""
        where = f"iteration {found.number}"
        old, new = ([ref.node_id for ref in refs] for refs in (found.checked, frontier))
        if len(old) != len(new) or (self.by_id and old != new):
            raise Differs(f"{where}: {_entered_or_left(old, new)}")
        before = await self.before.read(found.checked)
        now = await self.now.read(frontier)
        for then, here in zip(before, now, strict=True):
            name = here.ref.node_id
            if then.text != here.text:
                if then.ref.node_id == name:
                    raise Differs(f"{where}: the text of {name!r} changed")
                raise Differs(f"{where}: {_entered_or_left(old, new)}")
            if then.ref.is_root is not here.ref.is_root:
                word = "is" if here.ref.is_root else "is no longer"
                raise Differs(f"{where}: {name!r} {word} source text")

    def _evidence(self, found: Evidence) -> Evidence:
        if all(self.names[name] == name for name in found.node_ids):
            return found
        return found.replace(
            sentences=tuple(
                one.replace(node_id=self.names[one.node_id]) for one in found.sentences
            ),
            node_ids=tuple(self.names[name] for name in found.node_ids),
        )


async def reuse(
    task: Task,
    base: Verification,
    earlier: Verification,
    before: NodeSource,
    now: NodeSource,
    *,
    by_id: bool = True,
) -> Reuse:
    """Keep the verdict of an earlier verification, if a full run would give the same.

    Args:
        task: The claim, and the node of now that it is about.
        base: A verification of it without a verdict.
        earlier: The earlier one, which succeeded with the same settings and the same sub-claims.
        before: Reads nodes of the content that it was made on.
        now: Reads nodes of the content of now.
        by_id: Whether a node must have its earlier id: the judge looks at ids, too.

    Returns:
        The verification that is kept, or why there is none.

    Raises:
        VeriTrailError: A node could not be read.
    """
    recorded = _Recorded(earlier, before, now, by_id)
    try:
        outcome = await _carried_out(task.node, base.q, recorded)
        place = await place_of_value(task, now, outcome, indicative=base.indicative)
        outcome = decided_by(place, outcome, base.engine)
        recorded.check_end(outcome)
    except Differs as difference:
        return Reuse(str(difference), earlier.verification_id)
    read = sum(len(one.checked) for one in outcome.iterations)
    reason = f"the walk reads the same {read:,} text(s) in the same order and ends as it did"
    if base.claim != earlier.claim or earlier.is_matched:
        reason = f"{MATCHED}, and {reason}"
    base = base.replace(sub_claims=earlier.sub_claims)
    kept = await with_outcome(base, task.node, outcome, now, place)
    kept = kept.replace(
        reused_from=earlier.verification_id,
        compared_with=earlier.verification_id,
        reuse_reason=reason,
        saved_calls=calls_behind(earlier),
        appeals_read=max(kept.appeals_read or 0, earlier.appeals_read or 0) or None,
        # Its prompts and models, and that a model took the claim apart; none was asked now.
        steps=tuple(one.replace(usage=NO_USAGE) for one in earlier.steps),
    )
    return Reuse(reason, earlier.verification_id, kept)


def calls_behind(verification: Verification) -> int:
    """Return how many answers of models a verdict rests on, also where it was kept itself."""
    if verification.reused_from is not None:
        return verification.saved_calls or 0
    return verification.usage.calls + verification.usage.cached_calls


async def _carried_out(node: NodeRef, q: int, recorded: _Recorded) -> Outcome:
    """Carry a walk out; recorded answers take the place of the judge's."""
    steps = walk(node, q)
    answer: Answer = None
    while True:
        try:
            need = steps.send(answer)
        except StopIteration as done:
            outcome: Outcome = done.value
            return outcome
        if isinstance(need, NeedSources):
            answer = await answered_sources(recorded.now, need)
        elif isinstance(need, NeedEvidence):
            answer = await recorded.selection(need.nodes)
        elif isinstance(need, NeedVerdict):
            answer = recorded.judgement(need.roots)
        else:
            assert isinstance(need, Finished)  # noqa: S101  # there is no other need
            answer = None


def _entered_or_left(old: list[str], new: list[str]) -> str:
    """Return the differences of a frontier, by ids."""
    entered = [name for name in new if name not in set(old)]
    left = [name for name in old if name not in set(new)]
    parts = [f"reads {_ids(entered)}, which it did not"] if entered else []
    parts += [f"does not read {_ids(left)} any more"] if left else []
    return "; ".join(parts) if parts else "the nodes have another order"


def _named(refs: tuple[NodeRef, ...]) -> str:
    return _ids([ref.node_id for ref in refs]) if refs else "the roots alone"


def _ids(names: list[str]) -> str:
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return f"{names[0]!r}{more}"
