"""Say in plain words what is wrong with a value, for every door."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.errors import Violation, Violations

if TYPE_CHECKING:
    from pydantic import ValidationError

LONGEST = 200
"""Characters of the place of a fault: the name of a field that nobody knows may be any text."""

_SENTENCES = {
    "string_too_long": "is longer than {max_length} characters",
    "string_too_short": "is shorter than {min_length} characters",
    "string_type": "must be a text",
    "string_pattern_mismatch": "must match the pattern {pattern}",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be a JSON object",
    "model_type": "must be a JSON object",
    "model_attributes_type": "must be a JSON object",
    "too_short": "has fewer than {min_length} entries",
    "too_long": "has more than {max_length} entries",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "enum": "must be one of {expected}",
    "literal_error": "must be one of {expected}",
    "missing": "is missing",
    "extra_forbidden": "is not known here",
}


def sentence(fault: Mapping[str, Any]) -> str:
    """Return what is wrong with a value, behind its name.

    Args:
        fault: What pydantic says of it: `type`, `msg`, and `ctx` with the bounds.
    """
    bounds = fault.get("ctx", {})
    if bounds.get("min_length") == 1:
        return "is empty"
    words = _SENTENCES.get(fault["type"])
    message = str(fault["msg"])
    return words.format_map(bounds) if words else message[:1].lower() + message[1:]


def violations_of(error: ValidationError, place: str = "") -> list[Violation]:
    """The faults of the fields of a request: the first of each kind, the rest counted.

    Args:
        error: What pydantic says.
        place: What stands before the name of each field.
    """
    return Violations(
        Violation(one["type"], (place + ".".join(map(str, one["loc"])))[:LONGEST], sentence(one))
        for one in error.errors(include_url=False, include_input=False)
    ).listed()
