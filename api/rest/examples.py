"""Types of an OpenAPI document in words, and an example of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DEEPEST = 12
"""How far an example is made up from its parts."""

_SIMPLE: dict[str, Any] = {
    "string": "…",
    "integer": 1,
    "number": 0.5,
    "boolean": True,
    "null": None,
}


def schema_words(schema: Mapping[str, Any]) -> str:
    """What a value may be; `[Name]` is a type that is described elsewhere."""
    if "$ref" in schema:
        return f"[{_name(schema)}]"
    if "enum" in schema:
        return " / ".join(str(one) for one in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(schema_words(one) for one in schema[several]))
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {schema_words(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {schema_words(schema['additionalProperties'])}"
    words = " or ".join(kind) if isinstance(kind, list) else str(kind)
    return words + _bounds(schema)


def _bounds(schema: Mapping[str, Any]) -> str:
    least = schema.get("minimum", schema.get("minLength"))
    most = schema.get("maximum", schema.get("maxLength"))
    told = [f"from {least}"] if least is not None else []
    told += [f"to {most}"] if most is not None else []
    told += [f"by default {schema['default']}"] if schema.get("default") is not None else []
    return f" ({' '.join(told)})" if told else ""


def example_of(content: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    """An example of a body or an answer: one that is given, else one of its parts.

    Args:
        content: What OpenAPI says of one media type.
        told: The whole document.
    """
    if "example" in content:
        return content["example"]
    for one in content.get("examples", {}).values():
        return one.get("value")
    return _made(content.get("schema", {}), told, DEEPEST)


def _made(schema: Mapping[str, Any], told: Mapping[str, Any], depth: int) -> Any:
    if "$ref" in schema:
        schema = told.get("components", {}).get("schemas", {}).get(_name(schema), {})
    if "example" in schema:
        return schema["example"]
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][0]
    for key in ("const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    if depth == 0:
        return None
    for several in ("anyOf", "oneOf", "allOf"):
        if schema.get(several):
            return _made(schema[several][0], told, depth - 1)
    if schema.get("type") == "array":
        return [_made(schema.get("items", {}), told, depth - 1)] if depth > 1 else []
    if "properties" in schema or schema.get("type") == "object":
        fields = schema.get("properties", {})
        return {name: _made(one, told, depth - 1) for name, one in fields.items()}
    kind = schema.get("type")
    return _SIMPLE.get(kind if isinstance(kind, str) else "null")


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema["$ref"]).rsplit("/", 1)[-1]
