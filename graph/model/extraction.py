"""The record that claim extraction stores for each sentence of a node.

Source: VeriTrail 3.1 (claims are extracted with Claimify).
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from veritrail_graph.graph.model.noun import Count, Many, NodeId, Noun, OneOf, PublicId, Text


class SentenceOutcome(StrEnum):
    """How the extraction of a sentence ended; only `claims` comes with claims."""

    CLAIMS = "claims"
    NO_VERIFIABLE_CLAIMS = "no_verifiable_claims"
    CANNOT_BE_DISAMBIGUATED = "cannot_be_disambiguated"
    NO_CLAIMS = "no_claims"
    FAILED = "failed"


class ExtractedSentence(Noun):
    """A sentence from which claims were to be extracted."""

    node_id: NodeId = Field(description="Its node.")
    position: Count = Field(description="Its place among the sentences of the node, from 0.")
    start: Count = Field(description="Offset of its first character, in code points.")
    end: Count = Field(description="Offset just behind its last character.")
    text: Text = Field(description="The text of the node from `start` to `end`.")
    outcome: OneOf[SentenceOutcome] = Field(description="How its extraction ended.")
    reason: Text | None = Field(
        default=None, description="Why it has no claims; null where it has some."
    )
    claim_ids: Many[PublicId] = Field(
        default=(),
        description="The claims that it states, also those that an earlier sentence stated.",
    )
