"""Driving one walk: every need is answered, and every fault becomes a status.

Source: VeriTrail 3.1 (one claim is verified independently of the others).
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import (
    Claim,
    ErrorLocation,
    NodeRef,
    Status,
    Usage,
    Verdict,
    Verification,
)
from veritrail_graph.verifier.answered import (
    answering,
    seen_judgement,
    seen_selection,
    seen_sub_claims,
)
from veritrail_graph.verifier.appeals import WatchedNodes, cited_appeals
from veritrail_graph.verifier.copying import at_writing_steps
from veritrail_graph.verifier.correction import Corrector
from veritrail_graph.verifier.frontiers import answered_sources
from veritrail_graph.verifier.localization import evidence_paths, locate_error, parts_behind
from veritrail_graph.verifier.models.port import EndpointRefused, Meter, OverBudget
from veritrail_graph.verifier.ports import (
    Found,
    Judge,
    NodeSource,
    ReadNode,
    SourceNodes,
    are_longer,
    shared_by,
)
from veritrail_graph.verifier.sides import locate_by_sides
from veritrail_graph.verifier.value_place import FoundPlace, NeedTexts, follow_value, located
from veritrail_graph.verifier.walk import (
    Answer,
    Finished,
    NeedEvidence,
    NeedSources,
    NeedVerdict,
    Outcome,
    walk,
)

DEFAULT_Q = 3
"""Of q = 1 and q = 3 the better macro F1 on both full data sets. Source: VeriTrail 4.3."""

READ_IN_THREAD = 20_000
"""Characters of texts that are compared from which on a thread does it."""

APPEALS_NAMED = 20
"""Cited sentences that speak to their reader and are named; of more their number is kept."""

TURNED = (
    "Indicative ({engine}, no model): no source has \u201c{at.claim.surface}\u201d; "
    "in its place {at.source.node_id!r} has \u201c{at.found.read.surface}\u201d: "
    "\u201c{text}\u201d."
)
"""Why a claim is not supported whose value was turned on the way."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """A claim to verify, the node that it is about, and its place in the run."""

    claim: Claim
    node: NodeRef
    verification_id: str = field(default_factory=lambda: f"v-{uuid.uuid4().hex}")
    place: int | None = None


@dataclass(slots=True)
class Observer:
    """Hooks that are called when something happens in a run; every hook is optional.

    Attributes:
        claim_started: A claim's walk begins.
        iteration_finished: An iteration has ended with this interim verdict, None where it has
            none; the meter says which one, and what the claim has cost so far.
        call_made: A model answered; the usage of that call.
        claim_finished: A verification has ended, in whatever status, and was handed on.
        faulted: Why a verification failed, as it was raised.
    """

    claim_started: Callable[[Task], None] = lambda _task: None
    iteration_finished: Callable[[Task, Verdict | None, Meter], None] = (
        lambda _task, _verdict, _meter: None
    )
    call_made: Callable[[Usage], None] = lambda _usage: None
    claim_finished: Callable[[Verification], None] = lambda _verification: None
    faulted: Callable[[VeriTrailError], None] = lambda _error: None


async def verify_claim(
    task: Task,
    process_id: str,
    judge: Judge,
    nodes: NodeSource,
    *,
    q: int = DEFAULT_Q,
    observer: Observer | None = None,
    deadline: float | None = None,
    meter: Meter | None = None,
    corrector: Corrector | None = None,
) -> Verification:
    """Verify one claim; every fault of the judge or the store becomes a status.

    Args:
        task: The claim and its node.
        process_id: The process.
        judge: Selects evidence and gives verdicts.
        nodes: Where nodes are read from.
        q: Consecutive Not Fully Supported verdicts that stop the walk.
        observer: Its hooks are called.
        deadline: Seconds after which the claim ends as failed.
        meter: Records what it costs; default: a new one.
        corrector: Proposes a wording where the claim is Not Fully Supported; None: there is none.

    Raises:
        asyncio.CancelledError: The run was stopped.
    """
    observer = observer or Observer()
    meter = meter or Meter(observer.call_made)
    nodes = nodes if isinstance(nodes, WatchedNodes) else WatchedNodes(nodes)
    base = without_verdict(task, process_id, judge, q, Status.RUNNING, None)
    try:
        async with asyncio.timeout(deadline):
            with answering(judge):
                sub_claims = seen_sub_claims(judge, await judge.sub_claims(task.claim, meter))
            base = base.replace(sub_claims=sub_claims)
            whole = replace(task, claim=task.claim.replace(sub_claims=sub_claims))
            outcome = await drive(whole, judge, nodes, q, meter, observer)
    except TimeoutError:
        ended = _ended(base, Status.FAILED, f"not finished within {deadline:g} seconds")
    except OverBudget as error:
        ended = _ended(base, Status.OVER_BUDGET, str(error))
    except VeriTrailError as error:
        observer.faulted(error)
        ended = _ended(base, Status.FAILED, str(error))
    except Exception as error:  # noqa: BLE001  # one claim's fault must not end all the others
        _log.debug("verification of %s failed", task.claim.claim_id, exc_info=True)
        failure = f"internal error ({type(error).__name__}: {error}); please report it"
        ended = _ended(base, Status.FAILED, failure)
    else:
        place = await place_of_value(whole, nodes, outcome, indicative=judge.indicative)
        outcome = decided_by(place, outcome, judge.name)
        ended = await with_outcome(base, task.node, outcome, nodes, place)
        ended = ended.replace(appeals_read=nodes.appeals_in(ended.iterations) or None)
        if corrector is not None and ended.verdict is Verdict.NOT_FULLY_SUPPORTED:
            correcting = _Correcting(task, judge, nodes, q, observer, deadline)
            ended = ended.replace(correction=await correcting.by(corrector, ended, meter))
    return ended.replace(usage=meter.total, steps=meter.steps)


@dataclass(frozen=True, slots=True)
class _Correcting:
    """The correction of a claim that was verified, with what verified it."""

    task: Task
    judge: Judge
    nodes: NodeSource
    q: int
    observer: Observer
    deadline: float | None

    async def by(self, corrector: Corrector, ended: Verification, meter: Meter) -> str | None:
        """Return a wording that is Fully Supported; a fault takes nothing from the verdict."""
        spent = Meter(meter.on_record)
        try:
            async with asyncio.timeout(self.deadline):
                return await corrector.correction(
                    ended, self.nodes, partial(self._judged, spent), spent
                )
        except (VeriTrailError, TimeoutError) as error:
            if isinstance(error, EndpointRefused):
                self.observer.faulted(error)
            _log.debug("no correction of %s", self.task.claim.claim_id, exc_info=True)
            return None
        finally:
            meter.iteration = 0
            meter.take(spent, is_told=True)

    async def _judged(self, meter: Meter, claim: Claim) -> Verdict | None:
        seen = replace(self.task, claim=claim)
        outcome = await drive(seen, self.judge, self.nodes, self.q, meter, Observer())
        return outcome.verdict


def _ended(base: Verification, status: Status, failure: str) -> Verification:
    return base.replace(status=status, error=failure)


async def drive(
    task: Task, judge: Judge, nodes: NodeSource, q: int, meter: Meter, observer: Observer
) -> Outcome:
    """Answer what the walk asks for until it is done; `verify_claim` makes faults a status.

    Args:
        task: The claim and its node.
        judge: Selects evidence and gives verdicts.
        nodes: Where nodes are read from.
        q: Consecutive Not Fully Supported verdicts that stop the walk.
        meter: Records what it costs.
        observer: Its hooks are called.

    Raises:
        VeriTrailError: An answer could not be had.
    """
    steps = walk(task.node, q)
    answer: Answer | None = None
    while True:
        try:
            need = steps.send(answer)
        except StopIteration as done:
            outcome: Outcome = done.value
            return outcome
        if isinstance(need, NeedEvidence) and need.missing is None:
            meter.iteration += 1
        if isinstance(need, Finished):
            observer.iteration_finished(task, need.iteration.verdict, meter)
            answer = None
            continue
        answer = await _answer(need, task.claim, judge, nodes, meter)


async def _answer(
    need: NeedSources | NeedEvidence | NeedVerdict,
    claim: Claim,
    judge: Judge,
    nodes: NodeSource,
    meter: Meter,
) -> Answer:
    if isinstance(need, NeedSources):
        return await answered_sources(nodes, need)
    if isinstance(need, NeedEvidence):
        read, missing = await nodes.read(need.nodes), need.missing
        wanted = claim if missing is None else missing.claim(claim)
        with answering(judge):
            found = await judge.select_evidence(wanted, read, meter)
            selection = seen_selection(read, judge, found)
        return selection if missing is None else missing.numbered(selection)
    roots = await nodes.read(need.roots)
    settled = None if need.carried else need.selection.settled
    handed = Found(need.selection.evidence, roots, need.carried, settled)
    with answering(judge):
        return seen_judgement(judge, await judge.judge(claim, handed, meter))


async def place_of_value(
    task: Task, nodes: NodeSource, outcome: Outcome, *, indicative: bool
) -> FoundPlace | None:
    """Return where an unsupported value of a claim came in; None where no value tells it.

    Args:
        task: The claim and its node.
        nodes: Where nodes are read from.
        outcome: How its walk ended.
        indicative: Whether no model judged: then a value may decide what words left open.
    """
    is_open = outcome.verdict is None and indicative and bool(outcome.iterations)
    is_wrong = outcome.verdict is Verdict.NOT_FULLY_SUPPORTED
    if not (is_wrong or is_open) or task.claim.said is False:
        return None
    following = follow_value(task.claim, task.node, outcome.iterations, is_open=is_open)
    answer: SourceNodes | tuple[ReadNode, ...] | None = None
    is_long = False

    def step() -> FoundPlace | NeedSources | NeedTexts | None:
        try:
            return following.send(answer)
        except StopIteration as done:  # no future takes it
            place: FoundPlace | None = done.value
            return place

    try:
        while True:
            need = await asyncio.to_thread(step) if is_long else step()
            if isinstance(need, NeedTexts):
                answer = read = await nodes.read(need.nodes)
                is_long = are_longer(read, READ_IN_THREAD)
            elif isinstance(need, NeedSources):
                answer = await nodes.source_nodes([ref.node_id for ref in need.of])
                is_long = False
            else:
                return need
    except Exception:  # noqa: BLE001  # whatever a place lacks takes nothing from the verdict
        _log.debug("no value of %s was followed", task.claim.claim_id, exc_info=True)
        return None


def decided_by(place: FoundPlace | None, outcome: Outcome, engine: str) -> Outcome:
    """Return how a walk ended, with the verdict of a turned value where words told none."""
    if outcome.verdict is not None or place is None or place.turned is None:
        return outcome
    at = place.turned
    text = " ".join(at.read.text.split())
    reasoning = TURNED.format(engine=engine, at=at, text=text)
    return replace(outcome, verdict=Verdict.NOT_FULLY_SUPPORTED, reasoning=reasoning)


def without_verdict(
    task: Task, process_id: str, judge: Judge, q: int, status: Status, failure: str | None
) -> Verification:
    """A verification that has no verdict (yet), and why."""
    return Verification.of_claim(
        task.claim,
        verification_id=task.verification_id,
        process_id=process_id,
        q=q,
        engine=judge.name,
        model=judge.model,
        indicative=judge.indicative,
        share=shared_by(judge),
        created_at=now(),
        status=status,
        error=failure,
        place=task.place,
    )


async def with_outcome(
    base: Verification,
    node: NodeRef,
    outcome: Outcome,
    nodes: NodeSource,
    place: FoundPlace | None = None,
) -> Verification:
    """A verification with what its walk found.

    Args:
        base: The verification without a verdict.
        node: The verified node.
        outcome: What the finished walk left behind.
        nodes: Where it was read from.
        place: Where a value of the claim came in, if one leads there.
    """
    paths = evidence_paths(node, outcome.iterations, outcome.sources)
    error = locate_error(node, outcome.verdict, outcome.iterations, paths, base.claim)
    parts = parts_behind(outcome.verdict, outcome.iterations)
    rounds, sources = outcome.iterations, outcome.sources
    error = await at_writing_steps(error, node, rounds, sources, nodes)
    by_sides = ErrorLocation()
    if not error.nodes:
        by_sides = locate_by_sides(node, outcome.verdict, parts, rounds, sources, paths)
        by_sides = await at_writing_steps(by_sides, node, rounds, sources, nodes)
    is_decided = outcome.verdict is not None
    return base.replace(
        status=Status.SUCCEEDED if is_decided else Status.UNDECIDED,
        error=None if is_decided else outcome.reasoning,
        verdict=outcome.verdict,
        reasoning=outcome.reasoning,
        parts=parts,
        score=outcome.score,
        termination=outcome.termination,
        iterations=outcome.iterations,
        paths=paths,
        appeals=(appeals := cited_appeals(outcome.iterations))[:APPEALS_NAMED],
        appeals_read=len(appeals) or None,
        **located(error, place, indicative=base.indicative, by_sides=by_sides),
    )
