"""`veritrail report`: the verdicts of a process in a form to hand on."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veritrail_graph.api.app.exporting import FORMATS as EXPORTS
from veritrail_graph.api.app.exporting import format_of, is_double
from veritrail_graph.api.cli import completion
from veritrail_graph.api.cli.exits import run, say_starting
from veritrail_graph.api.cli.export import export
from veritrail_graph.api.cli.share import share as make_link
from veritrail_graph.api.cli.terminal import say
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.api.show.reports.data import ClaimSelection
    from veritrail_graph.api.show.reports.files import Asked

FORMATS = ("html", "markdown", "csv", "json", "junit", "pytest")
_KNOWN = ", ".join(dict.fromkeys((*FORMATS, *EXPORTS)))
_SUFFIXES = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".csv": "csv",
    ".json": "json",
    ".xml": "junit",
    ".py": "pytest",
}
_DOSSIERS = ("html", "json")


Given = Annotated[
    str,
    typer.Argument(
        metavar="PROCESS",
        help="The process, by its process_id; or a process file with verifications.",
        autocompletion=completion.processes,
    ),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help=f"One of {', '.join(FORMATS)}, or a format of `veritrail export`. Default: by the "
        "name of FILE, else markdown.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where to; default or -: stdout."),
]
Claims = Annotated[
    list[str] | None,
    typer.Option(
        "--claim", metavar="ID", help="Only this claim; html and json become its dossier."
    ),
]
Nodes = Annotated[
    list[str] | None,
    typer.Option("--node", metavar="ID", help="Only claims about this node."),
]
Verdicts = Annotated[
    list[str] | None,
    typer.Option(
        "--verdict",
        metavar="NAME",
        help="Only claims with this outcome: supported, not-supported, inconclusive, "
        "undecided, failed, unchecked.",
    ),
]
Dossier = Annotated[
    bool,
    typer.Option("--dossier", help="Include all texts and trails, for readers without access."),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="junit: what is inconclusive, undecided or unchecked fails too."),
]


def report(
    process: Given,
    format_name: FormatName = None,
    output: Output = None,
    claim: Claims = None,
    node: Nodes = None,
    verdict: Verdicts = None,
    dossier: Dossier = False,
    strict: Strict = False,
    share: Annotated[
        bool,
        typer.Option("--share", help="Make a link instead that shows the process, read-only."),
    ] = False,
) -> None:
    """Write a report of a process: its claims, verdicts and trails; or an export of it.

    Of a process file nothing is stored, and no engine is started.
    """
    from veritrail_graph.api.settings import Settings

    narrows = bool(claim or node or verdict or dossier or strict)
    if share:
        if narrows or output is not None or format_name is not None:
            raise InputError("--share makes a link to the whole process: leave the rest out.")
        make_link(process)
        return
    path = None if output is None or str(output) == "-" else output
    name = format_name or _format_of(path)
    if name not in FORMATS and name in EXPORTS:
        if narrows:
            raise InputError(f"{name} is an export of the whole process: leave the choice out.")
        export(process, name, output)
        return
    dossier = dossier or (bool(claim) and name in _DOSSIERS)
    _check(name, path, dossier=dossier, strict=strict)
    from veritrail_graph.api.show.reports.data import ClaimSelection, states_named
    from veritrail_graph.api.show.reports.files import Asked

    wanted = ClaimSelection(tuple(claim or ()), tuple(node or ()), states_named(verdict or ()))
    asked = Asked(name, dossier=dossier, strict=strict)
    run(_write(Settings(), process, wanted, asked, path), as_json=False)
    if path is not None:
        say(f"Wrote {path}")


def _format_of(path: Path | None) -> str:
    """The format that the ending of a file names; markdown without an ending."""
    ending = path.suffix.lower() if path else ""
    if path is not None and (is_double(path) or (ending and ending not in _SUFFIXES)):
        with suppress(InputError):
            return format_of(path)
        raise InputError(
            f"{path}: its ending names no format. Known endings: {', '.join(_SUFFIXES)}, and those "
            f"of `veritrail export`. Else name one of {_KNOWN} "
            "(--format NAME)."
        )
    return _SUFFIXES.get(ending, "markdown")


def _check(name: str, path: Path | None, *, dossier: bool, strict: bool) -> None:
    """Find wrong use before anything is read."""
    if name not in FORMATS:
        raise InputError(f"Unknown report format {name!r}. Known formats: {_KNOWN}.")
    if dossier and name not in _DOSSIERS:
        raise InputError(f"--dossier is for --format html and json, not for {name}.")
    if strict and name != "junit":
        raise InputError("--strict is for --format junit.")
    if path is not None:
        from veritrail_graph.api.show.reports.files import check_writable

        check_writable(path)


def write_whole(path: Path, text: str) -> None:
    """Write a whole file or none: beside its place first, then moved there."""
    from veritrail_graph.api.show.reports.files import whole_file

    with whole_file(path) as file:
        file.write(text.encode("utf-8"))


async def _write(
    settings: Settings, process: str, wanted: ClaimSelection, asked: Asked, path: Path | None
) -> None:
    from veritrail_graph.api.show.reports.files import pieces, write_pieces
    from veritrail_graph.api.show.reports.sources import opened

    async with opened(settings, process, wanted, say_starting) as origin:
        await write_pieces(path, pieces(origin, asked))
