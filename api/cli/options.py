"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from graph.errors import InputError

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
ProcessId = Annotated[
    str, typer.Argument(metavar="PROCESS", help="The process, by its process_id.")
]


def sentence_limit(text: str, option: str) -> int | None:
    """A limit on sentences, or None for what the context window holds.

    Raises:
        InputError: It is neither a number above 0 nor `none`.
    """
    if text.lower() == "none":
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 10**9):
        raise InputError(f"{option} {text}: must be a number above 0, or none")
    return int(text)
