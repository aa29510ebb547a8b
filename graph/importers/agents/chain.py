"""Rounds of Chain-of-Agents: workers read chunk after chunk, a manager answers.

Each worker got its chunk and the message of the worker before it, the manager the last message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import beside, files
from veritrail_graph.graph.importers.agents.process import NAME
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.records import Header, ProcessInput
from veritrail_graph.graph.model import Origin

WORKERS = ("workers", "rounds")
CHUNK = ("chunk", "source", "passage")
MESSAGE = ("message", "output", "communication_unit", "summary")
ANSWER = ("manager", "answer", "final_answer")
_TEXTS = frozenset((*CHUNK, *MESSAGE, "response", "text"))


def is_chain(value: Any) -> bool:
    """Return whether a document is a list of rounds, each with a chunk and a message."""
    if not isinstance(value, dict):
        return False
    rounds = files.first_of(value, WORKERS)
    first = rounds[0] if isinstance(rounds, list) and rounds else None
    return (
        isinstance(first, dict)
        and any(key in first for key in CHUNK)
        and any(key in first for key in MESSAGE)
    )


def told(source: ProcessInput, value: Mapping[str, Any]) -> ProcessInput:
    """Return a process that names what its document holds beside chunks, messages and answer."""
    return beside.told(source, value, "chunks, messages and answer", (*WORKERS, *ANSWER), _TEXTS)


def read(value: Mapping[str, Any], where: str, question: str | None) -> ProcessInput:
    """The process of a document of rounds.

    Raises:
        InputError: A chunk, a message or the manager's answer is missing or no text.
    """
    question = question or _optional(value, ("question", "query", "task"))
    warnings = []
    answer = files.first_of(value, ANSWER)
    if isinstance(answer, dict):
        answer = files.first_of(answer, (*MESSAGE, "answer", "response", "text"))
    rounds = list(files.first_of(value, WORKERS))
    messages = [_text(one, MESSAGE, f"{where}, worker {i}") for i, one in enumerate(rounds)]
    chunks = [_text(one, CHUNK, f"{where}, worker {i}") for i, one in enumerate(rounds)]
    if answer is None:
        warnings.append("There is no answer of a manager: the last worker's message is the answer.")
    elif not isinstance(answer, str) or not answer.strip():
        raise InputError(f"{where}: the manager's answer is empty or no text.")
    unread = len([one for one in messages if not one.strip()])
    if unread:
        warnings.append(
            counted(
                unread,
                "worker with an empty message is no node.",
                "workers with empty messages are no nodes.",
            )
        )
    draft = Draft(Header(NAME))
    known: dict[str, str] = {}
    before, unchanged = None, 0
    for number, (chunk, message) in enumerate(zip(chunks, messages, strict=True)):
        place = f"{where}, worker {number}"
        if not message.strip():
            continue
        if before is not None and draft.nodes[before].text == message:
            unchanged += 1  # the worker passed on what it got: its chunk is in no message
            continue
        name = f"message/{number}"
        agent = _optional(rounds[number], ("name", "agent", "worker")) or f"worker {number}"
        draft.node(
            name, message, place, origin=Origin.GENERATED, kind="message", step=agent,
            metadata={"index": number},
        )  # fmt: skip
        if chunk.strip():
            if chunk not in known:
                known[chunk] = draft.node(
                    f"chunk/{number}", chunk, place, origin=Origin.SOURCE, kind="chunk",
                    metadata={"index": number},
                )  # fmt: skip
            draft.edge(known[chunk], name, place)
        if before is not None:
            draft.edge(before, name, place)
        before = name
    if before is None:
        raise InputError(f"{where}: no worker has a message.")
    if unchanged:
        warnings.append(
            counted(
                unchanged,
                "worker passed on the message before its own unchanged: it is one node, and the "
                "chunk of the worker is none.",
                "workers passed on the message before theirs unchanged: it is one node, and their "
                "chunks are no nodes.",
            )
        )
    terminal = before
    if isinstance(answer, str):
        terminal = draft.node(
            "manager", answer, where, origin=Origin.GENERATED, kind="answer", step="manager",
            metadata={"ground_truth": value.get("ground_truth")},
        )  # fmt: skip
        draft.edge(before, terminal, where)
    draft.header = Header(
        NAME,
        name=question[:200] if question else None,
        question=question,
        terminals=(terminal,),
        warnings=tuple(warnings),
    )
    return draft


def _text(one: Any, keys: tuple[str, ...], where: str) -> str:
    text = files.first_of(one, keys) if isinstance(one, dict) else None
    if not isinstance(text, str):
        raise InputError(f"{where}: its {keys[0]} is missing or no text.")
    return text


def _optional(value: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    found = files.first_of(value, keys)
    return found.strip() or None if isinstance(found, str) else None
