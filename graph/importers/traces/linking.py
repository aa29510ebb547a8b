"""Which texts were inputs to which calls, by ids and by texts found again.

One index holds all texts that are looked for, so that the time grows with the characters of a
trace and not with the pairs of its calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from veritrail_graph.graph.importers.traces.calls import Call
from veritrail_graph.graph.importers.traces.finding import (
    FORMS,
    SHORTEST,
    Finder,
    Hit,
    covered,
    outermost,
    shingles,
)
from veritrail_graph.graph.importers.traces.texts import Piece
from veritrail_graph.graph.model import Inference

TOOL_CALL = "tool_call"
"""The kind of a text that is the call of a tool."""
LEAST_OVERLAP = 0.5
"""Share of the shingles of a text that must be in another to make an edge, where that is asked."""


class Spoken(Protocol):
    """A text that may be an input."""

    text: str
    kind: str
    order: int
    link: str | None
    call: Call | None


S = TypeVar("S", bound=Spoken)


@dataclass(frozen=True, slots=True)
class Target(Generic[S]):
    """A call that texts may have been inputs to.

    Attributes:
        call: The call.
        order: Its place in time.
        given: What it was given.
        spans: What it gave.
        writes: Whether a language model wrote that.
    """

    call: Call
    order: int
    given: Sequence[Piece]
    spans: Sequence[S]
    writes: bool


@dataclass(frozen=True, slots=True)
class Source(Generic[S]):
    """An edge: a text was an input to what a call gave.

    Attributes:
        source: The text that was the input.
        target: What the call gave.
        inferred: How the edge was found; None: an id or the input itself says it.
        score: Share of the source's text that was found.
    """

    source: S
    target: S
    inferred: Inference | None
    score: float | None


Available = Callable[[S, Call], bool]
Meet = Callable[[Piece, Target[S]], S | None]


@dataclass(frozen=True, slots=True)
class _Match(Generic[S]):
    spans: list[tuple[S, Inference | None, float | None]]
    share: float


class Links(Generic[S]):
    """Finds the edges of a trace."""

    def __init__(self, spans: list[S], by_overlap: bool) -> None:
        self._spans = spans  # grows by what is met
        self._by_overlap = by_overlap
        self._forms: dict[tuple[Inference, str], str] = {}

    def between(
        self, targets: Sequence[Target[S]], is_available: Available[S], meet: Meet[S]
    ) -> tuple[list[Source[S]], float | None]:
        """The edges, and the share of what models were given that they account for.

        Args:
            targets: Calls in the order of time.
            is_available: Whether a text was there when a call began.
            meet: A new node for a text that a model was given and that is not known.
        """
        # First only what was given and is not known, so that it can be found again later.
        self._index(targets)
        met: set[str] = set()
        for target in targets:
            for piece in target.given:
                known = piece.text in met or self._match(piece, target, is_available)
                if not known and meet(piece, target) is not None:
                    met.add(piece.text)
        if met:
            self._index(targets)
        edges: list[Source[S]] = []
        total = explained = 0.0
        for target in targets:
            for piece in target.given:
                match = self._match(piece, target, is_available)
                if target.writes:
                    total += len(piece.text)
                    explained += len(piece.text) * (match.share if match else 0.0)
                for source, how, score in match.spans if match else ():
                    edges += [
                        Source(source, span, how, score)
                        for span in target.spans
                        if span is not source and span.text != source.text
                    ]
        return edges, (round(explained / total, 4) if total else None)

    def _index(self, targets: Sequence[Target[S]]) -> None:
        self._equal: dict[str, list[S]] = {}
        self._linked: dict[str, list[S]] = {}
        for span in self._spans:
            self._equal.setdefault(span.text, []).append(span)
            if span.link is not None:
                self._linked.setdefault(span.link, []).append(span)
        self._finders: dict[Inference, Finder] = {}
        self._within: dict[Inference, dict[str, list[int]]] = {}
        self._hits: dict[tuple[Inference, str], list[Hit]] = {}
        self._targets = targets

    def _form(self, how: Inference, text: str) -> str:
        key = (how, text)
        if key not in self._forms:
            self._forms[key] = FORMS[how](text)
        return self._forms[key]

    def _match(self, piece: Piece, target: Target[S], available: Available[S]) -> _Match[S] | None:
        """The nodes that a text comes from; None: from none."""

        def is_there(span: S) -> bool:
            own = any(span is one for one in target.spans)
            return not own and available(span, target.call)

        if piece.link is not None:
            # A call and its result share an id; what is given here is one of the two.
            is_call = piece.role == "call"
            linked = [
                one
                for one in self._linked.get(piece.link, ())
                if is_there(one) and (one.kind == TOOL_CALL) == is_call
            ]
            if linked:
                return _Match([(linked[-1], None, None)], 1.0)
        equal = [one for one in self._equal.get(piece.text, ()) if is_there(one)]
        if equal and piece.role != "own":
            latest = max(equal, key=lambda one: one.order)
            met = latest.call is None
            return _Match([(latest, None if met else Inference.EXACT, None if met else 1.0)], 1.0)
        for how in FORMS:
            found = self._contained(how, piece, is_there)
            if found is None and piece.role != "own":
                found = self._containing(how, piece, is_there)
            if found is not None:
                return found
        if self._by_overlap and piece.role != "own":
            return self._overlapping(piece, is_there)
        return None

    def _contained(
        self, how: Inference, piece: Piece, is_there: Callable[[S], bool]
    ) -> _Match[S] | None:
        """Whole earlier texts inside this one."""
        if how not in self._finders:
            self._finders[how] = Finder.of([self._form(how, one.text) for one in self._spans])
        text = self._form(how, piece.text)
        key = (how, piece.text)
        if key not in self._hits:
            self._hits[key] = self._finders[how].within(text)
        groups = outermost(self._hits[key], lambda hit: is_there(self._spans[hit.found]))
        if not groups:
            return None
        # Of the same text given twice the later one is what was at hand.
        chosen: dict[int, S] = {}
        for same in groups:
            latest = max((self._spans[hit.found] for hit in same), key=lambda one: one.order)
            chosen[id(latest)] = latest
        share = covered(same[0] for same in groups) / max(1, len(text))
        return _Match([(one, how, 1.0) for one in chosen.values()], min(1.0, share))

    def _containing(
        self, how: Inference, piece: Piece, is_there: Callable[[S], bool]
    ) -> _Match[S] | None:
        """Earlier texts that hold this one: a row, a field, a document of them."""
        text = self._form(how, piece.text)
        if len(text) < SHORTEST:
            return None
        if how not in self._within:
            given = (one for target in self._targets for one in target.given)
            wanted = list(dict.fromkeys(self._form(how, one.text) for one in given))
            finder = Finder.of(wanted)
            inside: dict[str, list[int]] = {}
            for number, span in enumerate(self._spans):
                for hit in finder.within(self._form(how, span.text)):
                    inside.setdefault(wanted[hit.found], []).append(number)
            self._within[how] = inside
        there = [
            self._spans[number]
            for number in self._within[how].get(text, ())
            if is_there(self._spans[number])
        ]
        if not there:
            return None
        latest = max(there, key=lambda one: one.order)
        whole = max(1, len(self._form(how, latest.text)))
        return _Match([(latest, how, round(min(1.0, len(text) / whole), 4))], 1.0)

    def _overlapping(self, piece: Piece, is_there: Callable[[S], bool]) -> _Match[S] | None:
        given = shingles(piece.text)
        found = []
        for span in self._spans:
            own = shingles(span.text) if given else frozenset()
            share = len(own & given) / len(own) if own else 0.0
            if share >= LEAST_OVERLAP and is_there(span):
                found.append((span, Inference.OVERLAP, round(share, 4)))
        return _Match(list(found), 0.0) if found else None
