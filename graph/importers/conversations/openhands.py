"""Events of OpenHands: trajectories, and the `output.jsonl` of its evaluations.

Events of its first version name an `action` or an `observation`, those of its SDK a `kind`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from veritrail_graph.graph.importers.conversations.exported import (
    Exported,
    call,
    inner,
    left_out,
    result,
    texts_of,
)

_LOOKED_AT = 20
_KEYS = ("history", "trajectory", "events")
_STATES = (
    "agent_state_changed", "change_agent_state", "null", "condensation", "condensation_request",
    "recall", "delegate", "loop_recovery",
)  # fmt: skip
_STATE_KINDS = ("ConversationStateUpdateEvent", "Condensation", "CondensationRequest", "PauseEvent")


def of_events(value: Any) -> Exported | None:
    """Return the conversation of a list of events, or of a record that holds one."""
    about: Mapping[str, Any] = {}
    events = value
    if isinstance(value, dict):
        about = value
        events = next((value[name] for name in _KEYS if isinstance(value.get(name), list)), None)
    if not isinstance(events, list) or not events:
        return None
    if not all(map(_is_event, _flat(events[:_LOOKED_AT]))):
        return None
    counts: Counter[str] = Counter()
    messages = [
        message
        for one in _flat(events)
        for message in (_of_sdk(one, counts) if "kind" in one else _of_event(one, counts))
    ]
    known = {"id": about.get("instance_id")} if about else {}
    return Exported(messages, known, left_out(counts))


def _flat(events: list[Any]) -> list[Any]:
    """Return events one by one; an old log holds an action and its observation as a pair."""
    return [one for each in events for one in (each if isinstance(each, list) else [each])]


def _is_event(one: Any) -> bool:
    if not isinstance(one, dict) or not isinstance(one.get("source"), str):
        return False
    kind = one.get("kind")
    is_sdk = isinstance(kind, str) and kind.endswith(("Event", "Condensation", "Request"))
    return is_sdk or isinstance(one.get("action", one.get("observation")), str)


def _of_event(one: Mapping[str, Any], counts: Counter[str]) -> list[dict[str, Any]]:
    if not _is_event(one):
        counts["entries of no known kind"] += 1
        return []
    kind = str(one.get("action", one.get("observation")))
    if kind in _STATES:
        counts[kind] += 1
        return []
    tool = inner(one, "tool_call_metadata")
    name, call_id = tool.get("function_name"), tool.get("tool_call_id")
    if "observation" in one:
        if kind == "think":  # says that the thought was taken down
            return []
        who = "ask_agent" if kind == "agent_delegate_observation" else name or kind
        return [result(one.get("content"), who, call_id)]
    args = inner(one, "args")
    thought = texts_of(args.get("thought") or "")
    if kind == "system":
        return [{"role": "system", "content": texts_of(args.get("content") or "")}]
    if kind == "message":
        role = "user" if one.get("source") == "user" else "assistant"
        return [{"role": role, "content": texts_of(args.get("content") or one.get("message"))}]
    if kind == "think":
        return [{"role": "assistant", "content": None, "thinking": thought}]
    if kind == "finish":
        said = args.get("final_thought") or args.get("message") or thought or one.get("message")
        said = said or inner(args, "outputs").get("content")
        return [{"role": "assistant", "content": texts_of(said or "")}]
    hidden = ("thought", "is_input", "wait_for_response", "security_risk", "confirmation_state")
    given = {key: own for key, own in args.items() if key not in hidden and own not in (None, "")}
    asked = [call(name or kind, given, call_id)]
    if one.get("source") == "user":  # a person who runs a command is no model
        counts["commands of the user"] += 1
        return []
    return [{"role": "assistant", "content": thought or None, "tool_calls": asked}]


def _of_sdk(one: Mapping[str, Any], counts: Counter[str]) -> list[dict[str, Any]]:
    kind = str(one["kind"])
    if kind == "SystemPromptEvent":
        return [{"role": "system", "content": texts_of(one.get("system_prompt") or "")}]
    said = one.get("llm_message")
    if kind == "MessageEvent" and isinstance(said, dict):
        return [{**said, "role": said.get("role", "user")}]
    name, call_id = one.get("tool_name"), one.get("tool_call_id")
    if kind == "ActionEvent":
        thoughts = [texts_of(one.get("reasoning_content") or "")]
        action, asked = inner(one, "action"), inner(one, "tool_call")
        given = (inner(asked, "function") or asked).get("arguments")
        base = {"role": "assistant", "thinking": thoughts[0] or None}
        if name == "think" or action.get("kind") == "ThinkAction":
            own = "\n".join(filter(None, [*thoughts, texts_of(action.get("thought") or "")]))
            return [{**base, "content": None, "thinking": own}]
        text = texts_of(one.get("thought") or []) or None
        if name == "finish" or action.get("kind") == "FinishAction":
            last = action.get("message")
            return [{**base, "content": last if isinstance(last, str) and last else text}]
        if given is None:
            given = {key: own for key, own in action.items() if key != "kind"}
        return [{**base, "content": text, "tool_calls": [call(name, given, call_id)]}]
    if kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
        if name in ("finish", "think"):
            return []
        observed = inner(one, "observation")
        content = observed.get("content") or observed.get("output") or one.get("error")
        return [result(texts_of(content or ""), name, call_id)]
    counts[kind if kind in _STATE_KINDS else "events of no known kind"] += 1
    return []
