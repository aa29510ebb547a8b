"""The times that a text counts by: per day, an hour, weekly."""

from __future__ import annotations

from veritrail_graph.verifier.values.reading import Text, at
from veritrail_graph.verifier.values.tokens import TokenKind
from veritrail_graph.verifier.vocabulary import word_set

_PERIODS = word_set("second minute hour day night week fortnight month quarter year decade season")
_PERIOD_OF = {
    spelling: period for period in _PERIODS for spelling in (period, f"{period}s", f"{period}ly")
} | {"daily": "day", "annual": "year", "annually": "year", "annum": "year", "h": "hour"}
_ADVERBS = frozenset(one for one in _PERIOD_OF if one.endswith("ly")) | {"annual"}
_BEFORE_A_PERIOD = frozenset(("per", "each", "every", "/"))
_ARTICLES = frozenset(("a", "an"))
_COUNTED = 3
"""Words between a figure and its "a day": 20 new spare parts a day."""


def rates_of(text: Text) -> frozenset[str]:
    """Return the times by which a text counts, each as its period: day, hour.

    Amounts by different times are of different units: 1.50 euros per day, 10.50 euros per week.
    """
    tokens = text.tokens
    behind = {
        placed.behind + step for placed in text.placed for step in range(_COUNTED + 1)
    }  # "a day" elsewhere is one day
    found = set()
    for place, token in enumerate(tokens):
        period = _PERIOD_OF.get(token.lower) if token.kind is TokenKind.WORD else None
        if period is None:
            continue
        before = at(tokens, place - 1).lower
        is_counted = before in _ARTICLES and place - 1 in behind
        if token.lower in _ADVERBS or before in _BEFORE_A_PERIOD or is_counted:
            found.add(period)
    return frozenset(found)
