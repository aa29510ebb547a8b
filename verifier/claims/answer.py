"""An answer in sentences, each with the headings above it, and what prompts show of it.

Line breaks end a sentence, unless the line was broken by hard wrapping.

Source: Claimify (sentences and context).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from veritrail_graph.graph.model import Sentence
from veritrail_graph.graph.sentences import trimmed
from veritrail_graph.graph.sentences.layout import OPEN_END
from veritrail_graph.verifier.excerpts import is_heading, one_line
from veritrail_graph.verifier.ports import Split

CUT = "[...]"
PLACE = "[the sentence]"
"""Marks the place of the sentence among the context lines, when context follows it."""
CONTEXT_CHARACTERS = 1_000
"""Of a longer sentence only what is next to the sentence asked about is shown as context."""

_WORD = re.compile(r"[^\W_]")
_LINE_BREAKS = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
_WRAPPED_FROM = 40
"""Shorter lines are not taken for hard-wrapped ones."""

_HASHES = re.compile(r"(#{1,6})(?:\s|$)")
_UNDERLINE = re.compile(r"(={2,}|-{2,})$")
_ITEM = re.compile(r"(?:[-*+•‣◦▪●]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)])(?:\s|$)|\|")
_UNMARKED_LEVEL = 7  # below every level that Markdown has


class Window(NamedTuple):
    """The numbers of sentences shown before and after the one that is asked about."""

    before: int
    after: int


@dataclass(frozen=True, slots=True)
class SplitAnswer:
    """An answer whose sentences are looked at one by one.

    Attributes:
        question: What it answers; None or blank where that is not known.
        sentences: Its sentences.
        headings: By sentence, the places of the headings above it, outermost first.
    """

    question: str | None
    sentences: tuple[Sentence, ...]
    headings: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, node_id: str, text: str, question: str | None, split: Split) -> SplitAnswer:
        """Split an answer; offsets count in its text."""
        sentences = split_answer(node_id, text, split)
        return cls(question, sentences, tuple(_headings(text, sentences)))

    def prompt(self, place: int, sentence: str, window: Window) -> str:
        """The user message about a sentence.

        Args:
            place: Which sentence of the answer it is about.
            sentence: The sentence as the stage before left it.
            window: How much context is shown.
        """
        lines = [f"(context) {one_line(text)}" for text in self._context(place, window)]
        if self.question and self.question.strip():
            lines.insert(0, f"Question: {one_line(self.question)}")
        return "\n".join([*lines, f"Sentence: {one_line(sentence)}"])

    def _context(self, place: int, window: Window) -> Iterator[str]:
        first = max(place - window.before, 0)
        above = [heading for heading in self.headings[place] if heading < first]
        for heading in above:
            yield self.sentences[heading].text[:CONTEXT_CHARACTERS]
        if first > len(above):
            yield CUT
        for sentence in self.sentences[first:place]:
            yield _end_of(sentence.text)
        end = min(place + 1 + window.after, len(self.sentences))
        if end == place + 1:
            return
        yield PLACE
        for sentence in self.sentences[place + 1 : end]:
            yield _start_of(sentence.text)
        if end < len(self.sentences):
            yield CUT


def _end_of(text: str) -> str:
    return text if len(text) <= CONTEXT_CHARACTERS else f"{CUT} {text[-CONTEXT_CHARACTERS:]}"


def _start_of(text: str) -> str:
    return text if len(text) <= CONTEXT_CHARACTERS else f"{text[:CONTEXT_CHARACTERS]} {CUT}"


def split_answer(node_id: str, text: str, split: Split) -> tuple[Sentence, ...]:
    """The sentences of an answer; line breaks end them as well, except where lines are wrapped.

    Source: Claimify (paragraphs on line breaks, then sentences).
    """
    pieces = [
        (found.start + start, found.start + end)
        for found in split(node_id, text)
        for start, end in _paragraphs(found.text)
    ]
    return tuple(
        Sentence(node_id, index, start, end, text[start:end])
        for index, (start, end) in enumerate(pieces)
    )


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    lines = text.splitlines(keepends=True)
    widest = max((len(line.rstrip()) for line in lines), default=0)
    opened = offset = 0
    spoken = False
    for number, line in enumerate(lines):
        # A line without words (a rule, an underline) belongs to the line above it.
        speaks = _WORD.search(line) is not None
        if spoken and speaks and not _is_wrapped(lines[number - 1].rstrip(), line, widest):
            yield trimmed(text, opened, offset)
            opened = offset
        spoken = spoken or speaks
        offset += len(line)
    yield trimmed(text, opened, offset)


def _is_wrapped(line: str, following: str, widest: int) -> bool:
    """Return whether a sentence goes on over a line break."""
    if following[0].isspace() or following[0].islower() or line.endswith(OPEN_END):
        return True
    first_word = following.split(maxsplit=1)[0]
    return len(line) >= _WRAPPED_FROM and len(line) + 1 + len(first_word) > widest


def _headings(text: str, sentences: Sequence[Sentence]) -> Iterator[tuple[int, ...]]:
    open_: list[tuple[int, int]] = []  # (level, place), outermost first
    for place, sentence in enumerate(sentences):
        level = _level(text, sentences, place)
        if level is not None:
            open_ = [heading for heading in open_ if heading[0] < level]
        yield tuple(heading for _, heading in open_)
        if level is not None:
            open_.append((level, sentence.index))


def _level(text: str, sentences: Sequence[Sentence], place: int) -> int | None:
    """The level of a heading; None where a sentence is none."""
    text_of_it = sentences[place].text
    if place + 1 == len(sentences):
        return None  # no text follows it
    if not _WORD.search(text_of_it):
        return None
    if hashes := _HASHES.match(text_of_it):
        return len(hashes[1])
    words, _, below = text_of_it.rpartition("\n")
    if words and (underline := _UNDERLINE.match(below)):
        return 1 if underline[1].startswith("=") else 2
    before = text[sentences[place - 1].end : sentences[place].start] if place else "\n"
    behind = text[sentences[place].end : sentences[place + 1].start]
    is_apart = _has_break(before) and _has_break(behind) and not _has_break(text_of_it)
    if is_apart and not _ITEM.match(text_of_it) and is_heading(text_of_it.strip("*_ ")):
        return _UNMARKED_LEVEL
    return None


def _has_break(text: str) -> bool:
    return not _LINE_BREAKS.isdisjoint(text)
