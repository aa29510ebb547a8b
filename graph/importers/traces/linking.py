"""The links between texts and the calls they were inputs to, by ids and by texts found again.

One index holds all texts that are looked for, so that the time grows with the characters of a
trace and not with the pairs of its calls.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Generic, Protocol, TypeVar

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.traces.calls import Call
from veritrail_graph.graph.importers.traces.finding import (
    FORMS,
    SHORTEST,
    Finder,
    Hit,
    gaps,
    is_whole,
    normalised,
    outermost,
    shingles,
)
from veritrail_graph.graph.importers.traces.leaves import items, leaves
from veritrail_graph.graph.importers.traces.texts import InnerText
from veritrail_graph.graph.model import Inference

TOOL_CALL = "tool_call"
"""The kind of a text that is the call of a tool."""
DOCUMENT = "document"
"""The kind of a text that was looked up; a short one is found where it is a whole line."""
_MOST_HOLDERS = 50
"""Of the earlier texts that hold one leaf the latest so many are looked at."""
_MOST_EDGES = 2_000_000
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
    given: Sequence[InnerText]
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
Meet = Callable[[InnerText, Target[S]], S | None]


@dataclass(slots=True)
class TextOrigin(Generic[S]):
    """An earlier text that something that a call was given comes from.

    Attributes:
        source: The earlier text.
        how: How it was found; None: an id or the input itself says it.
        score: Share of its text that was found.
        characters: How much of what was given it accounts for.
    """

    source: S
    how: Inference | None
    score: float | None
    characters: float


@dataclass(frozen=True, slots=True)
class Account(Generic[S]):
    """The origin of one text that a model was given.

    Attributes:
        spans: What the model gave.
        characters: How long the text is.
        parts: The earlier texts that it comes from.
    """

    spans: Sequence[S]
    characters: int
    parts: Sequence[TextOrigin[S]]


Turn = tuple[str, bool, str]
"""The id of a call, whether a text is the call or its result, and the text."""


def _turns(given: Sequence[InnerText]) -> dict[Turn, tuple[int, int]]:
    """For each text with the id of a call its place among those with that id, and their number."""
    texts: dict[tuple[str, bool], dict[str, int]] = {}
    for piece in given:
        if piece.link is not None:
            same = texts.setdefault((piece.link, piece.role == "call"), {})
            same.setdefault(piece.text, len(same))
    return {
        (link, is_call, text): (turn, len(same))
        for (link, is_call), same in texts.items()
        for text, turn in same.items()
    }


def _is_written(span: Spoken) -> bool:
    return span.kind in (TOOL_CALL, "generation")


class _Parts(Generic[S]):
    """The earlier texts that one text comes from, each once, as they are found."""

    def __init__(self) -> None:
        self.found: dict[int, TextOrigin[S]] = {}

    def add(
        self, source: S, how: Inference | None, characters: float, score: float | None = 1.0
    ) -> None:
        known = self.found.get(id(source))
        if known is None:
            self.found[id(source)] = TextOrigin(source, how, score, characters)
        else:
            known.characters += characters


class Links(Generic[S]):
    """Finds the edges of a trace."""

    def __init__(self, spans: list[S], by_overlap: bool) -> None:
        self._spans = spans  # grows by what is met
        self._by_overlap = by_overlap
        self._forms: dict[tuple[Inference, str], str] = {}
        self._words: dict[str, frozenset[int]] = {}
        self._used: list[Finder] = []

    @property
    def is_cut_short(self) -> bool:
        """Return whether the texts repeat themselves so much that not every place was looked at."""
        return any(one.is_spent for one in self._used)

    def between(
        self, targets: Sequence[Target[S]], is_available: Available[S], meet: Meet[S]
    ) -> tuple[list[Source[S]], list[Account[S]]]:
        """The edges, and for each text that a model was given where it comes from.

        Args:
            targets: Calls in the order of time.
            is_available: Whether a text was there when a call began.
            meet: A new node for a text that a model was given and that is not known.
        """
        self._available = is_available
        # First only what was given and is not known, so that it can be found again later.
        self._index(targets)
        self._turns = {id(target): _turns(target.given) for target in targets}
        met: set[str] = set()
        for target in targets:
            for piece in target.given:
                parts = [] if piece.text in met else self._match(piece, target, set())
                if not parts and piece.text not in met:
                    unmet = [piece]
                else:
                    unmet = [
                        replace(piece, text=one, role="rest") for one in self._rest(piece, target)
                    ]
                for one in unmet:
                    if one.text not in met and meet(one, target) is not None:
                        met.add(one.text)
        if met:
            self._index(targets)
        edges: list[Source[S]] = []
        accounts: list[Account[S]] = []
        for target in targets:
            used: set[int] = set()
            for piece in target.given:
                parts = self._match(piece, target, used)
                if target.writes and (parts or piece.role != "system"):
                    accounts.append(Account(target.spans, len(piece.text), parts))
                for part in parts:
                    edges += [
                        Source(part.source, span, part.how, part.score)
                        for span in target.spans
                        if span is not part.source
                    ]
            if len(edges) > _MOST_EDGES:
                raise InputError(f"its texts are joined by more than {_MOST_EDGES:,} edges")
        return edges, accounts

    def _rest(self, piece: InnerText, target: Target[S]) -> list[str]:
        """Return what somebody said around the earlier texts in a piece, if there are any."""
        hits = self._hits.get((Inference.EXACT, piece.text), ())
        if piece.role not in (None, "user") or not target.writes or not hits:
            return []
        _, spans = self._finders[Inference.EXACT]
        there = outermost(
            hits, lambda hit: any(self._is_there(one, target) for one in spans[hit.found])
        )
        rest = gaps(piece.text, there) if there else []
        return [one.strip() for one in rest if len(one.strip()) >= SHORTEST]

    def around(self, text: str, is_kept: Callable[[S], bool]) -> list[str]:
        """Return what of a text that a model was given stands in none of the texts that are kept.

        Args:
            text: It.
            is_kept: Whether a text is.
        """
        hits = self._hits.get((Inference.EXACT, text), ())
        spans = self._finders[Inference.EXACT][1] if hits else []
        held = outermost(hits, lambda hit: any(map(is_kept, spans[hit.found])))
        return gaps(text, held)

    def _index(self, targets: Sequence[Target[S]]) -> None:
        self._equal: dict[str, list[S]] = {}
        self._linked: dict[tuple[str, bool], list[S]] = {}
        self._linked_texts: dict[Turn, list[S]] = {}
        self._short: dict[str, list[S]] = {}
        for span in sorted(self._spans, key=lambda one: one.order):
            if span.link is not None:
                is_call = span.kind == TOOL_CALL
                self._linked.setdefault((span.link, is_call), []).append(span)
                self._linked_texts.setdefault((span.link, is_call, span.text), []).append(span)
        for span in self._spans:
            self._equal.setdefault(span.text, []).append(span)
            if span.kind == DOCUMENT and 1 < len(span.text.strip()) < SHORTEST:
                self._short.setdefault(normalised(span.text), []).append(span)
        self._finders: dict[Inference, tuple[Finder, list[list[S]]]] = {}
        self._within: dict[Inference, dict[str, list[int]]] = {}
        self._hits: dict[tuple[Inference, str], list[Hit]] = {}
        self._holders: dict[str, list[S]] | None = None
        self._targets = targets

    def _form(self, how: Inference, text: str) -> str:
        key = (how, text)
        if key not in self._forms:
            self._forms[key] = FORMS[how](text)
        return self._forms[key]

    def _shingles(self, text: str) -> frozenset[int]:
        if text not in self._words:
            self._words[text] = shingles(text)
        return self._words[text]

    def _is_there(self, span: S, target: Target[S]) -> bool:
        own = any(span is one for one in target.spans)
        return not own and self._available(span, target.call)

    def _match(self, piece: InnerText, target: Target[S], used: set[int]) -> list[TextOrigin[S]]:
        """The nodes that a text comes from.

        Args:
            piece: The text.
            target: The call that was given it.
            used: The nodes that texts of this call come from so far. Grows: of two nodes with one
                text, both are inputs of a call that was given that text twice.
        """

        def is_there(span: S) -> bool:
            return self._is_there(span, target)

        def latest(same: Sequence[S]) -> S:
            # Of the same text given twice the later one is what was at hand.
            fresh = [one for one in same if target.writes and id(one) not in used]
            chosen = max(fresh or same, key=lambda one: one.order)
            used.add(id(chosen))
            return chosen

        size = len(piece.text)
        linked = self._named(piece, target, used)
        if linked is not None:
            used.add(id(linked))
            return [TextOrigin(linked, None, None, size)]
        is_own = piece.role == "own"
        equal = [one for one in self._equal.get(piece.text, ()) if is_there(one)]
        if equal and not is_own:
            same = latest(equal)
            met = same.call is None
            return [TextOrigin(same, None if met else Inference.EXACT, None if met else 1.0, size)]
        parts = _Parts[S]()
        left = self._contained(Inference.EXACT, piece.text, is_there, latest, parts)
        if not parts.found and not is_own:
            held = self._containing(Inference.EXACT, piece, is_there)
            if held:
                return held
        if not parts.found and is_own:  # a field that a program took out of what a model wrote
            for how in (Inference.EXACT, Inference.NORMALISED):
                held = self._containing(how, piece, lambda one: _is_written(one) and is_there(one))
                if held:
                    return held
        is_read = target.writes and piece.role in (None, "user")
        if is_read and self._short:
            left = [self._items(one, is_there, latest, parts) for one in left]
        left = [one for one in left if len(one) >= SHORTEST]
        for one in left:
            self._contained(Inference.NORMALISED, one, is_there, latest, parts)
        if not parts.found and not is_own:
            held = self._containing(Inference.NORMALISED, piece, is_there)
            if held:
                return held
        if is_read:
            self._leaves(left, target, parts)
        if not parts.found and self._by_overlap and not is_own:
            return self._overlapping(piece, is_there)
        for part in parts.found.values():
            part.characters = min(part.characters, size)
        return list(parts.found.values())

    def _named(self, piece: InnerText, target: Target[S], used: set[int]) -> S | None:
        """The node with the id that a text has; None: there is none.

        A call and its result share an id; what is given here is one of the two. Some programs
        count the ids of each turn from 0 again, or take the tool's name: then it is the one with
        this text, else the one of the same turn, counted from the last.
        """
        if piece.link is None:
            return None
        is_call = piece.role == "call"
        equal = self._linked_texts.get((piece.link, is_call, piece.text), [])
        same = list(islice(self._latest(equal, target), _MOST_HOLDERS))
        if same:
            return next((one for one in same if id(one) not in used), same[0])
        turn, turns = self._turns[id(target)].get((piece.link, is_call, piece.text), (0, 1))
        linked = self._latest(self._linked.get((piece.link, is_call), []), target)
        return next(islice(linked, turns - turn - 1, None), None)

    def _latest(self, spans: Sequence[S], target: Target[S]) -> Iterator[S]:
        """Those of some texts in the order of time that were there, the latest first."""
        at = bisect_left(spans, target.order, key=lambda one: one.order)
        while at:
            at -= 1
            if self._is_there(spans[at], target):
                yield spans[at]

    def _contained(
        self,
        how: Inference,
        given: str,
        is_there: Callable[[S], bool],
        latest: Callable[[Sequence[S]], S],
        parts: _Parts[S],
    ) -> list[str]:
        """Take the whole earlier texts inside this one; what is left of it."""
        text = self._form(how, given)
        if len(text) < SHORTEST:
            return [given]
        if how not in self._finders:
            same: dict[str, list[S]] = {}
            for span in self._spans:
                same.setdefault(self._form(how, span.text), []).append(span)
            self._finders[how] = self._finder([*same]), [*same.values()]
        finder, spans = self._finders[how]
        key = (how, given)
        if key not in self._hits:
            self._hits[key] = finder.within(text)
        there: dict[int, list[S]] = {}

        def are_there(hit: Hit) -> bool:
            if hit.found not in there:
                there[hit.found] = [one for one in spans[hit.found] if is_there(one)]
            return bool(there[hit.found])

        hits = outermost(self._hits[key], are_there)
        scale = len(given) / len(text)
        behind = 0
        for hit in hits:
            fresh = max(0, hit.end - max(hit.start, behind))
            behind = max(behind, hit.end)
            parts.add(latest(there[hit.found]), how, fresh * scale)
        return gaps(text, hits) if how is Inference.EXACT else [given]

    def _finder(self, texts: Sequence[str]) -> Finder:
        finder = Finder.of(texts)
        self._used.append(finder)
        return finder

    def _items(
        self,
        given: str,
        is_there: Callable[[S], bool],
        latest: Callable[[Sequence[S]], S],
        parts: _Parts[S],
    ) -> str:
        """Take the short documents that are whole lines or items of this text; what is left."""
        taken = set()
        for item in items(given):
            there = [one for one in self._short.get(normalised(item), ()) if is_there(one)]
            if there:
                same = any(one.text.strip() == item for one in there)
                how = Inference.EXACT if same else Inference.NORMALISED
                parts.add(latest(there), how, len(item))
                taken.add(item)
        if not taken:
            return given
        lines = given.splitlines()
        return "\n".join(one for one in lines if not taken.intersection(items(one)))

    def _containing(
        self, how: Inference, piece: InnerText, is_there: Callable[[S], bool]
    ) -> list[TextOrigin[S]]:
        """The latest earlier text that holds this one: a row, a field, a document of it."""
        text = self._form(how, piece.text)
        if len(text) < SHORTEST:
            return []
        if how not in self._within:
            given = (one for target in self._targets for one in target.given)
            wanted = list(dict.fromkeys(self._form(how, one.text) for one in given))
            finder = self._finder(wanted)
            inside: dict[str, list[int]] = {}
            for number, span in enumerate(self._spans):
                for found in {hit.found for hit in finder.within(self._form(how, span.text))}:
                    inside.setdefault(wanted[found], []).append(number)
            self._within[how] = inside
        there = [
            self._spans[number]
            for number in self._within[how].get(text, ())
            if is_there(self._spans[number])
        ]
        if not there:
            return []
        latest = max(there, key=lambda one: one.order)
        whole = max(1, len(self._form(how, latest.text)))
        return [TextOrigin(latest, how, round(min(1.0, len(text) / whole), 4), len(piece.text))]

    def _leaves(self, left: Sequence[str], target: Target[S], parts: _Parts[S]) -> None:
        """Take the lines and cells of what is left of a text that earlier texts hold."""
        how = Inference.NORMALISED
        found = [leaf for one in left for leaf in leaves(one)]
        if not found:
            return
        wanted: dict[str, float] = {}
        for leaf in found:
            form = normalised(leaf)
            if len(form) >= SHORTEST:
                wanted[form] = wanted.get(form, 0.0) + len(leaf)
        # What stands in a text that was found as a whole came with that one.
        finder = self._finder([*wanted]) if parts.found else None
        for part in parts.found.values():
            if finder is not None:
                for hit in finder.within(self._form(how, part.source.text)):
                    wanted.pop(finder.texts[hit.found], None)
        holding: dict[int, tuple[S, list[str]]] = {}
        for form in wanted:
            for span in self._holding(form, target):
                holding.setdefault(id(span), (span, []))[1].append(form)
        # One text that holds all rows of a table rather than several that quote some of them.
        for span, forms in sorted(
            holding.values(), key=lambda one: (len(one[1]), one[0].order), reverse=True
        ):
            fresh = [form for form in forms if form in wanted]
            if fresh:
                share = sum(map(len, fresh)) / max(1, len(self._form(how, span.text)))
                score = round(min(1.0, share), 4)
                parts.add(span, how, sum(wanted.pop(form) for form in fresh), score)

    def _holding(self, form: str, target: Target[S]) -> list[S]:
        """The latest of the earlier texts that hold a leaf."""
        if self._holders is None:
            self._holders = self._all_holders()
        return list(islice(self._latest(self._holders.get(form, []), target), _MOST_HOLDERS))

    def _all_holders(self) -> dict[str, list[S]]:
        how = Inference.NORMALISED
        wanted = list(dict.fromkeys(normalised(leaf) for leaf in self._all_leaves()))
        finder = self._finder(wanted)
        holders: dict[str, list[S]] = {}
        for span in sorted(self._spans, key=lambda one: one.order):
            if span.kind == TOOL_CALL or span.call is None:
                continue
            text = self._form(how, span.text)
            held = {hit.found for hit in finder.within(text) if is_whole(text, hit)}
            for number in held:
                holders.setdefault(wanted[number], []).append(span)
        return holders

    def _all_leaves(self) -> Iterator[str]:
        """The leaves of all that models were given."""
        seen: set[str] = set()
        for target in self._targets:
            for piece in target.given if target.writes else ():
                if piece.role not in (None, "user") or piece.text in seen:
                    continue
                seen.add(piece.text)
                yield from leaves(piece.text)

    def _overlapping(self, piece: InnerText, is_there: Callable[[S], bool]) -> list[TextOrigin[S]]:
        given = self._shingles(piece.text)
        found = []
        for span in self._spans:
            own = self._shingles(span.text) if given else frozenset()
            share = len(own & given) / len(own) if own else 0.0
            if share >= LEAST_OVERLAP and is_there(span):
                found.append(TextOrigin(span, Inference.OVERLAP, round(share, 4), 0.0))
        return found
