"""The way to walk the graph: a setting of the program that verifies, not of the request."""

from __future__ import annotations

from enum import StrEnum


class Walk(StrEnum):
    """A way to find the next frontier of a walk; what is found is the same."""

    SHARED = "shared"
    CYPHER = "cypher"
