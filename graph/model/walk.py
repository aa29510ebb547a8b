"""Directions in which a process is walked.

Source: VeriTrail 2 (the conceptual framework).
"""

from __future__ import annotations

from enum import StrEnum


class Direction(StrEnum):
    """Which way to walk. Both: what the node was made from, and what was made of it."""

    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"
    BOTH = "both"
