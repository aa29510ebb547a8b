"""Record the runs of LangChain and LangGraph: `config={"callbacks": [RecordingHandler()]}`.

Which text was given to a model follows from the messages: from the ids of messages and of tool
calls, and from recorded texts that stand in them. How runs are nested decides nothing of that; it
tells what was recorded inside a tool or a node of a graph.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from functools import wraps
from typing import Any, TypeVar
from uuid import UUID

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
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.documents import Document
    from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
    from langchain_core.outputs import LLMResult
    from pydantic import BaseModel
except ImportError as error:
    raise missing("langchain", "langchain-core") from error

M = TypeVar("M", bound=Callable[..., Any])

_Leaf = tuple[str | None, str | tuple[str, Mapping[str, Any]]]
"""A field and its text; or a document with its metadata."""

DOCUMENT_KEYS = (
    "docs", "documents", "context", "contexts", "chunks", "passages", "results", "sources", "hits",
    "retrieved", "retrieved_docs", "retrieved_documents", "retrieved_contexts", "source_documents",
)  # fmt: skip
"""Fields in which programs keep what they looked up; the importers of traces read the same."""

_ROLES = {"ai": "assistant", "AIMessageChunk": "assistant", "human": "user"}
_DEEPEST = 20


@dataclass(slots=True)
class _Run:
    """A run of LangChain that goes on.

    Attributes:
        recording: Where it is recorded.
        root: The run that it belongs to.
        parent: The run that made it.
        step: The name of its step.
        is_node: Whether it is a function of the program: a node of a graph.
        call: What it is for a model.
        call_id: The tool call that it answers.
        given: What a function was given.
        inside: What was recorded while it went on.
        is_written: Whether a model wrote some of that.
        has_parts: Whether it made other runs.
        short: The short documents of the outermost run, by text and metadata.
    """

    recording: Recording
    root: UUID
    parent: UUID | None
    step: str
    is_node: bool = False
    call: Call | None = None
    call_id: str | None = None
    given: Any = None
    inside: dict[str, None] = field(default_factory=dict)
    is_written: bool = False
    has_parts: bool = False
    short: dict[tuple[str, str], RecordedSpan] = field(default_factory=dict)


def _harmless(method: M) -> M:
    """A callback that raises nothing: what goes wrong is logged."""

    @wraps(method)
    def guarded(self: RecordingHandler, *args: Any, **kwargs: Any) -> None:
        with Guard(self.fault_log, "langchain", f"{method.__name__} was not recorded"):
            method(self, *args, **kwargs)

    return guarded  # type: ignore[return-value]


class RecordingHandler(BaseCallbackHandler):
    """Records what runs of LangChain and LangGraph read and write.

    - What a retriever returns is source text, a node a document; so are documents that another
      step returns, unless a model wrote them.
    - What a tool returns is source text, unless it was put together of recorded texts, or a
      model wrote inside the tool.
    - What a model writes is a generated node; so is each call of a tool that it asks for.
    - What a function of the program, such as a node of a graph, makes of recorded texts is a
      generated node, where it passes on more than it was given.

    One handler may serve several runs at once, in threads and in asyncio.

    Args:
        run: The recording; default: the one of the context in which a run begins. Without any,
            nothing happens.
    """

    run_inline = True  # in the order of the calls, and in their context

    def __init__(self, run: Recording | None = None) -> None:
        super().__init__()
        self._recording = run
        self._runs: dict[UUID, _Run] = {}
        self._families: dict[UUID, set[UUID]] = {}
        self._lock = threading.RLock()

    @property
    def fault_log(self) -> Recording | None:
        """The recording whose log takes what goes wrong here."""
        return recording(self._recording)

    # Models

    @_harmless
    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Find what a chat model is given."""
        call = self._model(run_id, parent_run_id, metadata, kwargs)
        for message in (one for batch in messages for one in batch) if call else ():
            _read(call, message)

    @_harmless
    def on_llm_start(
        self,
        serialized: dict[str, Any],
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Find what a model is given that completes a text."""
        call = self._model(run_id, parent_run_id, metadata, kwargs)
        for prompt in prompts if call else ():
            call.read("user", prompt)

    def _model(
        self,
        run_id: UUID,
        parent_run_id: UUID | None,
        metadata: Mapping[str, Any] | None,
        more: Mapping[str, Any],
    ) -> Any:
        run = self._begin(run_id, parent_run_id, metadata, more, "chat")
        if run is None:
            return None
        asked = more.get("invocation_params") or {}
        model = asked.get("model") or asked.get("model_name")
        run.call = Call(
            run.recording, run.step, str(model or (metadata or {}).get("ls_model_name") or "")
        )
        return run.call

    @_harmless
    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Record what a model wrote."""
        self._wrote(run_id, response, is_whole=True)

    @_harmless
    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Record what came of a stream that failed or was left early."""
        self._wrote(run_id, kwargs.get("response"), is_whole=False)

    def _wrote(self, run_id: UUID, response: Any, *, is_whole: bool) -> None:
        run = self._end(run_id)
        if run is None or run.call is None:
            return
        for batch in of(response, "generations") or ():
            for one in batch:
                for span in _record(run.call, one, is_whole=is_whole):
                    self._note(run, span, is_written=True)

    # Retrievers and tools

    @_harmless
    def on_retriever_start(
        self,
        serialized: dict[str, Any],
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Know the run."""
        self._begin(run_id, parent_run_id, metadata, kwargs, "retrieve")

    @_harmless
    def on_retriever_end(
        self, documents: Sequence[Document], *, run_id: UUID, **kwargs: Any
    ) -> None:
        """Record documents."""
        run = self._end(run_id)
        if run is None:
            return
        for one in documents:
            self._document(run, one.page_content, one.metadata)

    @_harmless
    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Know the run."""
        named = {**kwargs, "name": kwargs.get("name") or (serialized or {}).get("name")}
        run = self._begin(run_id, parent_run_id, None, named, "tool")
        if run is not None:
            run.call_id = kwargs.get("tool_call_id")

    @_harmless
    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Record what a tool returned."""
        run = self._end(run_id)
        if run is None:
            return
        is_command = type(output).__name__ == "Command"  # to a graph, with messages for its state
        returned = of(output.update, "messages") if is_command else output
        for one in returned if isinstance(returned, list | tuple) else [returned]:
            artifact = of(one, "artifact")
            for found in artifact if isinstance(artifact, list | tuple) else ():
                if isinstance(found, Document):
                    self._document(run, found.page_content, found.metadata)
            if isinstance(one, Document):
                self._document(run, one.page_content, one.metadata)
                continue
            call_id = of(one, "tool_call_id") or run.call_id
            is_error = of(one, "status") == "error"
            for text in _returned(one):
                span = tool_result(
                    run.recording,
                    text,
                    step=run.step,
                    call_id=call_id,
                    inside=tuple(run.inside),
                    is_written=run.is_written,
                    metadata={"status": "error"} if is_error else None,
                )
                self._note(run, span)

    @_harmless
    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget the run."""
        self._end(run_id)

    @_harmless
    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget the run."""
        self._end(run_id)

    # Everything else: chains, graphs, their nodes, functions

    @_harmless
    def on_chain_start(
        self,
        serialized: dict[str, Any],
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Know the run, and what a function of the program is given."""
        run = self._begin(run_id, parent_run_id, metadata, kwargs, "chain")
        if run is not None and kwargs.get("run_type") != "prompt":
            run.is_node = kwargs.get("name") == (metadata or {}).get("langgraph_node")
            run.given = inputs
            if run.parent is None:
                self._documents(run, _leaves(inputs))

    @_harmless
    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Record documents that a step returned, and what a function made of recorded texts."""
        run = self._end(run_id)
        if run is None or run.given is None:
            return
        leaves = list(_leaves(outputs))
        self._documents(run, leaves)
        if run.is_node or not run.has_parts:
            texts = [one for _, one in leaves if isinstance(one, str) and len(one) >= HEAD]
            self._made(run, texts)

    @_harmless
    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget the run."""
        self._end(run_id)

    def _made(self, run: _Run, texts: Sequence[str]) -> None:
        """Record what a function made, unless it put it together of recorded texts."""
        new = [one for one in texts if not run.recording.links(one, within=True).nodes]
        if not new:
            return
        given = [one[0] if isinstance(one, tuple) else one for _, one in _leaves(run.given)]
        inputs: dict[str, str | None] = run.recording.links(given, within=True).nodes
        if not inputs and not run.is_written:
            return  # from outside, or out of a template
        facts = Facts(run.step, "text")
        inside = tuple(run.inside) if run.is_written else ()
        for text in new:
            # What was passed on, and a template with something given in it, was not made here.
            if not any(one == text or (len(one) >= HEAD and one in text) for one in given):
                self._note(run, run.recording.result(text, facts, inputs, inside))

    def _documents(self, run: _Run, leaves: Iterable[_Leaf]) -> None:
        """Record documents, and the texts of fields in which programs keep documents."""
        for key, one in leaves:
            if isinstance(one, tuple):
                self._document(run, *one)
            elif run.is_written or key not in DOCUMENT_KEYS or len(one) < HEAD:
                continue
            elif not run.recording.links(one, within=True).nodes:
                self._document(run, one, {})

    def _document(self, run: _Run, text: str, about: Mapping[str, Any]) -> None:
        """Record a document: source text, unless it was made of what a model wrote inside."""
        if not text.strip():
            return
        into = run.recording
        # Steps around pass a document on; its text is too short to say that it is the same.
        short = run.short if len(text) < HEAD else {}
        key = (text, json.dumps(about, sort_keys=True, default=str))
        if (known := short.get(key)) is not None:
            self._note(run, known)
            return
        if run.is_written and not into.links(text).nodes:
            facts = Facts(run.step, "document", metadata=about)
            links = into.links(text, within=True).nodes
            span = into.result(text, facts, links, tuple(run.inside))
        else:
            span = document(into, text, step=run.step, metadata=about)
        short[key] = span
        self._note(run, span)

    # Runs

    def _begin(
        self,
        run_id: UUID,
        parent_id: UUID | None,
        metadata: Mapping[str, Any] | None,
        more: Mapping[str, Any],
        otherwise: str,
    ) -> _Run | None:
        with self._lock:
            if run_id in self._runs:  # the handler was handed over twice
                return None
            parent = self._runs.get(parent_id) if parent_id else None
            into = recording(self._recording) or (parent.recording if parent else None)
            if into is None:
                return None
            step = (metadata or {}).get("langgraph_node") or more.get("name") or otherwise
            root = parent.root if parent else run_id
            run = self._runs[run_id] = _Run(into, root, parent_id if parent else None, str(step))
            self._families.setdefault(root, set()).add(run_id)
            if parent is not None:
                parent.has_parts = True
                run.short = parent.short
            return run

    def _end(self, run_id: UUID) -> _Run | None:
        """Take a run out; with the outermost one all that began in it."""
        with self._lock:
            run = self._runs.pop(run_id, None)
            if run is not None:
                family = self._families.get(run.root, set())
                family.discard(run_id)
                if run.root == run_id or not family:
                    for left in self._families.pop(run.root, ()):
                        self._runs.pop(left, None)
            return run

    def _note(self, run: _Run, span: RecordedSpan, *, is_written: bool = False) -> None:
        """Let the runs around know what was recorded inside."""
        if not span.node_id:
            return
        with self._lock:
            above: _Run | None = run
            while above is not None:
                above.inside[span.node_id] = None
                above.is_written |= is_written
                above = self._runs.get(above.parent) if above.parent else None


def _read(call: Call, message: BaseMessage) -> None:
    """Read a message that a model is given."""
    role = _ROLES.get(message.type, message.type)
    if role == "chat":
        role = of(message, "role")
    if isinstance(message, AIMessage):
        text = _text(message.content)
        if text:
            call.read(role, text, key=_key(message, text))
        for call_id, said in _calls(message):
            call.read(role, said, key=(CALL, call_id) if call_id else None)
        return
    key = (RESULT, message.tool_call_id) if isinstance(message, ToolMessage) else None
    for text in _parts(message.content):
        call.read(role, text, key=key)


def _record(call: Call, generation: Any, *, is_whole: bool) -> Iterator[RecordedSpan]:
    """Record an answer, and the calls of tools in it."""
    message = of(generation, "message")
    about = {**(of(generation, "generation_info") or {})}
    if message is None:
        text = of(generation, "text")
        if text:
            reason = about.get("finish_reason")
            yield call.record(text, reason=reason, is_whole=is_whole)
        return
    about |= of(message, "response_metadata") or {}
    reason = about.get("finish_reason") or about.get("stop_reason")
    model = about.get("model_name") or about.get("model")
    text = _text(message.content)
    if text:
        key = _key(message, text)
        yield call.record(text, reason=reason, model=model, is_whole=is_whole, key=key)
    for call_id, said in _calls(message):
        name = (CALL, call_id) if call_id else None
        yield call.record(
            said, "tool_call", reason=reason, model=model, is_whole=is_whole, key=name
        )


def _key(message: BaseMessage, text: str) -> tuple[str, str, int] | None:
    """Return what tells a message from others: servers may use an id of their own several times."""
    return ("message", message.id, hash(text)) if message.id else None


def _calls(message: Any) -> Iterator[tuple[str | None, str]]:
    """The calls of tools in a message, with their ids."""
    for one in of(message, "tool_calls") or ():
        arguments = json.dumps(one["args"], ensure_ascii=False, default=str)
        yield one.get("id"), call_text(one["name"], arguments)
    for one in of(message, "invalid_tool_calls") or ():
        yield one.get("id"), call_text(one.get("name"), one.get("args"))


def _parts(content: Any) -> Iterator[str]:
    """The texts of a message's content: one, or one a block."""
    for one in [content] if isinstance(content, str) else content or ():
        text = one if isinstance(one, str) else of(one, "text")
        if isinstance(text, str) and text:
            yield text


def _text(content: Any) -> str:
    return "".join(_parts(content))


def _returned(value: Any) -> Iterator[str]:
    """The texts of what a tool returned."""
    content = value.content if isinstance(value, BaseMessage) else value
    if isinstance(content, str):
        yield from [content] if content.strip() else ()
    elif isinstance(value, BaseMessage):
        yield from _parts(content)
    elif content is not None:
        yield json.dumps(content, ensure_ascii=False, default=str)


def _leaves(value: Any) -> Iterator[_Leaf]:
    """The texts in a value with the fields that they stand in; of documents, with their metadata.

    Of messages these are the contents.
    """
    waiting: list[tuple[str | None, Any, int]] = [(None, value, 0)]
    seen: set[int] = set()
    while waiting:
        key, one, depth = waiting.pop()
        if isinstance(one, str):
            yield key, one
            continue
        if one is None or isinstance(one, int | float) or id(one) in seen or depth > _DEEPEST:
            continue
        seen.add(id(one))
        if isinstance(one, Document):
            yield key, (one.page_content, one.metadata)
        elif isinstance(one, BaseMessage):
            yield "content", _text(one.content)
        elif isinstance(one, Mapping):
            found = _as_document(one, key)
            if found is not None:
                yield key, found
                continue
            waiting += [(str(name), inner, depth + 1) for name, inner in one.items()][::-1]
        elif isinstance(one, list | tuple | set | frozenset):
            if not (one and isinstance(next(iter(one)), int | float)):  # a vector may be long
                waiting += [(key, inner, depth + 1) for inner in one][::-1]
        elif is_dataclass(one) or isinstance(one, BaseModel):  # a state, or parsed output
            waiting.append((key, dict(vars(one)), depth + 1))


def _as_document(value: Mapping[str, Any], key: str | None) -> tuple[str, Mapping[str, Any]] | None:
    """A document that is a dict: it looks like one, or stands where documents do."""
    names = ("page_content", "content", "text") if key in DOCUMENT_KEYS else ("page_content",)
    for name in names:
        if isinstance(text := value.get(name), str):
            more = {other: one for other, one in value.items() if other != name}
            about = more.get("metadata") if name == "page_content" else more
            return text, about if isinstance(about, Mapping) else {}
    return None
