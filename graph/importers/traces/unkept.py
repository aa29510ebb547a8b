"""The texts of a trace that are no node: kept beside the text that was made with them, or named.

Nothing that a tracer recorded is left out without a word. What a prompt says around the texts that
were found in it, and what a tool was called with, is known of what was made of it. The rest is
named by the call that held it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from veritrail_graph.graph.counted import counted, some
from veritrail_graph.graph.errors import shown
from veritrail_graph.graph.importers.records import NodeRecord
from veritrail_graph.graph.importers.traces import unread
from veritrail_graph.graph.importers.traces.answers import everything_of_output
from veritrail_graph.graph.importers.traces.calls import Call, CallKind
from veritrail_graph.graph.importers.traces.finding import SHORTEST, Finder, normalised
from veritrail_graph.graph.importers.traces.linking import TOOL_CALL
from veritrail_graph.graph.importers.traces.spans import Span
from veritrail_graph.graph.importers.traces.texts import InnerText, is_said, tool_call

GIVEN, GAVE = "given", "gave"
"""What is known of a text besides: what else the call was given, and what else it gave."""
_LOOKING = (CallKind.TOOL, CallKind.RETRIEVER)


def without_beside(node: NodeRecord) -> NodeRecord:
    """A node as it is made where all that its call was given is a node."""
    metadata = {key: value for key, value in (node.metadata or {}).items() if key != GIVEN}
    return replace(node, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Recorded:
    """The calls of a trace as they were read, and the nodes that were made of them.

    Attributes:
        calls: The calls, in the order of time.
        given: Gives the texts that a call was given.
        around: Gives what of a text that a model was given no node holds.
        kept: The nodes.
        named: Texts that were found, are no nodes, and are named for it.
        beside: Fields with words that tell of the whole, each with its name.
        whole: What the whole was given and gave.
        question: What the process answers; empty: that is not known.
    """

    calls: Sequence[Call]
    given: Callable[[Call], Iterable[InnerText]]
    around: Callable[[str], list[str]]
    kept: Sequence[Span]
    named: Sequence[Span]
    beside: Sequence[tuple[str, Any]] = ()
    whole: tuple[Any, ...] = ()
    question: str = ""


@dataclass(slots=True)
class _Piece:
    """A text that may be kept nowhere.

    Attributes:
        call: The call that held it; None: the trace as a whole.
        side: `GIVEN` or `GAVE`.
        lines: Its lines.
        has_any: Whether each line counts, however short.
    """

    call: Call | None
    side: str
    lines: list[str]
    has_any: bool = False


@dataclass(slots=True)
class Unkept:
    """Finds the texts of a trace that are no node.

    Attributes:
        recorded: What was read of the trace.
    """

    recorded: Recorded
    _pieces: list[_Piece] = field(default_factory=list)
    _instructions: dict[str, None] = field(default_factory=dict)
    _by_call: dict[str, list[Span]] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)
    _seen: set[str] = field(default_factory=set)
    _named: set[str] = field(default_factory=set)
    _fields: dict[str, set[str]] = field(default_factory=dict)
    _left_out: dict[str, None] = field(default_factory=dict)

    def warnings(self) -> Iterator[str]:
        """Keep what belongs to a node beside it, and yield what is said of the rest."""
        for span in self.recorded.kept:
            if span.call is not None:
                self._by_call.setdefault(span.call.call_id, []).append(span)
        for span in (*self.recorded.kept, *self.recorded.named):
            self._known |= {span.text, span.text.strip()}
        self._known.add(self.recorded.question.strip())
        self._named = {one.call.call_id for one in self.recorded.named if one.call is not None}
        for call in self.recorded.calls:
            self._look(call)
        for value in self.recorded.whole:
            for piece in everything_of_output(value):
                self._take(None, GIVEN, piece)
        left = self._settled()
        if self._instructions:
            count = len(self._instructions)
            what = "instruction (system prompt)" if count == 1 else "instructions (system prompts)"
            yield (
                f"{count:,} {what} of models {'is' if count == 1 else 'are'} left out, being no "
                f"source text: {some(map(_first_words, self._instructions))}"
            )
        if left:
            texts = counted(len(left), "text")
            yield (
                f"{texts} that calls were given or gave went into no node and "
                f"{'is' if len(left) == 1 else 'are'} left out: {some(left)}"
            )
        if fields := self._left_out:
            yield (
                f"{counted(len(fields), 'field')} beside what calls were given and gave "
                f"{'is' if len(fields) == 1 else 'are'} left out: {some(map(shown, fields))}"
            )

    # What may be kept nowhere.

    def _look(self, call: Call) -> None:
        own = self._by_call.get(call.call_id, [])
        given = [one for one in self.recorded.given(call) if one.text.strip()]
        if call.kind in _LOOKING and own:
            if not self._is_told(call, given):
                own[0].about[GIVEN] = call.given
        elif not (call.kind in _LOOKING and call.call_id in self._named):
            for piece in given:
                self._take(call, GIVEN, piece)
        for piece in everything_of_output(call.made, by_model=call.kind is CallKind.GENERATION):
            self._take(call, GAVE, piece)
        for value in call.metadata.values():
            if isinstance(value, str):
                self._take(call, GAVE, InnerText(value))

    def _is_told(self, call: Call, given: Sequence[InnerText]) -> bool:
        """Return whether a node says what a tool or a retriever was called with."""
        if not given or all(one.text.strip() in self._known for one in given):
            return True
        asked = tool_call({"name": call.name, "arguments": call.given}).text
        return asked in self._known or any(
            one.kind == TOOL_CALL and one.link == call.link is not None
            for one in self.recorded.kept
        )

    def _take(self, call: Call | None, side: str, piece: InnerText) -> None:
        text = piece.text
        bare = text.strip()
        if not (is_said(piece) or piece.role == "thought"):
            return
        if bare in self._known or bare in self._seen:
            return
        self._seen.add(bare)
        if piece.role == "system":
            said = "\n".join(self.recorded.around(text)).strip()
            if any(map(str.isalnum, said)):
                self._instructions[said] = None
            return
        is_prompt = side == GIVEN and call is not None and call.kind is CallKind.GENERATION
        if is_prompt and piece.role != "call":
            lines = [line for gap in self.recorded.around(text) for line in gap.splitlines()]
            self._pieces.append(_Piece(call, side, lines, has_any=True))
        elif unread.says_something(text):
            self._pieces.append(_Piece(call, side, text.splitlines()))

    # What is.

    def _settled(self) -> list[str]:
        """Keep lines that no node holds beside the text of their call; name those of others."""
        held = self._held()
        told: set[str] = set()
        left = []
        for piece in self._pieces:
            lines = []
            for line in piece.lines:
                form = normalised(line)
                if form in held or form in told or not any(map(str.isalnum, form)):
                    continue
                if piece.has_any or len(form) >= SHORTEST:
                    told.add(form)
                    lines.append(line.strip())
            if not lines:
                continue
            text = "\n".join(lines)
            call = piece.call
            own = [] if call is None else self._by_call.get(call.call_id, [])
            if own:
                own[0].about[piece.side] = _with(own[0].about.get(piece.side), text)
            else:
                name = "the whole" if call is None else f"{call.name}/{call.call_id}"
                left.append(f"{name} {_first_words(text)}")
        said = "\n".join(told)
        for name, forms in self._fields.items():
            if any(one not in held and one not in said for one in forms):
                self._left_out[name] = None
        return left

    def _beside(self) -> Iterator[tuple[str, Any]]:
        """Yield the fields with words beside what was read, each with its name."""
        yield from self.recorded.beside
        for call in self.recorded.calls:
            yield from call.beside
            yield from unread.aside(call.given)
            yield from unread.aside(call.made)

    def _held(self) -> set[str]:
        """Return which lines and fields stand in texts that are kept or named."""
        for name, value in self._beside():
            for text in unread.words_in(value):
                form = normalised(text)
                if len(form) >= SHORTEST:
                    self._fields.setdefault(name, set()).add(form)
        wanted = set().union(*self._fields.values())
        for one in self._pieces:
            wanted.update(form for line in one.lines if len(form := normalised(line)) >= SHORTEST)
        finder = Finder.of([*wanted])
        return {finder.texts[hit.found] for form in self._forms() for hit in finder.within(form)}

    def _forms(self) -> Iterator[str]:
        """Yield the texts that are kept or named, in the form that is compared."""
        for span in (*self.recorded.kept, *self.recorded.named):
            yield normalised(span.text)
            yield from map(normalised, unread.texts_in(span.about, whole=True))
        for text in (self.recorded.question, *self._instructions):
            yield normalised(text)
        for call in self.recorded.calls:
            if call.error:
                yield normalised(call.error)


def _with(known: Any, text: str) -> Any:
    return text if known is None else [*known, text] if isinstance(known, list) else [known, text]


def _first_words(text: str) -> str:
    return shown(" ".join(text.split()))
