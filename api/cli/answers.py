"""The text that a command speaks of, shown in short above its claims."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from veritrail_graph.api.show.texts import clean, one_line
from veritrail_graph.graph.errors import VeriTrailError

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application

Answer = tuple[str, str]
"""A node_id and the beginning of its text."""

MOST_NODES = 3
"""Texts that are shown; a trace has hundreds of final outputs."""
MOST_LINES = 8
"""Lines of a text that are shown."""
_MOST_CHARACTERS = 4_000


async def answers_of(
    app: Application, process_id: str, node_ids: Iterable[str] = ()
) -> list[Answer]:
    """Return the texts of some nodes, or of the final outputs, as far as they are shown.

    What cannot be read is left out: a command shows its results all the same.

    Args:
        app: The application.
        process_id: The process.
        node_ids: The nodes; none: the final outputs.
    """
    with suppress(VeriTrailError):
        wanted: Sequence[str] = list(dict.fromkeys(node_ids))[: MOST_NODES + 1]
        if not wanted:
            wanted = (await app.processes.get(process_id)).terminals[: MOST_NODES + 1]
        pieces = [await app.nodes.piece(process_id, one) for one in wanted]
        return [
            (name, piece.piece[:_MOST_CHARACTERS])
            for name, piece in zip(wanted, pieces, strict=True)
        ]
    return []


def tell_answers(answers: Sequence[Answer]) -> None:
    """Show texts in short, each below what it is."""
    from rich.text import Text

    from veritrail_graph.api.cli.terminal import console, show

    width = max(20, min(console().width, 100) - 2)
    for name, text in answers[:MOST_NODES]:
        about = f"Answer ({one_line(name, 60)})" if len(answers) > 1 else "Answer"
        show(Text(about, style="bold"))
        for line in short_lines(text, width):
            show(Text(f"  {line}"))
    if len(answers) > MOST_NODES:
        show(Text("and more final outputs", style="dim"))
    if answers:
        show("")


def short_lines(text: str, width: int) -> list[str]:
    """Return the first lines of an untrusted text, wrapped, and how it goes on.

    Args:
        text: The text.
        width: Columns of a line.
    """
    lines: list[str] = []
    for line in clean(text.strip()).replace("\t", " ").splitlines():
        lines += textwrap.wrap(line, width, break_on_hyphens=False) if line.strip() else []
        if len(lines) > MOST_LINES:
            return [*lines[: MOST_LINES - 1], f"{lines[MOST_LINES - 1][: width - 2].rstrip()} …"]
    return lines or ["(it is empty)"]
