"""Traces of assistants as dialogues: a trace is an exchange, a session a dialogue of several.

What the whole of a trace was given is what the user said, what it gave is the assistant's turn, and
source text that the trace shows to have gone into it are documents of that turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.dialogue.chats import Script
from veritrail_graph.graph.importers.dialogue.file import process_of, read_dialogue
from veritrail_graph.graph.importers.records import NodeRecord, ProcessInput
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.importers.traces import asked
from veritrail_graph.graph.importers.traces import process as traced
from veritrail_graph.graph.importers.traces.answers import of_output
from veritrail_graph.graph.importers.traces.calls import CallKind, FoundTrace, Trace
from veritrail_graph.graph.importers.traces.haystack import HaystackImporter
from veritrail_graph.graph.importers.traces.langchain import LangChainImporter
from veritrail_graph.graph.importers.traces.langfuse import LangfuseImporter
from veritrail_graph.graph.importers.traces.mlflow import MlflowImporter
from veritrail_graph.graph.importers.traces.otlp import OtlpImporter
from veritrail_graph.graph.importers.traces.texts import QUESTION_KEYS, pieces
from veritrail_graph.graph.model import Origin

_HISTORY = ("history", "chat_history", "message_history", "previous_messages")
_ROLES = ("user", "assistant", "system", "tool")


class TraceReader(Protocol):
    """A reader of the traces of one product."""

    name: str

    def detect(self, path: Path) -> str | None:
        """Return why a path holds none; None: it does."""
        ...

    def traces(self, path: Path) -> Iterator[FoundTrace]:
        """The traces of a path."""
        ...


def reader_of(path: Path) -> TraceReader | None:
    """The reader of the traces of a path; None: it holds none."""
    readers: tuple[TraceReader, ...] = (
        LangfuseImporter(), OtlpImporter(), MlflowImporter(), LangChainImporter(),
        HaystackImporter(),
    )  # fmt: skip
    return next((one for one in readers if one.detect(path) is None), None)


@dataclass(frozen=True, slots=True)
class _Said:
    """A message of a trace.

    Attributes:
        role: Who said it; `tool` for what becomes a document.
        text: The text.
        documents: What it was written from: texts, each with what is known of it.
        about: What else is known of it.
    """

    role: str
    text: str
    documents: Sequence[tuple[str, dict[str, Any]]] = ()
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """Return what the same message has in another trace."""
        return self.role, self.text.strip()


def dialogues_of(traces: Iterable[FoundTrace], path: Path, format_name: str) -> Iterator[Found]:
    """Traces as dialogues: those of one session in the order of time, any other by itself.

    Args:
        traces: They.
        path: Where they are.
        format_name: The format that they were read from.
    """
    by_session: dict[str, list[Trace]] = {}
    for one in traces:
        try:
            trace = one.read()
        except InputError as error:
            yield Found.failing(one.where, error)
            continue
        if trace.session is None:
            name = None if trace.trace_id is None else f"{trace.trace_id}-dialogue"
            yield Found(one.where, partial(_process, [trace], name, one.where, format_name))
        else:
            by_session.setdefault(trace.session, []).append(trace)
    for session, some in by_session.items():
        where = f"{path}#{session}"
        yield Found(where, partial(_process, some, session, where, format_name))


def _process(
    traces: Sequence[Trace], dialogue_id: str | None, where: str, format_name: str
) -> ProcessInput:
    said: list[_Said] = []
    warnings: list[str] = []
    silent: list[str] = []
    for trace in sorted(traces, key=lambda one: one.start):
        warnings += trace.warnings
        exchange = list(_exchange(trace, format_name))
        if not any(one.role == "assistant" for one in exchange):
            silent.append(trace.trace_id or trace.name or "a trace")
            continue
        said += _new(said, exchange)
    if silent and not said:
        raise InputError(
            f"{where}: the trace holds no text that an assistant answered with.",
            code="no_conversation",
        )
    if silent:
        warnings.append(
            f"{len(silent)} trace(s) without an answer are left out: {', '.join(silent[:5])}"
        )
    script = Script()
    numbers = iter(range(1, len(said) + 1))
    for one in said:
        if one.role != "tool":
            for text, about in one.documents:
                name = f"d{len(script.documents) + 1}"
                script.document(name, text, about, is_returned="call" in about)
            script.turn(f"t{next(numbers)}", one.role, one.text, one.about)
        else:
            name = f"d{len(script.documents) + 1}"
            script.document(name, one.text, one.about, is_returned=True)
    title = next((one.name for one in traces if one.name), None)
    value = script.value(dialogue_id, title)
    warnings += script.warnings()
    return process_of(read_dialogue(value, where), warnings=tuple(warnings))


def _new(said: Sequence[_Said], exchange: Sequence[_Said]) -> Sequence[_Said]:
    """The messages of a trace that no earlier trace of the session holds.

    A program gives a model the history with each question: it is what was said last. Where it is
    not word by word, only the last question and what follows it is new.
    """
    if not said:
        return exchange
    spoken = [(place, one.key) for place, one in enumerate(exchange) if one.role in _ROLES[:2]]
    before = [one.key for one in said if one.role in _ROLES[:2]]
    keys = [key for _, key in spoken]
    for count in range(min(len(before), len(keys) - 1), 0, -1):
        if before[-count:] == keys[:count]:
            return [one for one in exchange[spoken[count][0] :] if one.role != "system"]
    asked = [place for place, one in enumerate(exchange) if one.role == "user"]
    new = exchange[asked[-1] :] if asked else exchange[spoken[-1][0] :]
    return [one for one in new if one.role != "system"]


def _exchange(trace: Trace, format_name: str) -> Iterator[_Said]:
    """The messages of a trace, the assistant's last with the documents that it was made from."""
    given, made = traced.ends_of(trace)
    answer, documents, about = _answer(trace, made, format_name)
    said = list(_messages(trace.said)) if trace.said is not None else []
    if not said:
        asked = _asked(given) or _asked(_last_given(trace))
        whole = list(_messages(made))
        if _users(whole) > _users(asked):
            said = whole
        else:
            said = [*asked, _Said("assistant", answer)] if answer.strip() else asked
    last = max((n for n, one in enumerate(said) if one.role == "assistant"), default=-1)
    held = {one.text.strip() for one in said if one.role == "tool"}
    for place, one in enumerate(said):
        if place != last:
            yield one
            continue
        more = [(text, known) for text, known in documents if text.strip() not in held]
        yield replace(one, documents=tuple(more), about=about)


def _answer(
    trace: Trace, made: Any, format_name: str
) -> tuple[str, list[tuple[str, dict[str, Any]]], dict[str, Any]]:
    """The final output, the source texts that went into it, and what is known of it."""
    about = {"trace": trace.trace_id}
    if trace.calls:
        draft = traced.process_of(replace(trace), format_name, ImportOptions())
        terminals = draft.header.terminals or ()
        nodes = list(draft.nodes.values())
        sources = [(one.text, _known(one)) for one in nodes if one.origin is Origin.SOURCE]
        for name in terminals:
            node = draft.nodes[name]
            return node.text, sources, {**about, **_known(node)}
    found = [one for one in of_output(made) if one.role in (None, "assistant")]
    said = [one for one in found if one.role == "assistant"] or found
    return (said[-1].text if said else ""), [], about


def _known(node: NodeRecord) -> dict[str, Any]:
    wanted = ("call", "model", "document")
    return {key: node.metadata[key] for key in wanted if key in node.metadata}


def _messages(value: Any) -> Iterator[_Said]:
    """The messages in a value, with their roles; what came before the others first."""
    found = sorted(pieces(value), key=lambda one: one.key not in _HISTORY)
    for one in found:
        if one.role in _ROLES and one.text.strip():
            yield _Said(str(one.role), one.text)


def _asked(given: Any) -> list[_Said]:
    """Return what was said before the answer: messages, or the text of a question."""
    said = list(_messages(given))
    if _users(said):
        own = [
            one for one in pieces(given)
            if one.role is None and one.key in QUESTION_KEYS and one.key != "messages"
        ]  # fmt: skip
        if said[-1].role == "assistant" and own:  # the history, and the question beside it
            said.append(_Said("user", own[-1].text))
        return said
    question = asked.question_of(list(asked.of_run(given)))
    return [*said, _Said("user", question.text)] if question is not None else []


def _last_given(trace: Trace) -> Any:
    """Return what the last call of a model was given."""
    calls = [one for one in trace.calls if one.kind is CallKind.GENERATION]
    return max(calls, key=lambda one: (one.end, one.place)).given if calls else None


def _users(said: Iterable[_Said]) -> int:
    return sum(one.role == "user" for one in said)
