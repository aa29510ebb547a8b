"""Options of the log, which the service and its workers share."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from veritrail_graph.api.server.log_words import LogFormat, LogLevel

__all__ = ["Format", "Level", "LogFormat", "LogLevel", "form_of"]

Format = Annotated[
    LogFormat | None,
    typer.Option("--log-format", help="One JSON object a line, or text (default: on a terminal)."),
]
Level = Annotated[LogLevel, typer.Option("--log-level", help="The least that is written.")]


def form_of(wanted: LogFormat | None) -> LogFormat:
    """How lines are written: as it is wanted, else for whoever reads stderr."""
    return wanted or (LogFormat.TEXT if sys.stderr.isatty() else LogFormat.JSON)
