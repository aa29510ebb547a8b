"""A trace as a process: which recorded texts are nodes, and which of them fed which.

Parent and child of a trace say which call made which; they say nothing of data. Edges follow from
ids that the trace holds (of tool calls), and from texts that are found again: a whole earlier
output in what a later call was given, or what a later call was given within an earlier output.

- Of nested calls that give the same text the innermost is the node, and text that is passed on
  unchanged is the same node.
- Documents are nodes, not the call that found them. Results of tools are source text, unless a
  language model wrote them inside. What a user said is `given`, not source text.
- Instructions and definitions of tools are no nodes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.explicit import without_inferred
from veritrail_graph.graph.importers.process_file.schema import ID_PATTERN
from veritrail_graph.graph.importers.records import Header
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.importers.traces.calls import Call, CallKind, FoundTrace, Trace, once
from veritrail_graph.graph.importers.traces.linking import (
    TOOL_CALL,
    Account,
    Links,
    Source,
    Target,
)
from veritrail_graph.graph.importers.traces.texts import (
    DOCUMENT_KEYS,
    QUESTION_KEYS,
    Piece,
    of_output,
    pieces,
    tool_call,
    why_without_text,
)
from veritrail_graph.graph.model import Origin
from veritrail_graph.graph.model.canonical import canonical_text

TRACE_OPTIONS = frozenset({"infer_overlap"})
"""Options of an import that every reader of traces takes."""

SHORT = 12
"""Characters: what a call that is no model, tool or retriever gives and is shorter is a switch."""
_NAMED = 5


@dataclass
class Span:
    """A text of the trace that is to be a node.

    Attributes:
        text: It.
        kind: What it is, such as `generation` or `document`.
        origin: Where it comes from.
        order: Its place in time.
        call: The call that gave it; None: it came with what a call was given.
        name: Its node_id.
        step: The name of the step.
        link: The id of the tool call that it is, or answers.
        about: What else is known of it.
    """

    text: str
    kind: str
    origin: Origin
    order: int
    call: Call | None
    name: str
    step: str | None = None
    link: str | None = None
    about: dict[str, object] = field(default_factory=dict)


class _Tree:
    """Which call made which, and the order in which calls ended."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self.by_id = {call.call_id: call for call in calls}
        self._above: dict[str, frozenset[str]] = {}
        for call in calls:
            self._above[call.call_id] = frozenset(self._walk(call))
        # Of calls that ended together the inner ones ended first.
        self.ordered = sorted(
            calls,
            key=lambda one: (one.end, -len(self._above[one.call_id]), one.start, one.place),
        )
        self.order = {call.call_id: number for number, call in enumerate(self.ordered, start=1)}
        writers = [call for call in calls if call.kind is CallKind.GENERATION]
        self.with_writer = frozenset(name for one in writers for name in self._above[one.call_id])

    def _walk(self, call: Call) -> Iterator[str]:
        seen = {call.call_id}
        name = call.parent_id
        while name is not None and name in self.by_id and name not in seen:
            seen.add(name)
            yield name
            name = self.by_id[name].parent_id

    def is_inside(self, inner: Call, outer: Call) -> bool:
        """Whether one call was made by the other, directly or not."""
        return outer.call_id in self._above[inner.call_id]

    @property
    def roots(self) -> list[Call]:
        """Calls that no recorded call made, the longest first."""
        found = [call for call in self.ordered if not self._above[call.call_id]]
        return sorted(found, key=lambda one: (one.start - one.end, one.start, one.place))


class _Reading:
    """Reads one trace."""

    def __init__(self, trace: Trace, options: ImportOptions) -> None:
        self.trace, self.options = trace, options
        calls = once(trace.calls)
        self.tree = _Tree(calls)
        self.events: dict[str | None, list[Call]] = {}
        for call in calls:
            if call.kind is CallKind.EVENT:
                self.events.setdefault(call.parent_id, []).append(call)
        self.spans: list[Span] = []
        self.by_text: dict[str, list[Span]] = {}
        self.taken: set[str] = set()
        self.repeated: Counter[str] = Counter()
        self.met_of: Counter[str] = Counter()
        self.was_met: set[int] = set()
        self.silent: list[str] = []
        self.answered = {call.link for call in trace.calls if call.link is not None}
        self.warnings = list(trace.warnings)

    # Nodes.

    def add(self, span: Span) -> Span:
        """Keep a node; a name that is taken gets a number behind it."""
        base = span.name
        while span.name in self.taken:
            self.repeated[base] += 1
            span.name = f"{base}~{self.repeated[base] + 1}"
        self.taken.add(span.name)
        self.spans.append(span)
        self.by_text.setdefault(span.text, []).append(span)
        return span

    def read(self) -> None:
        """Find the nodes."""
        self._beginning()
        for call in self.tree.ordered:
            if call.kind is CallKind.EVENT:
                continue
            found = list(self._outputs(call))
            if not found and call.kind is not CallKind.OTHER:
                self.silent.append(call.name)
            for piece in found:
                self._output(call, piece)

    def _beginning(self) -> None:
        """What the whole was given."""
        roots = self.tree.roots
        given = self.trace.given
        is_prompt = given is None and bool(roots) and roots[0].kind is CallKind.GENERATION
        if is_prompt and any(one.end <= roots[0].start for one in roots[1:]):
            return  # what was recorded before may stand in the prompt
        if given is None and roots:
            given = roots[0].given
        for piece in pieces(given):
            asked = piece.role is None and piece.key in (None, *QUESTION_KEYS)
            said = asked or piece.role == "user"
            if piece.role in ("system", "assistant", "tool", "call"):
                continue
            if not said and len(piece.text) < SHORT:
                continue
            kind, origin = ("user", Origin.GIVEN) if said else ("document", Origin.SOURCE)
            if not any(one.order == 0 for one in self.by_text.get(piece.text, ())):
                name = "question" if said else piece.key or kind
                span = self.add(Span(piece.text, kind, origin, 0, None, name))
                if is_prompt:  # no other call holds it
                    self.was_met.add(id(span))

    def _outputs(self, call: Call) -> Iterator[Piece]:
        if call.kind is CallKind.GENERATION:
            yield from self._written(call)
        elif call.kind is CallKind.TOOL:
            found = list(pieces(call.made))
            link = call.link or self._asked(call)
            if any(one.role in ("tool", "document", "assistant") for one in found):
                given = [one for one in found if one.role != "call"]
                yield from (replace(one, link=one.link or link) for one in given)
            elif found:
                made = call.made
                text = made if isinstance(made, str) else canonical_text(made)
                yield Piece(text, "tool", link=link)
        else:
            yield from of_output(call.made)

    def _asked(self, call: Call) -> str | None:
        """The id of the tool call that a tool answers, where its span does not hold it.

        Of the calls before it, with its name and its arguments, it answers the first that no
        other tool did.
        """
        if call.given is None:
            return None
        asked = tool_call({"name": call.name, "arguments": call.given}).text
        for span in self.by_text.get(asked, ()):
            if span.kind != TOOL_CALL or span.link is None or span.link in self.answered:
                continue
            if span.call is not None and span.call.end <= call.start:
                self.answered.add(span.link)
                return span.link
        return None

    def _written(self, call: Call) -> Iterator[Piece]:
        found = [one for one in of_output(call.made) if one.role not in ("system", "user")]
        if isinstance(call.made, str) and found and all(one.role is None for one in found):
            found = [Piece(call.made, "assistant")]  # whatever the answer looks like
        if not found:
            found = self._noted(call)
        yield from {one.text: one for one in found if one.role != "call"}.values()
        yield from (one for one in found if one.role == "call")

    def _noted(self, call: Call) -> list[Piece]:
        """What events noted while the call went on, where it holds no output itself."""
        near = [*self.events.get(call.call_id, ()), *self.events.get(call.parent_id, ())]
        near.sort(key=lambda one: one.place)
        events = [one for one in near if call.start <= one.start <= call.end]
        said = [piece for one in events for piece in of_output(one.made or one.given)]
        return [one for one in said if one.role in (None, "assistant", "call")]

    def _output(self, call: Call, piece: Piece) -> None:
        if self._known(call, piece) or not piece.text.strip():
            return
        what = self._what(call, piece)
        if what is None:
            return
        kind, origin = what
        about: dict[str, object] = {"call": call.call_id, **dict(call.metadata)}
        if self.trace.trace_id is not None:  # the process may get another id
            about["trace"] = self.trace.trace_id
        if piece.about:
            about["document"] = dict(piece.about)
        if call.kind is CallKind.GENERATION and call.model:
            about["model"] = call.model
        name, order = f"{call.name}/{call.call_id}", self.tree.order[call.call_id]
        self.add(Span(piece.text, kind, origin, order, call, name, call.name, piece.link, about))

    def _what(self, call: Call, piece: Piece) -> tuple[str, Origin] | None:
        """What a text is that a call gave, and where it comes from; None: it is no node."""
        is_inner = call.call_id in self.tree.with_writer
        outside = Origin.GENERATED if is_inner else Origin.SOURCE
        if call.kind is CallKind.GENERATION:
            return TOOL_CALL if piece.role == "call" else "generation", Origin.GENERATED
        if call.kind is CallKind.TOOL:
            return "tool_result", outside
        if call.kind is CallKind.RETRIEVER or piece.role == "document":
            return "document", Origin.SOURCE
        if piece.role in ("user", "system"):
            return None
        if piece.role is None and len(piece.text) < SHORT:
            return None
        if piece.key in DOCUMENT_KEYS and not is_inner:
            return "document", Origin.SOURCE
        return piece.role or "text", outside

    def _known(self, call: Call, piece: Piece) -> bool:
        """Whether a node has this text: an inner call gave it, or it was passed on."""
        same = self.by_text.get(piece.text, ())
        if any(one.call is not None and self.tree.is_inside(one.call, call) for one in same):
            return True
        if any(one.call is call for one in same):
            return True
        if call.kind is CallKind.GENERATION:
            return any(one.text == piece.text for one in pieces(call.given)) and bool(same)
        if call.kind is CallKind.OTHER:
            return bool(same)
        # Two tool calls may have one result: each is tied to its own by its id.
        ids = {piece.link, None}
        return any(
            one.origin is Origin.SOURCE and (piece.link is None or one.link in ids) for one in same
        )

    # Edges.

    def targets(self) -> list[Target[Span]]:
        """Calls whose outputs are nodes that something was an input to."""
        made: dict[str, list[Span]] = {}
        for span in self.spans:
            if span.call is not None:
                made.setdefault(span.call.call_id, []).append(span)
        found = []
        for call in self.tree.ordered:
            spans = made.get(call.call_id, [])
            if call.kind in (CallKind.TOOL, CallKind.RETRIEVER):
                spans = [one for one in spans if one.origin is Origin.GENERATED]
            order = self.tree.order[call.call_id]
            given = [one for one in pieces(call.given) if one.role != "system"]
            if call.kind is CallKind.GENERATION:
                if spans:
                    found.append(Target(call, order, given, spans, writes=True))
                continue
            for span in spans:  # a program puts texts together: they are in what it gave
                own = [Piece(span.text, "own")]
                if span.kind != "document":
                    own += given
                if span.link is not None and call.kind is CallKind.TOOL:
                    own.append(Piece("", "call", link=span.link))
                found.append(Target(call, order, own, [span], writes=False))
        return found

    def is_available(self, span: Span, call: Call) -> bool:
        """Whether a text was there when a call began, or was made inside of it."""
        if span.call is None:
            return span.order < self.tree.order[call.call_id]
        if self.tree.order[span.call.call_id] >= self.tree.order[call.call_id]:
            return False
        return span.call.end <= call.start or self.tree.is_inside(span.call, call)

    def met(self, piece: Piece, target: Target[Span]) -> Span | None:
        """A node for a text that a model was given and that no recorded call gave."""
        if piece.role in ("own", "system") or not target.writes:
            return None
        kinds = {
            "assistant": ("message", Origin.GENERATED),
            "call": (TOOL_CALL, Origin.GENERATED),
            "tool": ("tool_result", Origin.SOURCE),
            "document": ("document", Origin.SOURCE),
        }
        kind, origin = kinds.get(piece.role or "", ("user", Origin.GIVEN))
        self.met_of[kind] += 1
        name = f"{kind}/{self.met_of[kind]}"
        span = Span(piece.text, kind, origin, target.order - 1, None, name, link=piece.link)
        self.was_met.add(id(span))
        return self.add(span)

    # The process.

    def draft(self, format_name: str) -> Draft:
        """The process.

        Source: VeriTrail 2.
        """
        self.read()
        links = Links(self.spans, self.options.infer_overlap)
        edges, accounts = links.between(self.targets(), self.is_available, self.met)
        sources: dict[int, list[Source[Span]]] = {}
        for edge in edges:
            if edge.source.origin is Origin.GIVEN and not _is_writer(edge.target):
                continue  # a question asked for it, and is not in it
            sources.setdefault(id(edge.target), []).append(edge)
        self._settle(sources)
        terminal = self._terminal()
        kept = self._kept(sources, terminal)
        explained = self._explained(accounts, sources, kept)
        self._warn(kept)
        question = next((one.text for one in self.spans if one.kind == "user"), None)
        name = self.trace.name or (self.tree.roots[0].name if self.tree.roots else None)
        draft = Draft(
            Header(
                format_name,
                process_id=_process_id(self.trace.trace_id),
                name=name,
                question=question[:2_000] if question else None,
                terminals=(terminal.name,) if terminal is not None else None,
                warnings=tuple(self.warnings),
                explained=explained,
                may_lack_edges=True,
                empty_because=None if kept else why_without_text(format_name, self.trace.calls),
            )
        )
        where = self.trace.trace_id or name or "trace"
        left_out = 0
        for span in kept:
            draft.node(
                span.name, span.text, f"{where} {span.name}", origin=span.origin, kind=span.kind,
                step=span.step, metadata=span.about,
            )  # fmt: skip
        for span in kept:
            for one in sources.get(id(span), ()):
                if self.options.only_explicit and one.inferred is not None:
                    left_out += 1
                elif one.source.name in draft.nodes:
                    draft.edge(one.source.name, span.name, where, one.inferred, one.score)
        if left_out:
            draft.header = without_inferred(draft.header, left_out, explained)
        return draft

    def _explained(
        self,
        accounts: Sequence[Account[Span]],
        sources: dict[int, list[Source[Span]]],
        kept: Sequence[Span],
    ) -> float | None:
        """Share of the characters given to generating steps that edges which are kept account for.

        What is a node only because a model was given it, as what a user said, explains nothing
        by itself: no other call holds it.
        """
        nodes = {id(span) for span in kept}
        edges = {
            (id(one.source), id(one.target), one.inferred)
            for span in kept
            for one in sources.get(id(span), ())
            if id(one.source) in nodes
            and not (self.options.only_explicit and one.inferred is not None)
        }
        total = explained = 0.0
        for account in accounts:
            spans = [id(span) for span in account.spans if id(span) in nodes]
            if not spans:
                continue
            total += account.characters
            found = 0.0
            for part in account.parts:
                is_said = part.source.origin is Origin.GIVEN and id(part.source) in self.was_met
                if not is_said and any((id(part.source), one, part.how) in edges for one in spans):
                    found += part.characters
            explained += min(found, account.characters)
        return round(explained / total, 4) if total else None

    def _settle(self, sources: dict[int, list[Source[Span]]]) -> None:
        """What a program made of earlier texts is generated, all else came from outside."""
        for span in self.spans:
            is_plain = span.call is not None and span.call.kind is CallKind.OTHER
            if is_plain and id(span) in sources:
                span.origin = Origin.GENERATED
            elif is_plain and span.origin is Origin.SOURCE:
                span.kind = "document" if span.kind == "text" else span.kind

    def _terminal(self) -> Span | None:
        """The final output: what the whole gave last, else what a model wrote last."""
        roots = self.tree.roots
        made = self.trace.made
        if made is None and roots:
            made = roots[0].made
        said = [one for one in of_output(made) if one.role in (None, "assistant", "document")]
        same = [self.by_text[one.text] for one in said if one.text in self.by_text]
        last = [max(each, key=lambda one: one.order) for each in same]
        last = [one for one in last if one.origin is Origin.GENERATED and one.kind != TOOL_CALL]
        if not last:
            last = [one for one in self.spans if one.kind == "generation"]
        if not last:
            last = [one for one in self.spans if one.origin is Origin.GENERATED and one.call]
        return max(last, key=lambda one: one.order, default=None)

    def _kept(self, sources: dict[int, list[Source[Span]]], terminal: Span | None) -> list[Span]:
        """The nodes, but for what nothing was made of, and for what read the final output."""
        after = self._after(sources, terminal)
        if after:
            count = len(after)
            self.warnings.append(
                f"{count} later output{'s' * (count != 1)} that the final output went into "
                f"{'is' if count == 1 else 'are'} left out: {_some(one.name for one in after)}"
            )
        left_out = {id(one) for one in after}
        wanted = [one for one in self.spans if one.kind in ("generation", TOOL_CALL)]
        wanted = [one for one in (*wanted, terminal) if one is not None and id(one) not in left_out]
        kept: set[int] = set()
        while wanted:
            span = wanted.pop()
            if id(span) not in kept:
                kept.add(id(span))
                wanted += [one.source for one in sources.get(id(span), ())]
        unread = [
            one for one in self.spans
            if id(one) not in kept and one.kind in ("document", "tool_result") and one.call
        ]  # fmt: skip
        if unread:
            self.warnings.append(
                f"{len(unread)} recorded document(s) or tool result(s) were given to no step "
                f"and are left out: {_some(one.name for one in unread)}"
            )
        return [one for one in self.spans if id(one) in kept]

    def _after(self, sources: dict[int, list[Source[Span]]], terminal: Span | None) -> list[Span]:
        if terminal is None:
            return []
        after = {id(terminal)}
        for span in sorted(self.spans, key=lambda one: one.order):
            if any(id(one.source) in after for one in sources.get(id(span), ())):
                after.add(id(span))
        after.discard(id(terminal))
        return [one for one in self.spans if id(one) in after]

    def _warn(self, kept: Sequence[Span]) -> None:
        if self.silent:
            self.warnings.append(
                f"{len(self.silent)} call(s) of models, tools or retrievers hold no output text: "
                f"{_some(self.silent)}"
            )
        if not kept:
            self.warnings.append("No recorded call holds text that a model wrote")


def _is_writer(span: Span) -> bool:
    return span.call is not None and span.call.kind is CallKind.GENERATION


def _some(names: Iterable[str]) -> str:
    found = list(dict.fromkeys(names))
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return ", ".join(found[:_NAMED]) + more


def _process_id(trace_id: str | None) -> str | None:
    return trace_id if trace_id and re.fullmatch(ID_PATTERN, trace_id) else None


def ends_of(trace: Trace) -> tuple[Any, Any]:
    """What the whole of a trace was given, and what it gave."""
    roots = _Tree(once(trace.calls)).roots if None in (trace.given, trace.made) else []
    first = roots[0] if roots else None
    given = first.given if trace.given is None and first is not None else trace.given
    made = first.made if trace.made is None and first is not None else trace.made
    return given, made


def processes_of(
    traces: Iterable[FoundTrace], format_name: str, options: ImportOptions
) -> Iterator[Found]:
    """Traces as processes; each is read when it is opened.

    Args:
        traces: They.
        format_name: Name of the format that they are read from.
        options: As `process_of` takes them.
    """
    for one in traces:
        yield Found(one.where, partial(_opened, one, format_name, options))


def _opened(found: FoundTrace, format_name: str, options: ImportOptions) -> Draft:
    return process_of(found.read(), format_name, options)


def process_of(trace: Trace, format_name: str, options: ImportOptions) -> Draft:
    """A trace as a process.

    Args:
        trace: What was recorded.
        format_name: Name of the format that it was read from.
        options: Whether inferred edges are left out, and whether words in common make some.
    """
    return _Reading(trace, options).draft(format_name)
