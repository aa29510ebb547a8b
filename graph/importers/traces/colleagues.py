"""The names of tools whose result somebody says: another agent, or a person who is asked."""

from __future__ import annotations

import re
from collections.abc import Set

from veritrail_graph.graph.importers.traces.parts import plain

_HANDS_OVER = ("transfer_to_", "handoff_to_", "delegate_to_", "ask_", "call_", "consult_")
_COLLEAGUES = {"task", "agent", "delegateworktocoworker", "askquestiontocoworker"}
_WHO = "(?:the|for)*(?:user|human|person|customer|operator)s?"
_SAYS = "(?:input|reply|response|feedback|answer|help|approval|confirmation|clarification|choice)"
_ASKS_A_PERSON = re.compile(
    rf"(?:ask|prompt|consult|waitfor|await){_WHO}.*"
    rf"|(?:get|request|query|collect){_WHO}{_SAYS}"
    rf"|{_WHO}{_SAYS}(?:run|requested)?|human(?:assistance|intheloop)?"
    r"|ask(?:followup|clarifying|clarification)questions?|ask(?:for)?clarification"
)
"""Tools that put a question to a person, as `plain` writes names."""


def is_agent(tool: str, agents: Set[str] = frozenset()) -> bool:
    """Return whether what a tool returns is what another agent wrote.

    Args:
        tool: Its name.
        agents: Names of agents that are known, as `plain` writes them.
    """
    bare = tool.lower()
    for prefix in _HANDS_OVER:
        bare = bare.removeprefix(prefix)
    if plain(tool) in _COLLEAGUES or plain(bare) in agents:
        return True
    return bare.endswith(("_agent", "-agent", " agent")) or tool.endswith("Agent")


def asks_a_person(tool: str) -> bool:
    """Return whether what a tool returns is what a person said who was asked."""
    return _ASKS_A_PERSON.fullmatch(plain(tool).removesuffix("tool")) is not None
