"""One spelling of a JSON value, so that values can be compared and hashed as texts.

Source: ours.
"""

from __future__ import annotations

import json

MAX_DEPTH = 100
"""Levels of lists and objects in metadata and settings; far less than what a parser bears."""

_CANONICAL = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
)


def canonical_text(value: object) -> str:
    """One spelling of a JSON value: sorted keys, no spaces.

    Raises:
        RecursionError: It is nested too deeply.
    """
    return _CANONICAL.encode(value)


def canonical(value: object) -> bytes:
    """`canonical_text` in UTF-8.

    Raises:
        UnicodeEncodeError: A string holds a lone surrogate.
        RecursionError: It is nested too deeply.
    """
    return canonical_text(value).encode("utf-8")


def is_deeper_than(value: object, levels: int = MAX_DEPTH) -> bool:
    """Whether lists and objects are nested deeper than a number of levels."""
    layer = [value]
    for _ in range(levels + 1):
        layer = [
            inner
            for outer in layer
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not layer:
            return False
    return True
