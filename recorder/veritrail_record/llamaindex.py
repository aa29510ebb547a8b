"""Record what LlamaIndex does: `instrument()` once, then programs run as they did.

The events and spans of LlamaIndex's instrumentation are recorded in the recording of their
context: what retrievers find, what models answer, results of tools, and texts that steps of
workflows hand on. Without a recording nothing happens. Needs `veritrail-record[llamaindex]`.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from veritrail_record import RecordedSpan, Recording
from veritrail_record.calls import (
    CALL,
    RESULT,
    Call,
    Guard,
    call_text,
    document,
    missing,
    of,
    recording,
    tool_result,
)
from veritrail_record.linking import HEAD
from veritrail_record.nodes import Facts

try:
    from llama_index.core.instrumentation.event_handlers import BaseEventHandler
    from llama_index.core.instrumentation.events import BaseEvent
    from llama_index.core.instrumentation.span import BaseSpan
    from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
    from llama_index_instrumentation import get_dispatcher
except ImportError as error:
    raise missing("llamaindex", "LlamaIndex") from error

_OF_LIBRARY = ("llama_index.", "workflows.")
_MOST_CALLS = 10_000
"""Calls that wait for their end; those of models that failed never end."""
_MOST_STREAMS = 100
"""Syntheses whose stream was not read yet; some never are."""


def instrument(run: Recording | None = None) -> Callable[[], None]:
    """Record what LlamaIndex does from now on.

    Args:
        run: The recording; default: that of the context in which something happens.

    Returns:
        A function that ends it. A second call for the same recording changes nothing.
    """
    dispatcher = get_dispatcher()
    for known in dispatcher.event_handlers:
        if isinstance(known, _Events) and known._recorder.run is run:
            return lambda: None
    recorder = _Recorder(run)
    events, spans = _Events(), _Spans()
    events._recorder = spans._recorder = recorder
    dispatcher.add_event_handler(events)
    dispatcher.add_span_handler(spans)

    def remove() -> None:
        for handlers, one in (
            (dispatcher.event_handlers, events),
            (dispatcher.span_handlers, spans),
        ):
            if one in handlers:
                handlers.remove(one)  # type: ignore[arg-type]

    return remove


@dataclass(slots=True, eq=False)
class _Span:
    """A span that runs.

    Attributes:
        run: The recording.
        parent: The span around it.
        inside: Nodes that were recorded or found while it ran; True: by a model.
        short: Texts among them that are too short to be looked for within others.
        given: Nodes that a synthesis was given.
        is_synthesis: Whether it puts an answer together from what was retrieved.
        streams: Whether it is over and its answer comes later.
    """

    run: Recording
    parent: _Span | None
    inside: dict[str, bool] = field(default_factory=dict)
    short: dict[str, str] = field(default_factory=dict)
    given: dict[str, None] = field(default_factory=dict)
    is_synthesis: bool = False
    streams: bool = False

    def chain(self) -> Iterator[_Span]:
        """The span and those around it."""
        span: _Span | None = self
        while span is not None:
            yield span
            span = span.parent

    def keep(self, node: RecordedSpan, *, is_written: bool = False) -> None:
        """Know a node as one of this span and of those around it."""
        if not node.node_id:
            return
        for span in self.chain():
            span.inside[node.node_id] = span.inside.get(node.node_id, False) or is_written
            if len(node.text) < HEAD and node.text.strip():
                span.short[node.node_id] = node.text


@dataclass(slots=True)
class _ModelCall(Call):
    """A call of a model.

    Attributes:
        span: The span that it runs in.
        last: The latest piece of its stream.
    """

    span: _Span | None = None
    last: Any = None

    def find(self, messages: Iterable[Any]) -> None:
        """Find the inputs among the recorded texts; within a synthesis record nothing new."""
        around = self.span.chain() if self.span else ()
        synthesis = next((one for one in around if one.is_synthesis), None)
        for message in messages:
            role = str(of(of(message, "role"), "value"))
            answers = of(of(message, "additional_kwargs"), "tool_call_id")
            for text, _, call_id in _texts(message):
                if synthesis is None:
                    key = (CALL, call_id) if call_id else (RESULT, answers) if answers else None
                    self.read(role, text, key=key)
                else:
                    self.add(self.run.links(text, within=True).nodes)
                    short = synthesis.short.items()
                    self.add({one: "exact" for one, words in short if words in text})
        if synthesis is not None and not self.inputs:
            # The prompt shows them in another form. What the models of this synthesis wrote
            # before is nearer than what it was given.
            written = [one for one, is_written in synthesis.inside.items() if is_written]
            self.add(dict.fromkeys(written or synthesis.given, "order"))

    def ended(self, response: Any, *, is_whole: bool = True) -> None:
        """Record an answer, once."""
        if response is None:
            return
        message, raw = of(response, "message"), of(response, "raw")
        choice = next(iter(of(raw, "choices") or ()), None)
        reason = of(choice, "finish_reason")
        texts = [(of(response, "text"), "message", None)] if message is None else _texts(message)
        for text, kind, call_id in texts:
            if isinstance(text, str) and text:
                self._ended(text, kind, call_id, reason, of(raw, "model"), is_whole=is_whole)

    def _ended(
        self, text: str, kind: str, call_id: str | None, reason: object, model: object, *,
        is_whole: bool,
    ) -> None:  # fmt: skip
        # A call may be made of another one that gave the same answer, which is the node then.
        inside = self.span.inside if self.span else {}
        about = {} if reason is None else {"finish_reason": reason}
        about |= {} if is_whole else {"incomplete": True}
        name = str(model or self.model) or None
        facts = Facts(self.step, kind, model=name, metadata=about)
        known = next((one for one in self.run.links(text).nodes if one in inside), None)
        if known is not None:
            node = RecordedSpan(known, text, self.run.process_id)
        else:
            node = self.run.result(text, facts, self.inputs)
        if call_id:
            self.run.know_id((CALL, call_id), node)
        if self.span is not None:
            self.span.keep(node, is_written=True)
            if any(one.streams for one in self.span.chain()):
                self.run.final(node)


class _Recorder:
    """The base of both handlers: the spans and model calls that they record."""

    def __init__(self, run: Recording | None) -> None:
        self.run = run
        self._spans: dict[str, _Span] = {}
        self._calls: dict[tuple[str | None, str], _ModelCall] = {}
        self._streams: deque[_Span] = deque(maxlen=_MOST_STREAMS)

    # Spans

    def enter(self, id_: str, arguments: Mapping[str, Any], parent_id: str | None) -> None:
        """A span begins."""
        run = recording(self.run)
        if run is None:
            return
        span = _Span(run, self._spans.get(parent_id or ""))
        self._spans[id_] = span
        name = _name(id_)
        if name in ("synthesize", "asynthesize"):
            span.is_synthesis = True
            with Guard(run, "llamaindex", "what a synthesis was given could not be recorded"):
                given = [arguments.get("nodes"), arguments.get("additional_source_nodes")]
                for nodes in given:
                    for one in nodes or ():
                        self._document(span, one, span.given)

    def exit(self, id_: str, arguments: Mapping[str, Any], result: Any) -> None:
        """A span ends."""
        span = self._spans.pop(id_, None)
        if span is None:
            return
        with Guard(span.run, "llamaindex", "a result could not be recorded"):
            kind = type(result).__name__
            if kind == "ToolOutput":
                self._tool(span, str(of(result, "tool_name")), result)
            elif kind == "ToolCallResult":
                output = of(result, "tool_output")
                self._tool(span, str(of(result, "tool_name")), output, of(result, "tool_id"))
            elif kind in ("Response", "PydanticResponse", "AgentChatResponse"):
                self._response(span, _name(id_), str(of(result, "response") or ""))
            elif kind.startswith(("Streaming", "AsyncStreaming")):
                span.streams = True
                if span.is_synthesis:
                    self._streams.append(span)
            elif _is_event(result):
                self._step(span, _name(id_), arguments, result)

    def drop(self, id_: str) -> None:
        """A span ends with an error."""
        self._spans.pop(id_, None)
        for kind in ("chat", "completion"):
            self._calls.pop((id_, kind), None)

    def _document(self, span: _Span, one: Any, known: dict[str, None] | None = None) -> None:
        """Record a node of an index; the same node with the same text is one."""
        node = of(one, "node") or one
        text, name = of(node, "text"), str(of(node, "node_id"))
        if not isinstance(text, str) or not text.strip():
            return
        key = ("llamaindex node", name, len(text), hash(text))
        metadata = of(node, "metadata") or {}
        found = span.run.of_id(key)
        if found:
            source = span.run.found(RecordedSpan(next(iter(found)), text, span.run.process_id))
        else:
            original = span.run.of_id(("llamaindex node", name))
            if original and text not in metadata.values():  # such as one that was shortened
                facts = Facts("postprocess", "document", metadata={**metadata, "id": name})
                source = span.run.result(text, facts, dict.fromkeys(list(original)[:1]))
            else:
                source = document(span.run, text, metadata={**metadata, "id": name})
            span.run.know_id(key, source)
            span.run.know_id(("llamaindex node", name), source)
        span.keep(source)
        if known is not None and source.node_id:
            known[source.node_id] = None

    def _tool(self, span: _Span, step: str, output: Any, call_id: Any = None) -> None:
        text = of(output, "content")
        if isinstance(text, str) and text.strip():
            result = tool_result(
                span.run,
                text,
                step=step,
                call_id=str(call_id) if call_id else None,
                inside=list(span.inside),
                is_written=any(span.inside.values()),
                metadata={"error": True} if of(output, "is_error") else None,
            )
            (span.parent or span).keep(result)

    def _response(self, span: _Span, step: str, text: str) -> None:
        """Record the response of an engine where it is not what a model wrote in it."""
        links = span.run.links(text, within=True).nodes
        if not text.strip() or not (links or span.inside or span.given):
            return  # such as `Empty Response`
        if span.is_synthesis and not span.inside:
            links |= dict.fromkeys((one for one in span.given if one not in links), "order")
        node = span.run.result(text, Facts(step, "message"), links, span.inside)
        span.keep(node, is_written=True)
        if span.parent is None:
            span.run.final(node)

    def _step(self, span: _Span, step: str, arguments: Mapping[str, Any], result: Any) -> None:
        """Record the texts that a step of a workflow hands on, where they are new."""
        given = [
            value for one in arguments.values() if _is_event(one) for value in _fields(one).values()
        ]
        known = span.run.links(given, within=True)
        passed = set(known.unknown)
        is_end = type(result).__name__ == "StopEvent"
        for name, text in _new_texts(result, is_end=is_end):
            if text in passed or not text.strip():
                continue
            node = next(iter(span.run.links(text).nodes), None)
            if node is None:
                facts = Facts(step, name)
                made = span.run.result(text, facts, known.nodes, span.inside)
            else:
                made = RecordedSpan(node, text, span.run.process_id)
            span.keep(made, is_written=True)
            if is_end and span.parent is None:
                span.run.final(made)

    # Events

    def event(self, event: BaseEvent) -> None:
        """Something happened in a span."""
        name = event.class_name()
        if name.startswith("LLM"):
            kind = "chat" if "Chat" in name else "completion" if "Completion" in name else ""
            if kind and name.endswith("StartEvent"):
                self._begin(event, kind)
            elif (call := self._calls.get((event.span_id, kind))) is None:
                pass
            elif name.endswith("InProgressEvent"):
                call.last = of(event, "response")
            elif name.endswith("EndEvent"):
                del self._calls[event.span_id, kind]
                with Guard(call.run, "llamaindex", "an answer could not be recorded"):
                    call.ended(of(event, "response"))
        elif name == "RetrievalEndEvent":
            self._retrieved(event)
        elif name == "ExceptionEvent":
            for kind in ("chat", "completion"):
                if call := self._calls.pop((event.span_id, kind), None):
                    with Guard(call.run, "llamaindex", "an answer could not be recorded"):
                        call.ended(call.last, is_whole=False)

    def _begin(self, event: Any, kind: str) -> None:
        run = recording(self.run)
        if run is None:
            return
        span = self._spans.get(event.span_id or "")
        about = of(event, "model_dict") or {}
        model = str(about.get("model") or about.get("model_name") or "")
        call = _ModelCall(run, "chat" if kind == "chat" else "complete", model, span=span)
        with Guard(run, "llamaindex", "messages could not be searched"):
            prompt = {"role": {"value": "user"}, "content": of(event, "prompt")}
            messages = event.messages if kind == "chat" else [prompt]
            if span is not None and not any(one.is_synthesis for one in span.chain()):
                self._resume(span, messages)
            if span is not None and any(one.is_synthesis for one in span.chain()):
                call.step = "synthesize"
            call.find(messages)
        if len(self._calls) >= _MOST_CALLS:
            self._calls.pop(next(iter(self._calls)), None)
        self._calls[event.span_id, kind] = call

    def _resume(self, span: _Span, messages: Iterable[Any]) -> None:
        """Find the synthesis whose stream is read here, after its span is over."""
        text = "\n".join(text for message in messages for text, _, _ in _texts(message))
        links = span.run.links(text, within=True).nodes
        for one in reversed(self._streams):
            is_short = any(words in text for words in one.short.values())
            if one.run is span.run and (is_short or any(node in one.given for node in links)):
                list(span.chain())[-1].parent = one
                self._streams.remove(one)
                return

    def _retrieved(self, event: Any) -> None:
        run = recording(self.run)
        if run is None:
            return
        span = self._spans.get(event.span_id or "") or _Span(run, None)
        with Guard(run, "llamaindex", "what was retrieved could not be recorded"):
            for one in event.nodes:
                self._document(span, one)


class _Events(BaseEventHandler):
    """Hands events on."""

    _recorder: Any = None

    @classmethod
    def class_name(cls) -> str:
        return "VeriTrailEvents"

    def handle(self, event: BaseEvent, **_: Any) -> None:
        with Guard(None, "llamaindex", "an event could not be recorded"):
            self._recorder.event(event)


class _Spans(BaseSpanHandler[BaseSpan]):
    """Hands spans on."""

    _recorder: Any = None

    @classmethod
    def class_name(cls) -> str:
        return "VeriTrailSpans"

    def span_enter(
        self, id_: str, bound_args: inspect.BoundArguments, instance: Any = None,
        parent_id: str | None = None, tags: dict[str, Any] | None = None, **_: Any,
    ) -> None:  # fmt: skip
        with Guard(None, "llamaindex", "a span could not be recorded"):
            self._recorder.enter(id_, bound_args.arguments, parent_id)

    def span_exit(
        self, id_: str, bound_args: inspect.BoundArguments, instance: Any = None,
        result: Any = None, **_: Any,
    ) -> None:  # fmt: skip
        with Guard(None, "llamaindex", "a span could not be recorded"):
            self._recorder.exit(id_, bound_args.arguments, result)

    def span_drop(
        self, id_: str, bound_args: inspect.BoundArguments, instance: Any = None,
        err: BaseException | None = None, **_: Any,
    ) -> None:  # fmt: skip
        self._recorder.drop(id_)

    def new_span(self, *_: Any, **__: Any) -> None:
        return None

    def prepare_to_exit_span(self, *_: Any, **__: Any) -> None:
        return None

    def prepare_to_drop_span(self, *_: Any, **__: Any) -> None:
        return None


def _name(id_: str) -> str:
    """The name of the method in the id of a span, `Class.method-UUID`."""
    return id_[: -len("-00000000-0000-0000-0000-000000000000")].rpartition(".")[2]


def _texts(message: Any) -> Iterator[tuple[str, str, str | None]]:
    """The texts of a message with their kinds, and the ids of its calls of tools."""
    content = of(message, "content")
    if isinstance(content, str) and content:
        yield content, "message", None
    asked: dict[tuple[str, str], str | None] = {}
    for block in of(message, "blocks") or ():
        if of(block, "block_type") == "tool_call":
            name, arguments = of(block, "tool_name"), of(block, "tool_kwargs")
            if not isinstance(arguments, str):
                arguments = json.dumps(arguments, ensure_ascii=False, default=str)
            asked[str(name), arguments] = of(block, "tool_call_id")
    for call in (of(of(message, "additional_kwargs"), "tool_calls") or ()) if not asked else ():
        function = of(call, "function")
        asked[str(of(function, "name")), str(of(function, "arguments"))] = of(call, "id")
    for (name, arguments), call_id in asked.items():
        yield call_text(name, arguments), "tool_call", call_id


def _is_event(value: Any) -> bool:
    """Return whether a value is an event of a workflow."""
    events = sys.modules.get("workflows.events")
    return events is not None and isinstance(value, events.Event)


def _fields(event: Any) -> dict[str, Any]:
    """The fields of an event of a workflow."""
    return {**vars(event), **(getattr(event, "_data", None) or {})}


def _new_texts(event: Any, *, is_end: bool) -> Iterator[tuple[str, str]]:
    """The texts of an event by name; events of the library hold what was recorded already."""
    if is_end:
        result = of(event, "result")
        message = of(of(result, "response"), "content")  # of an agent
        for text in result if isinstance(result, list | tuple) else [message or result]:
            if isinstance(text, str):
                yield "result", text
    elif not type(event).__module__.startswith(_OF_LIBRARY):
        for name, value in _fields(event).items():
            for text in value if isinstance(value, list | tuple) else [value]:
                if isinstance(text, str) and len(text) >= HEAD:
                    yield name, text
