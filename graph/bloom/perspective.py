"""The perspective as the JSON document that Bloom imports."""

from __future__ import annotations

import json
import re
import uuid
from typing import Any

from veritrail_graph import cypher
from veritrail_graph.graph.bloom.phrases import (
    ACTIONS,
    PHRASES,
    SUGGESTIONS,
    Action,
    Phrase,
    Suggestion,
)
from veritrail_graph.graph.bloom.styles import ICON, SIZES, THICK, Rule, relationship_colour, rules
from veritrail_graph.graph.data_model import (
    NODES,
    RELATIONSHIPS,
    NodeType,
    Property,
    RelationshipType,
)
from veritrail_graph.graph.data_model.palette import LABELS, RELATIONSHIP_COLOURS

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
        "relationshipTypes": [_relationship(each) for each in RELATIONSHIPS],
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
