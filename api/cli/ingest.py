"""`veritrail ingest`: read a process in any supported format and store it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.advice import ADVICE
from veritrail_graph.api.cli.columns import Columns
from veritrail_graph.api.cli.exits import (
    NOT_ALL_SUCCEEDED,
    WRONG_USE,
    Exit,
    ask,
    fail,
)
from veritrail_graph.api.cli.options import AsJson, given_path
from veritrail_graph.api.cli.terminal import Pace, long_work, print_json, say
from veritrail_graph.api.show.ingested import StoredLine, refusal, shared_warnings
from veritrail_graph.api.show.texts import clean, one_line, some
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, VeriTrailError
from veritrail_graph.graph.importers.addresses.address import is_address
from veritrail_graph.graph.temporary import late_folder

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.answers import Ingested, IngestedMany
    from veritrail_graph.api.app.ingesting import IngestOptions

    Outcome = tuple[str, Ingested | VeriTrailError]
    """Where a process was read, and what became of it."""


Replace = Annotated[
    bool,
    typer.Option(
        "--replace",
        help="Replace its other content and verdicts; --keep keeps them.",
    ),
]
Keep = Annotated[
    bool,
    typer.Option(
        "--keep",
        help="With --replace: keep the earlier content, with its verifications, as process "
        "PROCESS.HASH, so that `verify --since last` finds it.",
    ),
]


def ingest(
    ctx: typer.Context,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH…",
            parser=given_path,
            help="Files, folders, addresses of graphs (neo4j://HOST:7687) or of traces in a tool "
            "(langfuse://PROJECT?since=1d); `veritrail formats` lists the formats.",
            show_default=False,
        ),
    ],
    format_name: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="Its format; detected when not named."),
    ] = None,
    process_id: Annotated[
        str | None,
        typer.Option("--process-id", metavar="ID", help="Store it under this process_id."),
    ] = None,
    replace: Replace = False,
    keep: Keep = False,
    append: Annotated[
        bool,
        typer.Option(
            "--append", help="Add what is new to the stored process; its verifications stay."
        ),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Refuse generated text without recorded inputs, which otherwise is a warning.",
        ),
    ] = False,
    answer: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="GraphRAG, LightRAG, Neo4j: the answer, a file or entry N of a list (FILE#N).",
        ),
    ] = None,
    question: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="The question that the answer is about (also LlamaIndex, PROV).",
        ),
    ] = None,
    answer_id: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="GraphRAG, LightRAG, Neo4j: tells this answer from others; default: made from it.",
        ),
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
    only_explicit: Annotated[
        bool,
        typer.Option(
            "--only-explicit",
            help="Leave edges out that the input does not name.",
        ),
    ] = False,
    infer: Annotated[
        str | None,
        typer.Option(
            metavar="overlap",
            help="Traces: also infer edges from words in common, which makes false ones.",
        ),
    ] = None,
    grouping: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Summaries: how many of a level one of the next level summarises.",
        ),
    ] = None,
    columns: Columns = None,
    verifies: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Verify their claims afterwards; where there are none, a model extracts some, or "
            "they are the sentences of the final outputs.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read processes in any supported format and store them.

    An input that breaks rules is refused whole, with what is wrong and where.
    """
    from veritrail_graph.api.app.engines import asks_model
    from veritrail_graph.api.app.ingesting import WRITER_SECONDS, IngestOptions
    from veritrail_graph.api.requests.importing import import_options
    from veritrail_graph.api.settings import Settings

    if append and replace:
        raise InputError("--append and --replace exclude each other: name one of them")
    refuse_lone_keep(replaces=replace, keeps=keep)
    importing = import_options(
        answer=answer,
        question=question,
        community_level=community_level,
        sources=sources,
        answer_id=answer_id,
        only_explicit=only_explicit,
        infer=infer,
        grouping=grouping,
        columns=columns,
        named=_named(ctx),
    )
    options = IngestOptions(
        process_id=None if process_id is None else public_id(process_id, "--process-id"),
        replace=replace,
        keep=keep,
        append=append,
        force=True,
        strict=strict,
        stated=verifies and not asks_model(Settings()),
        format=format_name,
        patience=WRITER_SECONDS,
        importing=importing,
    )
    store_and_tell(
        lambda app, outcomes: ingest_paths(app, paths, options, outcomes),
        {} if verifies else None,
        nothing=f"{some([str(path) for path in paths])}: there is no process in it",
        as_json=as_json,
    )


def refuse_lone_keep(*, replaces: bool, keeps: bool) -> None:
    """Refuse --keep without --replace.

    Raises:
        InputError: It stands alone.
    """
    if keeps and not replaces:
        raise InputError("--keep keeps what is replaced: name --replace, too")


def store_and_tell(
    storing: Callable[[Application, list[Outcome]], Awaitable[VeriTrailError | None]],
    verifying: Mapping[str, Any] | None,
    *,
    nothing: str,
    as_json: bool,
) -> None:
    """Store processes, verify what is to be, print what became of them, end with the worst status.

    Args:
        storing: Stores them: is given the application and a list for what became of each, and
            gives the fault that ended it, if one did.
        verifying: Options of `veritrail verify` by name; None: nothing is verified.
        nothing: What is said where there was no process.
        as_json: Whether one JSON document is printed.
    """
    outcomes: list[Outcome] = []
    try:
        fault = ask(lambda app: storing(app, outcomes), as_json=False)
    except Exit:  # interrupted: what was finished is still printed
        if outcomes:
            _tell_many(outcomes, None, as_json=as_json)
        elif as_json:
            message = "Interrupted. No partial result is visible."
            print_json({"error": {"message": message, "violations": []}})
        raise
    if not outcomes and fault is None:
        fault = InputError(nothing)
    if len(outcomes) > 1 or (outcomes and fault is not None):
        made, status = _tell_many(outcomes, None if fault else verifying, as_json=as_json)
        if fault is not None:
            fail(fault, as_json=False)  # stdout holds its one document already
        _end(made, status)
        return
    found = fault if fault is not None else outcomes[0][1]
    if isinstance(found, VeriTrailError):
        fail(found, as_json=as_json)
    if not as_json:
        _tell(found)
        if verifying is None:
            say(f"Next: {_next(found)}", "dim")
    document, status = found.model_dump(mode="json"), 0
    if verifying is not None:
        if why := _unverifiable(found):
            document.update(verification=None, not_verified=why)
            say(f"Stored, but not verified: {why}", "yellow")
            status = WRONG_USE
        else:
            document["verification"], status = _verified(found, verifying, as_json=as_json)
    if as_json:
        print_json(document)
    if status:
        raise Exit(status)


_FOR_FORMATS = {"answer", "question", "answer_id", "community_level", "sources", "grouping"}


def _named(ctx: typer.Context) -> frozenset[str]:
    """The options for certain formats that the command names, also those set to their default."""
    sources = {name: ctx.get_parameter_source(name) for name in _FOR_FORMATS}
    return frozenset(
        name for name, source in sources.items() if source and source.name == "COMMANDLINE"
    )


async def ingest_paths(
    app: Application, paths: list[Path], options: IngestOptions, outcomes: list[Outcome]
) -> VeriTrailError | None:
    """Store what the paths hold, and tell of each of several; give the fault that ended it."""
    with long_work() as work:
        pace = Pace(work)
        try:
            async for outcome in _each(app, paths, options, pace):
                outcomes.append(outcome)
                if len(outcomes) == 2:  # the first of several was not known to be one
                    _tell_one(outcomes[0])
                if len(outcomes) > 1:
                    _tell_one(outcome)
        except VeriTrailError as error:
            return error
        except asyncio.CancelledError:
            if pace.has_begun("nodes"):
                say(GO_ON, "yellow")
            raise
    return None


async def _each(
    app: Application, paths: list[Path], options: IngestOptions, pace: Pace
) -> AsyncIterator[Outcome]:
    """Store what paths hold, then the traces of addresses."""
    from veritrail_graph.api.app.addresses import ingest_traces, traces_at

    addresses = [one for one in paths if is_address(str(one))]
    with late_folder() as folder:
        given = [traces_at(str(one), folder()) for one in addresses]
        if files := [one for one in paths if one not in addresses]:
            async for outcome in app.processes.ingest_each(files, options, progress=pace.update):
                yield outcome
        for traces in given:
            try:
                async for outcome in ingest_traces(app, traces, options, progress=pace.update):
                    yield outcome
            except InputError as error:
                if len(paths) == 1:
                    raise
                yield str(traces), error
            for warning in traces.warnings:
                say(f"Warning: {warning}", "yellow")


def _tell_many(
    outcomes: list[Outcome], verifying: Mapping[str, Any] | None, *, as_json: bool
) -> tuple[IngestedMany, int]:
    """Verify what is to be, and print what became of several processes; give the worst status."""
    from veritrail_graph.api.app.answers import Ingested, IngestedMany

    made = IngestedMany.of_outcomes(outcomes, ADVICE)
    worst = 0
    document = made.model_dump(mode="json")
    stored = [one for one in made.processes if isinstance(one, Ingested)]
    unverified: list[str] = []
    for (where, _), one, shown in zip(outcomes, made.processes, document["processes"], strict=True):
        if verifying is None or not isinstance(one, Ingested):
            continue
        if why := _unverifiable(one):
            unverified.append(f"{one_line(where, 100)}: {why}")
            shown.update(verification=None, not_verified=why)
            continue
        shown["verification"], status = _verified(one, verifying, as_json=as_json)
        worst = max(worst, status)
    if unverified:
        say(f"Not verified: {len(unverified):,} of {len(stored):,}.", "yellow")
        for words in unverified[:_MOST_UNVERIFIED]:
            say(f"  {words}", "yellow")
        if (more := len(unverified) - _MOST_UNVERIFIED) > 0:
            say(f"  and {more:,} more", "yellow")
        is_none = len(unverified) == len(stored)
        worst = max(worst, WRONG_USE if is_none else NOT_ALL_SUCCEEDED)
    if as_json:
        print_json(document)
    for warning in shared_warnings(stored):
        say(f"Warning: {one_line(warning.text, 400)} ({one_line(warning.about, 300)})", "yellow")
    counts = [
        f"{count:,} {what}"
        for what in ("created", "unchanged", "replaced", "appended", "failed")
        if (count := getattr(made, what))
    ]
    say(f"{len(outcomes):,} process{'es' * (len(outcomes) != 1)}: {', '.join(counts)}", "bold")
    return made, worst


def _unverifiable(found: Ingested) -> str:
    """Say why nothing of a process can be verified, and what to do; empty where something can."""
    if not found.not_stated:
        return ""
    return f"{found.not_stated} {ADVICE['nothing_stated'].format(process_id=found.process_id)}"


def _verified(
    found: Ingested, how: Mapping[str, Any], *, as_json: bool
) -> tuple[dict[str, Any] | None, int]:
    """Verify the claims of a process: the document of `verify --json`, and the exit status.

    Where there are none, the run makes some.
    """
    from veritrail_graph.api.cli.verified import as_document, end, tell
    from veritrail_graph.api.cli.verify import verify_stored

    report = None
    try:
        report = verify_stored(found.process_id, how)
        if not as_json:
            tell(report)
        end(report)
    except Exit as ended:
        return (as_document(report) if report is not None else None), ended.status
    return as_document(report), 0


def _end(made: IngestedMany, status: int) -> None:
    """End the command: 2 where no process was stored, 1 where some were not."""
    if status:
        raise Exit(status)
    if made.failed == len(made.processes):
        raise Exit(WRONG_USE)
    if made.failed:
        raise Exit(NOT_ALL_SUCCEEDED)


_MOST_UNVERIFIED = 20
"""Rows of a table that could not be verified and are named."""

_MOST_WARNINGS = 2
"""Warnings of a process that are printed; of more, how many there are."""

_MOST_STAGES = 12
"""Stages that have a line of their own; a long trace has thousands."""

GO_ON = "Run the same command again to go on; `veritrail db clean` removes what was stored."


def public_id(text: str, option: str) -> str:
    """An id that may stand in addresses.

    Raises:
        InputError: It is none.
    """
    from veritrail_graph.graph.importers.process_file.schema import ID_PATTERN

    if not re.match(ID_PATTERN, text):
        raise InputError(
            f"{option} {text!r}: must be made of letters, digits and . _ : - "
            "(at most 128, a letter or digit first)"
        )
    return text


def _tell_one(outcome: Outcome) -> None:
    """One line about a process of many, above the progress."""
    where, found = outcome
    if isinstance(found, VeriTrailError):
        words = refusal(str(found), getattr(found, "violations", ()))
        fault = words.removeprefix(where).lstrip(":, ")  # most errors begin with the place
        say(f"{one_line(where, 100)}: not stored. {one_line(fault, 400)}", "red")
        return
    line = StoredLine.of(one_line(where, 100), found)
    say(f"{line.where}: {line.process_id} ({line.status}), {', '.join(line.facts)}")


def _next(found: Ingested) -> str:
    """The command that follows: turns of a dialogue are verified by one of their own."""
    from veritrail_graph.graph.importers.dialogue.file import NAME

    if found.format == NAME:
        return f"veritrail dialogue verify {found.process_id}"
    follow = " --since last" if found.claims and found.kept_verifications else ""
    return f"veritrail verify {found.process_id}{follow}"


def _tell(found: Ingested) -> None:
    from rich.table import Table
    from rich.text import Text

    from veritrail_graph.api.cli.terminal import show

    if len(found.warnings) > _MOST_WARNINGS:
        many = counted(len(found.warnings), "warning")
        say(f"{many} on what was read; `veritrail doctor` with the same input shows all.", "yellow")
    for warning in found.warnings if len(found.warnings) <= _MOST_WARNINGS else ():
        say(f"Warning: {warning}", "yellow")
    table = Table(box=None, show_header=False, pad_edge=False)
    stages = counted(len(found.stages), "stage")
    rows = [
        ("process", f"{found.process_id} ({found.status})"),
        ("name", one_line(found.name, 100)),
        (
            "nodes",
            f"{found.nodes:,} in {stages}{_new(found.nodes_added)}",
        ),
    ]
    for stage, count in list(found.stages.items())[:_MOST_STAGES]:
        name = found.stage_names.get(int(stage), "")
        rows.append((f"  stage {stage}", f"{count:,}  {one_line(name, 60)}".rstrip()))
    if (more := len(found.stages) - _MOST_STAGES) > 0:
        rows.append(("", f"and {counted(more, 'more stage')}"))
    rows.append(("edges", f"{found.edges:,}{_new(found.edges_added)}"))
    ways = [f"{count:,} {how}" for how, count in found.inferred_edges.items() if count]
    if ways:
        rows.append(("  inferred", ", ".join(ways)))
    if found.explained is not None:
        words = "of what its steps were given is in their inputs"
        rows.append(("explained", f"{found.explained:.0%} {words}"))
    rows += [
        ("claims", f"{found.claims:,} ({found.claims_added:,} new)"),
        ("terminals", some(found.terminals)),
    ]
    if found.unsourced:
        rows.append(("unsourced", f"{found.unsourced:,} (no inputs recorded, no source text)"))
    if found.verifications_added:
        rows.append(("verifications", f"{found.verifications_added:,} new"))
    if found.reviews_added:
        rows.append(("reviews", f"{found.reviews_added:,} new"))
    if found.kept_as is not None:
        kept = _counts(found.kept_verifications, found.kept_reviews)
        rows.append(("kept", f"the earlier content as {found.kept_as}, with {kept}"))
    gone = found.removed_verifications, found.removed_reviews
    if gone != (None, None) and (found.kept_as is None or any(gone)):
        rows.append(("removed", _counts(*gone)))
    for key, value in rows:
        table.add_row(Text(key, style="bold"), Text(clean(value)))
    show(table)


def _counts(verifications: int | None, reviews: int | None) -> str:
    return f"{counted(verifications or 0, 'verification')}, {counted(reviews or 0, 'review')}"


def _new(added: int | None) -> str:
    return "" if added is None else f" ({added:,} new)"
