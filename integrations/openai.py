"""Record what a client of the package `openai` is answered: `instrument(OpenAI())`.

The calls of `client.chat.completions.create` are recorded in the recording of their context,
plain, awaited and streamed. Without a recording they are left alone.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

from veritrail_graph.api.recorder import Recording, current
from veritrail_graph.api.recorder.nodes import Facts

C = TypeVar("C")

_MARK = "__veritrail_recorded__"


def instrument(client: C, *, step: str = "chat") -> C:
    """Record the chat completions of a client, `OpenAI` or `AsyncOpenAI`, from now on.

    The answer of the model is a node; so is each call of a tool that it asks for. Its inputs
    are the recorded texts in the messages: whole messages, and texts of 24 characters or more
    within a message. Results of tools that were not recorded before become source text, other
    messages of a user or the model become nodes without inputs, which support nothing;
    instructions of the system become none.

    Args:
        client: The client.
        step: The name of the step.

    Returns:
        The same client. A copy, as `with_options` makes one, is to be instrumented again.
    """
    completions = client.chat.completions  # type: ignore[attr-defined]
    if not hasattr(completions.create, _MARK):
        completions.create = _recorded(completions.create, step)
    return client


def _recorded(create: Callable[..., Any], step: str) -> Callable[..., Any]:
    @wraps(create)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        run = current()
        if run is None:
            return create(*args, **kwargs)
        if isinstance(kwargs.get("messages"), Iterator):  # it can be read once only
            kwargs["messages"] = list(kwargs["messages"])
        call = _Call(run, step, str(kwargs.get("model") or ""))
        call.find(kwargs.get("messages"))
        result = create(*args, **kwargs)
        return call.awaited(result) if inspect.isawaitable(result) else call.ended(result)

    setattr(recorded, _MARK, True)
    return recorded


@dataclass(slots=True)
class _Call:
    """One call of a model."""

    run: Recording
    step: str
    model: str
    inputs: dict[str, str | None] = field(default_factory=dict)

    def find(self, messages: Any) -> None:
        """Find the inputs of the call, and record what of them is new."""
        try:
            for message in messages or ():
                for text, _ in _texts(message):
                    self._find(_of(message, "role"), text)
        except Exception:  # noqa: BLE001  # nothing of ours may end the call
            self.run.faults.log("messages", "messages could not be searched", trace=True)

    def _find(self, role: object, text: str) -> None:
        found = self.run.links(text, within=True).nodes
        if not found and text.strip() and role not in ("system", "developer"):
            if role in ("tool", "function"):
                span = self.run.source(text, kind="tool_result", step="tool")
            elif role == "assistant":
                span = self.run.step(text, kind="message", step=self.step)
            else:
                span = self.run.given(text, kind="user", step="user")
            found = {span.node_id: None} if span.node_id else {}
        for node_id, how in found.items():
            if how is None or node_id not in self.inputs:
                self.inputs[node_id] = how

    async def awaited(self, result: Awaitable[Any]) -> Any:
        """Record a result when it is there."""
        return self.ended(await result)

    def ended(self, result: Any) -> Any:
        """Record a result, or the pieces of a stream as they come."""
        if hasattr(result, "choices"):
            self._record(result)
        elif hasattr(result, "__aiter__"):
            return _AsyncStream(result, self)
        elif hasattr(result, "__next__"):
            return _Stream(result, self)
        else:  # such as a raw response
            message = "a %s of the model was not recorded"
            self.run.faults.log("openai", message, type(result).__name__)
        return result

    def _record(self, result: Any) -> None:
        try:
            for choice in result.choices or ():
                reason = _of(choice, "finish_reason")
                for text, kind in _texts(_of(choice, "message")):
                    self.record(text, kind, reason, _of(result, "model"))
        except Exception:  # noqa: BLE001
            self.run.faults.log("openai", "an answer could not be recorded", trace=True)

    def record(
        self, text: str, kind: str, reason: object, model: object, *, is_whole: bool = True
    ) -> None:
        """Record a text of the answer."""
        metadata: dict[str, Any] = {} if reason is None else {"finish_reason": reason}
        metadata |= {} if is_whole else {"incomplete": True}
        facts = Facts(self.step, kind, model=str(model or self.model), metadata=metadata)
        self.run.result(text, facts, self.inputs)


class _Pieces:
    """The pieces of a streamed answer, by choice."""

    def __init__(self, call: _Call) -> None:
        self._call = call
        self._texts: dict[int, list[str]] = {}
        self._tools: dict[tuple[int, int], list[str]] = {}
        self._reasons: dict[int, object] = {}
        self._model: object = None
        self._is_over = False

    def add(self, chunk: Any) -> None:
        """Keep what a chunk holds."""
        try:
            self._model = _of(chunk, "model") or self._model
            for choice in _of(chunk, "choices") or ():
                number, delta = _of(choice, "index") or 0, _of(choice, "delta")
                if text := _of(delta, "content"):
                    self._texts.setdefault(number, []).append(text)
                for call in _of(delta, "tool_calls") or ():
                    key = (number, _of(call, "index") or 0)
                    parts = self._tools.setdefault(key, ["", ""])
                    parts[0] += _of(_of(call, "function"), "name") or ""
                    parts[1] += _of(_of(call, "function"), "arguments") or ""
                if (reason := _of(choice, "finish_reason")) is not None:
                    self._reasons[number] = reason
        except Exception:  # noqa: BLE001
            self._call.run.faults.log("openai", "a piece could not be recorded", trace=True)

    def end(self, *, is_whole: bool) -> None:
        """Record what came, once."""
        if self._is_over:
            return
        self._is_over = True
        found = [(number, "".join(parts), "message") for number, parts in self._texts.items()]
        for (number, _), (name, given) in self._tools.items():
            found.append((number, f"{name}({given})", "tool_call"))
        for number, text, kind in found:
            reason = self._reasons.get(number)
            # The choice is whole once it says why it ended, whatever is left of the stream.
            is_done = is_whole or reason is not None
            self._call.record(text, kind, reason, self._model, is_whole=is_done)


class _Stream:
    """A stream of the client that records what passes; all else of it is its own."""

    def __init__(self, stream: Any, call: _Call) -> None:
        self._stream = stream
        self._pieces = _Pieces(call)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            chunk = next(self._stream)
        except BaseException as error:
            self._pieces.end(is_whole=isinstance(error, StopIteration))
            raise
        self._pieces.add(chunk)
        return chunk

    def __enter__(self) -> _Stream:
        self._stream.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        self._pieces.end(is_whole=False)
        return self._stream.__exit__(*error)

    def __del__(self) -> None:
        self._pieces.end(is_whole=False)

    def close(self) -> None:
        """Close the stream; what came is recorded."""
        self._pieces.end(is_whole=False)
        self._stream.close()


class _AsyncStream:
    """The same, to be awaited."""

    def __init__(self, stream: Any, call: _Call) -> None:
        self._stream = stream
        self._pieces = _Pieces(call)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        try:
            chunk = await anext(self._stream)
        except BaseException as error:
            self._pieces.end(is_whole=isinstance(error, StopAsyncIteration))
            raise
        self._pieces.add(chunk)
        return chunk

    async def __aenter__(self) -> _AsyncStream:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        self._pieces.end(is_whole=False)
        return await self._stream.__aexit__(*error)

    def __del__(self) -> None:
        self._pieces.end(is_whole=False)

    async def close(self) -> None:
        """Close the stream; what came is recorded."""
        self._pieces.end(is_whole=False)
        await self._stream.close()


def _of(value: Any, name: str) -> Any:
    """A field of an object or of a dict; None where there is none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _texts(message: Any) -> Iterator[tuple[str, str]]:
    """The texts of a message with their kinds: its content, and its calls of tools."""
    content = _of(message, "content")
    for part in [content] if isinstance(content, str) else content or ():
        text = part if isinstance(part, str) else _of(part, "text")
        if isinstance(text, str) and text:
            yield text, "message"
    for call in _of(message, "tool_calls") or ():
        function = _of(call, "function")
        yield f"{_of(function, 'name')}({_of(function, 'arguments')})", "tool_call"
