"""The claims of a dialogue's turns in a check, by the category that each has.

A category is no verdict of VeriTrail, so claims of turns have none. Contradicted claims, and those
that no document of their turn supports, are findings; what words alone do not decide is undecided.

Source: VISTA 3; docs/adr/0066-check.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.evidence_pair import MOST_CHARACTERS, compared_pair
from veritrail_graph.graph.findings import ProcessFacts, places_of
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.dialogue import TURN, ClaimCategory
from veritrail_graph.graph.model.finding import CheckedClaim, CheckJudge, Finding
from veritrail_graph.graph.store.dialogues import verification_id

if TYPE_CHECKING:
    from veritrail_graph.api.requests.dialogue import DialogueParameters, DialogueRequest
    from veritrail_graph.api.requests.verify import VerifyRequest
    from veritrail_graph.graph.model import Process
    from veritrail_graph.graph.model.conversation import ClaimPlace
    from veritrail_graph.graph.model.dialogue import DialogueRun, TurnClaim
    from veritrail_graph.graph.model.turn_claim import TurnClaimFound
    from veritrail_graph.graph.store import Store

WITHOUT_DOCUMENTS = "No document came with its turn, and nothing that was said before says it."
WITHOUT_CATEGORY = "It is not verified; why was not asked."
_SAME_OPTIONS = (
    "engine", "model", "claims_model", "verdict_model", "budget_usd", "max_calls", "price",
    "effort", "structured", "use_cache",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CheckedClaims:
    """The claims of a process that were checked.

    Attributes:
        results: All of them, in their order.
        wrong: A finding for each that is wrong.
    """

    results: tuple[CheckedClaim, ...]
    wrong: tuple[Finding, ...]


def dialogue_parameters(request: VerifyRequest) -> DialogueParameters:
    """Return how turns are verified where claims are verified as a request says."""
    from veritrail_graph.api.requests.dialogue import DialogueParameters

    return DialogueParameters(
        **{
            name: getattr(request, name)
            for name in _SAME_OPTIONS
            if name in request.model_fields_set
        }
    )


def dialogue_request(request: VerifyRequest) -> DialogueRequest:
    """Return the request to verify the turns of a dialogue in a job."""
    from veritrail_graph.api.requests.dialogue import DialogueRequest

    return DialogueRequest(dialogue_id=request.process_id, **dict(dialogue_parameters(request)))


def judge_of_turns(run: DialogueRun) -> CheckJudge:
    """Return the judge; nothing was measured of a judge of turns."""
    return CheckJudge(engine=run.engine, model=run.model, indicative=run.indicative)


def failures_of_turns(
    where: str, run: DialogueRun, *, is_stopped: bool = False
) -> list[tuple[str, VeriTrailError]]:
    """Return why turns have no claims that could say so: where they are, and the error.

    Args:
        where: Where the dialogue was read.
        run: What was found of its turns.
        is_stopped: Whether a person stopped it, so that cancelled turns did not fail.
    """
    failed: dict[str, list[str]] = {}
    for turn in run.turns:
        if is_stopped and turn.status is Status.CANCELLED:
            continue
        is_named = any(claim.status is not Status.SUCCEEDED for claim in turn.claims)
        if not turn.status.is_result and not is_named:
            failed.setdefault(turn.error or turn.status.value, []).append(turn.turn_id)
    return [
        (
            f"{where}, turn {names[0]}" + (f" and {len(names) - 1:,} more" if names[1:] else ""),
            VeriTrailError(error),
        )
        for error, names in failed.items()
    ]


async def checked_turns(store: Store, process: Process, run: DialogueRun) -> CheckedClaims:
    """Return the claims of turns that were verified, with the findings of the wrong ones.

    Args:
        store: The graph.
        process: The dialogue.
        run: What was found of its turns.
    """
    name = process.process_id
    documented = await store.dialogues.documents(
        name, [f"{TURN}{turn.turn_id}" for turn in run.turns]
    )
    results: list[CheckedClaim] = []
    wrong: list[tuple[str, TurnClaim]] = []
    for turn in run.turns:
        node_id = f"{TURN}{turn.turn_id}"
        for claim in turn.claims:
            result = _checked_claim(run, claim, has_documents=bool(documented.get(node_id)))
            results.append(result)
            if result.is_wrong:
                wrong.append((node_id, claim))
    facts = await _facts(store, process, wrong)
    denied = await store.dialogues.places(
        name, list(dict.fromkeys(other for _, claim in wrong for other in claim.contradicts))
    )
    findings = tuple(_finding(run, node_id, claim, facts, denied) for node_id, claim in wrong)
    return CheckedClaims(tuple(results), findings)


async def turn_claim(
    store: Store, process: Process, run: DialogueRun, claim_id: str
) -> TurnClaimFound | None:
    """Return a claim of a turn as it counts; None: no turn of the run has it.

    Args:
        store: The graph.
        process: The dialogue.
        run: What was found of its turns.
        claim_id: The claim.
    """
    from veritrail_graph.graph.model.turn_claim import TurnClaimFound

    for turn in run.turns:
        for claim in turn.claims:
            if claim.claim_id == claim_id:
                alone = turn.model_copy(update={"claims": (claim,)})
                one = run.model_copy(update={"turns": (alone,)})
                checked = await checked_turns(store, process, one)
                facts = await _facts(store, process, [(f"{TURN}{turn.turn_id}", claim)])
                return TurnClaimFound(
                    dialogue_id=run.dialogue_id,
                    run_id=run.run_id,
                    engine=run.engine,
                    model=run.model,
                    indicative=run.indicative,
                    turn_id=turn.turn_id,
                    turn=facts.node(f"{TURN}{turn.turn_id}"),
                    claim=claim,
                    result=checked.results[0],
                    finding=checked.wrong[0] if checked.wrong else None,
                )
    return None


def _checked_claim(run: DialogueRun, claim: TurnClaim, *, has_documents: bool) -> CheckedClaim:
    """Return a claim of a turn with its category, or with the reason that it has none.

    It is undecided where its judge could not tell, or where no document came with it. Runs of
    before that no model judged have a category for what words do not tell.
    """
    status, reason = claim.status, claim.error
    lacks = claim.category is ClaimCategory.LACKING_EVIDENCE
    if status is Status.SUCCEEDED and claim.category is None:
        status, reason = Status.UNDECIDED, WITHOUT_CATEGORY
    elif status is Status.UNDECIDED or (lacks and (run.indicative or not has_documents)):
        status = Status.UNDECIDED
        reason = claim.reason if has_documents else WITHOUT_DOCUMENTS
    return CheckedClaim(
        process_id=run.dialogue_id,
        claim_id=claim.claim_id,
        claim=claim.claim,
        verdict=None,
        category=claim.category if status is Status.SUCCEEDED else None,
        status=status,
        verification_id=verification_id(run.run_id, claim.claim_id),
        reason=reason,
    )


async def _facts(
    store: Store, process: Process, wrong: Sequence[tuple[str, TurnClaim]]
) -> ProcessFacts:
    """Return the nodes that findings name: turns, and what the assistant counts as knowing."""
    names: dict[str, None] = {}
    for node_id, claim in wrong:
        names |= dict.fromkeys((node_id, *claim.contradicts_knowledge[:1]))
    nodes = await store.nodes.with_metadata(process.process_id, list(names)) if names else []
    return ProcessFacts({node.node_id: node for node in nodes}, process.stage_names)


def _finding(
    run: DialogueRun,
    node_id: str,
    claim: TurnClaim,
    facts: ProcessFacts,
    denied: Mapping[str, ClaimPlace],
) -> Finding:
    """Return the finding of a claim of a turn; nothing says that it went wrong in that turn."""
    source = None
    said = _said_before(claim, facts, denied)
    marks: tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]] = ((), ())
    if said is not None:
        before, text, stage = said
        if max(len(text), len(claim.claim)) <= MOST_CHARACTERS:
            pair = compared_pair(text, claim.claim, claim.claim)
            marks = places_of(pair.source), places_of(pair.wrote)
        source = facts.quote(before, text, marks[0], stage=stage)
    wrote = facts.quote(node_id, claim.claim, marks[1])
    return Finding(
        process_id=run.dialogue_id,
        claim_id=claim.claim_id,
        claim=claim.claim,
        verdict=None,
        category=claim.category,
        verification_id=verification_id(run.run_id, claim.claim_id),
        source=source,
        wrote=wrote,
        reasoning=claim.reason,
    )


def _said_before(
    claim: TurnClaim, facts: ProcessFacts, denied: Mapping[str, ClaimPlace]
) -> tuple[str, str, int | None] | None:
    """Return what a claim contradicts, if that was established before: node, text and stage."""
    for name in claim.contradicts:
        if name in denied:
            place = denied[name]
            return place.node_id, place.text, place.stage
    for name in claim.contradicts_knowledge[:1]:
        if name in facts.nodes:
            node = facts.nodes[name]
            return name, node.text or "", node.stage
    return None
