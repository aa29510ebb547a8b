"""The parts that recorders share: the inputs and the answer of a call, and streams.

A library calls back, or is wrapped; a module here turns that into:

- `recording(run)`: the recording to use, that was handed over or that of the context.
- `Call(run, step, model)`: one call of a model. `read(role, text)` once for each text that it was
  given, then `record(text)` once for each text that it wrote.
- `document(run, text, …)` for what a retriever found, `tool_result(run, text, …)` for what a tool
  returned.
- `Pieces(call)` collects a streamed answer; `Relay` and `AsyncRelay` are streams that show each
  piece to a `Sink`, such as `Pieces`, on its way to the program.
- `missing(extra, library)`: the error to raise where a library is not installed.
- `Guard(run, library, message)`: what goes wrong inside it is logged once, and never raised.

Ids of a library name nodes exactly, where it has them: `("call", id)` a call of a tool,
`("result", id)` its result, `("response", id)` an answer that a server keeps, with what it was
given. See `Recording.know_id`.
"""

from __future__ import annotations

import re
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from veritrail_record import RecordedSpan, Recording, current
from veritrail_record.faults import LOGGER
from veritrail_record.linking import HEAD
from veritrail_record.nodes import Facts

CALL, RESULT, RESPONSE = "call", "result", "response"
"""Kinds of ids: of a tool call, of the result of that call, of an answer of a model."""

INSTRUCTIONS = ("system", "developer")
_TOOLS = ("tool", "function")


def missing(extra: str, library: str) -> ImportError:
    """Return the error for a library that is not installed, with what installs it."""
    return ImportError(f"{library} is not installed; pip install 'veritrail-record[{extra}]'")


def recording(run: Recording | None = None) -> Recording | None:
    """The open recording to record in: the one handed over, else that of the context."""
    if run is None:
        return current()
    return run if run.is_open else None


@dataclass(slots=True)
class Guard:
    """A context in which no exception of ours reaches the user's program.

    Attributes:
        run: The recording whose faults are logged; None: the logger of the recorder.
        library: What tells this fault from others.
        message: What happened, such as `an answer could not be recorded`.
    """

    run: Recording | None
    library: str
    message: str

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if kind is None or not issubclass(kind, Exception):
            return False
        message = f"{self.library}: {self.message}"
        if self.run is None:
            LOGGER.warning(message, exc_info=True)
        else:
            self.run.faults.log(message, message, trace=True)
        return True


@dataclass(slots=True)
class Call:
    """One call of a model.

    Attributes:
        run: The recording.
        step: The name of the step.
        model: The model that was asked for.
        inputs: The nodes that the model was given, and how they were found: None for a whole
            text or an id, `exact` for a text within a longer one, `order` for what was there.
    """

    run: Recording
    step: str
    model: str = ""
    inputs: dict[str, str | None] = field(default_factory=dict)

    def read(self, role: object, text: str, *, key: Hashable = None) -> None:
        """Find a text that the model is given among the recorded ones, or record it.

        What was not recorded becomes source text where a tool gave it, a node without inputs
        where the model wrote it, and otherwise what somebody said; instructions become nothing.

        Args:
            role: Whose text it is: system, developer, tool, function, assistant; all others are
                the user's.
            text: The text.
            key: The id that a library has for it, which counts more than the text.
        """
        found = self.run.of_id(key) if key is not None else {}
        found = found or {**_short_in(self.run, text), **self.run.links(text, within=True).nodes}
        if not found and text.strip() and role not in INSTRUCTIONS:
            span = self._new(role, text)
            if key is not None:
                self.run.know_id(key, span)
            found = {span.node_id: None} if span.node_id else {}
        self.add(found)

    def _new(self, role: object, text: str) -> RecordedSpan:
        if role in _TOOLS:
            return self.run.source(text, kind="tool_result", step="tool")
        if role == "assistant":
            return self.run.step(text, kind="message", step=self.step)
        return self.run.given(text, kind="user", step="user")

    def add(self, found: Mapping[str, str | None]) -> None:
        """Add inputs; one that was found whole stays whole."""
        for node_id, how in found.items():
            if how is None or node_id not in self.inputs:
                self.inputs[node_id] = how

    def record(
        self,
        text: str,
        kind: str = "message",
        *,
        reason: object = None,
        model: object = None,
        is_whole: bool = True,
        key: Hashable = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> RecordedSpan:
        """Record a text that the model wrote.

        Args:
            text: The text.
            kind: `message`, or `tool_call` with the text of `call_text`.
            reason: Why it ended, as the model says.
            model: The model that the server names; else the one that was asked for.
            is_whole: Whether it is whole; a stream may have been left early.
            key: The id that a library has for it.
            metadata: What else is known.
        """
        about: dict[str, Any] = dict(metadata or {})
        about |= {} if reason is None else {"finish_reason": reason}
        about |= {} if is_whole else {"incomplete": True}
        name = str(model or self.model) or None
        facts = Facts(self.step, kind, model=name, metadata=about)
        span = self.run.result(text, facts, self.inputs)
        if key is not None:
            self.run.know_id(key, span)
        return span


def document(
    run: Recording,
    text: str,
    *,
    step: str = "retrieve",
    kind: str = "document",
    metadata: Mapping[str, Any] | None = None,
) -> RecordedSpan:
    """A text that was looked up: the node that has it, else new source text.

    A short text may be that of another node by chance. It is linked to the calls of models that
    are given it as a whole: a line, a quoted text, or words between other signs.
    """
    known = len(text) >= HEAD and next(
        (node_id for node_id, how in run.links(text).nodes.items() if how is None), None
    )
    if known:
        return run.found(RecordedSpan(known, text, run.process_id))
    span = run.source(text, kind=kind, step=step, metadata=metadata)
    if len(text) < HEAD and span.node_id and text.strip():
        _remember(run, span)
    return span


_MOST_SHORT = 100
_SHORTEST = 8
_short: WeakKeyDictionary[Recording, dict[str, re.Pattern[str]]] = WeakKeyDictionary()
_short_lock = threading.Lock()


def _remember(run: Recording, span: RecordedSpan) -> None:
    """Look for a short document in the prompts that follow; for the latest hundred of them."""
    text = span.text.strip()
    # Some words may stand in a prompt by chance, a letter or a number will: those need a line or
    # quotes of their own.
    edges = (
        (r"(?<!\w)", r"(?!\w)") if len(text) >= _SHORTEST else (r"(?<![^\n'\"])", r"(?![^\n'\"])")
    )
    with _short_lock:
        known = _short.setdefault(run, {})
        known[span.node_id] = re.compile(edges[0] + re.escape(text) + edges[1])
        while len(known) > _MOST_SHORT:
            del known[next(iter(known))]


def _short_in(run: Recording, text: str) -> dict[str, str | None]:
    """The short documents that stand in a text."""
    with _short_lock:
        known = list(_short.get(run, {}).items())
    return {node_id: "exact" for node_id, pattern in known if pattern.search(text)}


def tool_result(
    run: Recording,
    text: str,
    *,
    step: str = "tool",
    call_id: str | None = None,
    inside: Sequence[str] = (),
    is_written: bool = False,
    metadata: Mapping[str, Any] | None = None,
) -> RecordedSpan:
    """Return what a tool returned: source text, unless a model wrote something inside it.

    Args:
        run: The recording.
        text: What it returned.
        step: The name of the tool.
        call_id: The id of the call that asked for it.
        inside: Nodes that were recorded while it ran, in their order.
        is_written: Whether a model wrote one of them.
        metadata: What else is known.
    """
    links = run.links(text, within=True).nodes
    whole = next((one for one, how in links.items() if how is None), None)
    if whole is not None and (whole in inside or len(text) >= HEAD):
        span = run.found(RecordedSpan(whole, text, run.process_id))
    elif is_written or any(one in links for one in inside):  # it put recorded texts together
        facts = Facts(step, "tool_result", metadata=metadata)
        span = run.result(text, facts, links, inside if is_written else ())
    else:
        span = run.source(text, kind="tool_result", step=step, metadata=metadata)
    if call_id:
        run.know_id((RESULT, call_id), span)
    return span


def call_text(name: object, arguments: object) -> str:
    """The text of a node that stands for a call of a tool."""
    return f"{name}({arguments})"


class Sink(Protocol):
    """A sink that receives the pieces of a stream."""

    def add(self, piece: Any) -> None:
        """Look at a piece; must not raise."""

    def end(self, *, is_whole: bool) -> None:
        """Take note of the end, which may come several times; must not raise."""


class Pieces(ABC):
    """The pieces of a streamed answer, by choice; recorded once, at the end.

    Attributes:
        call: The call that is answered.
        model: The model that the server names.
        response: The id of the answer, where a server keeps it.
        is_over: Whether it is recorded.
    """

    def __init__(self, call: Call) -> None:
        self.call = call
        self.model: object = None
        self.response: object = None
        self._texts: dict[Hashable, list[str]] = {}
        self._tools: dict[tuple[Hashable, Hashable], list[str]] = {}
        self._reasons: dict[Hashable, object] = {}
        self.is_over = False

    @abstractmethod
    def add(self, piece: Any) -> None:
        """Keep what a piece holds; must not raise."""

    def add_text(self, choice: Hashable, text: str) -> None:
        """Keep a piece of the text of a choice."""
        known = self._texts.get(choice)
        if known is None:
            self._texts[choice] = [text]
        else:
            known.append(text)

    def add_call(
        self, choice: Hashable, number: Hashable, name: str, arguments: str, call_id: str = ""
    ) -> None:
        """Keep a piece of a call of a tool."""
        parts = self._tools.setdefault((choice, number), ["", "", ""])
        parts[0] += name
        parts[1] += arguments
        parts[2] = call_id or parts[2]

    def add_reason(self, choice: Hashable, reason: object) -> None:
        """Keep why a choice ended: it is whole then, whatever is left of the stream."""
        self._reasons[choice] = reason

    def end(self, *, is_whole: bool) -> None:
        """Record what came, once."""
        if self.is_over:
            return
        self.is_over = True
        with Guard(self.call.run, "stream", "a streamed answer could not be recorded"):
            for choice, parts in self._texts.items():
                self._record(choice, "".join(parts), "message", "", is_whole=is_whole)
            for (choice, _), (name, given, call_id) in self._tools.items():
                text = call_text(name, given)
                self._record(choice, text, "tool_call", call_id, is_whole=is_whole)

    def _record(
        self, choice: Hashable, text: str, kind: str, call_id: str, *, is_whole: bool
    ) -> None:
        reason = self._reasons.get(choice)
        span = self.call.record(
            text,
            kind,
            reason=reason,
            model=self.model,
            is_whole=is_whole or reason is not None,
            key=(CALL, call_id) if call_id else None,
        )
        if self.response:
            self.call.run.know_id((RESPONSE, self.response), span, self.call.inputs)


class Relay:
    """A stream that shows what passes to a sink; all else of it is its own."""

    def __init__(self, stream: Any, sink: Sink) -> None:
        self._stream = stream
        self._sink = sink

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            piece = next(self._stream)
        except BaseException as error:
            self._sink.end(is_whole=isinstance(error, StopIteration))
            raise
        self._sink.add(piece)
        return piece

    def __enter__(self) -> Relay:
        self._stream.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        self._sink.end(is_whole=False)
        return self._stream.__exit__(*error)

    def __del__(self) -> None:
        self._sink.end(is_whole=False)

    def close(self) -> None:
        """Close the stream; what came is recorded."""
        self._sink.end(is_whole=False)
        self._stream.close()


class AsyncRelay:
    """A stream to be awaited that shows what passes to a sink; all else of it is its own."""

    def __init__(self, stream: Any, sink: Sink) -> None:
        self._stream = stream
        self._sink = sink

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        try:
            piece = await anext(self._stream)
        except BaseException as error:
            self._sink.end(is_whole=isinstance(error, StopAsyncIteration))
            raise
        self._sink.add(piece)
        return piece

    async def __aenter__(self) -> AsyncRelay:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        self._sink.end(is_whole=False)
        return await self._stream.__aexit__(*error)

    def __del__(self) -> None:
        self._sink.end(is_whole=False)

    async def close(self) -> None:
        """Close the stream; what came is recorded."""
        self._sink.end(is_whole=False)
        await self._stream.close()


def of(value: Any, name: str) -> Any:
    """A field of an object or of a dict; None where there is none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
