"""The commands of `veritrail`, and how a call of it ends."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from veritrail_graph.api.cli import (
    attribute,
    cache,
    check,
    claims,
    comments,
    completion,
    db,
    demo,
    dialogue,
    doctor,
    estimate,
    evaluation,
    export,
    formats,
    gate,
    ingest,
    judge,
    keys,
    projects,
    query,
    report,
    reviews,
    runs,
    search,
    serve,
    share,
    stored,
    verify,
)
from veritrail_graph.api.cli.examples import epilog
from veritrail_graph.api.cli.exits import (
    INTERRUPTED,
    WRONG_USE,
    Exit,
    fail,
    fault_of_ours,
    wants_json,
)
from veritrail_graph.api.cli.help_texts import write_plainly
from veritrail_graph.api.cli.sections import SectionedGroup
from veritrail_graph.api.cli.terminal import print_json, say
from veritrail_graph.graph.errors import InputError, VeriTrailError

app = typer.Typer(
    name="veritrail",
    cls=SectionedGroup,
    help=(
        "Where did that come from, and where did it go wrong?\n\n"
        "Stores the steps of a language-model pipeline as a graph, checks what its output claims "
        "against the source text, and shows where every claim came from or went wrong."
    ),
    epilog=(
        "Start with: veritrail check --answer a.txt --sources docs/*.md, or veritrail ingest PATH "
        "and veritrail verify PROCESS. "
        "Exit status: 0 fine, 1 not every verification succeeded, 2 wrong use or bad input, "
        "3 engine or model not reachable or refused, 130 interrupted."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_SECTIONS: dict[str, dict[str, typer.Typer | Callable[..., None]]] = {
    "Start": {
        "demo": demo.demo,
        "check": check.check,
        "ingest": ingest.ingest,
        "verify": verify.verify,
        "estimate": estimate.estimate,
        "formats": formats.formats,
    },
    "Look": {
        "list": stored.list_,
        "show": stored.show,
        "search": search.search,
        "query": query.query,
        "diff": stored.diff,
        "report": report.report,
        "gate": gate.gate,
    },
    "Sentences and dialogues": {
        "attribute": attribute.attribute,
        "dialogue": dialogue.app,
    },
    "Claims, runs, people": {
        "claims": claims.app,
        "tag": projects.tag,
        "trend": projects.trend,
        "runs": runs.runs,
        "compare": runs.compare,
        "pin": stored.pin,
        "reviews": reviews.app,
        "comment": comments.comment,
    },
    "Judges and experiments": {"judge": judge.app, "eval": evaluation.app},
    "Move and remove": {
        "export": export.export,
        "copy": export.copy,
        "bloom": export.bloom,
        "share": share.share,
        "delete": stored.delete,
    },
    "Serve": {
        "serve": serve.serve,
        "worker": serve.worker,
        "mcp": serve.mcp,
        "keys": keys.app,
        "audit": keys.audit,
    },
    "This machine": {
        "doctor": doctor.doctor,
        "db": db.app,
        "cache": cache.app,
        "completion": completion.completion,
    },
}
for _section, _commands in _SECTIONS.items():
    for _name, _one in _commands.items():
        if isinstance(_one, typer.Typer):
            app.add_typer(_one, name=_name, rich_help_panel=_section)
        else:
            app.command(_name, rich_help_panel=_section, epilog=epilog(_name))(_one)


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


# Building it reads the signatures of all commands, which takes longer than most of them.
_command = functools.cache(lambda: typer.main.get_command(app))
write_plainly()


def status() -> int:
    """Run the command line; give its exit status."""
    completion.prepare()
    try:
        result = _command()(prog_name="veritrail", standalone_mode=False)
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
