"""Find the subject of a folder of sheets."""

from __future__ import annotations

from enum import StrEnum


class Grouping(StrEnum):
    """A rule that groups claims into folders."""

    QUESTION = "question"
    """Those about one answer."""
    DOCUMENT = "document"
    """Those with the same documents."""
