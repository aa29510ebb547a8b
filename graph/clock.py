"""The time as it is stored."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """The time now: ISO 8601 in UTC to the microsecond, sortable as text."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
