"""The names of tools that are other agents: what these return a model wrote."""

from __future__ import annotations

from collections.abc import Set

from veritrail_graph.graph.importers.traces.parts import plain

_HANDS_OVER = ("transfer_to_", "handoff_to_", "delegate_to_", "ask_", "call_", "consult_")
_COLLEAGUES = {"task", "agent", "delegateworktocoworker", "askquestiontocoworker"}


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
