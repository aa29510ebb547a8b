"""`veritrail db`: the embedded engine's life, and what dead writers left in a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from api.cli.exits import run
from api.cli.ingest import say_starting
from api.cli.options import AsJson
from api.cli.terminal import clean, print_json, say, show
from api.settings import Settings

if TYPE_CHECKING:
    from graph.embedded import EngineStatus
    from graph.store import StoredState

app = typer.Typer(
    help="The embedded engine: start, stop, status; clean up after a killed command.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("start")
def start(as_json: AsJson = False) -> None:
    """Start the embedded engine and keep it running until `db stop`."""
    from api.wiring import engine_settings
    from graph.embedded import start_engine

    _say_server()
    status = run(start_engine(engine_settings(Settings.load())), as_json=as_json)
    _tell_status(status, as_json=as_json)


@app.command("stop")
def stop(as_json: AsJson = False) -> None:
    """Stop the embedded engine."""
    from api.wiring import engine_settings
    from graph.embedded import stop_engine

    stopped = run(stop_engine(engine_settings(Settings.load())), as_json=as_json)
    if as_json:
        print_json({"stopped": stopped})
    else:
        say("Stopped." if stopped else "It was not running.")


@app.command("status")
def status(as_json: AsJson = False) -> None:
    """Say whether the embedded engine runs, and how a Bolt client reaches it."""
    from api.wiring import engine_settings
    from graph.embedded import engine_status

    _say_server()
    found = run(engine_status(engine_settings(Settings.load())), as_json=as_json)
    _tell_status(found, as_json=as_json)


@app.command("shell")
def open_shell() -> None:
    """Ask the graph in Cypher: cypher-shell where it is installed, else a prompt of our own."""
    from api.cli.shell import run_shell

    run(run_shell(Settings.load()), as_json=False)


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
    from api.wiring import open_graph
    from graph.ingest import clean as clean_graph

    async with open_graph(settings, say_starting) as store:
        return await clean_graph(store)


def _say_server() -> None:
    uri = Settings.load().neo4j_uri
    if uri is not None:
        say(f"NEO4J_URI is set: commands use {uri}, not the embedded engine.", "yellow")


def _tell_status(found: EngineStatus, *, as_json: bool) -> None:
    facts: dict[str, Any] = {
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
    if as_json:
        print_json(facts)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    shown = facts if found.running else {k: facts[k] for k in ("running", "home", "data_bytes")}
    for key, value in shown.items():
        if value is not None:
            table.add_row(Text(key.replace("_", " "), style="bold"), Text(clean(_words(value))))
    show(table)


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.0f}" if isinstance(value, float) else str(value)
