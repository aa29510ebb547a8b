"""`veritrail report`: the verdicts of a process in a form to hand on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.exits import run
from api.cli.ingest import say_starting
from api.cli.options import ProcessId
from api.cli.terminal import clean, say
from api.settings import Settings
from graph.errors import InputError

if TYPE_CHECKING:
    from graph.model import Claim, Process, Reviewed, Verification

FORMATS = ("markdown",)


def report(
    process: ProcessId,
    format_name: Annotated[
        str, typer.Option("--format", metavar="NAME", help="Its format: markdown.")
    ] = "markdown",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to; default: stdout."),
    ] = None,
) -> None:
    """Write a report of a process: every claim with its latest verdict and its trail."""
    if format_name not in FORMATS:
        raise InputError(
            f"Unknown report format {format_name!r}. This version writes: {', '.join(FORMATS)}."
        )
    from graph.exporters.markdown import markdown_report

    text = clean(markdown_report(*run(_read(Settings.load(), process), as_json=False)))
    if output is None:
        typer.echo(text, nl=False)
        return
    write_whole(output, text)
    say(f"Wrote {output}")


async def _read(
    settings: Settings, process_id: str
) -> tuple[Process, list[Claim], list[Verification], dict[str, Reviewed]]:
    from api.wiring import open_graph

    async with open_graph(settings, say_starting) as store:
        process = await store.processes.get(process_id)
        claims = await store.processes.claims(process_id)
        headers = await store.trails.headers(await store.trails.all_ids(process_id))
        # The latest verdict of a claim; where there is none, its latest verification.
        by_age = sorted(headers, key=lambda found: (found.verdict is not None, found.created_at))
        latest = {found.claim.claim_id: found.verification_id for found in by_age}
        said = await store.reviews.states(process_id)
        return process, claims, await store.trails.read(list(latest.values())), said


def write_whole(path: Path, text: str) -> None:
    """Write a whole file or none: beside its place first, then moved there."""
    try:
        if path.exists() and not path.is_file():  # such as /dev/stdout
            path.write_text(text, encoding="utf-8")
            return
        place = path.resolve()  # what a link points to is replaced, not the link
        draft = place.with_name(f".veritrail-{os.getpid()}.tmp")
        try:
            draft.write_text(text, encoding="utf-8")
            draft.replace(place)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
