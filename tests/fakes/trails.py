"""Verifications made up for tests of what is stored, written and shown of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    Evidence,
    EvidencePath,
    EvidenceRole,
    Iteration,
    MarkedSentence,
    NodeRef,
    Role,
    Sentence,
    Status,
    StepRecord,
    Usage,
    ValueDifference,
    ValuePlace,
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


LEXICAL: dict[str, Any] = {"engine": "lexical", "model": None, "indicative": True}
"""What a verification by the lexical engine says of itself."""


def spent(
    calls: int, cached: int, tokens: tuple[int, int, int], cost: float | None, **other: int
) -> Usage:
    """What calls cost; tokens: those of the prompts, those of them cached, those of the answers."""
    given, from_cache, output = tokens
    facts = {"input_tokens": given, "cached_input_tokens": from_cache, "output_tokens": output}
    return Usage(calls=calls, cached_calls=cached, cost_usd=cost, **facts, **other)


def cited(node: str, index: int, start: int, text: str, role: str = "evidence") -> CitedSentence:
    """A sentence of a node that a model selected."""
    sentence = Sentence(node, index, start, start + len(text), text)
    return CitedSentence.of(sentence, EvidenceRole(role))


def found(text: str, *sentences: CitedSentence, missing: str | None = None) -> Evidence:
    """What one prompt found, with its summary."""
    return Evidence(text=text, missing=missing, sentences=sentences)


def marked(stage: int, sentence: CitedSentence, words: str) -> MarkedSentence:
    """A sentence of a node of a stage with the words marked that matter."""
    at = sentence.text.index(words)
    facts = sentence.model_dump(exclude={"role"})
    return MarkedSentence(stage=stage, marked=((at, at + len(words)),), **facts)


def a_place(
    source: MarkedSentence, wrote: MarkedSentence, *carried: str, **other: Any
) -> ValuePlace:
    """Where a value came in: in the node of `wrote`, if nothing else is said."""
    words = [one.text[slice(*one.marked[0])] for one in (source, wrote)]
    return ValuePlace(
        **{"culprit": wrote.node_id} | other,
        source=source,
        wrote=wrote,
        difference=ValueDifference(source=words[0], wrote=words[1]),
        carried_on=carried,
    )


def path(source: str, target: str, iteration: int, *via: str) -> EvidencePath:
    """A way that evidence took."""
    return EvidencePath(source=source, target=target, iteration=iteration, via=via)


def a_round(
    number: int,
    verdict: Verdict | None,
    checked: str | Sequence[NodeRef],
    selected: Sequence[tuple[str, int] | Evidence] = (),
    **other: Any,
) -> Iteration:
    """A round that checked nodes (names apart by blanks) and selected (node, sentence)."""
    sentences = [
        CitedSentence.of(
            Sentence(one[0], one[1], one[1] * 10, one[1] * 10 + 9, f"{one[0]}-{one[1]}")
        )
        for one in selected
        if isinstance(one, tuple)
    ]
    whole = tuple(one for one in selected if isinstance(one, Evidence))
    facts: dict[str, Any] = {
        "reasoning": f"reasons of round {number}",
        "summaries": (found("what they say", *sentences),) if sentences else whole,
        **other,
    }
    refs = [NODES[name] for name in checked.split()] if isinstance(checked, str) else checked
    return Iteration(number=number, verdict=verdict, checked=tuple(refs), **facts)


def a_step(iteration: int, step: str, usage: Usage, **other: Any) -> StepRecord:
    """A step of the prompt's first version."""
    facts = {"prompt_hash": "ab" * 32, "model": "a-model", "temperature": 0.0, **other}
    return StepRecord(iteration=iteration, step=step, prompt=f"{step}.v1", usage=usage, **facts)


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
