"""A noun as a person reads it: blocks without a form, which five writers put into words.

A document leaves nothing out. A writer has a `Room`: it cuts what is too long for it and says how
much it cut. Every text is untrusted here; each writer escapes all of them in its own way.

Source: docs/adr/0062-one-document-a-noun.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from veritrail_graph.api.show.drawing import Drawing
from veritrail_graph.api.show.words import Mark
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.word_diff import Piece


class TextKind(StrEnum):
    """The author of a text."""

    OURS = "ours"
    """Words of this program."""
    ID = "id"
    """A name of a node, a model or a run."""
    SAID = "said"
    """A text of a process, a model or a person."""
    QUOTING = "quoting"
    """A sentence of this program that has words of others in it."""


class Style(StrEnum):
    """The weight of a text; words say the same, so that a writer may drop it."""

    PLAIN = "plain"
    STRONG = "strong"
    QUIET = "quiet"
    NOTE = "note"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class TextRun:
    """A part of a line.

    Attributes:
        text: The text.
        kind: Who wrote it.
        style: How much it matters.
        differs: Whether another text has other words there.
        mark: The verdict that it names, if it names one.
    """

    text: str
    kind: TextKind = TextKind.OURS
    style: Style = Style.PLAIN
    differs: bool = False
    mark: Mark | None = None


Line = tuple[TextRun, ...]


def ours(text: str, style: Style = Style.PLAIN) -> TextRun:
    """Words of this program."""
    return TextRun(text, TextKind.OURS, style)


def name(text: str, style: Style = Style.PLAIN) -> TextRun:
    """A name from outside."""
    return TextRun(text, TextKind.ID, style)


def said(text: str, style: Style = Style.PLAIN) -> TextRun:
    """A text from outside."""
    return TextRun(text, TextKind.SAID, style)


def quoting(text: str, style: Style = Style.PLAIN) -> TextRun:
    """A sentence of this program that has words of others in it."""
    return TextRun(text, TextKind.QUOTING, style)


def verdict(mark: Mark) -> TextRun:
    """A verdict, or the status of a claim that has none."""
    return TextRun(mark.word, mark=mark)


def compared(pieces: Sequence[Piece]) -> Line:
    """A text from outside, with the words that differ from those of another text."""
    return tuple(TextRun(one.text, TextKind.SAID, differs=one.is_changed) for one in pieces)


def names(every: Sequence[str], most: int) -> Line:
    """Names one behind the other, and how many more there are."""
    line: list[TextRun] = []
    for one in every[:most]:
        line += [*([ours(", ")] if line else []), name(one)]
    more = len(every) - most
    return (*line, ours(f" and {more:,} more")) if more > 0 else tuple(line)


@dataclass(frozen=True, slots=True)
class Heading:
    """The subject of a document.

    Attributes:
        words: The name or the text.
        mark: Its verdict, if it has one.
    """

    words: Line
    mark: Mark | None = None


PLACE = "place"
"""The name of the fact that says where an error came in."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and its value, such as `engine` and `lexical`."""

    name: str
    words: Line


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts beside one another.

    Attributes:
        facts: The facts.
        is_detail: Whether a short form leaves them out.
    """

    facts: tuple[Fact, ...]
    is_detail: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence that a reader must know."""

    words: Line
    style: Style = Style.PLAIN


@dataclass(frozen=True, slots=True)
class Passage:
    """A longer text with its name, such as the reasons of a verdict."""

    name: str
    words: Line


@dataclass(frozen=True, slots=True)
class Quote:
    """A text of a node, and where it stands.

    Attributes:
        heading: Who says it.
        place: The node and the sentence; empty: not known.
        words: The text, with the words that differ.
        is_wrong: Whether it is what went wrong.
    """

    heading: str
    place: Line
    words: Line
    is_wrong: bool = False


@dataclass(frozen=True, slots=True)
class Quotes:
    """Texts that are compared.

    Attributes:
        quotes: The texts.
        remarks: How they differ, with a name for each remark.
    """

    quotes: tuple[Quote, ...]
    remarks: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Branch:
    """A line of a tree, and what stands below it.

    Attributes:
        words: The line.
        children: What stands below it.
        counts: The noun that it is one of, by which a writer cuts; empty: it is never cut.
        is_detail: Whether a short form leaves it out.
    """

    words: Line
    children: tuple[Branch, ...] = ()
    counts: str = ""
    is_detail: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    """Branches below a title; a tree without a title is the heading's own.

    Attributes:
        title: The title; empty: none.
        branches: The branches.
        is_detail: Whether a short form leaves it out.
    """

    title: Line
    branches: tuple[Branch, ...]
    is_detail: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below the names of their columns.

    Attributes:
        columns: The names.
        rows: Their cells.
        right: Columns of figures.
        texts: Columns of long texts.
        optional: Columns that a narrow writer leaves out, the first ones first.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    right: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a claim; a writer that draws it leaves out the quotes, which it shows.

    Attributes:
        drawing: The picture.
    """

    drawing: Drawing


Block = Heading | Facts | Remark | Passage | Quotes | Tree | Table | Picture


@dataclass(frozen=True, slots=True)
class Document:
    """All that a person reads of a noun."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Room:
    """The part of a document that a writer shows.

    Attributes:
        most: How many of a noun stand below one line, by the noun.
        characters: Characters of one text; None: all.
        is_short: Whether details are left out.
    """

    most: Mapping[str, int] = field(default_factory=dict)
    characters: int | None = None
    is_short: bool = False

    def blocks(self, document: Document) -> Iterator[Block]:
        """The blocks that are shown."""
        for block in document.blocks:
            if not (self.is_short and getattr(block, "is_detail", False)):
                yield block

    def branches(self, every: Sequence[Branch]) -> Iterator[Branch]:
        """The branches that are shown, and behind those of a noun how many more there are."""
        total = Counter(one.counts for one in every if one.counts)
        seen: Counter[str] = Counter()
        for branch in every:
            if self.is_short and branch.is_detail:
                continue
            seen[branch.counts] += 1
            most = self.most.get(branch.counts)
            if most is None or seen[branch.counts] <= most:
                yield branch
            elif seen[branch.counts] == most + 1:
                more = counted(total[branch.counts] - most, f"more {branch.counts}")
                yield Branch((ours(f"… and {more}", Style.QUIET),))

    def rows(self, table: Table) -> Sequence[tuple[Line, ...]]:
        """The rows that are shown."""
        return table.rows[: self.most.get("row")]

    def more_rows(self, table: Table) -> str:
        """Say how many rows are not shown; empty: all are."""
        more = len(table.rows) - len(self.rows(table))
        return f"… and {counted(more, 'more row')}" if more > 0 else ""

    def cut(self, text: str) -> str:
        """A text, its end cut off where it is too long."""
        if self.characters is None or len(text) <= self.characters:
            return text
        return f"{text[: self.characters - 1]}…"

    def fitting(self, line: Line) -> Line:
        """A line in which texts of others together are no longer than one may be."""
        if self.characters is None:
            return line
        left, shown = self.characters, list[TextRun]()
        for run in line:
            if run.kind is TextKind.OURS or len(run.text) <= left:
                shown.append(run)
            elif left > 0:
                text = f"{run.text[: max(left - 1, 0)]}…"
                shown.append(TextRun(text, run.kind, run.style, run.differs, run.mark))
            if run.kind is not TextKind.OURS:
                left -= len(run.text)
        return tuple(shown)


def plain(line: Line) -> Line:
    """A line without its styles, for a place that has a style of its own."""
    return tuple(TextRun(run.text, run.kind, mark=run.mark) for run in line)


def headed(words: str) -> str:
    """Words with a capital at the beginning; a symbol such as `q` stays."""
    return words if len(words) < 2 else words[:1].upper() + words[1:]


def written(line: Line, write: Callable[[TextRun], str]) -> str:
    """A line in which a writer writes each run."""
    return "".join(map(write, line))
