"""`veritrail ingest`: read a process in any supported format and store it."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.exits import run
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import Pace, long_work, print_json, say
from veritrail_graph.api.settings import Settings
from veritrail_graph.api.views.texts import clean, one_line
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.graph.importers.registry import ImportOptions
    from veritrail_graph.graph.ingest import IngestReport


def ingest(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A process file or a GraphRAG output folder.")
    ],
    format_name: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="Its format; detected when not named."),
    ] = None,
    process_id: Annotated[
        str | None,
        typer.Option("--process-id", metavar="ID", help="Store it under this process_id."),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Replace another content under the same id, and remove its verifications.",
        ),
    ] = False,
    append: Annotated[
        bool,
        typer.Option(
            "--append", help="Add what is new to the stored process; its verifications stay."
        ),
    ] = False,
    answer: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="GraphRAG: the answer to check, a text file or entry N of a JSON list (FILE#N).",
        ),
    ] = None,
    question: Annotated[
        str | None, typer.Option(metavar="TEXT", help="GraphRAG: the question that it answers.")
    ] = None,
    community_level: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="GraphRAG: reports up to this level were given to the answer."
        ),
    ] = 2,
    sources: Annotated[
        str,
        typer.Option(
            metavar="given|cited", help="GraphRAG: all reports that were given, or the cited ones."
        ),
    ] = "given",
    as_json: AsJson = False,
) -> None:
    """Read a process in any supported format, check it, and store it in the graph."""
    from veritrail_graph.graph.importers.registry import ImportOptions

    settings = Settings.load()
    options = ImportOptions(answer, question, community_level, sources, settings.max_node_text)
    report = run(
        _ingest(settings, path, format_name, process_id, replace, append, options),
        as_json=as_json,
    )
    if as_json:
        print_json(report_json(report))
    else:
        _tell(report)


async def _ingest(
    settings: Settings,
    path: Path,
    format_name: str | None,
    process_id: str | None,
    replace: bool,
    append: bool,
    options: ImportOptions,
) -> IngestReport:
    from veritrail_graph.api.graph_connection import open_graph
    from veritrail_graph.graph import ingest as ingesting
    from veritrail_graph.graph.importers.process_file.schema import ID_PATTERN
    from veritrail_graph.graph.importers.registry import open_input
    from veritrail_graph.graph.restoring import restore

    if append and replace:
        raise InputError("--append and --replace exclude each other: name one of them")
    if process_id is not None and not re.match(ID_PATTERN, process_id):
        raise InputError(
            f"--process-id {process_id!r}: must be made of letters, digits and . _ : - "
            "(at most 128, a letter or digit first)"
        )
    source = open_input(path, format_name=format_name, options=options)
    left = threading.Event()
    with long_work() as work:
        pace = Pace(work)

        def progress(what: str, done: int, total: int) -> None:
            if left.is_set():
                raise InterruptedError  # ends the thread that reads
            pace.update(what, done, total)

        if append:  # what is stored is half of what is checked
            async with open_graph(settings, say_starting) as store:
                with _telling_who_reads(left):
                    return await ingesting.append(
                        store,
                        source,
                        process_id=process_id,
                        max_node_text=settings.max_node_text,
                        progress=progress,
                    )
        # A file that is rejected starts no engine.
        with _telling_who_reads(left):
            found = await ingesting.read_and_check(
                source,
                process_id=process_id,
                max_node_text=settings.max_node_text,
                progress=progress,
            )
        async with open_graph(settings, say_starting) as store:
            try:
                report = await ingesting.store_process(
                    store, source, found, replace=replace, progress=pace.update
                )
            except asyncio.CancelledError:
                say(GO_ON, "yellow")
                raise
            return await restore(store, source, report)


@contextmanager
def _telling_who_reads(left: threading.Event) -> Iterator[None]:
    """Tell the thread that reads when the command is stopped; nobody can cancel it."""
    try:
        yield
    except asyncio.CancelledError:
        left.set()
        raise


GO_ON = "Run the same command again to go on; `veritrail db clean` removes what was stored."


def say_starting() -> None:
    """Tell why the command takes a few seconds now."""
    say("Starting the embedded graph engine …", "dim")


def report_json(report: IngestReport) -> dict[str, Any]:
    """What `ingest --json` prints."""
    found = report.survey
    stages: dict[str, int] = {}
    for stage in sorted(found.topology.stages):
        stages[str(stage)] = stages.get(str(stage), 0) + 1
    result = {
        "process_id": found.process_id,
        "name": found.header.name or found.process_id,
        "status": report.status,
        "nodes": len(found.topology.ids),
        "edges": len(found.topology.edge_sources),
        "claims": report.claims,
        "claims_added": report.claims_added,
        "verifications_added": report.verifications_added,
        "reviews_added": report.reviews_added,
        "terminals": list(found.terminals),
        "stages": stages,
        "warnings": list(found.warnings),
    }
    if report.status == "replaced":
        result["removed_verifications"] = report.removed_verifications
        result["removed_reviews"] = report.removed_reviews
    if report.survey.onto is not None:
        result |= {"nodes_added": report.nodes_added, "edges_added": report.edges_added}
    if report.resumed:
        result["resumed"] = True
    return result


def _tell(report: IngestReport) -> None:
    from rich.table import Table
    from rich.text import Text

    from veritrail_graph.api.cli.terminal import show

    found = report_json(report)
    for warning in found["warnings"]:
        say(f"Warning: {warning}", "yellow")
    table = Table(box=None, show_header=False, pad_edge=False)
    names = report.survey.header.stage_names
    rows = [
        ("process", f"{found['process_id']} ({report.status})"),
        ("name", one_line(found["name"], 100)),
        ("nodes", f"{found['nodes']:,} in {len(found['stages'])} stages{_new(found, 'nodes')}"),
    ]
    for stage, count in found["stages"].items():
        name = names.get(int(stage), "")
        rows.append((f"  stage {stage}", f"{count:,}  {one_line(name, 60)}".rstrip()))
    rows += [
        ("edges", f"{found['edges']:,}{_new(found, 'edges')}"),
        ("claims", f"{found['claims']:,} ({found['claims_added']:,} new)"),
        ("terminals", _some(found["terminals"])),
    ]
    if found["verifications_added"]:
        rows.append(("verifications", f"{found['verifications_added']:,} new"))
    if found["reviews_added"]:
        rows.append(("reviews", f"{found['reviews_added']:,} new"))
    if "removed_verifications" in found:
        gone = f"{found['removed_verifications']:,} verification(s)"
        rows.append(("removed", f"{gone}, {found['removed_reviews']:,} review(s)"))
    for key, value in rows:
        table.add_row(Text(key, style="bold"), Text(clean(value)))
    show(table)
    follow = "" if found["claims"] else ' --claim "…"'
    say(f"Next: veritrail verify {found['process_id']}{follow}", "dim")


def _new(found: dict[str, Any], what: str) -> str:
    added = found.get(f"{what}_added")
    return "" if added is None else f" ({added:,} new)"


def _some(names: list[str], most: int = 5) -> str:
    shown = ", ".join(one_line(name, 60) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
