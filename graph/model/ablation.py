"""The parts of the method that a run of a dialogue leaves out, by its settings.

Source: VISTA 6.3 (ablations); docs/adr/0037-dialogues.md.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

MOST_FACTS = 200
"""Facts of the background that a prompt shows at most, unless an option says otherwise."""

MOST_TURNS = 200
"""Turns of history that a prompt shows at most, unless an option says otherwise."""

ZERO_SHOT = "_zero_shot"
"""How the version of a prompt without its examples ends."""


class LeftOut(StrEnum):
    """A part of the method that a run does without."""

    BACKGROUND = "background"
    HISTORY = "history"
    CATEGORIES = "categories"
    EXAMPLES = "examples"
    FACTS = "facts"
    TURNS = "turns"


def left_out(settings: str | None) -> dict[LeftOut, int]:
    """Return what a run leaves out, in the order of the stages.

    Args:
        settings: The settings of the run, as JSON; None: they are not known.

    Returns:
        What is left out; of a limit that is lower than the default the limit, else 0.
    """
    given: dict[str, Any] = json.loads(settings) if settings else {}
    judge = given.get("judge", {})
    prompt = judge.get("extraction", {}).get("prompt", "")
    facts = given.get("most_facts", MOST_FACTS)
    turns = judge.get("most_turns", MOST_TURNS)
    background, history = given.get("background", True), given.get("history", True)
    found = {
        LeftOut.BACKGROUND: None if background else 0,
        LeftOut.HISTORY: None if history else 0,
        LeftOut.FACTS: facts if background and facts < MOST_FACTS else None,
        LeftOut.TURNS: turns if history and turns < MOST_TURNS else None,
        LeftOut.EXAMPLES: 0 if prompt.endswith(ZERO_SHOT) else None,
        LeftOut.CATEGORIES: None if given.get("categories", True) else 0,
    }
    return {one: limit for one, limit in found.items() if limit is not None}


def checks_turns(settings: str | None) -> bool:
    """Return whether a run asks of each turn as a whole whether it contradicts an earlier one."""
    return bool(settings) and bool(json.loads(settings or "{}").get("turn_check"))
