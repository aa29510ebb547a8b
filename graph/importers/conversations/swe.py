"""Trajectories of SWE-agent and mini-SWE-agent: what a shell prints is what a tool returned."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.importers.conversations.exported import (
    Exported,
    call,
    inner,
    left_out,
)

_SHELL = "shell"
_FENCE = re.compile(r"```[a-z_]{0,30}\s{0,9}$")
_COMMAND = re.compile(r"```(?:bash|sh|mswea_bash_command)[ \t]*\n([^`]*)```")


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
    return Exported(messages, {}, [*([said] if shown else []), *_submitted(value, messages)])


def _action(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message with its call apart: its content repeats the thought and the command."""
    base = {"role": "assistant", "content": one.get("content")}
    if isinstance(one.get("tool_calls"), list) and one["tool_calls"]:
        return {**base, "tool_calls": one["tool_calls"]}
    action, thought = one.get("action"), one.get("thought")
    if not isinstance(action, str) or not action.strip():
        return base
    said = one.get("content")
    text = _without(said, action.strip()) if isinstance(said, str) else ""
    if isinstance(thought, str) and thought.strip():
        if _folded(text) in _folded(thought):
            base["content"] = thought
        else:
            base |= {"content": said if _folded(thought) in _folded(text) else text}
            if _folded(thought) not in _folded(text):
                base["thinking"] = thought
    else:
        base["content"] = text or None
    if base["content"] and action.strip() == "submit":  # it hands in the files, and says no more
        return base
    return {**base, "tool_calls": [call(_SHELL, action)]}


def _without(said: str, action: str) -> str:
    """Return what a message says beside its command, which stands in a block or at its end."""
    before, _, behind = said.rpartition(action)
    opened = _FENCE.search(before)
    if opened is not None and behind.lstrip().startswith("```"):
        return (before[: opened.start()] + behind.lstrip()[3:]).strip()
    return (said if behind.strip() else before).strip()


def _folded(text: str) -> str:
    return " ".join(text.split())


def of_mini(value: Any) -> Exported | None:
    """Return the conversation of a run of mini-SWE-agent: the shell answers each command."""
    messages = value.get("messages") if isinstance(value, dict) else None
    form = value.get("trajectory_format") if isinstance(value, dict) else None
    if not isinstance(messages, list) or not str(form).startswith("mini-swe-agent"):
        return None
    found: list[Any] = []
    is_asked = False
    for one in messages:
        said = one.get("content") if isinstance(one, dict) else None
        if not isinstance(said, str) or one.get("tool_calls"):
            found.append(one)
            continue
        command = _COMMAND.search(said) if one.get("role") == "assistant" else None
        if command is not None:
            text = (said[: command.start()] + said[command.end() :]).strip()
            calls = [call(_SHELL, command.group(1).strip())]
            found.append({"role": "assistant", "content": text or None, "tool_calls": calls})
        elif one.get("role") == "user" and is_asked:
            found.append({"role": "tool", "name": _SHELL, "content": said})
        else:
            found.append({"role": one.get("role"), "content": said})
        is_asked = command is not None
    return Exported(found, {}, _submitted(value, found))


def _submitted(value: Mapping[str, Any], messages: list[Any]) -> list[str]:
    """Return a sentence on what was handed in, where no message holds it."""
    handed = inner(value, "info").get("submission")
    if not isinstance(handed, str) or not handed.strip():
        return []
    texts = [one.get("content") for one in messages if isinstance(one, dict)]
    if any(isinstance(text, str) and handed.strip() in text for text in texts):
        return []
    return left_out(Counter({"submission": 1}))
