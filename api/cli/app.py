"""The commands of `veritrail`, and how a call of it ends."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from typing import Annotated, Any

import typer

from veritrail_graph.api.cli import completion, plugin_commands
from veritrail_graph.api.cli.exits import (
    INTERRUPTED,
    NOT_ALL_SUCCEEDED,
    WRONG_USE,
    Exit,
    fail,
    fault_of_ours,
    wants_json,
)
from veritrail_graph.api.cli.help_texts import epilog, write_plainly
from veritrail_graph.api.cli.sections import SectionedGroup
from veritrail_graph.api.cli.terminal import print_json, say
from veritrail_graph.graph.errors import InputError, VeriTrailError

_PACKAGE = "veritrail_graph.api.cli"
PLUGIN = "of another package"
_SECTIONS: dict[str, dict[str, str]] = {
    "Start": {
        "demo": "demo.demo",
        "check": "check.check",
        "ingest": "ingest.ingest",
        "verify": "verify.verify",
        "estimate": "estimate.estimate",
        "formats": "formats.formats",
    },
    "Look": {
        "list": "stored.list_",
        "show": "stored.show",
        "search": "search.search",
        "query": "query.query",
        "diff": "stored.diff",
        "report": "report.report",
        "gate": "gate.gate",
    },
    "Sentences and dialogues": {
        "attribute": "attribute.attribute",
        "dialogue": "dialogue.app",
    },
    "Claims, runs, people": {
        "claims": "claims.app",
        "tag": "projects.tag",
        "trend": "projects.trend",
        "runs": "runs.runs",
        "compare": "runs.compare",
        "pin": "stored.pin",
        "reviews": "reviews.app",
        "comment": "teamwork.comment",
    },
    "Judges and experiments": {"judge": "judge.app", "eval": PLUGIN},
    "Move and remove": {
        "export": "export.export",
        "copy": "export.copy",
        "bloom": "export.bloom",
        "share": "share.share",
        "delete": "stored.delete",
    },
    "Serve": {
        "serve": "serve.serve",
        "worker": "serve.worker",
        "mcp": "serve.mcp",
        "keys": "keys.app",
        "audit": "keys.audit",
    },
    "This machine": {
        "doctor": "doctor.doctor",
        "db": "db.app",
        "cache": "cache.app",
        "completion": "completion.completion",
    },
}
"""Headings of the help, and where each command is defined."""
COMMANDS = tuple(name for commands in _SECTIONS.values() for name in commands)
"""The names of all commands, as the help lists them."""


CLOSED_PIPE = 1
"""So typer and rich leave when the reader of our output has closed the pipe."""


def _version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        typer.echo(f"veritrail-graph {metadata.version('veritrail-graph')}")
        raise typer.Exit


def _root(
    _version_flag: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Where did that come from, and where did it go wrong?"""


def _defined(name: str | None) -> typer.Typer:
    """The command line with all its commands, or with one alone.

    A call needs one of them. To import all of them and to read their signatures takes longer than
    most calls do.
    """
    whole = typer.Typer(
        name="veritrail",
        cls=SectionedGroup,
        help=(
            "Where did that come from, and where did it go wrong?\n\n"
            "Stores the steps of a language-model pipeline as a graph, checks what its output "
            "claims against the source text, and shows where every claim came from or went wrong."
        ),
        epilog=(
            "Start with: veritrail check --answer a.txt --sources docs/*.md, or veritrail ingest "
            "PATH and veritrail verify PROCESS. "
            "Exit status: 0 fine, 1 not every verification succeeded, 2 wrong use or bad input, "
            "3 engine or model not reachable or refused, 130 interrupted."
        ),
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for section, commands in _SECTIONS.items():
        for each, place in commands.items():
            if name not in (None, each):
                continue
            if place == PLUGIN:
                plugin_commands.add_known(whole, each, each, rich_help_panel=section)
            else:
                _add(whole, each, place, section)
    if name is None:
        plugin_commands.add_plugins(whole, COMMANDS)
    whole.callback()(_root)
    return whole


def _add(whole: typer.Typer, name: str, place: str, section: str) -> None:
    module, _, attribute = place.partition(".")
    command: Any = getattr(importlib.import_module(f"{_PACKAGE}.{module}"), attribute)
    if isinstance(command, typer.Typer):
        whole.add_typer(command, name=name, rich_help_panel=section)
    else:
        whole.command(name, rich_help_panel=section, epilog=epilog(name))(command)


# The command-line library's own base of "wrong use", by the one name of it that is public.
_WrongUse = typer.BadParameter.__mro__[2]


@functools.cache
def command(name: str | None = None) -> Any:
    """What carries out a call.

    Args:
        name: The command that it calls; None: all of them are needed, such as for the help.
    """
    return typer.main.get_command(_defined(name))


def _called() -> str | None:
    """The command that is called, where it is one and stands first; None: it takes all of them."""
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    return first if first in COMMANDS and not completion.is_asked() else None


write_plainly()


def status() -> int:
    """Run the command line; give its exit status."""
    completion.prepare()
    try:
        result = command(_called())(prog_name="veritrail", standalone_mode=False)
    except Exit as ended:
        return ended.status
    except typer.Exit as ended:
        return int(ended.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        say("Interrupted.", "yellow")
        return INTERRUPTED
    except VeriTrailError as error:
        try:
            fail(error, as_json=wants_json())
        except Exit as ended:
            return ended.status
    except SystemExit as ended:
        if ended.code not in (None, 0, CLOSED_PIPE):
            return ended.code if isinstance(ended.code, int) else NOT_ALL_SUCCEEDED
        if not completion.is_asked():  # the shell has its answer
            _drop_output()
        return 0
    except OSError as error:
        return _system_fault(error)
    except Exception as error:  # noqa: BLE001  # printed in one line, never as a stack trace
        return _wrong_use(error) if isinstance(error, _WrongUse) else fault_of_ours(error)
    return int(result or 0)


def _system_fault(error: OSError) -> int:
    """A path that no file can have, or output that cannot be written, such as on a full disk."""
    if error.filename is None:
        _drop_output()
        say(f"Error: the output cannot be written: {error.strerror or error}", "bold red")
        return WRONG_USE
    try:
        fail(InputError(f"{error.filename}: {error.strerror}"), as_json=wants_json())
    except Exit as ended:
        return ended.status


def _drop_output() -> None:
    """Let what could not be written go; else the interpreter tries, and fails, again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _wrong_use(error: Exception) -> int:
    found = getattr(error.__cause__, "errors", None)  # a value that pydantic refused
    if isinstance(error, typer.BadParameter) and found is not None:
        from veritrail_graph.api.requests.value_faults import sentence

        error.message = sentence(found(include_url=False)[0])
    message = getattr(error, "format_message", lambda: str(error))()
    context = getattr(error, "ctx", None)
    if context is not None and message == context.get_help():  # called without arguments
        if context.parent is None:  # `veritrail` alone asks what it is, and gets the answer
            typer.echo(message)
            return 0
        say(message)
        return WRONG_USE
    if wants_json():
        print_json({"error": {"message": message, "violations": []}})
    if context is not None:
        say(context.get_usage())
        say(f"Try '{context.command_path} --help' for help.")
    say(f"Error: {message}", "bold red")
    return WRONG_USE
