"""The rounds of a run that was recorded as one call: a model, the tools that it asked, and again.

Agents whose models are not recorded list all messages of their run, and models whose vendor runs
the tools (a search, a shell) give calls, results and answer in one. Of these no text is one that
a model wrote in one go: each round is a call of a model, which was given the rounds before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from veritrail_graph.graph.importers.files import first_of
from veritrail_graph.graph.importers.traces import parts, streams
from veritrail_graph.graph.importers.traces.answers import answers_of
from veritrail_graph.graph.importers.traces.calls import Call, CallKind
from veritrail_graph.graph.importers.traces.texts import (
    WITHIN_CALLS,
    answer_within,
    is_blocks,
    role_of,
    unfold,
)

_GROUNDING = ("grounding_metadata", "groundingMetadata")
_CHUNKS = ("grounding_chunks", "groundingChunks")
_PASSAGE = "page_content"
_MOST_GIVEN = 300
"""Messages before it that a round is given at most."""
_MODEL, _TOOL, _APART, _ASKED = "model", "tool", "apart", "asked"
_SIDES = {"tool": _TOOL, "user": _ASKED, "system": _ASKED}
"""The side of a message, by its role."""


def in_rounds(calls: Sequence[Call]) -> list[Call]:
    """Calls, with those that hold several rounds as agents, and each round as a call of a model.

    An agent inside of which models are recorded is left as it is.
    """
    written = {one.call_id for one in calls if one.kind is CallKind.GENERATION and one.made}
    by_id = {call.call_id: call for call in calls}
    above: set[str] = set()
    for name in written:
        above |= set(_above(by_id, name, above))
    found: list[Call] = []
    for call in calls:
        is_whole = call.kind is CallKind.AGENT and call.call_id not in above
        is_one = is_whole or call.kind is CallKind.GENERATION
        found += (_rounds_of(call) if is_one else []) or [call]
    if len(found) != len(calls):
        for place, call in enumerate(found):
            call.place = place
    return found


def _above(by_id: Mapping[str, Call], name: str, known: set[str]) -> Iterator[str]:
    """Yield the calls inside of which a call was made, as far as they are not known."""
    seen = {name}
    above = by_id[name].parent_id
    while above is not None and above in by_id and above not in known and above not in seen:
        seen.add(above)
        yield above
        above = by_id[above].parent_id


def _rounds_of(call: Call) -> list[Call]:
    """The call as an agent, behind the rounds of it; none where all of it is one round."""
    said = [one for message in _messages(call.made) for one in _sides(message)]
    if not any(side in (_TOOL, _APART) for side, _ in said):
        return []
    found: list[Call] = []
    last = begun = 0
    for end in range(1, len(said) + 1):
        side = said[begun][0]
        if end < len(said) and said[end][0] == side and side != _APART:
            continue
        if side in (_MODEL, _APART):
            before = [message for _, message in said[max(0, begun - _MOST_GIVEN) : begun]]
            about = {"call": call.call_id, **dict(call.metadata)}
            found.append(
                Call(
                    f"{call.call_id}/{len(found) + 1}", call.name, CallKind.GENERATION,
                    call.call_id, call.end, call.end, [call.given, *before],
                    [message for _, message in said[begun:end]], call.model, about,
                )
            )  # fmt: skip
            last = begun
        begun = end
    made = [message for _, message in said[last:]]
    return [*found, replace(call, kind=CallKind.AGENT, made=made)] if found else []


def _messages(made: Any) -> list[Any]:
    """The messages of an output; none where it is no such."""
    value = unfold(made) if isinstance(made, str) else made
    if isinstance(value, dict) and (found := _grounding(value)):
        held = answers_of(value)
        said = [value] if held is None else held if isinstance(held, list) else [held]
        return [*found, *said]
    if isinstance(value, dict):
        held = answers_of(value)
        if held is None and isinstance(value.get("messages"), list):
            held = value["messages"]
        value = value if held is None else held
    value = [value] if isinstance(value, dict) else value
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return []
    if is_blocks(value, by_model=True):
        return [{"role": "assistant", "content": value}]
    return value if streams.joined(value) is None else []


def _grounding(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the passages that Gemini looked up for an answer, as documents."""
    listed = answer.get("candidates")
    holders = [answer, *(listed if isinstance(listed, list) else ())]
    found = []
    for holder in holders:
        about = first_of(holder, _GROUNDING) if isinstance(holder, dict) else None
        chunks = first_of(about, _CHUNKS) if isinstance(about, dict) else None
        for chunk in chunks if isinstance(chunks, list) else ():
            for one in chunk.values() if isinstance(chunk, dict) else ():
                if isinstance(one, dict) and isinstance(one.get("text"), str):
                    more = {name: inner for name, inner in one.items() if name != "text"}
                    found.append({_PASSAGE: one["text"], "metadata": more})
    return found


def _sides(message: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what each side says in a message, as messages of their own, and the sides."""
    role = role_of(message)
    if role in _SIDES:
        yield _SIDES[role], message
        return
    name = next((one for one in ("content", "parts") if isinstance(message.get(one), list)), None)
    if _PASSAGE in message:
        yield _TOOL, message
        return
    if name is None:
        for part in _with_answer(message):
            yield _side(part), part
        return
    every = [part for one in message[name] for part in _with_answer(one)]
    bare = {key: one for key, one in message.items() if key != name}
    for side, group in groupby(every, _side):
        told = {_TOOL: "tool", _APART: "assistant"}.get(side)
        yield side, {**bare, **({"role": told} if told else {}), name: list(group)}
        bare = {"role": bare.get("role", "assistant")}


def _with_answer(part: Any) -> list[Any]:
    """A part, and behind a call of a tool what the vendor wrote into it as its result."""
    if not isinstance(part, dict) or not parts.is_call(parts.kind_within(part)):
        return [part]
    answer = answer_within(part)
    bare = {name: one for name, one in part.items() if name not in WITHIN_CALLS}
    return [part] if answer is None else [bare, answer]


def _side(part: Any) -> str:
    kind = parts.kind_within(part) if isinstance(part, dict) else ""
    return _TOOL if parts.is_result(kind) else _APART if parts.is_summary(kind) else _MODEL
