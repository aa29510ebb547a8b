"""A part of a whole in percent, as pages and reports write it."""

from __future__ import annotations


def share(part: float, whole: float) -> str:
    """A part of a whole in percent; only all of it is 100 %, and only nothing 0 %."""
    if not whole:
        return "0 %"
    percent = 100 * part / whole
    rounded = round(percent)
    if rounded == 0 and part:
        return "under 1 %"
    return "over 99 %" if rounded == 100 and part != whole else f"{rounded} %"
