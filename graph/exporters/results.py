"""Verifications as the JSON objects of the contract.

Source: VeriTrail 3.2 (verdicts, reasoning, interim verdicts, evidence trail).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.model import (
    CitedSentence,
    Evidence,
    EvidenceRole,
    Iteration,
    Status,
    Usage,
    Verification,
)

if TYPE_CHECKING:
    from veritrail_graph.graph.store.runs import RunSummary


def verification_json(verification: Verification) -> dict[str, Any]:
    """One verification: an object of `verify --json`, and what `show --json` prints."""
    claim = verification.claim
    return {
        "verification_id": verification.verification_id,
        "process_id": verification.process_id,
        "claim_id": claim.claim_id,
        "claim": claim.text,
        "node_id": claim.node_id,
        "q": verification.q,
        "sub_claims": list(claim.sub_claims),
        "engine": verification.engine,
        "model": verification.model,
        "indicative": verification.indicative,
        "created_at": verification.created_at,
        "status": verification.status.value,
        "verdict": verification.verdict.value if verification.verdict else None,
        "reasoning": verification.reasoning,
        "score": verification.score,
        "termination": verification.termination.value if verification.termination else None,
        "error_stages": list(verification.error.stages),
        "error_nodes": [node.node_id for node in verification.error.nodes],
        "iterations": [_iteration(one, verification) for one in verification.iterations],
        "usage": asdict(verification.usage),
        "error": verification.failure,
        "run_id": verification.run_id,
        "settings": parsed_settings(verification.settings),
        "steps": [asdict(step) for step in verification.steps],
    }


def run_json(
    run_id: str,
    process_id: str,
    engine: str,
    model: str | None,
    indicative: bool,
    verifications: Iterable[Verification],
) -> dict[str, Any]:
    """What `verify --json` prints."""
    done = list(verifications)
    total = total_usage(done)
    return {
        "run_id": run_id,
        "process_id": process_id,
        "engine": engine,
        "model": model,
        "indicative": indicative,
        "verifications": [verification_json(verification) for verification in done],
        "usage": asdict(total),
        "cost": _cost(total, len(done)),
    }


def parsed_settings(settings: str | None) -> dict[str, Any] | None:
    """What decided a verification's outcome, as an object; None where that is not known."""
    found: dict[str, Any] | None = json.loads(settings) if settings is not None else None
    return found


def _cost(total: Usage, claims: int) -> dict[str, Any]:
    """Money of a run; null is unknown, or that no call was made."""
    known = total.cost_usd
    return {
        "usd": known,
        "usd_per_claim": known / claims if known is not None and claims else None,
        "unpriced_calls": total.unpriced_calls,
    }


def run_summary_json(run: RunSummary) -> dict[str, Any]:
    """A run in a list of runs, with its number of verifications by status."""
    return {
        "run_id": run.run_id,
        "created_at": run.created_at,
        "engine": run.engine,
        "model": run.model,
        "verifications": run.total,
        "counts": {status.value: run.counts[status] for status in Status if status in run.counts},
    }


def total_usage(verifications: Iterable[Verification]) -> Usage:
    """What verifications cost together; the cost is null while it is unknown."""
    total = Usage()
    for verification in verifications:
        total += verification.usage
    return total


def iteration_usage(verification: Verification, number: int) -> Usage:
    """What the steps of one iteration came to; 0: those before the first."""
    return sum((s.usage for s in verification.steps if s.iteration == number), Usage())


def _iteration(iteration: Iteration, verification: Verification) -> dict[str, Any]:
    return {
        "number": iteration.number,
        "verdict": iteration.verdict.value,
        "reasoning": iteration.reasoning,
        "checked": [node.node_id for node in iteration.checked],
        "carried_roots": [node.node_id for node in iteration.carried_roots],
        "evidence": [sentence_json(cited) for cited in selected_sentences(iteration)],
        "summaries": [_summary(found) for found in iteration.evidence],
        "dropped_ids": iteration.dropped_ids,
        "reruns": iteration.reruns,
        "left_out": iteration.left_out,
        "usage": asdict(iteration_usage(verification, iteration.number)),
    }


def selected_sentences(iteration: Iteration) -> list[CitedSentence]:
    """What an iteration selected, in the order of its frontier; each sentence once.

    A sentence that is named as evidence and as context is evidence.
    """
    place = {node.node_id: number for number, node in enumerate(iteration.checked)}
    selected: dict[tuple[int, int], CitedSentence] = {}
    for found in iteration.evidence:
        for cited in found.sentences:
            key = (place.get(cited.sentence.node_id, len(place)), cited.sentence.index)
            if key not in selected or cited.role is EvidenceRole.EVIDENCE:
                selected[key] = cited
    return [selected[key] for key in sorted(selected)]


def sentence_json(cited: CitedSentence) -> dict[str, Any]:
    """A selected sentence, and as what it was selected."""
    sentence = cited.sentence
    return {
        "node_id": sentence.node_id,
        "sentence": sentence.index,
        "start": sentence.start,
        "end": sentence.end,
        "text": sentence.text,
        "role": cited.role.value,
    }


def _summary(found: Evidence) -> dict[str, Any]:
    return {"text": found.summary, "missing": found.missing, "node_ids": list(found.node_ids)}
