"""Where a graph engine listens, and who we are to it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """Where a graph engine listens, and who we are to it."""

    uri: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    database: str | None = None
