"""Record what Haystack runs: `instrument()` once, then pipelines and agents run as they did.

A tracer of Haystack sees what each component is given and returns. Documents that a component
brought in are source text; replies of models are nodes with what flowed into their component.
Without a recording nothing happens. Needs `veritrail-record[haystack]`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
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
    from haystack.tracing.tracer import Span, Tracer, enable_tracing, is_tracing_enabled, tracer
except ImportError as error:
    raise missing("haystack", "Haystack") from error

_REPLIES = ("replies", "reply")
_PROMPTS = ("messages", "prompt")
_BRING_IN = ("Retriever", "Fetcher", "Converter", "WebSearch")
"""Parts of the names of components whose documents come from outside, whatever they are given."""

_active: ContextVar[_Span | None] = ContextVar("veritrail_haystack", default=None)


def instrument(run: Recording | None = None) -> Callable[[], None]:
    """Record what Haystack runs from now on; a tracer that is enabled goes on tracing.

    Args:
        run: The recording; default: that of the context in which something runs.

    Returns:
        A function that ends it. A second call for the same recording changes nothing.
    """
    before = tracer.actual_tracer
    if isinstance(before, RecordingTracer) and before.is_on and before.run is run:
        return lambda: None
    ours = RecordingTracer(run, before if is_tracing_enabled() else None)
    enable_tracing(ours)

    def remove() -> None:
        if tracer.actual_tracer is ours:
            tracer.actual_tracer = before
        ours.is_on = False

    return remove


class RecordingTracer(Tracer):
    """A tracer that records, for `haystack.tracing.enable_tracing`.

    Args:
        run: The recording; default: that of the context.
        inner: A tracer that is handed everything too.
    """

    def __init__(self, run: Recording | None = None, inner: Tracer | None = None) -> None:
        self.is_on = True
        self.run = run
        self._inner = inner

    @contextmanager
    def trace(
        self,
        operation_name: str,
        tags: dict[str, Any] | None = None,
        parent_span: Span | None = None,
    ) -> Iterator[Span]:
        """Open a span, which is the current one until its end."""
        parent = parent_span if isinstance(parent_span, _Span) else _active.get()
        with ExitStack() as stack:
            inner: Span | None = None
            if self._inner is not None:
                above = parent_span.inner if isinstance(parent_span, _Span) else parent_span
                inner = stack.enter_context(self._inner.trace(operation_name, tags, above))
            run = recording(self.run) if self.is_on else None
            span = _Span(operation_name, tags or {}, run, parent, inner)
            token = _active.set(span)
            try:
                yield span
            finally:
                with suppress(ValueError):  # a stream that is closed in another context
                    _active.reset(token)

    def current_span(self) -> Span | None:
        """The current span."""
        return _active.get()


@dataclass(frozen=True, slots=True)
class _Carried:
    """A text that a component put together from others, such as a prompt.

    Attributes:
        sender: The component.
        nodes: What was in it.
    """

    sender: str
    nodes: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class _Words:
    """A text among the inputs of a component that is no node."""

    role: str
    text: str
    key: tuple[str, str] | None


class _Span(Span):
    """A span that records the inputs and outputs that Haystack hands it."""

    parent: _Span | None
    run: Recording | None

    def __init__(
        self,
        operation: str,
        tags: Mapping[str, Any],
        run: Recording | None,
        parent: _Span | None,
        inner: Span | None,
    ) -> None:
        self.inner = inner
        self.parent = parent if parent is not None and parent.run is run else None
        self.run = run
        self.inside: dict[str, bool] = {}
        """Nodes that were recorded or found while it ran; True: written by a model."""
        self.carried: dict[str, _Carried] = self.parent.carried if self.parent else {}
        self.name = str(tags.get("haystack.component.name") or "")
        self._operation = operation
        self._tags = tags
        self._work: _Component | None = None

    def set_tag(self, key: str, value: Any) -> None:
        """Hand a tag on."""
        if self.inner is not None:
            self.inner.set_tag(key, value)

    def raw_span(self) -> Any:
        """The span of the tracer that was enabled before, else this one."""
        return self if self.inner is None else self.inner.raw_span()

    def get_correlation_data_for_logs(self) -> dict[str, Any]:
        """Return what the tracer that was enabled before says."""
        return {} if self.inner is None else self.inner.get_correlation_data_for_logs()

    def set_content_tag(self, key: str, value: Any) -> None:
        """Record inputs and outputs, whether or not Haystack traces contents."""
        if self.run is not None:
            with Guard(self.run, "haystack", "inputs or outputs could not be recorded"):
                self._record(self.run, key, value)
        if self.inner is not None:
            self.inner.set_content_tag(key, value)

    def keep(self, node: RecordedSpan, *, is_written: bool = False) -> None:
        """Know a node as one of this span and of those around it."""
        span: _Span | None = self
        while span is not None and node.node_id:
            span.inside[node.node_id] = span.inside.get(node.node_id, False) or is_written
            span = span.parent

    def _record(self, run: Recording, key: str, value: Any) -> None:
        place = (self._operation, key.rpartition(".")[2])
        match place:
            case ("haystack.component.run", "input"):
                self._work = _Component.of_tags(run, self, self._tags)
                self._work.given(value)
            case ("haystack.agent.step.llm", "input"):
                self._work = _Component.of_agent(run, self)
                self._work.given(value)
            case ("haystack.component.run" | "haystack.agent.step.llm", "output"):
                if self._work is not None:
                    self._work.returned(value)
            case ("haystack.agent.step.tool", "output"):
                self._tool(run, value)
            case ("haystack.pipeline.run", "output_data") if self.parent is None:
                for leaf in _leaves(value):
                    self._final(run, leaf)
            case ("haystack.agent.run", "output") if self.parent is None:
                self._final(run, of(value, "last_message"))

    def _tool(self, run: Recording, value: Any) -> None:
        step = str(self._tags.get("haystack.tool.name") or "tool")
        if isinstance(value, str) and value.strip():
            is_written = any(self.inside.values())
            inside = list(self.inside)
            self.keep(tool_result(run, value, step=step, inside=inside, is_written=is_written))
            return
        for leaf in _leaves(value):
            if _is_document(leaf):
                _source(run, leaf, step, self)

    def _final(self, run: Recording, leaf: Any) -> None:
        """Take what a model wrote in it as a final output, where it comes out at the end."""
        for text in _texts_of(leaf):
            for node in run.links(text).nodes:
                if self.inside.get(node):
                    run.final(RecordedSpan(node, text, run.process_id))


@dataclass(slots=True)
class _Component:
    """One run of a component, or of the model of an agent.

    Attributes:
        run: The recording.
        span: Its span.
        call: Its step, and its inputs.
        kind: The name of its class.
        is_builtin: Whether it is one of Haystack's own.
        senders: Components that each of its inputs comes from; None: it is not known.
        receivers: Components that each of its outputs goes to; None: it is not known.
        documents: Documents among its inputs.
        words: Texts among its inputs that are no nodes.
    """

    run: Recording
    span: _Span
    call: Call
    kind: str
    is_builtin: bool
    senders: Mapping[str, Any] | None
    receivers: Mapping[str, Any] | None
    documents: dict[str, None] = field(default_factory=dict)
    words: list[_Words] = field(default_factory=list)

    @classmethod
    def of_tags(cls, run: Recording, span: _Span, tags: Mapping[str, Any]) -> _Component:
        """The component of a pipeline that a span is about."""
        prefix = "haystack.component."
        sockets = (tags.get(f"{prefix}input_spec") or {}, tags.get(f"{prefix}output_spec") or {})
        return cls(
            run,
            span,
            Call(run, span.name or "component"),
            str(tags.get(f"{prefix}type")),
            str(tags.get(f"{prefix}fully_qualified_type")).startswith("haystack."),
            {name: of(one, "senders") for name, one in sockets[0].items()},
            {name: of(one, "receivers") for name, one in sockets[1].items()},
        )

    @classmethod
    def of_agent(cls, run: Recording, span: _Span) -> _Component:
        """The model of an agent, which has the name of the agent in its pipeline."""
        around = span.parent
        while around is not None and not around.name:
            around = around.parent
        name = around.name if around is not None else "agent"
        return cls(run, span, Call(run, name), "ChatGenerator", True, None, None)

    # What it is given

    def given(self, inputs: Mapping[str, Any]) -> None:
        """Find the nodes among its inputs."""
        for socket, value in inputs.items():
            for leaf in _leaves(value):
                if _is_document(leaf):
                    node = _source(self.run, leaf, "input", self.span)
                    if node is not None:
                        self.documents[node.node_id] = None
                        self.call.add({node.node_id: None})
                elif isinstance(leaf, str):
                    role = "user" if socket in _PROMPTS else "system"
                    self._find(socket, _Words(role, leaf, None))
                else:
                    for words in _messages(leaf):
                        self._find(socket, words)

    def _find(self, socket: str, words: _Words) -> None:
        known = self.run.of_id(words.key) if words.key else {}
        found = dict(known) or self.run.links(words.text, within=True).nodes
        carried = self.span.carried.get(words.text)
        senders = self.senders.get(socket) if self.senders is not None else None
        if carried is not None and (senders is None or carried.sender in senders):
            # It was handed over, so it was an input, in the text or in another form.
            for node in carried.nodes:
                found[node] = None if node in found else "order"
        self.call.add(found)
        if not found:
            self.words.append(words)
        elif not known:
            for node in found:
                if found[node] is None:
                    self.span.keep(RecordedSpan(node, words.text, self.run.process_id))

    # What it returns

    def returned(self, outputs: Mapping[str, Any]) -> None:
        """Record what is new in its outputs."""
        about = outputs.get("meta")
        for socket, value in outputs.items():
            for number, leaf in enumerate(_leaves(value)):
                if _is_document(leaf):
                    self._document(leaf)
                elif isinstance(leaf, str):
                    meta = about[number] if isinstance(about, list) and number < len(about) else {}
                    self._text(socket, leaf, meta)
                elif isinstance(text := of(leaf, "data"), str):
                    self._answer(leaf, text)
                else:
                    self._message(socket, leaf)

    def _document(self, leaf: Any) -> None:
        is_derived = self.documents and not any(part in self.kind for part in _BRING_IN)
        if not is_derived or _known(self.run, leaf) is not None:
            _source(self.run, leaf, self.call.step, self.span)
            return
        text, meta = leaf.content, leaf.meta or {}
        parents = [meta[key] for key in ("source_id", "parent_id", "__parent_id") if meta.get(key)]
        named = {
            node: None
            for parent in parents
            for node in self.run.of_id(("haystack document", parent))
            if node in self.documents
        }
        whole = {one: how for one, how in self.run.links(text, within=True).nodes.items()
                 if one in self.documents}  # fmt: skip
        inputs = named or whole or dict.fromkeys(self.documents, "order")
        facts = Facts(self.call.step, "document", metadata={**meta, "id": leaf.id})
        node = self.run.result(text, facts, inputs, self.span.inside if not named else ())
        _know(self.run, leaf, node)
        self.span.keep(node)

    def _message(self, socket: str, message: Any) -> None:
        role = str(of(of(message, "role"), "value"))
        for words in _messages(message):
            if role == "assistant":
                kind = "message" if words.key is None else "tool_call"
                self._reply(words.text, kind, of(message, "meta") or {}, words.key)
            elif role == "tool":
                if self._is_there(words.text) is None:
                    call_id = words.key[1] if words.key else None
                    self.span.keep(tool_result(self.run, words.text, call_id=call_id))
            else:
                self._carry(socket, words.text, is_message=True)

    def _text(self, socket: str, text: str, meta: Any) -> None:
        if not text.strip() or self._is_there(text) is not None:
            return
        if socket in _REPLIES or self.kind.endswith("Generator"):
            self._reply(text, "message", meta if isinstance(meta, Mapping) else {}, None)
        elif self.is_builtin:
            self._carry(socket, text)
        elif not any(words.text == text for words in self.words):
            self._made(text, Facts(self.call.step, socket))
        else:  # it was passed on
            self._carry(socket, text)

    def _answer(self, leaf: Any, text: str) -> None:
        if text.strip() and self._is_there(text) is None:
            source = of(leaf, "document")
            known = _known(self.run, source) if source is not None else None
            if known is not None:
                self.call.inputs = {known: None}
            self._made(text, Facts(self.call.step, "answer"))

    def _reply(self, text: str, kind: str, meta: Mapping[str, Any], key: Any) -> None:
        node = self._is_there(text) if not key or not self.run.of_id(key) else None
        if node is None and not (key and self.run.of_id(key)):
            for words in self.words:
                self.call.read(words.role, words.text, key=words.key)
            self.words.clear()
            facts = Facts(
                self.call.step,
                kind,
                model=str(meta["model"]) if meta.get("model") else None,
                metadata={k: meta[k] for k in ("finish_reason",) if meta.get(k)},
            )
            made = self.run.result(text, facts, self.call.inputs)
            if key:
                self.run.know_id(key, made)
            self.span.keep(made, is_written=True)

    def _made(self, text: str, facts: Facts) -> None:
        made = self.run.result(text, facts, self.call.inputs, self.span.inside)
        self.span.keep(made, is_written=True)

    def _carry(self, socket: str, text: str, *, is_message: bool = False) -> None:
        """Remember what a text was put together from; what comes out at the end is a node."""
        receivers = self.receivers.get(socket) if self.receivers is not None else None
        is_passed = text in self.span.carried or any(words.text == text for words in self.words)
        is_text = not is_passed and not is_message and self.kind != "Agent" and len(text) >= HEAD
        if is_text and receivers == [] and self.call.inputs:
            self._made(text, Facts(self.call.step, socket))
        elif not is_passed or self.call.inputs:
            nodes = dict.fromkeys(self.call.inputs)
            self.span.carried[text] = _Carried(self.call.step, nodes)

    def _is_there(self, text: str) -> str | None:
        """The node of a text that came in, or was recorded inside the component."""
        for node in self.run.links(text).nodes:
            if node in self.span.inside or node in self.call.inputs:
                return node
        return None


def _source(run: Recording, leaf: Any, step: str, span: _Span) -> RecordedSpan | None:
    """The node of a document; a new one is source text."""
    text = leaf.content
    if not isinstance(text, str) or not text.strip():
        return None
    known = _known(run, leaf)
    if known is not None:
        node = run.found(RecordedSpan(known, text, run.process_id))
    else:
        node = document(run, text, step=step, metadata={**(leaf.meta or {}), "id": leaf.id})
        _know(run, leaf, node)
    span.keep(node)
    return node


def _known(run: Recording, leaf: Any) -> str | None:
    """The node of a document with this id and text."""
    text = of(leaf, "content")
    if not isinstance(text, str):
        return None
    return next(iter(run.of_id(("haystack document", leaf.id, len(text), hash(text)))), None)


def _know(run: Recording, leaf: Any, node: RecordedSpan) -> None:
    run.know_id(("haystack document", leaf.id, len(leaf.content), hash(leaf.content)), node)
    run.know_id(("haystack document", leaf.id), node)


def _leaves(value: Any) -> Iterator[Any]:
    """Texts, documents, messages and answers in a value, also inside lists and dicts."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple | set):
        if not (isinstance(value, list) and value and isinstance(value[0], int | float)):
            for one in value:
                yield from _leaves(one)
    elif isinstance(value, str) or _is_document(value) or _is_said(value):
        yield value


def _is_said(value: Any) -> bool:
    """Return whether a value is a message or an answer."""
    is_answer = hasattr(value, "query") and hasattr(value, "data")
    return is_answer or hasattr(value, "tool_call_results")


def _is_document(value: Any) -> bool:
    return hasattr(value, "content") and hasattr(value, "meta") and hasattr(value, "id")


def _messages(message: Any) -> Iterator[_Words]:
    """The texts of a message, the results of tools in it, and its calls of tools."""
    role = str(of(of(message, "role"), "value"))
    for text in of(message, "texts") or ():
        if text:
            yield _Words(role, text, None)
    for result in of(message, "tool_call_results") or ():
        text, call_id = of(result, "result"), of(of(result, "origin"), "id")
        if isinstance(text, str) and text:
            yield _Words("tool", text, (RESULT, str(call_id)) if call_id else None)
    for call in of(message, "tool_calls") or ():
        arguments = json.dumps(of(call, "arguments"), ensure_ascii=False, default=str)
        call_id = of(call, "id")
        text = call_text(of(call, "tool_name"), arguments)
        yield _Words(role, text, (CALL, str(call_id) if call_id else text))


def _texts_of(leaf: Any) -> Iterator[str]:
    if isinstance(leaf, str):
        yield leaf
    elif isinstance(text := of(leaf, "data"), str):
        yield text
    elif not _is_document(leaf):
        yield from (words.text for words in _messages(leaf))
