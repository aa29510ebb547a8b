"""Documents on a terminal: a tree below the heading, in colours that words repeat.

Texts are untrusted: they are text and no markup, on one line, and control characters are escapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.table import Table as RichTable
from rich.text import Text
from rich.tree import Tree as RichTree

from veritrail_graph.api.show.document import (
    Branch,
    Document,
    Facts,
    Heading,
    Line,
    Passage,
    Quotes,
    Remark,
    Room,
    Style,
    Table,
    TextKind,
    TextRun,
    Tree,
)
from veritrail_graph.api.show.texts import clean
from veritrail_graph.api.show.words import State

if TYPE_CHECKING:
    from rich.console import JustifyMethod, RenderableType

WHOLE = Room({"route": 20})
SHORT = Room(
    {"node": 6, "later node": 6, "sentence": 3, "carrying sentence": 3, "source": 3},
    is_short=True,
)

MARKS = {
    State.SUPPORTED: "green",
    State.NOT_SUPPORTED: "red",
    State.INCONCLUSIVE: "yellow",
    State.UNDECIDED: "bright_black",
    State.FAILED: "magenta",
    State.UNCHECKED: "bright_black",
}
"""Colours of verdicts, and of the states of claims that have none."""

_STYLES = {
    Style.PLAIN: "",
    Style.STRONG: "bold",
    Style.QUIET: "dim",
    Style.NOTE: "cyan",
    Style.WARNING: "yellow",
    Style.WRONG: "bold red",
}
_BLANKS = re.compile(r"\s+")

GAP = 2
"""Blanks between two columns."""
_LEAST_TEXT = 24
_LEAST_CUT = 12


def tree(document: Document, room: Room = WHOLE) -> RichTree:
    """Write a document as a tree below its heading."""
    root = RichTree("", guide_style="dim")
    for block in room.blocks(document):
        match block:
            case Heading():
                root.label = _heading(block)
            case Facts(facts):
                lines = [text((*_named(one.name), *one.words)) for one in facts]
                for line in lines:
                    line.stylize_before("dim")
                if lines:
                    root.add(Text(" · ", style="dim").join(lines))
            case Remark(words, style):
                root.add(text(words, style))
            case Passage(name, words):
                root.add(text((*_named(f"{name}:"), *words)))
            case Quotes():
                _add_quotes(root, block)
            case Tree(title, branches):
                below = root.add(text(title, Style.STRONG)) if title else root
                _add(below, branches, room)
            case Table() if block.rows:
                root.add(table(block, room))
                if more := room.more_rows(block):
                    root.add(Text(more, style="dim"))
            case _:  # a picture has no place on a terminal
                pass
    return root


def parts(
    document: Document, room: Room = WHOLE, width: int | None = None
) -> Iterator[tuple[RenderableType, bool]]:
    """Yield the blocks of a document one below the other, and whether each is a remark.

    Args:
        document: The document.
        room: The part of it that is shown.
        width: The columns of the terminal; None: nothing is cut.
    """
    for block in room.blocks(document):
        match block:
            case Remark(words, style):
                yield text(words, style), True
            case Heading():
                yield _heading(block), False
            case Table() if block.rows:
                yield table(block, room, width), False
                if more := room.more_rows(block):
                    yield Text(more, style="dim"), True
            case Facts(facts):
                for fact in facts:
                    yield text((*_named(f"{fact.name}:"), *fact.words)), False
            case Passage(name, words):
                yield text((*_named(f"{name}:"), *words)), False
            case Tree(title, branches):
                below = RichTree(text(title, Style.STRONG), guide_style="dim")
                _add(below, branches, room)
                yield below, False
            case _:
                pass


def _heading(block: Heading) -> Text:
    label = text(block.words, Style.STRONG)
    if block.mark is not None:
        label.append("  ")
        label.append(block.mark.word, f"bold {MARKS[block.mark.kind]}")
    return label


def _named(name: str) -> Line:
    return (TextRun(f"{name} "),)


def _add_quotes(root: RichTree, block: Quotes) -> None:
    for quote in block.quotes:
        place = (TextRun(" "), *quote.place, TextRun(": ")) if quote.place else (TextRun(": "),)
        style = Style.WRONG if quote.is_wrong else Style.STRONG
        heading = text((TextRun(quote.heading),), style)
        root.add(Text.assemble(heading, text((*place, *quote.words))))
    for remark in block.remarks:
        root.add(text((*_named(f"{remark.name}:"), *remark.words), Style.STRONG))


def _add(below: RichTree, branches: tuple[Branch, ...], room: Room) -> None:
    for branch in room.branches(branches):
        _add(below.add(text(room.fitting(branch.words))), branch.children, room)


def text(line: Line, style: Style = Style.PLAIN) -> Text:
    """Write a line; words that differ stand in bold between asterisks, without colour too."""
    made = Text(style=_STYLES[style])
    for run in line:
        made.append(_safe(run), _style(run))
    return made


def _safe(run: TextRun) -> str:
    if run.kind is TextKind.OURS:
        return clean(run.text)
    line = clean(_BLANKS.sub(" ", run.text))
    return f"*{line}*" if run.differs else line


def _style(run: TextRun) -> str:
    if run.mark is not None:
        return MARKS[run.mark.kind]
    return "bold" if run.differs else _STYLES[run.style]


def table(block: Table, room: Room = WHOLE, width: int | None = None) -> RichTable:
    """Write a table; `width` is that of the terminal, or None where nothing is cut."""
    rows = [[text(cell) for cell in row] for row in room.rows(block)]
    return laid_out(block.columns, rows, block.right, block.texts, block.optional, width)


def laid_out(
    columns: Sequence[str],
    rows: Sequence[Sequence[str | Text]],
    right: Sequence[str] = (),
    texts: Sequence[str] = (),
    optional: Sequence[str] = (),
    width: int | None = None,
) -> RichTable:
    """Lay out rows below the names of their columns.

    Args:
        columns: The names.
        rows: Their cells, which are texts and no markup.
        right: The columns that stand on the right.
        texts: Columns of long texts, which are cut first.
        optional: Columns that are left out where there is no room, the first ones first.
        width: The columns of the terminal; None: nothing is cut.
    """
    cells = [[Text(clean(cell)) if isinstance(cell, str) else cell for cell in row] for row in rows]
    places, widths = list(range(len(columns))), dict[int, int]()
    if width is not None and cells:
        places, widths = _fitting(columns, cells, texts, optional, width)
    made = RichTable(box=None, pad_edge=False, header_style="bold")
    for place in places:
        side: JustifyMethod = "right" if columns[place] in right else "left"
        name, room = columns[place], widths.get(place)
        made.add_column(name, justify=side, overflow="fold", width=room)
    for row in cells:
        for place in places:
            longest = _longest_word([row[place]])
            # Without a column of texts every cell counts: it is folded, and nothing of it is lost.
            is_cut = columns[place] in texts or bool(texts and longest > widths.get(place, longest))
            if place in widths and is_cut:
                row[place].truncate(widths[place], overflow="ellipsis")
        made.add_row(*(row[place] for place in places))
    return made


def _fitting(
    columns: Sequence[str],
    cells: Sequence[Sequence[Text]],
    texts: Sequence[str],
    optional: Sequence[str],
    width: int,
) -> tuple[list[int], dict[int, int]]:
    """The places of the columns that a terminal shows, and how wide each is.

    Texts are cut first, then optional columns are left out. Where the rest does not fit either,
    heads and cells are folded between words, and at last the widest cells are cut: no word is
    broken.
    """
    places = list(range(len(columns)))
    long = [place for place in places if columns[place] in texts]
    needed = {
        place: max(
            _longest_word([Text(columns[place])]),
            *(row[place].cell_len for row in cells),
        )
        for place in places
    }
    leaving = [list(columns).index(name) for name in optional if name in columns]
    while True:
        long = [place for place in long if place in places]
        fixed = sum(needed[place] for place in places if place not in long)
        left = width - fixed - GAP * (len(places) - 1)
        room = left // len(long) if long else left
        wanted = min(_LEAST_TEXT, max((needed[place] for place in long), default=0))
        if room >= wanted or not leaving:
            break
        places.remove(leaving.pop(0))
    if room >= (_LEAST_CUT if long else 0):
        widths = {place: needed[place] for place in places}
        widths |= {place: min(room, needed[place]) for place in long}
        return places, widths
    widths = {
        place: min(needed[place], _LEAST_CUT)
        if place in long
        else _longest_word([Text(columns[place]), *(row[place] for row in cells)])
        for place in places
    }
    return places, _cut_to(widths, width - GAP * (len(places) - 1))


def _cut_to(widths: dict[int, int], width: int) -> dict[int, int]:
    """Make the widest columns narrower until all fit; what fits gets the room that is left."""
    found = dict(widths)
    while sum(found.values()) > width and max(found.values()) > 1:
        found[max(found, key=lambda place: found[place])] -= 1
    return found


def _longest_word(texts: Sequence[Text]) -> int:
    """Return how wide the widest word is."""
    return max((cell_len(word) for text in texts for word in text.plain.split()), default=0)
