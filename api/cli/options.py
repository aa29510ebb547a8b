"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
ProcessId = Annotated[
    str, typer.Argument(metavar="PROCESS", help="The process, by its process_id.")
]
