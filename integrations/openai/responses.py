"""Calls of `responses.create`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from veritrail_graph.api.recorder import RecordedSpan
from veritrail_graph.integrations.calls import (
    CALL,
    RESPONSE,
    RESULT,
    Guard,
    Pieces,
    call_text,
    document,
    of,
    tool_result,
)
from veritrail_graph.integrations.openai.model_call import ModelCall

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
        for text in _texts(arguments.get("instructions")):
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
            for text in _texts(of(item, "output")):
                self.read("tool", text, key=(RESULT, call_id))
        elif kind == "file_search_call":
            for span in self._documents(item):
                self.add({span.node_id: None})
        else:
            for text in _texts(of(item, "content")):
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
                    for text in _texts(of(item, "content"))
                ]
        response = of(result, "id")
        for span in written if response else ():
            self.run.know_id((RESPONSE, response), span, self.inputs)

    def _tool(self, item: Any) -> None:
        """What a tool that the server called returned: the model read it on the way."""
        for text in _texts(of(item, "output")):
            span = tool_result(self.run, text, step=str(of(item, "name")), call_id=of(item, "id"))
            if span.node_id:
                self.add({span.node_id: None})

    def _documents(self, item: Any) -> Iterator[RecordedSpan]:
        """What a search of files found, where the answer holds it (`include`)."""
        for one in of(item, "results") or ():
            if text := of(one, "text"):
                about = {name: of(one, name) for name in ("filename", "file_id", "score")}
                span = document(self.run, text, step="file_search", metadata=about)
                if span.node_id:
                    yield span

    def pieces(self) -> Pieces:
        """The events of a stream."""
        return _Events(self)


class _Events(Pieces):
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


def _texts(content: Any) -> Iterator[str]:
    """The texts of a message, an output or instructions: one, or those of its parts."""
    for part in [content] if isinstance(content, str) else content or ():
        text = part if isinstance(part, str) else of(part, "text") or of(part, "refusal")
        if isinstance(text, str) and text:
            yield text
