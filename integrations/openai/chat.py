"""Calls of `chat.completions.create`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from veritrail_graph.integrations.calls import CALL, RESULT, Guard, Pieces, call_text, of
from veritrail_graph.integrations.openai.model_call import ModelCall


class ChatCall(ModelCall):
    """A call of `chat.completions.create`."""

    __slots__ = ()
    asks = "messages"
    answers = "choices"

    def find(self, arguments: Mapping[str, Any]) -> None:
        """Read the messages."""
        for message in arguments.get("messages") or ():
            role, answers = of(message, "role"), of(message, "tool_call_id")
            for text, _, call_id in _texts(message):
                key = (CALL, call_id) if call_id else (RESULT, answers) if answers else None
                self.read(role, text, key=key)

    def answer(self, result: Any) -> None:
        """Record every choice."""
        for choice in result.choices or ():
            reason, model = of(choice, "finish_reason"), of(result, "model")
            for text, kind, call_id in _texts(of(choice, "message")):
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
