"""`veritrail export`: a stored process with its trails, in forms that others read."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from veritrail_graph.api.app import Application
from veritrail_graph.api.app.exporting import FILES, FORMATS, format_of
from veritrail_graph.api.cli.exits import ask_about, run, say_starting
from veritrail_graph.api.cli.options import AsJson, ProcessId
from veritrail_graph.api.cli.terminal import long_work, print_json, say
from veritrail_graph.graph.errors import EngineUnavailable, InputError, ProcessConflict

if TYPE_CHECKING:
    from veritrail_graph.api.app.answers import Exported
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.copying import Copied


def export(
    process: ProcessId,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help=f"One of {', '.join(FORMATS)}. Default: by the ending of PATH, else process.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="Where to: a file; for csv and neo4j-csv a folder or a .zip. Default: stdout.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    spreadsheet: Annotated[
        bool,
        typer.Option(
            "--spreadsheet", help="csv: keep spreadsheets from taking texts for formulas."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a process with its claims and trails into files."""
    path = None if output is None or str(output) == "-" else output
    name = format_name or format_of(path)
    if path is None and as_json and name in FILES:
        raise InputError("--json and the export cannot both go to stdout: name a file with -o.")
    _, done = ask_about(
        process,
        lambda app, process_id: _export(app, process_id, name, path, force, spreadsheet),
        as_json=as_json,
    )
    _tell(done, as_json=as_json)


async def _export(
    app: Application,
    process_id: str,
    format_name: str,
    path: Path | None,
    force: bool,
    spreadsheet: bool,
) -> Exported:
    with long_work() as work:
        return await app.processes.export(
            process_id,
            format_name,
            path,
            force=force,
            spreadsheet=spreadsheet,
            progress=work.update,
        )


def _tell(done: Exported, *, as_json: bool) -> None:
    where = str(done.path) if done.path is not None else "stdout"
    remarks = []
    if done.replaced:
        remarks.append(f"{done.replaced:,} character(s) that XML cannot hold became U+FFFD")
    if done.formulas:
        remarks.append(
            f"{done.formulas:,} cell(s) begin like a formula: before a spreadsheet opens the "
            "files, export with --spreadsheet"
        )
    if as_json:
        result: dict[str, Any] = {
            "process_id": done.process_id,
            "format": done.format,
            "path": where,
            "counts": done.counts,
            "warnings": remarks,
        }
        if done.command is not None:
            result["command"] = done.command
        print_json(result)
    found = ", ".join(f"{number:,} {kind}" for kind, number in done.counts.items())
    say(f"Wrote {done.process_id} to {where}: {found}")
    for remark in remarks:
        say(remark, "yellow")
    if done.command is not None:
        from veritrail_graph.graph.exporters.neo4j_csv import COMMAND_FILE

        say(f"{COMMAND_FILE} among them imports the rest into an empty database.")
    sys.stderr.flush()


EMBEDDED = "embedded"
_PORT = 7687
_USUAL = "neo4j"  # the database that a server gives when none is named


def copy(
    source: Annotated[
        str,
        typer.Option(
            "--from", metavar="GRAPH", help="`embedded`, `embedded:FOLDER`, or bolt://host:7687."
        ),
    ],
    target: Annotated[
        str, typer.Option("--to", metavar="GRAPH", help="Where to; written in the same way.")
    ],
    processes: Annotated[
        list[str] | None, typer.Argument(metavar="[PROCESS]…", help="The processes.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All processes.")] = False,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Replace other content under the same id in the target."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Copy processes with claims and trails to another graph.

    What arrived is compared with what was sent.
    """
    names = list(dict.fromkeys(processes or []))
    if bool(names) == everything:
        raise InputError("Name the processes to copy, or all of them with --all.")
    from_settings, to_settings = side("from", source), side("to", target)
    _check_sides(from_settings, to_settings)
    done = run(_copy(from_settings, to_settings, names, replace), as_json=as_json)
    if as_json:
        print_json({"copied": [_json(one) for one in done]})
    for one in done:
        for warning in one.report.survey.warnings:
            say(f"Warning: {warning}", "yellow")
        say(
            f"{one.process_id} ({one.report.status}): {one.nodes:,} nodes, {one.edges:,} edges, "
            f"{one.claims:,} claims, {one.verifications:,} verifications, {one.reviews:,} reviews; "
            "the copy was compared and is the same." + _removed(one)
        )


def _removed(one: Copied) -> str:
    if one.report.status != "replaced":
        return ""
    gone = f"{one.report.removed_verifications:,} verification(s)"
    return (
        f" Of what it replaced, {gone} and {one.report.removed_reviews:,} review(s) were removed."
    )


def side(which: str, address: str) -> Settings:
    """Settings of one of the two graphs; its login comes from the environment alone.

    Args:
        which: `from` or `to`.
        address: As it was given.

    Raises:
        InputError: It is no address.
    """
    from veritrail_graph.api.settings import Settings

    if not address.strip():
        raise InputError(f"--{which} is empty: `embedded`, `embedded:FOLDER` or bolt://host:7687")
    usual = Settings()
    own: dict[str, str | None] = {}
    if address == EMBEDDED or address.startswith(f"{EMBEDDED}:"):
        home = address.removeprefix(EMBEDDED).removeprefix(":")
        own = {"NEO4J_URI": "", **({"home": home} if home else {})}
        if address != EMBEDDED and not home:
            raise InputError(f"--{which} {address!r}: name a folder behind `embedded:`")
    else:
        own = {"NEO4J_URI": address, **_login(which, address, usual)}
    try:
        return Settings(**own)
    except InputError as error:
        raise InputError(_words(which, str(error))) from None


def _words(which: str, message: str) -> str:
    """A message about the usual server, in the words of one side of a copy."""
    message = message.replace("NEO4J_URI=", f"--{which} ").replace("NEO4J_URI", f"--{which}")
    return message.replace("NEO4J_", _prefix(which))


def _prefix(which: str) -> str:
    return f"VERITRAIL_{which.upper()}_"


def _login(which: str, address: str, usual: Settings) -> dict[str, str | None]:
    """User, password and database: those of this side, else those of the usual server."""
    is_usual = address == usual.neo4j_uri
    login = usual.copy_from if which == "from" else usual.copy_to
    # A login is sent to no other server than its own.
    return {f"NEO4J_{key.upper()}": own or "" for key, own in login if own or not is_usual}


def _check_sides(source: Settings, target: Settings) -> None:
    """Find a copy that cannot be before an engine is started or a server asked.

    Raises:
        InputError: Both sides are one graph, or there is nothing to copy from.
    """
    if is_same_graph(source, target):
        raise InputError(
            "--from and --to are the same graph. Two databases of one server are distinguished by "
            "VERITRAIL_FROM_DATABASE and VERITRAIL_TO_DATABASE."
        )
    if source.neo4j_uri is None:
        from veritrail_graph.graph.embedded.folder import EngineFolder
        from veritrail_graph.graph.embedded.settings import DATABASE

        folder = EngineFolder(source.home)
        if not (folder.databases / DATABASE).is_dir():
            raise InputError(
                f"--from: {folder.home} holds no graph of the embedded engine. Is it the folder "
                "that was VERITRAIL_HOME when the processes were stored?"
            )


def is_same_graph(one: Settings, other: Settings) -> bool:
    """Return whether two addresses lead to one graph, as far as they show it."""
    if one.neo4j_uri is None or other.neo4j_uri is None:
        homes = [each.home.expanduser().resolve() for each in (one, other)]
        return one.neo4j_uri is other.neo4j_uri is None and homes[0] == homes[1]
    if (one.neo4j_database or _USUAL) != (other.neo4j_database or _USUAL):
        return False
    ends = [urlsplit(uri) for uri in (one.neo4j_uri, other.neo4j_uri)]
    ports = {end.port or _PORT for end in ends}
    names = {(end.hostname or "").lower() for end in ends}
    if len(ports) > 1 or len(names) == 1:
        return len(ports) == 1
    return bool(set.intersection(*(_addresses(name) for name in names)))


def _addresses(host: str) -> set[str]:
    """The graph that a name means; nothing for an unknown one: connecting reports it."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return set()
    return {str(place[0]) for *_, place in found}


async def _copy(
    source: Settings, target: Settings, names: list[str], replace: bool
) -> list[Copied]:
    done: list[Copied] = []
    async with (
        Application(source, on_engine_start=say_starting) as one,
        Application(target, on_engine_start=say_starting) as other,
    ):
        await _reach("from", one)
        found = [(await one.processes.get(name)).process_id for name in names]
        wanted = found or [process.process_id for process in await one.processes.all()]
        await _reach("to", other)
        for name in wanted:
            with long_work() as work:
                try:
                    done.append(
                        await one.processes.copy(name, other, replace=replace, progress=work.update)
                    )
                except ProcessConflict as error:
                    text = f"{name}: {error} {_so_far(done)}"
                    raise ProcessConflict(text, error.violations, code=error.code) from None
    return done


async def _reach(which: str, app: Application) -> None:
    try:
        await app.check()
    except EngineUnavailable as error:
        raise EngineUnavailable(_words(which, str(error))) from None


def _so_far(done: list[Copied]) -> str:
    names = ", ".join(one.process_id for one in done)
    return f"Copied before: {names}." if names else "Nothing was copied."


def _json(one: Copied) -> dict[str, Any]:
    return {
        "process_id": one.process_id,
        "status": one.report.status,
        "content_hash": one.report.survey.hash,
        "nodes": one.nodes,
        "edges": one.edges,
        "claims": one.claims,
        "verifications": one.verifications,
        "verifications_added": one.report.verifications_added,
        "removed_verifications": one.report.removed_verifications,
        "reviews": one.reviews,
        "reviews_added": one.report.reviews_added,
        "removed_reviews": one.report.removed_reviews,
        "warnings": list(one.report.survey.warnings),
    }


bloom = typer.Typer(
    help="Neo4j Bloom: a perspective with styles and search phrases.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@bloom.callback()
def _group() -> None:
    """Neo4j Bloom: a perspective with styles and search phrases."""


@bloom.command("export")
def export_perspective(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to; default, or -: stdout."),
    ] = None,
) -> None:
    """Write a perspective for Bloom: categories, styles, search phrases. Needs no graph."""
    from veritrail_graph.api.cli.report import write_whole
    from veritrail_graph.graph.schema.bloom import perspective_json

    text = perspective_json()
    if output is None or output == Path("-"):
        typer.echo(text, nl=False)
        return
    write_whole(output, text)
    say(f"Wrote {output}; import it in Bloom's perspective gallery.")
