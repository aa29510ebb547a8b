"""The texts of each call of a trace: those that are nodes, and the origin of each.

This is the one place that says what is source text: what a retriever found, what a tool returned,
what is recorded as a document; unless a model wrote it in the run, or somebody said it there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from veritrail_graph.graph.counted import some
from veritrail_graph.graph.errors import shown
from veritrail_graph.graph.importers.copied import Copy, first_words, left_of
from veritrail_graph.graph.importers.traces import asked, parts
from veritrail_graph.graph.importers.traces.answers import (
    answers_of,
    everything_of_output,
    with_thoughts,
)
from veritrail_graph.graph.importers.traces.calls import Call, CallKind, Trace, once
from veritrail_graph.graph.importers.traces.colleagues import asks_a_person, is_agent
from veritrail_graph.graph.importers.traces.linking import TOOL_CALL
from veritrail_graph.graph.importers.traces.repeats import (
    Repeats,
    WordsOrigin,
    forms,
    is_answering,
    is_handed,
)
from veritrail_graph.graph.importers.traces.rounds import in_rounds
from veritrail_graph.graph.importers.traces.texts import (
    DOCUMENT_KEYS,
    InnerText,
    everything,
    is_blocks,
    is_said,
    tool_call,
    tool_result,
    unfold,
)
from veritrail_graph.graph.importers.traces.tree import Tree
from veritrail_graph.graph.model import Origin

SHORT = asked.SHORT
"""Characters: what a call that is no model, tool or retriever gives and is shorter is a switch."""
_ANSWERS = frozenset((
    "answer", "output", "result", "response", "finalanswer", "finaloutput", "finalresult", "raw",
    "completion", "reply", "text", "content", "message", "finalresponse", "outputs",
))  # fmt: skip
"""Fields in which steps keep their answer, as `parts.plain` writes names."""
_SILENT = (CallKind.OTHER, CallKind.AGENT, CallKind.JUDGE)
"""Kinds of calls that may give no text of their own."""


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

    @property
    def tool(self) -> str:
        """The name of the tool that a tool call asks for."""
        return self.text.partition("(")[0]


class Reading:
    """Reads what the calls of one trace said.

    Attributes:
        trace: The trace.
        tree: Its calls.
        spans: The texts that are to be nodes; grows while edges are found.
        by_text: They by text.
        copies: The parts of a result that were written or said before, by the id of its span.
        own: What else such a result says, as a text of its own, by the same.
        was_met: Those that are known only because a model was given them.
        question: What the run was called with to answer.
        warnings: What is to be said of the trace.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        each = once(trace.calls)
        calls = in_rounds(each)
        self.tree = Tree(calls)
        self._given: dict[str, list[InnerText]] = {}
        self._thoughts: dict[str, list[InnerText]] = {}
        self._media_in: dict[str, list[InnerText]] = {}
        self._called = self._called_with()
        self._repeats = Repeats(
            self.tree,
            [one.piece.text for one in self._called if not one.is_document],
            [one.piece.text for one in self._called if one.is_document],
            self._said_to,
        )
        self.own: dict[int, Span] = {}
        self._by_call: dict[str | None, list[Span]] = {}
        self.copies: dict[int, list[Copy[WordsOrigin]]] = {}
        self._events: dict[str | None, list[Call]] = {}
        for call in calls:
            if call.kind is CallKind.EVENT:
                self._events.setdefault(call.parent_id, []).append(call)
        self.spans: list[Span] = []
        self.by_text: dict[str, list[Span]] = {}
        self.was_met: set[int] = set()
        self.question: Span | None = None
        self.warnings = list(trace.warnings)
        ids = {call.call_id for call in trace.calls}
        if again := [one.call_id for one in each if one.call_id not in ids]:
            self.warnings.append(
                f"{len(again)} call(s) have the id of another one and gave something else: each is "
                f"one of its own, with a number behind the id: {some(again)}"
            )
        self._taken: set[str] = set()
        self._repeated: Counter[str] = Counter()
        self._silent: list[str] = []
        self._again: dict[str, str] = {}
        self._media: dict[str, str] = {}
        self._unknown: list[str] = []
        self._named = {call.link for call in trace.calls if call.link is not None}
        self._answered: set[int] = set()
        self._tools: dict[str, list[str]] = {}

    def is_own_result(self, link: str | None) -> bool:
        """Return whether the tool call with an id asked an agent, or handed an answer in."""
        names = self._tools.get(link, ()) if link is not None else ()
        return any(is_agent(name) or is_answering(name) for name in names)

    def is_said_by_a_person(self, link: str | None) -> bool:
        """Return whether the tool call with an id put a question to a person."""
        return link is not None and any(map(asks_a_person, self._tools.get(link, ())))

    @property
    def is_cut_short(self) -> bool:
        """Return whether the texts repeat themselves so much that not every place was looked at."""
        return self._repeats.is_spent

    def add(self, span: Span) -> Span:
        """Keep a node; a name that is taken gets a number behind it."""
        base = span.name
        while span.name in self._taken:
            self._repeated[base] += 1
            span.name = f"{base}~{self._repeated[base] + 1}"
        self._taken.add(span.name)
        self.spans.append(span)
        if span.kind == TOOL_CALL and span.link is not None:
            self._tools.setdefault(span.link, []).append(span.tool)
        for text in dict.fromkeys((span.text, span.text.strip())):
            self.by_text.setdefault(text, []).append(span)
        return span

    def same(self, text: str) -> Sequence[Span]:
        """Return the nodes with a text; a step may give it with other white space around it."""
        return self.by_text.get(text) or self.by_text.get(text.strip()) or ()

    def read(self) -> None:
        """Find the nodes."""
        self._beginning()
        unrecorded = []
        for call in self.tree.ordered:
            if call.kind is CallKind.EVENT:
                continue
            found = [one for one in self._outputs(call) if one.text.strip()]
            if not found and call.kind not in _SILENT:
                self._silent.append(call.name)
            before = len(self.spans)
            for piece in found:
                self._output(call, piece)
            if len(self.spans) == before:
                self._word_for_word(call, found)
            if call.call_id in self.tree.steps and len(self.spans) > before:
                unrecorded.append(call.name)
        if unrecorded:
            self.warnings.append(
                f"{len(unrecorded)} step(s) hold no call of a model: what they gave counts as "
                "generated, from what they were given and what was recorded inside of them: "
                f"{some(unrecorded)}. Record what looks something up as a tool or a retriever"
            )

    def given(self, call: Call) -> list[InnerText]:
        """The texts that a call was given."""
        found = self._said_to(call)
        self._note_media(self._media_in.pop(call.call_id, []))
        return found

    def all_given(self, call: Call) -> list[InnerText]:
        """The texts that a call was given, with thoughts that stand before no answer."""
        return [*self.given(call), *self._thoughts.get(call.call_id, ())]

    def _said_to(self, call: Call) -> list[InnerText]:
        """Read what a call was given, once; media are noted where the call is read."""
        known = self._given.get(call.call_id)
        if known is None:
            every = list(everything(call.given))
            known, self._thoughts[call.call_id] = with_thoughts(every)
            self._given[call.call_id] = known
            self._media_in[call.call_id] = [one for one in every if not is_said(one)]
        return known

    def _note_media(self, found: list[InnerText]) -> None:
        for one in found:
            if one.role == "media":
                self._media.setdefault(one.link or one.text, one.text)
            elif one.role == "unknown":
                self._unknown.append(one.text)

    def say_what_is_left_out(self) -> None:
        """Warn of calls without text, and of what has none."""
        if self._media:
            count = len(self._media)
            self.warnings.append(
                f"{count} picture{'s' * (count != 1)} or other media without text "
                f"{'is' if count == 1 else 'are'} left out: {some(self._media.values())}"
            )
        if self._unknown:
            count = len(self._unknown)
            self.warnings.append(
                f"{count} part{'s' * (count != 1)} of what models wrote "
                f"{'is' if count == 1 else 'are'} of a kind that is not known, and "
                f"{'is' if count == 1 else 'are'} left out: {some(self._unknown)}"
            )
        if again := self._again.items():
            self.warnings.append(
                f"{len(self._again)} result(s) of tools or retrievers repeat what was written or "
                "said before. Nothing tells whether that was looked up as well, so this part of "
                f"them is no source text: {some(f'{name} {words}' for name, words in again)}"
            )
        if self.trace.unread:
            count = len(self.trace.unread)
            self.warnings.append(
                f"{count} attribute{'s' * (count != 1)} or event{'s' * (count != 1)} of spans "
                f"hold{'s' * (count == 1)} text in a layout that is not known, which was not "
                f"read: {some(self.trace.unread)}"
            )
        if failed := [one for one in self.trace.calls if one.error]:
            said = (f"{one.name} ({shown(' '.join(str(one.error).split()))})" for one in failed)
            self.warnings.append(f"{len(failed)} call(s) ended with an error: {some(said)}")
        if self._silent:
            self.warnings.append(
                f"{len(self._silent)} call(s) of models, tools or retrievers hold no output text: "
                f"{some(self._silent)}"
            )

    # What the whole was given.

    def _is_prompt(self) -> bool:
        """Return whether the run was called with what a model was given."""
        roots = self.tree.roots
        is_model = bool(roots) and roots[0].kind is CallKind.GENERATION
        return self.trace.given is None and is_model

    def _called_with(self) -> list[asked.Given]:
        """Return what the run was called with."""
        roots = self.tree.roots
        if self._is_prompt() and any(one.end <= roots[0].start for one in roots[1:]):
            return []  # what was recorded before may stand in the prompt
        given = self.trace.given
        if given is None and roots:
            given = roots[0].given
        found = list(asked.of_run(given))
        if self.trace.given is None and roots and roots[0].kind is CallKind.RETRIEVER:
            told = [one for one in roots[1:] if self.tree.writes(one)]
            lines = {
                part.strip()
                for one in told
                for each in self._said_to(one)
                for line in each.text.splitlines()
                for part in (line, line.partition(":")[2])
            }
            if told and not any(one.piece.text.strip() in lines for one in found):
                return []  # a query that a program made, and no question
        return found

    def _beginning(self) -> None:
        is_prompt, found = self._is_prompt(), self._called
        question = asked.question_of(found)
        for one in found:
            piece = one.piece
            if any(known.order == 0 for known in self.by_text.get(piece.text, ())):
                continue
            kind, origin = ("user", Origin.GIVEN)
            name = "question" if piece is question or one.rank == 0 else piece.key or "given"
            if one.is_document:
                kind, origin, name = "document", Origin.SOURCE, piece.key or "document"
            span = self.add(Span(piece.text, kind, origin, 0, None, name))
            if piece is question:
                self.question = span
            if is_prompt:  # no other call holds it
                self.was_met.add(id(span))

    # What each call gave.

    def _outputs(self, call: Call) -> Iterator[InnerText]:
        if call.kind is CallKind.GENERATION:
            yield from self._written(call)
        elif call.kind is CallKind.TOOL:
            yield from self._returned(call)
        elif call.call_id in self.tree.steps:
            yield from self._of_step(call)
        else:
            yield from self._told(everything_of_output(call.made))

    def _told(self, found: Iterator[InnerText]) -> list[InnerText]:
        every = list(found)
        self._note_media(every)
        return [one for one in every if is_said(one)]

    def _returned(self, call: Call) -> Iterator[InnerText]:
        """Yield what a tool returned: its texts where it says so, else its data as one text."""
        link = call.link or self._asked(call)
        if call.link is not None:
            self._answer(call)
        text, without_text = tool_result(call.made)
        self._note_media(without_text)
        found = [] if without_text else self._told(everything(call.made))
        if any(one.role in ("tool", "document", "assistant") for one in found):
            given = [one for one in found if one.role != "call"]
            yield from (replace(one, link=one.link or link) for one in given)
        elif text.strip() or is_answering(call.name):
            yield InnerText(self._handed_in(call, text), "tool", link=link)

    def _handed_in(self, call: Call, text: str) -> str:
        """Return what a tool returned; of one that takes the final answer, the answer."""
        if not is_answering(call.name) or is_handed(call.name, call.given, forms(text)):
            return text
        handed = self.given(call)
        return next(
            (one.text for one in handed if is_answer(one)), handed[0].text if handed else text
        )

    def _answer(self, call: Call) -> None:
        """Note which call of a tool a tool with an id answers: the last open one before it."""
        asked_for = tool_call({"name": call.name, "arguments": call.given}).text
        for span in reversed(self.by_text.get(asked_for, ())):
            if span.link == call.link and id(span) not in self._answered:
                self._answered.add(id(span))
                return

    def _asked(self, call: Call) -> str | None:
        """The id of the tool call that a tool answers, where its span does not hold it.

        Of the calls before it, with its name and its arguments, it answers the first that no
        other tool did.
        """
        if call.given is None:
            return None
        text = tool_call({"name": call.name, "arguments": call.given}).text
        for span in self.by_text.get(text, ()):
            is_taken = id(span) in self._answered or span.link in self._named
            if span.kind != TOOL_CALL or span.link is None or is_taken:
                continue
            if span.call is not None and span.call.end <= call.start:
                self._answered.add(id(span))
                return span.link
        return None

    def _written(self, call: Call) -> Iterator[InnerText]:
        """Yield what a model wrote, its thoughts as what is known of the first of it."""
        made = call.made
        content = unfold(made) if isinstance(made, str) else made
        if is_blocks(content, by_model=True):
            made = {"role": "assistant", "content": content}
        every = list(everything_of_output(made, by_model=True))
        found = [one for one in every if is_said(one) and one.role not in ("system", "user")]
        is_raw = isinstance(made, str)
        if isinstance(content, dict) and set(content) != {"output"}:
            is_raw = is_raw and answers_of(content) is None  # a vendor's answer as JSON
        if is_raw and found and all(one.role is None for one in found):
            said = content if isinstance(content, str) and "\\" in made else made
            if not isinstance(content, list) or len(found) != 1:
                said, thought = parts.without_thought(said)
                every.append(InnerText(thought, "thought"))
                found = [InnerText(said, "assistant")]  # whatever the answer looks like
        if any(one.role in ("assistant", "call") for one in found):
            found = [one for one in found if one.role is not None]  # beside it: what a vendor notes
        if not found:
            found = self._noted(call)
        self._note_media(every)
        thoughts = "\n".join(one.text for one in every if one.role == "thought" and one.text)
        texts = list({one.text: one for one in found if one.role != "call"}.values())
        for one in (*texts, *(one for one in found if one.role == "call")):
            yield replace(one, about={"thought": thoughts}) if thoughts else one
            thoughts = ""

    def _noted(self, call: Call) -> list[InnerText]:
        """Return what events noted while the call went on, where it holds no output itself."""
        near = [*self._events.get(call.call_id, ()), *self._events.get(call.parent_id, ())]
        near.sort(key=lambda one: one.place)
        events = [one for one in near if call.start <= one.start <= call.end]
        said = [piece for one in events for piece in everything_of_output(one.made or one.given)]
        return [one for one in said if one.role in (None, "assistant", "call")]

    def _of_step(self, call: Call) -> Iterator[InnerText]:
        """Yield the texts of a step without recorded models: its answer, and what is beside."""
        every = list(everything_of_output(call.made, by_model=call.kind is CallKind.AGENT))
        self._note_media(every)
        found, _ = with_thoughts(every)
        if any(one.role == "assistant" for one in found):
            found = [one for one in found if one.role is not None]
        own = [one for one in found if one.key not in DOCUMENT_KEYS]
        answer = next((one for one in own if is_answer(one)), None)
        answer = answer or next((one for one in own if one.role is None), None)
        for one in found:
            if one is answer:
                yield replace(one, role="assistant")
            elif one.role not in ("user", "system", "call"):
                yield one

    def _output(self, call: Call, piece: InnerText) -> None:
        if self._known(call, piece):
            return
        what = self._what(call, piece)
        if what is not None:
            self._keep(call, piece, *what)

    def _word_for_word(self, call: Call, found: Sequence[InnerText]) -> None:
        """Keep the answer of a model that only said again what a source or a user had said."""
        by_model = call.kind is CallKind.GENERATION
        is_step = call.kind is CallKind.AGENT or call.parent_id not in self.tree.by_id
        if not self.tree.writes(call) or not (by_model or is_step):
            return
        answers = [one for one in found if one.role == "assistant" or (by_model and not one.role)]
        same = self.by_text.get(answers[-1].text, []) if answers else []
        if same and all(known.origin is not Origin.GENERATED for known in same):
            self._keep(call, answers[-1], "generation", Origin.GENERATED)

    def _keep(self, call: Call, piece: InnerText, kind: str, origin: Origin) -> None:
        about: dict[str, object] = {"call": call.call_id, **dict(call.metadata)}
        if self.trace.trace_id is not None:  # the process may get another id
            about["trace"] = self.trace.trace_id
        if piece.about and (call.kind is CallKind.GENERATION or "thought" in piece.about):
            about |= dict(piece.about)
        elif piece.about:
            about["document"] = dict(piece.about)
        if call.kind is CallKind.GENERATION and call.model:
            about["model"] = call.model
        name, order = f"{call.name}/{call.call_id}", self.tree.order[call.call_id]
        span = self.add(
            Span(piece.text, kind, origin, order, call, name, call.name, piece.link, about)
        )
        if origin is Origin.SOURCE and call.kind in (CallKind.RETRIEVER, CallKind.TOOL):
            self.part(span, call)

    def part(self, span: Span, call: Call) -> None:
        """Part what a tool says of its own from what was written or said before.

        The whole is what others were given, and made of both: no source text.

        Args:
            span: What the tool returned.
            call: The tool, or a model that was given it, where no call of the tool is recorded.
        """
        copies = self._repeats.copies(call, span.text)
        if any(one.origin is Origin.SOURCE for one in self.by_text[span.text] if one is not span):
            return  # a source gave all of it before
        if not copies:
            return
        span.origin = Origin.GENERATED
        self._again[span.name] = first_words(span.text, copies)
        self.copies[id(span)] = copies
        text = left_of(span.text, copies)
        if text:
            own = Span(
                text, span.kind, Origin.SOURCE, span.order, span.call, f"{span.name}/own",
                span.step, None, span.about,
            )  # fmt: skip
            self.own[id(span)] = self.add(own)

    def repeated(self, span: Span) -> Iterator[tuple[Span, float]]:
        """Yield the texts that a result repeats, each with the share of it that comes again."""
        copies = self.copies.get(id(span), ())
        if copies and not self._by_call:
            for one in self.spans:
                if one.origin is not Origin.SOURCE:
                    name = None if one.call is None else one.call.call_id
                    self._by_call.setdefault(name, []).append(one)
        shares: dict[int, tuple[Span, float]] = {}
        for copy in copies:
            writer = copy.author.call
            is_given = writer is None or copy.author.is_given
            given = self._by_call.get(None, []) if is_given else []
            own = [] if writer is None else self._by_call.get(writer.call_id, [])
            for one in (*own, *given):
                is_before = one.order <= span.order and one is not span
                if is_before and self._repeats.holds(one.text, copy):
                    share = shares.get(id(one), (one, 0.0))[1]
                    share += (copy.end - copy.start) / len(one.text)
                    shares[id(one)] = (one, round(min(1.0, share), 4))
        yield from shares.values()

    def _what(self, call: Call, piece: InnerText) -> tuple[str, Origin] | None:
        """Return what a text is that a call gave, and where it comes from; None: it is no node."""
        is_inner = call.call_id in self.tree.with_author
        if call.kind is CallKind.GENERATION:
            return TOOL_CALL if piece.role == "call" else "generation", Origin.GENERATED
        if call.kind is CallKind.RETRIEVER:
            is_own = self._is_repeated(call, piece.text)
            return "document", Origin.GENERATED if is_own else Origin.SOURCE
        if call.kind is CallKind.TOOL:
            names = [call.name, *self._repeats.passing_on(call)]
            if any(map(asks_a_person, names)):
                return "user", Origin.GIVEN
            is_own = (
                is_inner
                or piece.role in ("assistant", "user")
                or any(is_agent(name) or is_answering(name) for name in names)
            )
            is_own = is_own or self._is_repeated(call, piece.text)
            return "tool_result", Origin.GENERATED if is_own else Origin.SOURCE
        if call.kind is CallKind.JUDGE:
            is_word = piece.role in (None, "assistant", "document", "tool")
            return ("text", Origin.GENERATED) if is_word and len(piece.text) >= SHORT else None
        is_step = call.call_id in self.tree.steps
        if is_step and piece.role == "assistant":
            return "generation", Origin.GENERATED
        if piece.role == "document":
            return "document", Origin.SOURCE
        if piece.role in ("user", "system"):
            return None
        if piece.role is None and len(piece.text) < SHORT:
            return None
        if piece.key in DOCUMENT_KEYS and not is_inner:
            return "document", Origin.SOURCE
        if piece.role == "tool":  # among the messages of an agent
            is_own = self.is_own_result(piece.link) or self._is_repeated(call, piece.text)
            return "tool_result", Origin.GENERATED if is_own else Origin.SOURCE
        is_own = is_step or is_inner
        return piece.role or "text", Origin.GENERATED if is_own else Origin.SOURCE

    def _known(self, call: Call, piece: InnerText) -> bool:
        """Return whether a node has this text: an inner call gave it, or it was passed on."""
        same = self.same(piece.text)
        if any(one.call is not None and self.tree.is_inside(one.call, call) for one in same):
            return True
        if any(one.call is call for one in same):
            return True
        if call.kind is CallKind.GENERATION:
            return any(one.text == piece.text for one in self.given(call)) and bool(same)
        if call.kind in _SILENT:
            return bool(same)
        # Two tool calls may have one result: each is tied to its own by its id.
        ids = {piece.link, None}
        sources = [one for one in same if one.origin is Origin.SOURCE]
        if any(piece.link is None or one.link in ids for one in sources):
            return True
        written = any(one.origin is Origin.GENERATED and one.kind != TOOL_CALL for one in same)
        return written and self._is_repeated(call, piece.text)

    def _is_repeated(self, call: Call, text: str) -> bool:
        """Return whether a call gave what a model wrote, and not what it had from a source."""
        same = self.by_text.get(text, ())
        is_source = any(one.origin is Origin.SOURCE for one in same)
        is_again = not is_source and self._repeats.is_written(call, text)
        if is_again and not is_agent(call.name) and not is_answering(call.name):
            self._again[f"{call.name}/{call.call_id}"] = shown(" ".join(text.split()))
        return is_again


def is_answer(piece: InnerText) -> bool:
    """Return whether a text stands where steps keep their answer."""
    is_named = piece.key is not None and parts.plain(piece.key) in _ANSWERS
    return piece.role == "assistant" or (piece.role is None and is_named)
