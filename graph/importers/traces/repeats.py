"""A check that a tool only repeated a model's text, or the input that the tool was given.

An agent may be a tool of another one, and its inner model need not be recorded inside the tool.
What such a tool returns is no source text: a model in the run wrote it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.importers.copied import CopiedWords, Copy, EarlierTexts
from veritrail_graph.graph.importers.traces.answers import of_output
from veritrail_graph.graph.importers.traces.calls import Call, CallKind
from veritrail_graph.graph.importers.traces.colleagues import asks_a_person, is_agent
from veritrail_graph.graph.importers.traces.finding import Finder, covered, normalised
from veritrail_graph.graph.importers.traces.parts import plain
from veritrail_graph.graph.importers.traces.texts import InnerText, pieces
from veritrail_graph.graph.importers.traces.tree import Tree
from veritrail_graph.graph.importers.transcript import LONGEST_TURN

_MOST_OF_IT = {CallKind.TOOL: 0.75, CallKind.RETRIEVER: 0.95}
"""Share of a result that was written before the call began, by its kind."""
_HALF = 0.5
"""The same for what was written while it went on."""
_MOST_WRITERS = 50
"""Of the calls that wrote one text the latest so many are looked at."""
_LEAST_BLANKS = 2
_SHORTEST = 8
"""Characters; a shorter text is compared as a whole alone."""
ANSWERING = frozenset((
    "finalanswer", "finalanswertool", "submit", "submitanswer", "submitfinalanswer", "finish",
    "answer", "giveanswer", "respond", "done", "returnresult", "returnanswer", "returnresults",
    "submitresult", "submitresults", "submitresponse", "finalresult", "finalresponse",
    "finaloutput", "provideanswer", "providefinalanswer", "attemptcompletion", "taskcomplete",
    "completetask", "deliver", "deliveranswer", "reply", "sendanswer", "outputanswer",
    "structuredoutput", "replytouser", "sendfinalanswer", "finishtask", "conclude",
))  # fmt: skip
"""Tools to which agents hand their final answer, as `plain` writes names."""


def is_answering(name: str) -> bool:
    """Return whether a tool is one to which agents hand their final answer."""
    bare = plain(name)
    for word in ("executetool", "toolcall", "running", "runningtool"):
        bare = bare.removeprefix(word)
    return bare in ANSWERING or bare.removesuffix("tool") in ANSWERING


@dataclass(frozen=True, slots=True)
class WordsOrigin:
    """The author of words that a result repeats.

    Attributes:
        call: The call that wrote them, or was given them; None: the run was called with them.
        start: When they began to be.
        end: When they were there.
        is_given: Whether the call was given them.
    """

    call: Call | None
    start: int
    end: int
    is_given: bool = False


class Repeats:
    """The texts that models wrote in a trace, to be found again in results of tools."""

    def __init__(
        self,
        tree: Tree,
        said: Sequence[str],
        documents: Sequence[str],
        given: Callable[[Call], Sequence[InnerText]],
    ) -> None:
        """Take what was written and said.

        Args:
            tree: The calls.
            said: What the run was called with, and is no document.
            documents: The documents that it was called with.
            given: Gives the texts that a call was given.
        """
        self._tree, self._given = tree, given
        self._writers: dict[str, list[Call]] = {}
        self._earlier = EarlierTexts[WordsOrigin, Call | None]()
        self._read: dict[str, frozenset[str]] = {}
        self._known_from: dict[str, int] | None = None
        self._sources = [(text, -1) for text in documents]
        for text in documents:
            self._earlier.show(text, None)
        found = [(text, WordsOrigin(None, 0, 0)) for text in said]
        for call in tree.ordered:
            found += self._made(call)
            found += self._handed(call)
        self._texts = list(self._writers)
        self._finder = Finder.of(self._texts, _SHORTEST)
        handed: set[str] = set()
        for text, author in sorted(found, key=lambda one: one[1].end):
            if author.is_given and text in handed:
                continue  # each call is given the turns before it again
            handed |= {text} if author.is_given else set()
            self._earlier.add(text, author)

    @property
    def is_spent(self) -> bool:
        """Return whether texts repeat themselves so much that some were not compared."""
        return self._earlier.is_spent

    def _made(self, call: Call) -> Iterator[tuple[str, WordsOrigin]]:
        """Yield what a call wrote; what it looked up can be quoted from then on."""
        is_own = self._is_own(call)
        is_inner = call.kind is CallKind.EVENT or call.call_id in self._tree.with_author
        author = WordsOrigin(call, call.start, call.end)
        for piece in of_output(call.made):
            if self._tree.writes(call) and piece.role in (None, "assistant"):
                form = normalised(piece.text)
                if form:
                    self._writers.setdefault(form, []).append(call)
            if is_own and piece.role in (None, "assistant", "call", "tool"):
                yield piece.text, author
            elif not (is_own or is_inner):
                self._earlier.show(piece.text, call)
                self._sources.append((piece.text, call.end))

    def _handed(self, call: Call) -> Iterator[tuple[str, WordsOrigin]]:
        """Yield what a tool was handed, and a model's earlier turns, of which no call is known."""
        if call.kind is CallKind.GENERATION:
            author = WordsOrigin(call, call.end, call.end, is_given=True)
            for piece in self._given(call):
                is_turn = piece.role == "user" and len(piece.text) <= LONGEST_TURN
                if piece.role == "assistant" or is_turn:
                    yield piece.text, author
        if call.kind in _MOST_OF_IT:
            author = WordsOrigin(call, call.start, call.start, is_given=True)
            for piece in self._given(call):
                yield piece.text, author

    def _is_own(self, call: Call) -> bool:
        """Return whether what a call gave was written, by it or inside of it."""
        if self._tree.writes(call):
            return True
        if call.kind is not CallKind.TOOL:
            return False
        names = (call.name, *self.passing_on(call))
        is_told = any(is_agent(name) or asks_a_person(name) for name in names)
        return is_told or call.call_id in self._tree.with_author

    def passing_on(self, call: Call) -> Iterator[str]:
        """Yield the names of the tools that only handed a call on: their input, its result.

        Args:
            call: A tool, such as the call of a server behind another tool's name.
        """
        for outer in self._tree.above(call):
            if outer.kind is not CallKind.TOOL or forms_of(outer.made) != forms_of(call.made):
                continue
            handed = {one for one in forms_of(call.given) if one}
            if handed.issuperset(filter(None, forms_of(outer.given))):
                yield outer.name

    def copies(self, call: Call, text: str) -> list[Copy[WordsOrigin]]:
        """Return the parts of what a tool or a retriever returned that were written or said before.

        Args:
            call: The tool or the retriever.
            text: What it returned.
        """
        return self._earlier.copies(text, lambda one, words: self._is_before(one, words, call))

    def holds(self, text: str, copy: Copy[WordsOrigin]) -> bool:
        """Return whether a text holds the words of a copy."""
        return self._earlier.holds(text, copy.words)

    def _is_before(self, author: WordsOrigin, words: CopiedWords, call: Call) -> bool:
        """Return whether an author had words before a call returned them, and did not quote."""
        writer = author.call
        if writer is None:
            is_before = True
        elif author.is_given:
            is_before = author.end <= call.start
        elif writer is call or self._tree.is_inside(call, writer) or writer.end > call.end:
            is_before = False
        else:
            is_before = writer.start <= call.start or self._tree.is_during(writer, call)
        return is_before and not self._is_quoted(author, words)

    def _is_quoted(self, author: WordsOrigin, words: CopiedWords) -> bool:
        """Return whether some words come from a source, or from a model's prompt."""
        writer = author.call
        for source in self._earlier.holders(words):
            if source is None:  # a document that the run was called with
                return True
            if writer is not None and source is not writer and source.end <= author.start:
                return True
        prompt = () if writer is None or author.is_given else self._given(writer)
        return any(
            self._earlier.holds(piece.text, words) for piece in prompt if piece.role != "assistant"
        )

    def is_written(self, call: Call, text: str) -> bool:
        """Return whether a model wrote what a tool or a retriever returned, or it was handed that.

        Args:
            call: The tool or the retriever.
            text: What it returned.
        """
        said = forms(text)
        if call.kind is CallKind.TOOL and is_handed(call.name, call.given, said):
            return True
        total = sum(map(len, said))
        before = during = 0
        for one in said:
            hits = self._finder.within(one)
            found = {self._texts[hit.found] for hit in hits}
            inner = {text for text in found if self._was_written(text, call, during=True)}
            earlier = {
                text for text in found
                if _is_said(text) and self._was_written(text, call, during=False)
            }  # fmt: skip
            before += covered(hit for hit in hits if self._texts[hit.found] in earlier)
            if one in self._writers and self._was_written(one, call, during=True):
                during += len(one)
            else:
                during += covered(hit for hit in hits if self._texts[hit.found] in inner)
        least = _MOST_OF_IT.get(call.kind, 1.0) * total
        return bool(total) and (before >= least or during >= _HALF * total)

    def _was_written(self, text: str, call: Call, *, during: bool) -> bool:
        """Return whether a text was written before a call ended; `during`: while it went on."""
        writers = self._writers[text]
        behind = bisect_right(writers, call.end, key=lambda one: one.end)
        for writer in reversed(writers[max(0, behind - _MOST_WRITERS) : behind]):
            if writer is call or self._tree.is_inside(call, writer):
                continue
            is_during = self._tree.is_during(writer, call)
            if not (is_during if during else writer.start <= call.start):
                continue
            if self._is_from_source(text, writer):
                continue
            if self._is_settled(writer, call) or text not in self._prompted(writer):
                return True
        return False

    def _is_settled(self, writer: Call, call: Call) -> bool:
        """Return whether times tell that a model wrote before a call or inside of it.

        Where they are coarse or not recorded, a text in the model's prompt was there before.
        """
        is_before = writer.start < call.start and writer.end <= call.start
        is_within = call.start < writer.start and writer.end < call.end
        return is_before or is_within or self._tree.is_inside(writer, call)

    def _is_from_source(self, text: str, writer: Call) -> bool:
        """Return whether a source held what a model wrote, in the compared form, before it."""
        if self._known_from is None:
            self._known_from = {}
            for source, end in self._sources:
                for known in self._written_in(source):
                    self._known_from[known] = min(end, self._known_from.get(known, end))
        return self._known_from.get(text, writer.start + 1) <= writer.start

    def _prompted(self, writer: Call) -> frozenset[str]:
        """Return what models wrote, in the compared form, of all that stands in a prompt."""
        if writer.call_id not in self._read:
            prompt = [piece.text for piece in self._given(writer) if piece.role != "assistant"]
            found = [self._written_in(piece) for piece in prompt]
            self._read[writer.call_id] = frozenset().union(*found)
        return self._read[writer.call_id]

    def _written_in(self, text: str) -> frozenset[str]:
        """Return what models wrote of a text, in the compared form."""
        return frozenset(self._texts[hit.found] for hit in self._finder.within(normalised(text)))


def forms_of(value: Any) -> list[str]:
    """Return the texts in what a call was given or gave, in the form that is compared."""
    return [normalised(one.text) for one in pieces(value)]


def forms(text: str) -> list[str]:
    """The texts in what a tool returned, in the form that is compared."""
    return [normalised(one.text) for one in pieces(text)] or [normalised(text)]


def is_handed(name: str, given: Any, said: Sequence[str]) -> bool:
    """Return whether a tool returned what it was handed.

    Args:
        name: The tool.
        given: What it was handed.
        said: What it returned, as `forms` writes it.
    """
    if given is None:
        return False
    handed = list(filter(None, (normalised(one.text) for one in pieces(given))))
    if is_answering(name) and any(one in handed for one in said):
        return True
    finder = Finder.of([*dict.fromkeys(filter(_is_said, handed))], _SHORTEST)
    total = sum(map(len, said))
    found = sum(covered(finder.within(one)) for one in said)
    return bool(total) and found >= _MOST_OF_IT[CallKind.TOOL] * total


def _is_said(form: str) -> bool:
    """Return whether a text in the compared form is long enough to count, and is no name."""
    return form.count(" ") >= _LEAST_BLANKS or not form.isascii()
