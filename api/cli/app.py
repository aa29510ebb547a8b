"""The commands of `veritrail`, and how a call of it ends."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from veritrail_graph.api.cli import (
    attribute,
    cache,
    claims,
    db,
    estimate,
    evaluation,
    export,
    formats,
    gate,
    ingest,
    judge,
    keys,
    query,
    report,
    reviews,
    serve,
    stored,
    verify,
)
from veritrail_graph.api.cli.exits import (
    INTERRUPTED,
    WRONG_USE,
    Exit,
    fail,
    fault_of_ours,
    wants_json,
)
from veritrail_graph.api.cli.terminal import print_json, say
from veritrail_graph.graph.errors import InputError, VeriTrailError

app = typer.Typer(
    name="veritrail",
    help=(
        "Where did that come from, and where did it go wrong?\n\n"
        "Stores the steps of a language-model pipeline as a graph, checks what its output claims "
        "against the source text, and shows where every claim came from or went wrong."
    ),
    epilog=(
        "Start with: veritrail ingest PATH, then veritrail verify PROCESS. "
        "Exit status: 0 fine, 1 not every verification succeeded, 2 wrong use or bad input, "
        "3 engine or model not reachable or refused, 130 interrupted."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("ingest")(ingest.ingest)
app.command("formats")(formats.formats)
app.command("verify")(verify.verify)
app.add_typer(claims.app, name="claims")
app.command("attribute")(attribute.attribute)
app.command("estimate")(estimate.estimate)
app.command("show")(stored.show)
app.command("diff")(stored.diff)
app.command("list")(stored.list_)
app.command("pin")(stored.pin)
app.command("delete")(stored.delete)
app.command("query")(query.query)
app.add_typer(reviews.app, name="reviews")
app.command("report")(report.report)
app.command("gate")(gate.gate)
app.command("export")(export.export)
app.command("copy")(export.copy)
app.add_typer(judge.app, name="judge")
app.add_typer(evaluation.app, name="eval")
app.command("serve")(serve.serve)
app.command("worker")(serve.worker)
app.add_typer(keys.app, name="keys")
app.command("audit")(keys.audit)
app.command("mcp")(serve.mcp)
app.add_typer(export.bloom, name="bloom")
app.add_typer(judge.app, name="judge")
app.add_typer(cache.app, name="cache")
app.add_typer(db.app, name="db")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        typer.echo(f"veritrail-graph {metadata.version('veritrail-graph')}")
        raise typer.Exit


@app.callback()
def _root(
    _version_flag: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Where did that come from, and where did it go wrong?"""


# The command-line library's own base of "wrong use", by the one name of it that is public.
_WrongUse = typer.BadParameter.__mro__[2]


def status() -> int:
    """Run the command line; give its exit status."""
    try:
        result = typer.main.get_command(app)(prog_name="veritrail", standalone_mode=False)
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
    except SystemExit:  # so typer and rich end when the reader of our output closed the pipe
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
        from veritrail_graph.api.app.value_faults import sentence

        error.message = sentence(found(include_url=False)[0])
    message = getattr(error, "format_message", lambda: str(error))()
    context = getattr(error, "ctx", None)
    if context is not None and message == context.get_help():  # called without arguments
        say(message)
        return WRONG_USE
    if wants_json():
        print_json({"error": {"message": message, "violations": []}})
    if context is not None:
        say(context.get_usage())
        say(f"Try '{context.command_path} --help' for help.")
    say(f"Error: {message}", "bold red")
    return WRONG_USE
