"""Trajectories of SWE-agent and mini-SWE-agent: what a shell prints is what a tool returned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.importers.conversations.exported import Exported, call

_SHELL = "shell"


def of_trajectory(value: Any) -> Exported | None:
    """Return the conversation of a trajectory whose history says what each message is."""
    history = value.get("history") if isinstance(value, dict) else None
    if not isinstance(history, list) or not isinstance(value.get("trajectory"), list):
        return None
    if not any(isinstance(one, dict) and "message_type" in one for one in history):
        return None
    messages: list[Any] = []
    is_answered, shown = False, 0
    for one in history:
        if not isinstance(one, dict):
            messages.append(one)
            continue
        kind = one.get("message_type")
        if one.get("is_demo") or kind == "demonstration":
            shown += 1
            continue
        if kind == "observation" and one.get("role") == "user" and is_answered:
            messages.append({**one, "role": "tool", "name": _SHELL})
        elif kind == "action":
            messages.append(_action(one))
            is_answered = True
        else:
            messages.append({key: own for key, own in one.items() if key != "agent"})
    said = f"Left out: {counted(shown, 'message')} of demonstrations before the task."
    return Exported(messages, {}, [said] if shown else [])


def _action(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message with its call apart: its content repeats the thought and the command."""
    base = {"role": "assistant", "content": one.get("content")}
    if isinstance(one.get("tool_calls"), list) and one["tool_calls"]:
        return {**base, "tool_calls": one["tool_calls"]}
    action, thought = one.get("action"), one.get("thought")
    if not isinstance(action, str) or not action.strip():
        return base
    said = thought if isinstance(thought, str) and thought.strip() else None
    if said and action.strip() == "submit":  # it hands in the files, and says no more
        return {**base, "content": said}
    return {**base, "content": said, "tool_calls": [call(_SHELL, action)]}
