"""`veritrail doctor`: is everything here that a command needs, and does a file hold enough?"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.columns import Columns
from veritrail_graph.api.cli.exits import WRONG_USE, Exit, run
from veritrail_graph.api.cli.options import AsJson, given_path
from veritrail_graph.api.cli.terminal import long_work, print_json, say, show_parts
from veritrail_graph.api.show.doctor import inputs_shown, setup_shown
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.addresses.address import spelled

if TYPE_CHECKING:
    from veritrail_graph.api.app.doctor import DoctorFinding
    from veritrail_graph.api.app.doctor_inputs import InputExamined


def doctor(
    what: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[WHAT…]",
            parser=given_path,
            help="Files, folders, or traces in a tool (langfuse://PROJECT): what they hold, what "
            "can be checked with it, what is missing.",
            show_default=False,
        ),
    ] = None,
    answer: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Over a folder of GraphRAG or LightRAG: its answer."),
    ] = None,
    question: Annotated[
        str | None, typer.Option(metavar="TEXT", help="With --answer: the question.")
    ] = None,
    columns: Columns = None,
    ask: Annotated[
        bool,
        typer.Option("--ask", help="Also ask the model one short question, which may cost a bit."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look at this machine, or at files: is all there that is needed?

    Without WHAT: Python, engine, disk, port, key and model. With files or folders: what a trace,
    log or folder holds, what can be checked with it, and how to record what is missing. Nothing is
    stored, no engine is started, and without --ask no model is called. Exit status: 0 all is fine,
    2 something is missing or wrong.
    """
    if what:
        if ask:
            raise InputError("--ask is about the model of this machine; leave out the files.")
        _look_at_inputs(what, answer, question, columns, as_json=as_json)
    elif answer or question or columns:
        raise InputError("Name the file or folder that --answer, --question or --columns is about.")
    else:
        _look_at_setup(ask=ask, as_json=as_json)


def _look_at_setup(*, ask: bool, as_json: bool) -> None:
    from veritrail_graph.api.app.doctor import State, examine
    from veritrail_graph.api.settings import Settings

    found: list[DoctorFinding] = []

    async def look() -> None:
        with long_work() as work:
            work.update("looking", 0, 1)
            found.extend([one async for one in examine(Settings(), ask=ask)])

    run(look(), as_json=as_json)
    faults = sum(one.state is State.FAULT for one in found)
    if as_json:
        print_json({"fine": not faults, "findings": _as_json(found)})
    else:
        show_parts(setup_shown(found))
        if faults:
            say(f"Missing or wrong: {faults} of {len(found)}.", "bold red")
        else:
            say("Nothing is missing.", "green")
    if faults:
        raise Exit(WRONG_USE)


def _look_at_inputs(
    paths: list[Path],
    answer: str | None,
    question: str | None,
    columns: str | None,
    *,
    as_json: bool,
) -> None:
    from veritrail_graph.api.app.doctor_inputs import examine_inputs
    from veritrail_graph.api.app.known_tables import remember, with_known_tables
    from veritrail_graph.api.requests.importing import import_options
    from veritrail_graph.api.settings import Settings

    settings = Settings()
    importing = with_known_tables(
        settings, import_options(answer=answer, question=question, columns=columns)
    )
    found: list[InputExamined] = []

    async def look() -> None:
        with long_work() as work:
            async for one in examine_inputs(paths, importing):
                found.append(one)
                work.update("reading", len(found), len(found))
        if any("format" in one.holds for one in found):
            await remember(settings, paths, importing)

    run(look(), as_json=as_json)
    if not found:
        raise InputError(f"{', '.join(map(str, paths))}: there is no process in it")
    unread = [one for one in found if not one.can_be_checked]
    if as_json:
        print_json(
            {
                "fine": not unread,
                "inputs": [
                    {
                        "source": one.source,
                        "can_be_checked": one.can_be_checked,
                        "holds": one.holds,
                        "findings": _as_json(one.findings),
                    }
                    for one in found
                ],
            }
        )
    else:
        show_parts(inputs_shown(found))
        if not unread:
            say(f"It can be checked: {_command(paths, answer, question)}", "green")
        else:
            of = counted(len(found), "process", "processes")
            say(f"Cannot be checked: {len(unread):,} of {of}.", "bold red")
    if unread:
        raise Exit(WRONG_USE)


def _command(paths: list[Path], answer: str | None, question: str | None) -> str:
    """Return the command that checks what was looked at."""
    words = ["veritrail", "check", *(spelled(str(one)) for one in paths)]
    words += ["--answer", answer] if answer else []
    return shlex.join([*words, "--question", question] if question else words)


def _as_json(found: Any) -> list[dict[str, Any]]:
    return [{"about": one.about, "state": one.state, "told": one.told} for one in found]
