"""Algorithm 1 of the paper, as a state machine without I/O.

The walk is a generator: it yields what it needs next (the source nodes of nodes, evidence
from nodes, a verdict on evidence), takes the answer, announces each finished iteration, and
returns the outcome. One driver
runs it live (`verifier.driver`); scripted answers, a simulation or a batch endpoint can drive
the same code. Replaying the same answers gives the same walk.

Comments name the lines of the printed algorithm; `docs/adr/0003-algorithm-1.md` says where
the printed text left room.

Source: VeriTrail 3.1.4 and C.1, Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter

from veritrail_graph.graph.adjacency import JoinedSources
from veritrail_graph.graph.model import (
    Evidence,
    Iteration,
    NodeRef,
    Role,
    Termination,
    Verdict,
    in_order,
)
from veritrail_graph.verifier.ports import Judgement, Selection, SourceNodes, WalkState
from veritrail_graph.verifier.second_look import MissingEvidence, missing_in, with_more

NOTHING_FOUND = "No sentence that bears on the claim was found in the nodes of this iteration."
NO_INPUT = "No input of this text is recorded, so there is nothing to check it against: {}."
UNSOURCED = "It rests on unsourced text, which is no source and whose inputs were not recorded: {}."
_ROOT, _UNSOURCED = Role.ROOT, Role.UNSOURCED  # looked up for every node of a frontier
_node_id = attrgetter("node_id")

Refs = dict[str, NodeRef]
"""Nodes by node_id: a frontier is asked about by ids, which hash faster than nodes do."""

NAMED = 3
"""Unsourced nodes that a reason names."""
NO_AGREEMENT = "No sentence was selected by as many samples as must agree."


@dataclass(frozen=True, slots=True)
class NeedSources:
    """Asks for the source nodes of nodes without those in `checked`; answered with `SourceNodes`.

    `will_read` says whether another iteration may follow. If not, all that matters is which of
    the nodes in `checked` are among them and whether any other node is: one that is not in
    `checked` may stand in the answer for all that are not. After an iteration `state` is what both
    were decided from, for a source that decides it anew (`FrontierSource`).
    """

    of: tuple[NodeRef, ...]
    will_read: bool
    checked: Collection[NodeRef] = ()
    state: WalkState | None = None


@dataclass(frozen=True, slots=True)
class NeedEvidence:
    """Asks for evidence from the texts of nodes; answered with a `Selection`.

    `missing` is what an earlier selection in them did not find, for another look.
    """

    nodes: tuple[NodeRef, ...]
    missing: MissingEvidence | None = None


@dataclass(frozen=True, slots=True)
class NeedVerdict:
    """Asks for a verdict; answered with a `Judgement`.

    `roots` are the root nodes with evidence found now or carried; their whole text counts.
    `carried` is the evidence that earlier iterations found in them.
    """

    selection: Selection
    roots: tuple[NodeRef, ...]
    carried: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Finished:
    """Announces an iteration that has ended; answered with None."""

    iteration: Iteration


Need = NeedSources | NeedEvidence | NeedVerdict | Finished
Answer = SourceNodes | Selection | Judgement | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a finished walk.

    Attributes:
        verdict: The final verdict; None where samples did not agree on any evidence, or where the
            judge cannot tell.
        reasoning: The reasons for it.
        score: The score of the last iteration; 0 where no root bore evidence; None without samples.
        termination: Why the walk stopped.
        iterations: All rounds; the last one's verdict may differ from the final verdict.
        sources: node_ids of the source nodes of every node that was asked about, in any order, as
            far as they were checked; of those that were not, some may be left out.
    """

    verdict: Verdict | None
    reasoning: str
    score: float | None
    termination: Termination
    iterations: tuple[Iteration, ...]
    sources: Mapping[str, tuple[str, ...]]


def walk(node: NodeRef, q: int) -> Generator[Need, Answer, Outcome]:
    """Verify one claim about `node` backward through its process.

    Args:
        node: The verified node, v*; never a root. Of an unsourced one nothing is read.
        q: How many consecutive Not Fully Supported verdicts stop the walk, at least 1.

    Yields:
        What is needed next; send the answer back.

    Returns:
        The outcome.
    """
    iterations: list[Iteration] = []  # 1, 5: evidence_trail and all_verdicts
    consecutive_not_supported = 0  # 2
    checked: Refs = {}  # 3
    roots_with_evidence: Refs = {}  # 4
    sources: list[Mapping[str, tuple[str, ...]]] = []
    is_scored = False  # E.3
    if node.is_unsourced:
        silence = (yield from _evidence(())).silence  # reads nothing: no model is asked
        return _of_unsourced(node, silence)
    first = yield from _sources([node], sources)  # 6
    nodes_to_check = _by_id(first.nodes)
    if not nodes_to_check:
        raise ValueError(f"{node.node_id!r} has no source nodes: there is nothing to check against")

    while True:  # 7
        carried = in_order(roots_with_evidence.values())
        frontier = in_order(nodes_to_check.values())
        earlier = _found_in(carried, iterations)
        found, judgement = yield from _judged(frontier, nodes_to_check, carried, earlier)  # 8-15
        with_evidence = _with_evidence(found, nodes_to_check)
        roots_with_evidence.update(_roots_of(with_evidence))  # 13
        is_scored |= found.is_sampled or judgement.score is not None
        number = len(iterations) + 1
        iterations.append(_iteration(number, frontier, carried, found, judgement))  # 12, 16
        yield Finished(iterations[-1])
        if found.is_missed and not with_evidence and not carried:
            # E.3: the claim ends without a verdict
            stop = Termination.NO_AGREEMENT
            return Outcome(None, NO_AGREEMENT, None, stop, tuple(iterations), _merged(sources))
        checked.update(nodes_to_check)  # 17
        verdict = judgement.verdict
        if verdict is Verdict.NOT_FULLY_SUPPORTED:  # 18
            consecutive_not_supported += 1  # 19
            candidates_of = nodes_to_check  # 20: of all nodes of this iteration
        else:  # no verdict counts as an inconclusive one: docs/adr/0049
            consecutive_not_supported = 0  # 22
            candidates_of = with_evidence  # 23: of the nodes with evidence
            if verdict is None and not with_evidence:
                candidates_of = nodes_to_check  # ours: nothing says which of them to leave out
        after = WalkState(
            verdicts=tuple([iteration.verdict for iteration in iterations]),
            q=q,
            nodes=frontier,
            evidence=tuple(with_evidence),
            checked=tuple(checked.values()),
        )
        found_next = yield from _sources(
            candidates_of.values(), sources, after, will_read=consecutive_not_supported < q
        )
        if found_next.consecutive is not None:  # 18 to 22, by who carried these lines out
            consecutive_not_supported = found_next.consecutive
        # 25, without the carried roots: never read again
        nodes_to_check = _without(found_next.nodes, checked)

        score, silence = judgement.score, found.silence
        if not nodes_to_check and not roots_with_evidence:  # 29
            stop = Termination.NO_CANDIDATES
            verdict = Verdict.NOT_FULLY_SUPPORTED if silence is None else None  # 30, 31
            score = 0.0 if is_scored else None
        elif not nodes_to_check and _rests_on_unsourced(with_evidence, verdict, silence):
            continue  # ours: the roots are judged once more, without the unsourced text
        elif not nodes_to_check:  # 26, 27: the latest verdict is final
            stop = Termination.ONLY_ROOTS_WITH_EVIDENCE_LEFT
        elif consecutive_not_supported >= q:  # 33, 34
            stop = Termination.MAX_CONSECUTIVE_NOT_FULLY_SUPPORTED
        else:
            continue
        reasoning = _final_reasoning(stop, iterations, verdict, silence)
        return Outcome(verdict, reasoning, score, stop, tuple(iterations), _merged(sources))  # 37


def _judged(
    frontier: tuple[NodeRef, ...],
    nodes: Refs,
    carried: tuple[NodeRef, ...],
    earlier: tuple[Evidence, ...],
) -> Generator[Need, Answer, tuple[Selection, Judgement]]:
    """Evidence in the nodes of an iteration, and a verdict on it and on the carried roots.

    What the verdict says is missing is looked for once more, in the same nodes: ours.

    Args:
        frontier: The nodes of the iteration.
        nodes: The same, by node_id.
        carried: Roots in which earlier iterations found evidence.
        earlier: That evidence.
    """
    found = yield from _evidence(frontier)  # 8
    if not _with_evidence(found, nodes) and not carried:  # 9
        return found, _on_nothing(found)
    judgement = yield from _verdict(found, nodes, carried, earlier)  # 14
    missing = missing_in(found, judgement)
    if missing is None:
        return found, judgement
    again = yield from _evidence(in_order((*frontier, *carried)), missing)
    more = with_more(found, again, earlier)
    if more.evidence != found.evidence:
        judgement = yield from _verdict(more, nodes, carried, earlier)
    return more, replace(judgement, looked_for=missing.text)


def _on_nothing(found: Selection) -> Judgement:
    """The judgement of an iteration that has no evidence: nobody is asked."""
    if found.is_missed:
        return Judgement(None, NO_AGREEMENT)  # E.3
    if found.silence is not None:
        return Judgement(None, found.silence)  # ours: the judge cannot tell
    return Judgement(Verdict.NOT_FULLY_SUPPORTED, NOTHING_FOUND, parts=found.unaddressed)  # 10


def _iteration(
    number: int,
    frontier: tuple[NodeRef, ...],
    carried: tuple[NodeRef, ...],
    found: Selection,
    judgement: Judgement,
) -> Iteration:
    """Return what an iteration leaves in the trail: its evidence (12) and its verdict (16)."""
    return Iteration(
        number=number,
        verdict=judgement.verdict,
        reasoning=judgement.reasoning,
        score=judgement.score,
        checked=frontier,
        carried_roots=carried,
        summaries=found.evidence,
        dropped_ids=found.dropped_ids,
        reruns=judgement.reruns,
        judged=judgement.judged,
        left_out=judgement.left_out,
        left_out_roots=judgement.left_out_roots,
        judged_by=judgement.judged_by,
        first_verdict=judgement.first_verdict,
        first_reasoning=judgement.first_reasoning,
        parts=judgement.parts,
        looked_for=judgement.looked_for,
    )


def _rests_on_unsourced(with_evidence: Refs, verdict: Verdict | None, silence: str | None) -> bool:
    """Return whether a verdict that could support a claim has evidence in unsourced text. Ours."""
    may_support = verdict is not Verdict.NOT_FULLY_SUPPORTED or silence is not None
    return may_support and any(ref.is_unsourced for ref in with_evidence.values())


def _of_unsourced(node: NodeRef, silence: str | None) -> Outcome:
    """The outcome of a claim about a text without recorded inputs. Ours."""
    verdict, why = Verdict.NOT_FULLY_SUPPORTED, UNSOURCED.format(_named([node]))
    if silence is None:
        return Outcome(verdict, why, None, Termination.NO_CANDIDATES, (), {})
    why = f"{silence} {NO_INPUT.format(_named([node]))}"
    return Outcome(None, why, None, Termination.NO_CANDIDATES, (), {})


def _sources(
    of: Collection[NodeRef],
    known: list[Mapping[str, tuple[str, ...]]],
    state: WalkState | None = None,
    *,
    will_read: bool = True,
) -> Generator[Need, Answer, SourceNodes]:
    """src() of a set of nodes; roots and unsourced nodes have none and are not asked about.

    What was checked may be left out; `will_read`: see `NeedSources`.
    """
    asked = in_order([ref for ref in of if ref.role is not _ROOT and ref.role is not _UNSOURCED])
    if not asked:
        return SourceNodes((), {})
    checked = () if state is None else state.checked
    answer = yield NeedSources(asked, will_read, checked, state)
    if not isinstance(answer, SourceNodes):
        raise TypeError(f"expected SourceNodes, got {type(answer).__name__}")
    known.append(answer.sources)
    return answer


def _merged(parts: list[Mapping[str, tuple[str, ...]]]) -> Mapping[str, tuple[str, ...]]:
    """All sources that were given, each node once; of a part that is no dict, none is made."""
    small = {name: ids for part in parts if isinstance(part, dict) for name, ids in part.items()}
    late = [part for part in parts if not isinstance(part, dict)]
    return JoinedSources(small, *late) if late else small


def _by_id(nodes: tuple[NodeRef, ...]) -> Refs:
    return dict(zip(map(_node_id, nodes), nodes, strict=True))


def _without(nodes: tuple[NodeRef, ...], checked: Refs) -> Refs:
    return {ref.node_id: ref for ref in nodes if ref.node_id not in checked}


def _with_evidence(selection: Selection, nodes: Refs) -> Refs:
    """Return those of the nodes that something was selected from."""
    found = {name for evidence in selection.evidence for name in evidence.node_ids}
    return {name: nodes[name] for name in found if name in nodes}


def _roots_of(nodes: Refs) -> Refs:
    return {name: ref for name, ref in nodes.items() if ref.is_root}


def _evidence(
    frontier: tuple[NodeRef, ...], missing: MissingEvidence | None = None
) -> Generator[Need, Answer, Selection]:
    answer = yield NeedEvidence(frontier, missing)
    if not isinstance(answer, Selection):
        raise TypeError(f"expected Selection, got {type(answer).__name__}")
    return answer


def _found_in(carried: tuple[NodeRef, ...], iterations: list[Iteration]) -> tuple[Evidence, ...]:
    """Return what earlier iterations found in the roots that are carried."""
    names = {ref.node_id for ref in carried}
    found = (evidence for iteration in iterations for evidence in iteration.summaries)
    return tuple(evidence for evidence in found if not names.isdisjoint(evidence.node_ids))


def _verdict(
    found: Selection, nodes: Refs, carried: tuple[NodeRef, ...], earlier: tuple[Evidence, ...]
) -> Generator[Need, Answer, Judgement]:
    """A verdict on evidence; of roots that bear some, now or before, the whole text counts."""
    roots = _roots_of(_with_evidence(found, nodes)) | _by_id(carried)
    answer = yield NeedVerdict(found, in_order(roots.values()), earlier)
    if not isinstance(answer, Judgement):
        raise TypeError(f"expected Judgement, got {type(answer).__name__}")
    return answer


def _final_reasoning(
    stop: Termination, iterations: list[Iteration], final: Verdict | None, silence: str | None
) -> str:
    """Give the reasons for the final verdict; they differ from the latest only where it does."""
    latest = iterations[-1]
    unsourced = [ref for it in iterations for ref in it.nodes_with_evidence if ref.is_unsourced]
    rests = f" {UNSOURCED.format(_named(unsourced))}" if unsourced else ""
    if final is None and latest.verdict is not None:
        why = f"{(silence or '').rstrip('.')}, as far as source text was read."
        return f"{why}{rests} The last interim verdict was {latest.verdict}: {latest.reasoning}"
    if final is None and (earlier := _nearer_iteration(iterations)) is not None:
        why = f"{latest.reasoning.rstrip('.')}, as far as iteration {latest.number} read."
        return f"{why} Iteration {earlier.number}, nearer to the answer: {earlier.reasoning}"
    if stop is Termination.NO_CANDIDATES and latest.verdict is not final:
        return (
            "No root node yielded evidence and no node is left to check, so the claim does not "
            f"rest on the source text.{rests} The last interim verdict was {latest.verdict}: "
            f"{latest.reasoning}"
        )
    if final is Verdict.NOT_FULLY_SUPPORTED and not latest.checked:
        part = f"Without the unsourced text ({_named(unsourced)}) the roots alone are judged: "
        return part + latest.reasoning
    return latest.reasoning


def _nearer_iteration(iterations: list[Iteration]) -> Iteration | None:
    """Return an earlier iteration with summaries where the latest is empty; a decided one first."""
    *before, latest = iterations
    if latest.summaries or latest.carried_roots:
        return None
    with_evidence = [one for one in before if one.summaries]
    decided = [one for one in with_evidence if one.verdict is not None]
    return next(iter(reversed(decided or with_evidence)), None)


def _named(refs: list[NodeRef]) -> str:
    """The first ids, and how many more there are."""
    names = ", ".join(repr(ref.node_id) for ref in refs[:NAMED])
    return f"{names} and {len(refs) - NAMED} more" if len(refs) > NAMED else names
