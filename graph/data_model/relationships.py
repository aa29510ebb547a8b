"""The relationship types, with the labels that each connects."""

from __future__ import annotations

from veritrail_graph.graph.data_model.types import (
    Property,
    RelationshipType,
    integer,
    kept,
    string,
    strings,
)

RELATIONSHIPS: tuple[RelationshipType, ...] = (
    RelationshipType(
        "INPUT_TO",
        "Span",
        "Span",
        "the first was an input to the step that produced the second",
        (Property("cited", "boolean", "whether the second names the first as a source"),),
    ),
    RelationshipType("EXTRACTED_FROM", "Claim", "Span", "the node that states the claim"),
    RelationshipType("EXTRACTION_OF", "Extraction", "Span", "where the sentence stands"),
    RelationshipType("VERIFIES", "Verification", "Claim", "a claim can be verified many times"),
    RelationshipType("REVIEWS", "Review", "Claim", "the claim that a person reviewed"),
    RelationshipType(
        "CONSIDERS", "Review", "Verification", "the verification whose verdict was reviewed"
    ),
    RelationshipType("HAS_ITERATION", "Verification", "Iteration", "the rounds"),
    RelationshipType("TOOK", "Verification", "Step", "what was asked of models"),
    RelationshipType("CHECKED", "Iteration", "Span", "the nodes that were read in the iteration"),
    RelationshipType("FOUND", "Iteration", "Evidence", "what was selected"),
    RelationshipType(
        "CITES",
        "Evidence",
        "Sentence",
        "a selected sentence",
        (
            string("role", "`evidence` or `context`"),
            kept("position", "integer", "its place in the prompt"),
        ),
    ),
    RelationshipType("SENTENCE_OF", "Sentence", "Span", "where the sentence stands"),
    RelationshipType(
        "EVIDENCE_FOR",
        "Span",
        "Span",
        "a link of the provenance path",
        (
            kept("verification_id", "string", "the verification that found it"),
            integer("iteration", "the iteration that found the evidence of the first node"),
            strings("via", "nodes without evidence between the two"),
        ),
    ),
    RelationshipType(
        "ERROR_INTRODUCED_AT",
        "Verification",
        "Span",
        "where unsupported content came in",
        (integer("stage", "the error stage"),),
    ),
    RelationshipType(
        "ERROR_PROPAGATED_THROUGH",
        "Verification",
        "Span",
        "a later node that only carried it on; the verified node too",
    ),
)
