"""Record what a client of the package `openai` is answered: `instrument(OpenAI())`.

The calls of `client.chat.completions.create` are recorded in the recording of their context,
plain, awaited and streamed. Without a recording they are left alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

from veritrail_graph.api.recorder import current
from veritrail_graph.integrations.calls import (
    CALL,
    RESULT,
    AsyncRelay,
    Call,
    Guard,
    Pieces,
    Relay,
    call_text,
    of,
)

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
        call = _ChatCall(run, step, str(kwargs.get("model") or ""))
        call.find(kwargs.get("messages"))
        result = create(*args, **kwargs)
        return call.awaited(result) if inspect.isawaitable(result) else call.ended(result)

    setattr(recorded, _MARK, True)
    return recorded


class _ChatCall(Call):
    """A call of `chat.completions.create`."""

    __slots__ = ()

    def find(self, messages: Any) -> None:
        """Find the inputs of the call, and record what of them is new."""
        with Guard(self.run, "openai", "messages could not be searched"):
            for message in messages or ():
                role, answers = of(message, "role"), of(message, "tool_call_id")
                for text, _, call_id in _texts(message):
                    key = (CALL, call_id) if call_id else (RESULT, answers) if answers else None
                    self.read(role, text, key=key)

    async def awaited(self, result: Awaitable[Any]) -> Any:
        """Record a result when it is there."""
        return self.ended(await result)

    def ended(self, result: Any) -> Any:
        """Record a result, or the pieces of a stream as they come."""
        if hasattr(result, "choices"):
            with Guard(self.run, "openai", "an answer could not be recorded"):
                self._answer(result)
        elif hasattr(result, "__aiter__"):
            return AsyncRelay(result, _ChatPieces(self))
        elif hasattr(result, "__next__"):
            return Relay(result, _ChatPieces(self))
        else:  # such as a raw response
            message = "a %s of the model was not recorded"
            self.run.faults.log("openai", message, type(result).__name__)
        return result

    def _answer(self, result: Any) -> None:
        for choice in result.choices or ():
            reason, model = of(choice, "finish_reason"), of(result, "model")
            for text, kind, call_id in _texts(of(choice, "message")):
                key = (CALL, call_id) if call_id else None
                self.record(text, kind, reason=reason, model=model, key=key)


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


def _texts(message: Any) -> Iterator[tuple[str, str, str]]:
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
