"""Verifications made up for tests of what is written and told about them."""

from __future__ import annotations

from typing import Any

from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    Evidence,
    Iteration,
    NodeRef,
    Role,
    Sentence,
    Status,
    StepRecord,
    Usage,
    Verdict,
    Verification,
)

FS, NFS = Verdict.FULLY_SUPPORTED, Verdict.NOT_FULLY_SUPPORTED
NODES = {
    "s1": NodeRef("s1", 2, 2, Role.INTERMEDIATE),
    "s2": NodeRef("s2", 2, 3, Role.INTERMEDIATE),
    "c1": NodeRef("c1", 1, 0, Role.ROOT),
    "c2": NodeRef("c2", 1, 1, Role.ROOT),
}


def a_round(
    number: int,
    verdict: Verdict,
    checked: str,
    selected: tuple[tuple[str, int], ...] = (),
    **other: Any,
) -> Iteration:
    """A round that checked nodes (names apart by blanks) and selected (node, sentence)."""
    sentences = tuple(
        CitedSentence.of(Sentence(node, index, index * 10, index * 10 + 9, f"{node}-{index}"))
        for node, index in selected
    )
    return Iteration(
        number=number,
        verdict=verdict,
        reasoning=f"reasons of round {number}",
        checked=tuple(NODES[name] for name in checked.split()),
        summaries=(Evidence(text="what they say", missing=None, sentences=sentences),)
        if sentences
        else (),
        **other,
    )


def a_step(iteration: int, step: str, usage: Usage) -> StepRecord:
    """A step of the prompt's first version."""
    return StepRecord(
        iteration=iteration,
        step=step,
        prompt=f"{step}.v1",
        prompt_hash="ab" * 32,
        model="a-model",
        temperature=0.0,
        usage=usage,
    )


def a_trail(name: str = "v-1", *iterations: Iteration, **other: Any) -> Verification:
    """A verification by a model that succeeded, but for what is said otherwise."""
    facts: dict[str, Any] = {
        "process_id": "p",
        "claim": Claim(claim_id="k1", text="The pier is 80 metres long.", node_id="t"),
        "q": 3,
        "engine": "openai",
        "model": "a-model",
        "indicative": False,
        "created_at": "2026-01-31T09:30:00.000000Z",
        "status": Status.SUCCEEDED,
        "verdict": iterations[-1].verdict if iterations else FS,
        **other,
    }
    claim = facts.pop("claim")
    return Verification.of_claim(claim, verification_id=name, iterations=iterations, **facts)
