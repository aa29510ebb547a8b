"""The time as it is stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def now() -> str:
    """The time now: ISO 8601 in UTC to the microsecond, sortable as text."""
    return now_after(0)


def now_after(microseconds: int) -> str:
    """The time in some microseconds: what is stored at once keeps an order."""
    at = datetime.now(UTC) + timedelta(microseconds=microseconds)
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")
