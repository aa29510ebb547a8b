"""Record what a client of the package `openai` is answered: `instrument(OpenAI())`.

The calls of `chat.completions.create` and `responses.create` are recorded in the recording of
their context, plain, awaited and streamed. Without a recording they are left alone.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping
from functools import wraps
from typing import Any, ClassVar, TypeVar

from veritrail_record import RecordedSpan, current
from veritrail_record.calls import (
    CALL,
    RESPONSE,
    RESULT,
    AsyncRelay,
    Call,
    Guard,
    Pieces,
    Relay,
    call_text,
    document,
    of,
    tool_result,
)

__all__ = ["instrument"]

C = TypeVar("C")

_MARK = "__veritrail_recorded__"


def instrument(client: C, *, step: str = "chat") -> C:
    """Record the answers to a client, `OpenAI` or `AsyncOpenAI`, from now on.

    Chat completions and responses are recorded. What the model writes is a node; so is each call
    of a tool that it asks for. Its inputs are the recorded texts in the messages: whole messages,
    and texts of 24 characters or more within a message; results of tools and earlier responses
    are also found by their ids. Results of tools that were not recorded before become source
    text, other messages of a user or the model become nodes without inputs, which support
    nothing; instructions of the system become none.

    Args:
        client: The client.
        step: The name of the step.

    Returns:
        The same client. A copy, as `with_options` makes one, is to be instrumented again.
    """
    _record(client.chat.completions, ChatCall, step)  # type: ignore[attr-defined]
    responses = getattr(client, "responses", None)  # not every server's client has them
    if responses is not None:
        _record(responses, ResponseCall, step)
    return client


def _record(resource: Any, kind: type[ModelCall], step: str) -> None:
    if not hasattr(resource.create, _MARK):
        resource.create = _recorded(resource.create, kind, step)


def _recorded(create: Callable[..., Any], kind: type[ModelCall], step: str) -> Callable[..., Any]:
    @wraps(create)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        run = current()
        if run is None:
            return create(*args, **kwargs)
        if isinstance(kwargs.get(kind.asks), Iterator):  # it can be read once only
            kwargs[kind.asks] = list(kwargs[kind.asks])
        call = kind(run, step, str(kwargs.get("model") or ""))
        call.search(kwargs)
        result = create(*args, **kwargs)
        return call.awaited(result) if inspect.isawaitable(result) else call.ended(result)

    setattr(recorded, _MARK, True)
    return recorded


class ModelCall(Call):
    """A call of a method `create`.

    Attributes:
        asks: The argument that holds what the model is given.
        answers: The field of an answer that holds what the model wrote.
    """

    __slots__ = ()
    asks: ClassVar[str]
    answers: ClassVar[str]

    def search(self, arguments: Mapping[str, Any]) -> None:
        """Find the inputs of the call, and record what of them is new."""
        with Guard(self.run, "openai", "messages could not be searched"):
            self.find(arguments)

    async def awaited(self, result: Awaitable[Any]) -> Any:
        """Record a result when it is there."""
        return self.ended(await result)

    def ended(self, result: Any) -> Any:
        """Record a result, or the pieces of a stream as they come."""
        if hasattr(result, self.answers):
            with Guard(self.run, "openai", "an answer could not be recorded"):
                self.answer(result)
        elif hasattr(result, "__aiter__"):
            return AsyncRelay(result, self.pieces())
        elif hasattr(result, "__next__"):
            return Relay(result, self.pieces())
        else:  # such as a raw response
            message = "a %s of the model was not recorded"
            self.run.faults.log("openai", message, type(result).__name__)
        return result

    @abstractmethod
    def find(self, arguments: Mapping[str, Any]) -> None:
        """Read what the model is given."""

    @abstractmethod
    def answer(self, result: Any) -> None:
        """Record what the model wrote."""

    @abstractmethod
    def pieces(self) -> Pieces:
        """Return what collects a streamed answer."""


class ChatCall(ModelCall):
    """A call of `chat.completions.create`."""

    __slots__ = ()
    asks = "messages"
    answers = "choices"

    def find(self, arguments: Mapping[str, Any]) -> None:
        """Read the messages."""
        for message in arguments.get("messages") or ():
            role, answers = of(message, "role"), of(message, "tool_call_id")
            for text, _, call_id in _chat_texts(message):
                key = (CALL, call_id) if call_id else (RESULT, answers) if answers else None
                self.read(role, text, key=key)

    def answer(self, result: Any) -> None:
        """Record every choice."""
        for choice in result.choices or ():
            reason, model = of(choice, "finish_reason"), of(result, "model")
            for text, kind, call_id in _chat_texts(of(choice, "message")):
                key = (CALL, call_id) if call_id else None
                self.record(text, kind, reason=reason, model=model, key=key)

    def pieces(self) -> Pieces:
        """The pieces of a stream."""
        return _ChatPieces(self)


class _ChatPieces(Pieces):
    """The pieces of a streamed chat completion."""

    def add(self, chunk: Any) -> None:
        """Keep what a chunk holds."""
        with Guard(self.call.run, "openai", "a piece could not be recorded"):
            self.model = of(chunk, "model") or self.model
            for choice in of(chunk, "choices") or ():
                number, delta = of(choice, "index") or 0, of(choice, "delta")
                if text := of(delta, "content"):
                    self.add_text(number, text)
                for call in of(delta, "tool_calls") or ():
                    function = of(call, "function")
                    self.add_call(
                        number,
                        of(call, "index") or 0,
                        of(function, "name") or "",
                        of(function, "arguments") or "",
                        of(call, "id") or "",
                    )
                if (reason := of(choice, "finish_reason")) is not None:
                    self.add_reason(number, reason)


def _chat_texts(message: Any) -> Iterator[tuple[str, str, str]]:
    """The texts of a message, with their kinds and ids: its content, and its calls of tools."""
    content = of(message, "content")
    for part in [content] if isinstance(content, str) else content or ():
        text = part if isinstance(part, str) else of(part, "text")
        if isinstance(text, str) and text:
            yield text, "message", ""
    for call in of(message, "tool_calls") or ():
        function = of(call, "function")
        text = call_text(of(function, "name"), of(function, "arguments"))
        yield text, "tool_call", of(call, "id") or ""


_CALLS = {"function_call": "arguments", "custom_tool_call": "input", "mcp_call": "arguments"}
"""Items that call a tool, and the fields with what they hand over."""

_RESULTS = ("function_call_output", "custom_tool_call_output")


class ResponseCall(ModelCall):
    """A call of `responses.create`.

    What the server keeps of a conversation is what the model was given, too: the earlier
    response with all that it was an answer to.
    """

    __slots__ = ()
    asks = "input"
    answers = "output"

    def find(self, arguments: Mapping[str, Any]) -> None:
        """Read the items of the input, behind what the server keeps."""
        if isinstance(earlier := arguments.get("previous_response_id"), str):
            self.add(self.run.of_id((RESPONSE, earlier)))
        for text in _response_texts(arguments.get("instructions")):
            self.read("system", text)
        given = arguments.get("input")
        for item in [given] if isinstance(given, str) else given or ():
            self._find(item)

    def _find(self, item: Any) -> None:
        if isinstance(item, str):
            self.read("user", item)
            return
        kind, call_id = of(item, "type"), of(item, "call_id") or of(item, "id")
        if kind in _CALLS:
            self.read("assistant", _call(item), key=(CALL, call_id))
        if kind in _CALLS or kind in _RESULTS:  # what the server calls has its result with it
            for text in _response_texts(of(item, "output")):
                self.read("tool", text, key=(RESULT, call_id))
        elif kind == "file_search_call":
            for span in self._documents(item):
                self.add({span.node_id: None})
        else:
            for text in _response_texts(of(item, "content")):
                self.read(of(item, "role"), text)

    def answer(self, result: Any) -> None:
        """Record the items of the output, in their order."""
        why = of(of(result, "incomplete_details"), "reason") or of(result, "status")
        model = of(result, "model")
        written = []
        for item in of(result, "output") or ():
            kind = of(item, "type")
            if kind in _CALLS:
                key: Hashable = (CALL, of(item, "call_id") or of(item, "id"))
                written.append(
                    self.record(_call(item), "tool_call", reason=why, model=model, key=key)
                )
                self._tool(item)
            elif kind == "file_search_call":  # a tool of the server
                for span in self._documents(item):
                    self.add({span.node_id: None})
            elif kind == "message":
                written += [
                    self.record(text, reason=why, model=model)
                    for text in _response_texts(of(item, "content"))
                ]
        response = of(result, "id")
        for span in written if response else ():
            self.run.know_id((RESPONSE, response), span, self.inputs)

    def _tool(self, item: Any) -> None:
        """Record what a tool that the server called returned: the model read it on the way."""
        for text in _response_texts(of(item, "output")):
            span = tool_result(self.run, text, step=str(of(item, "name")), call_id=of(item, "id"))
            if span.node_id:
                self.add({span.node_id: None})

    def _documents(self, item: Any) -> Iterator[RecordedSpan]:
        """Yield what a search of files found, where the answer holds it (`include`)."""
        for one in of(item, "results") or ():
            if text := of(one, "text"):
                about = {name: of(one, name) for name in ("filename", "file_id", "score")}
                span = document(self.run, text, step="file_search", metadata=about)
                if span.node_id:
                    yield span

    def pieces(self) -> Pieces:
        """The events of a stream."""
        return _ResponsePieces(self)


class _ResponsePieces(Pieces):
    """The events of a streamed response; the last one holds all of it."""

    call: ResponseCall

    def add(self, event: Any) -> None:
        """Keep what an event holds."""
        with Guard(self.call.run, "openai", "a piece could not be recorded"):
            kind, place = of(event, "type"), of(event, "output_index")
            if kind == "response.output_text.delta":
                self.add_text((place, of(event, "content_index")), of(event, "delta") or "")
            elif kind == "response.output_item.added" and of(of(event, "item"), "type") in _CALLS:
                item = of(event, "item")
                call_id = of(item, "call_id") or of(item, "id") or ""
                self.add_call(place, 0, of(item, "name") or "", "", call_id)
            elif kind in _DELTAS:
                self.add_call(place, 0, "", of(event, "delta") or "")
            elif kind == "response.output_item.done":
                status = of(of(event, "item"), "status")
                self.add_reason(place, status)
                for number in range(len(of(of(event, "item"), "content") or ())):
                    self.add_reason((place, number), status)
            elif kind == "response.created":
                self.response = of(of(event, "response"), "id")
                self.model = of(of(event, "response"), "model")
            elif kind in _LAST and not self.is_over:
                self.is_over = True
                self.call.answer(of(event, "response"))


_DELTAS = (
    "response.function_call_arguments.delta",
    "response.custom_tool_call_input.delta",
    "response.mcp_call_arguments.delta",
)
_LAST = ("response.completed", "response.incomplete")


def _call(item: Any) -> str:
    return call_text(of(item, "name"), of(item, _CALLS[of(item, "type")]))


def _response_texts(content: Any) -> Iterator[str]:
    """The texts of a message, an output or instructions: one, or those of its parts."""
    for part in [content] if isinstance(content, str) else content or ():
        text = part if isinstance(part, str) else of(part, "text") or of(part, "refusal")
        if isinstance(text, str) and text:
            yield text
