"""Settings of a verification: one spelling as a text, an object in JSON.

Source: ours.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import PlainSerializer, WrapValidator
from pydantic_core import PydanticCustomError, core_schema

from veritrail_graph.graph.model.canonical import canonical_text, is_deeper_than


def _settings_text(value: Any, read: core_schema.ValidatorFunctionWrapHandler) -> str:
    """Canonical JSON: the text itself, or that of an object."""
    if not isinstance(value, dict):
        text: str = read(value)
        return text
    if is_deeper_than(value):
        raise PydanticCustomError(
            "wrong_trail", "settings and run_options must not be nested too deeply"
        )
    return canonical_text(value)


SettingsText = Annotated[
    str,
    WrapValidator(_settings_text, json_schema_input_type=dict[str, Any]),
    PlainSerializer(json.loads, return_type=dict[str, Any], when_used="json"),
]
"""Canonical JSON as a text, because it is compared as a text; an object in JSON."""
