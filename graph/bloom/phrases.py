"""Saved search phrases and scene actions: what a person can ask in Bloom without Cypher.

A search phrase is typed into the search bar; a scene action is run on what is selected.
Their statements are files of `cypher/bloom`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Where Bloom takes suggestions for a parameter from: a property, or a statement.

    Attributes:
        label: The label of the property; None for a statement.
        property: The property.
        statement: The statement whose one column holds the suggestions; None for a property.
    """

    label: str | None = None
    property: str | None = None
    statement: str | None = None


@dataclass(frozen=True, slots=True)
class Phrase:
    """A saved search phrase.

    Attributes:
        statement: The statement that it runs.
        text: What is typed; it names every parameter of the statement.
        meaning: What comes back; Bloom shows it beside the text.
    """

    statement: str
    text: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Action:
    """A scene action: a statement over the internal ids of the selected nodes, `$nodes`."""

    statement: str
    name: str


SUGGESTIONS: dict[str, Suggestion] = {
    "process": Suggestion(label="Process", property="process_id"),
    "claim": Suggestion(statement="bloom/suggest_claim"),
    "node": Suggestion(statement="bloom/suggest_node"),
    "stage": Suggestion(statement="bloom/suggest_stage"),
    "verification": Suggestion(statement="bloom/suggest_verification"),
}
"""What is suggested, by the name of the parameter: it means the same in every phrase."""

PHRASES: tuple[Phrase, ...] = (
    Phrase("bloom/processes", "Show all processes", "The processes that are stored whole"),
    Phrase(
        "bloom/claims",
        "Claims of process $process",
        "Claims, the nodes that state them, and their latest verdicts",
    ),
    Phrase(
        "bloom/unsupported_claims",
        "Unsupported claims of process $process",
        "Claims that are Not Fully Supported, and where the error came in",
    ),
    Phrase(
        "bloom/reviews",
        "Reviews of process $process",
        "What people said of verdicts, with the claims and verifications",
    ),
    Phrase(
        "bloom/without_verdict",
        "Verifications of process $process without a verdict",
        "Those that are queued, running, failed, over budget or cancelled",
    ),
    Phrase(
        "bloom/provenance",
        "Show provenance of claim $claim",
        "Evidence sentences and their nodes, linked from the roots down to the verified node",
    ),
    Phrase(
        "bloom/error_origin",
        "Where was $claim introduced",
        "The nodes where the error of a claim came in, and those that only carried it on",
    ),
    Phrase(
        "bloom/evidence_trail",
        "Evidence trail of verification $verification",
        "Iterations with their interim verdicts, evidence, sentences and nodes",
    ),
    Phrase(
        "bloom/checked_nodes",
        "Nodes checked by verification $verification",
        "The nodes that each iteration read",
    ),
    Phrase(
        "bloom/impact",
        "What rests on $node",
        "Claims downstream of a node, the shortest way to each, and their latest verdicts",
    ),
    Phrase("bloom/source_nodes", "Source nodes of $node", "The direct inputs of a node"),
    Phrase("bloom/made_from", "Nodes made from $node", "What a node was a direct input to"),
    Phrase(
        "bloom/stage",
        "Nodes of stage $stage in process $process",
        "The nodes of one stage, in the order of the input",
    ),
)
"""The search phrases, in the order in which Bloom lists them."""

ACTIONS: tuple[Action, ...] = (
    Action("bloom/action_source_nodes", "Show source nodes"),
    Action("bloom/action_made_from", "Show nodes made from these"),
    Action("bloom/action_verifications", "Show verifications of these claims"),
    Action("bloom/action_reviews", "Show reviews of these claims"),
    Action("bloom/action_evidence", "Show evidence trails of these verifications"),
)
"""The scene actions, in the order of the menu."""
