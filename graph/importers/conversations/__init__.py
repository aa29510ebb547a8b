"""Conversations as products export them, turned into messages with a role and a content.

A layout is a function that takes a value out of a file and gives the conversation in it; what it
does not know it answers with None. The formats `dialogue` and `agents` read the messages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from veritrail_graph.graph.importers.conversations import chats, evaluated, openhands, pairs, swe
from veritrail_graph.graph.importers.conversations.exported import Exported

_LAYOUTS: tuple[Callable[[Any], Exported | None], ...] = (
    chats.of_chatgpt,
    chats.of_claude,
    openhands.of_events,
    swe.of_trajectory,
    swe.of_mini,
    evaluated.of_deepeval,
    evaluated.of_openai,
    evaluated.of_ragas,
    evaluated.of_oaieval,
    pairs.of_pairs,
)
_LISTS = ("simulations", "conversations", "samples")
"""Keys under which a document holds conversations that are documents: of tau2, Claude, RAGAS."""
_MESSAGES = ("messages", "user_input")


def exported(value: Any) -> Exported | None:
    """Return the conversation that a value of a known export holds; None: it holds none."""
    if not isinstance(value, (dict, list)) or not value:
        return None
    return next((found for layout in _LAYOUTS if (found := layout(value)) is not None), None)


def listed(value: Any) -> Any:
    """Return the conversations of a document that holds several; else the value itself."""
    if not isinstance(value, dict):
        return value
    tests = evaluated.conversations_of(value)
    if tests is not None:
        return tests
    for name in _LISTS:
        inner = value.get(name)
        first = inner[0] if isinstance(inner, list) and inner else None
        if isinstance(first, dict) and (
            exported(first) is not None
            or any(isinstance(first.get(key), list) for key in _MESSAGES)
        ):
            return inner
    return value
