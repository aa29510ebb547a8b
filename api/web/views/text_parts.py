"""A long text in parts of much the same length, each cut where a line or a word ends."""

from __future__ import annotations

PART = 20_000
"""Code points of one part of a text."""

Place = tuple[int, int]
"""Where something begins in a text, and the offset just behind it, in code points."""

SLACK = 500
"""How far the end of a part may move back, to where a line or a word ends."""


def part_count(length: int, size: int = PART) -> int:
    """How many parts a text of this length has."""
    return max(-(-length // size), 1)


def part_of(offset: int, text: str, size: int = PART) -> int:
    """The part in which a place of the text stands, counted from 1."""
    part = min(offset // size + 1, part_count(len(text), size))
    return part + 1 if offset >= part_bounds(text, part, size)[1] and offset < len(text) else part


def part_bounds(text: str, part: int, size: int = PART) -> Place:
    """Where a part begins and ends; it ends behind a line or a word, if there is one near."""
    slack = min(SLACK, size // 2)
    return _cut(text, (part - 1) * size, slack), _cut(text, part * size, slack)


def _cut(text: str, near: int, slack: int) -> int:
    if near <= 0:
        return 0
    if near >= len(text):
        return len(text)
    for mark in ("\n", " "):
        place = text.rfind(mark, near - min(slack, near), near)
        if place >= 0:
            return place + 1
    return near
