"""Which sentences of an error node carried a claim: there the step's error is looked for.

Source: VeriTrail 3.2 (error localization); Error-tolerant attribution 1 (locating an error).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from veritrail_graph.graph.model import Claim, EvidenceRole, Sentence, Verification
from veritrail_graph.verifier.localization import shared_words

MOST_CARRYING = 10
"""Sentences of one error node that are attributed for one claim."""

MOST_NODES = 20
"""Error nodes of one claim whose sentences are attributed: those with most words of the claim."""

Place = tuple[str, int, int, int]
"""A sentence: its node_id, its number, its start, and its end."""


def carrying(
    verification: Verification, claim: Claim | None, sentences: Sequence[Sentence]
) -> list[Place]:
    """The sentences of the error nodes of a verification that carried its claim.

    Of a node that the walk read they are the sentences that it selected as evidence; of the
    verified node, which no walk reads, those that the claim came from.

    Args:
        verification: The verification with its evidence.
        claim: The claim with its place, where the verified node is an error node.
        sentences: The sentences of the verified node, likewise.
    """
    found: list[Place] = []
    if verification.is_unsaid:
        return found
    for ref in verification.error_nodes[:MOST_NODES]:
        if ref.node_id != verification.node_id:
            found += _selected_from(verification, ref.node_id)
        elif claim is not None:
            found += _stating(claim, sentences)
    return found


def _selected_from(verification: Verification, node_id: str) -> list[Place]:
    """What a verification selected as evidence from a node; context says nothing of the claim."""
    found = {
        (node_id, one.sentence, one.start, one.end)
        for iteration in verification.iterations
        for one in iteration.evidence
        if one.node_id == node_id and one.role is EvidenceRole.EVIDENCE
    }
    return sorted(found)[:MOST_CARRYING]


def _stating(claim: Claim, sentences: Sequence[Sentence]) -> list[Place]:
    """The sentences of a node that a claim of it came from.

    They are those at the places of the claim. Where no place is known, they are the sentences
    that share most words with it; without a shared word there are none.
    """
    if claim.start is not None and claim.end is not None:
        places = [(claim.start, claim.end), *claim.also]
        at = [one for one in sentences if _is_in(one, places)]
        return [_place(one) for one in at][:MOST_CARRYING]
    shared = [shared_words(claim.text, one.text) for one in sentences]
    most = max(shared, default=0)
    if not most:
        return []
    best = (one for one, words in zip(sentences, shared, strict=True) if words == most)
    return [_place(one) for one in best][:MOST_CARRYING]


def _is_in(sentence: Sentence, places: Iterable[tuple[int, int]]) -> bool:
    return any(sentence.start < end and start < sentence.end for start, end in places)


def _place(sentence: Sentence) -> Place:
    return sentence.node_id, sentence.index, sentence.start, sentence.end
