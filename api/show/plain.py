"""Documents as plain text, as the tools for assistants answer: bounded, a line each.

Texts are untrusted: they stand in quotation marks, on one line, without control characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

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
    Table,
    TextKind,
    TextRun,
    Tree,
    headed,
)
from veritrail_graph.api.show.texts import clean, one_line

BOUNDED = Room(
    {
        "iteration": 20,
        "node": 20,
        "later node": 20,
        "sentence": 40,
        "summary": 20,
        "step": 20,
        "route": 5,
        "review": 10,
        "carrying sentence": 10,
        "source": 4,
        "simpler statement": 20,
        "row": 200,
    },
    characters=600,
)
"""What fits into the window of an assistant."""

_PLAIN_NAME = re.compile(r"[\w.:+/-]+", re.ASCII)


def text(document: Document, room: Room = BOUNDED) -> str:
    """Write a document."""
    return "\n".join(_lines(document, room))


def _lines(document: Document, room: Room) -> Iterator[str]:
    for block in room.blocks(document):
        match block:
            case Heading(words, mark):
                yield line(words, room)
                if mark is not None:
                    indicative = " (indicative)" if mark.indicative else ""
                    label = "Verdict" if mark.is_verdict else "No verdict"
                    yield f"{label}: {mark.word}{indicative}"
            case Facts(facts) if facts:
                yield "; ".join(f"{one.name} {line(one.words, room)}" for one in facts)
            case Remark(words):
                yield line(words, room)
            case Passage(name, words):
                yield f"{headed(name)}: {line(words, room)}"
            case Quotes():
                yield from _quotes(block, room)
            case Tree(title, branches):
                if title:
                    yield f"{headed(line(title, room))}:"
                yield from _listed(branches, room, "  " if title else "")
            case Table():
                yield " | ".join(block.columns)
                for row in room.rows(block):
                    yield " | ".join(line(cell, room) for cell in row)
                if more := room.more_rows(block):
                    yield more
            case _:  # a picture has no place in plain text
                pass


def _quotes(block: Quotes, room: Room) -> Iterator[str]:
    for quote in block.quotes:
        place = f" ({line(quote.place, room)})" if quote.place else ""
        yield f"{quote.heading}{place}: {line(quote.words, room)}"
    for remark in block.remarks:
        yield f"{headed(remark.name)}: {line(remark.words, room)}"


def _listed(branches: tuple[Branch, ...], room: Room, indent: str) -> Iterator[str]:
    for branch in room.branches(branches):
        yield f"{indent}{line(branch.words, room)}"
        yield from _listed(branch.children, room, f"{indent}  ")


def line(words: Line, room: Room) -> str:
    """Write a line; runs of a text from outside stand in quotation marks together."""
    parts: list[str] = []
    quoted: list[str] = []
    for run in (*room.fitting(words), TextRun("")):
        if run.kind in (TextKind.SAID, TextKind.QUOTING):
            quoted.append(f"*{run.text}*" if run.differs else run.text)
            continue
        if quoted:
            parts.append(quotation("".join(quoted)))
            quoted.clear()
        is_plain = run.kind is TextKind.OURS or _PLAIN_NAME.fullmatch(run.text)
        parts.append(clean(run.text) if is_plain else quotation(run.text))
    return "".join(parts).rstrip()


def quotation(text: str, most: int | None = None) -> str:
    """Untrusted text in quotation marks, on one line."""
    return json.dumps(one_line(text, most), ensure_ascii=False)
