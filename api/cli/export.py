"""`veritrail export`: a stored process with its trails, in forms that others read."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.exits import run
from veritrail_graph.api.cli.ingest import say_starting
from veritrail_graph.api.cli.options import AsJson, ProcessId
from veritrail_graph.api.cli.terminal import long_work, print_json, say
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.graph.store import Store
    from veritrail_graph.graph.store.exporting import StoredProcess

FILES = ("process", "graphml", "cypher")
FOLDERS = ("csv", "neo4j-csv")
FORMATS = ("process", "graphml", "csv", "cypher", "neo4j-csv")
_DOCUMENT = (".json", ".json.gz")


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote.

    Attributes:
        process_id: The process.
        format: The format.
        path: Where it is; None: stdout.
        counts: How much of each kind.
        remarks: What a reader should know.
        command: What imports it, where a command does.
    """

    process_id: str
    format: str
    path: Path | None
    counts: dict[str, int]
    remarks: list[str] = field(default_factory=list)
    command: str | None = None


def export(
    process: ProcessId,
    format_name: Annotated[
        str, typer.Option("--format", metavar="NAME", help=f"One of {', '.join(FORMATS)}.")
    ] = "process",
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
    """Write a process with its claims and trails into a file, or into a folder of tables."""
    path = None if output is None or str(output) == "-" else output
    _check(format_name, path, force=force, spreadsheet=spreadsheet, as_json=as_json)
    settings = Settings.load()
    done = run(_export(settings, process, format_name, path, force, spreadsheet), as_json=as_json)
    _tell(done, as_json=as_json)


def _check(
    format_name: str, path: Path | None, *, force: bool, spreadsheet: bool, as_json: bool
) -> None:
    """Find wrong use before an engine is started."""
    if format_name not in FORMATS:
        raise InputError(f"Unknown format {format_name!r}. Known formats: {', '.join(FORMATS)}.")
    if spreadsheet and format_name != "csv":
        raise InputError("--spreadsheet is for --format csv.")
    if path is None and format_name in FOLDERS:
        raise InputError(f"--format {format_name} writes several files: name a folder or a .zip.")
    if path is None and as_json:
        raise InputError("--json and the export cannot both go to stdout: name a file with -o.")
    if path is not None:
        from veritrail_graph.graph.exporters.output import check_free

        check_free(path, force=force)


async def _export(
    settings: Settings,
    process_id: str,
    format_name: str,
    path: Path | None,
    force: bool,
    spreadsheet: bool,
) -> Exported:
    from veritrail_graph.api.graph_connection import open_graph
    from veritrail_graph.graph.store.exporting import StoredProcess

    async with open_graph(settings, say_starting) as store:
        stored = await StoredProcess.open(store.database, process_id)
        with long_work() as work:
            stored.progress = work.update
            if format_name in FOLDERS and path is not None:
                return await _to_folder(store, stored, format_name, path, force, spreadsheet)
            return await _to_file(store, stored, format_name, path, force=force)


async def _to_file(
    store: Store, stored: StoredProcess, format_name: str, path: Path | None, *, force: bool = False
) -> Exported:
    """Write one file, or to stdout."""
    from veritrail_graph.graph.exporters.cypher_script import write_script
    from veritrail_graph.graph.exporters.graphml import GraphMl
    from veritrail_graph.graph.exporters.output import one_file
    from veritrail_graph.graph.exporters.process_file import write_document, write_lines

    done = Exported(stored.process_id, format_name, path, {})
    with one_file(path, force=force) as file:
        if format_name == "graphml":
            graphml = GraphMl(stored, file.write)
            await graphml.run(store)
            done.counts.update(graphml.counts)
            if graphml.replaced:
                done.remarks.append(
                    f"{graphml.replaced:,} character(s) that XML cannot hold became U+FFFD"
                )
        elif format_name == "cypher":
            done.counts.update(await write_script(store, stored, file.write))
        elif path is not None and path.name.lower().endswith(_DOCUMENT):
            done.counts.update(await write_document(store, stored, file.write))
        else:
            done.counts.update(await write_lines(store, stored, file.write))
        await stored.check_unchanged()
    return done


async def _to_folder(
    store: Store,
    stored: StoredProcess,
    format_name: str,
    path: Path,
    force: bool,
    spreadsheet: bool,
) -> Exported:
    from veritrail_graph.graph.exporters.neo4j_csv import import_command, write_import
    from veritrail_graph.graph.exporters.output import folder
    from veritrail_graph.graph.exporters.tables import Tables

    command = import_command() if format_name == "neo4j-csv" else None
    done = Exported(stored.process_id, format_name, path, {}, command=command)
    with folder(path, force=force) as place:
        if format_name == "csv":
            tables = Tables(place, for_spreadsheets=spreadsheet)
            await tables.run(store, stored)
            done.counts.update(tables.counts)
            if tables.formulas and not spreadsheet:
                done.remarks.append(
                    f"{tables.formulas:,} cell(s) begin like a formula: before a spreadsheet opens "
                    "the files, export with --spreadsheet"
                )
        else:
            done.counts.update(await write_import(store, stored, place))
        await stored.check_unchanged()
    return done


def _tell(done: Exported, *, as_json: bool) -> None:
    where = str(done.path) if done.path is not None else "stdout"
    if as_json:
        result: dict[str, Any] = {
            "process_id": done.process_id,
            "format": done.format,
            "path": where,
            "counts": done.counts,
            "warnings": done.remarks,
        }
        if done.command is not None:
            result["command"] = done.command
        print_json(result)
    found = ", ".join(f"{number:,} {kind}" for kind, number in done.counts.items())
    say(f"Wrote {done.process_id} to {where}: {found}")
    for remark in done.remarks:
        say(remark, "yellow")
    if done.command is not None:
        from veritrail_graph.graph.exporters.neo4j_csv import COMMAND_FILE

        say(f"{COMMAND_FILE} among them imports the rest into an empty database.")
    sys.stderr.flush()
