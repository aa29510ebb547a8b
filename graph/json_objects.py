"""Objects of JSON in which no key stands twice: which value of it counts depends on the reader."""

from __future__ import annotations

from typing import Any

_MOST = 80
"""Characters of a key that a message shows."""


def object_of(pairs: list[tuple[str, Any]], fault: type[Exception]) -> dict[str, Any]:
    """The object of these keys and values.

    Args:
        pairs: What a decoder read, in its order.
        fault: What is raised where a key stands twice.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise fault(f"the key {repeated[:_MOST]!r} is used twice in one object")
    return found
