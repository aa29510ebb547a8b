"""Verifications as rows and properties, on their way into the graph.

A `caption` is what a person reads on a node in a graph browser; nobody reads it back.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from veritrail_graph.graph.model import (
    CitedSentence,
    Evidence,
    EvidencePath,
    Iteration,
    StepRecord,
    Verdict,
    Verification,
)

CAPTION = 40
"""Characters of the longest caption."""


def short(text: str) -> str:
    """A text as it is read on a node: on one line, and the end left out where it is long.

    The statements that store spans, claims and extractions, and the migration that gives
    captions to older graphs, say the same in Cypher.
    """
    line = text.replace("\r\n", " ").replace("\n", " ").replace("\r", " ")
    return line if len(line) <= CAPTION else line[: CAPTION - 1] + "…"


def in_words(verdict: Verdict, indicative: bool) -> str:
    """A verdict as it is read: `Not Fully Supported`, or `Not Fully Supported (indicative)`."""
    words = verdict.value.replace("_", " ").title()
    return f"{words} (indicative)" if indicative else words


def verification_caption(verification: Verification) -> str:
    """What came of a verification, in words: its verdict or, without one, its status."""
    if verification.verdict is None:
        return verification.status.value.replace("_", " ").capitalize()
    return in_words(verification.verdict, verification.indicative)


def verification_row(verification: Verification) -> dict[str, Any]:
    """Properties of a verification."""
    claim = verification.claim
    return {
        "verification_id": verification.verification_id,
        "process_id": verification.process_id,
        "claim_id": claim.claim_id,
        "claim": claim.text,
        "sub_claims": list(claim.sub_claims),
        "node_id": claim.node_id,
        "method": "veritrail",
        "q": verification.q,
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
        "failure": verification.failure,
        "content_hash": verification.content_hash,
        "run_id": verification.run_id,
        "settings": verification.settings,
        "run_options": verification.run_options,
        **asdict(verification.usage),
        "caption": verification_caption(verification),
    }


def iteration_row(verification_id: str, iteration: Iteration, indicative: bool) -> dict[str, Any]:
    """Properties of an iteration of a verification that is indicative, or is not."""
    return {
        "verification_id": verification_id,
        "number": iteration.number,
        "verdict": iteration.verdict.value,
        "reasoning": iteration.reasoning,
        "dropped_ids": iteration.dropped_ids,
        "reruns": iteration.reruns,
        "left_out": iteration.left_out,
        "checked_count": len(iteration.checked),
        "evidence_count": sum(len(found.sentences) for found in iteration.evidence),
        "carried_roots": [root.node_id for root in iteration.carried_roots],
        # Enough to read a carried root back without another look at the process.
        "carried_places": [
            value for root in iteration.carried_roots for value in (root.stage, root.position)
        ],
        "caption": f"{iteration.number}: {in_words(iteration.verdict, indicative)}",
    }


def step_row(verification_id: str, position: int, step: StepRecord) -> dict[str, Any]:
    """Properties of a step, with its place among them; what it cost stands among them."""
    properties = asdict(step)
    usage = properties.pop("usage")
    return {
        "verification_id": verification_id,
        "position": position,
        **properties,
        **usage,
        "caption": short(f"{step.iteration}: {step.step}"),
    }


def evidence_id(verification_id: str, number: int, position: int) -> str:
    """The key of evidence: its place among that of an iteration."""
    return f"{verification_id}/{number}/{position}"


def evidence_row(key: str, position: int, found: Evidence) -> dict[str, Any]:
    """Properties of evidence."""
    return {
        "evidence_id": key,
        "position": position,
        "summary": found.summary,
        "missing": found.missing,
        "caption": short(found.summary or "Evidence"),
    }


def sentence_row(position: int, cited: CitedSentence) -> list[Any]:
    """A cited sentence: [node_id, index, start, end, text, caption, role, position]."""
    found = cited.sentence
    caption = short(found.text or found.node_id)
    place = [found.node_id, found.index, found.start, found.end]
    return [*place, found.text, caption, cited.role.value, position]


def path_row(path: EvidencePath) -> list[Any]:
    """A link of the evidence trail: [source, target, iteration, via]."""
    return [path.source, path.target, path.iteration, list(path.via)]
