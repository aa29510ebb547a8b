"""What a folder of sheets is about."""

from __future__ import annotations

from enum import StrEnum


class Grouping(StrEnum):
    """Which claims share a folder."""

    QUESTION = "question"
    """Those about one answer."""
    DOCUMENT = "document"
    """Those with the same documents."""
