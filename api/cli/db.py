"""`veritrail db`: the embedded engine's life, and what dead writers left in a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.exits import ask, run
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say, show
from veritrail_graph.api.settings import Settings
from veritrail_graph.api.views.texts import clean

if TYPE_CHECKING:
    from veritrail_graph.graph.embedded import EngineStatus
    from veritrail_graph.graph.store import DatabaseAddress
    from veritrail_graph.graph.store.server import ServerFacts


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

    ask(lambda app: run_shell(app, own=own), as_json=False)


@app.command("clean")
def clean_up(as_json: AsJson = False) -> None:
    """Remove what killed commands left half-written; nobody could see it."""
    left = ask(lambda app: app.processes.clean(), as_json=as_json)
    if as_json:
        print_json({"cleaned": [{"process_id": s.process_id, "status": s.status} for s in left]})
    elif left:
        for state in left:
            say(f"Cleaned up {state.process_id} (it was {state.status}).")
    else:
        say("Nothing to clean up.")


def _say_server() -> None:
    uri = Settings.load().neo4j_uri
    if uri is not None:
        say(f"NEO4J_URI is set: commands use {uri}, not the embedded engine.", "yellow")


_NOT_RUNNING = ("running", "home", "data_bytes")


async def graph_facts(settings: Settings, *, with_password: bool = False) -> dict[str, Any]:
    """Facts on the embedded engine and, where NEO4J_URI names one, on the server.

    The engine is not started, and nothing is written.
    """
    from veritrail_graph.api.graph_connection import engine_settings, server_address
    from veritrail_graph.graph.embedded import engine_status
    from veritrail_graph.graph.embedded.folder import EngineFolder
    from veritrail_graph.graph.store import DatabaseAddress
    from veritrail_graph.graph.store.server import server_facts

    found = await engine_status(engine_settings(settings))
    facts = {**engine_facts(found), "schema_version": None, "server": None}
    if found.running and found.uri is not None:
        password = EngineFolder(settings.home).read_password()
        address = DatabaseAddress(found.uri, found.username, password, found.database)
        facts["schema_version"] = (await server_facts(address)).schema_version
        if with_password:
            facts["password"] = password
    server = server_address(settings)
    if server is not None:
        facts["server"] = _server(server, await server_facts(server))
        if with_password:
            facts["server"]["password"] = settings.neo4j_password
    return facts


def engine_facts(found: EngineStatus) -> dict[str, Any]:
    """What is known of the embedded engine, as JSON values."""
    return {
        "running": found.running,
        "uri": found.uri,
        "username": found.username,
        "database": found.database,
        "password_file": str(found.password_file),
        "home": str(found.home),
        "data_bytes": found.data_bytes,
        "version": found.version,
        "pid": found.pid,
        "pinned": found.pinned,
        "clients": found.clients,
        "idle_seconds_left": found.idle_seconds_left,
    }


def _server(address: DatabaseAddress, facts: ServerFacts) -> dict[str, Any]:
    return {
        "uri": address.uri,
        "username": address.username,
        "database": address.database,
        "password_from": "NEO4J_PASSWORD" if address.password else None,
        "answers": facts.answers,
        "agent": facts.agent,
        "edition": facts.edition,
        "schema_version": facts.schema_version,
        "error": facts.error,
    }


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
