"""NaN and Infinity, which are no JSON but which Python writes: they become null, and are counted.

Logs of others hold them where a metric could not be computed. An object or list that lost one
knows how many, so that the process made from it can say so.
"""

from __future__ import annotations

import json
import math
from typing import Any

from veritrail_graph.graph.importers.process_file import reading
from veritrail_graph.graph.importers.records import ProcessInput, warned

_WRITTEN = ("NaN", "Infinity")


class _Object(dict[str, Any]):
    """An object in which some values became null."""

    nulled = 0


class _List(list[Any]):
    """A list in which some values became null."""

    nulled = 0


def parse(text: str, first_line: int = 1) -> Any:
    """JSON with null for NaN and Infinity.

    Args:
        text: The JSON text.
        first_line: The line of the file that it begins on, for messages.

    Raises:
        NotJson: With the line and column, where there is one.
    """
    try:
        return reading.parse(text, first_line)
    except reading.NotJson:
        if not any(word in text for word in _WRITTEN):
            raise
    return without(reading.parse(text, first_line, constants=True))


def without(value: Any) -> Any:
    """A value with null for every float that is not finite; itself where there is none.

    Raises:
        NotJson: It is nested too deeply.
    """
    try:
        return _without(value)
    except RecursionError:
        raise reading.NotJson("nested too deeply") from None


def _without(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        pairs = {key: _without(one) for key, one in value.items()}
        lost = sum(one is not None and pairs[key] is None for key, one in value.items())
        if not lost and all(pairs[key] is one for key, one in value.items()):
            return value
        made = _Object(pairs)
        made.nulled = lost + getattr(value, "nulled", 0)
        return made
    if isinstance(value, list):
        items = [_without(one) for one in value]
        lost = sum(old is not None and new is None for old, new in zip(value, items, strict=True))
        if not lost and all(old is new for old, new in zip(value, items, strict=True)):
            return value
        listed = _List(items)
        listed.nulled = lost + getattr(value, "nulled", 0)
        return listed
    return value


def count(value: Any) -> int:
    """Return how many values in it became null."""
    found, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (dict, list)):
            found += getattr(one, "nulled", 0)
            waiting += one.values() if isinstance(one, dict) else one
    return found


def remarks(value: Any) -> tuple[str, ...]:
    """The warning that says how many became null; none where all are as they were."""
    found = count(value)
    if not found:
        return ()
    what = "One value was" if found == 1 else f"{found:,} values were"
    return (f"{what} NaN or Infinity, which JSON does not know: null is stored in place.",)


def told(source: ProcessInput, value: Any) -> ProcessInput:
    """A process with a warning, where values that it was made from became null."""
    return warned(source, remarks(value))


def dumps(value: Any) -> str:
    """A value as JSON, with text for what JSON does not hold, and null for NaN and Infinity."""
    return json.dumps(without(value), default=str)
