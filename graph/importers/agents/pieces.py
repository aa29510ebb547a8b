"""The texts of a conversation, in order: each is to be a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.agents import contents, speech
from veritrail_graph.graph.importers.agents.contents import MessagePart
from veritrail_graph.graph.importers.agents.layouts import Message, as_message
from veritrail_graph.graph.importers.traces.colleagues import asks_a_person, is_agent
from veritrail_graph.graph.importers.traces.parts import plain
from veritrail_graph.graph.importers.traces.repeats import forms, is_handed
from veritrail_graph.graph.importers.traces.texts import pieces
from veritrail_graph.graph.model import Origin

FINAL_ANSWER = "final answer"
"""The step of an answer at the end of a message, which is a node of its own."""
SHORT_PROMPT = 300
"""Instructions up to this length are kept in the metadata of what was written on them."""

_ANSWERING_CALLS = {
    "finalanswer", "submit", "submitanswer", "finish", "answer", "giveanswer", "respond", "done",
}  # fmt: skip


@dataclass(slots=True)
class MessageText:
    """A text of a message.

    Attributes:
        index: Place of the message in the log, from 0.
        part: What tells it from other texts of the message; None: it is the message itself.
        text: The text.
        origin: Whether it is source text, generated or given.
        kind: Such as `message`, `tool_call`, `thought`, `page`.
        agent: Who it is from, or the tool.
        metadata: What else is known.
        asks: Id of the call that it is.
        answers: Id of the call that it answers, for a generated one: its only input.
        private: Whether only the agent itself sees it.
        is_answer: Whether it is made to be the final answer.
        handed: The texts that a call hands to a tool.
        is_attached: Whether it is a document that came with a message, and no result.
        parts: The texts that a result repeats, each with the share of it that comes again, and
            what the tool says of its own, without one.
        is_seen: Whether others see it; what a tool says of its own they see in the result.
    """

    index: int
    part: str | None
    text: str
    origin: Origin
    kind: str
    agent: str | None
    metadata: dict[str, Any] = field(default_factory=dict)
    asks: str | None = None
    answers: str | None = None
    private: bool = False
    is_answer: bool = False
    handed: tuple[str, ...] = ()
    is_attached: bool = False
    parts: tuple[tuple[MessageText, float | None], ...] = ()
    is_seen: bool = True

    @property
    def node_id(self) -> str:
        """`message/12`, or `message/12/page`."""
        name = f"message/{self.index}"
        return name if self.part is None else f"{name}/{self.part}"


@dataclass
class Conversation:
    """A log in pieces.

    Attributes:
        pieces: Its texts, in order.
        left_out: How many of what kind are no nodes.
        repeated: How the first part of a result begins that was written or said before it.
        prompts: Short instructions by agent; under None those of all.
        instructions: All instructions, also long ones.
        is_group: Whether several agents talk, so that each sees what the others say.
        is_console: Whether the log is one of Magentic-One, where agents have the place of roles.
    """

    pieces: list[MessageText] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    repeated: str = ""
    prompts: dict[str | None, str] = field(default_factory=dict)
    instructions: list[str] = field(default_factory=list)
    is_group: bool = False
    is_console: bool = False


def read(raw: Iterable[Any], where: str, kept: frozenset[int] = frozenset()) -> Conversation:
    """The pieces of a list of messages.

    Args:
        raw: The messages in any of the known layouts.
        where: Place of the list, for messages about it.
        kept: Messages that become nodes even if they only steer the conversation.

    Raises:
        InputError: A message cannot be read.
    """
    messages = []
    for index, one in enumerate(raw):
        message = as_message(one)
        if message is None:
            raise InputError(
                f"{where}, message {index}: no message. It must be an object with a role and a "
                "content."
            )
        messages.append(message)
    return _Reader(messages, where, kept).read()


class _Reader:
    def __init__(self, messages: list[Message], where: str, kept: frozenset[int]) -> None:
        self._messages = messages
        self._where = where
        self._kept = kept
        self._tools: dict[str, str] = {}
        self._handed: dict[str, str] = {}
        self._agents = {plain(one.name) for one in messages if one.role == "assistant" and one.name}
        spoken = [one for one in messages if one.role in ("user", "assistant")]
        console = any(one.is_role for one in messages)
        named = all(one.name for one in spoken) and len({one.name for one in spoken}) > 1
        self.found = Conversation(is_group=console or named, is_console=console)
        self._place = 0

    def read(self) -> Conversation:
        for index, message in enumerate(self._messages):
            self._place = index
            for piece in self._of(message, f"{self._where}, message {index}"):
                if piece.text.strip():
                    self.found.pieces.append(piece)
                else:
                    self.found.left_out["empty"] += 1
        return self.found

    def _of(self, message: Message, where: str) -> Iterator[MessageText]:
        if message.role == "event":
            self.found.left_out["events"] += 1
            return
        is_result = message.role == "tool"
        parts = list(contents.parts_of(message.content, where, is_result=is_result))
        if message.thoughts:
            parts.insert(0, MessagePart("thought", message.thoughts))
        parts += [contents.call_of(one, where) for one in message.calls]
        texts = [part.text for part in parts if part.kind == "text"]
        text = "\n".join(texts)
        if message.role == "system":
            self._instructions(message, text)
            return
        if not any(part.text for part in parts if part.kind != "call") and not any(
            part.kind in ("call", "other") for part in parts
        ):
            self.found.left_out["empty"] += 1
            return
        yield from self._parts(message, parts, text)

    def _parts(
        self, message: Message, parts: list[MessagePart], text: str
    ) -> Iterator[MessageText]:
        """The pieces of a message: first thoughts, then its text, then calls, then results."""
        others = [part for part in parts if part.kind == "other"]
        self.found.left_out["parts"] += len(others)
        thoughts = "\n".join(part.text for part in parts if part.kind == "thought" and part.text)
        spoken = bool(text.strip())
        if thoughts.strip():
            yield self._piece(
                message, "thought", thoughts, "thought", Origin.GENERATED, whole=False, private=True
            )
        if message.role == "tool":
            if spoken:
                yield self._result(MessagePart("result", text, message.name, message.answers), None)
        elif spoken:
            yield from self._said(message, text)
        calls = [part for part in parts if part.kind == "call"]
        for number, part in enumerate(calls, start=1):
            alone = len(calls) == 1 and not spoken
            yield self._call(message, part, None if alone else f"call/{number}")
        results = [part for part in parts if part.kind in ("result", "document")]
        for number, part in enumerate(results, start=1):
            alone = len(results) == 1 and not spoken and not calls
            name = "result" if part.kind == "result" else "file"
            suffix = None if alone else f"{name}/{number}"
            if part.kind == "result":
                yield self._result(part, suffix)
            else:
                yield MessageText(
                    self._place, suffix, part.text, Origin.SOURCE, "file", message.name,
                    {"index": self._place, "title": part.name},
                    is_attached=message.role != "tool",
                )  # fmt: skip

    def _instructions(self, message: Message, text: str) -> None:
        self.found.left_out["instructions"] += 1
        self.found.instructions.append(text)
        if 0 < len(text.strip()) <= SHORT_PROMPT:
            self.found.prompts.setdefault(message.name, text.strip())

    def _call(self, message: Message, part: MessagePart, suffix: str | None) -> MessageText:
        name = part.name or ""
        if part.call:
            self._tools[part.call] = name
            self._handed[part.call] = part.text
        piece = self._piece(
            message, suffix, f"{name}({part.text})", "tool_call", Origin.GENERATED, whole=False
        )
        piece.asks = part.call
        piece.metadata["tool"] = name
        piece.handed = tuple(one.text for one in pieces(part.text))
        piece.is_answer = plain(name) in _ANSWERING_CALLS
        return piece

    def _result(self, part: MessagePart, suffix: str | None) -> MessageText:
        tool = part.name or (self._tools.get(part.call) if part.call else None)
        about = {"index": self._place, "tool": tool, "tool_call_id": part.call}
        if speech.is_control(part.text) and self._place not in self._kept:
            self.found.left_out["control"] += 1
            return MessageText(self._place, suffix, "", Origin.SOURCE, "tool_result", tool)
        if tool is not None and is_agent(tool, self._agents):
            return MessageText(
                self._place, suffix, part.text, Origin.GENERATED, "agent_result", tool, about,
                answers=part.call,
            )  # fmt: skip
        if tool is not None and asks_a_person(tool):
            return MessageText(
                self._place, suffix, part.text, Origin.GIVEN, "user", tool, about,
                answers=part.call,
            )  # fmt: skip
        handed = self._handed.get(part.call) if part.call else None
        is_own = handed is not None and is_handed(tool or "", handed, forms(part.text))
        origin = Origin.GENERATED if is_own else Origin.SOURCE
        return MessageText(
            self._place, suffix, part.text, origin, "tool_result", tool, about,
            answers=part.call if is_own else None,
        )  # fmt: skip

    def _said(self, message: Message, text: str) -> Iterator[MessageText]:
        """The pieces of a message's own text."""
        if self.found.is_console:
            text, printed = speech.without_log_lines(text)
            self.found.left_out["log_lines"] += printed
        if self._is_person(message):
            if speech.is_execution(None, text):
                yield self._piece(message, None, text, "code_result", Origin.SOURCE)
            else:
                yield self._piece(message, None, text, "user", Origin.GIVEN)
            return
        if not self.found.is_group:
            yield self._piece(message, None, text, "message", Origin.GENERATED)
            return
        answer = ""
        if self.found.is_console and self._place == len(self._messages) - 1:
            text, answer = speech.before_and_answer(text)
        if answer and message.note == "termination condition":
            piece = self._piece(message, None, answer, "answer", Origin.GENERATED)
            piece.is_answer = True
            yield piece
            return
        yield from self._of_group(message, text)
        if answer:
            yield MessageText(
                self._place, "answer", answer, Origin.GENERATED, "answer", FINAL_ANSWER,
                {"index": self._place}, is_answer=True,
            )  # fmt: skip

    def _of_group(self, message: Message, text: str) -> Iterator[MessageText]:
        steers = speech.is_termination(text) or speech.is_control(text) or not text.strip()
        if steers and self._place not in self._kept:
            self.found.left_out["control"] += 1
            return
        if speech.is_execution(message.name, text):
            yield self._piece(message, None, text, "code_result", Origin.SOURCE)
            return
        action, page = speech.action_and_page(message.name, text)
        if page:
            if action:
                yield self._piece(message, None, action, "action", Origin.GENERATED)
            suffix = "page" if action else None
            yield self._piece(message, suffix, page, "page", Origin.SOURCE)
        elif message.note == "thought":
            private = not speech.is_plan(text)
            yield self._piece(message, None, text, "thought", Origin.GENERATED, private=private)
        elif message.note is not None and message.note.startswith("->"):
            piece = self._piece(message, None, text, "instruction", Origin.GENERATED)
            piece.metadata["to"] = message.note.removeprefix("->").strip()
            yield piece
        else:
            yield self._piece(message, None, text, "message", Origin.GENERATED)

    def _is_person(self, message: Message) -> bool:
        if message.role == "user" and not self.found.is_group:
            return True
        if message.role == "user" and message.name is None:
            return True
        if message.name is not None and speech.is_person(message.name):
            return message.role == "user" or self.found.is_console
        if message.role != "user" or self._place != 0:
            return False
        # The first message of a group is the task, if its sender does not speak again.
        return not any(one.name == message.name for one in self._messages[1:])

    def _piece(
        self,
        message: Message,
        part: str | None,
        text: str,
        kind: str,
        origin: Origin,
        *,
        whole: bool = True,
        private: bool = False,
    ) -> MessageText:
        label = message.label if self.found.is_console else None
        agent = message.name or label or message.role
        if whole:
            text = text.strip("\n") if self.found.is_console else text
        about = {"index": self._place}
        more = {
            "note": message.note,
            "model": message.model if origin is Origin.GENERATED else None,
        }
        return MessageText(
            self._place, part, text, origin, kind, agent, {**about, **more}, private=private
        )
