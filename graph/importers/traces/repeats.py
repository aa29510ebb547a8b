"""A check that a tool only repeated a model's text, or the input that the tool was given.

An agent may be a tool of another one, and its inner model need not be recorded inside the tool.
What such a tool returns is no source text: somebody in the run wrote it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from veritrail_graph.graph.importers.traces.calls import Call, CallKind
from veritrail_graph.graph.importers.traces.finding import Finder, covered, normalised
from veritrail_graph.graph.importers.traces.parts import plain
from veritrail_graph.graph.importers.traces.texts import of_output, pieces
from veritrail_graph.graph.importers.traces.tree import Tree

_MOST_OF_IT = {CallKind.TOOL: 0.75, CallKind.RETRIEVER: 0.95}
"""Share of a result that stands in what was written before the call began, by its kind."""
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


class Repeats:
    """The texts that models wrote in a trace, to be found again in results of tools."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._writers: dict[str, list[Call]] = {}
        for call in tree.ordered:
            if not tree.writes(call):
                continue
            for piece in of_output(call.made):
                form = normalised(piece.text) if piece.role in (None, "assistant") else ""
                if form:
                    self._writers.setdefault(form, []).append(call)
        self._texts = list(self._writers)
        self._finder = Finder.of(self._texts, _SHORTEST)
        self._longer = self._found_in_longer()

    def _found_in_longer(self) -> dict[str, list[Call]]:
        """Return results of tools that stand in a longer text of a model, with those models.

        A model that read the words in an earlier result only quoted them: it is left out.
        """
        returned = [call for call in self._tree.ordered if call.kind in _MOST_OF_IT]
        results = {
            one
            for call in returned
            if call.kind is CallKind.TOOL
            for piece in of_output(call.made)
            for one in forms(piece.text)
            if _is_said(one)
        }
        texts = list(results)
        finder = Finder.of(texts, _SHORTEST)
        first_read: dict[str, int] = {}
        for call in returned:
            for piece in of_output(call.made):
                form = normalised(piece.text)
                for hit in finder.within(form):
                    if len(texts[hit.found]) < len(form):
                        first_read.setdefault(texts[hit.found], call.end)
        longer: dict[str, list[Call]] = {}
        for text, writers in self._writers.items():
            for found in {texts[hit.found] for hit in finder.within(text)}:
                longer.setdefault(found, []).extend(
                    writer
                    for writer in writers
                    if len(found) < len(text)
                    and not (found in first_read and first_read[found] <= writer.start)
                )
        return longer

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
            if call.kind is CallKind.TOOL and self._is_part(one, call):
                before += len(one)
            else:
                before += covered(hit for hit in hits if self._texts[hit.found] in earlier)
            if one in self._writers and self._was_written(one, call, during=True):
                during += len(one)
            else:
                during += covered(hit for hit in hits if self._texts[hit.found] in inner)
        least = _MOST_OF_IT.get(call.kind, 1.0) * total
        return bool(total) and (before >= least or during >= _HALF * total)

    def _is_part(self, text: str, call: Call) -> bool:
        """Return whether a text stands in a longer one that a model wrote before a call began."""
        return any(
            writer.end <= call.start
            for writer in self._longer.get(text, ())[-_MOST_WRITERS:]
            if writer is not call and not self._tree.is_inside(call, writer)
        )

    def _was_written(self, text: str, call: Call, *, during: bool) -> bool:
        """Return whether a text was written before a call ended; `during`: while it went on."""
        writers = self._writers[text]
        behind = bisect_right(writers, call.end, key=lambda one: one.end)
        for writer in reversed(writers[max(0, behind - _MOST_WRITERS) : behind]):
            if writer is call or self._tree.is_inside(call, writer):
                continue
            is_during = self._tree.is_during(writer, call)
            if is_during if during else writer.start <= call.start:
                return True
        return False


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
