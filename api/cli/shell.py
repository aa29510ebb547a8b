"""`veritrail db shell`: Cypher by hand, on the embedded engine and on a server alike."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from typing import TYPE_CHECKING

from api.cli.exits import NOT_ALL_SUCCEEDED, Exit
from api.cli.ingest import say_starting
from api.cli.query import tell_result
from api.cli.terminal import say
from api.settings import Settings
from graph.errors import EngineError, EngineUnavailable

if TYPE_CHECKING:
    from graph.store import DatabaseAddress, Store

ROWS = 1_000
_WELCOME = "End a statement with ; at the end of a line. Leave with :exit or Ctrl-D."


async def run_shell(settings: Settings) -> None:
    """Open a prompt on the graph; statements may also come from a pipe.

    Raises:
        EngineUnavailable: The engine cannot be started or reached.
        Exit: A statement that came from a pipe failed.
    """
    from api.wiring import open_graph

    async with open_graph(settings, say_starting) as store:
        program = shutil.which("cypher-shell")
        if program is not None:
            await _cypher_shell(program, store.database.address)
        else:
            await _prompt(store)


async def _cypher_shell(program: str, address: DatabaseAddress) -> None:
    environment = dict(os.environ)  # the password goes by the environment, not by the arguments
    environment["NEO4J_USERNAME"] = address.username or ""
    environment["NEO4J_PASSWORD"] = address.password or ""
    database = ["-d", address.database] if address.database else []
    child = await asyncio.create_subprocess_exec(
        program, "-a", address.uri, *database, env=environment
    )
    status = await child.wait()
    if status:
        raise Exit(NOT_ALL_SUCCEEDED)


async def _prompt(store: Store) -> None:
    asked_by_hand = sys.stdin.isatty()
    if asked_by_hand:
        say(_WELCOME, "dim")
    lines: list[str] = []
    while True:
        if asked_by_hand:
            sys.stderr.write("veritrail> " if not lines else "      ...> ")
            sys.stderr.flush()
        line = await asyncio.to_thread(sys.stdin.readline)
        if not line or (not lines and line.strip() in {":exit", ":quit"}):
            break
        lines.append(line)
        if line.rstrip().endswith(";"):
            await _run("".join(lines), store, stop_on_fault=not asked_by_hand)
            lines = []
    if "".join(lines).strip():
        await _run("".join(lines), store, stop_on_fault=not asked_by_hand)


async def _run(text: str, store: Store, *, stop_on_fault: bool) -> None:
    from graph.store import QueryResult
    from graph.store.queries import plain

    statement = text.strip().rstrip(";").strip()
    if not statement:
        return
    try:
        found = await store.database.run_text(statement, {}, ROWS, write=True)
    except EngineUnavailable:
        raise
    except EngineError as error:
        say(str(error), "bold red")
        if stop_on_fault:
            raise Exit(NOT_ALL_SUCCEEDED) from None
        return
    rows = tuple(tuple(plain(value) for value in row) for row in found.rows)
    tell_result(QueryResult(found.columns, rows, found.truncated))
