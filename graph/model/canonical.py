"""One spelling of a JSON value, so that values can be compared and hashed as texts.

Source: ours.
"""

from __future__ import annotations

import json

from veritrail_graph.graph.contract import is_deeper_than as is_deeper_than

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
