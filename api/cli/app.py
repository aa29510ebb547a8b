"""The commands of `veritrail`, and how a call of it ends."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from veritrail_graph.api.cli import completion, overrides, plugin_commands
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
from veritrail_graph.api.cli.option_groups import GroupedCommand, ValuesCommand
from veritrail_graph.api.cli.sections import SectionedGroup
from veritrail_graph.api.cli.terminal import print_json, say
from veritrail_graph.graph.errors import InputError, VeriTrailError

_PACKAGE = "veritrail_graph.api.cli"
PLUGIN = "of another package"
FRONT = (
    ("check", "Check an answer, a log, a trace, a folder, a process."),
    ("show", "Show what is stored: processes, one, a claim's trail."),
    ("ask", "Ask the graph a named question, or search its texts."),
    ("compare", "Compare runs, judges, versions or verifications."),
    ("claims", "Extract, list, edit, merge and remove claims."),
    ("review", "Say what people think of verdicts; draw, decide."),
    ("report", "Write a report or an export; make a link."),
    ("gate", "Fail (exit 1) when too many claims are unsupported."),
    ("serve, worker, mcp", "Serve the page and REST; do jobs; serve assistants."),
    ("import, export", "Store processes without verifying; write them out."),
    ("copy, delete", "Copy processes to another graph; delete one."),
    ("judge", "What judging costs, and how far to trust your judge."),
    ("config", "Settings, doctor, engine, cache, shell completion."),
    ("demo", "Show on two samples what came from where."),
    ("eval", "The papers' experiments (pip install veritrail-eval)."),
)
"""What the help lists, a row each: commands, and what they are for. `--help-all` lists the rest."""
_SECTIONS: dict[str, dict[str, str]] = {
    "Start": {
        "demo": "demo.demo",
        "check": "check.check",
        "import": "ingest.ingest",
        "ingest": "ingest.ingest",
        "verify": "verify.verify",
        "estimate": "estimate.estimate",
        "formats": "formats.formats",
    },
    "Look": {
        "show": "look.show",
        "ask": "look.ask_",
        "list": "stored.list_",
        "search": "search.search",
        "query": "query.query",
        "diff": "differences.diff",
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
        "compare": "look.compare",
        "pin": "stored.pin",
        "review": "reviews.app",
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
        "serve": "serve.app",
        "worker": "serve.worker",
        "mcp": "serve.mcp",
        "keys": "keys.app",
        "audit": "keys.audit",
    },
    "This machine": {
        "config": "config.app",
        "doctor": "doctor.doctor",
        "db": "db.app",
        "cache": "cache.app",
        "completion": "completion.completion",
    },
}
"""Headings of the whole help, and where each command is defined."""
COMMANDS = tuple(name for commands in _SECTIONS.values() for name in commands)
"""The names of all commands, as the help lists them."""


GROUPED = ("check", "verify", "estimate", "gate", "import", "ingest")
"""Commands whose help lists their options in groups."""
VALUED = ("ask", "query")
"""Commands that take values of queries."""
WHOLE = "veritrail.whole_help"
"""Set in a context whose help lists every command."""
CLOSED_PIPE = 1
"""So typer and rich leave when the reader of our output has closed the pipe."""


def _version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        typer.echo(f"veritrail-graph {metadata.version('veritrail-graph')}")
        raise typer.Exit


def _help_all(context: typer.Context, wanted: bool) -> None:
    if wanted:
        context.meta[WHOLE] = True
        typer.echo(context.get_help())
        raise typer.Exit


def _root(
    _version_flag: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
    _whole_help: Annotated[
        bool,
        typer.Option("--help-all", callback=_help_all, is_eager=True, help="List every command."),
    ] = False,
    _values: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="A setting, or an option, for this call; anywhere."
        ),
    ] = None,
    _file: Annotated[
        str | None,
        typer.Option("--config", metavar="FILE", help="Settings; default: veritrail.toml."),
    ] = None,
) -> None:
    """Where did that come from, and where did it go wrong?"""


class FrontGroup(SectionedGroup):
    """The command line: its help lists what a person meets first, or every command in sections."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the rows of `FRONT`, or all sections where the whole help is wanted.

        Args:
            ctx: The context of the call.
            formatter: Takes the text.
        """
        if ctx.meta.get(WHOLE):
            super().format_commands(ctx, formatter)
            return
        widest = max(len(names) for names, _ in FRONT)
        with formatter.section("Commands"):
            formatter.write_dl([(names.ljust(widest), words) for names, words in FRONT])


def _defined(name: str | None) -> typer.Typer:
    """The command line with all its commands, or with one alone.

    A call needs one of them. To import all of them and to read their signatures takes longer than
    most calls do.
    """
    whole = typer.Typer(
        name="veritrail",
        cls=FrontGroup,
        help=(
            "Where did that come from, and where did it go wrong?\n\n"
            "Stores the steps of a language-model pipeline as a graph, checks what its output "
            "claims against the source text, and shows where every claim came from or went wrong."
        ),
        epilog=(
            "Start with: veritrail check --answer a.txt --sources docs/*.md\n\n"
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
        kind = GroupedCommand if name in GROUPED else ValuesCommand if name in VALUED else None
        whole.command(name, cls=kind, rich_help_panel=section, epilog=epilog(name))(command)


# The command-line library's own base of "wrong use", by the one name of it that is public.
_WrongUse = typer.BadParameter.__mro__[2]


@functools.cache
def command(name: str | None = None) -> Any:
    """Return what carries out a call.

    Args:
        name: The command that it calls; None: all of them are needed, such as for the help.
    """
    return typer.main.get_command(_defined(name))


def _called(arguments: Sequence[str]) -> str | None:
    """The command that is called, where it is one and stands first; None: it takes all of them."""
    first = arguments[0] if arguments else ""
    return first if first in COMMANDS and not completion.is_asked() else None


def _prepared() -> tuple[Any, list[str], dict[str, Any]]:
    """Return the command, its arguments, and what the project's file says of its options."""
    arguments: list[str] = sys.argv[1:]
    values: list[tuple[str, str]] = []
    if overrides.are_in(arguments):
        arguments, values, config = overrides.taken(arguments)
        if config is not None:
            from veritrail_graph.api.settings.file import CONFIG

            os.environ[CONFIG] = config
    name = _called(arguments)
    called = command(name)
    if values:
        mine = called.commands.get(name) if name else None
        arguments += overrides.set_all(values, overrides.long_options(mine))
    more: dict[str, Any] = {}
    if name is not None:
        more["default_map"] = overrides.defaults_of(called)
    return called, arguments, more


write_plainly()


def status() -> int:
    """Run the command line; give its exit status."""
    completion.prepare()
    try:
        called, arguments, more = _prepared()
        result = called(arguments, prog_name="veritrail", standalone_mode=False, **more)
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
