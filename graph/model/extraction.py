"""What claim extraction leaves behind of each sentence of a node.

Source: VeriTrail 3.1 (claims are extracted with Claimify).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SentenceOutcome(StrEnum):
    """What became of a sentence; only `claims` comes with claims, `failed` with a fault."""

    CLAIMS = "claims"
    NO_VERIFIABLE_CLAIMS = "no_verifiable_claims"
    CANNOT_BE_DISAMBIGUATED = "cannot_be_disambiguated"
    NO_CLAIMS = "no_claims"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ExtractedSentence:
    """A sentence from which claims were to be extracted.

    Attributes:
        node_id: Its node.
        position: Its place among the sentences of the node, counted from 0.
        start: Offset of its first character in the node's text, in code points.
        end: Offset just behind its last character.
        text: `node.text[start:end]`.
        outcome: What became of it.
        reason: Why it has no claims; None where it has some.
        claim_ids: The claims that it states, those included that an earlier sentence stated.
    """

    node_id: str
    position: int
    start: int
    end: int
    text: str
    outcome: SentenceOutcome
    reason: str | None = None
    claim_ids: tuple[str, ...] = ()
