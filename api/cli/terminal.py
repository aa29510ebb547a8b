"""The terminal: consoles, safe text, progress.

Results go to stdout, everything else to stderr. Texts of nodes and claims are untrusted:
they are shown as text, never as markup, and without control characters.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

from veritrail_graph.api.show.texts import clean
from veritrail_graph.api.show.words import VERDICT_WORDS
from veritrail_graph.graph.model import Status, Verdict
from veritrail_graph.graph.unseen import json_escaped

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress, TaskID
    from rich.text import Text

    from veritrail_graph.api.show.document import Document, Room
    from veritrail_graph.graph.word_diff import Piece


VERDICT_STYLE = {
    Verdict.FULLY_SUPPORTED: "green",
    Verdict.NOT_FULLY_SUPPORTED: "red",
    Verdict.INCONCLUSIVE: "yellow",
}

LEAST = 6
"""Letters of an id that are shown, where they name one alone."""
LONGEST_WHOLE = 20
"""Letters of an id that is shown whole."""

_BLANKS = re.compile(r"\s+")
_SECONDS_BETWEEN_LINES = 10.0
_PIPE_WIDTH = 20_000  # in a pipe every line is one line
_LINE_COMMAND = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
_INNER_COMMAND = re.compile(r"#(?=#(?:\[|vso\[))")


def console(*, stderr: bool = False) -> Console:
    """A console; colours only on a terminal and not under NO_COLOR, nothing cut in a pipe."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    file = cast("IO[str]", _Inert(stream))
    return Console(file=file, highlight=False, emoji=False, markup=False, width=width)


class _Inert:
    """A stream in which nothing written is a command to the forge that runs the step."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(inert(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def inert(text: str) -> str:
    """Whole lines of output without what a forge takes for a command in a step's log.

    A forge obeys `::command::` at the start of a line, also an indented one, and `##[command]`
    or `##vso[command]` anywhere in it; the first character of these becomes a visible escape.
    """
    return _INNER_COMMAND.sub(r"\\x23", _LINE_COMMAND.sub(r"\1\\x3a", text))


def show(renderable: RenderableType) -> None:
    """Print a result on stdout."""
    console().print(renderable)


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str | Text]],
    right: Sequence[str] = (),
    texts: Sequence[str] = (),
    optional: Sequence[str] = (),
) -> None:
    """Print rows below the names of their columns; nothing where there are none.

    Args:
        columns: The names.
        rows: Their cells, which are texts and no markup.
        right: The columns that stand on the right.
        texts: Columns of long texts: on a terminal they are cut, so that all else, ids above all,
            keeps its line.
        optional: Columns that a terminal leaves out where it is too narrow, the first ones first.
    """
    from veritrail_graph.api.show.terminal import laid_out

    if rows:
        screen = console()
        width = screen.width if screen.is_terminal else None
        show(laid_out(columns, rows, right, texts, optional, width))


def show_parts(document: Document, room: Room | None = None) -> None:
    """Print the blocks of a document: remarks on stderr, all else on stdout.

    Args:
        document: The document.
        room: The part of it that is shown; None: all.
    """
    from veritrail_graph.api.show.terminal import WHOLE, parts

    screen, remarks = console(), console(stderr=True)
    width = screen.width if screen.is_terminal else None
    for part, is_remark in parts(document, room or WHOLE, width):
        (remarks if is_remark else screen).print(part)


def say(text: str, style: str | None = None) -> None:
    """Print a remark on stderr."""
    if style is None and not sys.stderr.isatty():  # thousands of lines come so: none is laid out
        sys.stderr.write(inert(clean(text)) + "\n")
        return
    from rich.text import Text

    console(stderr=True).print(Text(clean(text), style=style or ""))


def quoted(name: str) -> str:
    """An id as it is typed into a shell."""
    import shlex

    return shlex.quote(name)


_of_documents: ContextVar[TextIO | None] = ContextVar("of_documents", default=None)


@contextmanager
def documents_only() -> Iterator[None]:
    """Keep stdout for `print_json`: what libraries and plugins print meanwhile goes to stderr."""
    token = _of_documents.set(_of_documents.get() or sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _of_documents.reset(token)


def print_json(value: Any) -> None:
    """Print one JSON document on stdout; control characters are escaped."""
    stdout = _of_documents.get() or sys.stdout
    is_unicode = stdout.encoding.lower().startswith("utf")
    text = json.dumps(value, ensure_ascii=not is_unicode, indent=2)
    text = _INNER_COMMAND.sub(r"\\u0023", json_escaped(text))
    stdout.write(text + "\n")
    stdout.flush()


def marked(pieces: Sequence[Piece]) -> Text:
    """A text on one line with its changed words in bold between asterisks, without colour too."""
    from rich.text import Text

    shown = Text()
    for one in pieces:
        text = _BLANKS.sub(" ", clean(one.text))
        shown.append(f"*{text}*" if one.is_changed else text, "bold" if one.is_changed else "")
    return shown


def verdict_words(verdict: Verdict | None, status: Status) -> tuple[str, str]:
    """A verdict, or the status where there is none, in words and with its style."""
    if verdict is None:
        style = "bright_black" if status is Status.UNDECIDED else "magenta"
        return status.value.replace("_", " "), style
    return VERDICT_WORDS[verdict], VERDICT_STYLE[verdict]


class LongWork:
    """Progress of long work on stderr: a bar on a terminal, now and then a line in a pipe."""

    def __init__(self, bar: Progress | None) -> None:
        self._bar = bar
        self._tasks: dict[str, TaskID] = {}
        self._last = time.monotonic()

    @property
    def has_bar(self) -> bool:
        """Return whether a bar is shown, which shows the remaining time."""
        return self._bar is not None

    def update(self, what: str, done: int, total: int, note: str = "") -> None:
        """Say how much of something is done; a total of 0 is unknown."""
        if self._bar is not None:
            if what not in self._tasks:
                self._tasks[what] = self._bar.add_task(what, total=total or None, note="")
            self._bar.update(self._tasks[what], completed=done, total=total or None, note=note)
        elif time.monotonic() - self._last > _SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            share = f"{done:,} of {total:,}" if total else f"{done:,}"
            say(f"{what}: {share}{', ' + note if note else ''}")


@contextmanager
def long_work() -> Iterator[LongWork]:
    """Show the progress of what happens inside."""
    if not sys.stderr.isatty():
        yield LongWork(None)
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column

    with Progress(
        TextColumn("{task.description}", table_column=Column(no_wrap=True)),
        BarColumn(bar_width=20, table_column=Column(ratio=1)),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TimeRemainingColumn(table_column=Column(no_wrap=True)),
        # Last, and the only one that is cut: the most important part is first.
        TextColumn("{task.fields[note]}", table_column=Column(no_wrap=True, ratio=6)),
        console=console(stderr=True),
        expand=True,
        transient=True,
    ) as bar:
        yield LongWork(bar)


_SETTLED = 2.0  # seconds; earlier figures are unreliable


class Pace:
    """Turns what is done into progress with rate and time left.

    Args:
        work: Where progress is shown.
    """

    def __init__(self, work: LongWork) -> None:
        self._work = work
        self._began: dict[str, tuple[float, int]] = {}

    def has_begun(self, what: str) -> bool:
        """Return whether something of this kind was begun."""
        return what in self._began

    def update(self, what: str, done: int, total: int) -> None:
        """Say how much of something is done; a total of 0 is unknown."""
        now = time.monotonic()
        since, first = self._began.setdefault(what, (now, done))
        self._work.update(what, done, total, self._note(now - since, done - first, total - done))

    def _note(self, seconds: float, done: int, left: int) -> str:
        if seconds < _SETTLED or not done:
            return ""
        rate = done / seconds
        pace = f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"
        if left <= 0 or self._work.has_bar:  # a bar shows the remaining time
            return pace
        return f"{pace}, about {span_words(left / rate)} left"


def span_words(seconds: float) -> str:
    """A span of time, in the unit that fits it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"
