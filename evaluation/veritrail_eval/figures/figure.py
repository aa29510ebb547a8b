"""A figure, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import fsum
from typing import Any, NamedTuple


class Figure(NamedTuple):
    """A number that may not be computable. There is always a value or a reason.

    Attributes:
        value: The number; None: it cannot be computed.
        reason: Why, in a few words; None where there is a value.
    """

    value: float | None
    reason: str | None = None


def missing(reason: str) -> Figure:
    """A figure that cannot be computed, for this reason."""
    return Figure(None, reason)


def share(part: float, whole: float, reason: str) -> Figure:
    """A part of a whole; for the reason given no figure where the whole is nothing."""
    return Figure(part / whole) if whole else missing(reason)


def mean(values: Iterable[float], reason: str) -> Figure:
    """The mean of values; for the reason given no figure where there are none."""
    every = list(values)
    return Figure(fsum(every) / len(every)) if every else missing(reason)


def with_reasons(document: dict[str, Any], figures: Mapping[str, Figure]) -> dict[str, Any]:
    """A document with the key `reasons` where figures have one, by the names of the figures."""
    reasons = {name: one.reason for name, one in figures.items() if one.reason is not None}
    return {**document, "reasons": reasons} if reasons else document
