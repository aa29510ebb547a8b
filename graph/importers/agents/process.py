"""A conversation as a process: which of its texts each message could be made of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.agents import repeated
from veritrail_graph.graph.importers.agents.pieces import (
    FINAL_ANSWER,
    SHORT_PROMPT,
    Conversation,
    MessageText,
    read,
)
from veritrail_graph.graph.importers.conversations.exported import remarks_of
from veritrail_graph.graph.importers.records import EdgeRecord, Header, NodeRecord, Record
from veritrail_graph.graph.importers.transcript import NOT_ALL_COMPARED
from veritrail_graph.graph.model import Inference, Origin

NAME = "agents"
MOST_INPUTS = 200
"""Inputs that a message has at most: the latest."""

TOO_SHORT = 32
"""A generated text shorter than this, such as `Yes.`, is another statement each time."""

QUESTION = ("question", "query", "task", "problem")
_STEP_DIGITS = 9
_ANSWERS = ("message", "answer", "agent_result")
_ABOUT = {
    "question_ID": "question_id", "question_id": "question_id", "level": "level",
    "is_correct": "is_correct", "is_corrected": "is_corrected", "ground_truth": "ground_truth",
    "reference": "reference", "rubrics": "rubrics", "reference_topics": "reference_topics",
    "reference_tool_calls": "reference_tool_calls", "expected_output": "expected_output",
    "expected_outcome": "expected_outcome", "scenario": "scenario",
}  # fmt: skip
"""What is known of the answer of a conversation besides, by its name there and in metadata."""
MARKS = ("mistake_agent", "mistake_step", "mistake_reason", "mistake_type")
"""What somebody noted about where a log went wrong."""
_OMISSIONS = {
    "instructions": (
        "One instruction (system prompt) was left out: it is no source text.",
        "{} instructions (system prompts) were left out: they are no source text.",
    ),
    "tools": (
        "The definition of one tool was left out: it is no source text.",
        "The definitions of {} tools were left out: they are no source text.",
    ),
    "control": (
        "One message that only steers or ends the conversation was left out.",
        "{} messages that only steer or end the conversation were left out.",
    ),
    "log_lines": (
        "In one message, lines printed by the program around the agents were left out.",
        "In {} messages, lines printed by the program around the agents were left out.",
    ),
    "parts": (
        "One part without text, such as a picture, was left out.",
        "{} parts without text, such as pictures, were left out.",
    ),
    "empty": ("One empty message was left out.", "{} empty messages were left out."),
    "repeated": (
        "One result of a tool repeats what was written or said before it. Nothing tells whether "
        "that was looked up as well, so this part is no source text.",
        "{} results of tools repeat what was written or said before them. Nothing tells whether "
        "that was looked up as well, so these parts are no source text.",
    ),
    "uncompared": (NOT_ALL_COMPARED, ""),
    "events": (
        "One event without a text for other agents was left out.",
        "{} events without a text for other agents were left out.",
    ),
    "limited": (
        f"Of one message, only the latest {MOST_INPUTS} inputs are kept.",
        f"Of {{}} messages, only the latest {MOST_INPUTS} inputs are kept.",
    ),
}
"""What is no node or no edge, for one and for several."""


@dataclass
class AgentProcess:
    """A conversation; its edges are made while they are read, because they may be many.

    Attributes:
        header: What is said of the process as a whole.
        nodes: The nodes.
        inputs: For each node with inputs its node_id, their node_ids, and where it is.
        found: The inputs of results that repeat earlier texts.
    """

    header: Header
    nodes: list[NodeRecord] = field(default_factory=list)
    inputs: list[tuple[str, tuple[str, ...], str]] = field(default_factory=list)
    found: list[EdgeRecord] = field(default_factory=list)

    def records(self) -> Iterator[Record]:
        """Read it once from its beginning."""
        yield from self.nodes
        yield from self.found
        for target, sources, where in self.inputs:
            for source in sources:
                yield EdgeRecord(source, target, where)


def of_messages(
    messages: Sequence[Any], document: Mapping[str, Any], where: str, question: str | None = None
) -> AgentProcess:
    """The process of a list of messages.

    Args:
        messages: The messages, in any layout that `layouts` knows.
        document: What is known of the conversation besides.
        where: Place of the conversation.
        question: What its answer answers; None: as the document or the first user says.

    Raises:
        InputError: A message cannot be read, or none is of a model or an agent.
    """
    mistake = _mistake(document)
    step = mistake.get("step")
    kept = frozenset({step} if isinstance(step, int) else ())
    conversation = read(messages, where, kept)
    conversation.left_out["tools"] += sum(
        len(document[key]) for key in ("tools", "functions") if isinstance(document.get(key), list)
    )
    _add_prompts(conversation, document)
    generated = [one for one in conversation.pieces if one.origin is Origin.GENERATED]
    if not generated:
        raise InputError(f"{where}: no message of a model or an agent with a text in it.")
    asked = files.first_of(document, QUESTION)
    asked = question or (asked.strip() if isinstance(asked, str) else None)
    builder = _Builder(conversation, where, mistake, generated)
    return builder.build(asked or None, document)


def _mistake(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what somebody noted about where a log went wrong."""
    found = {name.removeprefix("mistake_"): document[name] for name in MARKS if name in document}
    step = found.get("step")
    if isinstance(step, str) and step.strip().isdecimal() and len(step) <= _STEP_DIGITS:
        found["step"] = int(step)
    return {key: value for key, value in found.items() if value is not None}


def _add_prompts(conversation: Conversation, document: Mapping[str, Any]) -> None:
    prompts = files.first_of(document, ("system_prompt", "system", "instructions"))
    if isinstance(prompts, str):
        prompts = {None: prompts}
    if not isinstance(prompts, dict):
        return
    for agent, text in prompts.items():
        if isinstance(text, str) and text.strip():
            conversation.left_out["instructions"] += 1
            conversation.instructions.append(text)
            if len(text.strip()) <= SHORT_PROMPT:
                conversation.prompts.setdefault(agent, text.strip())


class _Builder:
    """Puts nodes and inputs together, message after message."""

    def __init__(
        self,
        conversation: Conversation,
        where: str,
        mistake: dict[str, Any],
        generated: list[MessageText],
    ) -> None:
        self._conversation = conversation
        self._where = where
        self._mistake = mistake
        self._terminal = _terminal(conversation, generated)
        repeated.part(conversation)
        self._annotated = self._find_annotated()
        self._nodes: list[NodeRecord] = []
        self._inputs: list[tuple[str, tuple[str, ...], str]] = []
        self._found: list[EdgeRecord] = []
        self._by_text: dict[str, tuple[str, Origin]] = {}
        self._by_call: dict[str, str] = {}
        # The node that stands for a text, by the node_id that it has or would have.
        self._names: dict[str, str] = {}
        # By node the agent that alone sees it, or None; the latest comes last.
        self._seen: dict[str, str | None] = {}
        # Calls that a model asked for at once: none of them saw another.
        self._at_once: list[tuple[MessageText, str]] = []
        self._limited = 0

    def build(self, question: str | None, document: Mapping[str, Any]) -> AgentProcess:
        """The whole process."""
        pieces = self._conversation.pieces
        given = next((one.text for one in pieces if one.origin is Origin.GIVEN), None)
        if question is not None and given is None:
            node = NodeRecord(
                "question", question, self._where, kind="user", step="user", origin=Origin.GIVEN
            )
            self._nodes.append(node)
            self._seen["question"] = None
        question = question or (given or "").strip() or None
        for piece in pieces:
            self._add(piece, document)
        header = Header(
            NAME,
            name=question[:200] if question else None,
            question=question,
            terminals=(self._terminal.node_id,),
            warnings=(*remarks_of(document), *self._warnings()),
        )
        return AgentProcess(header, self._nodes, self._inputs, self._found)

    def _find_annotated(self) -> MessageText | None:
        step = self._mistake.get("step")
        found = [one for one in self._conversation.pieces if one.index == step]
        generated = [one for one in found if one.origin is Origin.GENERATED]
        return next(iter(generated or found), None)

    def _add(self, piece: MessageText, document: Mapping[str, Any]) -> None:
        if self._at_once and not self._is_asked_with(piece):
            self._see_calls()
        is_terminal = piece is self._terminal
        own = is_terminal or piece is self._annotated
        before = self._same_as(piece)
        self._names[piece.node_id] = before if before is not None and not own else piece.node_id
        if before is not None and not own:
            if not piece.is_seen:
                return
            if piece.kind == "tool_call":
                self._at_once.append((piece, before))
            else:
                self._see(before, self._seen.get(before) if piece.private else None)
            if piece.asks:
                self._by_call[piece.asks] = before
            return
        name = piece.node_id
        self._nodes.append(self._node(piece, document))
        if piece.origin is Origin.GENERATED:
            only = self._by_call.get(piece.answers) if piece.answers else None
            inputs: tuple[str, ...] = ()
            if piece.parts:
                self._found += self._of_parts(piece)
            elif only is not None:
                inputs = (only,)
            elif is_terminal and before is not None:
                inputs = (before,)
            else:
                inputs = self._visible_to(piece.agent)
            if inputs:
                self._inputs.append((name, inputs, f"{self._where}, message {piece.index}"))
        if is_terminal:
            return  # what comes after the answer is not made of it
        if before is None:
            self._by_text[piece.text] = (name, piece.origin)
        if piece.asks:
            self._by_call[piece.asks] = name
        if piece.kind == "tool_call":
            self._at_once.append((piece, name))
        elif piece.is_seen:
            self._see(name, piece.agent if piece.private else None)

    def _of_parts(self, piece: MessageText) -> Iterator[EdgeRecord]:
        """Yield the inputs of a result that repeats earlier texts."""
        where = f"{self._where}, message {piece.index}"
        shares = {self._names[one.node_id]: share for one, share in piece.parts}
        for name, share in shares.items():
            inferred = None if share is None else Inference.NORMALISED
            yield EdgeRecord(name, piece.node_id, where, None, inferred, share)

    def _is_asked_with(self, piece: MessageText) -> bool:
        """Return whether a model asked for a call together with those before it."""
        return piece.kind == "tool_call" and piece.agent == self._at_once[-1][0].agent

    def _see_calls(self) -> None:
        """Let what follows see the calls that were asked for at once."""
        for _, name in self._at_once:
            self._see(name, None)
        self._at_once.clear()

    def _same_as(self, piece: MessageText) -> str | None:
        """The node that a text repeats; None: it is a text of its own."""
        name, origin = self._by_text.get(piece.text, (None, None))
        if origin is Origin.SOURCE and piece.origin is Origin.SOURCE:
            return name
        if len(piece.text) < TOO_SHORT or (piece.parts and origin is Origin.SOURCE):
            return None
        # A name or a phrase, or what a prompt held: the tool knew it without the user.
        return None if origin is Origin.GIVEN and piece.origin is Origin.SOURCE else name

    def _see(self, name: str, owner: str | None) -> None:
        self._seen.pop(name, None)
        self._seen[name] = owner

    def _visible_to(self, agent: str | None) -> tuple[str, ...]:
        found: list[str] = []
        for name, owner in reversed(self._seen.items()):
            if owner is not None and owner != agent and agent != FINAL_ANSWER:
                continue
            if len(found) == MOST_INPUTS:
                self._limited += 1
                break
            found.append(name)
        return tuple(reversed(found))

    def _node(self, piece: MessageText, document: Mapping[str, Any]) -> NodeRecord:
        about = dict(piece.metadata)
        if piece.origin is Origin.GENERATED and not piece.parts and piece.kind != "tool_result":
            prompts = self._conversation.prompts
            about["prompt"] = prompts.get(piece.agent, prompts.get(None))
            if isinstance(document.get("model"), str):
                about["model"] = about.get("model") or document["model"]
        if piece is self._terminal:
            for key, name in _ABOUT.items():
                if key in document:
                    about[name] = document[key]
        if piece is self._annotated or (self._annotated is None and piece is self._terminal):
            about["mistake"] = self._mistake or None
        known = {key: value for key, value in about.items() if value is not None}
        known = json.loads(json.dumps(known, default=str))
        where = f"{self._where}, message {piece.index}"
        return NodeRecord(
            piece.node_id, piece.text, where, None, piece.kind, piece.agent, known, piece.origin
        )

    def _warnings(self) -> Iterator[str]:
        conversation = self._conversation
        terminal = self._terminal
        if not any(one.origin is Origin.SOURCE for one in conversation.pieces):
            repeats = conversation.left_out["repeated"]
            yield (
                "What tools returned was written or said before: there is no source text, so no "
                "claim can be traced to one."
                if repeats
                else "No message is the result of a tool or a file: there is no source text, so no "
                "claim can be traced to one."
            )
        if conversation.is_group:
            yield (
                "The log does not record what each agent was given: the inputs of a message are "
                "all messages before it that its agent could see."
            )
        counts = {**conversation.left_out, "limited": self._limited}
        for name, (one, many) in _OMISSIONS.items():
            if counts.get(name):
                warning = one if counts[name] == 1 else many.format(counts[name])
                if name == "repeated":
                    warning += f" The first begins: {conversation.repeated}"
                yield warning
        last = conversation.pieces[-1]
        if terminal.kind not in _ANSWERS and not terminal.is_answer:
            yield (
                f"The log ends without an answer: its last generated text, {terminal.node_id}, is "
                "the final output."
            )
        elif last is not terminal and last.index > terminal.index:
            yield (
                f"The log goes on after {terminal.node_id}, the last message of a model or an "
                "agent, which is the final output."
            )
        yield from self._of_annotation()

    def _of_annotation(self) -> Iterator[str]:
        step, agent = self._mistake.get("step"), self._mistake.get("agent")
        found = self._annotated
        if step is None:
            return
        if found is None:
            yield f"mistake_step is {step!r}, which is no message with a text: see the last node."
        elif found.origin is not Origin.GENERATED:
            yield f"mistake_step names {found.node_id}, which no agent wrote."
        elif isinstance(agent, str) and agent != found.agent:
            yield f"mistake_step names a message of {found.agent}, and mistake_agent is {agent}."


def _terminal(conversation: Conversation, generated: list[MessageText]) -> MessageText:
    """The final output: the last message of an agent, or the last text that one wrote."""
    last = generated[-1]
    if conversation.is_console:
        return last
    for piece in reversed(generated):
        if piece.kind in _ANSWERS or piece.is_answer:
            return piece
    return next((one for one in reversed(generated) if not one.private), last)
