"""Chats in the layouts of OpenAI, LangChain and ShareGPT as dialogues.

A message with a text is a turn. What tools returned, and documents in messages, are documents of
the assistant's next turn, which was written from them; calls of tools and thoughts are no turns.

Source: docs/adr/0037-dialogues.md (a tool's output is source text where an importer makes it a
document of the turn that used it).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from veritrail_graph.graph.errors import InputError, Violation, shown
from veritrail_graph.graph.importers import files, nulled
from veritrail_graph.graph.importers.agents import chain, contents, importer
from veritrail_graph.graph.importers.agents.layouts import Message, as_message
from veritrail_graph.graph.importers.conversations import exported
from veritrail_graph.graph.importers.conversations.exported import remarks_of, told
from veritrail_graph.graph.importers.copied import first_words, left_of
from veritrail_graph.graph.importers.dialogue.file import process_of, read_dialogue
from veritrail_graph.graph.importers.process_file.schema import ID_PATTERN
from veritrail_graph.graph.importers.records import ProcessInput
from veritrail_graph.graph.importers.traces.colleagues import asks_a_person, is_agent
from veritrail_graph.graph.importers.traces.texts import pieces
from veritrail_graph.graph.importers.transcript import NOT_ALL_COMPARED, Transcript
from veritrail_graph.graph.model.dialogue import FORMAT

_IDS = ("dialogue_id", "conversation_id", "session_id", "thread_id", "id")
_NAMES = ("title", "name")
_NOT_CHATS = (*importer.OTHERS, "turns", "user_input", "mistake_step", "mistake_agent", "workers")
_LOOKED_AT = 200
_CALLS = ("function_call", "tool_call")
"""What ShareGPT calls the author of a message that only asks for a tool."""
_WARNINGS = {
    "calls": (
        "One message only calls a tool and is no turn.",
        "{:,} messages only call tools and are no turns.",
    ),
    "thoughts": (
        "The thoughts of one message were left out.",
        "The thoughts of {:,} messages were left out.",
    ),
    "pictures": (
        "One part without text, such as a picture, was left out.",
        "{:,} parts without text, such as pictures, were left out.",
    ),
    "events": (
        "One entry that is no message was left out.",
        "{:,} entries that are no messages were left out.",
    ),
    "agents": (
        "What another agent returned through a tool is no source text: one result was left out.",
        "What other agents returned through tools is no source text: {:,} results were left out.",
    ),
    "persons": (
        "What a person said whom a tool asked is no source text: one result was left out.",
        "What persons said whom a tool asked is no source text: {:,} results were left out.",
    ),
    "unused": (
        "One output of a tool, or document, comes after the assistant's last turn: no turn "
        "used it, and it was left out.",
        "{:,} outputs of tools, or documents, come after the assistant's last turn: no turn "
        "used them, and they were left out.",
    ),
    "repeated": (
        "What a tool repeats of what was written or said before is no source text: it was left "
        "out of one document.",
        "What tools repeat of what was written or said before is no source text: it was left out "
        "of {:,} documents.",
    ),
    "uncompared": (NOT_ALL_COMPARED, ""),
}


@dataclass
class Script:
    """A dialogue that is put together turn after turn, as the JSON of a dialogue file.

    Attributes:
        turns: The turns.
        documents: The documents, by their texts: each text is stored once.
        used: The ids of documents that the assistant's next turn uses.
        repeated: From how many documents a part was left out, since it was written or said before.
    """

    turns: list[dict[str, Any]] = field(default_factory=list)
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    used: dict[str, None] = field(default_factory=dict)
    repeated: int = 0
    _first_repeated: str = ""
    _transcript: Transcript[None] = field(default_factory=Transcript)
    _times: dict[str, int] = field(default_factory=dict)
    _clock: Iterator[int] = field(default_factory=count)

    def wrote(self, text: str) -> None:
        """Take what a model wrote beside its turns: calls of tools, thoughts."""
        self._transcript.wrote(text, next(self._clock), None)

    def shown(self, text: str) -> None:
        """Take what models were shown from the beginning and may quote."""
        self._transcript.shown(text, -1)

    def turn(self, turn_id: str, role: str, text: str, metadata: Mapping[str, Any]) -> None:
        """Add a turn; one of the assistant uses the documents that came before it."""
        turn = {"turn_id": turn_id, "role": role, "text": text, "metadata": known(metadata)}
        if role == "assistant":
            turn["documents"] = list(self.used)
            self.used = {}
            self.wrote(text)
        elif role == "user":
            self._transcript.said(text, next(self._clock), None)
        else:
            self.shown(text)
        self.turns.append(turn)

    def document(
        self,
        document_id: str,
        text: str,
        metadata: Mapping[str, Any],
        *,
        is_returned: bool = False,
    ) -> None:
        """Add a document of the assistant's next turn; a text that is known is that document.

        Args:
            document_id: Its id.
            text: Its text.
            metadata: What else is known of it.
            is_returned: Whether a tool returned it, which may repeat what was said before.
        """
        if not text.strip():
            return
        if is_returned:
            time = self._times.setdefault(text, next(self._clock))
            self._transcript.shown(text, time)
        else:  # who calls it a document vouches for it
            self._times[text] = -1
            self.shown(text)
        made = {"document_id": document_id, "text": text, "metadata": known(metadata)}
        self.used[self.documents.setdefault(text, made)["document_id"]] = None

    def value(self, dialogue_id: Any, name: Any) -> dict[str, Any]:
        """The dialogue as the JSON of a dialogue file.

        Args:
            dialogue_id: Its id; one that cannot be the id of a process is left out.
            name: Its name, or anything else, which is left out.
        """
        is_id = isinstance(dialogue_id, str) and re.match(ID_PATTERN, dialogue_id)
        has_name = isinstance(name, str) and name.strip()
        self._leave_out_repeated()
        unused = set(self.used).difference(*(one.get("documents", ()) for one in self.turns))
        every = self.documents.values()
        return {
            "format": FORMAT,
            "dialogue_id": dialogue_id if is_id else None,
            "name": name[:200] if has_name else None,
            "documents": [one for one in every if one["document_id"] not in unused],
            "turns": self.turns,
        }

    def warnings(self) -> Iterator[str]:
        """Yield what of results was left out, once the value was made."""
        spent = int(self._transcript.is_spent)
        for warning in _warnings({"repeated": self.repeated}):
            yield f"{warning} The first begins: {self._first_repeated}"
        yield from _warnings({"uncompared": spent})

    def _leave_out_repeated(self) -> None:
        """Leave out of documents what was written or said before a tool returned it."""
        names: dict[str, str | None] = {}
        kept: dict[str, dict[str, Any]] = {}
        for text, made in self.documents.items():
            copies = self._transcript.copies(text, self._times[text])
            self.repeated += bool(copies)
            if copies and not self._first_repeated:
                self._first_repeated = first_words(text, copies)
            own = left_of(text, copies) if copies else text
            one = kept.setdefault(own, {**made, "text": own}) if own else {}
            names[made["document_id"]] = one.get("document_id")
        self.documents = kept
        self.used = _renamed(self.used, names)
        for turn in self.turns:
            if "documents" in turn:
                turn["documents"] = list(_renamed(turn["documents"], names))


def _renamed(ids: Iterable[str], names: Mapping[str, str | None]) -> dict[str, None]:
    """Return ids of documents without those that are left out, each once."""
    return {name: None for one in ids if (name := names[one]) is not None}


def known(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of a turn or a document."""
    return {key: value for key, value in metadata.items() if value is not None}


def is_chat(value: Any) -> bool:
    """Return whether a document is a chat of a person with one assistant.

    Where tools are used for the only question that was asked, it is the log of an agent, which
    the format `agents` reads: its final output is what there is to verify.
    """
    known = exported(value)
    if known is not None and known.is_chat:
        return True
    if known is None and isinstance(value, dict) and any(key in value for key in _NOT_CHATS):
        return False
    if chain.is_chain(value):
        return False
    found = importer.messages_of(value)
    if found is None:
        return False
    looked_at = found[0][:_LOOKED_AT]
    read = [as_message(one) for one in looked_at]
    messages = [one for one in read if one is not None]
    names_roles = _names_roles(looked_at, messages)
    if len(messages) < len(read) or any(
        _is_agents(one) and not (one.is_role and names_roles) for one in messages
    ):
        return False
    asked = sum(one.role == "user" and _is_said(one) for one in messages)
    uses_tools = any(
        one.role == "tool" or one.calls or (_parted(one) and not _is_said(one)) for one in messages
    )
    return asked > 1 if uses_tools else asked > 0


def _names_roles(raw: Sequence[Any], messages: Sequence[Message]) -> bool:
    """Return whether roles are roles, so that one that is not known is a fault and no agent's name.

    They are in ShareGPT's layout, and where both a user and an assistant speak under these roles.
    """
    if all("from" in one and "value" in one for one in raw):
        return True
    return {"user", "assistant"} <= {one.role for one in messages if not one.is_role}


def _is_agents(message: Message) -> bool:
    """Return whether a message is of a log of agents: they have names."""
    is_call = message.is_role and message.label in _CALLS
    named = message.role == "assistant" and message.name is not None and not is_call
    return message.role == "event" or named


def _parted(message: Message) -> bool:
    return isinstance(message.content, list)


def _is_said(message: Message) -> bool:
    """Return whether a message holds a text of its own, and not only what a tool returned."""
    try:
        return any(
            one.kind in ("text", "other") for one in contents.parts_of(message.content, "message")
        )
    except InputError:
        return True


def sessions_in(value: Any) -> Mapping[str, Any] | None:
    """Message histories by session, as a store of `RunnableWithMessageHistory` keeps them."""
    if not isinstance(value, dict) or not value or any(key in value for key in importer.LISTS):
        return None
    is_store = all(
        isinstance(one, (list, dict)) and importer.messages_of(one) is not None
        for one in value.values()
    )
    return value if is_store else None


def chat(value: Any, where: str, dialogue_id: str | None = None) -> ProcessInput:
    """The process of a conversation.

    Args:
        value: A list of messages, or a document that holds one.
        where: Its place.
        dialogue_id: Its id, where that does not stand in the document.

    Raises:
        InputError: It is none.
        InvalidProcess: It breaks rules of a dialogue; every violation is listed.
    """
    if isinstance(value, InputError):
        raise value
    messages, document = _held(value, where)
    _refuse_groups(messages, where)
    reader = _Reader()
    for index, raw in enumerate(messages):
        following = as_message(messages[index + 1]) if index + 1 < len(messages) else None
        reader.message(index, raw, is_answered=following is not None and following.role == "tool")
    said = files.first_of(document, ("system", "system_prompt"))
    has_own = any(one["role"] == "system" for one in reader.script.turns)
    if isinstance(said, str):
        reader.script.shown(said)
    if isinstance(said, str) and said.strip() and not has_own:
        reader.script.turns.insert(0, {"turn_id": "system", "role": "system", "text": said})
    made = reader.script.value(
        dialogue_id or files.first_of(document, _IDS), files.first_of(document, _NAMES)
    )
    dialogue = read_dialogue(made, where, reader.violations)
    warnings = (*remarks_of(document), *reader.warnings())
    source = process_of(dialogue, warnings=warnings)
    return nulled.told(told(source, value, (*_IDS, *_NAMES, "args")), value)


def _held(value: Any, where: str) -> tuple[Sequence[Any], Mapping[str, Any]]:
    found = importer.messages_of(value)
    if found is not None:
        return found
    if isinstance(value, dict):
        for key in importer.LISTS:
            if isinstance(value.get(key), list):
                return value[key], value
    raise InputError(
        f"{where}: no conversation. It must be a list of messages with role and content, or "
        f"hold one under {', '.join(importer.LISTS)}.",
        code="no_conversation",
    )


def _refuse_groups(messages: Sequence[Any], where: str) -> None:
    """Refuse the log of a group of agents, whose roles do not say who is the assistant.

    Raises:
        InputError: It is one.
    """
    read = [one for one in map(as_message, messages) if one is not None]
    spoken = [one for one in read if one.role in ("user", "assistant") and not one.is_role]
    names = list(dict.fromkeys(one.name for one in spoken))
    if len(names) > 1 and all(names):
        listed = ", ".join(map(shown, map(str, names[:5])))
        raise InputError(
            f"{where}: several agents talk ({listed}), and a dialogue has one assistant. Such logs "
            "are read in the format agents.",
            code="several_assistants",
        )


class _Reader:
    """Reads messages one after the other."""

    def __init__(self) -> None:
        self.script = Script()
        self.violations: list[Violation] = []
        self._left_out: Counter[str] = Counter()
        self._tools: dict[str, str] = {}
        self._ids: dict[str, int] = {}

    def message(self, index: int, raw: Any, *, is_answered: bool) -> None:
        """Add what a message says, and what is wrong with it.

        Args:
            index: Its place, from 0.
            raw: It, in any layout.
            is_answered: Whether a tool answers it: then it asked for one, also where the call was
                lost, as in histories that LangChain dumps.
        """
        where = f"message {index}"
        message = as_message(raw)
        if message is None:
            self._refuse("no_message", where, "is no message: it needs a role and a content")
            return
        name = _id_of(raw)
        if name is not None and name in self._ids:
            self._refuse(
                "duplicate_message_id", where,
                f"has the id {shown(name)}, which message {self._ids[name]} has already",
            )  # fmt: skip
        elif name is not None:
            self._ids[name] = index
        try:
            parts = list(
                contents.parts_of(message.content, where, is_result=message.role == "tool")
            )
            calls = [contents.call_of(one, where) for one in message.calls]
        except InputError as error:
            said = str(error).removeprefix(f"{where}: ").rstrip(".")
            self._refuse("unreadable_message", where, said)
            return
        self._tools.update({one.call: one.name for one in calls if one.call and one.name})
        for one in calls:
            for piece in pieces(one.text):
                self.script.wrote(piece.text)
        if is_answered and not calls:
            calls.append(contents.MessagePart("call"))
        self._read(index, raw, message, [*parts, *calls])

    def _refuse(self, kind: str, where: str, message: str) -> None:
        self.violations.append(Violation(kind, where, message))

    def _read(
        self,
        index: int,
        raw: Mapping[str, Any],
        message: Message,
        parts: Sequence[contents.MessagePart],
    ) -> None:
        kinds = Counter(one.kind for one in parts)
        self._left_out["pictures"] += kinds["other"]
        self._left_out["thoughts"] += bool(kinds["thought"] or message.thoughts)
        for thought in (message.thoughts, *(one.text for one in parts if one.kind == "thought")):
            self.script.wrote(thought or "")
        text = "\n".join(one.text for one in parts if one.kind == "text")
        if message.role == "event":
            self._left_out["events"] += 1
        elif message.role == "tool" and text.strip():
            self._document(
                f"m{index}", contents.MessagePart("result", text, message.name, message.answers)
            )
        self._tool_results(index, parts, is_retrieved=message.role == "tool")
        role = (message.label or "") if message.is_role else message.role
        if message.role in ("event", "tool"):
            return
        if message.is_role and role in _CALLS:
            self._left_out["calls"] += 1
            return
        if message.is_role and "role" not in raw and "from" in raw:
            self._refuse(
                "unknown_role", f"message {index}",
                f"from is {shown(role)}; it must be human, gpt, system or tool, or another name of "
                "one of these",
            )  # fmt: skip
            return
        text = text if text.strip() else _refusal(raw)
        asks = kinds["call"] and role == "assistant"
        if not text.strip() and (asks or set(kinds) - {"text", "call"} or message.thoughts):
            self._left_out["calls"] += bool(asks)
        elif text.strip() or message.role != "system":
            about = {"model": message.model, "name": message.name, "message_id": _id_of(raw)}
            self.script.turn(f"m{index}", role, text, {} if message.is_role else about)

    def _tool_results(
        self, index: int, parts: Sequence[contents.MessagePart], *, is_retrieved: bool
    ) -> None:
        found = [one for one in parts if one.kind in ("result", "document")]
        for number, one in enumerate(found, start=1):
            self._document(f"m{index}.{number}", one, is_retrieved=is_retrieved)

    def _document(
        self, document_id: str, part: contents.MessagePart, *, is_retrieved: bool = False
    ) -> None:
        """Keep what a tool returned, or a document, for the assistant's next turn."""
        is_result = part.kind == "result"
        tool = part.name or self._tools.get(part.call or "") if is_result else None
        if tool is not None and is_agent(tool):
            self._left_out["agents"] += 1
            self.script.wrote(part.text)
            return
        if tool is not None and asks_a_person(tool):
            self._left_out["persons"] += 1
            self.script.wrote(part.text)
            return
        title = None if is_result else part.name
        about = {"tool": tool, "tool_call_id": part.call, "title": title}
        is_returned = is_result or is_retrieved
        self.script.document(document_id, part.text, about, is_returned=is_returned)

    def warnings(self) -> Iterator[str]:
        """Yield what is no turn and no document."""
        script = self.script
        yield from _warnings({**self._left_out, "unused": len(script.used)})
        yield from script.warnings()


def _warnings(counts: Mapping[str, int]) -> Iterator[str]:
    for name, (one, many) in _WARNINGS.items():
        if counts.get(name):
            yield one if counts[name] == 1 else many.format(counts[name])


def _held_in(raw: Any) -> Mapping[str, Any]:
    """Return what holds the fields of a message of LangChain, or the message itself."""
    for key in ("data", "kwargs"):
        if isinstance(raw.get(key), dict) and "content" in raw[key]:
            inner: Mapping[str, Any] = raw[key]
            return inner
    message: Mapping[str, Any] = raw
    return message


def _id_of(raw: Any) -> str | None:
    name = _held_in(raw).get("id")
    return name if isinstance(name, str) and name else None


def _refusal(raw: Any) -> str:
    """Return what LangChain keeps of a refusal beside an empty content."""
    more = _held_in(raw).get("additional_kwargs")
    said = more.get("refusal") if isinstance(more, dict) else None
    return said if isinstance(said, str) else ""
