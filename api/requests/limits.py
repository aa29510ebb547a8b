"""Limits of a request: bounds that several doors and the application check."""

from __future__ import annotations

MOST_TAGS, LONGEST_TAG, LONGEST_PROJECT = 50, 100, 200
LINK_DAYS, MOST_LINK_DAYS, LONGEST_LINK_NOTE = 30, 365, 200
"""A link that shows a process: how long it works by default and at most, and its note."""
LONGEST_COMMENT = 5_000
MOST_REVIEWERS = 50
MOST_DRAWN = 10_000
"""Claims that are drawn for a round of review."""
