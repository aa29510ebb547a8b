"""Verifications as rows and properties, on their way into the graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from graph.model import EvidencePath, Iteration, StepRecord, Verification

MAX_HELD = 20_000_000
"""Characters of spans and sentences that one statement may make an engine hold."""


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
    }


def iteration_row(verification_id: str, iteration: Iteration) -> dict[str, Any]:
    """Properties of an iteration."""
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
    }


def step_rows(verification: Verification) -> Iterable[dict[str, Any]]:
    """Properties of the steps, with their place among them."""
    for position, step in enumerate(verification.steps):
        yield {
            "verification_id": verification.verification_id,
            "position": position,
            **_step_row(step),
        }


def _step_row(step: StepRecord) -> dict[str, Any]:
    """Properties of a step; what it cost stands among them."""
    properties = asdict(step)
    usage = properties.pop("usage")
    return {**properties, **usage}


def checked_rows(iterations: Iterable[Iteration], most: int) -> Iterable[list[list[Any]]]:
    """[number, node_ids] of the iterations, in batches of a bounded number of nodes."""
    rows: list[list[Any]] = []
    size = 0
    for iteration in iterations:
        names = [ref.node_id for ref in iteration.checked]
        for start in range(0, len(names), most):
            part = names[start : start + most]
            if size + len(part) > most and rows:
                yield rows
                rows, size = [], 0
            rows.append([iteration.number, part])
            size += len(part)
    if rows:
        yield rows


def _evidence_id(verification: Verification, number: int, position: int) -> str:
    return f"{verification.verification_id}/{number}/{position}"


def evidence_rows(verification: Verification) -> Iterable[dict[str, Any]]:
    """Properties of the evidence of all iterations."""
    for iteration in verification.iterations:
        for position, found in enumerate(iteration.evidence):
            yield {
                "number": iteration.number,
                "evidence_id": _evidence_id(verification, iteration.number, position),
                "position": position,
                "summary": found.summary,
                "missing": found.missing,
            }


def sentence_rows(verification: Verification) -> Iterable[dict[str, Any]]:
    """The sentences that evidence cites, each with what cites it."""
    for iteration in verification.iterations:
        for position, found in enumerate(iteration.evidence):
            for place, cited in enumerate(found.sentences):
                yield {
                    **asdict(cited.sentence),
                    "evidence_id": _evidence_id(verification, iteration.number, position),
                    "role": cited.role.value,
                    "position": place,
                }


def path_row(path: EvidencePath) -> dict[str, Any]:
    """Properties of a link of the evidence trail."""
    return {**asdict(path), "via": list(path.via)}


def sentence_batches(verification: Verification, most: int) -> Iterable[list[dict[str, Any]]]:
    """`sentence_rows` in batches bounded by rows and by what the engine has to hold.

    While it links a sentence, an engine holds the text of the whole span beside every row.
    """
    lengths: dict[str, int] = {}
    for row in sentence_rows(verification):
        lengths[row["node_id"]] = max(lengths.get(row["node_id"], 0), row["end"])
    rows: list[dict[str, Any]] = []
    held = 0
    for row in sentence_rows(verification):
        size = lengths[row["node_id"]] + len(row["text"])
        if rows and (len(rows) >= most or held + size > MAX_HELD):
            yield rows
            rows, held = [], 0
        rows.append(row)
        held += size
    if rows:
        yield rows
