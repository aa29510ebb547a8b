"""Types of an OpenAPI document in words, and an example of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from veritrail_graph.api.rest.sample_values import SAMPLES, SPECIAL, TEXTS

DEEPEST = 12
"""How far an example is made up from its parts."""

_SIMPLE: dict[str, Any] = {
    "string": "…",
    "integer": 1,
    "number": 0.5,
    "boolean": True,
    "null": None,
}
_KINDS: dict[Any, type] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": type(None),
    "array": list,
    "object": dict,
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


def complete(operation: dict[str, Any], told: Mapping[str, Any]) -> None:
    """Give an example to every parameter, body and successful answer that has none.

    Args:
        operation: What OpenAPI says of one call; it is changed.
        told: The whole document.
    """
    for parameter in operation.get("parameters", ()):
        if not {"example", "examples"} & set(parameter):
            schema = parameter["schema"]
            parameter["example"] = _made(schema, told, DEEPEST, parameter["name"])
    parts = [operation.get("requestBody", {})]
    parts += [one for status, one in operation["responses"].items() if status < "300"]
    for part in parts:
        for kind, content in part.get("content", {}).items():
            if {"example", "examples"} & set(content) or not content.get("schema"):
                continue
            if kind in TEXTS:
                content["example"] = TEXTS[kind]
            elif content["schema"].get("format") != "binary":
                content["example"] = example_of(content, told)


def _sample(schema: Mapping[str, Any], name: str) -> tuple[bool, Any]:
    """Whether there is a value for a field of this name and type, and the value."""
    value = SAMPLES.get(name)
    kinds = [one.get("type") for one in schema.get("anyOf", [schema])]
    return name in SAMPLES and any(_KINDS.get(kind) is type(value) for kind in kinds), value


def _made(
    schema: Mapping[str, Any],
    told: Mapping[str, Any],
    depth: int,
    name: str = "",
    owner: str = "",
) -> Any:
    if "$ref" in schema:
        schema = told.get("components", {}).get("schemas", {}).get(_name(schema), {})
    if "example" in schema:
        return schema["example"]
    if f"{owner}.{name}" in SPECIAL:
        return SPECIAL[f"{owner}.{name}"]
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][0]
    is_there, value = _sample(schema, name)
    if is_there:
        return value
    for key in ("const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    if depth == 0:
        return None
    for several in ("anyOf", "oneOf", "allOf"):
        if schema.get(several):
            return _made(schema[several][0], told, depth - 1, name, owner)
    if schema.get("type") == "array":
        return [_made(schema.get("items", {}), told, depth - 1)] if depth > 1 else []
    if "properties" in schema or schema.get("type") == "object":
        fields = schema.get("properties", {})
        owner = str(schema.get("title", ""))
        return {field: _made(one, told, depth - 1, field, owner) for field, one in fields.items()}
    kind = schema.get("type")
    return _SIMPLE.get(kind if isinstance(kind, str) else "null")


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema["$ref"]).rsplit("/", 1)[-1]
