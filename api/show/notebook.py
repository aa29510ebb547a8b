"""Documents as HTML for a notebook: styles stand at the elements, nothing is loaded or run.

Texts are untrusted: they are escaped, and control characters are visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from veritrail_graph.api.show.document import (
    Branch,
    Document,
    Facts,
    Heading,
    Line,
    Passage,
    Picture,
    Remark,
    Room,
    Style,
    Table,
    TextKind,
    TextRun,
    Tree,
    headed,
    written,
)
from veritrail_graph.api.show.picture_svg import svg
from veritrail_graph.api.show.texts import clean
from veritrail_graph.api.show.words import VERDICT_OF, Mark
from veritrail_graph.graph.model import Verdict

COLOURS = {
    Verdict.FULLY_SUPPORTED: "#1a7f37",
    Verdict.NOT_FULLY_SUPPORTED: "#b62324",
    Verdict.INCONCLUSIVE: "#8a6100",
    None: "#57606a",
}
"""Colours of verdicts, and of no verdict; dark enough to stand behind white letters."""

ROWS_SHOWN = 100
TEXT_SHOWN = 600
_TITLE = 100
WHOLE = Room(
    {
        "node": ROWS_SHOWN,
        "sentence": ROWS_SHOWN,
        "row": ROWS_SHOWN,
        "route": 20,
        "carrying sentence": 10,
        "source": 10,
    },
    characters=TEXT_SHOWN,
)

BOX = "font-family:system-ui,sans-serif;line-height:1.45;color:inherit;max-width:70em"
CELL = (
    "text-align:left;vertical-align:top;padding:.25em .8em .25em 0;"
    "border-bottom:1px solid rgba(128,128,128,.35)"
)
CHIP = "color:#fff;border-radius:.3em;padding:.05em .45em;white-space:nowrap;background:"
QUIET = "opacity:.75"
DETAILS = "margin:.35em 0;padding-left:.7em;border-left:3px solid rgba(128,128,128,.45)"


def html(document: Document, room: Room = WHOLE) -> str:
    """Write a document."""
    return box("".join(_parts(document, room)))


def page(document: Document) -> str:
    """Write a document as a page of its own, called as its heading."""
    headings = (block for block in document.blocks if isinstance(block, Heading))
    title = "".join(run.text for heading in headings for run in heading.words)
    return (
        f"<!doctype html><meta charset='utf-8'><title>{text(title, _TITLE)}</title>"
        "<meta name='color-scheme' content='light dark'>"
        f"<body>{html(document)}</body>"
    )


def _parts(document: Document, room: Room) -> Iterator[str]:
    for block in room.blocks(document):
        match block:
            case Heading(words, mark):
                first = f"{mark_chip(mark)} " if mark is not None else ""
                yield f"<div>{first}<strong>{_line(words, room)}</strong></div>"
            case Facts(facts) if facts:
                every = " · ".join(f"{text(one.name)} {_line(one.words, room)}" for one in facts)
                yield f"<div style='{QUIET}'>{every}</div>"
            case Remark(words, style):
                tag = "strong" if style is Style.STRONG else "em"
                yield f"<div><{tag}>{_line(words, room)}</{tag}></div>"
            case Passage(name, words):
                yield f"<div><strong>{text(headed(name))}</strong>: {_line(words, room)}</div>"
            case Tree(title, branches):
                if title:
                    yield f"<div><strong>{_line(title, room)}</strong></div>"
                    yield f"<ul>{''.join(_listed(branches, room))}</ul>"
                else:
                    yield "".join(_folded(one, room) for one in room.branches(branches))
            case Table():
                rows = [row([_line(cell, room) for cell in one]) for one in room.rows(block)]
                more = room.more_rows(block)
                yield grid(block.columns, "".join(rows))
                yield f"<div style='{QUIET}'>{more}</div>" if more else ""
            case Picture(drawing):
                drawn = svg(drawing, with_claim=False)
                yield f"<div style='overflow-x:auto'>{drawn}</div>"
            case _:  # the picture shows quotes
                pass


def _folded(branch: Branch, room: Room) -> str:
    """A branch that a reader opens."""
    if not branch.children:
        return f"<div>{_line(branch.words, room)}</div>"
    below = "".join(_listed(branch.children, room))
    return (
        f"<details style='{DETAILS}'><summary>{_line(branch.words, room)}</summary>"
        f"<ul>{below}</ul></details>"
    )


def _listed(branches: tuple[Branch, ...], room: Room) -> Iterator[str]:
    for branch in room.branches(branches):
        below = "".join(_listed(branch.children, room))
        yield f"<li>{_line(branch.words, room)}{f'<ul>{below}</ul>' if below else ''}</li>"


def _line(words: Line, room: Room) -> str:
    return written(room.fitting(words), _run)


def _run(run: TextRun) -> str:
    if run.mark is not None:
        return mark_chip(run.mark)
    shown = text(run.text, None)
    if run.kind is TextKind.ID:
        return f"<code>{shown}</code>"
    return f"<strong>{shown}</strong>" if run.differs or run.style is Style.STRONG else shown


def text(value: Any, most: int | None = TEXT_SHOWN) -> str:
    """Untrusted text as HTML: escaped, without what could turn its direction, cut at a length."""
    line = clean(str(value))
    line = line if most is None or len(line) <= most else f"{line[: most - 1]}…"
    return escape(line, quote=True).replace("\n", "<br>")


def mark_chip(mark: Mark) -> str:
    """A mark: its word on the colour of its kind."""
    return colour_chip(COLOURS[VERDICT_OF.get(mark.kind)], mark.word)


def colour_chip(colour: str, words: str) -> str:
    """Words on a colour."""
    return f"<span style='{CHIP}{colour}'>{text(words)}</span>"


def row(cells: Iterable[str]) -> str:
    """A row of cells that are HTML already."""
    return "<tr>" + "".join(f"<td style='{CELL}'>{cell}</td>" for cell in cells) + "</tr>"


def grid(columns: Iterable[str], body: str) -> str:
    """A table of rows that are HTML already."""
    heads = "".join(f"<th style='{CELL}'>{text(one)}</th>" for one in columns)
    head = f"<thead><tr>{heads}</tr></thead>" if heads else ""
    return f"<table style='border-collapse:collapse'>{head}<tbody>{body}</tbody></table>"


def rest(count: int, shown: int = ROWS_SHOWN) -> str:
    """Return how many more there are; empty: none."""
    more = count - shown
    return f"<div style='{QUIET}'>… and {more:,} more</div>" if more > 0 else ""


def box(content: str) -> str:
    """Everything that a notebook shows."""
    return f"<div style='{BOX}'>{content}</div>"
