"""A Bloom perspective of the graph: categories, sizes, colours, search phrases, scene actions.

The shape is that of perspectives which Bloom 2.7 exports. Nothing here reads a graph: the
same version of this program always writes the same perspective. A search phrase is typed into
the search bar; a scene action runs on the selected nodes. Their statements are files of
`cypher/bloom`.

No category has an icon: a perspective names icons by ids of Bloom's own, and which picture an
id means is not documented. A style rule asks for a text, as all rules of real exports do. That
a verdict is indicative is not a text property, so the caption includes it.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from veritrail_graph import cypher
from veritrail_graph.graph.model import Role, Status
from veritrail_graph.graph.schema.element_types import NodeType, Property, RelationshipType
from veritrail_graph.graph.schema.model import NODES, RELATIONSHIPS
from veritrail_graph.graph.schema.style import (
    LABELS,
    NO_VERDICT,
    PLAIN_RELATIONSHIP,
    RELATIONSHIP_COLOURS,
    VERDICTS,
)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The source of Bloom's suggestions for a parameter: a property, or a statement.

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
        "bloom/final_outputs",
        "Final outputs of process $process",
        "What a process produced in the end, with the claims about it",
    ),
    Phrase(
        "bloom/claims",
        "Claims of process $process",
        "Claims, the nodes that state them, and their verdicts in force",
    ),
    Phrase(
        "bloom/unsupported_claims",
        "Unsupported claims of process $process",
        "Claims that are Not Fully Supported, and where the error entered",
    ),
    Phrase(
        "bloom/reviews",
        "Reviews of process $process",
        "Reviews of verdicts, with the claims and verifications",
    ),
    Phrase(
        "bloom/without_verdict",
        "Verifications of process $process without a verdict",
        "Those that are queued, running, undecided, failed, over budget or cancelled",
    ),
    Phrase(
        "bloom/provenance",
        "Show provenance of claim $claim",
        "The evidence trail of a claim: from the roots to its verification, with the sentences",
    ),
    Phrase(
        "bloom/error_origin",
        "Where was $claim introduced",
        "The nodes where the error of a claim entered, and those that only passed it on",
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
        "bloom/candidates",
        "Candidates of verification $verification",
        "What each iteration read and found evidence in, and the source nodes of it",
    ),
    Phrase(
        "bloom/impact",
        "What rests on $node",
        "Claims downstream of a node, the shortest way to each, and their verdicts in force",
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


ICON = "no-icon"

SIZES: dict[str, float] = {
    "Process": 2,
    "Claim": 1.5,
    "Verification": 1.5,
    "Sentence": 0.75,
    "Step": 0.5,
}
"""Sizes of nodes by label; 1 otherwise."""

THICK = 2
"""Size of the relationships that answer a question; the others have 1."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Nodes whose property has this value take another colour, or another size.

    Attributes:
        property: A text property of the label.
        value: Its value.
        colour: The colour; None leaves that of the label.
        size: The size; None leaves that of the label.
    """

    property: str
    value: str
    colour: str | None = None
    size: float | None = None


def rules(label: str) -> Iterator[Rule]:
    """Rules of a label; no two of them fit the same node."""
    if label in {"Verification", "Iteration"}:
        for verdict, colours in VERDICTS.items():
            yield Rule("verdict", verdict, colours.fill)
    if label == "Verification":  # without a verdict: never in the colour of one
        for status in Status:
            if status is not Status.SUCCEEDED:
                yield Rule("status", status.value, NO_VERDICT.fill)
    if label == "TrailNode":
        yield Rule("role", Role.ROOT.value, LABELS["Span"].border)
    if label == "Span":
        yield Rule("role", Role.ROOT.value, LABELS["Span"].border)
        yield Rule("role", Role.TERMINAL.value, size=2)
        yield Rule("role", Role.UNSOURCED.value, NO_VERDICT.fill)


def relationship_colour(type_: str) -> str:
    """The colour of a type of relationship."""
    return RELATIONSHIP_COLOURS.get(type_, PLAIN_RELATIONSHIP)


VERSION = "2.7.0"
"""The version of Bloom whose exports show this shape."""

_MADE_AT = 1_767_225_600_000
"""2026-01-01 in milliseconds, for every time and every counted id: no two exports differ."""

_NAMESPACE = uuid.UUID("0f6c1f0e-6b5e-5d0a-9a35-0e7f1f9d2c41")
_CAPTION_OF_TYPE = "0_REL_TYPE_CAPTION_KEY"
_DATA_TYPES = {
    "string": "string",
    "integer": "bigint",
    "float": "number",
    "boolean": "boolean",
    "list of strings": "array",
    "list of integers": "array",
}
_PARAMETER_TYPES = {"string": "String", "integer": "Integer"}
_NO_GRADIENT = {  # of rules that follow a range of numbers; Bloom writes them into every rule
    "minSize": 1,
    "maxSize": 2,
    "minColor": "#D5EEE2",
    "midColor": "#81CCA8",
    "maxColor": "#428C6A",
    "minPoint": "unprocessed",
    "maxPoint": "unprocessed",
}


def perspective() -> dict[str, Any]:
    """The perspective: categories, relationships, search phrases and scene actions."""
    shown = [node for node in NODES if not node.housekeeping]
    return {
        "name": "VeriTrail",
        "id": _id("perspective"),
        "version": VERSION,
        "type": "STANDARD_PERSPECTIVE",
        "categories": [_category(number, node) for number, node in enumerate(shown, start=1)],
        "labels": {node.label: _keys(node.label, node.properties) for node in shown},
        "relationshipTypes": [_relationship(each) for each in _types()],
        "palette": {"colors": [LABELS[node.label].fill for node in shown], "currentIndex": 0},
        "createdAt": _MADE_AT,
        "lastEditedAt": _MADE_AT,
        "templates": [_template(number, each) for number, each in enumerate(PHRASES, start=1)],
        "sceneActions": [_action(number, each) for number, each in enumerate(ACTIONS, start=1)],
        "hiddenRelationshipTypes": [],
        "hiddenCategories": [],
        # What is ours has a category; the rest of the database, and our own housekeeping, has
        # none and stays out of sight.
        "hideUncategorisedData": True,
        "isAuto": False,
        "history": [],
        "maxLimitToastMsgEnabled": False,
        "parentPerspectiveId": None,
        "metadata": {
            "pathSegments": [
                {"source": each.source, "relationshipType": each.type, "target": each.target}
                for each in RELATIONSHIPS
            ],
            "indexes": [_index(node) for node in shown if node.key],
            "stats": {"labels": {}, "relationshipTypes": {}},
        },
    }


def perspective_json() -> str:
    """The perspective as the text of its file."""
    return json.dumps(perspective(), ensure_ascii=False, indent=1) + "\n"


def _id(name: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, name))


def _category(number: int, node: NodeType) -> dict[str, Any]:
    caption = {"key": node.caption, "type": "property", "isCaption": True, "inTooltip": True}
    return {
        "id": number,
        "name": node.label,
        "labels": [node.label],
        "properties": [
            {
                "name": each.name,
                "exclude": each.housekeeping,
                "dataType": _DATA_TYPES[each.type],
            }
            for each in node.properties
        ],
        "createdAt": _MADE_AT,
        "lastEditedAt": _MADE_AT,
        "color": LABELS[node.label].fill,
        "size": SIZES.get(node.label, 1),
        "icon": ICON,
        "textSize": 1,
        "textAlign": "top",
        "captionKeys": [node.caption],
        "captions": [{**caption, "styles": [], "isGdsData": False}],
        "styleRules": [
            _rule(node, number * 100 + place, each)
            for place, each in enumerate(rules(node.label), start=1)
        ],
    }


def _rule(node: NodeType, number: int, rule: Rule) -> dict[str, Any]:
    return {
        "id": f"rule:{_MADE_AT + number}",
        "type": "single",
        "size": 1 if rule.size is None else rule.size,
        **_NO_GRADIENT,
        "applyColor": rule.colour is not None,
        "applySize": rule.size is not None,
        "applyCaption": False,
        "captionKeys": [node.caption],
        "color": rule.colour or LABELS[node.label].fill,
        "isTimeZoneConvertEnabled": False,
        "selectedTimeZone": "Z",
        "basedOn": f"{rule.property}_string",
        "valuesMapper": [],
        "existingValues": [],
        "conditionValue": rule.value,
        "rangeValue": None,
        "condition": "equals",
    }


def _keys(owner: str, properties: tuple[Property, ...]) -> list[dict[str, Any]]:
    return [
        {"propertyKey": each.name, "type": owner, "dataType": _DATA_TYPES[each.type]}
        for each in properties
    ]


def _types() -> list[RelationshipType]:
    """One relationship a type, with the properties of all that it has between other labels."""
    found: dict[str, RelationshipType] = {}
    for each in RELATIONSHIPS:
        first = found.setdefault(each.type, each)
        more = tuple(one for one in each.properties if one not in first.properties)
        found[each.type] = replace(first, properties=first.properties + more)
    return list(found.values())


def _relationship(made: RelationshipType) -> dict[str, Any]:
    caption = {"key": made.type, "type": "relationship", "isCaption": True, "inTooltip": True}
    return {
        "id": made.type,
        "name": made.type,
        # A relationship has no list of hidden properties: housekeeping is left out instead.
        "properties": _keys(
            made.type, tuple(each for each in made.properties if not each.housekeeping)
        ),
        "color": relationship_colour(made.type),
        "size": THICK if made.type in RELATIONSHIP_COLOURS else 1,
        "captionKeys": [_CAPTION_OF_TYPE],
        "textSize": 1,
        "textAlign": "top",
        "captions": [{**caption, "styles": []}],
        "styleRules": [],
    }


def _index(node: NodeType) -> dict[str, Any]:
    keys = [{"key": name, "metadataProp": False} for name in node.key]
    return {"label": node.label, "type": "native", "propertyKeys": keys}


def _template(number: int, phrase: Phrase) -> dict[str, Any]:
    statement = cypher.load(phrase.statement)
    types = {parameter.name: parameter.type for parameter in statement.parameters}
    return {
        "name": phrase.meaning,
        "id": f"tmpl:{_MADE_AT + number}",
        "createdAt": _MADE_AT + number,
        "text": phrase.text,
        "cypher": statement.text,
        "isUpdateQuery": None,
        "isWriteTransactionChecked": None,
        "hasCypherErrors": False,
        "params": [
            _parameter(name, _PARAMETER_TYPES[types[name]], SUGGESTIONS[name])
            for name in re.findall(r"\$(\w+)", phrase.text)
        ],
    }


def _parameter(name: str, data_type: str, suggestion: Suggestion) -> dict[str, Any]:
    statement = suggestion.statement
    return {
        "name": f"${name}",
        "dataType": data_type,
        "collapsed": False,
        "suggestionLabel": suggestion.label,
        "suggestionProp": suggestion.property,
        "suggestionBoolean": False,
        "cypher": None if statement is None else cypher.load(statement).text,
    }


def _action(number: int, action: Action) -> dict[str, Any]:
    return {
        "name": action.name,
        "id": _id(action.statement),
        "createdAt": _MADE_AT + number,
        "cypher": cypher.load(action.statement).text,
        "isUpdateQuery": None,
        "categories": None,
        "relationshipTypes": None,
        "hasCypherErrors": False,
    }
