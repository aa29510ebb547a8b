"""`veritrail db`: the embedded engine's life, and what dead writers left in a graph."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from veritrail_graph.api.cli.exits import ask, run
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say, show
from veritrail_graph.api.show.texts import clean

app = typer.Typer(
    help="Start, stop and look at the embedded engine; clean up.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("start")
def start(as_json: AsJson = False) -> None:
    """Start the embedded engine and keep it running until `db stop`."""
    from veritrail_graph.api.app.engine import start_engine
    from veritrail_graph.api.settings import Settings

    _say_server()
    tell_facts(run(start_engine(Settings()), as_json=as_json), as_json=as_json)


@app.command("stop")
def stop(as_json: AsJson = False) -> None:
    """Stop the embedded engine."""
    from veritrail_graph.api.app.engine import stop_engine
    from veritrail_graph.api.settings import Settings

    stopped = run(stop_engine(Settings()), as_json=as_json)
    if as_json:
        print_json({"stopped": stopped})
    else:
        say("Stopped." if stopped else "It was not running.")


@app.command("status")
def status(
    show_password: Annotated[
        bool, typer.Option("--show-password", help="Print the password as well.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say which graph is in use, whether it answers, and how a Bolt client reaches it."""
    from veritrail_graph.api.app.engine import graph_facts
    from veritrail_graph.api.settings import Settings

    work = graph_facts(Settings(), with_password=show_password)
    tell_facts(run(work, as_json=as_json), as_json=as_json)


@app.command("style")
def style() -> None:
    """Print the style file for Neo4j Browser: drop it onto the Browser's window."""
    from veritrail_graph.graph.schema.style import style as made

    typer.echo(made(), nl=False)


@app.command("shell")
def open_shell(
    own: Annotated[
        bool,
        typer.Option("--own", help="The prompt of our own, also where cypher-shell is installed."),
    ] = False,
) -> None:
    """Ask the graph in Cypher: cypher-shell where it is installed, else a prompt of our own."""
    from veritrail_graph.api.cli.shell import run_shell

    ask(lambda app: run_shell(app, own=own), as_json=False)


@app.command("clean")
def clean_up(as_json: AsJson = False) -> None:
    """Remove or finish what killed commands left: incomplete processes, replacements, deletions."""
    left = ask(lambda app: app.processes.clean(), as_json=as_json)
    if as_json:
        print_json({"cleaned": [asdict(one) for one in left]})
    elif left:
        for one in left:
            say(DONE[one.done].format(one.process_id))
    else:
        say("Nothing to clean up.")


DONE = {
    "removed": "{}: what an unfinished ingest had stored was removed.",
    "deletion_finished": "{}: its deletion was finished.",
    "replacement_finished": "{}: its replacement was finished; the new content is kept.",
    "replacement_removed": "{}: an unfinished replacement was removed; the old content is kept.",
}
"""What was done, by its name, with room for the process."""


def _say_server() -> None:
    from veritrail_graph.api.settings import Settings

    uri = Settings().neo4j_uri
    if uri is not None:
        say(f"NEO4J_URI is set: commands use {uri}, not the embedded engine.", "yellow")


_NOT_RUNNING = ("running", "home", "data_bytes")


def tell_facts(facts: dict[str, Any], *, as_json: bool) -> None:
    """Print the facts; those of the server in use first."""
    if as_json:
        print_json(facts)
        return
    server = facts.pop("server", None)
    if server is not None:
        say("NEO4J_URI is set: commands use this server.", "yellow")
        _table(server)
        say("The embedded engine, which they do not use:", "yellow")
    _table(facts if facts["running"] else {name: facts[name] for name in _NOT_RUNNING})
    if facts["running"] and not facts["pinned"] and server is None:
        say("It stops when it is idle; `veritrail db start` keeps it for other clients.", "dim")


def _table(facts: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    for key, value in facts.items():
        if value is not None:
            table.add_row(Text(key.replace("_", " "), style="bold"), Text(clean(_words(value))))
    show(table)


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.0f}" if isinstance(value, float) else str(value)
