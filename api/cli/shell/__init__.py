"""`veritrail db shell`: Cypher by hand, on the embedded engine and on a server alike."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from typing import TYPE_CHECKING

from veritrail_graph.api.cli.exits import NOT_ALL_SUCCEEDED, Exit, say_starting
from veritrail_graph.api.settings import Settings

if TYPE_CHECKING:
    from veritrail_graph.graph.store import DatabaseAddress


async def run_shell(settings: Settings, *, own: bool = False) -> None:
    """Open a prompt on the graph; statements may also come from a pipe.

    Args:
        settings: Which graph.
        own: Take the prompt of our own, also where cypher-shell is installed.

    Raises:
        EngineUnavailable: The engine cannot be started or reached.
        Exit: A statement that came from a pipe failed.
    """
    from veritrail_graph.api.cli.shell.lines import Lines, history
    from veritrail_graph.api.cli.shell.session import Session
    from veritrail_graph.api.graph_connection import open_graph

    program = None if own else shutil.which("cypher-shell")
    async with open_graph(settings, say_starting) as store:
        if program is not None:
            await _cypher_shell(program, store.database.address)
            return
        lines = Lines()
        if not lines.is_terminal:
            await Session(store, lines).run()
            return
        with history(settings.home / "shell_history"):
            await Session(store, lines).run()


async def _cypher_shell(program: str, address: DatabaseAddress) -> None:
    environment = dict(os.environ)  # the password goes by the environment, not by the arguments
    for name in ("NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE"):
        environment.pop(name, None)
    if address.username:
        environment["NEO4J_USERNAME"] = address.username
        environment["NEO4J_PASSWORD"] = address.password or ""
    database = ["-d", address.database] if address.database else []
    if sys.platform != "win32":  # Ctrl-C is for cypher-shell, which stops a query with it
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: None)
    child = await asyncio.create_subprocess_exec(
        program, "-a", address.uri, *database, env=environment
    )
    if await child.wait():
        raise Exit(NOT_ALL_SUCCEEDED)
