"""Files of dialogues: which they are, and the dialogues in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import beside, files
from veritrail_graph.graph.importers.agents import importer
from veritrail_graph.graph.importers.agents.layouts import as_message
from veritrail_graph.graph.importers.conversations import listed
from veritrail_graph.graph.importers.conversations.chats import is_unanswered
from veritrail_graph.graph.importers.dialogue import chats, sessions
from veritrail_graph.graph.importers.dialogue.file import NAME, process_of, read_dialogue
from veritrail_graph.graph.importers.process_file import reading
from veritrail_graph.graph.importers.records import ProcessInput, warned
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.importers.traces import langfuse
from veritrail_graph.graph.importers.traces.calls import FoundTrace, Trace
from veritrail_graph.graph.model.dialogue import FORMAT

_HEAD = 4_096
_LOOKED_AT = 200
_PREFIX = "veritrail.dialogue/"
_NAMES_FORMAT = re.compile(rb'"format"\s*:\s*"veritrail\.dialogue/')
_ENDS = ("inputs", "outputs")


class DialogueImporter:
    """Reads `veritrail.dialogue/1`, chats, and, where the format is named, traces."""

    name = NAME
    description = (
        f"{FORMAT}; chats of OpenAI, LangChain and ShareGPT; sessions of Langfuse; with "
        "--format dialogue traces of every kind: JSON, JSON Lines"
    )
    extra = None
    options = frozenset[str]()

    def detect(self, path: Path) -> str | None:
        """A file that names the format, of whatever version, a chat, or a session."""
        if not path.is_file():
            return "not a file"
        try:
            if _names_format(path):
                return None
        except reading.UNREADABLE as error:
            return f"cannot be read: {error}"
        value = files.first_value(path)
        if langfuse.is_session(value) or _is_of_chats(path, value):
            return None
        return f"it does not name its format, {FORMAT}, and holds no chat with one assistant"

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """The dialogues of the file.

        Raises:
            InputError: The file cannot be read.
        """
        if not path.is_file():
            raise InputError(f"{path} is not a file")
        if _names_format(path):
            yield from _of_format(path)
            return
        reader = sessions.reader_of(path)
        if reader is not None:
            yield from sessions.dialogues_of(reader.traces(path), path, reader.name)
        elif _is_ends(files.first_record(path)) or langfuse.is_session(files.first_value(path)):
            yield from sessions.dialogues_of(_bare_traces(path), path, NAME)
        else:
            yield from _of_chats(path)


def _names_format(path: Path) -> bool:
    with reading.open_bytes(path) as file:
        start = file.read(_HEAD)
    if start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"{":
        return False
    if _NAMES_FORMAT.search(start):
        return True
    value = files.first_value(path)  # the format may stand behind the turns
    return isinstance(value, dict) and str(value.get("format")).startswith(_PREFIX)


def _of_format(path: Path) -> Iterator[Found]:
    if not files.is_lines(path):
        yield Found(str(path), partial(_of_file, path))
        return
    for number, (_, value) in enumerate(files.json_lines(path, strict=True), start=1):
        yield Found(f"{path}#{number}", partial(_of_value, value, f"{path}#{number}"))


def _of_file(path: Path) -> ProcessInput:
    return _of_value(reading.read_document(path), str(path))


def _of_value(value: Any, where: str) -> ProcessInput:
    if isinstance(value, InputError):
        raise value
    return process_of(read_dialogue(value, where))


def _is_of_chats(path: Path, value: Any) -> bool:
    if isinstance(value, dict) and as_message(value) is not None and files.is_lines(path):
        lines = [one for _, one in islice(files.json_lines(path), _LOOKED_AT)]
        return chats.is_chat([one for one in lines if not isinstance(one, InputError)])
    value = listed(value)
    found = chats.sessions_in(value)
    if found is not None:
        return all(map(chats.is_chat, found.values()))
    if isinstance(value, list) and value and importer.messages_of(value) is None:
        value = value[0]
    return chats.is_chat(value)


def _of_chats(path: Path) -> Iterator[Found]:
    """One a conversation: the file, its lines, the entries of its list, or its sessions."""
    where = str(path)
    said: Sequence[str] = ()
    if files.is_lines(path):
        first = next((one for _, one in files.json_lines(path)), None)
        if as_message(first) is not None:
            yield Found(where, partial(_of_lines, path))
            return
        numbered: Iterator[tuple[int, Any]] = files.values(path)
    else:
        document = files.document(path)
        whole = listed(document)
        by_session = chats.sessions_in(whole)
        if by_session is not None:
            for session, one in by_session.items():
                place = f"{where}#{session}"
                yield Found(place, partial(chats.chat, one, place, session))
            return
        if not isinstance(whole, list) or importer.messages_of(whole) is not None or not whole:
            yield Found(where, partial(chats.chat, whole, where))
            return
        said = beside.of_document(document, "the conversations", whole)
        kept = [(number, one) for number, one in enumerate(whole, 1) if not is_unanswered(one)]
        if left := len(whole) - len(kept):
            chats_left = counted(left, "chat")
            said = [*said, f"Left out: {chats_left} in which the assistant said nothing."]
        if not kept:
            words = f"the assistant said nothing in any of its {len(whole):,} chats: export others"
            yield Found.failing(where, InputError(f"{where}: {words}."))
            return
        numbered = iter(kept)
    for number, value in numbered:
        place = f"{where}#{number}"
        yield Found(place, partial(_of_chat, value, place, said))


def _of_chat(value: Any, where: str, said: Sequence[str]) -> ProcessInput:
    return warned(chats.chat(value, where), said)


def _of_lines(path: Path) -> ProcessInput:
    """The one conversation of a file with a message a line."""
    messages = []
    for _, value in files.json_lines(path):
        if isinstance(value, InputError):
            raise value
        messages.append(value)
    return chats.chat(messages, str(path))


def _is_ends(value: Any) -> bool:
    """Return whether it says what a whole was given and gave, as examples of LangSmith do."""
    return isinstance(value, dict) and all(isinstance(value.get(key), dict) for key in _ENDS)


def _bare_traces(path: Path) -> Iterator[FoundTrace]:
    """Traces without calls: of sessions of Langfuse, and examples of LangSmith."""
    for number, value in files.values(path):
        where = f"{path}#{number}"
        if isinstance(value, InputError):
            yield FoundTrace.failing(where, value)
        elif langfuse.is_session(value):
            yield from langfuse.session_traces(value, where)
        else:
            yield FoundTrace(where, partial(_ends, value, where))


def _ends(value: Any, where: str) -> Trace:
    if not _is_ends(value):
        raise InputError(f"{where}: no conversation: it needs inputs and outputs")
    name = value.get("id")
    return Trace(
        [],
        trace_id=name if isinstance(name, str) else None,
        given=value["inputs"],
        made=value["outputs"],
    )
