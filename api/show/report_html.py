"""Documents as a part of an HTML report; `report.css` has its classes.

Texts are untrusted: they are escaped, have a direction of their own, and unseen characters are
named.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from veritrail_graph.api.show.document import (
    Branch,
    Document,
    Facts,
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
    plain,
    written,
)
from veritrail_graph.api.show.picture_svg import figure
from veritrail_graph.api.show.texts import shown
from veritrail_graph.api.show.words import Mark

WHOLE = Room()
FOLDED = frozenset({"turn"})
"""Branches that a reader opens, by what they are counted as."""
_CLASSES = {
    Style.STRONG: "strong",
    Style.QUIET: "muted",
    Style.NOTE: "r-note",
    Style.WARNING: "r-warning",
    Style.WRONG: "r-wrong",
}


def html(document: Document, room: Room = WHOLE) -> str:
    """Write a document without its heading, below which it stands."""
    return "\n".join(_parts(document, room))


def _parts(document: Document, room: Room) -> Iterator[str]:
    for block in room.blocks(document):
        match block:
            case Facts(facts) if facts:
                every = (
                    f"<div><dt>{headed(one.name)}</dt><dd>{line(one.words, room)}</dd></div>"
                    for one in facts
                )
                yield f'<dl class="r-facts small">{"".join(every)}</dl>'
            case Remark(words, style):
                tag = '<span class="tag">Note</span> ' if style is not Style.QUIET else ""
                yield f'<p class="small">{tag}{line(words, room)}</p>'
            case Passage(name, words):
                head = f"<h3>{headed(name)}</h3>"
                yield f'<div>{head}<p class="reading">{line(words, room)}</p></div>'
            case Tree(title, branches):
                head = f"<h3>{headed(line(plain(title), room))}</h3>" if title else ""
                below = _folded if any(one.counts in FOLDED for one in branches) else _listed
                yield f"<div>{head}{below(branches, room)}</div>"
            case Table():
                yield _table(block, room)
                if more := room.more_rows(block):
                    yield f'<p class="small muted">{more}</p>'
            case Picture(drawing):
                yield figure(drawing, with_claim=False)
            case _:  # the picture shows quotes; the template shows the heading
                pass


def _folded(branches: tuple[Branch, ...], room: Room) -> str:
    """Write branches that a reader opens, the first of them open."""
    items = []
    for place, branch in enumerate(room.branches(branches)):
        is_open = "" if place else " open"
        if not branch.children:
            items.append(f'<p class="r-resting">{line(branch.words, room)}</p>')
            continue
        items.append(
            f'<details class="r-resting"{is_open}><summary>{line(branch.words, room)}</summary>'
            f"{_listed(branch.children, room)}</details>"
        )
    return "".join(items)


def _listed(branches: tuple[Branch, ...], room: Room) -> str:
    """Branches as a list; sentences that were selected stand out in it."""
    items = []
    for branch in room.branches(branches):
        kind = f' class="r-{branch.counts.replace(" ", "-")}"' if branch.counts else ""
        below = _listed(branch.children, room) if branch.children else ""
        items.append(f"<li{kind}>{line(branch.words, room)}{below}</li>")
    return f'<ul class="r-tree">{"".join(items)}</ul>'


def _table(block: Table, room: Room) -> str:
    heads = "".join(
        f'<th scope="col"{_number(one, block)}>{escape(shown(one))}</th>' for one in block.columns
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td{_number(column, block)}>{line(cell, room)}</td>"
            for column, cell in zip(block.columns, row, strict=True)
        )
        + "</tr>"
        for row in room.rows(block)
    )
    return (
        f'<div class="table-wide"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _number(column: str, block: Table) -> str:
    return ' class="number"' if column in block.right else ""


def line(words: Line, room: Room = WHOLE) -> str:
    """Write a line."""
    return written(room.fitting(words), _run)


def _run(run: TextRun) -> str:
    if run.mark is not None:
        return mark_html(run.mark)
    text = escape(shown(run.text))
    if run.kind is TextKind.ID:
        text = f'<code dir="auto">{text}</code>'
    elif run.differs:
        text = f'<mark class="twist-word">{text}</mark>'
    elif run.kind is not TextKind.OURS:
        text = f'<span class="t" dir="auto">{text}</span>'
    kind = _CLASSES.get(run.style)
    return f'<span class="{kind}">{text}</span>' if kind else text


def mark_html(mark: Mark) -> str:
    """A mark: icon and word, never colour alone."""
    hint = f' title="{escape(shown(mark.hint), quote=True)}"' if mark.hint else ""
    return (
        f'<span class="mark mark-{mark.kind}"{hint}>{icon(mark.icon)}'
        f"<span>{escape(mark.word)}</span></span>"
    )


def icon(name: str, label: str = "") -> str:
    """An icon of the file itself; without a label it says nothing to a screen reader."""
    told = f'role="img" aria-label="{escape(label, quote=True)}"' if label else 'aria-hidden="true"'
    return f'<svg class="icon" {told}><use href="#{name}"></use></svg>'
