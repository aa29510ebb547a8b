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
from functools import partial
from typing import Any

from veritrail_graph.graph.counted import some
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.explicit import without_inferred
from veritrail_graph.graph.importers.process_file.schema import ID_PATTERN
from veritrail_graph.graph.importers.records import Header
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.importers.traces.answers import of_output
from veritrail_graph.graph.importers.traces.asked import is_asking
from veritrail_graph.graph.importers.traces.calls import Call, CallKind, FoundTrace, Trace, once
from veritrail_graph.graph.importers.traces.finding import normalised
from veritrail_graph.graph.importers.traces.linking import (
    DOCUMENT,
    TOOL_CALL,
    Account,
    Links,
    Source,
    Target,
)
from veritrail_graph.graph.importers.traces.repeats import is_answering
from veritrail_graph.graph.importers.traces.silence import why_without_text
from veritrail_graph.graph.importers.traces.spans import SHORT, Reading, Span, is_answer
from veritrail_graph.graph.importers.traces.texts import InnerText
from veritrail_graph.graph.importers.traces.tree import Tree
from veritrail_graph.graph.importers.traces.unkept import Recorded, Unkept
from veritrail_graph.graph.model import Inference, Origin

TRACE_OPTIONS = frozenset({"infer_overlap"})
"""Options of an import that every reader of traces takes."""

_REPEATS = (
    "Its texts repeat themselves so much that they were not compared at every place: edges may be "
    "missing"
)
_OF_STEPS = ("text", "assistant")
"""Kinds of the texts that steps of a program give."""
_MOST_BEFORE = 50
"""Texts that a step goes on from at most, where nothing says what it was given."""


class _Linking:
    """Makes a process of what the calls of one trace said."""

    def __init__(self, trace: Trace, options: ImportOptions) -> None:
        self.trace, self.options = trace, options
        self.read = Reading(trace)
        self.tree = self.read.tree
        self.spans, self.by_text = self.read.spans, self.read.by_text
        self.was_met, self.warnings = self.read.was_met, self.read.warnings
        self.is_asked = False
        self.met_of: Counter[str] = Counter()
        self._normalised: dict[str, str] = {}
        self._named: list[Span] = []

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
            if not spans:
                continue
            order = self.tree.order[call.call_id]
            given = self.read.given(call)
            if call.kind is CallKind.GENERATION:
                found.append(Target(call, order, given, spans, writes=True))
                continue
            if call.call_id in self.tree.steps:
                written = [one for one in spans if one.kind == "generation"]
                spans = [one for one in spans if one.kind != "generation"]
                own = [InnerText(one.text, "own") for one in written]
                if written:
                    found.append(Target(call, order, own + given, written, writes=True))
            for span in spans:  # a program puts texts together: they are in what it gave
                own = [InnerText(span.text, "own")]
                if span.kind != "document":
                    own += given
                if span.link is not None and call.kind is CallKind.TOOL:
                    own.append(InnerText("", "call", link=span.link))
                found.append(Target(call, order, own, [span], writes=False))
        return found

    def is_available(self, span: Span, call: Call) -> bool:
        """Return whether a text was there when a call began, or was made inside of it."""
        if span.call is None:
            return span.order < self.tree.order[call.call_id]
        if self.tree.order[span.call.call_id] >= self.tree.order[call.call_id]:
            return False
        if span.call.end <= call.start or self.tree.is_inside(span.call, call):
            return True
        if call.kind is CallKind.TOOL and self.tree.is_during(span.call, call):
            return True  # of a tool whose result repeats it
        # A clock may say that what was looked up came a moment after it was read, or at once.
        return span.origin is Origin.SOURCE and span.call.start <= call.start

    def met(self, piece: InnerText, target: Target[Span]) -> Span | None:
        """A node for a text that a model was given and that no recorded call gave."""
        if piece.role in ("own", "system") or not target.writes:
            return None
        if piece.role == "rest" and (self.is_asked or target.call.kind is not CallKind.GENERATION):
            return None  # the words that a program puts around what it was asked
        is_step = target.call.call_id in self.tree.steps
        if is_step and piece.role is None and piece.key and len(piece.text) < SHORT:
            return None  # a switch of the program
        kinds = {
            "assistant": ("message", Origin.GENERATED),
            "call": (TOOL_CALL, Origin.GENERATED),
            "tool": ("tool_result", Origin.SOURCE),
            "document": ("document", Origin.SOURCE),
        }
        kind, origin = kinds.get(piece.role or "", ("user", Origin.GIVEN))
        if kind == "tool_result" and self.read.is_own_result(piece.link):
            origin = Origin.GENERATED
        elif kind == "tool_result" and self.read.is_said_by_a_person(piece.link):
            kind, origin = "user", Origin.GIVEN
        self.met_of[kind] += 1
        name = f"{kind}/{self.met_of[kind]}"
        about = dict(piece.about) if piece.about and kind in ("message", TOOL_CALL) else {}
        span = Span(
            piece.text, kind, origin, target.order - 1, None, name, link=piece.link, about=about
        )
        self.was_met.add(id(span))
        self.read.add(span)
        if origin is Origin.SOURCE:
            self.read.part(span, target.call)
        return span

    # The process.

    def draft(self, format_name: str) -> Draft:
        """The process.

        Source: VeriTrail 2.
        """
        self.read.read()
        self.is_asked = any(one.kind == "user" for one in self.spans)
        links = Links(self.spans, self.options.infer_overlap)
        edges, accounts = links.between(self.targets(), self.is_available, self.met)
        if links.is_cut_short or self.read.is_cut_short:
            self.warnings.append(_REPEATS)
        sources: dict[int, list[Source[Span]]] = {}
        for edge in edges:
            if edge.source.origin is Origin.GIVEN and not self._holds(edge.target, edge.source):
                continue  # a question asked for it, and is not in it
            sources.setdefault(id(edge.target), []).append(edge)
        for edge in self._of_parts(sources):
            sources.setdefault(id(edge.target), []).append(edge)
        for edge in self._by_order(sources):
            sources.setdefault(id(edge.target), []).append(edge)
        self._settle(sources)
        terminal = self._terminal()
        kept = self._kept(sources, terminal)
        explained = self._explained(accounts, sources, kept)
        asked = self.read.question or self._asked()
        question = None if asked is None else asked.text
        self._warn(kept, links, question)
        for span in kept:
            if self._is_copy(span, sources.get(id(span), ())):
                span.about["generative"] = False
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
                empty_because=None
                if kept
                else why_without_text(format_name, self.trace.calls, self.trace.unread),
            )
        )
        where = self.trace.trace_id or name or "trace"
        left_out = 0
        # What a model was given comes before it, also where no call gave it.
        for span in sorted(kept, key=lambda one: one.order):
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

    def _asked(self) -> Span | None:
        """Return what a user said first; around documents it is what ends as a question."""
        said = [one for one in self.spans if one.kind == "user"]
        first = [one for one in said if one.order == said[0].order]
        return next((one for one in first if is_asking(one.text)), said[0]) if said else None

    def _holds(self, target: Span, source: Span) -> bool:
        """Return whether a message is an input of a text: a model read it, or it is in it."""
        if target.call is None or self.tree.writes(target.call):
            return True
        return self._normal(source.text) in self._normal(target.text)

    def _normal(self, text: str) -> str:
        if text not in self._normalised:
            self._normalised[text] = normalised(text)
        return self._normalised[text]

    def _of_parts(self, sources: dict[int, list[Source[Span]]]) -> Iterator[Source[Span]]:
        """Yield the inputs of results that repeat earlier texts."""
        for span in self.spans:
            own = self.read.own.get(id(span))
            if own is not None:
                yield Source(own, span, None, None)
            known = {id(one.source) for one in sources.get(id(span), ())}
            for earlier, share in self.read.repeated(span):
                if id(earlier) not in known:
                    yield Source(earlier, span, Inference.NORMALISED, share)

    def _by_order(self, sources: dict[int, list[Source[Span]]]) -> Iterator[Source[Span]]:
        """The inputs of steps whose models are not recorded: what was recorded inside of them.

        A step inside of which nothing is recorded, and that was given no recorded text but what
        somebody said, goes on from the step before it, and from what was looked up since.
        """
        inside: dict[str, list[Span]] = {}
        beside: dict[str | None, list[Span]] = {}
        given = (one.call.call_id for one in self.spans if one.call is not None)
        steps = self.tree.steps.intersection(given)
        for span in sorted(self.spans, key=lambda one: one.order):
            if span.call is None or span.kind not in ("document", "tool_result", "generation"):
                continue
            above = self.tree.step_above(span.call, steps)
            if above is not None:
                inside.setdefault(above, []).append(span)
            beside.setdefault(span.call.parent_id, []).append(span)
        for target in self.spans:
            if target.call is None or target.kind not in ("generation", "tool_result"):
                continue
            if target.origin is not Origin.GENERATED or target.call.call_id not in self.tree.steps:
                continue
            own = inside.get(target.call.call_id, [])
            known = {id(one.source) for one in sources.get(id(target), ())}
            found = any(
                one.source.origin is not Origin.GIVEN for one in sources.get(id(target), ())
            )
            if not (own or found) and target.kind == "generation":
                own = self._before(target, beside.get(target.call.parent_id, ()))
            for span in own:
                if span.order < target.order and id(span) not in known:
                    yield Source(span, target, Inference.ORDER, None)

    def _before(self, target: Span, beside: Sequence[Span]) -> list[Span]:
        """Return the texts that steps beside it gave before: the last answer, and all since."""
        found: list[Span] = []
        for span in reversed(beside):
            if span.order >= target.order:
                continue
            found.append(span)
            if span.kind == "generation" or len(found) == _MOST_BEFORE:
                break
        return found

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
        """Settle the texts of plain steps: generated if made of earlier texts, else documents."""
        for span in self.spans:
            is_plain = span.call is not None and span.call.kind is CallKind.OTHER
            if is_plain and id(span) in sources:
                span.origin = Origin.GENERATED
            elif is_plain and span.origin is Origin.SOURCE:
                span.kind = "document" if span.kind == "text" else span.kind

    def _is_copy(self, span: Span, inputs: Sequence[Source[Span]]) -> bool:
        """Return whether a step that writes nothing took a text out of one that it was given.

        So do retrievers, splitters and what hands a part of an answer on: none of them can err.

        Source: VeriTrail 2 (non-generative steps).
        """
        call = span.call
        if call is None or call.kind not in (CallKind.RETRIEVER, CallKind.OTHER) or not inputs:
            return False
        if call.call_id in self.tree.steps or call.call_id in self.tree.with_author:
            return False
        own = self._normal(span.text)
        return any(own in self._normal(one.source.text) for one in inputs)

    def _terminal(self) -> Span | None:
        """The final output: what the whole gave last, else what a model wrote last.

        An answer that was handed to a tool such as `final_answer` is one that a model gave.
        """
        roots = [one for one in self.tree.roots if not self.tree.is_judging(one)]
        made = self.trace.made
        if made is None and roots:
            made = roots[0].made
        said = [one for one in of_output(made) if one.role in (None, "assistant", "document")]
        answers = [one for one in said if is_answer(one)]
        for some_of_it in (answers, said):
            same = [span for one in some_of_it for span in self.read.same(one.text)]
            own = [one for one in same if one.origin is Origin.GENERATED]
            last = [one for one in own if one.kind not in (TOOL_CALL, DOCUMENT)]
            if last:
                break
        if not last:
            last = [one for one in self.spans if one.kind == "generation" or _is_handed_in(one)]
            answers_alone = [one for one in last if one.call and not self.tree.is_judging(one.call)]
            last = answers_alone or last
        if not last:
            last = [one for one in self.spans if one.origin is Origin.GENERATED and one.call]
        return max(last, key=lambda one: (one.order, _is_handed_in(one)), default=None)

    def _kept(self, sources: dict[int, list[Source[Span]]], terminal: Span | None) -> list[Span]:
        """The nodes, but for what nothing was made of, and for what read the final output."""
        after = self._after(sources, terminal)
        if after:
            count = len(after)
            self.warnings.append(
                f"{count} later output{'s' * (count != 1)} that the final output went into "
                f"{'is' if count == 1 else 'are'} left out: {some(one.name for one in after)}"
            )
        self._named += after
        left_out = {id(one) for one in after}
        wanted = [one for one in self.spans if one.kind in ("generation", TOOL_CALL)]
        wanted = [one for one in (*wanted, terminal) if one is not None and id(one) not in left_out]
        kept: set[int] = set()
        while wanted:
            span = wanted.pop()
            if id(span) not in kept:
                kept.add(id(span))
                wanted += [one.source for one in sources.get(id(span), ())]
        texts = {one.text for one in self.spans if id(one) in kept}
        unread = [
            one for one in self.spans
            if one.text not in texts and one.kind in ("document", "tool_result") and one.call
        ]  # fmt: skip
        self._named += unread
        if unread:
            self.warnings.append(
                f"{len(unread)} recorded document(s) or tool result(s) were given to no step "
                f"and are left out: {some(one.name for one in unread)}"
            )
        said = [
            one for one in self.spans
            if one.text not in texts and one.kind in _OF_STEPS and id(one) not in left_out
            and one.call and one.call.kind is not CallKind.JUDGE
            and not self._is_in(one.text, texts)
        ]  # fmt: skip
        self._named += said
        if said:
            self.warnings.append(
                f"{len(said)} text(s) that steps gave went into no other text and are left out: "
                f"{some(one.name for one in said)}"
            )
        return [one for one in self.spans if id(one) in kept]

    def _is_in(self, text: str, texts: Iterable[str]) -> bool:
        """Return whether a text stands in another one, or holds nothing but others."""
        own = self._normal(text)
        return any(own in self._normal(one) for one in texts)

    def _after(self, sources: dict[int, list[Source[Span]]], terminal: Span | None) -> list[Span]:
        if terminal is None:
            return []
        after = {id(terminal)}
        for span in sorted(self.spans, key=lambda one: one.order):
            if any(id(one.source) in after for one in sources.get(id(span), ())):
                after.add(id(span))
        after.discard(id(terminal))
        return [one for one in self.spans if id(one) in after]

    def _warn(self, kept: Sequence[Span], links: Links[Span], question: str | None) -> None:
        self.read.say_what_is_left_out()
        nodes = {id(one) for one in kept}
        recorded = Recorded(
            self.tree.ordered, self.read.all_given,
            lambda text: links.around(text, lambda one: id(one) in nodes), kept, self._named,
            self.trace.beside, (self.trace.given, self.trace.made, self.trace.said), question or "",
        )  # fmt: skip
        self.warnings += Unkept(recorded).warnings()
        if not kept:
            self.warnings.append("No recorded call holds text that a model wrote")


def _is_handed_in(span: Span) -> bool:
    """Return whether it is an answer that a model handed to a tool."""
    if span.kind == TOOL_CALL and span.call is not None:
        return is_answering(span.tool)
    is_result = span.kind == "tool_result" and span.origin is Origin.GENERATED
    return is_result and span.call is not None and is_answering(span.call.name)


def _process_id(trace_id: str | None) -> str | None:
    return trace_id if trace_id and re.fullmatch(ID_PATTERN, trace_id) else None


def ends_of(trace: Trace) -> tuple[Any, Any]:
    """Return what the whole of a trace was given, and what it gave."""
    roots = Tree(once(trace.calls)).roots if None in (trace.given, trace.made) else []
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
    return _Linking(trace, options).draft(format_name)
