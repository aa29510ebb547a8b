"""Documents as GitHub-flavoured Markdown.

Texts are untrusted: every character that Markdown or HTML would read is escaped, and unseen
characters are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

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
    headed,
    plain,
    written,
)
from veritrail_graph.api.show.texts import shown
from veritrail_graph.graph.word_diff import Piece

WHOLE = Room({"route": 20, "carrying sentence": 10, "source": 4})

_READ = re.compile(r"://|(?i:\bwww)\.|&(?=#?\w+;)|[\\`*_\[\]|~<>@#]|\$(?!\d)")
"""What Markdown or HTML would read anywhere. GitHub also makes links of addresses and mentions,
and a formula of the text between two dollar signs; the one before an amount of money ends none."""
_BEGIN = re.compile(r"^(\d*)([-+.)](?=\s|$)|--|=)")
"""What begins a list or underlines a heading at the start of a line."""
_BLANKS = re.compile(" {2,}")
_WRITTEN = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "@<!-- -->", "://": "\\://"}


def text(document: Document, room: Room = WHOLE, level: int = 2) -> str:
    """Write a document; its heading has as many number signs as the level says."""
    return "".join(f"{part}\n\n" for part in _parts(document, room, level))


def _parts(document: Document, room: Room, level: int) -> Iterator[str]:
    for block in room.blocks(document):
        match block:
            case Heading(words, mark):
                yield f"{'#' * level} {line(words)}"
                if mark is not None:
                    yield f"**{mark.word}**{' (indicative)' if mark.indicative else ''}"
            case Facts(facts) if facts:
                yield ", ".join(f"{one.name} {line(one.words)}" for one in facts) + "."
            case Remark(words):
                yield f"> {line(words)}"
            case Passage(name, words):
                yield f"**{headed(name)}**: {line(words)}"
            case Quotes():
                yield "\n".join(_quotes(block))
            case Tree(title, branches):
                if title:
                    yield f"**{headed(line(plain(title)))}**"
                yield "\n".join(_listed(branches, room))
            case Table():
                yield "\n".join(_table(block, room))
                if more := room.more_rows(block):
                    yield more
            case _:  # a picture has no place in Markdown
                pass


def _quotes(block: Quotes) -> Iterator[str]:
    for quote in block.quotes:
        place = f" ({line(quote.place)})" if quote.place else ""
        yield f"- {quote.heading}{place}: {line(quote.words)}"
    for remark in block.remarks:
        yield f"- {headed(remark.name)}: {line(remark.words)}"


def _listed(branches: tuple[Branch, ...], room: Room, indent: str = "") -> Iterator[str]:
    for branch in room.branches(branches):
        yield f"{indent}- {line(room.fitting(branch.words))}"
        yield from _listed(branch.children, room, f"{indent}  ")


def _table(block: Table, room: Room) -> Iterator[str]:
    yield f"| {' | '.join(map(escaped, block.columns))} |"
    yield f"|{'|'.join('---:' if one in block.right else '---' for one in block.columns)}|"
    for row in room.rows(block):
        yield f"| {' | '.join(map(line, row))} |"


def line(words: Line) -> str:
    """Write a line; words that differ stand in bold type, verdicts and headings too."""
    return _BEGIN.sub(r"\1\\\2", _BLANKS.sub(" ", written(words, _run)).strip())


def _run(run: TextRun) -> str:
    if run.kind is TextKind.ID:
        return as_code(run.text)
    is_bold = run.differs or run.style in (Style.STRONG, Style.WRONG) or run.mark is not None
    return _piece(Piece(run.text, is_changed=is_bold))


def escaped(text: str) -> str:
    """Untrusted text on one line, which a Markdown renderer shows with unseen characters named."""
    line = shown(" ".join(text.split()))
    return _BEGIN.sub(r"\1\\\2", _READ.sub(_written, line))


def _written(found: re.Match[str]) -> str:
    what = found[0]
    if what.endswith("."):
        return f"{what[:-1]}\\."
    return _WRITTEN.get(what) or f"\\{what}"


def marked(pieces: Iterable[Piece]) -> str:
    """Untrusted text in pieces; those that differ from another text stand in bold type."""
    return "".join(map(_piece, pieces)).strip()


def _piece(piece: Piece) -> str:
    text = _READ.sub(_written, shown(" ".join(piece.text.split())))
    before = " " if piece.text[:1].isspace() else ""
    after = " " if piece.text[-1:].isspace() else ""
    return f"{before}**{text}**{after}" if piece.is_changed and text else f"{before}{text}{after}"


def fenced(text: str) -> str:
    """Lines as a block of code, with a fence that none of them can end."""
    longest = max((len(one) for one in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}\n"


def as_code(text: str) -> str:
    """An id in the type of code; one that could end it is text like any other."""
    return f"`{text}`" if re.fullmatch(r"[\w.:-]+", text, re.ASCII) else escaped(text)
