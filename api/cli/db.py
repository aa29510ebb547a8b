"""`veritrail db`: the embedded engine's life, and what dead writers left in a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from veritrail_graph.api.cli.db_status import engine_facts, graph_facts, tell_facts
from veritrail_graph.api.cli.exits import run
from veritrail_graph.api.cli.ingest import say_starting
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say
from veritrail_graph.api.settings import Settings

if TYPE_CHECKING:
    from veritrail_graph.graph.store import StoredState

app = typer.Typer(
    help="The embedded engine: start, stop, status; clean up after a killed command.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("start")
def start(as_json: AsJson = False) -> None:
    """Start the embedded engine and keep it running until `db stop`."""
    from veritrail_graph.api.graph_connection import engine_settings
    from veritrail_graph.graph.embedded import start_engine

    _say_server()
    status = run(start_engine(engine_settings(Settings.load())), as_json=as_json)
    tell_facts(engine_facts(status), as_json=as_json)


@app.command("stop")
def stop(as_json: AsJson = False) -> None:
    """Stop the embedded engine."""
    from veritrail_graph.api.graph_connection import engine_settings
    from veritrail_graph.graph.embedded import stop_engine

    stopped = run(stop_engine(engine_settings(Settings.load())), as_json=as_json)
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
    work = graph_facts(Settings.load(), with_password=show_password)
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

    run(run_shell(Settings.load(), own=own), as_json=False)


@app.command("clean")
def clean_up(as_json: AsJson = False) -> None:
    """Remove what killed commands left half-written; nobody could see it."""
    left = run(_clean(Settings.load()), as_json=as_json)
    if as_json:
        print_json({"cleaned": [{"process_id": s.process_id, "status": s.status} for s in left]})
    elif left:
        for state in left:
            say(f"Cleaned up {state.process_id} (it was {state.status}).")
    else:
        say("Nothing to clean up.")


async def _clean(settings: Settings) -> list[StoredState]:
    from veritrail_graph.api.graph_connection import open_graph
    from veritrail_graph.graph.ingest import clean as clean_graph

    async with open_graph(settings, say_starting) as store:
        return await clean_graph(store)


def _say_server() -> None:
    uri = Settings.load().neo4j_uri
    if uri is not None:
        say(f"NEO4J_URI is set: commands use {uri}, not the embedded engine.", "yellow")
