"""The names of tools that are other agents: what these return a model wrote."""

from __future__ import annotations

import re
from collections.abc import Set

_NOT_LETTERS = re.compile(r"[^a-z0-9]")
_HANDS_OVER = ("transfer_to_", "handoff_to_", "delegate_to_", "ask_", "call_", "consult_")
_COLLEAGUES = {"task", "agent", "delegateworktocoworker", "askquestiontocoworker"}


def is_agent(tool: str, agents: Set[str] = frozenset()) -> bool:
    """Return whether what a tool returns is what another agent wrote.

    Args:
        tool: Its name.
        agents: Names of agents that are known, in small letters and digits alone.
    """
    bare = tool.lower()
    plain = _NOT_LETTERS.sub("", bare)
    for prefix in _HANDS_OVER:
        bare = bare.removeprefix(prefix)
    if plain in _COLLEAGUES or _NOT_LETTERS.sub("", bare) in agents:
        return True
    return bare.endswith(("_agent", "-agent", " agent")) or tool.endswith("Agent")
